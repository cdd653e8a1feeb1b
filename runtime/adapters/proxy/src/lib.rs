//! A reverse proxy with celero policies, on Pingora. `docs/proxy.md` is the guide,
//! `docs/proxy-reference.md` the reference.
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
//! Start at `proxy.rs` (the services), `request/service.rs` (the phases of a request) and
//! `generation/mod.rs` (what can change while it runs).
//!
//! # Rooms
//!
//! The folders of the source. Each uses only those above it.
//!
//! | folder | what is there |
//! |---|---|
//! | `config/` | the configuration: its keys, and its values, checked |
//! | `clients/` | who sent a request, and what servers are told about it |
//! | `tls/` | certificates, and what is accepted of the other side |
//! | `process/` | sockets, signals, the service manager, the change to a new process |
//! | `export/` | what is sent to collectors |
//! | `lists/` | changes of lists while the proxy runs, and copies of documents |
//! | `logs/` | the access log, and recorded requests |
//! | `metrics/` | what is counted, and the formats |
//! | `rate_limits/` | services that count limits |
//! | `upstreams/` | servers: which one a request gets, and how many requests each gets |
//! | `generation/` | everything that a reload replaces, and its check |
//! | `replay/` | recorded requests, tried with a configuration |
//! | `listener/` | connections of clients, with deadlines and bounds |
//! | `admin/` | the listener for operators |
//! | `request/` | a request on its way |
//! | `background/` | tasks beside the requests: reloads, health checks, fetches |

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
