/* The page: one question at a time, its walk, its answer. */

import { answerTools, keptAt } from "./answer_tools.js";
import { answerView } from "./answer_view.js";
import { byId, outside } from "./elements.js";
import { plain } from "./plain_text.js";
import { problemView } from "./problem_view.js";
import { ProofView } from "./proof_view.js";
import { setBusy, showOffer, startForm } from "./question_form.js";
import * as server from "./server.js";
import { chooseLanguage, loadTexts, t } from "./texts.js";
import { startTheme } from "./theme.js";
import { WalkView } from "./walk_view.js";

const KEPT = /^#(\/answers\/[\w-]+)$/u;

/** What is shown: kept, so that another language can show it again. */
const state = { offer: null, events: [], answer: null, address: "", problem: null };
let walk = null;
let proof = null;
let under_way = null;

async function start() {
  startTheme(byId("theme"));
  byId("language").value = await loadTexts();
  byId("language").addEventListener("change", changeLanguage);
  startForm(ask, () => under_way?.abort());
  addEventListener("hashchange", openKept);
  byId("question").focus();
  await loadOffer();
  await openKept();
}

async function loadOffer() {
  try {
    state.offer = await server.offer();
    showServer();
  } catch (error) {
    showProblem(error, loadOffer);
  }
}

function showServer() {
  if (!state.offer) return;
  const { endpoints, model, version } = state.offer;
  showOffer(state.offer);
  byId("served").replaceChildren(outside(plain(model)), `, ${t("endpoints", { n: endpoints.length })}`);
  byId("about").textContent = `fedkg ${version}. ${t("about")}`;
}

/** Asks a question, and draws what happens until it is answered, stopped or fails. */
async function ask(question) {
  clear();
  document.title = `${plain(question.question, 60)} · fedkg`;
  under_way = new AbortController();
  setBusy(true);
  byId("status").textContent = t("asking");
  byId("result").hidden = false;
  walk = new WalkView(byId("walk"));
  const clock = startClock();
  try {
    for await (const event of server.ask(question, under_way.signal)) take(event);
  } catch (error) {
    showProblem(error, () => ask(question));
  } finally {
    clearInterval(clock);
    setBusy(false);
    under_way = null;
  }
}

/** Shows each second that the question is under way: between two events a model may think for long. */
function startClock() {
  const begun = performance.now();
  return setInterval(() => state.answer || walk?.tick((performance.now() - begun) / 1_000), 1_000);
}

function take(event) {
  if (event.type === "Kept") return keep(event.address);
  state.events.push(event);
  const text = walk.add(event);
  if (text) byId("status").textContent = text;
  if (event.type === "Answered") showAnswer(event.answer);
  return undefined;
}

function keep(address) {
  state.address = address;
  byId("kept").replaceChildren(...keptAt(address));
}

function showAnswer(answer) {
  state.answer = answer;
  const waits = ["stop", "submit", "question"].includes(document.activeElement?.id);
  byId("answer").replaceChildren(...answerParts());
  byId("answer").hidden = false;
  showProof();
  byId("status").textContent = `${t(`status.${answer.status}`)} ${answer.answers.length ? t("answers", { n: answer.answers.length }) : ""}`;
  if (waits) byId("answer-heading").focus();
}

function answerParts() {
  const tools = answerTools(state.answer, state.address, (checks) => proof?.verified(checks));
  return answerView(state.answer, tools).flat(Infinity).filter(Boolean);
}

function showProof() {
  byId("proof").hidden = !state.answer.paths.length;
  if (!state.answer.paths.length) return;
  const titles = new Map((state.offer?.endpoints ?? []).map(({ name, title }) => [name, title ? `${name}: ${title}` : name]));
  proof = new ProofView(byId("proof"), state.answer, titles);
}

/** Shows an answer that the server keeps, where the page's address names one. */
async function openKept() {
  const [, address] = KEPT.exec(location.hash) ?? [];
  if (!address || address === state.address) return;
  under_way?.abort();
  clear();
  try {
    const answer = await server.keptAnswer(address.slice(1));
    state.address = address;
    byId("result").hidden = false;
    byId("walk").replaceChildren();
    showAnswer(answer);
  } catch (error) {
    showProblem(error);
  }
}

function showProblem(error, again) {
  Object.assign(state, { problem: error, again });
  byId("status").textContent = "";
  byId("problem").replaceChildren(problemView(error, again));
}

function clear() {
  proof?.close();
  [proof, walk] = [null, null];
  Object.assign(state, { events: [], answer: null, address: "", problem: null });
  byId("problem").replaceChildren();
  byId("answer").hidden = true;
  byId("proof").hidden = true;
}

async function changeLanguage(event) {
  await chooseLanguage(event.target.value);
  showServer();
  if (state.problem) byId("problem").replaceChildren(problemView(state.problem, state.again));
  if (walk) {
    walk = new WalkView(byId("walk"));
    for (const record of state.events) walk.add(record);
  }
  if (state.answer) byId("answer").replaceChildren(...answerParts());
  proof?.texts();
  byId("status").textContent = "";
}

await start();
