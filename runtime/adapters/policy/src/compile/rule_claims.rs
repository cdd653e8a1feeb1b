//! What one rule of a policy with levels changes and reads.

use crate::host::body_edit::names_of_body;
use crate::host::outcome::Phase;
use crate::phases::normalize::names_removed;
use crate::problems::FileSpan;
use crate::rules::actions::{HeaderEdit, PhaseEnd, is_framing};
use crate::rules::reads::RuleReads;
use crate::rules::rule::Rule;
use crate::yaml::Node;
use celero_canonical::GuardedNames;
use http::{HeaderName, header};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

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
    pub(super) level: usize,
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
    pub(super) sets: BTreeSet<String>,
    pub(super) named: Vec<(Named, String, FileSpan)>,
    pub(super) changes_target: bool,
    pub(super) reads: RuleReads,
}

impl RuleClaims {
    /// Returns what a rule changes and reads.
    pub(super) fn of_rule<S>(phase: Phase, rule: &Rule<S>, node: &Node, mut reads: RuleReads) -> Self {
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
        // Without `..`: whoever adds an action decides here what it changes. `delay` and `count`
        // change nothing that a rule reads.
        let Rule {
            name,
            method: _,
            reads_bytes: _,
            reads_messages: _,
            is_unconditional: _,
            is_pure: _,
            when_start: _,
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
        Self {
            level: *level,
            rule: Arc::clone(name),
            place: node.place,
            of_response,
            answers: ends || limit.is_some() || remote.is_some() || require.is_some() || node.get("method").is_some(),
            given,
            removed,
            sets: node.texts_of("removeHeaderSets").into_iter().map(|set| set.text).collect(),
            named,
            changes_target: target.is_some(),
            reads,
        }
    }

    /// Returns what `countWhen` of a limit reads.
    pub(super) fn of_count_when(level: usize, limit: &Arc<str>, place: FileSpan, reads: RuleReads) -> Self {
        Self {
            level,
            rule: Arc::clone(limit),
            place,
            of_response: false,
            answers: false,
            given: Vec::new(),
            removed: None,
            sets: BTreeSet::new(),
            named: Vec::new(),
            changes_target: false,
            reads,
        }
    }

    pub(super) fn changes_headers(&self) -> bool {
        !self.given.is_empty() || self.removed.is_some()
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
