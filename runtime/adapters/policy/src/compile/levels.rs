//! What the rules of each level of a policy change and read. A rule of a lower level must not change what a rule of a higher level changes or
//! reads: that would undo what the higher level decided.

use crate::host::body_edit::names_of_body;
use crate::host::outcome::Phase;
use crate::phases::normalize::{names_given, names_removed};
use crate::problems::{FileSpan, Problems};
use crate::rules::actions::{PhaseEnd, is_framing};
use crate::rules::reads::RuleReads;
use crate::rules::rule::Rule;
use crate::yaml::{MapEntry, Node};
use celero_canonical::GuardedNames;
use http::{HeaderName, header};
use std::sync::Arc;

/// The most changes that are reported: there may be as many as pairs of rules.
const MOST_REPORTED: usize = 1_000;

/// What rules change that has a name of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Label,
    LogField,
    /// The cost of a limit.
    Limit,
    Status,
    Body,
}

impl Named {
    /// The words for it in messages.
    fn describe(self, name: &str) -> String {
        match self {
            Self::Label => format!("the label `{name}`"),
            Self::LogField => format!("the log field `{name}`"),
            Self::Limit => format!("the limit `{name}`"),
            Self::Status => "the status".to_owned(),
            Self::Body => "the body".to_owned(),
        }
    }
}

/// What one rule changes and reads.
struct RuleClaims {
    level: usize,
    rule: Arc<str>,
    place: FileSpan,
    /// Whether it changes the response, not the request.
    of_response: bool,
    /// Whether it can end the phase with an answer.
    answers: bool,
    /// The headers that it sets or adds, with their places.
    given: Vec<(HeaderName, FileSpan)>,
    given_names: GuardedNames,
    /// The headers that it removes.
    removed: Option<GuardedNames>,
    named: Vec<(Named, String, FileSpan)>,
    reads: RuleReads,
}

/// What the rules of a policy with levels change and read.
#[derive(Default)]
pub(crate) struct Claims(Vec<RuleClaims>);

impl Claims {
    /// Adds what a rule changes and reads. Reports changes that no rule of a lower level may make. `sets` is the section `headerSets`.
    pub(crate) fn add_rule<S>(
        &mut self,
        phase: Phase,
        rule: &Rule<S>,
        (node, sets): (&Node, &[&MapEntry]),
        mut reads: RuleReads,
        problems: &mut Problems,
    ) {
        match phase {
            // How a body is read depends on these.
            Phase::RequestBody => reads.request.names.push(header::CONTENT_ENCODING),
            Phase::ResponseBody => {
                reads.response.names.extend([header::CONTENT_ENCODING, header::CONTENT_TYPE]);
            }
            Phase::Connection | Phase::Request | Phase::Response | Phase::Log => {}
        }
        let entry = |name: &str| node.entries().iter().find(|entry| entry.key.text == name);
        for found in ["setPath", "setQuery", "removeQuery"].into_iter().filter_map(entry).filter(|_| rule.level > 0) {
            let message = format!("`{}` can't be in a rule of a lower level", found.key.text);
            let problem = problems.add("policy-level", found.key.place, message);
            problem.help("rules of higher levels have decided on this target");
        }
        let keys = ["setHeaders", "addHeaders"].into_iter().filter_map(|key| node.get(key)).flat_map(Node::entries);
        let given = keys.filter_map(|entry| {
            let name = HeaderName::from_bytes(entry.key.text.as_bytes()).ok()?;
            Some((name, entry.key.place))
        });
        let given = given.collect();
        let mut given_names = GuardedNames::default();
        names_given(node, &mut given_names);
        let of_response = matches!(phase, Phase::Response | Phase::ResponseBody);
        let removes = ["removeHeaders", "removePrefixes", "removeHeaderSets"].iter().any(|key| node.get(key).is_some());
        let removed = (removes || rule.body.is_some()).then(|| {
            let mut names = GuardedNames::default();
            names_removed(node, sets, &mut names);
            if rule.body.is_some() {
                let names_of_body = names_of_body(of_response).filter(|name| !is_framing(name));
                names_of_body.for_each(|name| names.add(name.as_str()));
            }
            names
        });
        let mut named = Vec::new();
        for (kind, key) in [(Named::Label, "labels"), (Named::LogField, "logFields"), (Named::Limit, "settle")] {
            let entries = node.get(key).map_or(&[][..], Node::entries);
            named.extend(entries.iter().map(|entry| (kind, entry.key.text.clone(), entry.key.place)));
        }
        if let Some(limit) = &rule.limit {
            named.push((Named::Limit, limit.state.name.to_string(), node.place));
        }
        if let Some(limit) = &rule.remote {
            named.push((Named::Limit, limit.state.name.to_string(), node.place));
        }
        named.extend(entry("setStatus").map(|entry| (Named::Status, String::new(), entry.key.place)));
        let body = entry("setBody").or_else(|| entry("patchBody"));
        named.extend(body.map(|entry| (Named::Body, String::new(), entry.key.place)));
        let ends = matches!(rule.end, Some(PhaseEnd::Deny(_) | PhaseEnd::Respond(_)));
        self.0.push(RuleClaims {
            level: rule.level,
            rule: Arc::clone(&rule.name),
            place: node.place,
            of_response,
            answers: ends || rule.has_limit() || rule.require.is_some(),
            given,
            given_names,
            removed,
            named,
            reads,
        });
    }

