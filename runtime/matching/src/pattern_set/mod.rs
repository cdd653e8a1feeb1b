//! Many patterns asked about one text.
//!
//! A lookup has three steps:
//!
//! 1. Find the required literals (`gate.rs`).
//! 2. Run the tables of states for patterns that require none.
//! 3. Search for the patterns that are left, interleaved (`pattern/search/interleaved.rs`).

mod described;
mod explore;
mod gate;
mod merge;
mod product;
mod required_bytes;
mod required_literals;
mod set;
mod subsets;
mod table;
mod typical_texts;

#[cfg(test)]
mod gate_tests;
#[cfg(test)]
mod near_tests;
#[cfg(test)]
mod product_tests;
#[cfg(test)]
mod subset_tests;
#[cfg(test)]
mod tests;

pub use set::{PatternMatch, PatternSet};
