/* The token of a client: kept for this tab alone, and gone with it. */

import { byId } from "./elements.js";

const KEPT = "fedkg.token";
let asking = null;

/** The token that was given; "" where there is none. */
export function keptToken() {
  return sessionStorage.getItem(KEPT) ?? "";
}

/** Asks the person for a token; whether one was given. Several requests that wait for it ask once. */
export function askForToken(refused) {
  asking ??= dialog(refused).finally(() => { asking = null; });
  return asking;
}

function dialog(refused) {
  const [box, field] = [byId("token"), byId("token-value")];
  byId("token-refused").hidden = !refused;
  sessionStorage.removeItem(KEPT);
  field.value = "";
  box.returnValue = "";
  box.showModal();
  field.focus();
  return new Promise((resolve) => {
    box.addEventListener("close", () => {
      const given = box.returnValue === "give" && field.value.trim() !== "";
      if (given) sessionStorage.setItem(KEPT, field.value.trim());
      field.value = "";
      resolve(given);
    }, { once: true });
  });
}
