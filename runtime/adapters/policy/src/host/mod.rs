//! What a policy and its host give each other.

pub(crate) mod body_edit;
pub(crate) mod delay;
pub(crate) mod edits;
pub(crate) mod environment;
pub(crate) mod expectation;
pub(crate) mod failure_log;
pub(crate) mod grpc;
pub(crate) mod outcome;
pub(crate) mod target_edits;
pub(crate) mod tls_hello;
pub mod typed_json;
pub(crate) mod values;
