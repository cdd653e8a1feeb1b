// Asks about the rule and shows the answer.

import { call } from "./calls.js";
import { paintInput, paintRule } from "./editors.js";
import { $, bytes, h, time, withCode } from "./elements.js";
import { light } from "./marks.js";
import { lineAndColumn, positions } from "./places.js";
import { now, state, toFragment } from "./state.js";
import { VIEWS } from "./views.js";

let soon, later;
export function changed() {
  Object.assign(state, { rule: $("rule").value, input: $("input").value, client: $("client").value });
  now.lit = null;
  paintRule();
  paintInput();
  clearTimeout(soon);
  clearTimeout(later);
  soon = setTimeout(() => ask(false), 120);
  later = setTimeout(() => {
    history.replaceState(null, "", toFragment());
    ask(true);
  }, 900);
}

const question = () => ({ rule: state.rule, language: state.language, input: state.input, source: state.client });

async function ask(measure) {
  const asked = question();
  const result = await call("rule", "/api/rule", { ...asked, measure });
  if (!result) return;
  if (!result.ok) {
    now.shown = { answer: { refused: result.answer.error }, rule: asked.rule, at: positions(asked.rule) };
  } else {
    now.shown = { answer: result.answer, rule: asked.rule, at: positions(asked.rule) };
  }
  showAnswer();
}

let namesFor = "";
async function askNames() {
  const key = state.language + (state.input.trimStart().startsWith("{") ? state.input : "");
  if (key === namesFor) return;
  namesFor = key;
  const result = await call("names", "/api/names", { language: state.language, input: state.input });
  if (result?.ok) now.names = result.answer;
}

function showAnswer() {
  const { answer } = now.shown;
  paintInput();
  showDiagnostics(answer.diagnostics ?? []);
  showInput(answer.input);
  showVerdict(answer);
  for (const [view, make] of Object.entries(VIEWS)) $(`view-${view}`).replaceChildren(...make(answer));
  // The pointer may rest on a part: its new lines are marked as the old ones were.
  light(now.lit);
  askNames();
}

function showDiagnostics(diagnostics) {
  const items = diagnostics.map((found) => {
    const [start, end] = found.span.map(now.shown.at);
    const place = h("button", { className: "place", type: "button", title: "Selects the place in the rule" }, lineAndColumn(now.shown.rule, start));
    place.onclick = () => {
      $("rule").focus();
      $("rule").setSelectionRange(start, end);
    };
    const help = found.help.map((text) => h("span", { className: "help" }, ...withCode(text)));
    return h("li", { className: found.severity }, place, `${found.severity}: `, ...withCode(found.message), ...help);
  });
  $("diagnostics").replaceChildren(...items);
}

function showInput(input) {
  const problem = input?.error?.message;
  $("input-problem").hidden = !problem;
  $("input-problem").replaceChildren(...withCode(problem ?? ""));
  $("input-kind").textContent = input?.kind && input.kind !== "nothing" ? `read as ${input.kind}` : "";
}

function showVerdict(answer) {
  let [kind, mark, value, why] = ["", "·", "Write a rule", ""];
  const error = answer.result?.error;
  if (answer.refused) [kind, mark, value] = ["error", "!", answer.refused];
  else if (answer.result?.disagree) {
    [kind, mark, value, why] = ["error", "!", "The tiers disagree: a defect of celero, please report it", JSON.stringify(answer.result.disagree)];
  } else if (error) [kind, mark, value, why] = ["error", "!", error.message, error.help ?? `the rule has no value: ${error.kind}`];
  else if (answer.result) {
    const text = answer.result.value.text;
    if (text === "true") [kind, mark, value, why] = ["true", "✓", "true", "the rule matches"];
    else if (text === "false") [kind, mark, value, why] = ["false", "✕", "false", "the rule does not match"];
    else [kind, mark, value, why] = ["", "=", text, "the value of the expression"];
    if (answer.input?.kind !== "nothing" && answer.input?.text) why += `: ${answer.input.text}`;
  } else if ((answer.diagnostics ?? []).some((found) => found.severity === "error")) {
    [kind, mark, value, why] = ["error", "!", "The rule is not valid", "see the marked place"];
  } else if (answer.type && answer.input?.error) [value, why] = ["The rule is valid", "the request is not"];
  else if (answer.type) [value, why] = ["The rule is valid", "give a request for a verdict"];
  $("verdict").className = `verdict ${kind}`;
  $("verdict-mark").textContent = mark;
  // The text of a value is not a message.
  $("verdict-value").replaceChildren(...(answer.result?.value ? [value] : withCode(value)));
  $("verdict-why").replaceChildren(...(answer.result?.value ? [why] : withCode(why)));
  const facts = [];
  if (answer.type) facts.push(["type", answer.type]);
  if (answer.cost) facts.push(["code", answer.cost.native ? bytes(answer.cost.code_bytes) : "interpreted"]);
  if (answer.cost?.instructions) facts.push(["instructions", answer.cost.instructions]);
  const measured = answer.measured;
  // Without optimisation, the library that rules call is slow: the view of the cost says so.
  if (measured && !$("build").dataset.slow) facts.push(["one evaluation", time(measured.native ?? measured.interpreted)]);
  $("facts").replaceChildren(...facts.map(([name, fact]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(fact)))));
}
