//! Every bound, its default and its reason.

/// The bounds of an engine. Exceeding one is an error that names it, never a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bounds on source text and trees.
    pub source: celero_frontend::Limits,
    /// Steps an evaluation may take: a turn of a loop is one, building or scanning 64 bytes is about one. Default
    /// 1,000,000, some ten milliseconds. Each rule of a set has all of them. Both tiers count, but not the same steps: a rule near the bound may exceed it in one
    /// tier only.
    pub steps: u32,
    /// Bytes that an evaluation may build; of a set, each rule. Default 16 MiB.
    pub memory: usize,
    /// Bytes of text and values among the constants of a rule. Default 16 MiB.
    pub constants: usize,
    /// Bytes of the compiled patterns of a rule or a set, together; threads have some more for searching. A pattern for which
    /// there is no room is compiled where it is needed, at the price of steps, as one that is not known before, and each thread
    /// keeps a few of these. Default 256 MiB: ten thousand usual patterns.
    pub patterns: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source: celero_frontend::Limits::default(),
            steps: 1_000_000,
            memory: 16 << 20,
            constants: 16 << 20,
            patterns: 256 << 20,
        }
    }
}
