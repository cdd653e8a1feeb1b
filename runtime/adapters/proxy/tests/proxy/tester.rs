//! `celero test` decides as the proxy does: requests are sent to the proxy, and what it answered
//! and its server got is the expectation of a case with the same request.
//!
//! The requests are the products of the tables below, the spellings of `spellings`, the heads of
//! `smuggling`, and real ones if the shared data is there (`CELERO_SHARED`).

use crate::client::Client;
use crate::h2::exchange;
use crate::protocols::OF_PROXY;
use crate::recorder::Recorder;
use crate::running::{Running, say};
use crate::smuggling;
use crate::spellings::{Random, spell};
use celero_policy::Policy;
use celero_policy::canonical::Refusal;
use http::Version;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Each rule answers with a status of its own. What the last one reads, the server gets.
const POLICY: &str = r#"
request:
  - { name: admin, when: 'request.path == "/admin" || request.path.startsWith("/admin/")', deny: 403 }
  - { name: host, when: 'request.host == "admin.example"', deny: 410 }
  - { name: role, when: 'request.headers[?"x-role"].orValue("").split(",").exists(role, role == "admin")', deny: 409 }
  - name: seen
    setHeaders:
      x-method: "${request.method}"
      x-scheme: "${request.scheme}"
      x-version: "${request.version}"
      x-host: "${request.host}"
      x-port: "${default(request.port, 0)}"
      x-path: "${request.path}"
      x-query: "${default(request.query, '')}."
      x-raw: "${request.rawPath}."
      x-user: policy
    removeHeaders: [x-restricted]
"#;

/// What the rule sets.
const SET: [&str; 9] =
    ["x-method", "x-scheme", "x-version", "x-host", "x-port", "x-path", "x-query", "x-raw", "x-user"];

/// Fields that Pingora writes for the connection to the server.
const FRAMING: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

/// A request as its client sends it.
#[derive(Clone, Debug)]
struct Wire {
    version: Version,
    method: String,
    /// The target of HTTP/1, or the URL of HTTP/2.
    target: String,
    fields: Vec<(String, String)>,
    body: String,
}

/// What became of a request.
struct Seen {
    status: u16,
    body: Vec<u8>,
}

impl Wire {
    fn new(version: Version, method: &str, target: &str, fields: &[&str]) -> Self {
        let fields = fields.iter().filter_map(|line| line.split_once(':'));
        let fields =
            fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).to_owned()));
        let (method, target) = (method.to_owned(), target.to_owned());
        Self { version, method, target, fields: fields.collect(), body: String::new() }
    }

    /// Sends the request on a connection of its own.
    fn send(&self, address: SocketAddr) -> Option<Seen> {
        let mut head = format!("{} {} {:?}\r\n", self.method, self.target, self.version);
        self.fields.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        let mut client = Client::connect(address);
        client.send(format!("{head}\r\n{}", self.body));
        loop {
            let reply = client.try_reply(self.method != "HEAD").ok()?;
            if reply.status != 100 {
                return Some(Seen { status: reply.status, body: reply.body });
            }
        }
    }

    fn request(&self) -> Option<http::Request<Vec<u8>>> {
        let request = http::Request::builder().version(self.version).method(&*self.method).uri(&*self.target);
        let fields = self.fields.iter();
        fields.fold(request, |request, (name, value)| request.header(name, value)).body(Vec::new()).ok()
    }

    /// Returns the request of a case.
    fn case(&self) -> Json {
        let mut headers = BTreeMap::<&str, Vec<&str>>::new();
        headers.entry("host").or_default();
        self.fields.iter().for_each(|(name, value)| headers.entry(name).or_default().push(value));
        if self.version == Version::HTTP_2 {
            headers.retain(|_, values| !values.is_empty());
        }
        let mut request = json!({ "method": self.method, "uri": self.target, "headers": headers });
        if !self.body.is_empty() {
            request["body"] = self.body.clone().into();
        }
        let is_usual = if self.target.starts_with('/') { Version::HTTP_11 } else { Version::HTTP_2 };
        if self.version != is_usual {
            request["version"] = format!("{:?}", self.version).replace("2.0", "2").into();
        }
        request
    }
}

