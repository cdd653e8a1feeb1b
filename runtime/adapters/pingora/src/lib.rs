//! celero policies in [Pingora] proxies.
//!
//! A [`Guard`] is what one request carries through the phases of [`ProxyHttp`]: the policy that was current when it came, and what
//! the phases so far found out. Put it into your `CTX` and call it from the filters; `examples/guarded.rs` is a whole proxy.
//!
//! | method of `ProxyHttp` | call | then |
//! |---|---|---|
//! | `new_ctx` | [`Guard::new`] | |
//! | `request_filter` | [`Guard::request_filter`] | return what it returns |
//! | `request_body_filter` | [`Guard::request_body_filter`] | |
//! | `response_filter` | [`Guard::response_filter`] | pass its error on |
//! | `fail_to_proxy` | [`Guard::fail_to_proxy`] | if it returns something, return that |
//! | `logging` | [`Guard::log`] | write the fields where you write your log |
//!
//! All phases of a request see one generation of the policy. The request path takes no lock.
//!
//! [Pingora]: https://docs.rs/pingora
//! [`ProxyHttp`]: pingora::proxy::ProxyHttp

mod answer;
mod body;
mod edits;
mod guard;

pub use guard::Guard;
