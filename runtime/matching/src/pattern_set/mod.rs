//! Many patterns asked about one text: one search for the literals that they require, and one pass over the text for each table of states
//! of the others.

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
