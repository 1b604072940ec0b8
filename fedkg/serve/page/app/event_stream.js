/* Server-sent events read from the reply to a POST, which the browser's own EventSource cannot send. */

/** The records of the stream as they come, each with the event's name as its `type`. */
export async function* events(body) {
  let [type, data] = ["", ""];
  for await (const line of lines(body)) {
    if (line.startsWith("event:")) type = line.slice("event:".length).trim();
    if (line.startsWith("data:")) data += line.slice("data:".length);
    if (line === "" && data) {
      yield { ...JSON.parse(data), type };
      [type, data] = ["", ""];
    }
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      for (const part of parts) yield part.replace(/\r$/u, "");
    }
  } finally {
    reader.cancel().catch(() => {}); // who reads no further ends the question
  }
}
