//! celero policies in [Pingora] proxies.
//!
//! A [`Guard`] is the state of one request in the filters of [`ProxyHttp`]: the policy that was
//! current when the request arrived, and what its phases have done so far. Put it into your `CTX`
//! and call it from the filters; `examples/guarded.rs` is a whole proxy.
//!
//! | method of `ProxyHttp` | call | then |
//! |---|---|---|
//! | `init_downstream_modules` | `modules.add_module` with a [`WithoutChunksBuilder`] | needed for servers of HTTP/2 |
//! | `new_ctx` | [`Guard::new`] | |
//! | `request_filter` | [`Guard::request_filter_until`] | return what it returns |
//! | `upstream_request_filter` | [`Guard::upstream_request_filter`] | |
//! | `request_body_filter` | [`Guard::request_body_filter`] | pass its error on |
//! | `response_filter` | [`Guard::response_filter`] | pass its error on |
//! | `response_body_filter` | [`Guard::response_body_filter`] | |
//! | `response_trailer_filter` | [`Guard::response_trailer_filter`] | |
//! | `error_while_proxy` | [`Guard::error_while_proxy`] | retry only if [`Guard::may_retry`] |
//! | `fail_to_proxy` | [`Guard::fail_to_proxy`] | if it returns something, return that |
//! | `logging` | [`Guard::log`] | write the fields where you write your log |
//!
//! The filters of bodies judge the messages of gRPC streams one at a time: say with
//! [`Guard::with_message_streams`] that you call them. Otherwise streams are buffered whole, and
//! these filters do nothing.
//!
//! The phase `connection` is not that of a request: [`admit_connection`] runs it where sockets are
//! accepted. A host that does not call it should refuse policies that [have such
//! rules](celero_policy::Policy::has_connection_rules).
//!
//! All phases of a request use the same policy. While a response is held back,
//! `request_body_filter` may be called with an empty piece that is not the last one: it is none, so
//! do not count it.
//!
//! ```
//! use celero_pingora::Guard;
//! use celero_policy::Policy;
//! use std::sync::Arc;
//!
//! let policy = Policy::parse("policy.yaml", "request: [{name: closed, deny: 403}]", ".".as_ref())?;
//! let guard = Guard::new(Arc::new(policy)); // in `new_ctx`
//! assert!(guard.answer().is_none());
//! # Ok::<(), celero_policy::PolicyError>(())
//! ```
//!
//! # How to add an adapter for another host
//!
//! This crate is the one to copy; `celero-tower` is an example for hosts that are futures.
//!
//! 1. Create `runtime/adapters/HOST` with a dependency on `celero-policy` only, and add the crate
//!    to `MAY_KNOW` in the test `tidy`, and to `members` in the root `Cargo.toml`.
//! 2. Give each request an [`Exchange`](celero_policy::Exchange) and one `Arc<Policy>` for all its
//!    phases, as `guard.rs` does.
//! 3. Call the phases in the order of [`Policy`](celero_policy::Policy), and apply the edits after
//!    each: [`Edits::apply_to_request`](celero_policy::Edits::apply_to_request) and
//!    [`Edits::apply_to_response`](celero_policy::Edits::apply_to_response). `head.rs` shows how a
//!    host's own type of head is changed; those of `http` need nothing. The first is
//!    [`Policy::request_async`](celero_policy::Policy::request_async), because it may wait for the
//!    verification of a password. It makes the request canonical in place: read target and host
//!    only afterwards. If a [`Decision`](celero_policy::Decision) has a delay, wait before you do
//!    what it says, as long as the client is there: `delay_wait.rs`, `client_gone.rs`.
//! 4. Buffer bodies as [`Policy::request_buffering`](celero_policy::Policy::request_buffering) and
//!    [`Policy::response_buffering`](celero_policy::Policy::response_buffering) say: `body.rs`, `held_response.rs`.
//! 5. Send the answers of the policy, without `content-length` for statuses that have no body: `write_answer.rs`.
//! 6. Test it with a policy that uses all phases, as `proxy/tests/proxy/phases.rs` and `tower/tests/layer/` do.
//!
//! [Pingora]: https://docs.rs/pingora
//! [`ProxyHttp`]: pingora::proxy::ProxyHttp

mod accept_encoding;
mod body;
mod body_clock;
mod client_gone;
mod client_session;
mod coding;
mod compression;
mod compressor;
mod connection;
mod delay_wait;
mod guard;
mod guard_messages;
mod head;
mod held_response;
mod http_1_0;
mod messages;
mod response_framing;
mod response_head_clock;
mod write_answer;

pub use body_clock::{BodyClock, BodyPace};
pub use client_gone::client_gone;
pub use coding::Coding;
pub use compression::Compression;
pub use connection::admit_connection;
pub use guard::{Guard, final_response};
pub use head::PingoraRequestHead;
pub use http_1_0::WithoutChunksBuilder;
pub use response_framing::MAX_INTERIM_RESPONSES;
