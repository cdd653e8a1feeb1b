//! Reads a configuration file.
//!
//! The file is compared with the tables of `keys.rs` first. What is read here afterwards takes values as they are, with defaults for
//! those that are absent or were reported, and reports what the tables can't express. All errors are reported at once.

use super::environment::expand;
use super::keys::{ACCEPT, CONFIG, FORWARDED_HEADERS};
use super::tls_keys::VERSIONS;
use super::{
    Admin, Certificate, ClientCertificates, Config, Forwarded, ForwardedHeader, Limits, Listener, ListenerTls,
    LogOutput, Reload, SpanExport, Timeouts, Traces,
};
use crate::error::Error;
use celero_policy::PolicyError;
use celero_policy::problems::Problems;
use celero_policy::schema::{duration, share, size};
use celero_policy::yaml::{self, Node, SourceText};
use ipnet::{IpNet, Ipv4Net};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Reads a file.
pub(super) fn read(file: &Path) -> Result<Config, Error> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Error::new(format!("error: {} can't be read: {error}", file.display())))?;
    let mut problems = Problems::default();
    let number = problems.file(file.display().to_string(), &text);
    let mut root = yaml::read(number, &mut problems).filter(|root| !root.is_nothing());
    if let Some(root) = &mut root {
        if is_policy(root) {
            let message = "this is a policy, not a configuration of celero-proxy".to_owned();
            let help = format!("a configuration names its policy: `policy: {}`", file.display());
            problems.add("config-key", root.place, message).help(help);
            return Err(PolicyError::new(problems).into());
        }
        expand(root, &mut problems, &|name| std::env::var(name).ok());
        CONFIG.check(root, &mut problems);
    }
    let base = file.parent().unwrap_or(Path::new("")).to_owned();
    let config = root.and_then(|root| {
        Reader { problems: &mut problems, base, names: Vec::new(), only_http2: Vec::new() }.config(&root)
    });
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
    any(&["connection", "request", "requestBody", "response", "responseBody", "log"])
        && !any(&["listeners", "policy", "upstreams", "routes"])
}

