//! [`Status`]: the state of live rules.

/// The state of a [`Live`](super::Live) set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The current generation.
    pub generation: u64,
    /// Number of rules, without disabled ones.
    pub rules: usize,
    /// Number of rules that native code evaluates, including those removed or disabled since it was made.
    pub native_rules: usize,
    /// Number of sets in which the rules are stored. An evaluation evaluates each of them.
    pub sets: usize,
    /// Whether there is background work to be done.
    pub is_working: bool,
    /// Why the last background work failed, if it did. The interpreter evaluates the rules
    /// concerned until the rules change.
    pub failure: Option<String>,
    /// The candidate, if there is one.
    pub shadow: Option<ShadowStatus>,
}

/// The state of a candidate set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShadowStatus {
    /// Number of its rules.
    pub rules: usize,
    /// Number of compared evaluations.
    pub compared: u64,
    /// Number of compared evaluations that differed.
    pub different: u64,
}
