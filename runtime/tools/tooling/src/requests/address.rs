//! Reads the address of a client.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Reads an address and a port.
///
/// # Errors
/// How to write them.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        let address = text.parse().unwrap_or(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)));
        format!("expected an address and a port, as in `{}`", SocketAddr::new(address, 4711))
    })
}
