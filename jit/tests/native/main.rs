//! Graphs built by hand, compiled and run with helpers of the tests' own.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::string_slice,
    reason = "tests fail by panicking"
)]

mod arith;
mod budget;
mod coalesce;
mod common;
mod host;
mod limits;
mod logic;
mod memory;
mod shape;
mod text;
mod values;
