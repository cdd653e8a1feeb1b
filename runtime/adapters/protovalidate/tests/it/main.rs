//! Tests of celero-protovalidate.

mod conformance;
mod functions;
mod messages;
