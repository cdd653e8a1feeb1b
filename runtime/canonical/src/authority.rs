//! Hosts and ports: the authority of a target, and the value of `Host`.

use http::HeaderValue;
use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The longest name of a host, in bytes (RFC 1035, section 2.3.4).
const LONGEST_NAME: usize = 253;

/// A host and a port in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority<'a> {
    host: Cow<'a, str>,
    port: Option<u16>,
    /// Whether the text differs from what was parsed.
    changed: bool,
}

impl<'a> Authority<'a> {
    /// Reads an authority without user information: `host`, `host:`, `host:port`, `[v6]:port`.
    /// Returns `None` if it is not valid:
    ///
    /// - A name has letters, digits, `-`, `_` and single dots between them, and at most 253 bytes.
    ///   Other characters are refused, raw or percent-encoded; names in other scripts are sent as
    ///   A-labels (`xn--..`, RFC 5890), which stay as they are.
    /// - If the last label is a number, the host must be an IPv4 address of four decimal numbers,
    ///   because some resolvers take `127.1` or `0x7f000001` for an address.
    /// - In brackets is an IPv6 address without a zone.
    /// - A port is a number from 1 to 65535.
    #[must_use]
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']')?;
                (host_of_v6(address)?, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host_of_name(host)?, Some(port)),
                None => (host_of_name(text)?, None),
            },
        };
        let number = match port {
            None | Some("") => None,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(port.parse().ok().filter(|port: &u16| *port != 0)?)
            }
            Some(_) => return None,
        };
        let kept = match (port, number) {
            (None, _) => true,
            (Some(port), _) => !port.is_empty() && !port.starts_with('0'),
        };
        let changed = !kept || matches!(host, Cow::Owned(_)) || host.len() < host_length(text, port);
        Some(Self { host, port: number, changed })
    }

    /// Returns the host: a name in lower case without a dot at its end, an IPv4 address, or an IPv6
    /// address in brackets as RFC 5952 writes it.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port, if there is one.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns the canonical text, or `None` if it is the text that was parsed.
    #[must_use]
    pub fn changed(&self) -> Option<String> {
        self.changed.then(|| match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone().into_owned(),
        })
    }
}

/// The length of the host in `text`.
fn host_length(text: &str, port: Option<&str>) -> usize {
    text.len().saturating_sub(port.map_or(0, |port| port.len().saturating_add(1)))
}

fn host_of_v6(text: &str) -> Option<Cow<'static, str>> {
    let address: Ipv6Addr = text.parse().ok()?;
    Some(Cow::Owned(format!("[{address}]")))
}

fn host_of_name(text: &str) -> Option<Cow<'_, str>> {
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.is_empty() || name.len() > LONGEST_NAME {
        return None;
    }
    let (mut upper, mut before, mut last_label) = (false, b'.', 0_usize);
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'.' if before == b'.' => return None,
            b'.' => last_label = at.saturating_add(1),
            b'A'..=b'Z' => upper = true,
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => {}
            _ => return None,
        }
        before = byte;
    }
    let last = name.get(last_label..)?;
    if last.is_empty() || (is_number(last) && name.parse::<Ipv4Addr>().is_err()) {
        return None;
    }
    Some(if upper { Cow::Owned(name.to_ascii_lowercase()) } else { Cow::Borrowed(name) })
}

/// Whether resolvers may take the last label of a name for a number, and so the name for an address.
fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// Returns the canonical form of a value of `Host`; `None` if it names no host. See [`Authority::parse`].
///
/// ```
/// assert_eq!(celero_canonical::canonical_host(b"A.Example.:080").unwrap(), "a.example:80");
/// assert_eq!(celero_canonical::canonical_host(b"user@a.example"), None);
/// ```
#[must_use]
pub fn canonical_host(text: &[u8]) -> Option<HeaderValue> {
    match Authority::parse(text)?.changed() {
        Some(changed) => HeaderValue::try_from(changed).ok(),
        None => HeaderValue::from_bytes(text).ok(),
    }
}

/// Splits an authority that was not checked: the host without user information, port and one dot at
/// its end, and the port if it is a number. For hosts that don't refuse requests; lower case is up
/// to the caller.
///
/// ```
/// assert_eq!(celero_canonical::split_authority("a.example.:80"), ("a.example", Some(80)));
/// assert_eq!(celero_canonical::split_authority("[::1]:80"), ("[::1]", Some(80)));
/// assert_eq!(celero_canonical::split_authority("a.example:x"), ("a.example", None));
/// ```
#[must_use]
pub fn split_authority(text: &str) -> (&str, Option<u16>) {
    let text = text.rsplit_once('@').map_or(text, |(_, rest)| rest);
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
        _ => (text, None),
    };
    (host.strip_suffix('.').unwrap_or(host), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_host_are_one() {
        for (text, host, port, changed) in [
            ("a.example", "a.example", None, None),
            ("a.example:8080", "a.example", Some(8080), None),
            ("A.Example", "a.example", None, Some("a.example")),
            ("a.example.", "a.example", None, Some("a.example")),
            ("a.example.:80", "a.example", Some(80), Some("a.example:80")),
            ("a.example:", "a.example", None, Some("a.example")),
            ("a.example:0080", "a.example", Some(80), Some("a.example:80")),
            ("xn--bcher-kva.example", "xn--bcher-kva.example", None, None),
            ("my_service", "my_service", None, None),
            ("192.0.2.1:80", "192.0.2.1", Some(80), None),
            ("[::1]", "[::1]", None, Some("[::1]")),
            ("[2001:DB8:0:0::1]:443", "[2001:db8::1]", Some(443), Some("[2001:db8::1]:443")),
            ("a1", "a1", None, None),
            ("0xg", "0xg", None, None),
        ] {
            let authority = Authority::parse(text.as_bytes()).unwrap();
            assert_eq!((authority.host(), authority.port()), (host, port), "{text}");
            assert_eq!(authority.changed().as_deref(), changed, "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_hosts() {
        let long = "a".repeat(254);
        for text in [
            "",
            ".",
            ":80",
            "a..b",
            ".a",
            "a@b",
            "u:p@a",
            "a b",
            "a,b",
            "a/b",
            "a%2eb",
            "b\u{fc}cher.example",
            "a:b",
            "a:80:80",
            "a:-1",
            "a:+80",
            "a:65536",
            "a:0",
            "[::1",
            "::1",
            "[::1]x",
            "[::1]80",
            "[fe80::1%25eth0]",
            "[v1.x]",
            "1.2.3",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0x7f000001",
            "256.1.1.1",
            "1.2.3.4.5",
            "01.2.3.4",
            "a.1",
            "a.0x",
            "a\\b",
            "a#b",
            "a?b",
            "a\u{0}",
            &long,
        ] {
            assert_eq!(Authority::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Authority::parse(b"a\xff"), None);
    }

    #[test]
    fn unchecked_authorities_are_split_too() {
        for (text, expected) in [
            ("", ("", None)),
            ("user@a.example:1", ("a.example", Some(1))),
            ("[::1]", ("[::1]", None)),
            ("[::1", ("[:", Some(1))),
            ("A.example", ("A.example", None)),
            (":80", ("", Some(80))),
            ("a:", ("a", None)),
        ] {
            assert_eq!(split_authority(text), expected, "{text}");
        }
    }
}
