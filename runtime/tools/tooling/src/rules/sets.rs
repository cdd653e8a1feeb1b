//! Sets of the rules of a file.

use super::file::RulesFile;
use crate::envs::Envs;
use celero::sets::RuleSetBuilder;
use celero::{Context, Engine, ErrorPolicy, Rule};
use std::collections::BTreeSet;

/// Returns a builder with the rules of a file.
pub fn builder<'e, E: Context>(
    engine: &Engine,
    envs: &'e Envs<E>,
    file: &RulesFile,
    policy: ErrorPolicy,
) -> RuleSetBuilder<'e, E, ()> {
    builder_without(engine, envs, file, policy, &BTreeSet::new())
}

/// Returns a builder with the rules of a file, but for some.
pub fn builder_without<'e, E: Context>(
    engine: &Engine,
    envs: &'e Envs<E>,
    file: &RulesFile,
    policy: ErrorPolicy,
    without: &BTreeSet<usize>,
) -> RuleSetBuilder<'e, E, ()> {
    let rules = file.rules.iter().enumerate().filter(|(number, _)| !without.contains(number));
    let builder = engine.rules(envs.of(file.language)).on_error(policy);
    rules.fold(builder, |builder, (_, rule)| {
        let added = Rule::new(&rule.name, &rule.source, ()).priority(rule.priority);
        let added = rule.tags.iter().fold(added, |added, tag| added.tag(tag));
        match rule.language == file.language {
            true => builder.with_rule(added),
            false => builder.with_rule_in(envs.of(rule.language), added),
        }
    })
}
