//! URIs and references by RFC 3986, with zones of addresses by RFC 6874.

use super::ip;

/// Whether text is a URI: a scheme, a colon, a hierarchical part, perhaps a query and a fragment.
pub(crate) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme)
        && is_after_scheme(rest, false)
}

/// Whether text is a URI or a reference relative to one.
pub(crate) fn is_reference(text: &str) -> bool {
    is_uri(text) || is_after_scheme(text, true)
}

/// `//authority/path?query#fragment`, or without an authority. The first segment of a relative path has no colon.
fn is_after_scheme(text: &str, relative: bool) -> bool {
    let (text, fragment) = split(text, '#');
    let (text, query) = split(text, '?');
    let is_tail = |tail: Option<&str>| tail.is_none_or(|tail| is_text(tail, b":@/?"));
    if !is_tail(query) || !is_tail(fragment) {
        return false;
    }
    let Some(rest) = text.strip_prefix("//") else {
        let first = text.split('/').next().unwrap_or_default();
        return is_text(text, b":@/") && !(relative && first.contains(':'));
    };
    let (authority, path) = rest.split_at_checked(rest.find('/').unwrap_or(rest.len())).unwrap_or((rest, ""));
    is_authority(authority) && is_text(path, b":@/")
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(text, after)| (text, Some(after)))
}

/// `user@host:port`.
fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').map_or((None, text), |(user, host)| (Some(user), host));
    if user.is_some_and(|user| !is_text(user, b":")) {
        return false;
    }
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(rest) = host.strip_prefix('[') {
        let Some((literal, after)) = rest.split_once(']') else { return false };
        return is_literal(literal) && (after.is_empty() || after.strip_prefix(':').is_some_and(is_port));
    }
    let (host, port) = split(host, ':');
    // A name has its bytes percent-encoded, and they are UTF-8.
    is_text(host, b"") && decodes_to_text(host) && port.is_none_or(is_port)
}

/// What is in brackets: an IPv6 address, perhaps with `%25` and a zone, or an address of a future version.
fn is_literal(text: &str) -> bool {
    if let Some(future) = text.strip_prefix(['v', 'V']) {
        let Some((version, address)) = future.split_once('.') else { return false };
        let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_hexdigit());
        return is_version && !address.is_empty() && !address.contains('%') && is_text(address, b":");
    }
    match text.split_once('%') {
        None => ip::v6(text).is_some(),
        Some((address, zone)) => {
            let zone = zone.strip_prefix("25").filter(|zone| !zone.is_empty());
            ip::v6(address).is_some() && zone.is_some_and(|zone| is_unreserved(zone) && decodes_to_text(zone))
        }
    }
}

/// Whether text has unreserved characters, sub-delimiters, percent-encoded bytes and these others only.
fn is_text(text: &str, others: &[u8]) -> bool {
    is_made_of(text, |byte| b"-._~!$&'()*+,;=".contains(&byte) || others.contains(&byte))
}

fn is_unreserved(text: &str) -> bool {
    is_made_of(text, |byte| b"-._~".contains(&byte))
}

fn is_made_of(text: &str, is_other: impl Fn(u8) -> bool) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_allowed = match byte {
            b'%' => {
                [bytes.next(), bytes.next()].iter().all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit()))
            }
            byte => byte.is_ascii_alphanumeric() || is_other(byte),
        };
        if !is_allowed {
            return false;
        }
    }
    true
}

/// Whether the bytes that text stands for are UTF-8. The text is well-formed.
fn decodes_to_text(text: &str) -> bool {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16)).unwrap_or(0);
                let (high, low) = (digit(bytes.next()), digit(bytes.next()));
                u8::try_from(high << 4 | low).unwrap_or(0)
            }
            byte => byte,
        });
    }
    std::str::from_utf8(&decoded).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_have_schemes() {
        for uri in [
            "https://example.com",
            "a:",
            "a://",
            "mailto:a@b",
            "urn:x:y",
            "https://u:p@[::1]:80/a;b?c=d#e",
            "https://[v1.a:b]",
            "https://[fe80::1%25en0]/",
            "a+b-c.1:/x//y",
            "https://%C3%A9.com:/",
        ] {
            assert!(is_uri(uri) && is_reference(uri), "{uri}");
        }
        for other in ["", "//a", "1a:b", "a b:c", "a://b c", "a:%", "a:%g0", "a://[::1", "a://[x]", "a://b:x", "a:#a#b"]
        {
            assert!(!is_uri(other), "{other}");
        }
        assert!(!is_uri("https://%ff.com") && !is_uri("https://[::1%25]") && !is_uri("https://[::1%en0]"));
    }

    #[test]
    fn references_may_be_relative() {
        for reference in ["", "//a", "/a", "./a:b", "a/b:c", "?q", "#f", "a?b#c"] {
            assert!(is_reference(reference), "{reference}");
        }
        for other in [":a", "a b", "%", "1:b", "//[", "/a^"] {
            assert!(!is_reference(other), "{other}");
        }
    }
}
