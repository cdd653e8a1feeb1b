//! celero policies for [tower] services: hyper, axum, tonic.
//!
//! [`PolicyLayer`] runs a policy around a service: the phases `request` and `requestBody` before
//! it, `response` and `log` after it. If the policy answers a request, the service is not called.
//!
//! ```no_run
//! use celero_policy::LivePolicy;
//! use celero_tower::PolicyLayer;
//! use std::sync::Arc;
//!
//! let policy = Arc::new(LivePolicy::load("policy.yaml")?);
//! let layer = PolicyLayer::new(policy).on_log(|fields| println!("{fields}"));
//! // axum: Router::new().fallback_service(layer.layer(routes)), tonic: Server::builder().layer(layer), tower: ServiceBuilder::new().layer(layer)
//! # drop(layer);
//! # Ok::<(), celero_policy::PolicyError>(())
//! ```
//!
//! Put the layer around a router, not into it: the policy makes the request canonical, and a router
//! that has chosen its route before has read another path than the rules. `axum::Router::layer`
//! runs after the choice, so `/admin/../open` would be routed to `/admin` and judged as `/open`.
//!
//! All phases of a request use the same policy. A reload of the
//! [`LivePolicy`](celero_policy::LivePolicy) applies to later requests. `examples/axum_server.rs`
//! and `examples/tonic_server.rs` at the root of the repository are whole servers.
//!
//! The layer must know the client's address if the policy reads it: the feature `axum` finds it in
//! axum's `ConnectInfo`, and [`PolicyLayer::peer`] sets another way. If it is not found, the layer
//! answers with status 500 and says so, rather than let rules decide without it. The same holds for
//! the address at which a request was received (`destination.address`), which no server records:
//! [`PolicyLayer::local`] tells it. `source.tls` is the request's extension of type
//! [`TlsConnection`](celero_policy::TlsConnection), if the server terminates TLS and inserts it;
//! the client's certificate in it is `clientCert` too.
//!
//! Policies read what the server itself knows of a request, such as a session or a tenant, if they
//! are loaded with a [`Loader`](celero_policy::Loader) and the layer gives the values:
//! [`PolicyLayer::variables`]. [`PolicyLayer::labels`] sets labels.
//!
//! A layer sees requests, not connections. The phase `connection` of a policy belongs to the loop that accepts them:
//! [`PolicyLayer::admits_connections`]. Nor has it a timer, which delays of a policy need: [`PolicyLayer::timer`].
//!
//! [tower]: https://docs.rs/tower

mod body;
mod call;
mod layer;
mod log_on_drop;
mod messages;

pub use body::{RequestBody, ResponseBody};
pub use layer::{PolicyLayer, PolicyService};
pub use messages::CallRefused;
