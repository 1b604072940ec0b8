/* What is known of the node or edge that is looked at. */

import { element, english, outside } from "./elements.js";
import { plain } from "./plain_text.js";
import { link, nameOf, term } from "./terms.js";
import { moment, number, t } from "./texts.js";

/** An edge: its parts, who returned it and when, and its qualifiers. */
export function edgeDetails({ edge, name, holds }, titles) {
  const rows = [
    [t("edge.subject"), named(edge.subject, edge.labels)],
    [t("edge.relation"), named(edge.relation, edge.labels)],
    [t("edge.object"), named(edge.object, edge.labels)],
    [t("edge.endpoint"), outside(plain(titles.get(edge.endpoint) ?? edge.endpoint), { title: plain(edge.endpoint) })],
    [t("edge.retrieved"), moment(edge.retrieved_at)],
    [t("edge.walked"), t(`edge.${edge.direction}`)],
  ];
  if (edge.through) rows.push([t("edge.through"), named(edge.through.relation, edge.labels)]);
  if (edge.identifies) rows.push([t("edge.identifies"), named(edge.identifies, edge.labels)]);
  if (holds !== undefined) rows.push([t("edge.verified"), t(`verified.${verdict(holds)}`)]);
  const qualifiers = edge.qualifiers.map(({ relation, value }) => [named(relation, edge.labels), named(value, edge.labels)]);
  return [
    heading(name),
    terms(rows),
    element("h4", {}, t("edge.qualifiers")),
    qualifiers.length ? terms(qualifiers) : element("p", { class: "muted" }, t("edge.no_qualifiers")),
  ];
}

/** A node: what it is and, once they are there, its neighbours; `look` is called with one, and the edge to it. */
export function nodeDetails(node, neighbours, look) {
  const { kind, value, language, datatype } = term(node.id);
  const rows = [[t("node.kind"), t(`node.${kind}`)]];
  if (kind === "iri") rows.push([t("node.address"), link(value)]);
  else rows.push([t("node.value"), outside(plain(value, 1_000))]);
  if (language) rows.push([t("node.language"), plain(language)]);
  if (datatype) rows.push([t("node.datatype"), link(datatype)]);
  return [heading(node.name), terms(rows), kind === "iri" ? near(neighbours, look) : ""];
}

/** What a verification came to for an edge. */
export function verdict(holds) {
  return holds === null ? "unasked" : holds ? "holds" : "gone";
}

function heading(name) {
  return element("h3", { tabindex: -1 }, outside(name));
}

function terms(rows) {
  return element("dl", { class: "terms" }, rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

/** A term by its name, with its IRI where it has one. */
function named(text, labels) {
  const { kind, value } = term(text);
  const name = nameOf(text, labels);
  return kind === "iri" ? [link(value, name), " ", element("bdi", { class: "muted small" }, plain(value, 300))] : outside(name, { title: plain(value, 1_000) });
}

function near(document, look) {
  if (!document) return element("p", { class: "muted" }, t("near.looking"));
  const lines = document.edges.map((edge) => nearLine(edge, document.entity.iri, look));
  return [
    element("h4", {}, t("near.heading", { n: document.edges.length })),
    element("ul", { class: "near" }, lines),
    document.more ? element("p", { class: "muted" }, t("near.more", { n: document.more })) : "",
    document.gaps.map((gap) => element("p", { class: "caution" }, outside(plain(gap.endpoint)), ": ", english(plain(gap.reason, 300)))),
    document.hidden.filter(({ hidden }) => Object.keys(hidden).length).map((hidden) => element("p", { class: "muted" }, hiddenText(hidden))),
  ];
}

function hiddenText({ endpoint, hidden }) {
  const count = Object.values(hidden).reduce((sum, edges) => sum + edges, 0);
  return t("near.hidden", { endpoint: plain(endpoint), count: number(count) });
}

function nearLine(edge, entity, look) {
  const other = edge.subject === entity ? edge.identifies ?? edge.object : edge.subject;
  const arrow = edge.subject === entity ? "→" : "←";
  const name = nameOf(other, edge.labels);
  const relation = outside(nameOf(edge.relation, edge.labels), { class: "relation" });
  const target = term(other).kind === "iri" ? element("button", { type: "button", class: "link", onclick: () => look(other, edge) }, outside(name)) : outside(name);
  return element("li", {}, `${arrow} `, relation, ` ${arrow} `, target);
}
