//! What is sent to collectors of OpenTelemetry.

pub(crate) mod collector;
pub(crate) mod spans;
