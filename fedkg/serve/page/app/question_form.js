/* The form: the question, and what is chosen among what the server has. */

import { byId, element } from "./elements.js";
import { plain } from "./plain_text.js";
import { hasText, t } from "./texts.js";

const KINDS = ["", "entities", "literal", "count", "yesno", "claim", "choice"];
const EXAMPLES = ["one", "two", "three"];

/** Ties the form to what asks and what stops. */
export function startForm(ask, stop) {
  const [form, question] = [byId("ask"), byId("question")];
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!busy()) ask(asked(form));
  });
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  byId("stop").addEventListener("click", stop);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && busy()) stop();
  });
}

/** Shows what the server offers, and keeps what was chosen of it. */
export function showOffer(offer) {
  const chosen = asked(byId("ask"));
  const methods = offer.methods.map(({ name, title }) => choice(name, `${name}: ${title}`, name === chosen.method));
  byId("method").replaceChildren(...methods);
  const kinds = KINDS.map((kind) => choice(kind, t(`kind.${kind || "any"}`), kind === (chosen.kind ?? "")));
  byId("kind").replaceChildren(...kinds);
  const boxes = offer.endpoints.map((endpoint) => checkbox(endpoint, chosen.endpoints));
  byId("endpoints").querySelector("div").replaceChildren(...boxes);
  showExamples(offer);
}

/** While a question is under way, there is a button that stops it in the place of the one that asks. */
export function setBusy(now) {
  const held = document.activeElement === byId(now ? "submit" : "stop");
  byId("submit").hidden = now;
  byId("stop").hidden = !now;
  if (held) byId(now ? "stop" : "submit").focus();
}

/** What the form says. All endpoints, and nothing chosen, are left to the server. */
function asked(form) {
  const data = new FormData(form);
  const endpoints = data.getAll("endpoint");
  const all = form.querySelectorAll("[name=endpoint]").length === endpoints.length;
  return {
    question: data.get("question").trim(),
    topics: linesOf(data.get("topics")),
    options: linesOf(data.get("options")),
    kind: data.get("kind") || null,
    method: data.get("method") ?? "",
    endpoints: all ? [] : endpoints,
  };
}

function busy() {
  return byId("submit").hidden;
}

function linesOf(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

function choice(value, text, selected) {
  return element("option", { value, selected }, plain(text));
}

function checkbox({ name, title }, chosen) {
  const checked = chosen.length === 0 || chosen.includes(name);
  const box = element("input", { type: "checkbox", name: "endpoint", value: name, checked, onchange: atLeastOne });
  return element("label", { class: "check" }, box, element("bdi", {}, plain(name)), element("bdi", { class: "muted" }, plain(title)));
}

/** A question goes to one endpoint at least: the last that is chosen stays. */
function atLeastOne(event) {
  if (!byId("endpoints").querySelector("input:checked")) event.target.checked = true;
}

/** Questions to begin with, where the graph is one of which the page has some. */
function showExamples({ endpoints }) {
  const sample = endpoints.some(({ name }) => name === "sample") && hasText("example.one");
  byId("examples").hidden = !sample;
  if (sample) byId("examples").replaceChildren(t("examples"), ...EXAMPLES.map(example));
}

function example(name) {
  const text = t(`example.${name}`);
  const take = () => {
    byId("question").value = text;
    byId("question").focus();
  };
  return element("button", { type: "button", class: "example", lang: "en", onclick: take }, text);
}