impl Seen {
    /// Returns what a case expects that has this outcome.
    fn expectation(&self, wire: &Wire) -> Json {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        if self.is_refusal() {
            return json!({ "status": self.status, "rule": "normalize", "body": text });
        }
        let Ok(Json::Object(echo)) = serde_json::from_slice(&self.body) else {
            return json!({ "status": self.status });
        };
        let mut names: BTreeSet<&str> = wire.fields.iter().map(|(name, _)| &**name).chain(SET).collect();
        names.extend(["host", "x-restricted"]);
        names.retain(|name| !OF_PROXY.contains(name) && !FRAMING.contains(name));
        let headers: Map<String, Json> =
            names.into_iter().map(|name| (name.to_owned(), value(&echo["headers"], name))).collect();
        json!({ "status": self.status, "rule": "server", "uri": echo["target"], "requestHeaders": headers })
    }

    /// Whether the policy has refused the request.
    fn is_refusal(&self) -> bool {
        Refusal::ALL.iter().any(|refusal| self.body == format!("{refusal}\n").as_bytes())
    }
}

/// The value of a field that the server got. It shows each byte as a character.
fn value(headers: &Json, name: &str) -> Json {
    let fields = headers.as_array().unwrap().iter().filter(|field| field[0] == name);
    let bytes =
        |field: &Json| field[1].as_str().unwrap().chars().map(|c| u8::try_from(c).unwrap()).collect::<Vec<u8>>();
    let values: Vec<_> = fields.map(|field| String::from_utf8_lossy(&bytes(field)).into_owned()).collect();
    if values.is_empty() { Json::Null } else { values.join(",").into() }
}

/// Why a case can't say what a client sends. The proxy reads such a request in its own way.
fn unspeakable(wire: &Wire) -> Option<&'static str> {
    let has = |wanted: fn(u8) -> bool| wire.target.bytes().any(wanted);
    let length = wire.fields.iter().find(|(name, _)| name == "content-length");
    match () {
        () if has(|byte| byte == b' ') => Some("Pingora encodes a space of the target"),
        () if wire.method == "CONNECT" && !wire.fields.contains(&("host".to_owned(), wire.target.clone())) => {
            Some("Pingora refuses a tunnel to another host than `Host` with 400 and not with 405")
        }
        () if wire.target.split('?').next().is_some_and(|path| path.contains(['<', '>'])) => {
            Some("Pingora refuses a path that `http::Uri` does not take, before the policy")
        }
        () if wire.target.is_empty() => Some("a request line without a target"),
        () if length.is_some_and(|(_, length)| length.parse() != Ok(wire.body.len())) && !wire.body.is_empty() => {
            Some("its body has another length")
        }
        () => None,
    }
}

/// The proxy and its policy.
struct Pair {
    proxy: Running,
    policy: Policy,
    _server: Recorder,
    compared: usize,
    refused: usize,
    left_out: BTreeMap<&'static str, usize>,
    differences: Vec<String>,
}

impl Pair {
    fn new() -> Self {
        let server = Recorder::keeping();
        let proxy = Running::with(&server.config(), POLICY);
        let policy = Policy::parse("policy.yaml", POLICY, Path::new(".")).unwrap();
        let (left_out, differences) = (BTreeMap::new(), Vec::new());
        Self { proxy, policy, _server: server, compared: 0, refused: 0, left_out, differences }
    }

    fn compare(&mut self, wire: &Wire) {
        if let Some(reason) = unspeakable(wire) {
            *self.left_out.entry(reason).or_default() += 1;
            return;
        }
        match wire.send(self.proxy.address) {
            Some(seen) => self.judge(wire, &seen),
            None => self.differences.push(format!("no answer: {wire:?}")),
        }
    }

    /// Sends requests of HTTP/2 over one connection.
    fn compare_http2(&mut self, wires: &[Wire]) {
        let requests: Vec<_> = wires.iter().filter_map(|wire| Some((wire, wire.request()?))).collect();
        let (wires, requests): (Vec<&Wire>, Vec<_>) = requests.into_iter().unzip();
        for (response, wire) in exchange(self.proxy.address, requests).into_iter().zip(wires) {
            let status = response.status().as_u16();
            self.judge(wire, &Seen { status, body: response.into_body() });
        }
    }