pub(super) struct Reader<'p> {
    pub(super) problems: &'p mut Problems,
    /// The folder that relative paths start from.
    pub(super) base: PathBuf,
    /// The names of the upstreams.
    pub(super) names: Vec<SourceText>,
    /// Which of them are spoken to in HTTP/2 only.
    pub(super) only_http2: Vec<bool>,
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
            rate_limit_services: self.rate_limit_services(root),
            forwarded: root.get("forwarded").map(|node| self.forwarded(node)).unwrap_or_default(),
            traces: root.get("traces").map(|node| self.traces(node)),
            compression: root.get("compression").map(|node| self.compression(node)),
            timeouts: root.get("timeouts").map(timeouts).unwrap_or_default(),
            reload: root.get("reload").map(reload).unwrap_or_default(),
            limits: root.get("limits").map(limits).unwrap_or_default(),
            retries: number(root, "retries").unwrap_or(1),
            metrics: root.text_of("metrics").and_then(|text| self.address(&text)),
            admin: root.get("admin").and_then(|node| self.admin(root, node)),
            access_log: root.text_of("accessLog").map(|text| self.output(&text)),
            threads: number(root, "threads").unwrap_or_else(cores),
            grace: time(root, "grace").unwrap_or(Duration::from_secs(10)),
            drain_delay: time(root, "drainDelay").unwrap_or_default(),
        })
    }

    pub(super) fn error(&mut self, code: &'static str, text: &SourceText, message: String, help: &str) {
        self.problems.add(code, text.place, message).help(help);
    }

    fn output(&self, text: &SourceText) -> LogOutput {
        if text.text == "-" { LogOutput::Stdout } else { LogOutput::File(self.base.join(&text.text)) }
    }

    fn admin(&mut self, root: &Node, node: &Node) -> Option<Admin> {
        if root.get("metrics").is_none() {
            let message = "`admin` needs the key `metrics`: the address at which lists are changed".to_owned();
            self.problems.add("config-missing", node.place, message);
        }
        let file = |key: &str| node.text_of(key).map(|text| self.base.join(text.text));
        Some(Admin { token: file("token")?, list_changes: file("listChanges") })
    }

    /// The elements of a list that must not be empty.
    pub(super) fn elements<'n>(&mut self, parent: &'n Node, key: &str) -> &'n [Node] {
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

    fn traces(&mut self, node: &Node) -> Traces {
        Traces {
            accept_all: node.text_of("accept").map(|text| text.text).as_deref() == ACCEPT.last().copied(),
            sampled: node.get("sampled").and_then(Node::plain).and_then(share).unwrap_or(0.01),
            export: node.get("export").and_then(|export| self.span_export(export)),
        }
    }

    fn span_export(&mut self, node: &Node) -> Option<SpanExport> {
        let url = node.text_of("url")?;
        let parsed = url.text.parse::<http::Uri>().ok();
        let has_scheme = |uri: &http::Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        if !parsed.is_some_and(|uri| has_scheme(&uri)) {
            let help = "write a whole URL: `http://127.0.0.1:4318/v1/traces`";
            self.error("config-url", &url, format!("`{}` is no URL of a collector", url.text), help);
        }
        let attributes = node.get("attributes").map_or(&[][..], Node::entries).iter();
        let attributes = attributes.filter_map(|entry| Some((entry.key.text.clone(), entry.value.text()?.text)));
        Some(SpanExport {
            url: url.text,
            service_name: node.text_of("serviceName").map_or_else(|| "celero-proxy".to_owned(), |text| text.text),
            attributes: attributes.collect(),
            queue: number(node, "queue").unwrap_or(4096),
        })
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
    pub(super) fn no_h2c(&mut self, node: &Node) {
        if let (Some(h2c), Some(_), true) = (node.get("h2c"), node.get("tls"), flag(node, "h2c")) {
            let problem = self.problems.add("config-conflict", h2c.place, "`h2c` is HTTP/2 without TLS".to_owned());
            problem.help("with `tls`, its key `http2` says whether HTTP/2 is used");
        }
    }

    fn listener_tls(&mut self, node: &Node) -> ListenerTls {
        let file = |node: &Node, key: &str| node.text_of(key).map(|text| self.base.join(text.text));
        let clients = node.get("clients").and_then(|node| {
            let (authorities, revoked) = (file(node, "authorities")?, file(node, "revoked"));
            Some(ClientCertificates { authorities, required: !is_off(node, "required"), revoked })
        });
        let only_tls13 = node.text_of("minVersion").map(|text| text.text).as_deref() == VERSIONS.last().copied();
        let http2 = !is_off(node, "http2");
        let certificates = node.get("certificates").map(Node::elements).unwrap_or_default();
        let certificates = certificates.iter().filter_map(|node| self.certificate(node)).collect();
        self.elements(node, "certificates");
        ListenerTls { certificates, clients, only_tls13, http2 }
    }

    /// The files of a certificate.
    pub(super) fn certificate(&self, node: &Node) -> Option<Certificate> {
        let file = |key: &str| node.text_of(key).map(|text| self.base.join(text.text));
        Some(Certificate { chain: file("chain")?, key: file("key")?, ocsp: file("ocsp") })
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

    /// The value of `path`: an absolute path.
    pub(super) fn path(&mut self, node: &Node) -> Option<String> {
        let text = node.text_of("path")?;
        let valid = text.text.starts_with('/') && text.text.parse::<http::uri::PathAndQuery>().is_ok();
        if !valid {
            self.error("config-path", &text, format!("`path` can't be `{}`", text.text), "a path starts with `/`");
        }
        valid.then_some(text.text)
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

pub(super) fn flag(node: &Node, key: &str) -> bool {
    node.get(key).and_then(Node::plain) == Some("true")
}

/// Returns whether a flag that is on by default is off.
pub(super) fn is_off(node: &Node, key: &str) -> bool {
    node.get(key).and_then(Node::plain) == Some("false")
}

pub(super) fn number<N: FromStr>(node: &Node, key: &str) -> Option<N> {
    node.get(key)?.plain()?.parse().ok()
}

pub(super) fn time(node: &Node, key: &str) -> Option<Duration> {
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
