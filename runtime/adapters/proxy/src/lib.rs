//! A reverse proxy with celero policies, on Pingora. `docs/proxy.md` describes its configuration.
//!
//! The command `celero-proxy --config proxy.yaml` runs it. As a library it runs inside another program or a test:
//!
//! ```no_run
//! use celero_proxy::{Proxy, ShutdownSignals};
//!
//! let proxy = Proxy::bind("proxy.yaml".as_ref())?;
//! let signals = ShutdownSignals::new()?;
//! println!("listening on {:?}", proxy.addresses());
//! let handle = proxy.handle(); // `handle.reload()` loads the files again, from any thread
//! proxy.run(Box::new(signals));
//! # drop(handle);
//! # Ok::<(), celero_proxy::Error>(())
//! ```
//!
//! Start at `proxy.rs` (the services), `request/service.rs` (the phases of a request) and `generation/mod.rs` (what can change while it runs).

mod admin;
mod background;
mod clients;
pub mod config;
mod demo;
mod error;
mod export;
mod generation;
mod hex;
mod http_client;
mod listener;
mod lists;
mod logs;
mod metrics;
mod mirror;
mod process;
mod proxy;
mod rate_limits;
pub mod replay;
mod request;
mod shutdown;
mod state;
mod tls;
mod upstreams;

pub use error::Error;
pub use logs::logger;
pub use pingora::server::{ShutdownSignal, ShutdownSignalWatch};
pub use process::signals::ShutdownSignals;
pub use proxy::{Handle, Proxy};
