//! Logs and records of requests, written as lines or kept in memory.

pub(crate) mod brief_entry;
pub(crate) mod event_history;
pub(crate) mod line_log;
pub mod logger;
pub(crate) mod recorder;
