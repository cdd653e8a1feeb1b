// The editors of the rule and of the request: their colours and marks.

import { $, h, oneLine } from "./elements.js";
import { now, state } from "./state.js";
import { inputTokens, paint, ruleTokens } from "./tokens.js";

export function paintRule() {
  const text = $("rule").value;
  const marks = ruleTokens(text, state.language);
  if (text === now.shown.rule) {
    for (const { span, severity } of now.shown.answer.diagnostics ?? []) {
      const [start, end] = span.map(now.shown.at);
      marks.push([Math.min(start, Math.max(0, text.length - 1)), Math.max(end, start + 1), severity === "error" ? "wrong" : "doubt"]);
    }
    const error = now.shown.answer.result?.error;
    if (error) marks.push([...error.span.map(now.shown.at), "wrong"]);
    if (now.lit) marks.push([...now.lit.map(now.shown.at), "lit"]);
  }
  paint($("rule-editor").querySelector("pre"), text, marks);
  paint($("echo"), ["code", "graph", "clif", "tree"].includes(state.view) ? text : "", marks);
  if (!["code", "graph", "clif", "tree"].includes(state.view)) $("echo").replaceChildren();
}

/** Shows the static cost of the marked part of the rule, else of the whole rule. */
export function showPartCost() {
  const parts = $("rule").value === now.shown.rule ? now.shown.answer.static_cost ?? [] : [];
  const marked = now.lit && parts.findLast(({ span }) => span[0] === now.lit[0] && span[1] === now.lit[1]);
  const part = marked ?? parts.at(-1);
  $("part-cost").hidden = !part;
  if (!part) return;
  const of = marked ? h("code", {}, oneLine(now.shown.rule.slice(...part.span.map(now.shown.at)))) : "the rule";
  $("part-cost").replaceChildren(`Static cost: ${part.text}, of `, of);
}

export function paintInput() {
  const text = $("input").value;
  const marks = inputTokens(text);
  const line = now.shown.answer.input?.error?.line;
  if (line !== null && line !== undefined) {
    const lines = text.split("\n");
    const start = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
    marks.push([start, start + (lines[line]?.length ?? 0), "wrong"]);
  }
  paint($("input-editor").querySelector("pre"), text, marks);
}
