// The page about a policy: what it has beside the workbench.

import { policyDecision } from "./decisions.js";
import { card, h, table, tag, withCode } from "./elements.js";
import { workbench } from "./workbench.js";

const key = ({ phase, name }) => `${phase}\n${name}`;
const keys = (rules) => new Set(rules.map(key));

function verdict(answer) {
  const end = answer.answer;
  const closed = answer.closed_by;
  const isStopped = Boolean(end || closed);
  const title = closed ? `connection closed by rule ${closed}` : end ? `${end.status} by rule ${end.rule}` : "the request reaches the server";
  const more = closed ? "no request is read" : end ? end.body || "without a body" : `${answer.request.method} ${answer.request.target}`;
  return [h("div", { className: `verdict inner ${isStopped ? "error" : "true"}` }, h("span", { className: "mark" }, isStopped ? "✕" : "✓"),
    h("div", { className: "verdict-text" }, h("strong", {}, title), h("span", {}, more)))];
}

function outcome(answer) {
  const steps = answer.phases.map((phase) => h("li", {}, h("strong", {}, phase.phase), phase.delay ? ` waits ${phase.delay}` : "", phase.answered_by ? ` answered by ${phase.answered_by}` : "",
    phase.edits.length ? h("ul", {}, ...phase.edits.map((edit) => h("li", {}, `${edit.edit} `, h("code", {}, edit.value === undefined ? edit.name : `${edit.name}: ${edit.value}`)))) : phase.answered_by ? "" : " no edits"));
  const acted = answer.matched.filter((rule) => rule.matched || rule.failed);
  return [h("ol", { className: "steps" }, ...steps,
    h("li", {}, h("strong", {}, "rules that matched"), ...(acted.length ? acted.flatMap((rule) => [" ", tag(`${rule.phase}: ${rule.name}${rule.failed ? " failed" : ""}`, rule.failed ? "bad" : "good")]) : [" none"])),
    Object.keys(answer.log ?? {}).length ? h("li", {}, h("strong", {}, "log "), h("code", {}, JSON.stringify(answer.log))) : null)];
}

/** The cards below: cases, counts of rules, and how the rules are found. */
function details(answer, file) {
  const before = new Map((file?.cases ?? []).flatMap((one) => one.cases.map(({ name, passed }) => [`${one.file}\n${name}`, passed])));
  const cases = (answer.cases ?? []).map((one) => {
    const failed = one.cases.filter(({ passed }) => !passed).length;
    const rows = one.cases.map(({ name, passed }) => {
      const was = before.get(`${one.file}\n${name}`);
      return [h("span", {}, name), h("span", {}, tag(passed ? "passed" : "failed", passed ? "good" : "bad"), was !== undefined && was !== passed ? tag("changed by the edit", "warn") : "")];
    });
    const isRun = one.cases.length > 0;
    const summary = !isRun ? "not run" : failed ? `${failed} of ${rows.length} failed` : `all ${rows.length} passed`;
    return card(`Cases: ${one.file}`, h("div", { className: "wide" }, h("p", {}, tag(summary, failed || !isRun ? "bad" : "good")),
      table("", null, rows), one.text && (failed || !isRun) ? h("pre", {}, ...withCode(one.text)) : null));
  });
  const counts = (answer.rules ?? []).map((rule) => [rule.phase, h("code", {}, rule.name), rule.matched, rule.failed]);
  return [...cases,
    cases.length ? card("Rules in the cases", h("div", { className: "wide" }, table("", ["phase", "rule", "matched in the cases", "failed"], counts),
      answer.unmatched?.length ? h("p", {}, "No case matches: ", ...answer.unmatched.flatMap((name) => [tag(name, "warn"), " "])) : null)) : "",
    file?.explanation ? h("section", { className: "card" }, h("details", {}, h("summary", {}, "How the rules of the file are found"), h("div", { className: "wide" }, h("pre", {}, file.explanation)))) : ""];
}

let page;
export function showPolicy(linked, isServed) {
  page ??= workbench({
    page: "policy",
    path: "/api/policy",
    word: "policy",
    ruleHead: "by rule",
    format: () => "policy",
    files: (answer) => [{ name: answer.name, text: answer.text }],
    body: (files) => (files ? { text: files[0].text } : {}),
    /** The cases of a link go with each text that is checked; else they are those of the files. */
    casesBody: (bench) => (bench.cases ? { cases: bench.cases } : {}),
    casesOf: (bench) => ({ cases: bench.cases ?? (bench.wholeFile?.cases ?? []).map(({ file, source }) => ({ name: file, text: source })) }),
    atTime: (bench) => ({ time: bench.time }),
    ask: (bench) => (bench.asked ? { rule: bench.asked.split("\n")[1] } : {}),
    fileOf: (found, bench) => (found.file === bench.answer.name ? 0 : -1),
    rules: (answer) => (answer.rules ?? []).map((rule) => ({ ...rule, key: key(rule), file: 0 })),
    read: (answer) => ({
      decided: keys(answer.reasons.filter((reasons) => reasons.decided)),
      matched: keys(answer.matched.filter((rule) => rule.matched)),
      failed: keys(answer.matched.filter((rule) => rule.failed)),
      reasons: answer.reasons,
    }),
    decision: policyDecision,
    verdict,
    outcome,
    details,
  });
  return page(linked, isServed);
}
