//! Random rules as gateways have them, and requests for them. Both are made of the same few words, so that rules match,
//! fail, overlap and repeat each other often.

use super::Rng;
use celero::http::RequestContext;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

const METHODS: &[&str] = &["GET", "POST", "PUT", "get"];
pub(super) const HOSTS: &[&str] =
    &["a.example", "b.example", "www.a.example", "A.Example", "a.example:8080", "example", ""];
pub(super) const PATHS: &[&str] =
    &["/", "/a", "/a/b", "/a/b/c", "/ab", "/api/v1/users", "/api/v1", "/admin/x.php", "/A/B", "/api/v2/users/42.json"];
const QUERIES: &[&str] = &["", "a=b", "debug=1&a=b", "q=curl"];
/// The last is looked up but never there.
const HEADERS: &[&str] = &["x-a", "x-b", "X-N", "user-agent", "x-none"];
pub(super) const VALUES: &[&str] = &["", "a", "b", "ab", "a,b", "A", "ba", "\u{fffd}", "a\u{fffd}b", "é", "b.example"];
pub(super) const AGENTS: &[&str] = &[
    "curl/8.1",
    "CURL/8.1",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/128.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/128.0.0.0 Safari/537.37",
    "Mozilla/5.0 (compatible; a-bot/2.1; +http://b.example/bot.html)",
    "bot",
];
/// Parts of all of these, and near misses.
const PARTS: &[&str] = &[
    "",
    "a",
    "b",
    "ab",
    "/",
    "/a",
    "/a/",
    "/a/b",
    "/api/",
    "/api/v1",
    "v1/users",
    ".php",
    ".json",
    ".example",
    "www.",
    "bot",
    "BOT",
    "curl",
    "Mozilla/5.0 (X11",
    "Chrome/128.0.0.0 Safari/537.3",
    "Safari/537.36",
    "debug=",
    "\u{fffd}",
    "zzz",
    "\u{e9}",
];
const PATTERNS: &[&str] = &[
    "bot",
    "(?i)BOT|curl",
    "^/a",
    "^/a$",
    "^/a/b(/|$)",
    "^(GET|PUT)$",
    "[0-9]+",
    "^[a-z.]+$",
    "(?i)^mozilla/5[.]0 .*safari",
    "\\.(php|json)$",
    "/v[0-9]+/(users|teams)",
    "a.*b",
    "",
    "^$",
    "(a|b)$",
    "curl/(7|8)",
    "\\bbot\\b",
    "(?s).",
    "(?i)k|\u{e9}",
    "zzz|yyy",
];
const NUMBERS: &[&str] = &["7", "42", "-1", "x", "9223372036854775807", ""];
pub(super) const ADDRESSES: &[&str] =
    &["10.0.0.1", "10.1.2.3", "192.168.1.77", "203.0.113.9", "::ffff:10.1.2.3", "::1", "2001:db8::1", "2001:db8:1::9"];
pub(super) const NETWORKS: &[&str] = &[
    "10.0.0.0/8",
    "10.1.0.0/16",
    "10.1.2.3/32",
    "192.168.0.0/16",
    "192.168.1.64/26",
    "0.0.0.0/0",
    "::/0",
    "::1/128",
    "2001:db8::/32",
    "2001:db8:1::/48",
    "172.16.0.0/12",
    "::ffff:a01:0/112",
    "::ffff:0:0/96",
    "::ffff:a01:0/90",
];
pub(super) const PORTS: &[u16] = &[1, 80, 443, 8080, 65535];

fn quoted(text: &str) -> String {
    // What JSON escapes, CEL does too.
    serde_json::Value::from(text).to_string()
}

