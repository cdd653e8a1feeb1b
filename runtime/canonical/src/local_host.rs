//! Which names of hosts only this machine's own clients use.

use std::net::{IpAddr, SocketAddr};

/// Returns whether a request with this `Host` names its server as only the machine's own clients
/// do: by an IP address or as `localhost`, with any port, because one may be forwarded.
///
/// A page in an operator's browser can reach an address of loopback under a name that it chose,
/// which resolves to that address (DNS rebinding), and then read what is there. The browser sends
/// that name.
#[must_use]
pub fn is_local_host(host: &str) -> bool {
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
    fn local_hosts_are_addresses() {
        for (host, is_local) in [
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
            ("[::1", false),
            ("", false),
        ] {
            assert_eq!(is_local_host(host), is_local, "{host}");
        }
    }
}
