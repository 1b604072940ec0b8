/* The walk as it happens: a group of lines for each step. */

import { element, english, outside } from "./elements.js";
import { plain } from "./plain_text.js";
import { link } from "./terms.js";
import { number, t } from "./texts.js";
import { usageMeters } from "./usage_meters.js";

const SHOWN = 5;
const MOST_SHOWN = 8;
const LINE = 300;
const NOTHING = { seconds: 0, requests: 0, cache_hits: 0, model_calls: 0, tokens_in: 0, tokens_out: 0, price: 0 };

/** Draws a walk's events into a section, one after the other. */
export class WalkView {
  constructor(section) {
    this.groups = element("ol", { class: "steps" });
    this.meters = element("div");
    const heading = element("h2", { id: "walk-heading" }, t("walk.heading"));
    section.replaceChildren(heading, this.meters, this.groups);
    this.used(NOTHING);
    this.depths = new Map();
    this.lines = new Map();
  }

  /** Draws one event; what it is in a sentence, or "" where that need not be told. */
  add(event) {
    const draw = this[event.type];
    return draw ? draw.call(this, event) : "";
  }

  Planned({ plan }) {
    const group = this.group("plan", t("walk.plan"));
    group.append(line(t("walk.kind"), t(`kind.${plan.kind}`)));
    if (plan.keywords.length) group.append(line(t("walk.keywords"), outside(plain(plan.keywords.join(", "), LINE))));
    if (plan.statement) group.append(line(t("walk.statement"), outside(plain(plan.statement, LINE))));
    return t("walk.planned");
  }

  Linked({ topics }) {
    const group = this.group("topics", t("walk.topics"));
    if (!topics.length) group.append(element("p", {}, t("walk.no_topics")));
    group.append(element("ul", { class: "topics" }, topics.map(topic)));
    return t("walk.linked", { names: topics.map(({ label }) => plain(label)).join(", ") || "–" });
  }

  Fetched({ depth, entities, edges, incomplete, usage }) {
    this.used(usage);
    const values = { edges: t("edges", { n: edges }), entities: t("entities", { n: entities }) };
    const text = t("walk.fetched", values);
    this.group(depth).append(element("p", {}, text));
    if (incomplete) this.group(depth).append(element("p", { class: "caution" }, t("walk.incomplete", { n: incomplete })));
    return `${t("walk.step", { depth })}: ${text}`;
  }

  Ranked({ depth, considered, offered, scores = [] }) {
    const heading = t("walk.candidates", { n: considered });
    this.candidates(depth, heading, offered, scores);
    return `${t("walk.step", { depth })}: ${heading}`;
  }

  Scored({ depth, what, steps, scores }) {
    this.candidates(depth, t(`walk.scored.${what}`), steps, scores);
    return t(`walk.scored.${what}`);
  }

  Proposed({ chains }) {
    this.candidates("plan", t("walk.proposed", { n: chains.length }), chains, []);
    return t("walk.proposed", { n: chains.length });
  }

  Judged({ paths, adequate }) {
    const text = t(adequate ? "walk.adequate" : "walk.inadequate");
    this.last().append(element("p", { class: "verdict" }, text));
    this.candidates(undefined, t("walk.judged", { n: paths.length }), paths, []);
    return text;
  }

  Chosen({ depth, steps }) {
    for (const step of steps) this.mark(depth, step, "chosen");
    if (!steps.length) this.group(depth).append(element("p", { class: "verdict" }, t("walk.nothing_chosen")));
    return t("walk.chosen", { n: steps.length });
  }

  Verified({ depth, kept, finished }) {
    for (const step of kept) this.mark(depth, step, "kept");
    for (const step of finished) this.mark(depth, step, "finished");
    return t("walk.verified", { kept: kept.length, finished: finished.length });
  }

  Computed({ members, values }) {
    const text = t("walk.computed", { n: members });
    this.candidates(undefined, text, values, []);
    return text;
  }

  Warned({ message }) {
    this.last().append(element("p", { class: "caution" }, english(plain(message, 1_000))));
    return "";
  }

  Answered({ answer }) {
    this.used(answer.usage);
    return "";
  }

  /** Writes the seconds that have gone by since the question was asked. */
  tick(seconds) {
    this.meters.querySelector("dd").textContent = t("seconds", { seconds: number(seconds) });
  }

  used(usage) {
    this.meters.replaceChildren(usageMeters(usage));
  }

  group(key, title = t("walk.step", { depth: key })) {
    if (!this.depths.has(key)) {
      const body = element("div");
      this.groups.append(element("li", {}, element("h3", {}, title), body));
      this.depths.set(key, body);
    }
    return this.depths.get(key);
  }

  last() {
    return [...this.depths.values()].pop() ?? this.group("plan", t("walk.plan"));
  }

  /** A list of candidates; all but the first are folded away, but those that are taken come to the others. */
  candidates(depth, heading, steps, scores) {
    const items = steps.map((step, index) => this.candidate(depth, step, scores[index], Math.max(...scores, 0.001)));
    const group = depth === undefined ? this.last() : this.group(depth);
    const first = element("ol", { class: "candidates" }, items.slice(0, SHOWN));
    group.append(element("p", { class: "heading" }, heading), first);
    if (items.length > SHOWN) group.append(folded(items.slice(SHOWN)));
  }

  candidate(depth, step, score, best) {
    const marks = element("span", { class: "marks" });
    this.lines.set(`${depth} ${step}`, marks);
    const bar = score === undefined ? "" : scored(score, best);
    return element("li", {}, bar, outside(plain(step, LINE), { class: "text" }), marks);
  }

  /** Marks a candidate by what became of it; a step that was not among the offered has a line of its own. */
  mark(depth, step, state) {
    if (!this.lines.has(`${depth} ${step}`)) {
      this.group(depth).append(element("ul", { class: "candidates" }, this.candidate(depth, step)));
    }
    const marks = this.lines.get(`${depth} ${step}`);
    marks.replaceChildren(element("span", { class: `mark ${state}` }, t(`walk.mark.${state}`)));
    marks.closest("li").classList.add("taken");
    unfold(marks.closest("li"));
  }
}

function folded(items) {
  const summary = element("summary", {}, t("more", { n: items.length }));
  return element("details", {}, summary, element("ol", { class: "candidates" }, items));
}

/** Takes an item out of its fold, into the list before it, where there is room. */
function unfold(item) {
  const fold = item.closest("details");
  const list = fold?.previousElementSibling;
  if (!fold || list.children.length >= MOST_SHOWN) return;
  list.append(item);
  const left = fold.querySelectorAll("li").length;
  fold.querySelector("summary").textContent = t("more", { n: left });
  fold.hidden = left === 0;
}

function line(name, value) {
  return element("p", {}, element("span", { class: "muted" }, `${name}: `), value);
}

function topic({ iri, label, description, score, mention }) {
  const name = link(iri.slice(1, -1), label);
  const called = mention && mention !== label ? t("walk.mention", { mention: plain(mention) }) : "";
  const about = [plain(description), called].filter(Boolean).join("; ");
  return element("li", {}, name, about ? outside(about, { class: "muted" }) : "", element("span", { class: "muted" }, number(score, 2)));
}

function scored(score, best) {
  const text = number(score, 2);
  return element("span", { class: "score" }, element("meter", { min: 0, max: best, value: Math.max(score, 0), "aria-label": t("walk.score") }), text);
}
