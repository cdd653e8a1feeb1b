//! Tests of Cloudflare's filter language: file tests, values and hosts as data, and what holds of every rule.
//!
//! [`evaluate_other_tier`] is the only place that knows whether there is a tier beside the interpreter. The file tests, the random
//! rules and the collected rules all compare with it.

mod data;
pub mod file_test;
mod functions;
mod host;
mod native;
mod round_trip;
mod tiers;

pub use data::{bindings, show, value};
pub use host::{HostFunction, Values};
pub use native::filter_value;
pub use round_trip::round_trip;
pub use tiers::{Outcome, evaluate_other_tier, interpret};