    /// Adds what `countWhen` of a limit reads.
    pub(crate) fn add_count_when(&mut self, level: usize, limit: &Arc<str>, place: FileSpan, reads: RuleReads) {
        self.0.push(RuleClaims {
            level,
            rule: Arc::clone(limit),
            place,
            of_response: false,
            answers: false,
            given: Vec::new(),
            given_names: GuardedNames::default(),
            removed: None,
            named: Vec::new(),
            reads,
        });
    }

    /// Reports what rules of lower levels change although a rule of a higher level changes or reads it.
    pub(crate) fn report(&self, problems: &mut Problems) {
        let mut by_level: Vec<&RuleClaims> = self.0.iter().collect();
        by_level.sort_by_key(|claims| claims.level);
        let most = problems.count().saturating_add(MOST_REPORTED);
        for lower in by_level.iter().filter(|claims| claims.level > 0 && claims.changes_anything()) {
            if !lower.of_response {
                lower.report_identity(problems);
            }
            let higher = by_level.partition_point(|claims| claims.level < lower.level);
            for higher in by_level.iter().take(higher) {
                lower.report_against(higher, problems);
                if problems.count() >= most {
                    return;
                }
            }
        }
    }
}

impl RuleClaims {
    /// Where the rule changes a header of this name or of an imitation of it, if it does.
    fn change_of(&self, name: &HeaderName) -> Option<FileSpan> {
        if self.given_names.covers(name) {
            let mut names = GuardedNames::default();
            names.add(name.as_str());
            let given = self.given.iter().find(|(given, _)| names.covers(given));
            return Some(given.map_or(self.place, |(_, place)| *place));
        }
        self.removed.as_ref().is_some_and(|removed| removed.covers(name)).then_some(self.place)
    }

    /// Whether there is anything that a rule of a higher level could have decided.
    fn changes_anything(&self) -> bool {
        self.changes_headers() || !self.named.is_empty() || self.answers && self.of_response
    }

    fn changes_headers(&self) -> bool {
        !self.given.is_empty() || self.removed.is_some()
    }

    /// Reports a change of a header that says who the client is, or where a request goes.
    fn report_identity(&self, problems: &mut Problems) {
        for name in GuardedNames::ALWAYS.map(HeaderName::from_static) {
            if let Some(place) = self.change_of(&name) {
                let message = format!("a rule of a lower level can't change `{name}`");
                let problem = problems.add("policy-level", place, message);
                problem.help("it says who the client is, or where the message goes: the first level decides that");
            }
        }
    }

    fn report_against(&self, higher: &Self, problems: &mut Problems) {
        let mut report = |place: FileSpan, does: String| {
            let message = format!("rule `{}` of a higher level {does}", higher.rule);
            let problem = problems.add("policy-level", place, message);
            problem.help("a rule of a lower level can't change what a higher level changes or reads");
        };
        if self.of_response == higher.of_response {
            for (name, place) in &self.given {
                if higher.given_names.covers(name) {
                    report(*place, format!("sets `{name}`"));
                } else if higher.removed.as_ref().is_some_and(|removed| removed.covers(name)) {
                    report(*place, format!("removes `{name}`"));
                }
            }
            for (name, _) in &higher.given {
                if self.removed.as_ref().is_some_and(|removed| removed.covers(name)) {
                    report(self.place, format!("sets `{name}`"));
                }
            }
        }
        let changes_response = higher.changes_headers()
            || higher.named.iter().any(|(kind, ..)| matches!(kind, Named::Status | Named::Body));
        if self.answers && self.of_response && higher.of_response && changes_response {
            report(self.place, "changes the response, which an answer of this rule would replace".to_owned());
        }
        let read = if self.of_response { &higher.reads.response } else { &higher.reads.request };
        let body = self.named.iter().find(|(kind, ..)| *kind == Named::Body).map(|(_, _, place)| *place);
        for name in &read.names {
            // Framing follows the body.
            if let Some(place) = self.change_of(name).or(body.filter(|_| is_framing(name))) {
                report(place, format!("reads `{name}`"));
            }
        }
        if read.any && self.changes_headers() {
            report(self.place, "reads headers whose names are computed".to_owned());
        }
        for (kind, name, place) in &self.named {
            let what = kind.describe(name);
            let is_read = match kind {
                Named::Label => higher.reads.labels,
                Named::Status => higher.reads.status,
                Named::Body => {
                    let [request, response] = higher.reads.bodies;
                    if self.of_response { response } else { request }
                }
                Named::LogField | Named::Limit => false,
            };
            // The bodies of requests and responses are two things.
            let is_other = *kind == Named::Body && self.of_response != higher.of_response;
            if !is_other && higher.named.iter().any(|(other, known, _)| other == kind && known == name) {
                report(*place, format!("sets {what}"));
            } else if is_read {
                report(*place, format!("reads {}", if *kind == Named::Label { "labels" } else { &what }));
            }
        }
    }
}
