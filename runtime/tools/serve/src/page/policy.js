// The page about a policy.

import { call } from "./calls.js";
import { $, card, failures, h, table, tag } from "./elements.js";
import { tryRequest } from "./request_card.js";

export async function showPolicy() {
  const result = await call("policy", "/api/policy");
  if (!result?.ok) return;
  const { answer } = result;
  const cases = (answer.cases ?? []).map((file) => {
    const failed = file.cases.filter((one) => !one.passed).length;
    const rows = file.cases.map((one) => [h("span", {}, one.name), tag(one.passed ? "passed" : "failed", one.passed ? "good" : "bad")]);
    return card(`Cases: ${file.file}`, h("div", { className: "wide" },
      h("p", {}, tag(failed ? `${failed} of ${rows.length} failed` : `all ${rows.length} passed`, failed ? "bad" : "good")),
      table("", null, rows), file.text && failed ? h("pre", {}, file.text) : null));
  });
  const matched = (answer.rules ?? []).map((rule) => [rule.phase, h("code", {}, rule.name), rule.matched, rule.failed]);
  $("policy").replaceChildren(
    h("div", { className: "two" },
      card(answer.name, failures(answer.diagnostics), h("div", { className: "wide" }, h("pre", {}, answer.text))),
      tryRequest("/api/policy", policyOutcome)),
    ...cases,
    card("Rules", h("div", { className: "wide" }, table("", ["phase", "rule", "matched in the cases", "failed"], matched),
      answer.unmatched?.length ? h("p", {}, "No case matches: ", ...answer.unmatched.flatMap((name) => [tag(name, "warn"), " "])) : null)),
    h("section", { className: "card" }, h("details", {}, h("summary", {}, "How the rules are found"), h("div", { className: "wide" }, h("pre", {}, answer.explanation ?? "")))));
}

function policyOutcome(answer) {
  const end = answer.answer;
  const verdict = h("div", { className: `verdict inner ${end ? "error" : "true"}` }, h("span", { className: "mark" }, end ? "✕" : "✓"),
    h("div", { className: "verdict-text" }, h("strong", {}, end ? `${end.status} by rule ${end.rule}` : "the request reaches the server"),
      h("span", {}, end ? end.body || "without a body" : `${answer.request.method} ${answer.request.target}`)));
  const steps = answer.phases.map((phase) => h("li", {}, h("strong", {}, phase.phase), phase.delay ? ` waits ${phase.delay}` : "", phase.answered_by ? ` answered by ${phase.answered_by}` : "",
    phase.edits.length ? h("ul", {}, ...phase.edits.map((edit) => h("li", {}, `${edit.edit} `, h("code", {}, edit.value === undefined ? edit.name : `${edit.name}: ${edit.value}`)))) : phase.answered_by ? "" : " no edits"));
  const acted = answer.matched.filter((rule) => rule.matched || rule.failed);
  return [verdict, h("ol", { className: "steps" }, ...steps,
    h("li", {}, h("strong", {}, "rules that matched"), ...(acted.length ? acted.flatMap((rule) => [" ", tag(`${rule.phase}: ${rule.name}${rule.failed ? " failed" : ""}`, rule.failed ? "bad" : "good")]) : [" none"])),
    Object.keys(answer.log).length ? h("li", {}, h("strong", {}, "log "), h("code", {}, JSON.stringify(answer.log))) : null)];
}
