//! Tests of celero-protovalidate.

mod conformance;
mod functions;
mod messages;
mod presence;
mod standard;
mod support;
