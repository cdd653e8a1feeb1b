//! Tasks that run beside the requests.

pub(crate) mod file_watcher;
pub(crate) mod generation_tasks;
pub(crate) mod health;
pub(crate) mod key_service;
pub(crate) mod list_fetch;
pub(crate) mod metric_export;