fn one(rng: &mut Rng, of: &[&'static str]) -> &'static str {
    rng.pick::<&str>(of)
}

fn list(texts: impl Iterator<Item = String>) -> String {
    format!("[{}]", texts.collect::<Vec<_>>().join(", "))
}

/// A field with text, and the words it may hold.
pub(super) fn field(rng: &mut Rng) -> (String, &'static [&'static str]) {
    let header = |rng: &mut Rng| {
        let name = *rng.pick(HEADERS);
        let words = match name {
            "user-agent" => AGENTS,
            "X-N" => NUMBERS,
            _ => VALUES,
        };
        (quoted(name), words)
    };
    match rng.below(15) {
        0 => ("request.method".into(), METHODS),
        1 | 2 => ("request.host".into(), HOSTS),
        3..6 => ("request.path".into(), PATHS),
        6 => ("request.query".into(), QUERIES),
        7 => ("source.address".into(), ADDRESSES),
        8..12 => {
            let (name, words) = header(rng);
            (format!("request.headers[{name}]"), words)
        }
        12 => {
            let (name, words) = header(rng);
            (format!("request.headers[?{name}].orValue({})", quoted(one(rng, words))), words)
        }
        13 => {
            let (name, words) = header(rng);
            (format!("default(request.headers[{name}], {})", quoted(one(rng, words))), words)
        }
        _ => {
            let (text, words) = field(rng);
            let turned = *rng.pick(&["lowerAscii", "upperAscii", "trim"]);
            (format!("{text}.{turned}()"), words)
        }
    }
}

fn word(rng: &mut Rng, words: &[&str]) -> String {
    if rng.chance(5) {
        return quoted(one(rng, PARTS));
    }
    let word = *rng.pick(words);
    quoted(&if rng.chance(10) { word.to_ascii_lowercase() } else { word.to_owned() })
}

/// One of the words that requests and rules are made of.
pub fn word_or_part(rng: &mut Rng) -> &'static str {
    let of = *rng.pick(&[METHODS, HOSTS, PATHS, QUERIES, VALUES, AGENTS, PARTS]);
    one(rng, of)
}

fn words(rng: &mut Rng, of: &[&str]) -> String {
    let many = *rng.pick(&[1, 2, 3, 12]);
    list((0..many).map(|n| if n < 5 { word(rng, of) } else { quoted(&format!("none-{n}")) }))
}

/// A test of a text by a method with a constant.
fn tested(rng: &mut Rng, method: &str) -> String {
    let (text, _) = field(rng);
    format!("{text}.{method}({})", quoted(one(rng, PARTS)))
}

fn compared(rng: &mut Rng) -> &'static str {
    one(rng, &["==", "!=", "<", "<=", ">", ">="])
}

type Write = fn(&mut Rng) -> String;

