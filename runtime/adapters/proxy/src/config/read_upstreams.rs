//! Reads the upstreams of a configuration.

use super::include::duplicate;
use super::keys::BALANCE;
use super::read::{Reader, flag, number, time};
use super::{Balance, Ejection, HashKey, Health, Pool, Server, Upstream, UpstreamTls};
use celero_policy::yaml::{Node, SourceText};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// The statuses that count as failures of a server, unless the configuration says others.
pub(super) const FAILURES: [u16; 3] = [502, 503, 504];

/// The longest time that a request may wait for a connection to a server.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Reader<'_> {
    pub(super) fn upstreams(&mut self, root: &Node) -> Vec<Upstream> {
        let mut found = Vec::new();
        for node in self.elements(root, "upstreams") {
            let Some(name) = node.text_of("name") else { continue };
            if let Some(first) = self.names.iter().find(|known| known.text == name.text) {
                let message = format!("another upstream has the name `{}`", name.text);
                duplicate(self.problems, name.place, first.place, message);
            }
            let tls = node.get("tls").and_then(|node| self.upstream_tls(node));
            self.no_h2c(node);
            let http2 = flag(node, "h2c") || tls.as_ref().is_some_and(|tls| tls.http2);
            let (names, servers) = self.servers(node);
            let has_names = names.iter().any(|(name, _)| name.parse::<SocketAddr>().is_err());
            let resolve = time(node, "resolve").unwrap_or(RESOLVE);
            found.push(Upstream {
                name: name.text.clone(),
                names,
                servers,
                resolve: Some(resolve).filter(|time| has_names && !time.is_zero()),
                balance: self.balance(node),
                health: node.get("health").map(|node| self.health(node)),
                ejection: node.get("ejection").map(|node| self.ejection(node)),
                slow_start: time(node, "slowStart").unwrap_or_default(),
                requests: number(node, "requests"),
                pool: node.get("pool").map(|node| self.pool(node, http2)).unwrap_or_default(),
                h2c: flag(node, "h2c"),
                tls,
            });
            self.names.push(name);
            self.only_http2.push(flag(node, "h2c"));
        }
        found
    }

    pub(super) fn upstream_tls(&mut self, node: &Node) -> Option<UpstreamTls> {
        let name = node.text_of("serverName")?;
        // Pingora verifies nothing if the name is empty, and another name if there is an underscore in it.
        if rustls::pki_types::ServerName::try_from(&*name.text).is_err() || name.text.contains('_') {
            let help = "write the name in the servers' certificates: `api.internal`";
            self.error("config-host", &name, format!("`serverName` can't be `{}`", name.text), help);
        }
        let authorities = node.text_of("authorities").map(|text| self.path_of(&text));
        let certificate = node.get("certificate").and_then(|node| self.certificate(node));
        Some(UpstreamTls { server_name: name.text, authorities, certificate, http2: flag(node, "http2") })
    }

    /// The servers as they are named, and the addresses that the names lead to.
    fn servers(&mut self, node: &Node) -> (Vec<(String, usize)>, Vec<Server>) {
        match (node.get("servers"), flag(node, "demo")) {
            (Some(servers), true) => {
                let message = "an upstream has either `servers` or `demo: true`, not both".to_owned();
                self.problems.add("config-conflict", servers.place, message);
                Default::default()
            }
            (None, true) => Default::default(),
            (None, false) => {
                let message = "an upstream needs the key `servers`".to_owned();
                let problem = self.problems.add("config-missing", node.place, message);
                problem.help("or `demo: true` for the built-in demo server");
                Default::default()
            }
            (Some(_), false) => {
                let entries: Vec<(SourceText, usize)> =
                    self.elements(node, "servers").iter().filter_map(entry).collect();
                let servers = entries.iter().flat_map(|(text, weight)| self.server(text, *weight)).collect();
                (entries.into_iter().map(|(text, weight)| (text.text, weight)).collect(), servers)
            }
        }
    }

    /// The addresses of a server, whose name is resolved now.
    fn server(&mut self, text: &SourceText, weight: usize) -> Vec<Server> {
        match addresses(&text.text, weight) {
            Ok(found) => {
                let found: Vec<Server> = found.collect();
                if found.iter().any(|server| server.address.port() == 0) {
                    let message = format!("`{}` is not a server: its port is 0", text.text);
                    self.error("config-address", text, message, "write the port at which the server listens");
                }
                found
            }
            Err(error) => {
                let help = "write a host and a port: `10.0.0.1:8000` or `api.internal:8000`";
                self.error("config-address", text, format!("`{}` is not a server: {error}", text.text), help);
                Vec::new()
            }
        }
    }

    fn balance(&mut self, node: &Node) -> Balance {
        let [_, random, least, consistent] = [0, 1, 2, 3].map(|index| BALANCE.get(index).copied());
        let chosen = node.text_of("balance");
        let chosen = chosen.as_ref().map(|text| &*text.text);
        match node.text_of("by") {
            Some(by) if chosen == consistent => self.hash_key(&by).map_or(Balance::RoundRobin, Balance::Consistent),
            Some(by) => {
                let help = "add `balance: consistent`, or remove `by`";
                self.error("config-conflict", &by, "`by` has a meaning for consistent balancing only".to_owned(), help);
                Balance::RoundRobin
            }
            None if chosen == consistent => Balance::Consistent(HashKey::Address),
            None if chosen == random => Balance::Random,
            None if chosen == least => Balance::LeastRequests,
            None => Balance::RoundRobin,
        }
    }

    pub(super) fn hash_key(&mut self, text: &SourceText) -> Option<HashKey> {
        match text.text.split_once(' ').map_or((&*text.text, ""), |(kind, name)| (kind, name.trim())) {
            ("address", "") => Some(HashKey::Address),
            ("path", "") => Some(HashKey::Path),
            ("header", name) if name.parse::<http::HeaderName>().is_ok() => name.parse().ok().map(HashKey::Header),
            ("label", name) if !name.is_empty() => Some(HashKey::Label(name.to_owned())),
            _ => {
                let help =
                    "it is `address` (the client's), `path`, `header` or `label` and a name, as in `header x-user`";
                self.error("config-choice", text, format!("`by` can't be `{}`", text.text), help);
                None
            }
        }
    }

    fn pool(&mut self, node: &Node, http2: bool) -> Pool {
        let usual = Pool::default();
        if let (Some(streams), false) = (node.text_of("streams"), http2) {
            let help = "add `h2c: true`, or `http2: true` in `tls`; or remove `streams`";
            let message = "`streams` has a meaning for upstreams with HTTP/2 only".to_owned();
            self.error("config-conflict", &streams, message, help);
        }
        let wait = time(node, "wait").unwrap_or(usual.wait);
        if let (Some(text), true) = (node.text_of("wait"), wait > LONGEST_WAIT) {
            let help = "it is at most 1m: each request that waits holds memory and a connection";
            self.error("config-value", &text, format!("`wait` can't be {}", text.text), help);
        }
        Pool {
            connections: number(node, "connections"),
            wait,
            idle: time(node, "idle"),
            streams: number(node, "streams").unwrap_or(usual.streams),
        }
    }

    fn health(&mut self, node: &Node) -> Health {
        Health {
            path: self.path(node),
            interval: time(node, "interval").unwrap_or(Duration::from_secs(5)),
            timeout: time(node, "timeout").unwrap_or(Duration::from_secs(1)),
            healthy_after: number(node, "healthyAfter").unwrap_or(1),
            unhealthy_after: number(node, "unhealthyAfter").unwrap_or(2),
        }
    }

    fn ejection(&mut self, node: &Node) -> Ejection {
        Ejection {
            failures: number(node, "failures").unwrap_or(5),
            time: time(node, "time").unwrap_or(Duration::from_secs(30)),
            statuses: statuses(node),
        }
    }
}

