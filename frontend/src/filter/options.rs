//! Options and bounds of checking a rule.

use crate::limits::Limits;

/// How a rule is checked, and the bounds on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterOptions {
    /// Bounds on bytes, nodes and diagnostics. [`Limits::max_depth`] does not apply: nesting has its own bound.
    pub limits: Limits,
    /// Deepest nesting of parentheses, `not`, `any`, `all` and calls. Default 128, Wirefilter's; at most 1,000.
    pub max_nesting: u32,
    /// Most stars of a wildcard pattern. Default no bound, Wirefilter's.
    pub max_wildcard_stars: Option<u32>,
    /// Whether functions that Cloudflare allows once in an expression (`regex_replace`,
    /// `wildcard_replace`) may be called once only. Default no.
    pub bound_calls: bool,
    /// Whether to warn of what the language accepts by accident: keywords without a blank after
    /// them, octal numbers, empty sets. Default no.
    pub strict: bool,
}

/// Deepest nesting whatever the options say: walks recurse a few levels for each level of nesting.
pub(crate) const MAX_NESTING: u32 = 1000;

impl Default for FilterOptions {
    fn default() -> Self {
        let limits = Limits::default();
        Self { limits, max_nesting: 128, max_wildcard_stars: None, bound_calls: false, strict: false }
    }
}