/// The kinds of single conditions.
pub const ATOMS: &[(&str, Write)] = &[
    ("equal", |rng| {
        let (text, of) = field(rng);
        let word = word(rng, of);
        if rng.chance(15) { format!("{word} == {text}") } else { format!("{text} == {word}") }
    }),
    ("unequal", |rng| {
        let (text, of) = field(rng);
        format!("{text} != {}", word(rng, of))
    }),
    ("in list", |rng| {
        let (text, of) = field(rng);
        format!("{text} in {}", words(rng, of))
    }),
    ("startsWith", |rng| tested(rng, "startsWith")),
    ("endsWith", |rng| tested(rng, "endsWith")),
    ("contains", |rng| tested(rng, "contains")),
    ("matches", |rng| {
        let (text, _) = field(rng);
        format!("{text}.matches({})", quoted(one(rng, PATTERNS)))
    }),
    ("size", |rng| {
        let (text, _) = field(rng);
        format!("size({text}) {} {}", compared(rng), rng.below(14))
    }),
    ("order of texts", |rng| {
        let (text, of) = field(rng);
        format!("{text} {} {}", compared(rng), word(rng, of))
    }),
    ("two fields", |rng| {
        let (a, b) = (field(rng).0, field(rng).0);
        format!("{a} == {b}")
    }),
    ("network", |rng| format!("cidr({}).containsIP(source.address)", quoted(one(rng, NETWORKS)))),
    ("networks", |rng| {
        let many = 1 + rng.below(4);
        let networks = list((0..many).map(|_| quoted(one(rng, NETWORKS))));
        format!("{networks}.exists(n, cidr(n).containsIP(source.address))")
    }),
    ("port", |rng| format!("source.port {} {}", compared(rng), rng.pick(PORTS))),
    ("port in list", |rng| {
        let many = 1 + rng.below(4);
        format!("source.port in {}", list((0..many).map(|_| rng.pick(PORTS).to_string())))
    }),
    ("number in a header", |rng| {
        format!("int(request.headers['x-n']) {} {}", compared(rng), rng.pick(&[-1, 7, 8, 42]))
    }),
    ("numbers of two types", |rng| {
        let port = rng.pick(PORTS);
        if rng.chance(50) { format!("dyn(source.port) == {port}.0") } else { format!("dyn(source.port) == {port}u") }
    }),
    ("size of the body", |rng| format!("size(request.body) {} {}", compared(rng), rng.below(4))),
    ("header present", |rng| {
        let name = *rng.pick(HEADERS);
        if rng.chance(70) { format!("{} in request.headers", quoted(name)) } else { "has(request.headers.user)".into() }
    }),
    ("header absent", |rng| format!("!({} in request.headers)", quoted(one(rng, HEADERS)))),
    ("field present", |rng| {
        let field = *rng.pick(&["request.query", "request.host", "request.scheme", "source.address", "request.body"]);
        format!("has({field})")
    }),
    ("guarded header", |rng| {
        let name = *rng.pick(HEADERS);
        let (name, of) = (quoted(name), if name == "user-agent" { AGENTS } else { VALUES });
        let test = match rng.below(4) {
            0 | 1 => format!("== {}", word(rng, of)),
            2 => format!("in {}", words(rng, of)),
            _ => format!("!= {}", word(rng, of)),
        };
        format!("{name} in request.headers && request.headers[{name}] {test}")
    }),
    ("guarded field", |rng| format!("has(request.query) && request.query == {}", word(rng, QUERIES))),
    ("exists in words", |rng| {
        let (text, of) = field(rng);
        match rng.below(3) {
            0 => format!("{}.exists(w, {text} == w)", words(rng, of)),
            1 => format!("{}.exists(w, {text}.startsWith(w))", words(rng, PARTS)),
            _ => format!("{}.all(w, !{text}.contains(w))", words(rng, PARTS)),
        }
    }),
    ("exists in headers", |rng| match rng.below(3) {
        0 => format!("request.headers.exists(k, k.endsWith({}))", quoted(one(rng, &["a", "b", "n", "t", "z"]))),
        1 => format!("request.headers.exists(k, v, v == {})", word(rng, VALUES)),
        _ => format!("request.headers.all(k, v, size(v) < {})", rng.below(9)),
    }),
    ("headers in another form", |rng| {
        let (name, part) = (quoted(one(rng, HEADERS)), word(rng, VALUES));
        match rng.below(6) {
            0 => format!("request.headers.raw()[{name}] == [{part}]"),
            1 => format!("{part} in request.headers.split()[{name}]"),
            2 => format!("request.headers.join()[{name}] == {part}"),
            3 => format!("request.headers.redacted()[{name}] == {part}"),
            4 => format!("request.headers.cookie('a') == {part}"),
            _ => format!("request.uri.query('a') == [{part}]"),
        }
    }),
    ("bound", |rng| {
        let (text, of) = field(rng);
        let (a, b) = (word(rng, of), quoted(one(rng, PARTS)));
        format!("cel.bind(t, {text}, t == {a} || t.endsWith({b}))")
    }),
    ("built text", |rng| {
        let (text, of) = field(rng);
        format!("{text} + 'x' == {} + 'x'", word(rng, of))
    }),
    ("constant", |rng| rng.pick(&["true", "false", "1 == 1", "'a' == 'b'"]).to_string()),
    ("always fails", |rng| {
        let fails = [
            "1 / (size(request.path) - size(request.path)) == 1",
            "request.headers['x-none'] == 'a'",
            "int('x') == 1",
            "[1][size(request.path) + 1] == 1",
            "request.headers['x-none'].matches('a')",
        ];
        rng.pick(&fails).to_string()
    }),
];

/// A condition of one kind.
#[must_use]
pub fn atom(rng: &mut Rng) -> String {
    let (_, write) = match rng.below(10) {
        // What rules are mostly made of.
        0..5 => rng.pick(ATOMS.get(..12).unwrap_or(ATOMS)),
        // Not what decides alone.
        _ => rng.pick(ATOMS.get(..ATOMS.len() - 2).unwrap_or(ATOMS)),
    };
    write(rng)
}

fn joined(rng: &mut Rng, many: usize, with: &str, mut part: impl FnMut(&mut Rng) -> String) -> String {
    let parts: Vec<String> = (0..many).map(|_| part(rng)).collect();
    parts.join(with)
}

fn conjunct(rng: &mut Rng, depth: usize) -> String {
    match rng.below(20) {
        0..12 => format!("({})", atom(rng)),
        12 | 13 => format!("!({})", atom(rng)),
        14..18 if depth > 0 => {
            let many = 2 + rng.below(3);
            let branches = joined(rng, many, " || ", |rng| {
                let many = 1 + rng.below(2);
                format!("({})", joined(rng, many, " && ", |rng| conjunct(rng, depth - 1)))
            });
            format!("({branches})")
        }
        18 if depth > 0 => {
            let (a, b, c) = (conjunct(rng, 0), conjunct(rng, depth - 1), conjunct(rng, depth - 1));
            format!("({a} ? {b} : {c})")
        }
        19 if depth > 0 => format!("!({} && {})", conjunct(rng, depth - 1), conjunct(rng, depth - 1)),
        _ => format!("({})", ATOMS.last().map_or_else(String::new, |(_, write)| write(rng))),
    }
}