    fn judge(&mut self, wire: &Wire, seen: &Seen) {
        let case = json!([{ "name": "case", "request": wire.case(), "expect": seen.expectation(wire) }]).to_string();
        let problem = match self.policy.test("cases.yaml", &case) {
            Ok(report) => (!report.passed()).then(|| report.render(false)),
            // What no client can send is an error in a file of cases.
            Err(_) if seen.status == 400 && !seen.is_refusal() => None,
            Err(error) => Some(error.render(false)),
        };
        self.compared += 1;
        self.refused += usize::from(seen.status == 400);
        let text = String::from_utf8_lossy(&seen.body);
        self.differences.extend(problem.map(|problem| format!("{wire:?}\n  {} {text}\n{problem}", seen.status)));
    }

    /// Fails if there was a difference, or nothing to compare.
    fn end(self, what: &str) {
        let Self { compared, refused, left_out, differences, .. } = self;
        say(&format!("tester: {compared} {what}, {refused} refused; left out: {left_out:?}"));
        assert!(refused > 0 && refused < compared, "{refused} of {compared}");
        let shown = &differences[..differences.len().min(12)];
        assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), shown.join("\n\n"));
    }
}

const METHODS: [&str; 7] = ["GET", "OPTIONS", "DELETE", "PURGE", "delete", "CONNECT", "HEAD"];

const TARGETS: [&str; 34] = [
    "/",
    "/admin",
    "//admin",
    "/x/../admin",
    "/%61dmin?%61",
    "/admin#x",
    "/a?b#c",
    "/a?",
    "/a\"b<c>",
    "/a?\"<>{}|",
    "/é?é",
    "*",
    "admin",
    "x:admin",
    "a.example",
    "a.example:80",
    "?a",
    "/x%2fadmin",
    "/x\\admin",
    "/a%zz",
    "/a%00",
    "/x/..;/admin",
    "http://a.example",
    "http://a.example?x",
    "http://a.example/",
    "http://a.example//x/../admin",
    "http://A.Example/x",
    "http://a.example:80/x",
    "http://a.example./x",
    "HTTP://a.example/x",
    "https://a.example/x",
    "ftp://a.example/x",
    "http://u@a.example/x",
    "http:/a.example/x",
];

const HOSTS: [&[&str]; 14] = [
    &["host: a.example"],
    &["host: A.Example"],
    &["host: a.example:80"],
    &["host: a.example:0443"],
    &["host: a.example."],
    &["host: admin.example"],
    &["host: u@a.example"],
    &["host: 127.1"],
    &["host:"],
    &["host: a b"],
    &["host: [::1]:80"],
    &["host: a.example", "host: a.example"],
    &["host: a.example, b"],
    &[],
];

const FIELDS: [&[&str]; 27] = [
    &["connection: close, x-user, x-restricted", "x-user: client", "x-restricted: client"],
    &["connection: keep-alive, X-Private", "x-private: 1"],
    &["connection: host"],
    &["connection: upgrade", "upgrade: websocket"],
    &["connection: upgrade", "upgrade: h2c", "http2-settings: a"],
    &["te: trailers", "connection: te"],
    &["keep-alive: 1", "proxy-connection: close", "proxy-authorization: a"],
    &["x_user: client"],
    &["x.user: client"],
    &["x_other: 1"],
    &["content_length: 5"],
    &["content-length: 0"],
    &["content-length: 0", "content-length: 0"],
    &["content-length: +0"],
    &["content-length: 0, 0"],
    &["content-length: 0", "transfer-encoding: chunked"],
    &["transfer-encoding: gzip, chunked"],
    &["transfer-encoding: chunked", "transfer-encoding: chunked"],
    &["cookie: a=1", "cookie: b=2"],
    &["authorization: a", "authorization: b"],
    &["x-role:  admin "],
    &["x-role: guest", "x-role: admin"],
    &["expect: 100-continue"],
    &["expect: 1"],
    &["x-a: é", "x-b:"],
    &["x a: 1"],
    &["x-a: a\u{1}b"],
];

