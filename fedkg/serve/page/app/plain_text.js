/* Text from outside as one line, without control characters and what turns the writing. */

// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu;
const LABEL = 200;

/** The text in at most `limit` characters. */
export function plain(text, limit = LABEL) {
  const folded = String(text).slice(0, 20 * limit).split(/\s+/u).join(" ").trim();
  const shown = [...folded.replace(UNSAFE, "")];
  return shown.length <= limit ? shown.join("") : `${shown.slice(0, limit - 1).join("")}…`;
}
