//! Requests of the `http` crate as the data of rules, under the names that gateways with CEL already use.
//!
//! [`RequestContext`] has all fields: `request.*` and `source.*`. Hosts with further data use its
//! parts in their own context:
//!
//! ```
//! use celero::Context;
//! use celero::http::Request;
//! use std::net::IpAddr;
//!
//! #[derive(Context)]
//! struct Call<'a> {
//!     #[context(nested)]
//!     request: Request<'a>,
//!     #[context(name = "source.address")]
//!     peer: IpAddr,
//!     #[context(name = "route.name")]
//!     route: &'a str,
//! }
//! ```

mod request;
mod source;
mod target;
mod types;

pub use celero_matching::{HeaderSet, HeaderSetError};
pub use request::{Request, RequestContext, RequestHead};
pub use source::Source;
