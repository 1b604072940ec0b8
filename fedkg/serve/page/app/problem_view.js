/* What went wrong, plainly: what it is, what the server's own sentence is, and whether asking again helps. */

import { element, english } from "./elements.js";
import { plain } from "./plain_text.js";
import { ProblemError } from "./server.js";
import { hasText, moment, t } from "./texts.js";

const SOON = 120;

/** The problem as a box; `again` makes a button of asking again. */
export function problemView(error, again) {
  if (error.name === "AbortError") return element("p", { class: "box stopped" }, t("problem.stopped"));
  const { problem, wait } = error instanceof ProblemError ? error : fault(error);
  const heading = element("p", { class: "heading" }, t(headingOf(problem)));
  const sentence = problem.message ? element("p", {}, english(plain(problem.message, 1_000))) : "";
  const hint = hintOf(problem);
  const later = wait ? element("p", {}, waiting(wait)) : "";
  const button = again && (problem.retryable || wait) ? element("button", { type: "button", onclick: again }, t("problem.again")) : "";
  return element("div", { class: "box problem" }, heading, sentence, hint, later, button);
}

/** A fault of the page itself: shown as well, and told to the console. */
function fault(error) {
  console.error(error);
  return { problem: { status: 0, error: error.name, message: error.message }, wait: 0 };
}

/** The page's own hint where it has one: the server's may name options of the command line. */
function hintOf({ error, hint }) {
  const key = `hint.${error}`;
  const text = hasText(key) ? t(key) : hint && english(plain(hint, 1_000));
  return text ? element("p", { class: "muted" }, text) : "";
}

function headingOf({ status, error }) {
  const keys = [`problem.${error}`, `problem.${status}`];
  return keys.find(hasText) ?? "problem.other";
}

function waiting(seconds) {
  if (seconds <= SOON) return t("problem.wait", { n: seconds });
  return t("problem.until", { time: moment(new Date(Date.now() + 1_000 * seconds).toISOString()) });
}
