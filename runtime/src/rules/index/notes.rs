//! What planning learns about each rule, kept for those who ask: the keys that lead to it, what is proven of it there, and why
//! a rule is left out.

use super::Index;
use super::keys::Key;
use super::plan::Todo;
use super::slot::{Kind, SlotId, Source};
use std::collections::HashSet;

/// Why a rule is not found by an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum LeftOut {
    /// None of its conjuncts is a test that an index knows.
    NoKey,
    /// Its keys hold too often.
    TooCommon,
    /// Too few rules have keys of the kind for a lookup to be worth while.
    TooFew,
}

/// Notes, if they are wanted.
#[derive(Debug, Default)]
pub(in crate::rules) struct Notes {
    wanted: bool,
    steps: Vec<Step>,
    ends: Vec<End>,
    /// By place in the common graph.
    pub(in crate::rules) left: Vec<(usize, LeftOut)>,
}

/// A key on the way to rules.
#[derive(Debug)]
struct Step {
    /// The number of the step before it, counted from 1; 0 of the first.
    before: u32,
    slot: SlotId,
    key: Key,
    chance: f64,
}

#[derive(Debug)]
struct End {
    rule: usize,
    last: u32,
    proven: u64,
    todo: Todo,
}

/// A way to a rule.
#[derive(Debug)]
pub(in crate::rules) struct Found {
    /// The rule's place in the common graph.
    pub(in crate::rules) rule: usize,
    /// In words, in the order in which they are looked up.
    pub(in crate::rules) keys: Vec<String>,
    /// How likely all of them are taken to hold.
    pub(in crate::rules) chance: f64,
    /// The conjuncts that are known to be true, as bits.
    pub(in crate::rules) proven: u64,
    pub(in crate::rules) todo: Todo,
}

impl Notes {
    pub(in crate::rules) fn taken() -> Self {
        Self { wanted: true, ..Self::default() }
    }

    pub(in crate::rules) fn wanted(&self) -> bool {
        self.wanted
    }

    /// Notes a key behind others; gives the number of the step.
    pub(super) fn step(&mut self, before: u32, slot: SlotId, key: &Key, chance: impl Fn() -> f64) -> u32 {
        if self.wanted {
            self.steps.push(Step { before, slot, key: key.clone(), chance: chance() });
        }
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    /// Notes that a rule is found behind a step.
    pub(super) fn end(&mut self, rule: usize, last: u32, proven: u64, todo: Todo) {
        if self.wanted {
            self.ends.push(End { rule, last, proven, todo });
        }
    }

    /// Notes that a rule is not found.
    pub(super) fn left(&mut self, rule: usize, why: LeftOut) {
        if self.wanted {
            self.left.push((rule, why));
        }
    }

    /// How many different things are looked at.
    pub(in crate::rules) fn slots(&self) -> usize {
        self.steps.iter().map(|step| step.slot).collect::<HashSet<_>>().len()
    }

    /// The ways to all rules that are found. `name` gives the names of fields.
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
            Found { rule: end.rule, keys, chance, proven: end.proven, todo: end.todo }
        })
    }
}

impl Step {
    /// The test, as people would say it.
    fn words(&self, index: &Index, name: &dyn Fn(u32) -> String) -> String {
        let Some(slot) = index.slots.get(self.slot) else { return String::new() };
        let subject = match &slot.source {
            Source::Field(field) => name(*field),
            Source::Header(field, header) => format!("{}[{header:?}]", name(*field)),
        };
        let case = if slot.kind == Kind::Lower { " in lower case" } else { "" };
        format!("{subject}{case} {}", self.key.words())
    }
}

impl Key {
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
            Self::Present => "is present".to_owned(),
            Self::Absent => "is absent".to_owned(),
        }
    }
}
