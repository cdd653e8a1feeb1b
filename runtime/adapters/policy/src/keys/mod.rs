//! The keys of a policy: names, values and descriptions.

pub(crate) mod answers;
pub(crate) mod auth;
pub(crate) mod environment;
pub(crate) mod error_policy;
pub(crate) mod grpc;
pub(crate) mod limits;
pub(crate) mod lists;
pub(crate) mod policy;
