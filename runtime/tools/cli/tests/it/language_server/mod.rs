//! The language server, through its protocol.

#![expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "tests")]

mod client;
mod diagnostics;
mod features;
mod life_cycle;
