//! Reads a configuration file.
//!
//! The file is compared with the tables of `keys.rs` first. What is read here afterwards takes values as they are, with defaults for
//! those that are absent or were reported, and reports what the tables can't express. All errors are reported at once.

use super::keys::{BALANCE, CONFIG, FORWARDED_HEADERS, VERSIONS};
use super::{
    Balance, Certificate, ClientCertificates, Config, Forwarded, ForwardedHeader, HashKey, Health, Limits, Listener,
    ListenerTls, LogOutput, Reload, Route, Timeouts, Upstream, UpstreamTls,
};
use crate::error::Error;
use celero_policy::PolicyError;
use celero_policy::problems::Problems;
use celero_policy::schema::{duration, size};
use celero_policy::yaml::{self, Node, SourceText};
use ipnet::{IpNet, Ipv4Net};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Reads a file.
pub(super) fn read(file: &Path) -> Result<Config, Error> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Error::new(format!("error: {} can't be read: {error}", file.display())))?;
    let mut problems = Problems::default();
    let number = problems.file(file.display().to_string(), &text);
    let root = yaml::read(number, &mut problems).filter(|root| !root.is_nothing());
    if let Some(root) = &root {
        if is_policy(root) {
            let message = "this is a policy, not a configuration of celero-proxy".to_owned();
            let help = format!("a configuration names its policy: `policy: {}`", file.display());
            problems.add("config-key", root.place, message).help(help);
            return Err(PolicyError::new(problems).into());
        }
        CONFIG.check(root, &mut problems);
    }
    let base = file.parent().unwrap_or(Path::new("")).to_owned();
    let config = root.and_then(|root| Reader { problems: &mut problems, base, names: Vec::new() }.config(&root));
    match config {
        Some(config) if !problems.has_errors() => Ok(config),
        _ if problems.has_errors() => Err(PolicyError::new(problems).into()),
        _ => Err(Error::new(format!(
            "error: {} is empty; it needs `listeners`, `policy`, `upstreams` and `routes`",
            file.display()
        ))),
    }
}

/// Returns whether a document has phases of a policy, and nothing that a configuration must have.
fn is_policy(root: &Node) -> bool {
    let any = |keys: &[&str]| keys.iter().any(|key| root.get(key).is_some());
    any(&["request", "requestBody", "response", "responseBody", "log"])
        && !any(&["listeners", "policy", "upstreams", "routes"])
}

struct Reader<'p> {
    problems: &'p mut Problems,
    /// The folder that relative paths start from.
    base: PathBuf,
    /// The names of the upstreams.
    names: Vec<SourceText>,
}

