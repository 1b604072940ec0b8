/* The answer with all that it admits. */

import { element, english, outside } from "./elements.js";
import { plain } from "./plain_text.js";
import { link } from "./terms.js";
import { hasText, percent, t } from "./texts.js";

const SHOWN = 50;
const JUDGED = new Set(["yesno", "claim", "choice"]);

/** Heading, answers, caveats and what is missing; the buttons are the caller's. */
export function answerView(answer, buttons) {
  const guess = answer.caveats.some(({ kind }) => kind === "guess");
  return [
    element("h2", { id: "answer-heading", tabindex: -1 }, t("answer.heading")),
    element("p", { class: "asked" }, outside(plain(answer.question, 4_000))),
    element("p", { class: `outcome ${answer.status}` }, t(`status.${answer.status}`)),
    answer.answers.length ? values(answer, guess) : "",
    confidence(answer),
    caveats(answer),
    closest(answer),
    missing(answer),
    buttons,
    element("p", { class: "muted small" }, t("answer.by", { method: plain(answer.method), model: plain(answer.settings.model ?? "") })),
  ];
}

function values(answer, guess) {
  const items = answer.answers.map((value) => element("li", {}, valueItem(value, answer, guess)));
  const list = element("ul", { class: "values" }, items.slice(0, SHOWN));
  if (items.length <= SHOWN) return list;
  const summary = element("summary", {}, t("more", { n: items.length - SHOWN }));
  return [list, element("details", {}, summary, element("ul", { class: "values" }, items.slice(SHOWN)))];
}

function valueItem(value, { kind }, guess) {
  const yesOrNo = kind === "yesno" && hasText(`value.${value.value}`) ? t(`value.${value.value}`) : value.value;
  const text = kind === "choice" && value.label ? `${value.label}. ${value.value}` : yesOrNo;
  const parts = [outside(plain(text, 500), { class: "value" })];
  if (value.iri) parts.push(" ", link(value.iri));
  if (guess) parts.push(" ", badge("guess", "answer.guess"));
  if (JUDGED.has(kind) && value.paths.length) parts.push(" ", badge("judged", "answer.judged"));
  else parts.push(" ", value.grounded ? badge("grounded", "answer.grounded") : badge("ungrounded", "answer.ungrounded"));
  return parts;
}

function badge(name, key) {
  return element("span", { class: `badge ${name}` }, t(key));
}

function confidence({ confidence: share, answers, settings }) {
  if (share === null || !answers.length) return "";
  const text = t("answer.confidence", { share: percent(share) });
  const bar = element("meter", { min: 0, max: 1, value: share, high: settings.guess_below, optimum: 1, "aria-label": text });
  return element("p", { class: "confidence" }, bar, ` ${text}`);
}

/** What the answer admits, each with what it is about. */
function caveats({ caveats: admitted }) {
  if (!admitted.length) return "";
  const items = admitted.map(({ kind, about }) => element("li", {}, t(`caveat.${kind}`), about ? ": " : "", about ? english(plain(about, 500)) : ""));
  return element("div", { class: "caveats" }, element("h3", {}, t("answer.caveats")), element("ul", {}, items));
}

function closest({ closest: near }) {
  if (!near.length) return "";
  const items = near.map((value) => element("li", {}, outside(plain(value.value, 500), { class: "value" }), value.iri ? [" ", link(value.iri)] : ""));
  return element("div", { class: "closest" }, element("h3", {}, t("answer.closest")), element("p", { class: "muted" }, t("answer.closest.text")), element("ul", {}, items));
}

/** Gaps of the walk, and warnings: each once, without those that a caveat tells of. */
function missing({ gaps, warnings, caveats: admitted }) {
  const told = new Set(admitted.map(({ about }) => about));
  const lines = [
    ...gaps.map(({ endpoint, asked, reason }) => [outside(plain(endpoint)), ": ", english(plain(`${asked}: ${reason}`, 600))]),
    ...[...new Set(warnings)].filter((warning) => !told.has(warning)).map((warning) => english(plain(warning, 1_000))),
  ];
  if (!lines.length) return "";
  const items = lines.map((line) => element("li", {}, line));
  return element("div", { class: "missing" }, element("h3", {}, t("answer.missing")), element("ul", {}, items));
}
