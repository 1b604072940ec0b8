/* RDF terms, which documents hold as N-Triples text. */

import { element } from "./elements.js";
import { plain } from "./plain_text.js";

const LITERAL = /^"((?:[^"\\\n\r]|\\.)*)"(?:@(.+)|\^\^<(.+)>)?$/su;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gsu;
const SHORT = { t: "\t", b: "\b", n: "\n", r: "\r", f: "\f" };
const LAST = 0x10ffff;
const WEB = /^https?:\/\//iu;

/** Its parts: `kind` (iri, literal, blank), `value`, and a literal's `language` and `datatype`. */
export function term(text) {
  if (text.startsWith("<")) return { kind: "iri", value: text.slice(1, -1) };
  const parts = LITERAL.exec(text);
  if (!parts) return { kind: "blank", value: text };
  return { kind: "literal", value: unescaped(parts[1]), language: parts[2] ?? "", datatype: parts[3] ?? "" };
}

/** What it is called: its label where there is one, else what follows the last sign of an IRI, or the value. */
export function nameOf(text, labels = {}) {
  const label = Object.hasOwn(labels, text) ? labels[text] : "";
  return plain(label || ownName(term(text))) || "?";
}

/** An IRI as a link where it is one of the web; any other, javascript: among them, is text. */
export function link(iri, text = iri) {
  const shown = element("bdi", {}, plain(text, 500));
  if (!isWeb(iri)) return element("span", { class: "iri" }, shown);
  return element("a", { class: "iri", href: iri, target: "_blank", rel: "noopener noreferrer" }, shown);
}

function isWeb(iri) {
  return WEB.test(iri) && URL.canParse(iri) && WEB.test(new URL(iri).href);
}

function ownName({ kind, value }) {
  if (kind !== "iri") return value;
  const tail = value.replace(/[#/]+$/u, "").split(/[#/:]/u).pop();
  return tail.replace(/[._]/gu, " ").trim() || value;
}

function unescaped(text) {
  return text.replace(ESCAPE, (whole, four, eight, short) => {
    const code = four ?? eight;
    if (code === undefined) return SHORT[short] ?? short;
    const point = Number.parseInt(code, 16);
    return point <= LAST ? String.fromCodePoint(point) : whole;
  });
}
