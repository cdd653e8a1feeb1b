//! Tests of Cloudflare's filter language: file tests, values and hosts as data, and what holds of every rule.
//!
//! [`evaluate_other_tier`] is the only place that knows whether there is a tier beside the
//! interpreter. The file tests, the random rules and the collected rules all compare with it.

mod data;
pub mod file_test;
mod functions;
mod host;
mod native;
mod round_trip;
mod tiers;

pub use data::{show, value};
pub use host::{HostFunction, Values, bindings};
pub use native::{evaluate_other_tier, filter_value};
pub use round_trip::round_trip;
pub use tiers::{Outcome, interpret};
