//! What the rules of each level of a policy change and read. A rule of a lower level must not change what a rule of a higher level changes or
//! reads: that would undo what the higher level decided.
//!
//! Invariant: a rule of a lower level runs only if no rule of a higher level has answered. Test:
//! `runtime/adapters/policy/tests/policy/levels.rs::allow_ends_a_level_and_an_answer_ends_the_phase`.
//!
//! Invariant: a rule of a lower level changes nothing that a higher level changes. Test:
//! `runtime/adapters/policy/tests/policy/levels.rs::a_lower_level_cannot_undo_what_a_higher_one_decided`.
//!
//! Invariant: a rule of a lower level changes nothing that a higher level reads. Test:
//! `runtime/adapters/policy/tests/policy/levels.rs::what_a_higher_level_reads_stays_as_it_is`.

use crate::compile::higher_levels::HigherLevels;
use crate::file::document::Document;
use crate::host::body_edit::names_of_body;
use crate::host::outcome::Phase;
use crate::phases::normalize::{names_of_set, names_removed};
use crate::problems::{FileSpan, Problems};
use crate::rules::actions::{HeaderEdit, PhaseEnd, is_framing};
use crate::rules::reads::RuleReads;
use crate::rules::rule::Rule;
use crate::yaml::{MapEntry, Node};
use celero_canonical::GuardedNames;
use http::{HeaderName, header};
use std::collections::HashMap;
use std::sync::Arc;

/// The most changes that are reported.
const MOST_REPORTED: usize = 1_000;

/// The actions that change the target of a request.
const OF_TARGET: [&str; 3] = ["setPath", "setQuery", "removeQuery"];

/// What rules change that has a name of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Named {
    Label,
    LogField,
    /// The cost of a limit.
    Limit,
    Status,
    Body {
        of_response: bool,
    },
}

/// What one rule changes and reads.
pub(super) struct RuleClaims {
    level: usize,
    pub(super) rule: Arc<str>,
    pub(super) place: FileSpan,
    /// Whether it changes the response, not the request.
    pub(super) of_response: bool,
    /// Whether it can end the phase with an answer.
    pub(super) answers: bool,
    /// The headers that it sets or adds, with their places.
    pub(super) given: Vec<(HeaderName, FileSpan)>,
    /// The headers that it removes, without those of [`sets`](Self::sets).
    pub(super) removed: Option<GuardedNames>,
    /// The sets of headers that it removes.
    pub(super) sets: Vec<String>,
    pub(super) named: Vec<(Named, String, FileSpan)>,
    pub(super) reads: RuleReads,
}

/// The sections `headerSets`, by the names of the sets.
pub(super) type HeaderSets = HashMap<String, GuardedNames>;

/// What the rules of a policy with levels change and read.
pub(crate) struct Claims {
    rules: Vec<RuleClaims>,
    sets: HeaderSets,
}

impl Claims {
    pub(crate) fn new(document: &Document) -> Self {
        let mut sets = HeaderSets::new();
        for MapEntry { key, value } in document.all("headerSets").flat_map(|section| section.node.entries()) {
            names_of_set(value, sets.entry(key.text.clone()).or_default());
        }
        Self { rules: Vec::new(), sets }
    }

    /// Adds what a rule changes and reads. Reports changes that no rule of a lower level may make.
    pub(crate) fn add_rule<S>(
        &mut self,
        phase: Phase,
        rule: &Rule<S>,
        node: &Node,
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
        let of_response = matches!(phase, Phase::Response | Phase::ResponseBody);
        let places = Places::of(node);
        // Without `..`: whoever adds an action decides here what it changes. `delay` and `count` change nothing that a rule reads.
        let Rule {
            name,
            level,
            sample: _,
            require,
            limit,
            remote,
            delay: _,
            edits,
            target,
            status,
            body,
            labels,
            fields,
            settled,
            counter: _,
            end,
        } = rule;
        if target.is_some() && *level > 0 {
            for key in node.entries().iter().map(|entry| &entry.key).filter(|key| OF_TARGET.contains(&&*key.text)) {
                let message = format!("`{}` can't be in a rule of a lower level", key.text);
                let problem = problems.add("policy-level", key.place, message);
                problem.help("rules of higher levels have decided on this target");
            }
        }
        let (mut given, mut removes) = (Vec::new(), false);
        for edit in edits {
            match edit {
                HeaderEdit::Set(name, _) => given.push((name.clone(), places.entry("setHeaders", name.as_str()))),
                HeaderEdit::SetHost(_) => given.push((header::HOST, places.entry("setHeaders", header::HOST.as_str()))),
                HeaderEdit::Add(name, _) => given.push((name.clone(), places.entry("addHeaders", name.as_str()))),
                HeaderEdit::Remove(_) | HeaderEdit::RemoveSet(_) => removes = true,
            }
        }
        let removed = (removes || body.is_some()).then(|| {
            let mut names = GuardedNames::default();
            names_removed(node, &mut names);
            if body.is_some() {
                let names_of_body = names_of_body(of_response).filter(|name| !is_framing(name));
                names_of_body.for_each(|name| names.add(name.as_str()));
            }
            names
        });
        let mut named = Vec::new();
        named.extend(labels.iter().map(|(name, _)| (Named::Label, name.to_string(), places.entry("labels", name))));
        named.extend(
            fields.iter().map(|(name, _)| (Named::LogField, name.to_string(), places.entry("logFields", name))),
        );
        named.extend(settled.iter().map(|(name, _)| (Named::Limit, name.to_string(), places.entry("settle", name))));
        let limits = limit.iter().map(|limit| &limit.state.name).chain(remote.iter().map(|limit| &limit.state.name));
        named.extend(limits.map(|name| (Named::Limit, name.to_string(), node.place)));
        named.extend(status.map(|_| (Named::Status, String::new(), places.key(&["setStatus"]))));
        let new_body = body.as_ref().map(|_| Named::Body { of_response });
        named.extend(new_body.map(|kind| (kind, String::new(), places.key(&["setBody", "patchBody"]))));
        let ends = match end {
            Some(PhaseEnd::Deny(_) | PhaseEnd::Respond(_)) => true,
            Some(PhaseEnd::Allow) | None => false,
        };
        self.rules.push(RuleClaims {
            level: *level,
            rule: Arc::clone(name),
            place: node.place,
            of_response,
            answers: ends || limit.is_some() || remote.is_some() || require.is_some(),
            given,
            removed,
            sets: node.texts_of("removeHeaderSets").into_iter().map(|set| set.text).collect(),
            named,
            reads,
        });
    }

