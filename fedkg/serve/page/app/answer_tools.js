/* What one can do with an answer: verify it, see its queries, and take it along. */

import { byId, element, english, outside } from "./elements.js";
import { plain } from "./plain_text.js";
import { problemView } from "./problem_view.js";
import * as server from "./server.js";
import { t } from "./texts.js";

const COPIED = 2_000;

/** The buttons under an answer; `verified` is called with each edge that was asked for again. */
export function answerTools(answer, address, verified) {
  const result = element("div", { class: "verification", role: "status" });
  const queries = element("details", { class: "queries" }, element("summary", {}, t("queries.summary")));
  queries.addEventListener("toggle", () => showQueries(queries, answer), { once: true });
  const verify = element("button", { type: "button", id: "verify", onclick: () => check(answer, verify, result, verified) }, t("verify"));
  const save = element("button", { type: "button", id: "download", onclick: () => download(answer) }, t("download"));
  const kept = element("p", { class: "small kept", id: "kept" }, keptAt(address));
  return [element("p", { class: "buttons" }, answer.paths.length ? verify : "", save), result, kept, answer.paths.length ? queries : ""];
}

/** Where the server keeps the answer, once it has told; nothing where it keeps none. */
export function keptAt(address) {
  return address ? [`${t("kept")} `, element("a", { href: `#${address}` }, address)] : [];
}

async function check(answer, button, result, verified) {
  button.disabled = true;
  result.replaceChildren(t("verify.asking"));
  try {
    const checked = await server.verify(answer);
    result.replaceChildren(...verification(checked));
    verified(checked.edges);
  } catch (error) {
    result.replaceChildren(problemView(error));
  }
  button.disabled = false;
}

function verification({ holds, gone, unasked, unproven }) {
  const whole = gone + unasked === 0 && unproven.length === 0;
  const counts = [["holds", holds], ["gone", gone], ["unasked", unasked]].filter(([name, n]) => n || name === "holds");
  const texts = counts.map(([name, n]) => t(`verify.${name}`, { n })).join(", ");
  const doubts = unproven.map((value) => element("p", { class: "caution" }, `${t("verify.unproven")} `, outside(plain(value))));
  return [element("p", { class: whole ? "good" : "caution" }, `${t(whole ? "verify.whole" : "verify.partly")} ${texts}.`), ...doubts];
}

async function showQueries(box, answer) {
  try {
    const queries = await server.queries(answer);
    box.append(element("p", { class: "muted" }, t("queries.text")), ...queries.map(queryBox));
  } catch (error) {
    box.append(problemView(error));
  }
}

function queryBox({ endpoint, query }) {
  const text = element("pre", { tabindex: 0, lang: "en", "aria-label": t("queries.query", { endpoint: plain(endpoint) }) }, query);
  const copy = element("button", { type: "button", onclick: () => copied(text, copy) }, t("copy"));
  return element("div", { class: "query" }, element("p", { class: "heading" }, english(plain(endpoint)), " ", copy), text);
}

/** Copies a text; where a page may not (without TLS, on another machine), the text is selected instead. */
async function copied(text, button) {
  try {
    await navigator.clipboard.writeText(text.textContent);
    told(button, "copied");
  } catch {
    getSelection().selectAllChildren(text);
    told(button, "copy.selected");
  }
}

function told(button, key) {
  button.textContent = t(key);
  byId("status").textContent = t(key);
  setTimeout(() => { button.textContent = t("copy"); }, COPIED);
}

function download(answer) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(answer, null, 2)], { type: "application/json" }));
  const name = answer.question.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/gu, "").slice(0, 60);
  element("a", { href: url, download: `${name || "answer"}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), COPIED);
}
