//! RE2's syntax, read to the parsed form that all engines take.
//!
//! The parsed form is never written as text again. [`Dialect`](crate::pattern::Dialect) says how
//! the syntax differs from that of the regex crate; the judge is Go's package `regexp`. Reading
//! takes time linear in the pattern, but for classes: each takes time for its ranges and their
//! letter cases.

mod class;
mod cursor;
mod escape;
mod parser;
mod unicode;

#[cfg(test)]
mod differences;
#[cfg(test)]
mod tests;

use crate::pattern::SyntaxError;
use regex_syntax::hir::Hir;

/// Parses a pattern, whose parsed form nests up to `most_nesting` deep. Returns `None` if letter
/// cases take more than `most_steps`.
pub(super) fn parse(pattern: &str, most_nesting: u32, most_steps: usize) -> Result<Option<Hir>, SyntaxError> {
    parser::Parser::new(pattern, most_nesting, false).parse(most_steps).map(|(hir, _)| hir)
}

/// Returns an upper bound of the steps that parsing the pattern takes for letter cases; zero for
/// one that is not valid. Takes time linear in the pattern.
pub(super) fn folding_steps(pattern: &str) -> usize {
    parser::Parser::new(pattern, u32::MAX, true).parse(usize::MAX).map_or(0, |(_, steps)| steps)
}
