//! The workloads W1 to W12: a request with twelve headers, and the rules that are evaluated on it.

use crate::rules::{WorkloadRule, tenants, twenty};
use celero::Context;
use std::net::SocketAddr;

/// The workloads' names, in order.
pub const NAMES: &[&str] =
    &["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W8_miss", "W9", "W9_group", "W10", "W11", "W12"];

/// What a proxy has in hand when it evaluates rules.
pub struct Input {
    /// The request.
    pub request: http::Request<()>,
    /// The peer.
    pub peer: SocketAddr,
    /// A request to a language model in JSON, about 2 KB.
    pub body: Vec<u8>,
    /// Sixteen groups; the last begins with `adm`.
    pub groups: Vec<String>,
    /// A number that W10 reads.
    pub a: i64,
    /// Another number that W10 reads.
    pub b: i64,
}

/// A context of the host's own data, which W10 and W11 read.
#[derive(Context)]
pub struct Extras<'a> {
    groups: &'a [String],
    a: i64,
    b: i64,
}

impl<'a> Extras<'a> {
    /// Borrows the input; built for each evaluation.
    #[inline]
    #[must_use]
    pub fn new(input: &'a Input) -> Self {
        Self { groups: &input.groups, a: input.a, b: input.b }
    }
}

/// A request, rules, and the expected sum of their results: 1 for true, the length for text.
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    pub(crate) rules: Vec<WorkloadRule>,
    /// The sum that every engine must return.
    pub expected: u64,
}

impl Workload {
    /// Returns the workload of a name in [`NAMES`], or `None`.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let name = *NAMES.iter().find(|n| **n == name)?;
        let tenant = || WorkloadRule::HeaderIs("x-tenant".into(), tenants());
        let (rules, expected) = match name {
            "W1" => (vec![WorkloadRule::Method(vec!["GET".into()])], 1),
            "W2" => (vec![WorkloadRule::Header("x-custom".into())], 10),
            "W3" => (vec![WorkloadRule::HeaderIs("x-custom".into(), vec!["test-value".into()])], 1),
            "W4" => (vec![WorkloadRule::PathPrefix("/api/".into())], 1),
            "W5" => (vec![WorkloadRule::HeaderContains("user-agent".into(), "Googlebot".into())], 0),
            "W6" => (vec![WorkloadRule::PathMatches("^/user/([^/]+)/view$".into())], 1),
            "W7" => (vec![WorkloadRule::Network("10.0.0.0/8".into(), "192.168.0.0/16".into())], 1),
            "W8" => (vec![tenant()], 1),
            "W8_miss" => (vec![tenant()], 0),
            "W9" | "W9_group" => (twenty(), 12),
            "W10" => (vec![WorkloadRule::Arithmetic], 1),
            "W11" => (vec![WorkloadRule::Groups], 1),
            "W12" => (vec![WorkloadRule::BodyModel("gpt-4o-mini".into())], 1),
            _ => return None,
        };
        Some(Self { name, rules, expected })
    }

    /// Whether celero compiles the rules together, as one set. The other engines evaluate them one after the other.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.name == "W9_group"
    }

    /// The rules in CEL.
    #[must_use]
    pub fn sources(&self) -> Vec<String> {
        self.rules.iter().map(|r| r.cel(|net| format!("cidr({net:?}).containsIP(source.address)"))).collect()
    }

    /// Whether the rules are about the host's own data, [`Extras`], and not about a request.
    pub(crate) fn reads_extras(&self) -> bool {
        matches!(self.name, "W10" | "W11")
    }

    /// The request and data that the rules are evaluated on.
    #[must_use]
    pub fn input(&self) -> Input {
        let path = if self.name == "W4" { "/api/v1/orders/1234" } else { "/user/1234/view?tab=orders" };
        let tenant = if self.name == "W8_miss" {
            "aperture-prod".to_owned()
        } else {
            tenants().get(57).cloned().unwrap_or_default()
        };
        let mut groups: Vec<String> = (0..15).map(|i| format!("team-{i:02}-readers")).collect();
        groups.push("admins".into());
        Input {
            request: request(path, &tenant),
            body: body(),
            peer: SocketAddr::from(([192, 168, 1, 77], 40000)),
            groups,
            a: 10,
            b: 7,
        }
    }
}

/// `model` comes first, as clients of such services write it.
fn body() -> Vec<u8> {
    let turns: Vec<String> = (0..12)
        .map(|i| {
            let role = if i % 2 == 0 { "user" } else { "assistant" };
            let content = format!(
                "Shipment {i}: list the carriers whose parcels left the depot late, with the hours lost and the reason \
                 each of them gave."
            );
            format!(r#"{{"role":"{role}","content":"{content}"}}"#)
        })
        .collect();
    let turns = turns.join(",");
    format!(
        r#"{{"model":"gpt-4o-mini","messages":[{turns}],"max_tokens":800,"temperature":0.2,"stream":false,"user":"depot-17"}}"#
    )
    .into_bytes()
}

fn request(path: &str, tenant: &str) -> http::Request<()> {
    let headers = [
        ("host", "shop.example.com"),
        (
            "user-agent",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36",
        ),
        ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
        ("accept-encoding", "gzip, deflate, br, zstd"),
        ("accept-language", "en-US,en;q=0.9,fr;q=0.8"),
        (
            "cookie",
            "session_id=9f8b3c1ad2e74f6f8e1a2b3c4d5e6f70; _ga=GA1.2.1234567890.1700000000; \
             _gid=GA1.2.987654321.1700000001; theme=dark; locale=en-US; csrftoken=Zk3vW8mXq1sT9bL2pYcR; consent=1; \
             ab=variant_b",
        ),
        ("x-forwarded-for", "203.0.113.7, 192.168.1.77"),
        ("authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"),
        ("x-tenant", tenant),
        ("x-request-id", "5f0c9a2e-7b1d-4c3a-9e8f-0a1b2c3d4e5f"),
        ("x-custom", "test-value"),
        ("referer", "https://shop.example.com/catalog/shoes?sort=price"),
    ];
    let builder = http::Request::builder().method("GET").uri(format!("https://shop.example.com{path}"));
    headers.iter().fold(builder, |b, (name, value)| b.header(*name, *value)).body(()).expect("a valid request")
}
