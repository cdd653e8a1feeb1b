//! What the proxy asks of the operating system and of the service manager.

pub(crate) mod bound_service;
pub(crate) mod file_limit;
pub(crate) mod hand_over;
pub(crate) mod service_manager;
pub(crate) mod signals;
