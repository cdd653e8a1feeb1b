//! Machinery of the tests: random programs and the comparison of several ways to run them, the reader and runner of the
//! conformance suite, the file tests, and the way to shared test data.

#![expect(clippy::arithmetic_side_effects, reason = "small counts of this code's own making")]

pub mod conformance;
pub mod differential;
pub mod filetest;
pub mod filter;
pub mod filter_differential;
pub mod fuzz;
pub mod generate;
pub mod heap;
pub mod messages;
mod protovalidate;
pub mod rule_shapes;
pub mod shape;
pub mod shared;

/// The Rust on the pages, run as it stands.
#[cfg(doctest)]
pub mod pages {
    #[doc = include_str!("../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../docs/embedding.md")]
    pub struct Embedding;
    #[doc = include_str!("../../docs/filter-language.md")]
    pub struct FilterLanguage;
    #[doc = include_str!("../../docs/lists.md")]
    pub struct Lists;
    #[doc = include_str!("../../docs/migration/cel-crate.md")]
    pub struct CelCrate;
    #[doc = include_str!("../../docs/migration/wirefilter.md")]
    pub struct Wirefilter;
}
