/* The proof as a drawing that one can click. */

import cytoscape from "../vendor/cytoscape.esm.min.mjs";
import { textBox } from "./text_box.js";
import { colour, onTheme } from "./theme.js";

const MOST_EDGES = 40;
const [NARROW, FEW] = [560, 2];
const [MANY, BESIDE] = [24, 400];
const [COLUMN, ROW] = [190, 72];
const FONT = "system-ui, sans-serif";
const [NODE, EDGE] = [13, 12];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Draws a proof into a box; `selected` is called with the id of the node or edge that is clicked. */
export class GraphView {
  constructor(box, proof, selected) {
    this.proof = proof;
    this.graph = cytoscape({ container: box, style: style(), minZoom: 0.2, maxZoom: 3, boxSelectionEnabled: false, autounselectify: false });
    this.graph.on("tap", "node, edge", (event) => selected(event.target.id()));
    // the library remembers where its box is, which texts above it may have moved meanwhile
    box.addEventListener("pointerdown", () => this.graph.resize(), { capture: true });
    this.draw();
    this.arrange();
    onTheme(() => this.graph.destroyed() || this.graph.style(style()));
  }

  /** How many edges of the proof are left to the list, since a drawing of all would show nothing. */
  get left() {
    return Math.max(0, [...this.proof.edges.values()].filter(({ near }) => !near).length - MOST_EDGES);
  }

  /** Adds what the proof has and the drawing lacks, and shows what verification came to. */
  draw() {
    const edges = [...this.proof.edges.values()].filter(({ near }, index) => near || index < MOST_EDGES);
    const ends = new Set(edges.flatMap(({ source, target }) => [source, target]));
    const nodes = [...this.proof.nodes.values()].filter(({ id }) => ends.has(id));
    for (const node of nodes) this.put("nodes", { id: node.id, ...textBox(node.name, `600 ${NODE}px ${FONT}`) }, nodeClasses(node));
    for (const { id, source, target, name, near, holds } of edges) {
      this.put("edges", { id, source, target, name: textBox(name, `${EDGE}px ${FONT}`).name }, edgeClasses(near, holds));
    }
  }

  put(group, data, classes) {
    const drawn = this.graph.getElementById(data.id);
    if (drawn.nonempty()) drawn.classes(classes);
    else this.graph.add({ group, data, classes });
  }

  /** The paths from left to right; from above where the box is narrow and the paths are few. */
  arrange() {
    const paths = this.proof.paths.slice(0, MOST_EDGES);
    const down = this.graph.width() < NARROW && paths.length <= FEW;
    const [steps, ends] = [1 + Math.max(...paths.map((path) => path.length)), paths.length];
    const [columns, rows] = down ? [ends, steps] : [steps, ends];
    const boundingBox = {
      x1: 0, w: Math.max(this.graph.width(), COLUMN * columns),
      y1: 0, h: Math.max(this.graph.height(), ROW * rows),
    };
    const options = { direction: down ? "downward" : "rightward", boundingBox, roots: this.graph.nodes(".topic") };
    this.graph.layout({ name: "breadthfirst", fit: false, animate: false, spacingFactor: 1, avoidOverlap: false, ...options }).run();
    this.graph.nodes().scratch("placed", true);
    this.fit();
  }

  /** Places the new neighbours of a node around it, where nothing of its other edges lies. */
  spread(id) {
    const centre = this.graph.getElementById(id);
    if (centre.empty()) return;
    if (!centre.scratch("placed")) this.placeBelow(centre);
    const isNew = (node) => node.hasClass("near") && !node.scratch("placed");
    const fresh = centre.neighborhood("node").filter(isNew);
    const { x, y } = centre.position();
    const around = this.graph.nodes().not(fresh).not(centre).map((node) => [node.position("x") - x, node.position("y") - y]);
    const taken = around.filter((way) => Math.hypot(...way) < BESIDE).map(([right, down]) => Math.atan2(down, right));
    for (const [index, angle] of fan(taken, fresh.length).entries()) {
      const reach = 1 + 0.45 * (index % 2);
      fresh[index].position({ x: x + 210 * reach * Math.cos(angle), y: y + 150 * reach * Math.sin(angle) });
      fresh[index].scratch("placed", true);
    }
    this.show(this.graph.nodes().length > MANY ? fresh.union(centre) : this.graph.elements());
  }

