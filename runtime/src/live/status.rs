//! What live rules tell of themselves.

/// How a [`Live`](super::Live) is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The newest generation.
    pub generation: u64,
    /// How many rules there are. Those that are disabled are not counted.
    pub rules: usize,
    /// How many rules native code evaluates: at most all, also those that have been removed or disabled since it was made.
    pub native_rules: usize,
    /// How many sets the rules lie in. Each is asked.
    pub sets: usize,
    /// Whether there is work to be done in the background.
    pub is_working: bool,
    /// Why the last work in the background came to nothing, if it did: the interpreter goes on with what should have been
    /// compiled, until the rules change.
    pub failure: Option<String>,
    /// The candidate, if there is one.
    pub shadow: Option<ShadowStatus>,
}

/// How a candidate is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShadowStatus {
    /// How many rules it has.
    pub rules: usize,
    /// How many answers have been compared.
    pub compared: u64,
    /// How many of them differ.
    pub different: u64,
}
