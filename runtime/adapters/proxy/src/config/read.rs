//! From the file to a configuration. Everything that is wrong is said at once.

use super::fields::{Fields, quoted};
use super::{Balance, Config, Health, Key, Listener, Output, Route, Timeouts, Upstream};
use crate::error::Error;
use celero_policy::PolicyError;
use celero_policy::problems::Problems;
use celero_policy::yaml::{self, Node, Text};
use std::path::{Path, PathBuf};
use std::time::Duration;

const CONFIG: &[&str] =
    &["listeners", "policy", "upstreams", "routes", "timeouts", "retries", "metrics", "accessLog", "threads", "grace"];
const LISTENER: &[&str] = &["address", "h2c"];
const UPSTREAM: &[&str] = &["name", "demo", "servers", "balance", "by", "h2c", "health"];
const HEALTH: &[&str] = &["path", "interval", "timeout", "healthyAfter", "unhealthyAfter"];
const ROUTE: &[&str] = &["host", "path", "label", "upstream"];
const TIMEOUTS: &[&str] = &["connect", "read", "write", "body", "idle"];

/// Reads a file.
pub(super) fn read(file: &Path) -> Result<Config, Error> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Error::new(format!("error: {} can't be read: {error}", file.display())))?;
    let mut problems = Problems::default();
    let number = problems.file(file.display().to_string(), &text);
    let root = yaml::read(number, &mut problems);
    let base = file.parent().unwrap_or(Path::new("")).to_owned();
    let config = root
        .and_then(|root| Reader { fields: Fields { problems: &mut problems }, base, names: Vec::new() }.config(&root));
    match config {
        Some(config) if !problems.has_errors() => Ok(config),
        _ if problems.has_errors() => Err(PolicyError::new(problems).into()),
        _ => Err(Error::new(format!(
            "error: {} is empty; it needs `listeners`, `policy`, `upstreams` and `routes`",
            file.display()
        ))),
    }
}

struct Reader<'p> {
    fields: Fields<'p>,
    /// The folder from which files are looked for.
    base: PathBuf,
    /// The names of the upstreams.
    names: Vec<Text>,
}

