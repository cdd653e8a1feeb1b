//! A request on its way through the proxy.

pub(crate) mod content_clock;
pub(crate) mod failure;
pub(crate) mod log_entry;
pub(crate) mod retry;
pub(crate) mod service;
pub(crate) mod span;
pub(crate) mod state;
pub(crate) mod static_answer;
pub(crate) mod status_class;