    /// Adds what `countWhen` of a limit reads.
    pub(crate) fn add_count_when(&mut self, level: usize, limit: &Arc<str>, place: FileSpan, reads: RuleReads) {
        self.rules.push(RuleClaims {
            level,
            rule: Arc::clone(limit),
            place,
            of_response: false,
            answers: false,
            given: Vec::new(),
            removed: None,
            sets: Vec::new(),
            named: Vec::new(),
            reads,
        });
    }

    /// Reports what rules of lower levels change although a rule of a higher level changes or reads it: for each change one such rule. The cost is linear
    /// in what rules change and read.
    pub(crate) fn report(&self, problems: &mut Problems) {
        let mut by_level: Vec<&RuleClaims> = self.rules.iter().collect();
        by_level.sort_by_key(|claims| claims.level);
        let most = problems.count().saturating_add(MOST_REPORTED);
        let mut higher = HigherLevels::new(&self.sets);
        for level in by_level.chunk_by(|one, other| one.level == other.level) {
            let mut of_sets = HashMap::new();
            for rule in level.iter().filter(|claims| claims.level > 0) {
                rule.report_identity(&self.sets, problems);
                for (place, does) in higher.decisions_on(rule, &mut of_sets) {
                    let problem = problems.add("policy-level", place, does);
                    problem.help("a rule of a lower level can't change what a higher level changes or reads");
                }
                if problems.count() >= most {
                    return;
                }
            }
            level.iter().for_each(|rule| higher.add(rule));
        }
    }
}

impl RuleClaims {
    pub(super) fn changes_headers(&self) -> bool {
        !self.given.is_empty() || self.removed.is_some()
    }

    /// Reports a change of a header that says who the client is, or where a request goes.
    fn report_identity(&self, sets: &HeaderSets, problems: &mut Problems) {
        if self.of_response || !self.changes_headers() {
            return;
        }
        let given = self.given.iter().map(|(name, place)| (GuardedNames::folded(name.as_str()), *place));
        let mut given: HashMap<String, FileSpan> = given.collect();
        let removed = || self.removed.iter().chain(self.sets.iter().filter_map(|set| sets.get(set)));
        for name in GuardedNames::ALWAYS.map(HeaderName::from_static) {
            let is_removed = || removed().any(|names| names.covers(&name)).then_some(self.place);
            if let Some(place) = given.remove(name.as_str()).or_else(is_removed) {
                let message = format!("a rule of a lower level can't change `{name}`");
                let problem = problems.add("policy-level", place, message);
                problem.help("it says who the client is, or where the message goes: the first level decides that");
            }
        }
    }
}

/// Where the keys of a rule are.
struct Places<'n> {
    rule: &'n Node,
    /// Those in mappings, by the key of the mapping. The names of headers are in lower case.
    nested: HashMap<(&'static str, String), FileSpan>,
}

impl<'n> Places<'n> {
    fn of(rule: &'n Node) -> Self {
        let mut nested = HashMap::new();
        let keys = ["setHeaders", "addHeaders", "labels", "logFields", "settle"];
        for key in keys {
            for entry in rule.get(key).map_or(&[][..], Node::entries) {
                let name = &entry.key.text;
                let name = if key.ends_with("Headers") { name.to_ascii_lowercase() } else { name.clone() };
                nested.entry((key, name)).or_insert(entry.key.place);
            }
        }
        Self { rule, nested }
    }

    fn entry(&self, key: &'static str, name: &str) -> FileSpan {
        self.nested.get(&(key, name.to_owned())).copied().unwrap_or(self.rule.place)
    }

    /// The place of the first key that is one of these.
    fn key(&self, keys: &[&str]) -> FileSpan {
        let found = self.rule.entries().iter().find(|entry| keys.contains(&&*entry.key.text));
        found.map_or(self.rule.place, |entry| entry.key.place)
    }
}
