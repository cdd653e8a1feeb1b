//! What is measured: rules, sets of rules and policies, which of them, and what they read.

pub(crate) mod fingerprint;
pub(crate) mod hosts;
mod language_name;
pub mod plan;
pub mod policies;
pub mod searchers;
pub(crate) mod sizes;
mod subject;

pub(crate) use subject::{Subject, subjects};
