//! The state of limits, and what clients are told about them.

pub(crate) mod headers;
pub(crate) mod remote;
pub(crate) mod request;
pub(crate) mod settings;
pub(crate) mod state;
