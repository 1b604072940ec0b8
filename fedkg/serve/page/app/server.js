/* The server that this page came from: its routes, and what may go wrong on the way. */

import { events } from "./event_stream.js";
import { askForToken, keptToken } from "./token.js";

/** Why there is no reply: the server's record of it, and the seconds after which asking again makes sense. */
export class ProblemError extends Error {
  constructor(problem, wait = 0) {
    super(problem.message);
    this.problem = problem;
    this.wait = wait;
  }
}

/** The walk of a question as it happens: records, the last of them Answered or Kept. Throws ProblemError. */
export async function* ask(question, signal) {
  const reply = await send("ask", { body: question, signal, accept: "text/event-stream" });
  let answered = false;
  try {
    for await (const record of events(reply.body)) {
      if (record.type === "Problem") throw new ProblemError(record);
      answered ||= record.type === "Answered";
      yield record;
    }
  } catch (error) {
    throw failure(error);
  }
  if (!answered) throw lost();
}

/** What the server was started with. */
export const offer = () => json("methods");

/** The edges of an entity, given by IRI. */
export const neighbours = (iri, limit) => json(`neighbours?${new URLSearchParams({ entity: iri, limit })}`);

/** Each edge of an answer document asked for again. */
export const verify = (answer) => json("verify", { body: answer });

/** The queries with which that is done. */
export const queries = (answer) => json("sparql", { body: answer });

/** An answer that the server keeps. */
export const keptAnswer = (address) => json(address);

async function json(path, options) {
  const reply = await send(path, options);
  try {
    return await reply.json();
  } catch (error) {
    throw failure(error);
  }
}

/** The reply; where a token is missing the person is asked for it, and the request sent again. */
async function send(path, { body, signal, accept = "application/json" } = {}) {
  for (let tries = 0; ; tries += 1) {
    const reply = await fetched(path, body, signal, accept);
    if (reply.ok) return reply;
    if (reply.status !== 401 || !(await askForToken(tries > 0 || keptToken() !== ""))) throw await refusal(reply);
  }
}

async function fetched(path, body, signal, accept) {
  const headers = { accept };
  if (keptToken()) headers.authorization = `Bearer ${keptToken()}`;
  if (body) headers["content-type"] = "application/json";
  try {
    return await fetch(path, { method: body ? "POST" : "GET", headers, signal, body: body && JSON.stringify(body) });
  } catch (error) {
    throw failure(error);
  }
}

async function refusal(reply) {
  const problem = await reply.json().catch(() => ({ status: reply.status, error: "", message: reply.statusText }));
  return new ProblemError({ ...problem, status: reply.status }, Number(reply.headers.get("retry-after")) || 0);
}

function failure(error) {
  return error.name === "AbortError" || error instanceof ProblemError ? error : lost();
}

function lost() {
  return new ProblemError({ status: 0, error: "ConnectionLost", message: "", retryable: true });
}
