//! Single patterns (regular expressions): the limits they are compiled within, the cheapest engine for each, and what can be
//! said of a pattern without running it.
//!
//! A pattern on text is written in a [`Dialect`]: that of the [`regex`] crate, or RE2's. Every engine returns what [`regex::Regex::is_match`]
//! returns, or Go's `Regexp.MatchString`; for patterns on bytes ([`ByteRegex`], [`ByteMatcher`]), which are in the dialect of the `regex` crate, what
//! [`regex::bytes::Regex::is_match`] returns with Unicode switched off.

mod analysis;
mod anchored_dfa;
mod ascii_regex;
mod byte_matcher;
mod byte_regex;
mod cache;
mod compile;
mod constant;
mod dfa_search;
mod dialect;
mod engine;
mod folding;
mod groups;
mod interleaved;
mod lazy;
mod lazy_dfa;
mod leftmost;
mod limits;
mod matcher;
mod meter;
mod metered_regex;
mod parse;
mod parsed;
mod re2;
mod reach;
mod required;
mod small_alphabet;
mod syntax_error;

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

pub use analysis::{Analysis, TextTest, analyze};
pub use ascii_regex::AsciiRegex;
pub use byte_matcher::ByteMatcher;
pub use byte_regex::ByteRegex;
pub use cache::{PatternCache, Plan, Strategy};
pub use compile::{compile, compile_bytes_metered, compile_metered};
pub use constant::byte_constant;
pub use dialect::{Dialect, Pattern};
pub use folding::{byte_folding_steps, check_cases, folding_steps, may_ignore_case};
pub use lazy::LazyMatcher;
pub use limits::{MAX_BYTE_PROGRAM_BYTES, MAX_NESTING, MAX_PATTERN_BYTES, MAX_PROGRAM_BYTES, PatternError};
pub use matcher::{Matcher, OverBudget, Undecided};
pub use meter::{Meter, Unmetered};
pub use metered_regex::{Groups, MeteredRegex};
pub use parsed::{ParsedPattern, is_same_in_dialects};
pub use required::{Literals, RequiredLiterals, SHORTEST_SUBSTRING, required_literals};
pub use syntax_error::SyntaxError;

pub(crate) use analysis::program_states;
pub(crate) use interleaved::Interleaved;
pub(crate) use limits::PROGRAM_BYTES_PER_STEP;
pub(crate) use parse::parse;
pub(crate) use reach::{Near, Parts, Reach};
pub(crate) use required::{RatedLiterals, rated_literals};
pub(crate) use small_alphabet::{Reduced, is_left_out, reduce};
