// What was decided about recorded requests, and what an edit changes.

/** Returns a decision of a policy in words, and its colour. */
export function policyDecision(decision) {
  if (decision.closed_by !== undefined) return { text: "connection closed", rule: decision.closed_by, kind: "bad" };
  const { answer } = decision;
  if (answer) return { text: String(answer.status), rule: answer.rule, kind: answer.status >= 400 ? "bad" : "warn" };
  return { text: decision.refusal ? `refused: ${decision.refusal}` : "to the server", rule: "", kind: "good" };
}

/** Returns a decision of a rule set in words, and its colour. */
export function setDecision(decision) {
  if (decision.first === null) return { text: decision.failed.length ? "no match, some fail" : "no match", rule: "", kind: "" };
  return { text: decision.count === 1 ? "1 match" : `${decision.count} match`, rule: decision.first, kind: "good" };
}

/** Returns for each decision how it differs from the one before: "", "decision" or "details". Of what is not known there is nothing. */
export function differences(now, before, words) {
  return now.map(({ decision, request }, number) => {
    const other = before?.[number];
    if (!other || other.request !== request) return "";
    const [one, two] = [words(decision), words(other.decision)];
    if (one.text !== two.text || one.rule !== two.rule) return "decision";
    return JSON.stringify(decision) === JSON.stringify(other.decision) ? "" : "details";
  });
}
