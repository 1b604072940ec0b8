/* Light or dark: as the system has it, or as the person chose. */

const KEPT = "fedkg.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = [];

/** Ties the switch to the page. */
export function startTheme(choice) {
  choice.value = localStorage.getItem(KEPT) ?? "";
  apply(choice.value);
  choice.addEventListener("change", () => {
    localStorage.setItem(KEPT, choice.value);
    apply(choice.value);
  });
  dark.addEventListener("change", () => apply(choice.value));
}

/** Calls the function whenever the colours have changed: a canvas does not follow by itself. */
export function onTheme(listener) {
  listeners.push(listener);
}

/** A colour of the theme as it is now. */
export function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

function apply(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const listener of listeners) listener();
}
