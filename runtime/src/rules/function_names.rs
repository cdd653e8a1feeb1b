//! The names under which profilers know the functions of a rule set.

use crate::compilation::profile;
use crate::lower::merge::MergedRule;
use crate::native::{CompiledRules, LinearBlock};
use std::collections::BTreeMap;

/// For each function of a set: the first and the last of the rules that it evaluates.
pub(super) struct FunctionNames(BTreeMap<usize, (u32, u32)>);

impl FunctionNames {
    /// `linear` are the rules of the linear scan, `rows` pairs of a rule and its parameter row.
    pub(super) fn new(
        compiled: &CompiledRules,
        linear: &[&MergedRule],
        rows: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        let CompiledRules { code, blocks, .. } = compiled;
        let mut functions = Self(BTreeMap::new());
        let mut rest = linear;
        for &LinearBlock { count, function } in blocks {
            let (rules, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = others;
            rules.iter().for_each(|rule| functions.add(function, rule.number));
        }
        rows.for_each(|(rule, row)| functions.add(code.function_of(row), rule));
        functions
    }

    fn add(&mut self, function: Option<usize>, rule: u32) {
        if let Some(function) = function {
            let (first, last) = self.0.entry(function).or_insert((rule, rule));
            (*first, *last) = ((*first).min(rule), (*last).max(rule));
        }
    }

    /// The name of a function. `rule_of` gives the name and the source of a rule.
    pub(super) fn name<'r>(&self, function: usize, rule_of: impl Fn(u32) -> (&'r str, &'r str)) -> String {
        match self.0.get(&function) {
            Some(&(only, last)) if only == last => {
                let (name, source) = rule_of(only);
                profile::rule(name, source)
            }
            Some(&(first, last)) => {
                let [(first, first_source), (last, last_source)] = [rule_of(first), rule_of(last)];
                format!("celero::rules::{}..{}", profile::short(first, first_source), profile::short(last, last_source))
            }
            None => "celero::rules".into(),
        }
    }
}
