//! What makes asking many patterns about one text cheap: texts of which each match has one, and patterns that are run
//! together, in one pass over the text.
//!
//! Everything here is about whether a pattern matches somewhere, as [`Matcher`](crate::library::Matcher) says it of
//! text. Nothing here knows rules.

mod alphabet;
mod ascii;
mod bytes_needed;
mod explore;
mod group;
mod part;
mod product;
mod required;
mod table;
mod typical;

#[cfg(test)]
mod tests;

pub(crate) use ascii::AsciiRegex;
pub(crate) use group::{Answer, PatternGroups};
pub(crate) use required::{Literals, Required, required};
