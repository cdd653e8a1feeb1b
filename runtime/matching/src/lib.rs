//! Finds which of many keys match a value, in time that hardly depends on the number of keys.

mod ascii;
mod byte_frequency;
mod byte_set;
mod exact;
#[cfg(feature = "http")]
mod headers;
pub mod json_simd;
mod literals;
mod memory_budget;
mod networks;
pub mod pattern;
mod pattern_set;
mod prefixes;
mod ranges;
pub mod search;

#[cfg(test)]
mod testing;

pub use ascii::ascii_str;
pub use byte_set::ByteSet;
pub use exact::ExactMap;
#[cfg(feature = "http")]
pub use headers::{HeaderSet, HeaderSetError};
pub use literals::LiteralMap;
pub use memory_budget::MemoryBudget;
pub use networks::NetworkMap;
pub use pattern::Matcher;
pub use pattern_set::{PatternMatch, PatternSet};
pub use prefixes::{PrefixMap, SuffixMap};
pub use ranges::RangeMap;
pub use search::Searcher;
