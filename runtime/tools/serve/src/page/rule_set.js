// The page about a rule set.

import { call } from "./calls.js";
import { $, card, failures, h, table, tag, time } from "./elements.js";
import { chance, howFound } from "./index_entries.js";
import { load } from "./playground.js";
import { tryRequest } from "./request_card.js";
import { state } from "./state.js";

/** Returns a table with bars: the time of the set if it had fewer rules. */
function curve(points) {
  const most = Math.max(...points.map(({ ns }) => ns));
  const rows = points.map(({ rules, ns }) => {
    const bar = h("div", { className: "bar" });
    bar.style.width = `${(100 * ns) / most}%`;
    return [h("div", {}, `the first ${rules}`, bar), time(ns)];
  });
  return table("Time over the number of rules, for this request", null, rows);
}

export async function showRules() {
  const result = await call("rules", "/api/rules");
  if (!result) return;
  const { ok, answer } = result;
  if (!ok) return $("rules").replaceChildren(h("p", { className: "notice" }, answer.error));
  const diagnostics = answer.diagnostics.map((found) => ({ ...found, message: `${answer.texts[found.rule]?.name ?? "rule"}: ${found.message}` }));
  const open = (text) => {
    const link = h("a", { href: "#play" }, text.name);
    link.onclick = () => {
      load({ language: text.language, rule: text.text, input: state.input, client: state.client, view: "why" });
    };
    return link;
  };
  const named = new Map(answer.texts.map((text) => [text.name, text]));
  const warned = new Set(answer.diagnostics.map((found) => answer.texts[found.rule]?.name));
  const rows = (answer.rules ?? []).map((rule) => {
    const name = h("span", {}, open(named.get(rule.name) ?? { name: rule.name, text: "", language: "cel" }), " ", warned.has(rule.name) ? tag("warning", "warn") : "", rule.interpreted ? tag("interpreted", "warn") : "");
    return { chance: rule.chance, cells: [name, howFound(rule), chance(rule)] };
  });
  rows.sort((a, b) => b.chance - a.chance);
  const outcome = (found) => {
    const name = (number) => answer.texts[number]?.name ?? number;
    const why = new Map(found.failed.map((one) => [one.rule, one.message]));
    const rows = found.timed.sort((a, b) => (b.ns ?? 0) - (a.ns ?? 0)).map(({ rule, ns }) => [
      open(answer.texts[rule] ?? { name: name(rule) }),
      why.has(rule) ? h("span", {}, tag("failed", "bad"), ` ${why.get(rule) ?? ""}`) : found.matched.includes(rule) ? tag("matches", "good") : tag("no match", ""),
      ns ? time(ns) : "",
    ]);
    return [h("div", { className: "wide" },
      h("p", {}, `${found.evaluated.length} of ${answer.texts.length} rules are evaluated, ${found.matched.length} match. All of them take ${time(found.ns)}; each rule standalone:`),
      table("", ["rule", "result", "time"], rows)),
    h("div", { className: "wide" }, curve(found.curve))];
  };
  $("rules").replaceChildren(
    h("div", { className: "two" },
      card(`${answer.texts.length} rules`, failures(diagnostics), answer.summary ? h("div", { className: "wide" }, h("pre", {}, answer.summary)) : null),
      answer.ok ? tryRequest("/api/rules", outcome) : ""),
    card("How each rule is found, most often evaluated first", h("div", { className: "wide" }, table("", ["rule", "found by, and what is then evaluated", "expected"], rows.map((row) => row.cells)))));
}
