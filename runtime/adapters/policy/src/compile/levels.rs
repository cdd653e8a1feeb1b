//! What the rules of each level of a policy change and read. A rule of a lower level must not
//! change what a rule of a higher level changes or reads: that would undo what the higher level
//! decided.
//!
//! Invariant: a rule of a lower level runs only if no rule of a higher level has answered. Test:
//! `runtime/adapters/policy/tests/policy/levels.rs::allow_ends_a_level_and_an_answer_ends_the_phase`.
//!
//! Invariant: a rule of a lower level changes nothing that a higher level changes. Test:
//! `runtime/adapters/policy/tests/policy/levels.rs::a_lower_level_cannot_undo_what_a_higher_one_decided`.
//!
//! Invariant: a rule of a lower level changes nothing that a higher level reads. Test:
//! `runtime/adapters/policy/tests/policy/levels.rs::what_a_higher_level_reads_stays_as_it_is`.

use crate::compile::higher_levels::{HeaderNames, HigherLevels};
use crate::compile::rule_claims::RuleClaims;
use crate::file::document::Document;
use crate::host::outcome::Phase;
use crate::phases::normalize::names_of_set;
use crate::problems::{FileSpan, Problems};
use crate::rules::reads::RuleReads;
use crate::rules::rule::Rule;
use crate::yaml::{MapEntry, Node};
use celero_canonical::GuardedNames;
use http::HeaderName;
use std::collections::HashMap;
use std::sync::Arc;

/// The most changes that are reported.
const MAX_REPORTED: usize = 1_000;

/// The actions that change the target of a request.
const OF_TARGET: [&str; 3] = ["setPath", "setQuery", "removeQuery"];

/// What the rules of a policy with levels change and read.
pub(crate) struct Claims {
    rules: Vec<RuleClaims>,
    sets: HeaderNames,
}

impl Claims {
    pub(crate) fn new(document: &Document) -> Self {
        let mut sets = HeaderNames::new();
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
        reads: RuleReads,
        problems: &mut Problems,
    ) {
        let claims = RuleClaims::of_rule(phase, rule, node, reads);
        if claims.changes_target && claims.level > 0 {
            for key in node.entries().iter().map(|entry| &entry.key).filter(|key| OF_TARGET.contains(&&*key.text)) {
                let message = format!("`{}` can't be in a rule of a lower level", key.text);
                let problem = problems.add("policy-level", key.place, message);
                problem.help("rules of higher levels have decided on this target");
            }
        }
        self.rules.push(claims);
    }

    /// Adds what `countWhen` of a limit reads.
    pub(crate) fn add_count_when(&mut self, level: usize, limit: &Arc<str>, place: FileSpan, reads: RuleReads) {
        self.rules.push(RuleClaims::of_count_when(level, limit, place, reads));
    }

    /// Reports what rules of lower levels change although a rule of a higher level changes or reads
    /// it: for each change one such rule. The cost is linear in what rules change and read.
    pub(crate) fn report(&self, problems: &mut Problems) {
        let mut by_level: Vec<&RuleClaims> = self.rules.iter().collect();
        by_level.sort_by_key(|claims| claims.level);
        let most = problems.count().saturating_add(MAX_REPORTED);
        let mut higher = HigherLevels::new(&self.sets);
        for level in by_level.chunk_by(|one, other| one.level == other.level) {
            let mut of_sets = HashMap::new();
            for rule in level.iter().filter(|claims| claims.level > 0) {
                report_identity(rule, &self.sets, problems);
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

/// Reports a change of a header that says who the client is, or where a request goes.
fn report_identity(rule: &RuleClaims, sets: &HeaderNames, problems: &mut Problems) {
    if rule.of_response || !rule.changes_headers() {
        return;
    }
    let given = rule.given.iter().map(|(name, place)| (GuardedNames::folded(name.as_str()), *place));
    let mut given: HashMap<String, FileSpan> = given.collect();
    let removed = || rule.removed.iter().chain(rule.sets.iter().filter_map(|set| sets.get(set)));
    for name in GuardedNames::ALWAYS.map(HeaderName::from_static) {
        let is_removed = || removed().any(|names| names.covers(&name)).then_some(rule.place);
        if let Some(place) = given.remove(name.as_str()).or_else(is_removed) {
            let message = format!("a rule of a lower level can't change `{name}`");
            let problem = problems.add("policy-level", place, message);
            problem.help("it says who the client is, or where the message goes: the first level decides that");
        }
    }
}
