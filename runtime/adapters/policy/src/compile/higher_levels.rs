//! What the rules of higher levels have decided, by what they change and read: each with the first rule that does.

use crate::compile::rule_claims::{Named, RuleClaims};
use crate::problems::FileSpan;
use crate::rules::actions::is_framing;
use crate::rules::reads::{HeaderReads, RuleReads};
use celero_canonical::GuardedNames;
use http::HeaderName;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;

/// The headers of `headerSets`, by the names of the sets.
pub(super) type HeaderNames = HashMap<String, GuardedNames>;

/// A decision of a rule of a higher level: the rule, and what it does.
type Decision<'c> = (&'c RuleClaims, String);

/// The decisions on the headers of sets, by the name of the set and whether they are those of responses.
pub(super) type DecisionsOnSets<'c> = HashMap<(&'c str, bool), Vec<Decision<'c>>>;

/// What the rules of the levels above a level change and read.
pub(super) struct HigherLevels<'c> {
    sets: &'c HeaderNames,
    named: HashMap<(Named, &'c str), &'c RuleClaims>,
    reads_labels: Option<&'c RuleClaims>,
    reads_status: Option<&'c RuleClaims>,
    /// The rule that changes responses.
    changes_response: Option<&'c RuleClaims>,
    requests: Headers<'c>,
    responses: Headers<'c>,
}

/// What is decided on the headers of requests, or of responses. Names are [folded](GuardedNames::folded).
#[derive(Default)]
struct Headers<'c> {
    given: BTreeMap<String, (&'c HeaderName, &'c RuleClaims)>,
    removed: HashMap<&'c str, &'c RuleClaims>,
    /// None is the prefix of another one.
    removed_prefixes: BTreeMap<&'c str, &'c RuleClaims>,
    /// The sets that are among these.
    sets: HashSet<&'c str>,
    read: BTreeMap<String, (&'c HeaderName, &'c RuleClaims)>,
    /// A header that is read and depends on the length of the body.
    reads_framing: Option<(&'c HeaderName, &'c RuleClaims)>,
    reads_any: Option<&'c RuleClaims>,
    reads_body: Option<&'c RuleClaims>,
}

impl<'c> HigherLevels<'c> {
    pub(super) fn new(sets: &'c HeaderNames) -> Self {
        Self {
            sets,
            named: HashMap::new(),
            reads_labels: None,
            reads_status: None,
            changes_response: None,
            requests: Headers::default(),
            responses: Headers::default(),
        }
    }

    fn headers(&self, of_response: bool) -> &Headers<'c> {
        if of_response { &self.responses } else { &self.requests }
    }

    /// Adds what a rule changes and reads.
    pub(super) fn add(&mut self, rule: &'c RuleClaims) {
        let headers = if rule.of_response { &mut self.responses } else { &mut self.requests };
        for (name, _) in &rule.given {
            headers.given.entry(GuardedNames::folded(name.as_str())).or_insert((name, rule));
        }
        rule.removed.iter().for_each(|names| headers.add_removed(names, rule));
        for set in &rule.sets {
            if let Some(names) = self.sets.get(set).filter(|_| headers.sets.insert(set)) {
                headers.add_removed(names, rule);
            }
        }
        let mut changes_message = rule.changes_headers();
        for (kind, name, _) in &rule.named {
            self.named.entry((*kind, name)).or_insert(rule);
            changes_message |= matches!(kind, Named::Status | Named::Body { .. });
        }
        if changes_message && rule.of_response {
            self.changes_response.get_or_insert(rule);
        }
        // Without `..`: whoever adds something that rules read decides here who may change it.
        let RuleReads {
            request,
            response,
            status,
            labels,
            bodies: [request_body, response_body],
            bytes: _,
            messages: _,
        } = &rule.reads;
        if *labels {
            self.reads_labels.get_or_insert(rule);
        }
        if *status {
            self.reads_status.get_or_insert(rule);
        }
        self.requests.add_reads(request, *request_body, rule);
        self.responses.add_reads(response, *response_body, rule);
    }

    /// Returns what is decided on what a rule changes: the place of each change, with a message.
    /// `of_sets` is empty for the first rule of a level.
    pub(super) fn decisions_on(
        &self,
        rule: &'c RuleClaims,
        of_sets: &mut DecisionsOnSets<'c>,
    ) -> Vec<(FileSpan, String)> {
        let headers = self.headers(rule.of_response);
        let mut found: Vec<(FileSpan, Decision<'c>)> = Vec::new();
        for (name, place) in &rule.given {
            found.extend(headers.on_given(name).map(|decision| (*place, decision)));
        }
        let removed = rule.removed.iter().flat_map(|names| headers.on_removed(names));
        found.extend(removed.map(|decision| (rule.place, decision)));
        for set in &rule.sets {
            let Some(names) = self.sets.get(set) else { continue };
            let on_set = of_sets.entry((set, rule.of_response)).or_insert_with(|| headers.on_removed(names).collect());
            found.extend(on_set.iter().map(|decision| (rule.place, decision.clone())));
        }
        if let Some(reader) = headers.reads_any.filter(|_| rule.changes_headers()) {
            found.push((rule.place, (reader, "reads headers whose names are computed".to_owned())));
        }
        if let Some(other) = self.changes_response.filter(|_| rule.answers && rule.of_response) {
            let does = "changes the response, which an answer of this rule would replace".to_owned();
            found.push((rule.place, (other, does)));
        }
        for (kind, name, place) in &rule.named {
            found.extend(self.on_named(*kind, name).map(|decision| (*place, decision)));
            let framing = headers.reads_framing.filter(|_| matches!(kind, Named::Body { .. }));
            found.extend(framing.map(|(name, reader)| (*place, (reader, format!("reads `{name}`")))));
        }
        let message = |(other, does): Decision<'_>| format!("rule `{}` of a higher level {does}", other.rule);
        found.into_iter().map(|(place, decision)| (place, message(decision))).collect()
    }

    fn on_named(&self, kind: Named, name: &str) -> Option<Decision<'c>> {
        let (what, reader, read) = match kind {
            Named::Label => (format!("the label `{name}`"), self.reads_labels, "labels"),
            Named::LogField => (format!("the log field `{name}`"), None, ""),
            Named::Limit => (format!("the limit `{name}`"), None, ""),
            Named::Status => ("the status".to_owned(), self.reads_status, "the status"),
            Named::Body { of_response } => ("the body".to_owned(), self.headers(of_response).reads_body, "the body"),
        };
        let set = self.named.get(&(kind, name)).map(|other| (*other, format!("sets {what}")));
        set.or_else(|| reader.map(|reader| (reader, format!("reads {read}"))))
    }
}

