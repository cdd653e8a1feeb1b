// The page about a rule set: what it has beside the workbench.

import { setDecision } from "./decisions.js";
import { card, h, table, tag, time, withCode } from "./elements.js";
import { chance, howFound } from "./index_entries.js";
import { load } from "./playground.js";
import { state } from "./state.js";
import { workbench } from "./workbench.js";

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

/** A link that opens a rule in the playground. */
function open(text) {
  const link = h("a", { href: "#play", title: "Opens the rule in the playground" }, text.name);
  link.onclick = () => {
    load({ language: text.language, rule: text.text, input: state.input, client: state.client, view: "why" });
  };
  return link;
}

function verdict(answer, good) {
  const name = good.texts[answer.first]?.name;
  const more = answer.matched.length - 1;
  const text = name === undefined ? "no rule matches" : `${name} matches first`;
  return [h("div", { className: `verdict inner ${name === undefined ? "false" : "true"}` }, h("span", { className: "mark" }, name === undefined ? "✕" : "✓"),
    h("div", { className: "verdict-text" }, h("strong", {}, text), h("span", {}, more > 0 ? `${more} more match` : answer.failed.length ? `${answer.failed.length} failed` : "")))];
}

function outcome(answer, good) {
  const why = new Map(answer.failed.map((one) => [one.rule, one.message]));
  const rows = answer.timed.sort((a, b) => (b.ns ?? 0) - (a.ns ?? 0)).map(({ rule, ns }) => [
    good.texts[rule] ? open(good.texts[rule]) : String(rule),
    why.has(rule) ? h("span", {}, tag("failed", "bad"), " ", ...withCode(why.get(rule) ?? "")) : answer.matched.includes(rule) ? tag("matches", "good") : tag("no match", ""),
    ns ? time(ns) : "",
  ]);
  return [h("div", { className: "wide" },
    h("p", {}, `${answer.evaluated.length} of ${good.texts.length} rules are evaluated, ${answer.matched.length} match. All of them take ${time(answer.ns)}; each rule standalone:`),
    table("", ["rule", "result", "time"], rows)),
  h("div", { className: "wide" }, curve(answer.curve))];
}

/** The cards below: how each rule is found. */
function details(answer) {
  const warned = new Set(answer.diagnostics.map((found) => found.rule));
  const rows = answer.found.map((rule, number) => {
    const text = answer.texts[number] ?? { name: rule.name, text: "", language: "cel" };
    const name = h("span", {}, open(text), " ", warned.has(number) ? tag("warning", "warn") : "", rule.interpreted ? tag("interpreted", "warn") : "");
    return { chance: rule.chance, cells: [name, howFound(rule), chance(rule)] };
  });
  rows.sort((a, b) => b.chance - a.chance);
  return [answer.summary ? card("The set", h("div", { className: "wide" }, h("pre", {}, answer.summary))) : "",
    card("How each rule is found, most often evaluated first", h("div", { className: "wide" }, table("", ["rule", "found by, and what is then evaluated", "expected"], rows.map((row) => row.cells))))];
}

let page;
export function showRules(linked, isServed) {
  const names = (numbers, good) => new Set(numbers.map((number) => good.texts[number]?.name));
  page ??= workbench({
    page: "rules",
    path: "/api/rules",
    word: "rule set",
    ruleHead: "first match",
    format: (file) => (file.expression ? "expression" : "rules"),
    files: (answer) => answer.files,
    body: (files) => (files ? { files: files.map(({ name, text, language, expression }) => ({ name, text, language, expression })) } : {}),
    casesBody: () => ({}),
    casesOf: () => ({}),
    atTime: () => ({}),
    ask: (bench) => {
      const number = bench.good.texts.findIndex(({ name }) => name === bench.asked);
      return number < 0 ? {} : { rule: number };
    },
    fileOf: (found) => found.file ?? -1,
    rules: (answer) => (answer.texts ?? []).map(({ name, span, file }) => ({ key: name, name, span, file })),
    read: (answer, good) => ({
      decided: names(answer.first === null ? [] : [answer.first], good),
      matched: names(answer.matched, good),
      failed: names(answer.failed.map(({ rule }) => rule), good),
      reasons: answer.reasons.map(({ rule, decided, matched, lines }) => {
        const name = good.texts[rule]?.name ?? "";
        return { name, lines, title: decided ? `\`${name}\` is the first that matches:` : matched ? `\`${name}\` matches:` : `\`${name}\` does not match:` };
      }),
    }),
    decision: setDecision,
    verdict,
    outcome,
    details,
  });
  return page(linked, isServed);
}
