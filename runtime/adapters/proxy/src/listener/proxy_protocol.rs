//! The header of the PROXY protocol, versions 1 and 2, with which a load balancer says whom it connects:
//! <https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt>.

use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The first bytes of version 2.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// The longest header of version 1, with the end of its line (section 2.1).
const LONGEST_LINE: usize = 107;

/// The largest header of version 2 after its first 16 bytes, which are addresses and what else the load balancer says.
const LARGEST_REST: usize = 4096;

/// The two ends of the connection that a load balancer passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) source: SocketAddr,
    pub(super) destination: SocketAddr,
}

/// Reads a header, and no byte that follows it. Returns `None` for `LOCAL` and `UNKNOWN`, which
/// load balancers use in health checks.
///
/// # Errors
/// The connection fails, or does not begin with a header.
pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Result<Option<Ends>> {
    let mut start = [0; SIGNATURE.len()];
    stream.read_exact(&mut start).await?;
    if start == SIGNATURE {
        let mut head = [0; 4];
        stream.read_exact(&mut head).await?;
        let [version, family, high, low] = head;
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length > LARGEST_REST {
            return malformed("it is too long");
        }
        let mut rest = vec![0; length];
        stream.read_exact(&mut rest).await?;
        return match binary(version, family, &rest) {
            Some(ends) => Ok(ends),
            None => malformed("it does not follow version 2"),
        };
    }
    if !start.starts_with(b"PROXY ") {
        return malformed("there is none");
    }
    let mut line = start.to_vec();
    while !line.ends_with(b"\n") {
        if line.len() >= LONGEST_LINE {
            return malformed("its line is too long");
        }
        line.push(stream.read_u8().await?);
    }
    match std::str::from_utf8(&line).ok().and_then(text) {
        Some(ends) => Ok(ends),
        None => malformed("it does not follow version 1"),
    }
}

fn malformed<T>(why: &str) -> Result<T> {
    Err(Error::new(ErrorKind::InvalidData, format!("the header of the PROXY protocol can't be read: {why}")))
}

/// Reads a header of version 1. The outer `None`: it is malformed.
fn text(line: &str) -> Option<Option<Ends>> {
    let rest = line.strip_suffix("\r\n")?.strip_prefix("PROXY ")?;
    if rest == "UNKNOWN" || rest.starts_with("UNKNOWN ") {
        return Some(None);
    }
    let parts: Vec<&str> = rest.split(' ').collect();
    let [family, source, destination, from, to] = *parts.as_slice() else { return None };
    let address = |text: &str| -> Option<IpAddr> {
        match family {
            "TCP4" => Some(IpAddr::V4(text.parse().ok()?)),
            "TCP6" => Some(IpAddr::V6(text.parse().ok()?)),
            _ => None,
        }
    };
    let port = |text: &str| -> Option<u16> {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        text.parse().ok().filter(|_| plain)
    };
    let source = SocketAddr::new(address(source)?, port(from)?);
    Some(Some(Ends { source, destination: SocketAddr::new(address(destination)?, port(to)?) }))
}

/// Reads a header of version 2. The outer `None`: it is malformed, or of a protocol that is not TCP.
fn binary(version: u8, family: u8, rest: &[u8]) -> Option<Option<Ends>> {
    match (version, family) {
        // The load balancer speaks for itself.
        (0x20, _) => return Some(None),
        // Unspecified, and Unix sockets: there is no address.
        (0x21, 0x00 | 0x31) => return Some(None),
        (0x21, 0x11 | 0x21) => {}
        _ => return None,
    }
    let address = |bytes: &[u8]| -> Option<IpAddr> {
        match <[u8; 4]>::try_from(bytes) {
            Ok(four) => Some(IpAddr::from(four)),
            Err(_) => Some(IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        }
    };
    let length = if family == 0x11 { 4 } else { 16 };
    let (source, rest) = rest.split_at_checked(length)?;
    let (destination, rest) = rest.split_at_checked(length)?;
    let &[a, b, c, d, ..] = rest else { return None };
    Some(Some(Ends {
        source: SocketAddr::new(address(source)?, u16::from_be_bytes([a, b])),
        destination: SocketAddr::new(address(destination)?, u16::from_be_bytes([c, d])),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(source: &str, destination: &str) -> Option<Option<Ends>> {
        Some(Some(Ends { source: source.parse().unwrap(), destination: destination.parse().unwrap() }))
    }

    #[test]
    fn lines_are_read() {
        assert_eq!(text("PROXY TCP4 192.0.2.1 10.0.0.1 56324 443\r\n"), ends("192.0.2.1:56324", "10.0.0.1:443"));
        assert_eq!(text("PROXY TCP6 2001:db8::1 ::1 65535 0\r\n"), ends("[2001:db8::1]:65535", "[::1]:0"));
        assert_eq!(text("PROXY UNKNOWN\r\n"), Some(None));
        assert_eq!(text("PROXY UNKNOWN ff::1 ff::1 1 1\r\n"), Some(None));
        for line in [
            "PROXY TCP4 192.0.2.1 10.0.0.1 56324 443\n",
            "PROXY TCP4 192.0.2.1 10.0.0.1 56324\r\n",
            "PROXY TCP4 192.0.2.1 10.0.0.1 56324 443 1\r\n",
            "PROXY TCP4  192.0.2.1 10.0.0.1 56324 443\r\n",
            "PROXY TCP4 2001:db8::1 ::1 1 2\r\n",
            "PROXY TCP6 192.0.2.1 10.0.0.1 1 2\r\n",
            "PROXY TCP4 192.0.2.1 10.0.0.1 +1 2\r\n",
            "PROXY TCP4 192.0.2.1 10.0.0.1 01 2\r\n",
            "PROXY TCP4 192.0.2.1 10.0.0.1 65536 2\r\n",
            "PROXY TCP4 192.0.2.01 10.0.0.1 1 2\r\n",
            "PROXY UDP4 192.0.2.1 10.0.0.1 1 2\r\n",
            "PROXY UNKNOWNX\r\n",
            "proxy TCP4 192.0.2.1 10.0.0.1 1 2\r\n",
        ] {
            assert_eq!(text(line), None, "{line}");
        }
    }

    #[test]
    fn binary_headers_are_read() {
        let v4 = [192, 0, 2, 1, 10, 0, 0, 1, 0xdc, 0x04, 1, 187];
        assert_eq!(binary(0x21, 0x11, &v4), ends("192.0.2.1:56324", "10.0.0.1:443"));
        let more = [&v4[..], &[0x04, 0, 1, 7]].concat();
        assert_eq!(binary(0x21, 0x11, &more), ends("192.0.2.1:56324", "10.0.0.1:443"), "with another part");
        let mut v6 = [0; 36];
        (v6[15], v6[31], v6[33], v6[35]) = (1, 2, 3, 4);
        assert_eq!(binary(0x21, 0x21, &v6), ends("[::1]:3", "[::2]:4"));
        assert_eq!([binary(0x20, 0x11, &[]), binary(0x21, 0x00, &[]), binary(0x21, 0x31, &[0; 216])], [Some(None); 3]);
        for (version, family, length) in
            [(0x21, 0x11, 11), (0x21, 0x21, 35), (0x21, 0x12, 12), (0x22, 0x11, 12), (0x11, 0x11, 12), (0x31, 0x11, 12)]
        {
            assert_eq!(binary(version, family, &v6[..length]), None, "{version:x} {family:x} {length}");
        }
    }
}
