//! A reverse proxy with celero policies, on Pingora. `celero-proxy` is its command; `docs/proxy.md` describes its configuration.

mod access_log;
mod admin;
mod bound;
pub mod config;
mod demo;
mod entry;
mod error;
mod generation;
mod health;
pub mod logger;
mod metrics;
mod proxy;
mod route;
mod service;
mod state;
mod upstream;
mod watch;

pub use error::Error;
pub use pingora::server::{ShutdownSignal, ShutdownSignalWatch, UnixShutdownSignalWatch};
pub use proxy::{Handle, Proxy};
