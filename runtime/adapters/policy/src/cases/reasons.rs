//! Why a case has its result: what became of the rule that was expected, and of those that decided.

use crate::phases::watch::{RuleWatch, WatchedRule};
use crate::policy::Policy;
use crate::problems::Problems;
use crate::yaml::Node;
use http::StatusCode;

/// The name of who answers if no rule does.
const SERVER: &str = "server";

/// Returns which rules a case with this expectation asks about; with `acting` also those that act.
pub(super) fn watch(expected: Option<&Node>, acting: bool) -> Box<RuleWatch> {
    let text = |key: &str| expected?.text_of(key);
    let rule = text("rule").map(|text| text.text);
    let status: Option<StatusCode> = text("status").and_then(|text| text.text.parse().ok());
    let passes = match rule.as_deref() {
        Some(name) => name == SERVER,
        None => status.is_some_and(|status| status.is_success()),
    };
    let name = rule.filter(|name| name != SERVER);
    Box::new(RuleWatch { name, status, passes, acting, ..RuleWatch::default() })
}

/// Returns what became of the watched rules, as lines.
pub(super) fn lines(watched: &[&RuleWatch]) -> Vec<String> {
    let lines: Vec<String> = watched.iter().flat_map(|watch| &watch.seen).flat_map(WatchedRule::lines).collect();
    if lines.is_empty() { vec!["no rule acted".to_owned()] } else { lines }
}

/// Adds to the last problem why another rule decided than was expected.
pub(super) fn explain(expected: &Node, watched: &[&RuleWatch], policy: &Policy, problems: &mut Problems) {
    let Some(problem) = problems.last_mut() else { return };
    let seen = || watched.iter().flat_map(|watch| &watch.seen).filter(|rule| rule.is_asked);
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
        if more > 0 {
            let (rules, answer, allow) =
                if more == 1 { ("rule", "answers", "allows") } else { ("rules", "answer", "allow") };
            let answer =
                watched.iter().find_map(|watch| watch.status).map(|status| format!("{answer} {}", status.as_str()));
            let allow = watched.iter().any(|watch| watch.passes).then(|| allow.to_owned());
            let does: Vec<_> = answer.into_iter().chain(allow).collect();
            lines.push(format!("and {more} more {rules} that {}", does.join(" or ")));
        }
    }
    let ended = seen().filter(|rule| rule.has_ended() && name.as_deref() != Some(&*rule.name));
    lines.extend(ended.flat_map(WatchedRule::lines));
    for line in lines {
        problem.help(line);
    }
}
