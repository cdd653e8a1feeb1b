//! Addresses as proxies write them.

use super::canonical;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Reads an element of `x-forwarded-for`: an IP address, with a port or without. IPv6 addresses may
/// be in brackets, and must be with a port.
pub(super) fn of_list(text: &str) -> Option<SocketAddr> {
    // `SocketAddr` takes zones, which mean nothing on another machine.
    if text.contains('%') {
        return None;
    }
    let alone = || text.parse().ok().or_else(|| in_brackets(text).map(IpAddr::V6)).map(|ip| SocketAddr::new(ip, 0));
    text.parse().ok().or_else(alone).map(canonical)
}

/// Reads a node of `Forwarded` (RFC 7239, section 6) that is an IP address. Returns `None` for
/// `unknown` and obfuscated identifiers too.
pub(super) fn of_node(text: &str) -> Option<SocketAddr> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (IpAddr::V6(v6(host)?), rest),
        None => {
            let (host, rest) = text.split_at_checked(text.find(':').unwrap_or(text.len()))?;
            (IpAddr::V4(host.parse().ok()?), rest)
        }
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => 0,
        None => return None,
        Some(hidden) if is_hidden(hidden) => 0,
        Some(digits) if (1..=5).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok()?
        }
        Some(_) => return None,
    };
    Some(canonical(SocketAddr::new(host, port)))
}

/// Returns whether a text is an obfuscated identifier (RFC 7239, section 6.3).
fn is_hidden(text: &str) -> bool {
    let rest = text.strip_prefix('_').unwrap_or_default();
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

fn in_brackets(text: &str) -> Option<Ipv6Addr> {
    v6(text.strip_prefix('[')?.strip_suffix(']')?)
}

fn v6(text: &str) -> Option<Ipv6Addr> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_lists_are_addresses() {
        for (text, expected) in [
            ("192.0.2.1", "192.0.2.1:0"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("2001:DB8::1", "[2001:db8::1]:0"),
            ("[2001:db8::1]", "[2001:db8::1]:0"),
            ("[2001:db8::1]:4711", "[2001:db8::1]:4711"),
            ("::ffff:192.0.2.1", "192.0.2.1:0"),
        ] {
            assert_eq!(of_list(text).map(|address| address.to_string()).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "unknown",
            "_hidden",
            "192.0.2",
            "192.0.2.1:",
            "192.0.2.1:65536",
            "192.0.2.1:-1",
            "010.0.0.1",
            "0x7f.1",
            "127.1",
            "localhost",
            "fe80::1%eth0",
            "[fe80::1%1]:80",
            "[2001:db8::1",
            "2001:db8::1]",
            "[192.0.2.1]",
            "192.0.2.1 192.0.2.2",
            "\"192.0.2.1\"",
            "::1::",
        ] {
            assert_eq!(of_list(text), None, "{text}");
        }
    }

    #[test]
    fn nodes_are_addresses_or_hidden() {
        for (text, expected) in [
            ("192.0.2.1", "192.0.2.1:0"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("192.0.2.1:_port", "192.0.2.1:0"),
            ("[2001:db8::1]", "[2001:db8::1]:0"),
            ("[2001:db8::1]:4711", "[2001:db8::1]:4711"),
            ("[::ffff:192.0.2.1]", "192.0.2.1:0"),
        ] {
            assert_eq!(of_node(text).map(|address| address.to_string()).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "unknown",
            "_hidden",
            "_",
            "2001:db8::1",
            "192.0.2.1:",
            "192.0.2.1:123456",
            "192.0.2.1:+8",
            "192.0.2.1:_",
            "[2001:db8::1]80",
            "[192.0.2.1]",
            "[fe80::1%1]",
            "a.example",
        ] {
            assert_eq!(of_node(text), None, "{text}");
        }
    }
}