  /** Gives a node that was in the list alone a place below all others. */
  placeBelow(node) {
    const { x1, w, y2 } = this.graph.nodes().filter((other) => other.scratch("placed")).boundingBox();
    node.position({ x: x1 + w / 2, y: y2 + 200 });
    node.scratch("placed", true);
  }

  /** Shows that a node or edge is looked at. */
  select(id) {
    this.graph.elements().unselect();
    this.graph.getElementById(id).select();
  }

  fit() {
    this.show(this.graph.elements());
  }

  zoom(factor) {
    const centre = { x: this.graph.width() / 2, y: this.graph.height() / 2 };
    this.graph.zoom({ level: this.graph.zoom() * factor, renderedPosition: centre });
  }

  show(elements) {
    this.graph.resize();
    const view = { fit: { eles: elements, padding: 28 } };
    if (calm.matches) this.graph.fit(elements, 28);
    else this.graph.animate(view, { duration: 200, complete: () => this.soften() });
    if (calm.matches) this.soften();
  }

  /** A drawing of two nodes does not fill the whole box. */
  soften() {
    if (this.graph.zoom() > 1.2) this.graph.zoom(1.2).center();
  }

  close() {
    this.graph.destroy();
  }
}

/** So many directions, spread over the widest room between those that are taken. */
function fan(taken, count) {
  const sorted = [...taken].sort((one, other) => one - other);
  const gaps = sorted.map((from, index) => ({ from, room: (sorted[index + 1] ?? sorted[0] + 2 * Math.PI) - from }));
  const { from, room } = gaps.sort((one, other) => other.room - one.room)[0] ?? { from: -Math.PI / 2, room: 2 * Math.PI };
  return Array.from({ length: count }, (_, index) => from + (room * (index + 1)) / (count + 1));
}

function nodeClasses({ kind, topic, answer, near }) {
  return [kind, topic && "topic", answer && "answer", near && "near"].filter(Boolean);
}

function edgeClasses(near, holds) {
  return [near && "near", holds === true && "holds", holds === false && "gone"].filter(Boolean);
}

function style() {
  const [ink, paper, edge, accent, good, bad, muted, field] = ["ink", "paper", "edge", "accent", "good", "bad", "muted", "field"].map(colour);
  const text = { color: ink, "font-family": FONT, "font-size": NODE, "text-wrap": "wrap", "text-max-width": 400 };
  return [
    { selector: "node", style: { ...text, label: "data(name)", "background-color": field, "border-width": 1.5, "border-color": muted, shape: "round-rectangle", width: "data(width)", height: "data(height)", padding: 9, "text-valign": "center" } },
    { selector: "node.literal, node.blank", style: { shape: "rectangle", "border-style": "dashed" } },
    { selector: "node.topic", style: { "border-color": accent, "border-width": 2.5 } },
    { selector: "node.answer", style: { "background-color": good, "border-color": good, color: paper, "font-weight": 600 } },
    { selector: "edge", style: { ...text, label: "data(name)", "font-size": EDGE, "text-background-color": paper, "text-background-opacity": 1, "text-background-padding": 3, "curve-style": "bezier", "control-point-step-size": 60, "target-arrow-shape": "triangle", width: 1.8, "line-color": muted, "target-arrow-color": muted } },
    { selector: ".near", style: { "border-width": 1, "border-color": edge, "line-style": "dotted", "line-color": edge, "target-arrow-color": edge } },
    { selector: "edge.holds", style: { "line-color": good, "target-arrow-color": good } },
    { selector: "edge.gone", style: { "line-color": bad, "target-arrow-color": bad, "line-style": "dashed" } },
    { selector: ":selected", style: { "underlay-color": accent, "underlay-opacity": 0.3, "underlay-padding": 5 } },
  ];
}
