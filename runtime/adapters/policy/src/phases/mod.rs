//! Phases: what their expressions read, and how their rules run.

pub(crate) mod context;
pub(crate) mod early;
pub(crate) mod exchange;
pub(crate) mod normalize;
pub(crate) mod phase;
pub(crate) mod rule_counts;
pub(crate) mod tls_connection;
pub(crate) mod watch;
mod watched_rules;