#[test]
fn targets_and_hosts_mean_the_same() {
    let mut pair = Pair::new();
    for version in [Version::HTTP_11, Version::HTTP_10] {
        for target in TARGETS {
            for host in HOSTS {
                pair.compare(&Wire::new(version, "GET", target, host));
            }
        }
    }
    for method in METHODS {
        for target in TARGETS {
            pair.compare(&Wire::new(Version::HTTP_11, method, target, &["host: a.example"]));
        }
    }
    pair.end("targets and hosts");
}

#[test]
fn fields_mean_the_same() {
    let mut pair = Pair::new();
    for version in [Version::HTTP_11, Version::HTTP_10] {
        for fields in FIELDS {
            let mut wire = Wire::new(version, "POST", "/x", &[&["host: a.example"], fields].concat());
            if fields.contains(&"transfer-encoding: chunked") {
                wire.body = "0\r\n\r\n".into();
            }
            pair.compare(&wire);
        }
    }
    for head in smuggling::CORPUS {
        let (fields, body) = head.split_once("\r\n\r\n").unwrap_or((head, ""));
        let lines: Vec<&str> = fields.split("\r\n").collect();
        let is_field = |line: &&str| {
            line.split_once(':').is_some_and(|(name, value)| name.trim() == name && !value.contains(['\r', '\n']))
        };
        // What is no line of a field, or a body that is not framed as its head says, is nothing that a case could have.
        if lines.iter().all(is_field) && (body.is_empty() || body.starts_with("0\r\n\r\n")) {
            let mut wire = Wire::new(Version::HTTP_11, "POST", "/x", &[&["host: a"], &lines[..]].concat());
            wire.body = body.to_owned();
            pair.compare(&wire);
        }
    }
    pair.end("fields");
}

#[test]
fn spellings_mean_the_same() {
    let (mut pair, mut random) = (Pair::new(), Random(7));
    let mut frames = Vec::new();
    for round in 0..1_500 {
        let spelling = spell(&mut random);
        let host = format!("host: {}", spelling.host);
        let (target, absolute) = (spelling.target, format!("http://{}", spelling.host));
        let (version, target) = match random.below(6) {
            0 => (Version::HTTP_10, target),
            1 => (Version::HTTP_11, format!("{absolute}{target}")),
            2 => (Version::HTTP_11, format!("http://open.example{target}")),
            _ => (Version::HTTP_11, target),
        };
        let fields: Vec<&str> = [&[&*host], &spelling.fields[..]].concat();
        pair.compare(&Wire::new(version, "GET", &target, &fields));
        if round % 3 == 0 && target.starts_with('/') {
            let mut fields = spelling.fields;
            fields.retain(|line| !line.starts_with("content-length") && !line.starts_with("transfer-encoding"));
            if random.below(4) == 0 {
                fields.push("host: open.example");
            }
            frames.push(Wire::new(Version::HTTP_2, "GET", &format!("{absolute}{target}"), &fields));
        }
    }
    for some in frames.chunks(100) {
        pair.compare_http2(some);
    }
    pair.end("spellings");
}

/// Reads the real requests of the shared data.
#[test]
fn real_requests_mean_the_same() {
    let shared = std::env::var_os("CELERO_SHARED");
    let shared = shared.map_or_else(|| crate::running::workspace().join("../shared"), PathBuf::from);
    let Ok(lines) = std::fs::read_to_string(shared.join("corpora/http_requests.jsonl")) else {
        return say("left out: real requests (set CELERO_SHARED)");
    };
    let mut pair = Pair::new();
    for line in lines.lines() {
        let request: Json = serde_json::from_str(line).unwrap();
        let text = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
        let version = match request["version"].as_str() {
            Some("HTTP/1.0") => Version::HTTP_10,
            _ => Version::HTTP_11,
        };
        let mut wire = Wire { body: text("body"), ..Wire::new(version, &text("method"), &text("uri"), &[]) };
        for (name, value) in request["headers"].as_object().unwrap() {
            wire.fields.push((name.to_ascii_lowercase(), value.as_str().unwrap_or_default().trim().to_owned()));
        }
        let is_framed = wire.fields.iter().any(|(name, _)| FRAMING[..2].contains(&&**name));
        if !is_framed && !wire.body.is_empty() {
            wire.fields.push(("content-length".into(), wire.body.len().to_string()));
        }
        pair.compare(&wire);
    }
    pair.end("real requests");
}
