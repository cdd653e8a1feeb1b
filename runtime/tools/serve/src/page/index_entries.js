// What the index of a set does with a rule.

import { h, oneLine, tag } from "./elements.js";

/** Returns how a set finds a rule: by which keys, and what is evaluated then. */
export function howFound(rule) {
  if (rule.unindexed) return h("span", {}, tag("every request", "bad"), ` ${rule.unindexed}`);
  const keys = rule.entries.slice(0, 4).map((entry) => h("div", {}, h("code", {}, entry.keys.join(" and ")),
    entry.residual.length ? h("span", { className: "muted" }, " then ", h("code", {}, oneLine(entry.residual.join(" && ")))) : ""));
  if (rule.entries.length > 4) keys.push(h("div", { className: "muted" }, `and ${rule.entries.length - 4} more entries`));
  return h("div", {}, ...keys);
}

/** Returns for how many requests the index is expected to find a rule. */
export const chance = (rule) => `${rule.chance > 0.9995 ? 100 : (rule.chance * 100).toPrecision(2)} %`;
