//! Why a case failed: what became of the rule that was expected, and of the one that decided.

use crate::phases::watch::{Fate, RuleWatch, WatchedRule};
use crate::policy::Policy;
use crate::problems::Problems;
use crate::yaml::Node;

/// The name of who answers if no rule does.
const SERVER: &str = "server";

/// Returns which rules a case with this expectation asks about.
pub(super) fn watch(expected: Option<&Node>) -> Option<Box<RuleWatch>> {
    let text = |key: &str| expected?.text_of(key);
    let name = text("rule").map(|text| text.text).filter(|name| name != SERVER);
    let status = text("status").and_then(|text| text.text.parse().ok());
    Some(Box::new(RuleWatch { name, status, seen: Vec::new() })).filter(|_| expected.is_some())
}

/// Adds to the last problem why another rule decided than was expected.
pub(super) fn explain(expected: &Node, watched: [&[WatchedRule]; 2], policy: &Policy, problems: &mut Problems) {
    let Some(problem) = problems.last_mut() else { return };
    let watched = || watched.into_iter().flatten();
    let name = expected.text_of("rule").map(|text| text.text).filter(|name| name != SERVER);
    let mut lines: Vec<String> = Vec::new();
    if let Some(name) = &name {
        let named = watched().filter(|rule| *rule.name == **name);
        lines.extend(named.flat_map(WatchedRule::lines));
        if lines.is_empty() {
            lines.extend(
                policy
                    .rules()
                    .filter(|rule| *rule.name == **name)
                    .map(|rule| format!("`{name}` was not asked: its phase, `{}`, did not run", rule.phase.name())),
            );
        }
        if lines.is_empty() {
            problem.help(format!("the policy has no rule `{name}`"));
            let names: Vec<_> = policy.rules().map(|rule| rule.name).collect();
            problem.suggest(name, &names.iter().map(|name| &**name).collect::<Vec<_>>());
        }
    } else {
        let others = watched().filter(|rule| rule.fate != Fate::Ended);
        lines.extend(others.flat_map(WatchedRule::lines));
    }
    let ended = watched().filter(|rule| rule.fate == Fate::Ended && name.as_deref() != Some(&*rule.name));
    lines.extend(ended.flat_map(WatchedRule::lines));
    for line in lines {
        problem.help(line);
    }
}
