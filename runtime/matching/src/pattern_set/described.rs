//! What building a set needs of a pattern.

use super::required_bytes::{ByteMask, required_bytes};
use super::required_literals::Gated;
use crate::pattern::{Pattern, Reduced, reduce};
use regex_syntax::hir::Hir;

/// What building a set needs of a pattern.
pub(super) struct Described<'p> {
    pub(super) pattern: Pattern<'p>,
    /// `None` for a pattern that is not valid, and for one that matches parts of characters.
    pub(super) reduced: Option<Reduced>,
    /// Every text in which the pattern matches contains one of these bytes.
    pub(super) bytes: ByteMask,
    pub(super) gated: Option<Gated>,
}

impl<'p> Described<'p> {
    /// A pattern and what it was parsed to, `None` if it is not valid.
    pub(super) fn new(id: u32, pattern: Pattern<'p>, parsed: Option<&Hir>) -> Self {
        let reduced = parsed.and_then(reduce);
        let bytes = reduced.as_ref().and_then(|reduced| required_bytes(&reduced.hir)).unwrap_or(ByteMask::ALL);
        let gated = parsed.and_then(|parsed| Gated::new(id, parsed, reduced.as_ref()));
        Self { pattern, reduced, bytes, gated }
    }

    /// Whether few texts have one of its literals.
    pub(super) fn is_rare(&self) -> bool {
        self.gated.as_ref().is_some_and(|gated| gated.rare)
    }
}
