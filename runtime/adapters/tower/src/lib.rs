//! celero policies for [tower] services: hyper, axum, tonic.
//!
//! [`PolicyLayer`] puts a policy around a service: it looks at requests before the service does, and at the service's responses before
//! the client does. Where the policy answers itself, the service is not called.
//!
//! ```no_run
//! use celero_policy::LivePolicy;
//! use celero_tower::PolicyLayer;
//! use std::sync::Arc;
//!
//! let policy = Arc::new(LivePolicy::load("policy.yaml".as_ref())?);
//! let layer = PolicyLayer::new(policy).on_log(|fields| println!("{fields}"));
//! // axum: Router::new().route(..).layer(layer), tonic: Server::builder().layer(layer), tower: ServiceBuilder::new().layer(layer)
//! # drop(layer);
//! # Ok::<(), celero_policy::PolicyError>(())
//! ```
//!
//! All phases of a request see one generation of the policy; a reload of the [`LivePolicy`](celero_policy::LivePolicy) counts for the
//! requests that come after it.
//!
//! [tower]: https://docs.rs/tower

mod body;
mod future;
mod layer;
mod logged;

pub use body::{RequestBody, ResponseBody};
pub use layer::{PolicyLayer, PolicyService};
