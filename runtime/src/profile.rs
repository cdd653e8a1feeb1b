//! What profilers call the functions of rules.

use crate::native::{Finished, Groups, Part};
use crate::rules::Placed;
use std::collections::BTreeMap;

/// Most characters of a rule's text in a name.
const TEXT: usize = 60;

/// The name of a rule's function: by its name, or by its text if it has none.
pub(crate) fn rule(name: &str, source: &str) -> String {
    format!("celero::rule::{}", short(name, source))
}

fn short(name: &str, source: &str) -> String {
    let text = if name.is_empty() { source } else { name };
    let mut short: String = text.chars().take(TEXT).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// Which rules, from the first to the last, the functions of a set are for.
pub(crate) struct Functions(BTreeMap<usize, (u32, u32)>);

impl Functions {
    /// Of straight rules, in their parts, and of rules with a row, by rule.
    pub(crate) fn new(finished: &Finished, straight: &[&Placed], rows: impl Iterator<Item = (u32, u32)>) -> Self {
        let Finished { groups, parts, .. } = finished;
        let mut functions = Self(BTreeMap::new());
        let mut rest = straight;
        for &Part { count, function } in parts {
            let (rules, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = others;
            rules.iter().for_each(|rule| functions.add(function, rule.number));
        }
        rows.for_each(|(rule, row)| functions.add(Groups::function_of(groups, row), rule));
        functions
    }

    fn add(&mut self, function: Option<usize>, rule: u32) {
        if let Some(function) = function {
            let (first, last) = self.0.entry(function).or_insert((rule, rule));
            (*first, *last) = ((*first).min(rule), (*last).max(rule));
        }
    }

    /// The name of a function, from the names and texts of rules.
    pub(crate) fn name<'r>(&self, function: usize, of: impl Fn(u32) -> (&'r str, &'r str)) -> String {
        match self.0.get(&function) {
            Some(&(only, last)) if only == last => {
                let (name, source) = of(only);
                rule(name, source)
            }
            Some(&(first, last)) => {
                let [(first, of_first), (last, of_last)] = [of(first), of(last)];
                format!("celero::rules::{}..{}", short(first, of_first), short(last, of_last))
            }
            None => "celero::rules".into(),
        }
    }
}
