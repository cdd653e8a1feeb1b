//! Finds which of many keys match a value, in time that hardly depends on the number of keys.
//!
//! Firewalls, log pipelines and gateways ask such questions all the time: which of 10,000 blocked
//! hosts is this, which of 1,000 signatures occur in this line, which of 100,000 networks contain
//! this address. This crate has one matcher for each kind of question. It knows no rule language
//! and no I/O.
//!
//! Invariant: this crate depends on no other crate of the workspace. Test:
//! `tests/tests/it/tidy/mod.rs::dependencies_point_one_way`.
//!
//! # Which matcher
//!
//! | question | matcher |
//! |---|---|
//! | Is this text a member of a set? | [`ByteSet`] |
//! | Which key equals this text? | [`ExactMap`] |
//! | Which of many texts, stored elsewhere, equals this one? | [`TextIndex`] |
//! | Which keys does this text start with, or end with? | [`PrefixMap`], [`SuffixMap`] |
//! | Which keys occur in this text? | [`LiteralMap`], for up to 64 keys also [`FewLiterals`] |
//! | Which networks contain this address? | [`Networks`] |
//! | Which names, domains and first labels does this host match? | [`Hosts`] |
//! | Which intervals contain this number? | [`RangeMap`] |
//! | Which regular expressions match this text? | [`PatternSet`], with [`pattern::required_literals`] |
//! | Does this regular expression match? | [`Matcher`], of bytes [`pattern::ByteMatcher`] |
//! | Does this one text occur in that one? | [`Searcher`] |
//! | Does this wildcard pattern match? | [`Wildcard`] |
//! | Is this header in a set of names and prefixes? | `HeaderSet` (feature `http`) |
//!
//! # How they work together
//!
//! A matcher is built once from a list of keys, in time about linear in their size. The *id* of a
//! key is its index in that list. A lookup takes a value and returns the id of the matching key, or
//! passes the ids of all matching keys to a closure. Lookups do not allocate, except on the slow
//! paths that the documentation of a matcher names. Matchers never change, so threads can share
//! them.
//!
//! What a key stands for is a list of your own, indexed by id:
//!
//! ```
//! use celero_matching::{LiteralMap, Networks};
//!
//! let networks = Networks::new(&[("192.0.2.0".parse()?, 24), ("198.51.100.0".parse()?, 24)]);
//! let owners = ["documentation", "example"];
//! let signatures = LiteralMap::<true>::new(&["union select", "../", "<script"]).ok_or("more than 4 GiB")?;
//! let names = ["sql", "traversal", "xss"];
//!
//! let mut found = Vec::new();
//! networks.for_each("192.0.2.17".parse()?, |id| found.push(owners[id as usize]));
//! signatures.for_each(b"/search?q=1 UNION SELECT password", |id| found.push(names[id as usize]));
//! assert_eq!(found, ["documentation", "sql"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Letter case
//!
//! The matchers of texts compare bytes. [`ByteSet`], [`ExactMap`], [`TextIndex`] and [`LiteralMap`]
//! have a parameter `IGNORE_CASE`: with `true`, ASCII letters of the value match in either case,
//! and keys must be given in lower case. Other letters have one case.
//!
//! # Untrusted keys and values
//!
//! Neither a key nor a value makes a lookup panic. No value makes a lookup slower than linear in
//! its length for each key. A [`TextIndex`] hashes with random seeds; where keys collide all the
//! same, a set falls back to a binary search. Patterns are compiled within
//! [limits](pattern::MAX_PROGRAM_BYTES) and match in time linear in the text; what many of them may
//! hold together is bounded by a [`MemoryBudget`]. The factor depends on the pattern:
//! [`Matcher::search`] takes a budget of steps, so that no text makes a large pattern run for
//! minutes.
//!
//! # Features
//!
//! - `http`: `HeaderSet`, for the header maps of the `http` crate. Off by default.

mod ascii;
mod byte_frequency;
mod byte_set;
mod exact;
#[cfg(feature = "http")]
mod headers;
mod hosts;
pub mod json_simd;
mod literals;
mod memory_budget;
mod networks;
pub mod pattern;
mod pattern_set;
mod perfect_hash;
mod prefixes;
mod ranges;
pub mod search;
mod text_index;
mod wildcard;

#[cfg(test)]
mod testing;

/// The page of the crate where it is published.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use ascii::ascii_str;
pub use byte_set::ByteSet;
pub use exact::ExactMap;
#[cfg(feature = "http")]
pub use headers::{HeaderSet, HeaderSetError};
pub use hosts::{Hosts, HostsError};
pub use literals::{FewLiterals, LiteralLevel, LiteralMap};
pub use memory_budget::MemoryBudget;
pub use networks::{Networks, SmallestNetwork, SmallestNetworks};
pub use pattern::Matcher;
pub use pattern_set::{PatternMatch, PatternSet};
pub use prefixes::{PrefixMap, SuffixMap};
pub use ranges::RangeMap;
pub use search::Searcher;
pub use text_index::TextIndex;
pub use wildcard::Wildcard;