impl<'c> Headers<'c> {
    fn add_removed(&mut self, names: &'c GuardedNames, rule: &'c RuleClaims) {
        for name in names.names() {
            self.removed.entry(name).or_insert(rule);
        }
        for prefix in names.prefixes().filter(|prefix| self.remover(prefix).is_none()).collect::<Vec<_>>() {
            while let Some((longer, _)) =
                self.removed_prefixes.range(prefix..).next().filter(|(other, _)| other.starts_with(prefix))
            {
                let longer = *longer;
                self.removed_prefixes.remove(longer);
            }
            self.removed_prefixes.insert(prefix, rule);
        }
    }

    /// The rule that removes a header by a prefix of its name: if there is one, the prefix is the
    /// last one before the name.
    fn remover(&self, name: &str) -> Option<&'c RuleClaims> {
        let before = self.removed_prefixes.range::<str, _>((Bound::Unbounded, Bound::Included(name))).next_back();
        before.filter(|(prefix, _)| name.starts_with(**prefix)).map(|(_, rule)| *rule)
    }

    fn add_reads(&mut self, HeaderReads { names, any }: &'c HeaderReads, body: bool, rule: &'c RuleClaims) {
        for name in names {
            self.read.entry(GuardedNames::folded(name.as_str())).or_insert((name, rule));
            if is_framing(name) {
                self.reads_framing.get_or_insert((name, rule));
            }
        }
        if *any {
            self.reads_any.get_or_insert(rule);
        }
        if body {
            self.reads_body.get_or_insert(rule);
        }
    }

    /// Returns what is decided on a header that a rule sets or adds.
    fn on_given(&self, name: &HeaderName) -> impl Iterator<Item = Decision<'c>> {
        let folded = GuardedNames::folded(name.as_str());
        let given = self.given.get(&folded).map(|(_, rule)| (*rule, format!("sets `{name}`")));
        let removed = || self.removed.get(&*folded).copied().or_else(|| self.remover(&folded));
        let changed = given.or_else(|| removed().map(|rule| (rule, format!("removes `{name}`"))));
        let read = self.read.get(&folded).map(|(name, rule)| (*rule, format!("reads `{name}`")));
        changed.into_iter().chain(read)
    }

    /// Returns what is decided on headers that a rule removes. Of a prefix it is one header.
    fn on_removed(&self, names: &GuardedNames) -> impl Iterator<Item = Decision<'c>> {
        let by_name = names.names().flat_map(|name| [("sets", self.given.get(name)), ("reads", self.read.get(name))]);
        let by_prefix = names
            .prefixes()
            .flat_map(|prefix| [("sets", first_with(&self.given, prefix)), ("reads", first_with(&self.read, prefix))]);
        let decision = |(does, found): (&str, Option<&(&'c HeaderName, &'c RuleClaims)>)| {
            found.map(|(name, rule)| (*rule, format!("{does} `{name}`")))
        };
        by_name.chain(by_prefix).filter_map(decision)
    }
}

/// Returns the value of the first name that begins with a prefix.
fn first_with<'m, T>(names: &'m BTreeMap<String, T>, prefix: &str) -> Option<&'m T> {
    let first = names.range::<str, _>((Bound::Included(prefix), Bound::Unbounded)).next();
    first.filter(|(name, _)| name.starts_with(prefix)).map(|(_, value)| value)
}
