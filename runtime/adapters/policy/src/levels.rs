//! What the rules of each level of a policy change and read. A rule of a lower level must not change what a rule of a higher level changes or
//! reads: that would undo what the higher level decided.

use crate::actions::HeaderEdit;
use crate::compile::Compilation;
use crate::outcome::Phase;
use crate::problems::{FileSpan, Problems};
use crate::yaml::Node;
use celero::http::HeaderSet;
use http::HeaderName;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What rules may change that has a name of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Label,
    LogField,
    /// The cost of a limit.
    Limit,
    Status,
}

impl Named {
    /// The word for it in messages, before the name.
    fn word(self) -> &'static str {
        match self {
            Self::Label => "the label ",
            Self::LogField => "the log field ",
            Self::Limit => "the limit ",
            Self::Status => "",
        }
    }
}

/// What one rule changes and reads.
struct RuleClaims {
    level: usize,
    rule: Arc<str>,
    /// Whether it changes the response, not the request.
    of_response: bool,
    /// The headers that it sets or adds.
    given: Vec<(HeaderName, FileSpan)>,
    /// The headers that it removes.
    removed: Vec<HeaderSet>,
    place: FileSpan,
    named: Vec<(Named, String, FileSpan)>,
    /// The headers of the request that it reads by their names.
    reads: BTreeSet<Box<str>>,
}

/// What the rules of a policy change and read. Empty for a policy with one level.
#[derive(Default)]
pub(crate) struct Claims(Vec<RuleClaims>);

impl Claims {
    /// Reports what rules of lower levels change although a rule of a higher level changes or reads it.
    pub(crate) fn report(&self, problems: &mut Problems) {
        for lower in self.0.iter().filter(|claims| claims.level > 0) {
            for higher in self.0.iter().filter(|claims| claims.level < lower.level) {
                lower.report_against(higher, problems);
            }
        }
    }
}

impl RuleClaims {
    fn report_against(&self, higher: &Self, problems: &mut Problems) {
        let mut report = |place: FileSpan, what: &str, does: &str| {
            let message = format!("rule `{}` of a higher level {does} {what}", higher.rule);
            let problem = problems.add("policy-level", place, message);
            problem.help("a rule of a lower level can't change what a higher level changes or reads");
        };
        if self.of_response == higher.of_response {
            for (name, place) in &self.given {
                if higher.given.iter().any(|(given, _)| given == name) {
                    report(*place, &format!("`{name}`"), "sets");
                } else if higher.removed.iter().any(|set| set.contains(name)) {
                    report(*place, &format!("`{name}`"), "removes");
                }
            }
            let removes = |name: &HeaderName| self.removed.iter().any(|set| set.contains(name));
            for (name, _) in higher.given.iter().filter(|(name, _)| removes(name)) {
                report(self.place, &format!("`{name}`"), "sets");
            }
        }
        if !self.of_response {
            for name in &higher.reads {
                let given = self.given.iter().filter(|(given, _)| given.as_str() == &**name).map(|(_, place)| place);
                let removed = self.removed.iter().filter(|set| set.contains(&**name)).map(|_| &self.place);
                for place in given.chain(removed) {
                    report(*place, &format!("`{name}`"), "reads");
                }
            }
        }
        for (kind, name, place) in &self.named {
            if higher.named.iter().any(|(other, known, _)| other == kind && known == name) {
                report(*place, &format!("{}`{name}`", kind.word()), "sets");
            }
        }
    }
}

impl Compilation<'_> {
    /// Notes what a rule changes and reads, if the policy has levels.
    pub(crate) fn claim<S>(
        &mut self,
        phase: Phase,
        (level, rule): (usize, &Arc<str>),
        node: &Node,
        edits: &[HeaderEdit<S>],
        reads: BTreeSet<Box<str>>,
    ) {
        if !self.document.has_levels() {
            return;
        }
        let is_key = |name: &str| node.entries().iter().find(|entry| entry.key.text == name);
        for entry in ["setPath", "setQuery", "removeQuery"].into_iter().filter_map(is_key).filter(|_| level > 0) {
            let message = format!("`{}` can't be in a rule of a lower level", entry.key.text);
            let problem = self.problems.add("policy-level", entry.key.place, message);
            problem.help("rules of higher levels have decided on this target");
        }
        let keys = ["setHeaders", "addHeaders"].into_iter().filter_map(|key| node.get(key)).flat_map(Node::entries);
        let keys: Vec<_> = keys.map(|entry| &entry.key).collect();
        let place = |name: &HeaderName| {
            let key = keys.iter().find(|key| key.text.eq_ignore_ascii_case(name.as_str()));
            key.map_or(node.place, |key| key.place)
        };
        let (mut given, mut removed) = (Vec::new(), Vec::new());
        for edit in edits {
            match edit {
                HeaderEdit::Set(name, _) | HeaderEdit::Add(name, _) => given.push((name.clone(), place(name))),
                HeaderEdit::Remove(name) => removed.extend(HeaderSet::new([name], [""; 0])),
                HeaderEdit::RemoveSet(set) => removed.push(HeaderSet::clone(set)),
            }
        }
        let mut named = Vec::new();
        for (kind, key) in [(Named::Label, "labels"), (Named::LogField, "logFields"), (Named::Limit, "settle")] {
            let entries = node.get(key).map_or(&[][..], Node::entries);
            named.extend(entries.iter().map(|entry| (kind, entry.key.text.clone(), entry.key.place)));
        }
        if let Some(limit) = node.get("limit") {
            let name = limit.text_of("name").map_or_else(|| rule.to_string(), |text| text.text);
            named.push((Named::Limit, name, limit.place));
        }
        named.extend(is_key("setStatus").map(|entry| (Named::Status, entry.key.text.clone(), entry.key.place)));
        let of_response = matches!(phase, Phase::Response | Phase::ResponseBody);
        self.claims.0.push(RuleClaims {
            level,
            rule: Arc::clone(rule),
            of_response,
            given,
            removed,
            place: node.place,
            named,
            reads,
        });
    }
}
