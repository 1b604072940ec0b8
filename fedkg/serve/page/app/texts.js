/* The page's own texts, in the languages that it has: one file of texts each. */

const LANGUAGES = ["en", "de"];
const KEPT = "fedkg.language";
let language = "en";
let texts = {};

/** Loads the texts of the language that was chosen, or else of the first of the browser's that the page has. */
export async function loadTexts(chosen = localStorage.getItem(KEPT) ?? "") {
  const wanted = [chosen, ...navigator.languages].map((tag) => tag.toLowerCase().split("-")[0]);
  language = wanted.find((tag) => LANGUAGES.includes(tag)) ?? "en";
  texts = await (await fetch(`page/texts/${language}.json`)).json();
  document.documentElement.lang = language;
  fill(document);
  return language;
}

/** Keeps the choice of a language, and loads its texts. */
export async function chooseLanguage(chosen) {
  localStorage.setItem(KEPT, chosen);
  return loadTexts(chosen);
}

/** The text of that key, `{name}` replaced; `n` chooses between KEY.one and KEY.other. */
export function t(key, values = {}) {
  const whole = "n" in values ? `${key}.${new Intl.PluralRules(language).select(values.n)}` : key;
  const text = texts[whole] ?? texts[key] ?? key;
  return text.replace(/\{(\w+)\}/gu, (_, name) => shown(values[name]));
}

/** Whether there is a text of that key. */
export function hasText(key) {
  return Object.hasOwn(texts, key);
}

/** A number as the language writes it. */
export function number(value, digits = 0) {
  return new Intl.NumberFormat(language, { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(value);
}

/** A share of one in percent, never more than it is. */
export function percent(value) {
  return new Intl.NumberFormat(language, { style: "percent", roundingMode: "floor" }).format(value);
}

/** US dollars; what is less than a hundredth of a cent is so written. */
export function dollars(value) {
  const format = { style: "currency", currency: "USD", maximumFractionDigits: 4 };
  if (value > 0 && value < 0.0001) return `< ${new Intl.NumberFormat(language, format).format(0.0001)}`;
  return new Intl.NumberFormat(language, format).format(value);
}

/** A time (ISO 8601) in the reader's zone; as it is where it is none. */
export function moment(text) {
  const time = new Date(text);
  if (!text || Number.isNaN(time.getTime())) return text;
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" }).format(time);
}

function shown(value) {
  return typeof value === "number" ? number(value) : String(value ?? "");
}

function fill(root) {
  for (const part of root.querySelectorAll("[data-text]")) part.textContent = t(part.dataset.text);
}
