//! Why the index leaves a rule out.

use std::fmt;

/// Why the index of a set leaves a rule out, so that it is evaluated every time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unindexed {
    /// Indexing is off for the set.
    IndexOff,
    /// None of the rule's conditions is a test that an index supports: they compare computed values, or would fail.
    NoKey,
    /// The tests by which the rule could be found are expected to hold too often.
    TooCommon,
    /// Too few rules have such tests for a lookup to be faster than evaluating them.
    TooFew,
    /// The rule is too large for the graph that all rules share. The interpreter evaluates it.
    TooLarge,
}

impl fmt::Display for Unindexed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IndexOff => "the set has no index",
            Self::NoKey => "none of its conditions is a test that an index supports",
            Self::TooCommon => "the tests by which it could be found hold too often",
            Self::TooFew => "too few rules have such tests for a lookup to be faster",
            Self::TooLarge => "it is too large for the graph that all rules share",
        })
    }
}
