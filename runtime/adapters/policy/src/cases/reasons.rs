//! Why a case failed: what became of the rule that was expected, and of the one that decided.

use crate::phases::watch::{RuleWatch, WatchedRule};
use crate::policy::Policy;
use crate::problems::Problems;
use crate::yaml::Node;

/// The name of who answers if no rule does.
const SERVER: &str = "server";

/// Returns which rules a case with this expectation asks about.
pub(super) fn watch(expected: Option<&Node>) -> Box<RuleWatch> {
    let text = |key: &str| expected?.text_of(key);
    let name = text("rule").map(|text| text.text).filter(|name| name != SERVER);
    let status = text("status").and_then(|text| text.text.parse().ok());
    Box::new(RuleWatch { name, status, ..RuleWatch::default() })
}

/// Adds to the last problem why another rule decided than was expected.
pub(super) fn explain(expected: &Node, watched: &[&RuleWatch], policy: &Policy, problems: &mut Problems) {
    let Some(problem) = problems.last_mut() else { return };
    let seen = || watched.iter().flat_map(|watch| &watch.seen);
    let name = expected.text_of("rule").map(|text| text.text).filter(|name| name != SERVER);
    let mut lines: Vec<String> = Vec::new();
    if let Some(name) = &name {
        let named = seen().filter(|rule| *rule.name == **name);
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
        let others = seen().filter(|rule| !rule.has_ended());
        lines.extend(others.flat_map(WatchedRule::lines));
        let more = watched.iter().map(|watch| watch.more_of_status).fold(0_usize, usize::saturating_add);
        if let Some(status) = watched.iter().find_map(|watch| watch.status).filter(|_| more > 0) {
            let (rules, answer) = if more == 1 { ("rule", "answers") } else { ("rules", "answer") };
            lines.push(format!("and {more} more {rules} that {answer} {}", status.as_str()));
        }
    }
    let ended = seen().filter(|rule| rule.has_ended() && name.as_deref() != Some(&*rule.name));
    lines.extend(ended.flat_map(WatchedRule::lines));
    for line in lines {
        problem.help(line);
    }
}
