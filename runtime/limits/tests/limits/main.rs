//! Tests of limits against other limiters, models, threads and floods.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "tests")]

mod flood;
mod governor;
mod model;
mod reservations;
mod threads;