/// A rule: one to three conditions, some of them of several branches.
#[must_use]
pub fn rule(rng: &mut Rng) -> String {
    match rng.below(100) {
        0..3 => rng.pick(ATOMS).1(rng),
        3..28 => atom(rng),
        28..40 => {
            let many = 2 + rng.below(4);
            joined(rng, many, " || ", |rng| format!("({})", joined(rng, 2, " && ", |rng| conjunct(rng, 0))))
        }
        _ => {
            let many = 1 + rng.below(3);
            joined(rng, many, " && ", |rng| conjunct(rng, 2))
        }
    }
}

/// A rule that is false for every request, and never fails. Each number has one of its own.
#[must_use]
pub fn never(n: usize) -> String {
    match n % 7 {
        0 => format!("request.path == '/never/{n}'"),
        1 => format!("request.path.startsWith('/a/never-{n}/')"),
        2 => format!("'user-agent' in request.headers && request.headers['user-agent'] == 'curl/8.1-{n}'"),
        3 => format!("request.headers[?'x-a'].orValue('').contains('a-{n}-b')"),
        4 => format!("request.path.matches('^/never/{n}/[a-z]+$') && request.method == 'GET'"),
        5 => format!("request.method in ['N{n}', 'M{n}', 'L{n}']"),
        _ => format!("default(request.host, '').endsWith('.never-{n}') || request.path.endsWith('.n{n}')"),
    }
}

/// A request and its peer.
pub struct Sample {
    /// The head.
    pub request: Request<()>,
    /// The peer, if known.
    pub peer: Option<SocketAddr>,
    /// The body, if known.
    pub body: Option<Vec<u8>>,
}

impl Sample {
    /// The request as rules read it.
    #[must_use]
    pub fn context(&self) -> RequestContext<'_> {
        let mut context = RequestContext::new(&self.request);
        if let Some(peer) = self.peer {
            context = context.with_source(peer);
        }
        match &self.body {
            Some(body) => context.with_body(body),
            None => context,
        }
    }
}

impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {:?}", self.request.method(), self.request.uri())?;
        for (name, value) in self.request.headers() {
            writeln!(f, "{name}: {:?}", value.as_bytes().escape_ascii().to_string())?;
        }
        write!(f, "from {:?} with body {:?}", self.peer, self.body)
    }
}

fn headers(rng: &mut Rng, host: &str, into: &mut HeaderMap) {
    let mut add = |name: &str, value: &[u8]| {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(value)) {
            into.append(name, value);
        }
    };
    if rng.chance(70) {
        add("host", host.as_bytes());
    }
    if rng.chance(20) {
        add("cookie", b"b=a; a=b");
    }
    for name in HEADERS.iter().take(HEADERS.len() - 1) {
        if rng.chance(50) {
            continue;
        }
        let words = match *name {
            "user-agent" => AGENTS,
            "X-N" => NUMBERS,
            _ => VALUES,
        };
        let lines = if rng.chance(15) { 2 } else { 1 };
        for _ in 0..lines {
            match rng.below(10) {
                0 => add(name, b"a\xffb"),
                1 if rng.chance(30) => add(name, b"\xc3"),
                _ => add(name, one(rng, words).as_bytes()),
            }
        }
    }
}

/// A request.
#[must_use]
pub fn sample(rng: &mut Rng) -> Sample {
    let (method, host, path) = (*rng.pick(METHODS), *rng.pick(HOSTS), *rng.pick(PATHS));
    let query = if rng.chance(50) { format!("?{}", rng.pick(QUERIES)) } else { String::new() };
    let uri = match rng.below(10) {
        0..6 => format!("{path}{query}"),
        6..9 if !host.is_empty() => format!("https://{host}{path}{query}"),
        9 => "a.example:443".into(),
        _ => "*".into(),
    };
    let mut request = Request::builder().method(method).uri(uri).body(()).unwrap_or_default();
    headers(rng, host, request.headers_mut());
    let address: Option<IpAddr> = rng.pick(ADDRESSES).parse().ok();
    let port = *rng.pick(PORTS);
    let peer = address.filter(|_| rng.chance(85)).map(|address| SocketAddr::new(address, port));
    let body = rng.chance(50).then(|| vec![b'{'; rng.below(4)]);
    Sample { request, peer, body }
}
