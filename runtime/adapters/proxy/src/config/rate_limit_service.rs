//! Services that count limits for many machines: the key `rateLimitServices`.

use super::UpstreamTls;
use super::read::{Reader, number, time};
use celero_policy::yaml::Node;
use std::time::Duration;

/// A service that counts limits for many machines, by the protocol of Envoy's rate limit service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimitService {
    /// The name, which limits of the policy refer to.
    pub name: String,
    /// Host and port.
    pub address: String,
    /// The domain that every question names.
    pub domain: String,
    /// `None`: no TLS.
    pub tls: Option<UpstreamTls>,
    /// The longest time of a call, opening a connection included.
    pub timeout: Duration,
    /// How many calls are open at a time. Further ones are not made.
    pub concurrent: usize,
    /// After how many failures in a row the service is not called for `pause`.
    pub failures: u32,
    /// How long it is not called then.
    pub pause: Duration,
}

impl Reader<'_> {
    pub(super) fn rate_limit_services(&mut self, root: &Node) -> Vec<RateLimitService> {
        let mut found: Vec<RateLimitService> = Vec::new();
        for node in root.get("rateLimitServices").map_or(&[][..], Node::elements) {
            let (Some(name), Some(address), Some(domain)) =
                (node.text_of("name"), node.text_of("address"), node.text_of("domain"))
            else {
                continue;
            };
            if found.iter().any(|known| known.name == name.text) {
                self.error(
                    "config-duplicate",
                    &name,
                    format!("another service is called `{}`", name.text),
                    "give each its own name",
                );
            }
            let authority = address.text.parse::<http::uri::Authority>();
            if !authority.is_ok_and(|authority| authority.port_u16().is_some() && !address.text.contains('@')) {
                let message = format!("`{}` is not a host with a port", address.text);
                self.error("config-address", &address, message, "write a host and a port: `limits.internal:8081`");
            }
            let tls = node.get("tls").and_then(|node| self.upstream_tls(node));
            found.push(RateLimitService {
                name: name.text,
                address: address.text,
                domain: domain.text,
                tls,
                timeout: time(node, "timeout").unwrap_or(Duration::from_millis(50)),
                concurrent: number(node, "concurrent").unwrap_or(100),
                failures: number(node, "failures").unwrap_or(5),
                pause: time(node, "pause").unwrap_or(Duration::from_secs(1)),
            });
        }
        found
    }
}
