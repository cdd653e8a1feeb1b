//! Which rules are measured: one of each structure, of each partition the same sample for the same
//! seed. What is left out is counted.

use super::fingerprint::fingerprint;
pub use super::hosts::Host;
use super::policies::PlannedPolicy;
use super::{hosts, language_name};
use crate::planted::Planted;
use crate::read::{Request, SourceRule};
use crate::structure::Structure;
use celero_tests::generate::Rng;
use celero_tooling::language::Language;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run measures. A process that counts instructions is given the same plan as the process that takes times.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Plan {
    /// By name.
    pub partitions: BTreeMap<String, Partition>,
    /// The requests that rules are evaluated on.
    pub requests: Vec<Request>,
    /// Requests that are left out: not valid HTTP, and not in the sample.
    pub requests_left_out: [usize; 2],
    /// Whether only evaluations are measured, those with two searchers too: for tables of improvements.
    pub searchers: bool,
    /// Policies, measured as a whole.
    pub policies: Vec<PlannedPolicy>,
    /// Sizes of sets of generated rules.
    pub sizes: Vec<usize>,
    /// A slowdown by which the lab is tested.
    pub planted: Option<Planted>,
}

/// The rules of a partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    /// Rules found.
    pub found: usize,
    /// Structures among the rules that compile.
    pub structures: usize,
    /// Rules that do not compile to native code here, by reason.
    pub refused: BTreeMap<String, usize>,
    /// The sample.
    pub rules: Vec<PlannedRule>,
}

/// A rule to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRule {
    /// A fingerprint of language and text: equal in all runs.
    pub id: String,
    /// The expression.
    pub source: String,
    /// Its language.
    #[serde(with = "language_name")]
    pub language: Language,
    /// What it reads.
    pub host: Host,
}

/// The partition of what can't be parsed.
const INVALID: &str = "invalid";

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The largest number of rules of a partition.
    pub rules: usize,
    /// The largest number of requests.
    pub requests: usize,
    /// Equal seeds give equal samples of equal input.
    pub seed: u64,
}

impl Plan {
    /// Chooses the rules and requests to measure. `left_out` is the number of requests that were not valid.
    #[must_use]
    pub fn new(rules: &[SourceRule], requests: &[Request], left_out: usize, sample: Sample) -> Self {
        let mut plan = Self { requests: sampled(requests.to_vec(), sample.requests, sample.seed), ..Self::default() };
        plan.requests_left_out = [left_out, requests.len() - plan.requests.len()];
        // By partition, by structure: the rule with the smallest fingerprint, whatever the order of the input.
        let mut structures: BTreeMap<String, BTreeMap<String, PlannedRule>> = BTreeMap::new();
        for SourceRule { source, language } in rules {
            let structure = match Structure::of(source, *language) {
                Ok(structure) => structure,
                Err(why) => {
                    plan.partitions.entry(format!("{}/{INVALID}", language.name())).or_default().refuse(&why);
                    continue;
                }
            };
            let name = format!("{}/{}", language.name(), structure.partition().name());
            let partition = plan.partitions.entry(name.clone()).or_default();
            let id = fingerprint(*language, source);
            let known = structures.entry(name).or_default();
            if known.get(&structure.key).is_some_and(|other| other.id <= id) {
                partition.found += 1;
                continue;
            }
            match hosts::host_of(source, *language) {
                Ok(host) => {
                    partition.found += 1;
                    let rule = PlannedRule { id, source: source.clone(), language: *language, host };
                    known.insert(structure.key, rule);
                }
                Err(why) => partition.refuse(&why),
            }
        }
        for (name, rules) in structures {
            if let Some(partition) = plan.partitions.get_mut(&name) {
                partition.structures = rules.len();
                partition.rules = ranked(rules.into_values(), sample.seed)
                    .filter(|rule| match hosts::compiles(&rule.source, rule.language, rule.host) {
                        Ok(()) => true,
                        Err(why) => {
                            *partition.refused.entry(why).or_default() += 1;
                            false
                        }
                    })
                    .take(sample.rules)
                    .collect();
                partition.rules.sort_by(|a, b| a.id.cmp(&b.id));
            }
        }
        plan
    }

