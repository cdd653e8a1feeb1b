//! Who sent a request, and what servers are told about it.
//!
//! Anybody can write `x-forwarded-for`. What a header says counts only if a trusted proxy has
//! written it: from the connection on, one hop after the other is believed as long as the one that
//! names it is trusted. Everything else that clients say about themselves is removed before rules
//! read the request, so that rules and servers read the same.

mod address;
mod chain;
mod forwarded;
mod headers;
mod trace;

pub(crate) use headers::{Connection, identify};
pub(crate) use trace::SpanIds;

use celero_policy::RequestOrigin;
use std::net::{IpAddr, SocketAddr};

/// Who sent a request.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// The address of the client. Port 0: unknown.
    pub(crate) address: SocketAddr,
    /// How it was found: [`CONNECTION`], [`PROXY_PROTOCOL`], `x-forwarded-for` or `forwarded`.
    pub(crate) via: &'static str,
    /// The other end of the connection, or what the PROXY protocol says of it.
    pub(crate) peer: SocketAddr,
    /// `https` if the connection has TLS, which may be that of a proxy in front; else `http`.
    pub(crate) scheme: &'static str,
    /// Where the request was received.
    pub(crate) local: Option<SocketAddr>,
    pub(crate) request_id: String,
    pub(crate) trace_id: Option<String>,
    /// The span of the request, if spans are sent.
    pub(crate) span: Option<SpanIds>,
}

impl Client {
    /// Returns whether the client is the other end of the connection; the PROXY protocol names that too.
    pub(crate) fn is_peer(&self) -> bool {
        matches!(self.via, CONNECTION | PROXY_PROTOCOL)
    }

    /// Returns what conditions read of the client.
    pub(crate) fn origin(&self) -> RequestOrigin<'_> {
        RequestOrigin { client: self.address, via: self.via, scheme: self.scheme, local: self.local }
    }

    /// Returns the client as a text, with its port if that is known.
    pub(crate) fn text(&self) -> String {
        match self.address.port() {
            0 => self.address.ip().to_string(),
            _ => self.address.to_string(),
        }
    }
}

/// The client is the other end of the connection.
pub(crate) const CONNECTION: &str = "connection";
/// The PROXY protocol names the client.
pub(crate) const PROXY_PROTOCOL: &str = "proxy-protocol";

/// A trusted proxy sent what can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Returns an address in the form in which it is compared: an IPv4 address in IPv6 notation is the IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Returns whether an address is in one of some networks.
pub(crate) fn is_in(networks: &[ipnet::IpNet], address: IpAddr) -> bool {
    let address = address.to_canonical();
    networks.iter().any(|network| network.contains(&address))
}