impl Reader<'_> {
    fn config(&mut self, root: &Node) -> Option<Config> {
        let listeners = self.listeners(root);
        let policy = root.text_of("policy").map(|text| self.base.join(text.text));
        let upstreams = self.upstreams(root);
        let routes = self.routes(root);
        Some(Config {
            listeners,
            policy: policy?,
            upstreams,
            routes,
            forwarded: root.get("forwarded").map(|node| self.forwarded(node)).unwrap_or_default(),
            timeouts: root.get("timeouts").map(timeouts).unwrap_or_default(),
            reload: root.get("reload").map(reload).unwrap_or_default(),
            limits: root.get("limits").map(limits).unwrap_or_default(),
            retries: number(root, "retries").unwrap_or(1),
            metrics: root.text_of("metrics").and_then(|text| self.address(&text)),
            access_log: root.text_of("accessLog").map(|text| self.output(&text)),
            threads: number(root, "threads").unwrap_or_else(cores),
            grace: time(root, "grace").unwrap_or(Duration::from_secs(10)),
            drain_delay: time(root, "drainDelay").unwrap_or_default(),
        })
    }

    fn error(&mut self, code: &'static str, text: &SourceText, message: String, help: &str) {
        self.problems.add(code, text.place, message).help(help);
    }

    fn output(&self, text: &SourceText) -> LogOutput {
        if text.text == "-" { LogOutput::Stdout } else { LogOutput::File(self.base.join(&text.text)) }
    }

    /// The elements of a list that must not be empty.
    fn elements<'n>(&mut self, parent: &'n Node, key: &str) -> &'n [Node] {
        let Some(node) = parent.get(key) else { return &[] };
        if node.elements().is_empty() && (node.is_list() || node.is_nothing()) {
            self.problems.add("config-missing", node.place, format!("`{key}` must not be empty"));
        }
        node.elements()
    }

    /// An IP address with a port.
    fn address(&mut self, text: &SourceText) -> Option<SocketAddr> {
        let address = text.text.parse().ok();
        if address.is_none() {
            let help = "write an IP address and a port: `127.0.0.1:8080`, `0.0.0.0:80` or `\"[::1]:8080\"`";
            self.error("config-address", text, format!("`{}` is not an address", text.text), help);
        }
        address
    }

    fn listeners(&mut self, root: &Node) -> Vec<Listener> {
        let mut found = Vec::new();
        for node in self.elements(root, "listeners") {
            let address = node.text_of("address").and_then(|text| self.address(&text));
            let tls = node.get("tls").map(|node| self.listener_tls(node));
            self.no_h2c(node);
            let proxy_protocol = self.networks(node, "proxyProtocol");
            found.extend(address.map(|address| Listener { address, h2c: flag(node, "h2c"), tls, proxy_protocol }));
        }
        found
    }

    /// Reports `h2c`, which is HTTP/2 without TLS, where there is TLS.
    fn no_h2c(&mut self, node: &Node) {
        if let (Some(h2c), Some(_), true) = (node.get("h2c"), node.get("tls"), flag(node, "h2c")) {
            let problem = self.problems.add("config-conflict", h2c.place, "`h2c` is HTTP/2 without TLS".to_owned());
            problem.help("with `tls`, its key `http2` says whether HTTP/2 is used");
        }
    }

    fn listener_tls(&mut self, node: &Node) -> ListenerTls {
        let file = |node: &Node, key: &str| node.text_of(key).map(|text| self.base.join(text.text));
        let certificate = |node: &Node| {
            Some(Certificate { chain: file(node, "chain")?, key: file(node, "key")?, ocsp: file(node, "ocsp") })
        };
        let clients = node.get("clients").and_then(|node| {
            Some(ClientCertificates { authorities: file(node, "authorities")?, required: !is_off(node, "required") })
        });
        let only_tls13 = node.text_of("minVersion").map(|text| text.text).as_deref() == VERSIONS.last().copied();
        let http2 = !is_off(node, "http2");
        let certificates = node.get("certificates").map(Node::elements).unwrap_or_default();
        let certificates = certificates.iter().filter_map(certificate).collect();
        self.elements(node, "certificates");
        ListenerTls { certificates, clients, only_tls13, http2 }
    }

    fn upstream_tls(&mut self, node: &Node) -> Option<UpstreamTls> {
        let name = node.text_of("serverName")?;
        // Pingora verifies nothing if the name is empty, and another name if there is an underscore in it.
        if rustls::pki_types::ServerName::try_from(&*name.text).is_err() || name.text.contains('_') {
            let help = "write the name in the servers' certificates: `api.internal`";
            self.error("config-host", &name, format!("`serverName` can't be `{}`", name.text), help);
        }
        let authorities = node.text_of("authorities").map(|text| self.base.join(text.text));
        Some(UpstreamTls { server_name: name.text, authorities, http2: flag(node, "http2") })
    }

    fn forwarded(&mut self, node: &Node) -> Forwarded {
        let header = node.text_of("header").map(|text| text.text);
        let header = if header.as_deref() == FORWARDED_HEADERS.last().copied() {
            ForwardedHeader::Forwarded
        } else {
            ForwardedHeader::XForwardedFor
        };
        Forwarded { trusted: self.networks(node, "trusted"), header }
    }

    /// A list of addresses and networks.
    fn networks(&mut self, node: &Node, key: &str) -> Vec<IpNet> {
        let mut found = Vec::new();
        let texts: Vec<SourceText> = self.elements(node, key).iter().filter_map(Node::text).collect();
        for text in texts {
            let single = || text.text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
            match text.text.parse::<IpNet>().or_else(|_| single()) {
                Ok(network) => found.push(canonical(network).trunc()),
                Err(_) => {
                    let help = "write an address or a network: `10.0.0.1`, `10.0.0.0/8` or `\"fd00::/8\"`";
                    self.error("config-network", &text, format!("`{}` is no network", text.text), help);
                }
            }
        }
        found
    }

    fn upstreams(&mut self, root: &Node) -> Vec<Upstream> {
        let mut found = Vec::new();
        for node in self.elements(root, "upstreams") {
            let Some(name) = node.text_of("name") else { continue };
            if let Some(first) = self.names.iter().find(|known| known.text == name.text) {
                let message = format!("another upstream has the name `{}`", name.text);
                self.problems.add("config-duplicate", name.place, message).also(first.place, "the first is here");
            }
            let tls = node.get("tls").and_then(|node| self.upstream_tls(node));
            self.no_h2c(node);
            found.push(Upstream {
                name: name.text.clone(),
                servers: self.servers(node),
                balance: self.balance(node),
                health: node.get("health").map(|node| self.health(node)),
                h2c: flag(node, "h2c"),
                tls,
            });
            self.names.push(name);
        }
        found
    }

    fn servers(&mut self, node: &Node) -> Vec<SocketAddr> {
        match (node.get("servers"), flag(node, "demo")) {
            (Some(servers), true) => {
                let message = "an upstream has either `servers` or `demo: true`, not both".to_owned();
                self.problems.add("config-conflict", servers.place, message);
                Vec::new()
            }
            (None, true) => Vec::new(),
            (None, false) => {
                let message = "an upstream needs the key `servers`".to_owned();
                let problem = self.problems.add("config-missing", node.place, message);
                problem.help("or `demo: true` for the built-in demo server");
                Vec::new()
            }
            (Some(_), false) => {
                let texts: Vec<SourceText> = self.elements(node, "servers").iter().filter_map(Node::text).collect();
                texts.iter().flat_map(|text| self.server(text)).collect()
            }
        }
    }

    /// The addresses of a server, whose name is resolved now.
    fn server(&mut self, text: &SourceText) -> Vec<SocketAddr> {
        match text.text.to_socket_addrs() {
            Ok(found) => found.collect(),
            Err(error) => {
                let help = "write a host and a port: `10.0.0.1:8000` or `api.internal:8000`";
                self.error("config-address", text, format!("`{}` is not a server: {error}", text.text), help);
                Vec::new()
            }
        }
    }

    fn balance(&mut self, node: &Node) -> Balance {
        let [_, random, consistent] = [0, 1, 2].map(|index| BALANCE.get(index).copied());
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
            None => Balance::RoundRobin,
        }
    }

    fn hash_key(&mut self, text: &SourceText) -> Option<HashKey> {
        match (text.text.as_str(), text.text.strip_prefix("header ").map(|name| name.trim().parse())) {
            ("address", _) => Some(HashKey::Address),
            ("path", _) => Some(HashKey::Path),
            (_, Some(Ok(name))) => Some(HashKey::Header(name)),
            _ => {
                let help = "it is `address` (the client's), `path`, or `header` and a name, as in `header x-user`";
                self.error("config-choice", text, format!("`by` can't be `{}`", text.text), help);
                None
            }
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

    /// The value of `path`: an absolute path.
    fn path(&mut self, node: &Node) -> Option<String> {
        let text = node.text_of("path")?;
        let valid = text.text.starts_with('/') && text.text.parse::<http::uri::PathAndQuery>().is_ok();
        if !valid {
            self.error("config-path", &text, format!("`path` can't be `{}`", text.text), "a path starts with `/`");
        }
        valid.then_some(text.text)
    }

    fn routes(&mut self, root: &Node) -> Vec<Route> {
        let mut found = Vec::new();
        for node in self.elements(root, "routes") {
            let (host, prefix, label) = (self.host(node), self.path(node), self.label(node));
            let upstream = node.text_of("upstream").and_then(|text| self.upstream(&text));
            found.extend(upstream.map(|upstream| Route { host, prefix, label, upstream }));
        }
        found
    }

    /// The value of `host`: a host, or `*.` and a suffix, which is returned with its leading dot.
    fn host(&mut self, node: &Node) -> Option<String> {
        let written = node.text_of("host")?;
        let text = written.text.to_ascii_lowercase();
        let name = text.strip_prefix("*.").unwrap_or(&text);
        if name.is_empty() || name.contains(['*', '/', ':', ' ']) {
            let help = "write it without a port: `api.example.com` or `\"*.example.com\"`";
            self.error("config-host", &written, format!("`host` can't be `{text}`"), help);
            return None;
        }
        Some(text.strip_prefix('*').unwrap_or(&text).to_owned())
    }

    fn label(&mut self, node: &Node) -> Option<(String, String)> {
        let text = node.text_of("label")?;
        let label = text.text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        if label.is_none() {
            let help = "write the name of a label that the policy sets, and its value: `label: tier=canary`";
            self.error("config-label", &text, format!("`label` can't be `{}`", text.text), help);
        }
        label
    }

    fn upstream(&mut self, text: &SourceText) -> Option<usize> {
        let found = self.names.iter().position(|known| known.text == text.text);
        // Without any name `upstreams` itself is wrong, which was reported.
        if found.is_none() && !self.names.is_empty() {
            let names: Vec<&str> = self.names.iter().map(|name| name.text.as_str()).collect();
            let message = format!("there is no upstream `{}`", text.text);
            let problem = self.problems.add("config-upstream", text.place, message);
            if !problem.suggest(&text.text, &names) {
                problem.help(format!("the upstreams are `{}`", names.join("`, `")));
            }
        }
        found
    }
}

fn timeouts(node: &Node) -> Timeouts {
    let usual = Timeouts::default();
    Timeouts {
        connect: time(node, "connect").unwrap_or(usual.connect),
        read: time(node, "read").unwrap_or(usual.read),
        write: time(node, "write").unwrap_or(usual.write),
        head: time(node, "head").unwrap_or(usual.head),
        body: time(node, "body").unwrap_or(usual.body),
        body_total: time(node, "bodyTotal").unwrap_or(usual.body_total),
        send: time(node, "send").unwrap_or(usual.send),
        keep_alive: time(node, "keepAlive").unwrap_or(usual.keep_alive),
        idle: time(node, "idle").unwrap_or(usual.idle),
    }
}

fn reload(node: &Node) -> Reload {
    Reload { settle: time(node, "settle").unwrap_or(Reload::default().settle), end_marker: flag(node, "endMarker") }
}

fn limits(node: &Node) -> Limits {
    let usual = Limits::default();
    let bytes = |key| size(node.get(key)?.plain()?);
    Limits {
        connections: number(node, "connections").unwrap_or(usual.connections),
        connections_per_address: number(node, "connectionsPerAddress"),
        requests: number(node, "requests").unwrap_or(usual.requests),
        headers: number(node, "headers").unwrap_or(usual.headers),
        head: bytes("head").unwrap_or(usual.head),
        request_line: bytes("requestLine").unwrap_or(usual.request_line),
        streams: number(node, "streams").unwrap_or(usual.streams),
        control_frames: number(node, "controlFrames").unwrap_or(usual.control_frames),
        body_rate: bytes("bodyRate").unwrap_or(usual.body_rate),
    }
}

fn flag(node: &Node, key: &str) -> bool {
    node.get(key).and_then(Node::plain) == Some("true")
}

/// Returns whether a flag that is on by default is off.
fn is_off(node: &Node, key: &str) -> bool {
    node.get(key).and_then(Node::plain) == Some("false")
}

fn number<N: FromStr>(node: &Node, key: &str) -> Option<N> {
    node.get(key)?.plain()?.parse().ok()
}

fn time(node: &Node, key: &str) -> Option<Duration> {
    duration(node.get(key)?.plain()?)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns a network of IPv4 addresses in IPv6 notation as a network of IPv4: addresses are compared as IPv4.
fn canonical(network: IpNet) -> IpNet {
    let IpNet::V6(mapped) = network else { return network };
    let v4 = mapped.addr().to_ipv4_mapped().zip(mapped.prefix_len().checked_sub(96));
    match v4.and_then(|(address, length)| Ipv4Net::new(address, length).ok()) {
        Some(v4) => v4.into(),
        None => network,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_networks_are_those_of_ipv4() {
        for (text, expected) in [
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
            ("::/0", "::/0"),
            ("fd00::/8", "fd00::/8"),
        ] {
            assert_eq!(canonical(text.parse().unwrap()).to_string(), expected);
        }
    }
}
