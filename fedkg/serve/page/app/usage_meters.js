/* What a question has cost so far. */

import { element } from "./elements.js";
import { dollars, number, t } from "./texts.js";

/** The counts of a usage as a list of terms. */
export function usageMeters(usage) {
  const tokens = usage.tokens_in + usage.tokens_out;
  const counts = [
    ["seconds", t("seconds", { seconds: number(usage.seconds, 1) })],
    ["requests", number(usage.requests)],
    ["cache_hits", number(usage.cache_hits)],
    ["model_calls", number(usage.model_calls)],
    ["tokens", number(tokens)],
    ["price", usage.price === null ? t("usage.unpriced") : dollars(usage.price)],
  ];
  return element("dl", { class: "meters" }, counts.map(([name, value]) => meter(name, value)));
}

function meter(name, value) {
  return element("div", {}, element("dt", {}, t(`usage.${name}`)), element("dd", {}, value));
}
