/* The proof: the drawing, its list, and the details of what is looked at. */

import { edgeDetails, nodeDetails } from "./details_view.js";
import { byId, element } from "./elements.js";
import { pathList } from "./path_list.js";
import { problemView } from "./problem_view.js";
import { Proof } from "./proof.js";
import * as server from "./server.js";
import { t } from "./texts.js";

const NEIGHBOURS = 100;
const DRAWN = 12;
const MANY = 6;

/** Shows the proof of an answer in a section. */
export class ProofView {
  constructor(section, answer, titles) {
    this.answer = answer;
    this.titles = titles;
    this.proof = new Proof(answer);
    this.near = new Map();
    this.box = element("div", { class: answer.paths.length > MANY ? "canvas tall" : "canvas", id: "graph", role: "img" });
    this.note = element("p", { class: "muted small" });
    this.tools = element("p", { class: "buttons tools" });
    this.details = element("div", { class: "details", role: "region", id: "details" });
    this.list = element("div", { class: "path-list" });
    this.heading = element("h2", { id: "proof-heading" });
    const drawing = element("div", {}, this.tools, this.box, this.note);
    section.replaceChildren(this.heading, element("div", { class: "drawing" }, drawing, this.details), this.list);
    this.texts();
    this.drawn = this.draw();
  }

  /** Writes all texts, also when the language has changed. */
  texts() {
    this.heading.textContent = t(this.answer.answers.length ? "proof.heading" : "proof.paths");
    this.box.setAttribute("aria-label", t("proof.drawing"));
    this.details.setAttribute("aria-label", t("proof.details"));
    const tools = [["fit", () => this.graph?.fit()], ["larger", () => this.graph?.zoom(1.25)], ["smaller", () => this.graph?.zoom(0.8)]];
    this.tools.replaceChildren(...tools.map(([name, onclick]) => element("button", { type: "button", onclick }, t(`proof.${name}`))));
    this.lines();
    if (this.shown) this.showDetails();
    else this.details.replaceChildren(element("p", { class: "muted" }, t("proof.hint")));
  }

  /** Notes what a verification came to, in the drawing and in the list. */
  verified(checks) {
    this.proof.verified(checks);
    this.graph?.draw();
    this.lines();
    if (this.shown) this.showDetails();
  }

  close() {
    this.graph?.close();
    this.graph = null;
    this.closed = true;
  }

  /** Draws the graph; its library is loaded with the first proof, so that the page is there before it. */
  async draw() {
    const { GraphView } = await import("./graph_view.js");
    if (this.closed) return;
    this.graph = new GraphView(this.box, this.proof, (id) => this.select(id, false));
    this.note.textContent = this.graph.left ? t("proof.left", { n: this.graph.left }) : "";
    this.box.dataset.drawn = "";
  }

  lines() {
    const parts = pathList(this.answer, this.proof, (id) => this.select(id, true));
    this.list.replaceChildren(element("h3", {}, t("proof.list")), ...[parts].flat());
  }

  /** Looks at a node, with its neighbours, or at an edge. Whoever came by the keyboard is taken to the details. */
  select(id, focus) {
    this.shown = id;
    this.back = focus ? document.activeElement : this.back;
    this.graph?.select(id);
    this.showDetails();
    if (focus) {
      this.details.scrollIntoView({ block: "nearest" });
      this.details.querySelector("h3")?.focus({ preventScroll: true });
    }
    const node = this.proof.nodes.get(id);
    if (node?.kind === "iri" && !this.near.has(id)) this.look(id);
  }

  showDetails() {
    const [node, edge] = [this.proof.nodes.get(this.shown), this.proof.edges.get(this.shown)];
    const parts = edge ? edgeDetails(edge, this.titles) : nodeDetails(node, this.near.get(this.shown), (id, over) => this.follow(id, over));
    const held = this.details.contains(document.activeElement);
    const close = element("button", { type: "button", class: "close", onclick: () => this.unselect() }, t("proof.close"));
    this.details.replaceChildren(...parts.flat(Infinity).filter(Boolean), close);
    if (held) this.details.querySelector("h3").focus({ preventScroll: true });
  }

  /** Nothing is looked at any more; the focus goes back to where it came from. */
  unselect() {
    this.shown = "";
    this.graph?.select("");
    this.details.replaceChildren(element("p", { class: "muted" }, t("proof.hint")));
    const back = this.back?.isConnected ? this.back : this.tools.querySelector("button");
    back.focus();
  }

  /** Goes on to a neighbour, over an edge that joins the drawing. */
  follow(id, edge) {
    this.proof.add(edge, true);
    this.graph?.draw();
    this.graph?.spread(this.shown);
    this.select(id, true);
  }

  /** Looks up the neighbours of a node; some of them join the drawing. */
  async look(id) {
    this.near.set(id, null);
    try {
      const document = await server.neighbours(id.slice(1, -1), NEIGHBOURS);
      this.near.set(id, document);
      for (const edge of document.edges.slice(0, DRAWN)) this.proof.add(edge, true);
      this.graph?.draw();
      this.graph?.spread(id);
      if (this.shown === id) this.showDetails();
    } catch (error) {
      this.near.delete(id);
      if (this.shown === id) this.details.append(problemView(error));
    }
    byId("status").textContent = this.near.get(id) ? t("near.status", { n: this.near.get(id).edges.length }) : "";
  }
}
