//! What is measured, and the formats in which it leaves the proxy.

pub(crate) mod counters;
pub(crate) mod histogram;
pub(crate) mod latency;
pub(crate) mod lists;
pub(crate) mod otlp;
pub(crate) mod process;
pub(crate) mod prometheus_text;
pub(crate) mod sink;