/// The time after which names are resolved again, unless the configuration says another.
const RESOLVE: Duration = Duration::from_secs(30);

/// Resolves the name of a server. Blocks.
fn addresses(name: &str, weight: usize) -> std::io::Result<impl Iterator<Item = Server> + use<>> {
    Ok(name.to_socket_addrs()?.map(move |address| Server { address, weight }))
}

/// Resolves the names of an upstream's servers again. Blocks.
///
/// # Errors
/// One of the names can't be resolved, or none has an address.
pub(crate) fn resolve(names: &[(String, usize)]) -> std::io::Result<Vec<Server>> {
    let mut found = Vec::new();
    for (name, weight) in names {
        let failed = |error: std::io::Error| std::io::Error::new(error.kind(), format!("{name}: {error}"));
        found.extend(addresses(name, *weight).map_err(failed)?);
    }
    if found.is_empty() {
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, "no name has an address"));
    }
    Ok(found)
}

/// The statuses that count as failures.
pub(super) fn statuses(node: &Node) -> Vec<u16> {
    let Some(node) = node.get("statuses") else { return FAILURES.to_vec() };
    node.elements().iter().filter_map(|status| status.plain()?.parse().ok()).collect()
}

/// An entry of `servers`: its address and its weight.
fn entry(node: &Node) -> Option<(SourceText, usize)> {
    match node.text_of("address") {
        Some(address) => Some((address, number(node, "weight").unwrap_or(1))),
        None => Some((node.text()?, 1)),
    }
}
