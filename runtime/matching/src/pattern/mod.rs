//! Single patterns (regular expressions): the limits they are compiled within, the cheapest engine
//! for each, and what can be said of a pattern without running it.
//!
//! A pattern on text is written in a [`Dialect`]: that of the [`regex`] crate, or RE2's. Every
//! engine returns what [`regex::Regex::is_match`] returns, or Go's `Regexp.MatchString`; for
//! patterns on bytes ([`ByteRegex`], [`ByteMatcher`]), which are in the dialect of the `regex`
//! crate, what [`regex::bytes::Regex::is_match`] returns with Unicode switched off.

mod analysis;
mod cache;
mod compile;
mod search;
mod syntax;

#[cfg(test)]
mod byte_tests;
#[cfg(test)]
mod interleaved_tests;
#[cfg(test)]
mod metered_tests;
#[cfg(test)]
mod random_patterns;
#[cfg(test)]
mod tests;

pub use analysis::required::{
    Literals, RequiredLiterals, SHORTEST_SUBSTRING, quick_required_literals, required_literals,
};
pub use analysis::{Analysis, TextTest, analyze};
pub use cache::{PatternCache, Plan, Strategy};
pub use compile::{compile, compile_bytes_metered, compile_metered};
pub use search::ascii_regex::AsciiRegex;
pub use search::byte_matcher::ByteMatcher;
pub use search::byte_regex::ByteRegex;
pub use search::lazy::LazyMatcher;
pub use search::matcher::{Matcher, OverBudget, Undecided};
pub use search::meter::{Meter, Unmetered};
pub use search::metered_regex::{Groups, MeteredRegex};
pub use syntax::constant::byte_constant;
pub use syntax::dialect::{Dialect, Pattern};
pub use syntax::folding::{byte_folding_steps, check_cases, folding_steps, may_ignore_case};
pub use syntax::limits::{MAX_BYTE_PROGRAM_BYTES, MAX_NESTING, MAX_PATTERN_BYTES, MAX_PROGRAM_BYTES, PatternError};
pub use syntax::on_text::{OnText, on_text};
pub use syntax::parsed::{ParsedPattern, is_same_in_dialects};
pub use syntax::syntax_error::SyntaxError;

pub(crate) use analysis::program_states;
pub(crate) use analysis::reach::{Near, Parts, Reach};
pub(crate) use analysis::required::{RatedLiterals, rated_literals};
pub(crate) use analysis::small_alphabet::{Reduced, is_left_out, reduce};
pub(crate) use search::interleaved::Interleaved;
pub(crate) use syntax::limits::PROGRAM_BYTES_PER_STEP;
pub(crate) use syntax::parse::parse;
