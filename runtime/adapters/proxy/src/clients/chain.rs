//! The hops between a client and the proxy, read from the connection towards the client.

use super::Malformed;
use std::net::{IpAddr, SocketAddr};

/// The hops that trusted proxies name: the client first, the hop that the peer names last. Empty:
/// the peer is the client.
pub(super) type Hops<T> = Vec<(SocketAddr, T)>;

/// Follows the elements of a header, the last one first, while the hop that wrote them is trusted.
/// What is left of the first hop that is not trusted may be written by anybody, and is not even
/// read.
///
/// # Errors
/// An element that a trusted hop wrote is no address: then nobody knows who the client is.
pub(super) fn follow<T>(
    peer: IpAddr,
    elements: impl DoubleEndedIterator<Item = T>,
    address: impl Fn(&T) -> Option<SocketAddr>,
    is_trusted: impl Fn(IpAddr) -> bool,
) -> Result<Hops<T>, Malformed> {
    let mut hops = Vec::new();
    let mut writer = peer;
    for element in elements.rev() {
        if !is_trusted(writer) {
            break;
        }
        let hop = address(&element).ok_or(Malformed)?;
        writer = hop.ip();
        hops.push((hop, element));
    }
    hops.reverse();
    Ok(hops)
}

#[cfg(test)]
mod tests {
    use super::super::address::of_list;
    use super::*;

    fn clients(peer: &str, list: &str) -> Result<Vec<String>, Malformed> {
        let trusted = |address: IpAddr| address.to_string().starts_with("10.");
        let hops = follow(peer.parse().unwrap(), list.split(','), |text| of_list(text.trim()), trusted)?;
        Ok(hops.into_iter().map(|(hop, _)| hop.ip().to_string()).collect())
    }

    #[test]
    fn trusted_hops_are_followed() {
        assert_eq!(clients("10.0.0.1", "192.0.2.1"), Ok(vec!["192.0.2.1".into()]));
        assert_eq!(clients("10.0.0.1", "192.0.2.1, 10.0.0.2"), Ok(vec!["192.0.2.1".into(), "10.0.0.2".into()]));
        assert_eq!(clients("10.0.0.1", "10.0.0.3, 10.0.0.2"), Ok(vec!["10.0.0.3".into(), "10.0.0.2".into()]));
        // What the client itself wrote is not read.
        for spoofed in ["10.9.9.9", "127.0.0.1", "garbage", "unknown", "", "192.0.2.9, 10.0.0.2"] {
            assert_eq!(
                clients("10.0.0.1", &format!("{spoofed}, 192.0.2.1")),
                Ok(vec!["192.0.2.1".into()]),
                "{spoofed}"
            );
        }
        assert_eq!(clients("192.0.2.5", "10.9.9.9"), Ok(vec![]));
        for malformed in ["garbage", "192.0.2.1, unknown", "192.0.2.1, 10.0.0.2, _x", "x, 10.0.0.2"] {
            assert_eq!(clients("10.0.0.1", malformed), Err(Malformed), "{malformed}");
        }
    }
}
