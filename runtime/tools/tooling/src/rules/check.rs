//! The check of the rules of a file, without compiling them to native code.

use super::file::RulesFile;
use super::sets::{builder, builder_without};
use crate::envs::Envs;
use crate::policy_names::explain;
use celero::diagnostics::Severity;
use celero::sets::Indexing;
use celero::{Context, Diagnostic, Engine, ErrorPolicy};
use std::collections::BTreeSet;

/// The tag of rules that are guards.
const DENY: &str = "deny";

/// What the check of a file of rules found.
#[derive(Clone, Debug)]
pub struct CheckedRules {
    /// Each diagnostic with the number of its rule, its spans in the rule's source: errors first,
    /// then by rule and place.
    pub found: Vec<(usize, Diagnostic)>,
    /// How many rules have no error.
    pub valid: usize,
}

/// Checks the rules of a file one by one and as a set. Use an engine with
/// [`Tier::Interpret`](celero::Tier::Interpret): nothing is evaluated.
#[must_use]
pub fn check_rules<C: Context>(
    engine: &Engine,
    envs: &Envs<C>,
    file: &RulesFile,
    on_error: ErrorPolicy,
) -> CheckedRules {
    let (mut found, valid) = match builder(engine, envs, file, on_error).index(Indexing::Off).build() {
        Ok(set) => (set.warnings().to_vec(), set.len()),
        Err(error) => {
            // The warnings about the other rules, as if the failed ones were not there.
            let mut found: Vec<(usize, Diagnostic)> =
                error.diagnostics().map(|(rule, found)| (rule, found.clone())).collect();
            let failed: BTreeSet<usize> = found.iter().map(|(rule, _)| *rule).collect();
            let others: Vec<usize> = (0..file.rules.len()).filter(|rule| !failed.contains(rule)).collect();
            let builder = builder_without(engine, envs, file, on_error, &failed).index(Indexing::Off);
            let warnings = builder.build().map(|set| set.warnings().to_vec()).unwrap_or_default();
            let warnings = warnings.into_iter().filter_map(|(at, found)| Some((*others.get(at)?, found)));
            found.extend(warnings);
            (found, others.len())
        }
    };
    let fails_open = on_error == ErrorPolicy::NoMatch;
    let is_guard = |tags: &[String]| tags.iter().any(|tag| tag == DENY);
    for (number, rule) in file.rules.iter().enumerate().filter(|(_, rule)| is_guard(&rule.tags)) {
        let env = envs.of(rule.language);
        if let Ok(checked) = engine.check(env, &rule.source) {
            found.extend(checked.guard_warnings(env, fails_open).into_iter().map(|warning| (number, warning)));
        }
    }
    found.iter_mut().for_each(|(_, found)| explain(found));
    found.sort_by_key(|(rule, found)| (found.severity == Severity::Warning, *rule, found.span.start));
    CheckedRules { found, valid }
}
