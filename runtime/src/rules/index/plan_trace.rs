//! A trace of planning, for explanations: the keys that lead to each rule, what they prove, and why
//! rules are unindexed.

use super::Index;
use super::attribute::{AttributeId, AttributeKind, AttributeSource};
use super::keys::IndexKey;
use super::residual::Residual;
use super::unindexed::Unindexed;
use std::collections::HashSet;

/// Records the decisions of the planner, if wanted.
#[derive(Debug, Default)]
pub(in crate::rules) struct PlanTrace {
    wanted: bool,
    steps: Vec<Step>,
    ends: Vec<End>,
    /// The unindexed rules, by position in the merged graph, and why.
    pub(in crate::rules) left: Vec<(usize, Unindexed)>,
}

/// A key on a path to rules.
#[derive(Debug)]
struct Step {
    /// Number of the previous step, counted from 1; 0 for the first step.
    before: u32,
    attribute: AttributeId,
    key: IndexKey,
    chance: f64,
}

#[derive(Debug)]
struct End {
    rule: usize,
    last: u32,
    proven: u64,
    residual: Residual,
}

/// A path of keys to a rule.
#[derive(Debug)]
pub(in crate::rules) struct Found {
    /// Position of the rule in the merged graph.
    pub(in crate::rules) rule: usize,
    /// The keys in words, in the order in which they are looked up.
    pub(in crate::rules) keys: Vec<String>,
    /// Estimated probability that all keys hold.
    pub(in crate::rules) chance: f64,
    /// The conjuncts that the keys prove, as bits.
    pub(in crate::rules) proven: u64,
    pub(in crate::rules) residual: Residual,
}

impl PlanTrace {
    pub(in crate::rules) fn taken() -> Self {
        Self { wanted: true, ..Self::default() }
    }

    pub(in crate::rules) fn wanted(&self) -> bool {
        self.wanted
    }

    /// Records a key after other keys. Returns the number of the step.
    pub(super) fn step(
        &mut self,
        before: u32,
        attribute: AttributeId,
        key: &IndexKey,
        chance: impl Fn() -> f64,
    ) -> u32 {
        if self.wanted {
            self.steps.push(Step { before, attribute, key: key.clone(), chance: chance() });
        }
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    /// Records that a rule is found after a step.
    pub(super) fn end(&mut self, rule: usize, last: u32, proven: u64, residual: Residual) {
        if self.wanted {
            self.ends.push(End { rule, last, proven, residual });
        }
    }

    /// Records that a rule is unindexed.
    pub(super) fn left(&mut self, rule: usize, why: Unindexed) {
        if self.wanted {
            self.left.push((rule, why));
        }
    }

    /// Number of different attributes.
    pub(in crate::rules) fn attributes(&self) -> usize {
        self.steps.iter().map(|step| step.attribute).collect::<HashSet<_>>().len()
    }

    /// The paths to all indexed rules. `name` returns the name of a field.
    pub(in crate::rules) fn found<'n>(
        &'n self,
        index: &'n Index,
        name: &'n dyn Fn(u32) -> String,
    ) -> impl Iterator<Item = Found> + 'n {
        self.ends.iter().map(move |end| {
            let (mut keys, mut chance) = (Vec::new(), 1.0);
            let mut at = end.last;
            while let Some(step) = at.checked_sub(1).and_then(|at| self.steps.get(at as usize)) {
                keys.push(step.words(index, name));
                chance *= step.chance.min(1.0);
                at = step.before;
            }
            keys.reverse();
            Found { rule: end.rule, keys, chance, proven: end.proven, residual: end.residual }
        })
    }
}

impl Step {
    /// The test in words.
    fn words(&self, index: &Index, name: &dyn Fn(u32) -> String) -> String {
        let Some(attribute) = index.attributes.get(self.attribute) else { return String::new() };
        let subject = match &attribute.source {
            AttributeSource::Field(field) => name(*field),
            AttributeSource::Header(field, header) => format!("{}[{header:?}]", name(*field)),
        };
        let case = if attribute.kind == AttributeKind::Lower { " in lower case" } else { "" };
        format!("{subject}{case} {}", self.key.words())
    }
}

impl IndexKey {
    fn words(&self) -> String {
        let text = |text: &[u8]| format!("{:?}", String::from_utf8_lossy(text));
        match self {
            Self::Is(value) => format!("is {}", text(value)),
            Self::Prefix(value) => format!("starts with {}", text(value)),
            Self::Suffix(value) => format!("ends with {}", text(value)),
            Self::Contains(value) => format!("contains {}", text(value)),
            Self::ContainsFolded(value) => format!("contains {} in any case", text(value)),
            Self::Range(from, to) if from == to => format!("is {from}"),
            Self::Range(i128::MIN, to) => format!("is at most {to}"),
            Self::Range(from, i128::MAX) => format!("is at least {from}"),
            Self::Range(from, to) => format!("is from {from} to {to}"),
            Self::Network(address, prefix) => format!("is in {address}/{prefix}"),
            Self::Pattern(pattern) => format!("may match {pattern:?}"),
            Self::Matched(pattern) => format!("matches {pattern:?}"),
            Self::Truth(truth) => format!("is {truth}"),
            Self::Listed(list) => format!("is in the list {}", list.name),
            Self::Present => "is present".to_owned(),
            Self::Absent => "is absent".to_owned(),
        }
    }
}
