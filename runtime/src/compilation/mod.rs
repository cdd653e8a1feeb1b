//! What compilations have in common: threads, cancellation, names for profilers, spans for subscribers.

pub(crate) mod cancellation;
pub(crate) mod parallel;
pub(crate) mod profile;
pub(crate) mod spans;
