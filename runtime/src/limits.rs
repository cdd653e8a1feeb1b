//! The limits of an engine: every bound, its default and its reason.

/// The limits of an engine. Exceeding one is an error that names it, never a panic.
///
/// With the feature `serde` configuration files can hold them. A limit that is not there has its
/// default; an unknown name is an error:
///
/// ```
/// # #[cfg(feature = "serde")] {
/// # use celero::Limits;
/// let limits: Limits = serde_json::from_str(r#"{"steps": 5000, "source": {"maxDepth": 40}}"#).unwrap();
/// assert_eq!((limits.steps, limits.source.max_depth), (5000, 40));
/// assert_eq!(limits.memory, Limits::default().memory);
/// assert!(serde_json::from_str::<Limits>(r#"{"step": 5000}"#).is_err());
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields, rename_all = "camelCase")
)]
pub struct Limits {
    /// Limits of source text and trees.
    pub source: celero_frontend::Limits,
    /// Most steps of an evaluation; of each rule, in a set. Protects from requests that are made to
    /// take long.
    ///
    /// An iteration of a loop is one step; building or scanning 64 bytes is about one.
    /// [`MeteredRegex`](celero_matching::pattern::MeteredRegex) says what compiling a pattern and
    /// searching with it cost. A search of a named list is charged in part when it has ended: it
    /// takes at most the steps that were left, and one for each entry that it finds. Both tiers
    /// count, but not the same steps: a rule near the limit may exceed it in one tier only.
    ///
    /// In a set, work that is done once for several rules is charged to at most one of them: a
    /// shared value to the first rule that needs it. Index search is not charged to rules; it has
    /// bounds of its own ([`PatternSet`](celero_matching::PatternSet)). So a rule exceeds its
    /// budget in a set only if it does so alone in some tier. A rule that exceeds it alone may have
    /// a result in a set: the one that it has without a limit.
    ///
    /// Default: 1,000,000, about ten milliseconds.
    pub steps: u32,
    /// Most bytes that an evaluation may allocate; each rule, in a set. Default: 16 MiB.
    pub memory: usize,
    /// Most bytes of text and values among the constants of a rule. Default: 16 MiB.
    pub constants: usize,
    /// Most bytes of all compiled patterns of a rule or a set. Threads use some more for searching.
    /// A pattern beyond the limit is compiled where it is evaluated, which costs steps, and each
    /// thread caches a few of them. Default: 256 MiB, about ten thousand usual patterns.
    pub patterns: usize,
    /// Most steps for letter cases of all patterns of a rule or a set, in each parsing of them; in
    /// a set, a pattern that several rules have counts for each. A class of many letters, such as
    /// `\pL`, is 1,000 steps in a pattern that ignores case, one of most characters in the filter
    /// language 75,000: see [`folding_steps`](celero_matching::pattern::folding_steps). A rule
    /// beyond the limit does not compile. Default: 8,000,000, about a second.
    pub case_steps: usize,
    /// Most nodes of the rules of a set that call functions or use names defined in rules, with
    /// their bodies in the places of the calls. Each rule alone is within
    /// [`SourceLimits::max_nodes`](celero_frontend::Limits::max_nodes). In the filter language,
    /// fields with a small body count nothing. The rule that exceeds the limit does not compile.
    /// Default: 4,000,000.
    pub inlined_nodes: usize,
    /// Most operations of a rule by its [static cost](crate::settings::CheckedRule::static_cost),
    /// where every list and map that a loop goes through has [`elements`](Self::elements) elements.
    /// A rule beyond the limit is refused by [`Engine::check`](crate::Engine::check), and by
    /// whatever compiles a source. Unlike [`steps`](Self::steps) it says before the first request
    /// which rules may take long, for hosts that take rules of their tenants. Default: no limit.
    pub operations: Option<u64>,
    /// The elements that [`operations`](Self::operations) takes lists and maps to have. Default:
    /// 100.
    pub elements: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source: celero_frontend::Limits::default(),
            steps: 1_000_000,
            memory: 16 << 20,
            constants: 16 << 20,
            patterns: 256 << 20,
            case_steps: 8_000_000,
            inlined_nodes: 4_000_000,
            operations: None,
            elements: 100,
        }
    }
}
