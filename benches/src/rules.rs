//! The rules of the workloads as data, from which each engine makes its own form.

/// A rule of a workload.
#[derive(Clone, Debug)]
pub(crate) enum WorkloadRule {
    /// The method is one of these.
    Method(Vec<String>),
    /// The header's text.
    Header(String),
    /// The header is one of these values. Up to two are written as comparisons, more as a list.
    HeaderIs(String, Vec<String>),
    /// The header holds this.
    HeaderContains(String, String),
    /// The header begins with this.
    HeaderStarts(String, String),
    /// The path begins with this and the method is GET or HEAD.
    PathPrefix(String),
    /// The path matches this expression.
    PathMatches(String),
    /// The peer's address lies in one of two networks.
    Network(String, String),
    /// `(a * 3 + b) % 7 == 2 && a < 100`
    Arithmetic,
    /// Some group begins with `adm`.
    Groups,
    /// The member `model` of the body is this.
    BodyModel(String),
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(", ")
}

impl WorkloadRule {
    /// The rule in CEL. `network` writes the test of an address against a network, which differs between engines.
    pub(crate) fn cel(&self, network: impl Fn(&str) -> String) -> String {
        match self {
            Self::Method(m) if m.len() == 1 => format!("request.method == {}", list(m)),
            Self::Method(m) => format!("request.method in [{}]", list(m)),
            Self::Header(h) => format!("request.headers[{}]", quoted(h)),
            Self::HeaderIs(h, values) if values.len() <= 2 => {
                let header = quoted(h);
                let tests: Vec<String> =
                    values.iter().map(|v| format!("request.headers[{header}] == {}", quoted(v))).collect();
                tests.join(" || ")
            }
            Self::HeaderIs(h, values) => format!("request.headers[{}] in [{}]", quoted(h), list(values)),
            Self::HeaderContains(h, v) => format!("request.headers[{}].contains({})", quoted(h), quoted(v)),
            Self::HeaderStarts(h, v) => format!("request.headers[{}].startsWith({})", quoted(h), quoted(v)),
            Self::PathPrefix(p) => {
                format!("request.path.startsWith({}) && request.method in [\"GET\", \"HEAD\"]", quoted(p))
            }
            Self::PathMatches(p) => format!("request.path.matches({})", quoted(p)),
            Self::Network(a, b) => format!("{} || {}", network(a), network(b)),
            Self::Arithmetic => "(a * 3 + b) % 7 == 2 && a < 100".into(),
            Self::Groups => "groups.exists(g, g.startsWith(\"adm\"))".into(),
            Self::BodyModel(model) => format!("json(request.body).model == {}", quoted(model)),
        }
    }
}

/// A hundred tenants, 9 to 19 bytes each.
pub(crate) fn tenants() -> Vec<String> {
    let companies =
        ["acme", "globex", "initech", "umbrella", "hooli", "stark", "wayne", "wonka", "tyrell", "cyberdyne"];
    let stages = ["prod", "staging", "dev", "eu-west-1", "us-east-1", "apac", "test", "canary", "internal", "labs"];
    companies.iter().flat_map(|c| stages.iter().map(move |s| format!("{c}-{s}"))).collect()
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// Twenty mixed rules, twelve of them true for the request.
pub(crate) fn twenty() -> Vec<WorkloadRule> {
    let is = |h: &str, v: &[&str]| WorkloadRule::HeaderIs(h.into(), texts(v));
    let has = |h: &str, v: &str| WorkloadRule::HeaderContains(h.into(), v.into());
    let starts = |h: &str, v: &str| WorkloadRule::HeaderStarts(h.into(), v.into());
    vec![
        WorkloadRule::Method(texts(&["GET"])),
        is("x-custom", &["test-value"]),
        is("authorization", &["Bearer none"]),
        WorkloadRule::PathPrefix("/api/".into()),
        WorkloadRule::PathPrefix("/user/".into()),
        has("user-agent", "Googlebot"),
        has("user-agent", "Chrome"),
        has("cookie", "csrftoken="),
        WorkloadRule::PathMatches("^/user/([^/]+)/view$".into()),
        WorkloadRule::PathMatches("^/admin/.*[.]php$".into()),
        has("user-agent", "sqlmap"),
        WorkloadRule::Network("10.0.0.0/8".into(), "192.168.0.0/16".into()),
        WorkloadRule::Network("172.16.0.0/12".into(), "127.0.0.0/8".into()),
        WorkloadRule::HeaderIs("x-tenant".into(), tenants()),
        WorkloadRule::HeaderIs("x-tenant".into(), (0..10).map(|i| format!("blocked-{i}")).collect()),
        starts("referer", "https://shop.example.com/"),
        starts("accept", "text/html"),
        WorkloadRule::Method(texts(&["POST", "PUT", "DELETE"])),
        has("accept-encoding", "br"),
        is("host", &["shop.example.com", "www.example.com"]),
    ]
}
