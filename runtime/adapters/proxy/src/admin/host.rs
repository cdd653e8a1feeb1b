//! Which hosts a request for operators may name.

use http::header::HOST;
use http::{HeaderMap, Uri};
use std::net::{IpAddr, SocketAddr};

/// Returns whether a request names this machine as only this machine's own clients do: by an IP address or as `localhost`, with any port, because one
/// may be forwarded. A request without a host, as of HTTP/1.0, does: browsers always send one.
///
/// A page in an operator's browser can reach an address of loopback under a name that it chose, which resolves to that address (DNS rebinding), and then
/// read what is there. The browser sends that name.
pub(crate) fn is_own(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut fields = headers.get_all(HOST).iter();
    let mut targets = uri.authority().into_iter();
    fields.all(|host| host.to_str().is_ok_and(is_own_name)) && targets.all(|authority| is_own_name(authority.as_str()))
}

fn is_own_name(host: &str) -> bool {
    let is_address = |text: &str| text.parse::<IpAddr>().is_ok();
    let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    if host.parse::<SocketAddr>().is_ok() || is_address(host) || in_brackets.is_some_and(is_address) {
        return true;
    }
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    port.bytes().all(|byte| byte.is_ascii_digit()) && (name.eq_ignore_ascii_case("localhost") || is_address(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_hosts_are_addresses() {
        for (host, is_own) in [
            ("127.0.0.1", true),
            ("127.0.0.1:9090", true),
            ("LocalHost:1", true),
            ("localhost", true),
            ("[::1]:80", true),
            ("[::1]", true),
            ("192.0.2.7:", true),
            ("evil.example", false),
            ("evil.example:9090", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example", false),
            ("a@127.0.0.1", false),
            ("localhost:x@evil.example", false),
            ("127.0.0.1:x@evil.example", false),
            ("localhost.", false),
            ("[evil.example]", false),
            ("", false),
        ] {
            assert_eq!(is_own_name(host), is_own, "{host}");
        }
    }
}
