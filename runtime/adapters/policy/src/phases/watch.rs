//! Why rules match or not, for the cases of `celero test` and for tools. Hosts do not ask.

use crate::host::outcome::Phase;
use crate::rules::action_failure::ActionFailure;
use http::StatusCode;
use std::sync::Arc;

/// What became of a rule for a message, and why: for people who may see the message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuleReasons {
    /// The phase of the rule.
    pub phase: Phase,
    /// The name of the rule.
    pub name: Arc<str>,
    /// Whether the rule ended its phase, or its level.
    pub decided: bool,
    /// What became of the rule, a line for each part of its condition that decided, with the values
    /// that the part read: `` `admin` does not match: request.path == "/a" is false: request.path is "/b" ``.
    pub lines: Vec<String>,
}

/// What the evaluation of a phase has noted of its rules.
pub(crate) struct Noted<'n, 'r, S> {
    /// The rules whose condition is true or counts as true.
    pub(crate) matched: &'n [usize],
    /// The rules that acted (true) or failed.
    pub(crate) counted: &'n [(usize, bool)],
    /// Which rules with `sample` act, as far as it was drawn and kept.
    pub(crate) drawn: &'n [(usize, bool)],
    pub(crate) failed_actions: &'n FailedActions<'r, S>,
}

/// What failed in actions, by the index of the rule.
pub(crate) type FailedActions<'r, S> = Vec<(usize, ActionFailure<'r, S>)>;

/// Which rules a case or a tool asks about, and what became of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleWatch {
    /// Those with this name.
    pub(crate) name: Option<String>,
    /// Some of those that answer with this status.
    pub(crate) status: Option<StatusCode>,
    /// Whether some of those that allow a message.
    pub(crate) passes: bool,
    /// Whether those that acted.
    pub(crate) acting: bool,
    /// Those above, and those that ended a phase.
    pub(crate) seen: Vec<WatchedRule>,
    /// How many more rules answer with the status, or allow.
    pub(crate) more_of_status: usize,
    /// The functions without code that were called: rule and function.
    pub(crate) without_code: Vec<(Arc<str>, String)>,
}

/// What became of a rule.
#[derive(Clone, Debug)]
pub(crate) struct WatchedRule {
    pub(crate) phase: Phase,
    pub(crate) name: Arc<str>,
    /// Whether it ended a phase or was asked about, not only acted.
    pub(crate) is_asked: bool,
    pub(crate) fate: Fate,
    /// Whether its condition failed.
    pub(crate) failed: bool,
    /// Why its condition has its result: lines.
    pub(crate) why: String,
}

/// What became of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its condition is false, or failed and counts as false.
    NoMatch,
    /// It ended the phase, or its level.
    Ended(Extent),
    /// Its condition is true, or counts as true, but this rule ended the phase or the level before it.
    Overtaken(Arc<str>, Extent),
    /// It acted, and the phase went on.
    Acted,
    /// Its condition is true, but it did not act, for this reason.
    Idle(&'static str),
}

/// What a rule ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Phase,
    /// The rules of its level in the phase.
    Level,
}

impl Extent {
    fn words(self) -> &'static str {
        match self {
            Self::Phase => "the phase",
            Self::Level => "its level",
        }
    }
}

impl RuleWatch {
    /// Asks about the rules that end a phase, and about those with a name.
    pub(crate) fn of_tool(name: Option<&str>) -> Box<Self> {
        Box::new(Self { name: name.map(str::to_owned), ..Self::default() })
    }

    /// Returns what became of the rules so far.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = RuleReasons> {
        self.seen.iter().map(|rule| RuleReasons {
            phase: rule.phase,
            name: Arc::clone(&rule.name),
            decided: rule.has_ended(),
            lines: rule.lines(),
        })
    }
}

impl WatchedRule {
    /// Returns whether the rule ended its phase, or its level.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.fate, Fate::Ended(_))
    }

    /// Returns what became of the rule, as lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Self { name, why, failed, .. } = self;
        // What follows is what a rule does that matches.
        let matches = if *failed { "failed, which counts as a match," } else { "matches" };
        let but = if *failed { "failed, which counts as a match, but" } else { "matches, but" };
        let what = match &self.fate {
            Fate::NoMatch if *failed => format!("`{name}` failed, which counts as no match"),
            Fate::NoMatch => format!("`{name}` does not match"),
            Fate::Ended(extent) => format!("`{name}` {matches} and ends {}", extent.words()),
            Fate::Overtaken(other, extent) => {
                let words = extent.words();
                // A rule that is not reached has not failed.
                let does = if *failed { "is not reached:" } else { "matches, but" };
                return vec![format!("`{name}` {does} `{other}` ends {words} before it")];
            }
            Fate::Acted => format!("`{name}` {matches} and acts, but does not end the phase"),
            Fate::Idle(reason) => return vec![format!("`{name}` {but} does not act: {reason}")],
        };
        // A rule without a condition.
        if why == "true\n" || why.is_empty() {
            return vec![what];
        }
        why.lines().map(|line| format!("{what}: {line}")).collect()
    }
}