    /// Returns the rules of all partitions, each with the partition's name.
    pub fn rules(&self) -> impl Iterator<Item = (&str, &PlannedRule)> {
        self.partitions.iter().flat_map(|(name, partition)| partition.rules.iter().map(|rule| (&**name, rule)))
    }
}

impl Partition {
    fn refuse(&mut self, why: &str) {
        self.found += 1;
        // Reasons with the names of this rule in them would all be different.
        let reason = why.split('`').step_by(2).collect::<Vec<_>>().join("..");
        *self.refused.entry(reason).or_default() += 1;
    }
}

/// Rules in an order that the seed decides. A rule that is added or removed does not change the order of the others.
fn ranked(rules: impl Iterator<Item = PlannedRule>, seed: u64) -> impl Iterator<Item = PlannedRule> {
    let rank = |id: &str| Rng::new(u64::from_str_radix(id, 16).unwrap_or(0) ^ seed).bits();
    let mut rules: Vec<(u64, PlannedRule)> = rules.map(|rule| (rank(&rule.id), rule)).collect();
    rules.sort_by(|(a, one), (b, other)| (a, &one.id).cmp(&(b, &other.id)));
    rules.into_iter().map(|(_, rule)| rule)
}

/// At most `count` of these, in their order, chosen by the seed.
fn sampled<T>(mut all: Vec<T>, count: usize, seed: u64) -> Vec<T> {
    let mut rng = Rng::new(seed);
    while all.len() > count {
        all.remove(rng.below(all.len()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(source: &str, language: Language) -> SourceRule {
        SourceRule { source: source.to_owned(), language }
    }

    fn input() -> Vec<SourceRule> {
        let mut rules = vec![
            rule(r#"request.path == "/a""#, Language::cel()),
            rule(r#"request.path == "/b""#, Language::cel()),
            rule("a.b == 3", Language::cel()),
            rule("a ==", Language::cel()),
            rule("unknown_function(a) == 3", Language::cel()),
            rule(r#"http.host contains "x""#, Language::filter()),
        ];
        rules.extend((0..20).map(|n| rule(&format!("v{n} == 1"), Language::cel())));
        rules
    }

    #[test]
    fn rules_are_deduplicated_partitioned_and_sampled() {
        let sample = Sample { rules: 8, requests: 1, seed: 7 };
        let plan = Plan::new(&input(), &[], 2, sample);
        let comparison = &plan.partitions["cel/comparison"];
        assert_eq!((comparison.found, comparison.structures, comparison.rules.len()), (23, 22, 8));
        assert_eq!(plan.partitions["cel/invalid"].found, 1);
        assert_eq!(plan.partitions["cel/functions"].refused.values().sum::<usize>(), 1);
        assert_eq!(plan.partitions["filter/contains"].rules[0].host, Host::Request);
        assert_eq!(plan.requests_left_out, [2, 0]);

        let mut other = input();
        other.reverse();
        let ids = |plan: &Plan| plan.rules().map(|(_, rule)| rule.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&plan), ids(&Plan::new(&other, &[], 2, sample)), "the order of the input does not matter");
        assert_ne!(ids(&plan), ids(&Plan::new(&input(), &[], 2, Sample { seed: 8, ..sample })));
    }

    #[test]
    fn the_host_is_that_of_requests_where_the_rule_compiles_for_it() {
        let sample = Sample { rules: 99, requests: 1, seed: 7 };
        let plan = Plan::new(&input(), &[], 0, sample);
        let host = |source: &str| plan.rules().find(|(_, rule)| rule.source.starts_with(source)).unwrap().1.host;
        assert_eq!((host("request.path"), host("a.b")), (Host::Request, Host::Bindings));
    }
}
