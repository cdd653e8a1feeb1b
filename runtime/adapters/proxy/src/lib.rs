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
//! Start at `proxy.rs` (the services), `service.rs` (the phases of a request) and `generation.rs` (what can change while it runs).

mod admin;
mod admin_lists;
mod admin_page;
mod admission;
mod all_metrics;
mod array_lines;
mod bound_service;
mod brief_entry;
mod check;
mod clients;
mod collector;
pub mod config;
mod content_clock;
mod demo;
mod error;
mod event_history;
mod failure;
mod file_limit;
mod file_stamps;
mod file_watcher;
mod generation;
mod generation_tasks;
mod hand_over;
mod health;
mod hex;
mod histogram;
mod http_client;
mod key_service;
mod latency;
mod line_log;
mod list_control;
mod list_copies;
mod list_fetch;
mod list_metrics;
mod listener;
mod log_entry;
pub mod logger;
mod metric_export;
mod metric_format;
mod metric_sink;
mod metrics;
mod mirror;
mod otlp_metrics;
mod process_metrics;
mod prometheus_protobuf;
mod prometheus_text;
mod proxy;
mod rate_limits;
mod recorder;
pub mod replay;
mod request_state;
mod retry;
mod retry_budget;
mod routing;
mod server_connections;
mod servers;
mod service;
mod service_manager;
mod settings;
mod shutdown;
mod signals;
mod span;
mod span_export;
mod state;
mod static_answer;
mod status_class;
mod tls;
mod upstream;

pub use error::Error;
pub use pingora::server::{ShutdownSignal, ShutdownSignalWatch};
pub use proxy::{Handle, Proxy};
pub use signals::ShutdownSignals;
