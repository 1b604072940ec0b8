/* How large a name is when it is drawn. */

const WIDTH = 150;
const LINE = 17;
const NAME = 60;
const pen = document.createElement("canvas").getContext("2d");

/** The name in lines, of at most 150 px if its words let it, and what they measure in that font. */
export function textBox(name, font) {
  pen.font = font;
  const lines = [];
  for (const word of short(name).split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && pen.measureText(longer).width <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const width = Math.max(...lines.map((line) => pen.measureText(line).width));
  return { name: lines.join("\n"), width: Math.ceil(width) + 1, height: LINE * lines.length };
}

function short(name) {
  const letters = [...name];
  return letters.length > NAME ? `${letters.slice(0, NAME - 1).join("")}…` : name;
}
