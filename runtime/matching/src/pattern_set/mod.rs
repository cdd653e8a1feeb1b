//! Many patterns asked about one text: patterns merged into tables of states, one pass over the text for each table.

mod explore;
mod merge;
mod product;
mod required_bytes;
mod set;
mod table;
mod typical_texts;

#[cfg(test)]
mod tests;

pub use set::{PatternMatch, PatternSet};
