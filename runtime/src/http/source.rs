//! The peer's address as the data of rules.

use celero_derive::Context;
use std::net::SocketAddr;

/// Where a request came from: `address`, the text of the IP address, and `port`, an `int` as
/// gateways declare it. Both are absent when that is not known.
///
/// A host that always knows the address declares a field of type [`SocketAddr`] or
/// [`IpAddr`](std::net::IpAddr) instead.
#[derive(Clone, Copy, Debug, Default, Context)]
#[context(crate = "crate")]
pub struct Source {
    #[context(flatten)]
    peer: Option<SocketAddr>,
}

impl From<SocketAddr> for Source {
    #[inline]
    fn from(peer: SocketAddr) -> Self {
        Self { peer: Some(peer) }
    }
}
