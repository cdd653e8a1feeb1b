//! The jobs as an expert would write them in Rust, inside the proxy.

use http::{HeaderMap, HeaderName, Method, request::Parts};
use ipnet::IpNet;
use memchr::memmem::Finder;
use regex::Regex;
use std::collections::HashSet;
use std::net::IpAddr;

/// The twenty rules, with header names, searchers, patterns and sets prepared.
pub(crate) struct TwentyRules {
    custom: HeaderName,
    tenant: HeaderName,
    googlebot: Finder<'static>,
    chrome: Finder<'static>,
    csrf: Finder<'static>,
    sqlmap: Finder<'static>,
    brotli: Finder<'static>,
    view: Regex,
    php: Regex,
    networks: [IpNet; 4],
    tenants: HashSet<Vec<u8>>,
    blocked: HashSet<Vec<u8>>,
}

fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h [u8] {
    headers.get(name).map_or(b"", |value| value.as_bytes())
}

impl TwentyRules {
    pub(crate) fn new() -> Self {
        let companies =
            ["acme", "globex", "initech", "umbrella", "hooli", "stark", "wayne", "wonka", "tyrell", "cyberdyne"];
        let stages = ["prod", "staging", "dev", "eu-west-1", "us-east-1", "apac", "test", "canary", "internal", "labs"];
        let regex = |pattern| Regex::new(pattern).expect("a pattern");
        let network = |text: &str| text.parse().expect("a network");
        Self {
            custom: HeaderName::from_static("x-custom"),
            tenant: HeaderName::from_static("x-tenant"),
            googlebot: Finder::new("Googlebot"),
            chrome: Finder::new("Chrome"),
            csrf: Finder::new("csrftoken="),
            sqlmap: Finder::new("sqlmap"),
            brotli: Finder::new("br"),
            view: regex("^/user/([^/]+)/view$"),
            php: regex("^/admin/.*[.]php$"),
            networks: ["10.0.0.0/8", "192.168.0.0/16", "172.16.0.0/12", "127.0.0.0/8"].map(network),
            tenants: companies.iter().flat_map(|c| stages.map(|s| format!("{c}-{s}").into_bytes())).collect(),
            blocked: (0..10).map(|i| format!("blocked-{i}").into_bytes()).collect(),
        }
    }

    /// How many of the rules are true.
    pub(crate) fn count(&self, head: &Parts, peer: IpAddr) -> u64 {
        use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, COOKIE, HOST, REFERER, USER_AGENT};
        let (headers, path, method) = (&head.headers, head.uri.path(), &head.method);
        let agent = header(headers, &USER_AGENT);
        let tenant = header(headers, &self.tenant);
        let host = header(headers, &HOST);
        let safe = method == Method::GET || method == Method::HEAD;
        let [a, b, c, d] = &self.networks;
        [
            method == Method::GET,
            header(headers, &self.custom) == b"test-value",
            header(headers, &AUTHORIZATION) == b"Bearer none",
            path.starts_with("/api/") && safe,
            path.starts_with("/user/") && safe,
            self.googlebot.find(agent).is_some(),
            self.chrome.find(agent).is_some(),
            self.csrf.find(header(headers, &COOKIE)).is_some(),
            self.view.is_match(path),
            self.php.is_match(path),
            self.sqlmap.find(agent).is_some(),
            a.contains(&peer) || b.contains(&peer),
            c.contains(&peer) || d.contains(&peer),
            self.tenants.contains(tenant),
            self.blocked.contains(tenant),
            header(headers, &REFERER).starts_with(b"https://shop.example.com/"),
            header(headers, &ACCEPT).starts_with(b"text/html"),
            method == Method::POST || method == Method::PUT || method == Method::DELETE,
            self.brotli.find(header(headers, &ACCEPT_ENCODING)).is_some(),
            host == b"shop.example.com" || host == b"www.example.com",
        ]
        .into_iter()
        .map(u64::from)
        .sum()
    }
}

/// The names of internal headers, as a hash set.
pub(crate) struct InternalHeaders(HashSet<HeaderName>);

impl InternalHeaders {
    pub(crate) fn new() -> Self {
        Self(crate::jobs::internal_names().iter().map(|name| name.parse().expect("a name")).collect())
    }

    /// The internal headers of a message.
    pub(crate) fn find(&self, headers: &HeaderMap) -> Vec<HeaderName> {
        headers.keys().filter(|name| self.0.contains(*name)).cloned().collect()
    }
}
