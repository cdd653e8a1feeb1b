// The views of an answer. A line that is about a part of the rule has `span`, in bytes.

import { $, bytes, h, oneLine, table, time } from "./elements.js";
import { chance, howFound } from "./index_entries.js";
import { now, state } from "./state.js";
import { paint, ruleTokens } from "./tokens.js";

const sourceOf = (span) => now.shown.rule.slice(...span.map(now.shown.at));
function line(className, span, ...children) {
  const element = h("div", { className }, ...children);
  if (span) element.span = span;
  return element;
}

const empty = (text) => [h("p", { className: "empty" }, text)];

function whyView(answer) {
  if (!answer.parts) return empty(answer.type ? "With a request, this shows the value of each part of the rule." : "A valid rule shows the value of each of its parts here.");
  return answer.parts.map((part) => {
    const values = part.results.slice(0, 6).map((result) => {
      if (result.missing) return h("span", { className: "value none" }, "missing");
      if (result.error) return h("span", { className: "value error" }, result.error);
      const kind = result.text === "true" || result.text === "false" ? result.text : "";
      return h("span", { className: `value ${kind}` }, result.text);
    });
    if (part.evaluations === 0) values.push(h("span", { className: "value none" }, "not evaluated"));
    else if (part.evaluations > values.length) values.push(h("span", { className: "value none" }, `${part.evaluations} evaluations`));
    const source = oneLine(sourceOf(part.span));
    // A list of literals explains itself.
    if (part.results.length === 1 && part.results[0].text === source) return null;
    const text = h("span", { className: "text" });
    paint(text, source, ruleTokens(source, state.language));
    text.lastChild.remove();
    text.style.paddingLeft = `${Math.min(part.depth, 12) * 1.1}rem`;
    return line(`part d${Math.min(part.depth, 1)}`, part.span, text, h("span", { className: "values" }, ...values));
  }).filter(Boolean);
}

function codeView(answer) {
  if (!answer.type) return empty("A valid rule shows its machine code here.");
  if (!answer.code) return empty("There is no native code for this rule: the interpreter evaluates it.");
  const rows = [];
  let current = null;
  for (const one of answer.code) {
    const key = String(one.span);
    if (key !== current) {
      current = key;
      rows.push(line("row group", one.span, one.span ? oneLine(sourceOf(one.span)) : "entry, exits"));
    }
    const [op, ...rest] = one.text.split(" ");
    const note = one.name ? `  ; ${one.calls ? "" : "= "}${one.name}` : "";
    rows.push(line("row", one.span,
      h("span", { className: "offset" }, one.offset.toString(16).padStart(4, "0")),
      h("span", { className: "bytes" }, one.bytes),
      h("span", { className: "op" }, op),
      h("span", {}, rest.join(" "), h("span", { className: "note" }, note))));
  }
  return rows;
}

const stage = (answer, title) => (answer.stages ?? []).find((one) => one.title === title)?.text ?? "";

function graphLines(text) {
  return text.trimEnd().split("\n").map((one) => {
    const place = /@(\d+)\.\.(\d+)/.exec(one);
    return line("row", place && [Number(place[1]), Number(place[2])], one);
  });
}

function graphView(answer) {
  const [before, after] = [stage(answer, "graph"), stage(answer, "optimized graph")];
  if (!before) return empty("A valid rule shows its graph before and after the passes here.");
  const column = (title, text) => h("div", { className: "stage" }, h("h3", {}, title), ...graphLines(text));
  return [h("div", { className: "columns" }, column("as lowered", before), column("after the passes", after))];
}

function clifView(answer) {
  const text = stage(answer, "cranelift ir");
  if (!text) return empty("A valid rule shows Cranelift's intermediate form here.");
  // `@0007` is the node v7 of the optimised graph.
  const spans = new Map();
  for (const one of stage(answer, "optimized graph").split("\n")) {
    const node = /^v(\d+):.*@(\d+)\.\.(\d+)/.exec(one);
    if (node) spans.set(Number(node[1]), [Number(node[2]), Number(node[3])]);
  }
  return text.trimEnd().split("\n").map((one) => {
    const node = /^@([0-9a-f]+)/.exec(one);
    return line("row", node && spans.get(parseInt(node[1], 16)), one || " ");
  });
}

function treeView(answer) {
  const text = stage(answer, "tree");
  if (!text) return empty("A valid rule shows its tree with types here.");
  return text.trimEnd().split("\n").map((one) => {
    const place = /(?:^| )(\d+)\.\.(\d+)(?: :|$)/.exec(one);
    return line("row", place && [Number(place[1]), Number(place[2])], one);
  });
}

function costView(answer) {
  const { cost, measured } = answer;
  if (!cost) return empty("A valid rule shows its cost here.");
  const counted = [
    ["machine code", cost.native ? bytes(cost.code_bytes) : "none: interpreted"],
    ["instructions", cost.instructions ?? "unknown"],
    ["nodes of the graph, before and after the passes", cost.nodes_before ? `${cost.nodes_before} → ${cost.nodes_after}` : "none"],
    ["calls", cost.calls?.length ? cost.calls.join(", ") : "nothing"],
  ];
  const parts = [h("div", {}, table("Counted in the code", null, counted))];
  if (measured) {
    const rows = [["native code", measured.native], ["interpreter", measured.interpreted]].filter(([, ns]) => ns);
    const most = Math.max(...rows.map(([, ns]) => ns));
    const bar = (ns) => {
      const element = h("div", { className: "bar" });
      element.style.width = `${(100 * ns) / most}%`;
      return element;
    };
    parts.push(h("div", {}, table("Measured here, for this request", null, [
      ...rows.map(([name, ns]) => [h("div", {}, `one evaluation, ${name}`, bar(ns)), time(ns)]),
      ["checking", time(measured.check)],
      ["compiling, checking included", time(measured.compile)],
    ]), h("p", { className: "muted" }, "The fastest of several rounds.", $("build").dataset.slow ? " This celero was built without optimisation: only native code has its usual speed." : "")));
  } else parts.push(h("div", { className: "muted" }, answer.result ? "measuring …" : "With a request, the evaluation is measured here."));
  if (answer.index) {
    const rows = [["found by, and what is then evaluated", howFound(answer.index)], ["expected of requests", chance(answer.index)]];
    parts.push(h("div", {}, table("What the index of a large rule set does with it", null, rows)));
  }
  const costly = (answer.static_cost ?? []).filter((part) => part.most.reduce((sum, one) => sum + one) > 1).reverse().slice(0, 10);
  if (costly.length) {
    const rows = costly.map((part) => [h("code", {}, oneLine(sourceOf(part.span))), part.text]);
    parts.push(h("div", {}, table("Static cost of the rule and its parts, as written", null, rows)));
  }
  const parted = new Map();
  for (const range of answer.ranges ?? []) parted.set(String(range.span), (parted.get(String(range.span)) ?? 0) + range.to - range.from);
  const largest = [...parted].sort((a, b) => b[1] - a[1]).slice(0, 8);
  if (largest.length) {
    const rows = largest.map(([span, count]) => [h("code", {}, oneLine(sourceOf(span.split(",").map(Number)))), `${count} bytes`]);
    parts.push(h("div", {}, table("Code by part of the rule", null, rows)));
  }
  return [h("div", { className: "cost" }, ...parts)];
}

export const VIEWS = { why: whyView, code: codeView, graph: graphView, clif: clifView, tree: treeView, cost: costView };
