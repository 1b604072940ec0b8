/* The proof as a list: the same as the drawing, for those who do not see it or do not point. */

import { verdict } from "./details_view.js";
import { element, outside } from "./elements.js";
import { nameOf } from "./terms.js";
import { number, t } from "./texts.js";

const SHOWN = 20;

/** The paths, each with its edges; `select` is called with the id of a node or edge. */
export function pathList(answer, proof, select) {
  const paths = answer.paths.map((path, index) => pathItem(path, index, answer, proof, select));
  const list = element("ol", { class: "paths" }, paths.slice(0, SHOWN));
  if (paths.length <= SHOWN) return list;
  const rest = element("ol", { class: "paths" }, paths.slice(SHOWN));
  return [list, element("details", {}, element("summary", {}, t("more", { n: paths.length - SHOWN })), rest)];
}

function pathItem(path, index, answer, proof, select) {
  const values = answer.answers.filter((value) => value.paths.includes(index)).map(({ value }) => value);
  const heading = t(values.length ? "path.proof" : "path.path", { number: index + 1 });
  const score = element("span", { class: "muted" }, t("path.score", { score: number(path.score, 2) }));
  const edges = proof.paths[index].map((id, place) => edgeItem(proof.edges.get(id), path.edges[place], select));
  return element("li", {}, element("p", { class: "heading" }, heading, " ", score), element("ol", { class: "edges" }, edges));
}

function edgeItem({ id, start, end, name, holds }, edge, select) {
  const arrow = edge.direction === "out" ? "→" : "←";
  const parts = [node(start, edge, select), ` ${arrow} `, relation(id, name, edge, select), ` ${arrow} `, node(end, edge, select)];
  const tags = [tag(edge.endpoint)];
  if (edge.qualifiers.length) tags.push(element("span", { class: "muted" }, t("path.qualifiers", { n: edge.qualifiers.length })));
  if (holds !== undefined) tags.push(element("span", { class: `mark ${verdict(holds)}` }, t(`verified.${verdict(holds)}`)));
  return element("li", {}, element("span", {}, parts), " ", tags);
}

function node(id, edge, select) {
  const name = nameOf(id, edge.labels);
  return element("button", { type: "button", class: "link", "aria-label": t("path.node", { name }), onclick: () => select(id) }, outside(name));
}

function relation(id, name, edge, select) {
  const label = t("path.edge", { name, endpoint: edge.endpoint });
  return element("button", { type: "button", class: "link relation", "aria-label": label, onclick: () => select(id) }, outside(name));
}

function tag(endpoint) {
  return outside(endpoint, { class: "tag" });
}
