//! Reads a configuration file.
//!
//! The file is compared with the tables of `keys.rs` first. What is read here afterwards takes
//! values as they are, with defaults for those that are absent or were reported, and reports what
//! the tables can't express. All errors are reported at once.

use super::include::{self, Files, duplicate};
use super::keys::{CONFIG, FORWARDED_HEADERS};
use super::telemetry_keys::{ACCEPT, HISTOGRAMS};
use super::tls_keys::VERSIONS;
use super::written_files;
use super::{
    Admin, Certificate, ClientCertificates, Collector, Config, Forwarded, ForwardedHeader, Limits, Listener,
    ListenerTls, LogOutput, MetricsExport, OtlpHistograms, Reload, SampleRule, SpanExport, Timeouts, Traces,
};
use crate::error::Error;
use celero_policy::problems::{FileSpan, Problems};
use celero_policy::schema::{duration, ratio, share, size};
use celero_policy::yaml::{Node, SourceText};
use celero_policy::{EndCondition, PolicyError, RequestCondition};
use ipnet::{IpNet, Ipv4Net};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Reads a file and those that it includes.
pub(super) fn read(file: &Path) -> Result<Config, Error> {
    let mut problems = Problems::default();
    let Files { root, folders, included } = include::read(file, &mut problems)?;
    if let Some(root) = &root {
        if is_policy(root) {
            let message = "this is a policy, not a configuration of celero-proxy".to_owned();
            let help = format!("a configuration names its policy: `policy: {}`", file.display());
            problems.add("config-key", root.place, message).help(help);
            return Err(PolicyError::new(problems).into());
        }
        CONFIG.check(root, &mut problems);
    }
    let config = root.and_then(|root| {
        let reader = Reader { problems: &mut problems, folders, names: Vec::new(), only_http2: Vec::new() };
        let config = reader.config(&root, included)?;
        written_files::check(&config, &root, file, &mut problems);
        Some(config)
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
    /// The folder that relative paths in a file start from, by the number of the file.
    pub(super) folders: Vec<PathBuf>,
    /// The names of the upstreams.
    pub(super) names: Vec<SourceText>,
    /// Which of them are spoken to in HTTP/2 only.
    pub(super) only_http2: Vec<bool>,
}

impl Reader<'_> {
    fn config(mut self, root: &Node, included: Vec<PathBuf>) -> Option<Config> {
        let listeners = self.listeners(root);
        let policy = root.text_of("policy").map(|text| self.path_of(&text));
        let upstreams = self.upstreams(root);
        let routes = self.routes(root);
        Some(Config {
            included,
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
            metrics: metrics_address(root).and_then(|text| self.metrics_address(root, &text)),
            metrics_export: root
                .get("metrics")
                .and_then(|metrics| metrics.get("export"))
                .and_then(|node| self.metrics_export(node)),
            admin: root.get("admin").and_then(|node| self.admin(root, node)),
            list_copies: root.text_of("listCopies").map(|text| self.path_of(&text)),
            access_log: root.text_of("accessLog").map(|text| self.output(&text)),
            record: root.get("record").and_then(|node| self.record(node)),
            threads: number(root, "threads").unwrap_or_else(cores),
            grace: time(root, "grace").unwrap_or(Duration::from_secs(10)),
            drain_delay: time(root, "drainDelay").unwrap_or_default(),
        })
    }

    pub(super) fn error(&mut self, code: &'static str, text: &SourceText, message: String, help: &str) {
        self.problems.add(code, text.place, message).help(help);
    }

    /// A path, relative to the folder of the file that has it.
    pub(super) fn path_of(&self, text: &SourceText) -> PathBuf {
        self.folders.get(text.place.file).map_or_else(|| PathBuf::from(&text.text), |folder| folder.join(&text.text))
    }

    fn output(&self, text: &SourceText) -> LogOutput {
        if text.text == "-" { LogOutput::Stdout } else { LogOutput::File(self.path_of(text)) }
    }

    fn admin(&mut self, root: &Node, node: &Node) -> Option<Admin> {
        if metrics_address(root).is_none() {
            let message = "`admin` needs the key `metrics`: the address at which lists are changed".to_owned();
            self.problems.add("config-missing", node.place, message);
        }
        let file = |key: &str| node.text_of(key).map(|text| self.path_of(&text));
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

    /// The address of the pages for operators, at which no client connects.
    fn metrics_address(&mut self, root: &Node, text: &SourceText) -> Option<SocketAddr> {
        let address = self.address(text)?;
        let listeners = root.get("listeners").map_or(&[][..], Node::elements).iter();
        let taken = |listener: &SourceText| address.port() != 0 && listener.text.parse() == Ok(address);
        if let Some(listener) = listeners.filter_map(|node| node.text_of("address")).find(taken) {
            let message = format!("a listener has the address `{address}`");
            duplicate(self.problems, text.place, listener.place, message);
        }
        Some(address)
    }

    fn traces(&mut self, node: &Node) -> Traces {
        Traces {
            accept_all: node.text_of("accept").map(|text| text.text).as_deref() == ACCEPT.last().copied(),
            sampled: node.get("sampled").and_then(Node::plain).and_then(share).unwrap_or(0.01),
            sample: node
                .get("sample")
                .map_or(&[][..], Node::elements)
                .iter()
                .filter_map(|rule| self.sample(rule))
                .collect(),
            export: node.get("export").and_then(|export| self.span_export(export)),
        }
    }

    fn sample(&mut self, node: &Node) -> Option<SampleRule> {
        let when = RequestCondition::compile(&node.text_of("when")?, self.problems)?;
        Some(SampleRule { when, share: ratio(node.get("share")?.plain()?)? })
    }

    fn span_export(&mut self, node: &Node) -> Option<SpanExport> {
        let collector = self.collector(node, "traces")?;
        let always = node.text_of("always").and_then(|text| EndCondition::compile(&text, self.problems));
        Some(SpanExport { collector, queue: number(node, "queue").unwrap_or(4096), always })
    }

    fn metrics_export(&mut self, node: &Node) -> Option<MetricsExport> {
        let collector = self.collector(node, "metrics")?;
        let interval = time(node, "interval").unwrap_or(Duration::from_secs(60));
        if let Some(text) = node.text_of("interval").filter(|_| interval < Duration::from_secs(1)) {
            self.error(
                "config-interval",
                &text,
                "`interval` is at least 1s".to_owned(),
                "collectors expect 10s or more",
            );
        }
        let explicit = node.text_of("histograms").map(|text| text.text).as_deref() == HISTOGRAMS.last().copied();
        let histograms = if explicit { OtlpHistograms::Explicit } else { OtlpHistograms::Exponential };
        Some(MetricsExport { collector, interval, histograms })
    }

    /// Where and as whom something is sent.
    fn collector(&mut self, node: &Node, what: &str) -> Option<Collector> {
        let url = node.text_of("url")?;
        let parsed = url.text.parse::<http::Uri>().ok();
        let has_scheme = |uri: &http::Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        if !parsed.is_some_and(|uri| has_scheme(&uri)) {
            let help = format!("write a whole URL: `http://127.0.0.1:4318/v1/{what}`");
            self.error("config-url", &url, format!("`{}` is no URL of a collector", url.text), &help);
        }
        let attributes = node.get("attributes").map_or(&[][..], Node::entries).iter();
        let attributes = attributes.filter_map(|entry| Some((entry.key.text.clone(), entry.value.text()?.text)));
        Some(Collector {
            url: url.text,
            service_name: node.text_of("serviceName").map_or_else(|| "celero-proxy".to_owned(), |text| text.text),
            attributes: attributes.collect(),
        })
    }

    fn listeners(&mut self, root: &Node) -> Vec<Listener> {
        let (mut found, mut known): (_, Vec<(SocketAddr, FileSpan)>) = (Vec::new(), Vec::new());
        for node in self.elements(root, "listeners") {
            let text = node.text_of("address");
            let address = text.as_ref().and_then(|text| self.address(text));
            if let Some((address, text)) = address.zip(text).filter(|(address, _)| address.port() != 0) {
                match known.iter().find(|(other, _)| *other == address) {
                    Some((_, first)) => {
                        let message = format!("another listener has the address `{address}`");
                        duplicate(self.problems, text.place, *first, message);
                    }
                    None => known.push((address, text.place)),
                }
            }
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
        let file = |node: &Node, key: &str| node.text_of(key).map(|text| self.path_of(&text));
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
        let file = |key: &str| node.text_of(key).map(|text| self.path_of(&text));
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

/// The address of the pages for operators.
fn metrics_address(root: &Node) -> Option<SourceText> {
    let node = root.get("metrics")?;
    node.text().or_else(|| node.text_of("address"))
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
    let bytes = |key| bytes(node, key);
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
        idle_connections: number(node, "idleConnections").unwrap_or(usual.idle_connections),
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
    duration(node.get(key)?.scalar()?)
}

pub(super) fn bytes(node: &Node, key: &str) -> Option<usize> {
    size(node.get(key)?.scalar()?)
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
