//! Graphs that are built by hand, compiled, and run with the helpers of a test runtime.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::string_slice,
    reason = "tests fail by panicking"
)]

mod absent;
mod accessors;
mod arith;
mod budget;
mod coalesce;
mod common;
mod entries;
mod host;
mod limits;
mod logic;
mod memory;
mod runtime;
mod seq;
mod template;
mod text;
mod times;
mod values;
