//! Why rules match or not, for the cases of `celero test`. Hosts do not ask.

use http::StatusCode;
use std::sync::Arc;

/// Which rules a case asks about, and what became of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleWatch {
    /// Those with this name.
    pub(crate) name: Option<String>,
    /// Some of those that answer with this status.
    pub(crate) status: Option<StatusCode>,
    /// Those above, and those that ended a phase.
    pub(crate) seen: Vec<WatchedRule>,
}

/// What became of a rule.
#[derive(Clone, Debug)]
pub(crate) struct WatchedRule {
    pub(crate) name: Arc<str>,
    pub(crate) fate: Fate,
    /// Why its condition has its result: lines.
    pub(crate) why: String,
}

/// What became of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its condition is false.
    NoMatch,
    /// Its condition failed.
    Failed,
    /// It ended the phase.
    Ended,
    /// Its condition is true, but this rule ended the phase before it.
    Overtaken(Arc<str>),
    /// It acted, and the phase went on.
    Acted,
    /// Its condition is true, but it did not act.
    Idle,
}

impl WatchedRule {
    /// Returns what became of the rule, as lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Self { name, why, .. } = self;
        let what = match &self.fate {
            Fate::NoMatch => format!("`{name}` does not match"),
            Fate::Failed => format!("`{name}` fails"),
            Fate::Ended => format!("`{name}` matches and ends the phase"),
            Fate::Overtaken(other) => return vec![format!("`{name}` matches, but `{other}` ends the phase before it")],
            Fate::Acted => return vec![format!("`{name}` matches and acts, but does not end the phase")],
            Fate::Idle => {
                let why =
                    "the message meets its `require`, or its `sample` or an `allow` before it leaves the message out";
                return vec![format!("`{name}` matches, but does not act: {why}")];
            }
        };
        // A rule without a condition.
        if why == "true\n" {
            return vec![what];
        }
        why.lines().map(|line| format!("{what}: {line}")).collect()
    }
}