impl Reader<'_> {
    fn config(&mut self, root: &Node) -> Option<Config> {
        if !self.fields.mapping(root, "a configuration", CONFIG) {
            return None;
        }
        let listeners = self.fields.required(root, "a configuration", "listeners");
        let listeners = listeners.map(|node| self.listeners(node)).unwrap_or_default();
        let policy =
            self.fields.required(root, "a configuration", "policy").and_then(|node| self.path(node, "`policy`"));
        let upstreams = self.fields.required(root, "a configuration", "upstreams");
        let upstreams = upstreams.map(|node| self.upstreams(node)).unwrap_or_default();
        let routes = self.fields.required(root, "a configuration", "routes");
        let routes = routes.map(|node| self.routes(node)).unwrap_or_default();
        Some(Config {
            listeners,
            policy: policy?,
            upstreams,
            routes,
            timeouts: root.get("timeouts").map(|node| self.timeouts(node)).unwrap_or_default(),
            retries: root.get("retries").map_or(1, |node| self.fields.number(node, "`retries`", 0, 10)),
            metrics: root.get("metrics").and_then(|node| self.fields.address(node, "`metrics`")),
            access_log: root.get("accessLog").and_then(|node| self.output(node)),
            threads: root.get("threads").map_or_else(cores, |node| self.fields.number(node, "`threads`", 1, 1024)),
            grace: root.get("grace").map_or(Duration::from_secs(10), |node| self.fields.duration(node, "`grace`")),
        })
    }

    fn path(&mut self, node: &Node, what: &str) -> Option<PathBuf> {
        Some(self.base.join(self.fields.text(node, what)?.text))
    }

    fn output(&mut self, node: &Node) -> Option<Output> {
        let text = self.fields.text(node, "`accessLog`")?.text;
        Some(if text == "-" { Output::Stdout } else { Output::File(self.base.join(text)) })
    }

    fn listeners(&mut self, node: &Node) -> Vec<Listener> {
        let mut found = Vec::new();
        for node in self.some(node, "`listeners`") {
            if !self.fields.mapping(node, "a listener", LISTENER) {
                continue;
            }
            let address = self.fields.required(node, "a listener", "address");
            let address = address.and_then(|node| self.fields.address(node, "`address`"));
            let h2c = node.get("h2c").is_some_and(|node| self.fields.boolean(node, "`h2c`"));
            found.extend(address.map(|address| Listener { address, h2c }));
        }
        found
    }

    /// The elements of a list that must not be empty.
    fn some<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        let elements = self.fields.list(node, what);
        if elements.is_empty() && node.kind() == "a list" {
            self.fields.wrong("config-missing", node, format!("{what} must not be empty"), "");
        }
        elements
    }

    fn upstreams(&mut self, node: &Node) -> Vec<Upstream> {
        let mut found = Vec::new();
        for node in self.some(node, "`upstreams`") {
            if !self.fields.mapping(node, "an upstream", UPSTREAM) {
                continue;
            }
            let name =
                self.fields.required(node, "an upstream", "name").and_then(|node| self.fields.text(node, "`name`"));
            let Some(name) = name else { continue };
            if let Some(first) = self.names.iter().find(|known| known.text == name.text) {
                let message = format!("there is an upstream `{}` already", name.text);
                self.fields
                    .problems
                    .add("config-duplicate", name.place, message)
                    .also(first.place, "the first is here");
            }
            found.push(Upstream {
                name: name.text.clone(),
                servers: self.servers(node),
                balance: self.balance(node),
                health: node.get("health").and_then(|node| self.health(node)),
                h2c: node.get("h2c").is_some_and(|node| self.fields.boolean(node, "`h2c`")),
            });
            self.names.push(name);
        }
        found
    }

    fn servers(&mut self, node: &Node) -> Vec<std::net::SocketAddr> {
        let demo = node.get("demo").is_some_and(|node| self.fields.boolean(node, "`demo`"));
        match (node.get("servers"), demo) {
            (Some(servers), true) => {
                self.fields.wrong(
                    "config-conflict",
                    servers,
                    "an upstream has `servers`, or is the `demo`, not both".into(),
                    "",
                );
                Vec::new()
            }
            (None, true) => Vec::new(),
            (None, false) => {
                let help = "or `demo: true` for the server that is built in";
                self.fields.wrong("config-missing", node, "an upstream needs the field `servers`".into(), help);
                Vec::new()
            }
            (Some(servers), false) => {
                let servers = self.some(servers, "`servers`");
                servers.iter().flat_map(|server| self.fields.server(server, "a server")).collect()
            }
        }
    }

    fn balance(&mut self, node: &Node) -> Balance {
        const WORDS: &[&str] = &["roundRobin", "random", "consistent"];
        let balance = node.get("balance");
        let chosen = balance.map_or(Some(0), |node| self.fields.choice(node, "`balance`", WORDS));
        match (chosen, node.get("by")) {
            (Some(2), Some(by)) => self.key(by).map_or(Balance::RoundRobin, Balance::Consistent),
            (Some(2), None) => Balance::Consistent(Key::Address),
            (_, Some(by)) => {
                let help = "add `balance: consistent`, or leave `by` out";
                self.fields.wrong("config-conflict", by, "`by` says what a consistent choice hangs on".into(), help);
                Balance::RoundRobin
            }
            (Some(1), None) => Balance::Random,
            _ => Balance::RoundRobin,
        }
    }

    fn key(&mut self, node: &Node) -> Option<Key> {
        let text = self.fields.text(node, "`by`")?.text;
        match (text.as_str(), text.strip_prefix("header ").map(|name| name.trim().parse())) {
            ("address", _) => Some(Key::Address),
            ("path", _) => Some(Key::Path),
            (_, Some(Ok(name))) => Some(Key::Header(name)),
            _ => {
                let help = "it is `address` (the client's), `path`, or `header` and a name, as in `header x-user`";
                self.fields.wrong("config-choice", node, format!("`by` can't be `{text}`"), help);
                None
            }
        }
    }

    fn health(&mut self, node: &Node) -> Option<Health> {
        if !self.fields.mapping(node, "`health`", HEALTH) {
            return None;
        }
        let path = node.get("path").and_then(|node| self.prefix(node));
        let fields = &mut self.fields;
        let second = Duration::from_secs(1);
        Some(Health {
            path,
            interval: node.get("interval").map_or(second.saturating_mul(5), |node| fields.duration(node, "`interval`")),
            timeout: node.get("timeout").map_or(second, |node| fields.duration(node, "`timeout`")),
            healthy_after: node.get("healthyAfter").map_or(1, |node| fields.number(node, "`healthyAfter`", 1, 100)),
            unhealthy_after: node
                .get("unhealthyAfter")
                .map_or(2, |node| fields.number(node, "`unhealthyAfter`", 1, 100)),
        })
    }

    /// A path from the root.
    fn prefix(&mut self, node: &Node) -> Option<String> {
        let text = self.fields.text(node, "`path`")?.text;
        let fits = text.starts_with('/') && text.parse::<http::uri::PathAndQuery>().is_ok();
        if !fits {
            self.fields.wrong("config-path", node, format!("`path` can't be `{text}`"), "a path begins with `/`");
        }
        fits.then_some(text)
    }

    fn routes(&mut self, node: &Node) -> Vec<Route> {
        let mut found = Vec::new();
        for node in self.some(node, "`routes`") {
            if !self.fields.mapping(node, "a route", ROUTE) {
                continue;
            }
            let host = node.get("host").and_then(|node| self.host(node));
            let prefix = node.get("path").and_then(|node| self.prefix(node));
            let label = node.get("label").and_then(|node| self.label(node));
            let upstream = self.fields.required(node, "a route", "upstream").and_then(|node| self.upstream(node));
            found.extend(upstream.map(|upstream| Route { host, prefix, label, upstream }));
        }
        found
    }

    /// A host, or `*.` and what it ends with.
    fn host(&mut self, node: &Node) -> Option<String> {
        let text = self.fields.text(node, "`host`")?.text.to_ascii_lowercase();
        let name = text.strip_prefix("*.").unwrap_or(&text);
        if name.is_empty() || name.contains(['*', '/', ':', ' ']) {
            let help = "write it without a port, as `api.example.com` or `\"*.example.com\"`";
            self.fields.wrong("config-host", node, format!("`host` can't be `{text}`"), help);
            return None;
        }
        Some(text.strip_prefix('*').unwrap_or(&text).to_owned())
    }

    fn label(&mut self, node: &Node) -> Option<(String, String)> {
        let text = self.fields.text(node, "`label`")?.text;
        let label = text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        if label.is_none() {
            let help = "write the name of a label of the policy and its value, as `label: tier=canary`";
            self.fields.wrong("config-label", node, format!("`label` can't be `{text}`"), help);
        }
        label
    }

    fn upstream(&mut self, node: &Node) -> Option<usize> {
        let text = self.fields.text(node, "`upstream`")?;
        let found = self.names.iter().position(|known| known.text == text.text);
        if found.is_none() {
            let names: Vec<_> = self.names.iter().map(|name| name.text.as_str()).collect();
            let near = super::fields::nearest(&text.text, &names).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| format!("the upstreams are {}", quoted(&names)));
            self.fields.wrong("config-upstream", node, format!("there is no upstream `{}`", text.text), &help);
        }
        found
    }

    fn timeouts(&mut self, node: &Node) -> Timeouts {
        let mut timeouts = Timeouts::default();
        if self.fields.mapping(node, "`timeouts`", TIMEOUTS) {
            for (name, timeout) in [
                ("connect", &mut timeouts.connect),
                ("read", &mut timeouts.read),
                ("write", &mut timeouts.write),
                ("body", &mut timeouts.body),
                ("idle", &mut timeouts.idle),
            ] {
                if let Some(node) = node.get(name) {
                    *timeout = self.fields.duration(node, &format!("`{name}`"));
                }
            }
        }
        timeouts
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
