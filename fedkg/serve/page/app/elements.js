/* Elements made of text alone: nothing from outside is ever read as markup. */

/** An element with attributes (`onclick` and the like are listeners) and children: elements, and texts as texts. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== ""));
  return made;
}

/** The element of that id. */
export function byId(id) {
  return document.getElementById(id);
}

/** A text from outside, kept apart from the direction of writing around it. */
export function outside(text, attributes = {}) {
  return element("bdi", attributes, text);
}

/** A sentence of the server's, which is English in every language of the page. */
export function english(text) {
  return element("bdi", { lang: "en" }, text);
}
