//! The same requests spelled in thousands of ways, through the proxy to an echo server. One
//! sentence is checked: *if the rule on the canonical request denies, nothing reaches the server;
//! if it allows, the server got what the rule saw.*
//!
//! The seed is fixed. `CELERO_SPELLINGS` sets the number of spellings (10,000 otherwise), half of them over HTTP/2.

mod check;
mod spelling;

use crate::client::Client;
use crate::h2::exchange;
use crate::recorder::Recorder;
use crate::running::Running;
use check::{Tally, with_server};
use http::Request;
pub(crate) use spelling::{Random, spell};
use std::net::SocketAddr;

/// What the rules saw is told to the server in fields that they set.
const POLICY: &str = r#"
request:
  - { name: admin, when: 'request.path == "/admin" || request.path.startsWith("/admin/")', deny: 403 }
  - { name: host, when: 'request.host == "admin.example"', deny: 403 }
  - { name: role, when: 'request.headers[?"x-role"].orValue("").split(",").exists(role, role == "admin")', deny: 403 }
  - name: seen
    setHeaders:
      x-path: "${request.pathAndQuery}"
      x-host: "${request.host}"
      x-user: policy
    removeHeaders: [x-restricted]
"#;

fn over_http1(address: SocketAddr, seed: u64, count: usize) -> Tally {
    let mut random = Random(seed);
    let (mut client, mut tally) = (Client::connect(address), Tally::default());
    for _ in 0..count {
        let mut spelling = spell(&mut random);
        let authority = spelling.host.clone();
        match random.below(12) {
            0 => spelling.target.insert_str(0, &format!("http://{authority}")),
            1 => spelling.target.insert_str(0, "http://admin.example"),
            2 => drop(spelling.target.remove(0)),
            _ => {}
        }
        let mut head = format!("GET {} HTTP/1.1\r\nHost: {}\r\n", spelling.target, spelling.host);
        match random.below(6) {
            0 => spelling.fields.push("connection: x-user, x-restricted"),
            1 => spelling.fields.push("connection: host"),
            2 => spelling.fields.push("host: open.example"),
            _ => {}
        }
        for field in &spelling.fields {
            head.push_str(field);
            head.push_str("\r\n");
        }
        client.send(format!("{head}\r\n"));
        let Ok(reply) = client.try_reply(true) else {
            tally.lost += 1;
            client = Client::connect(address);
            continue;
        };
        tally.take(reply.status, &reply.body, spelling.forbidden, || head.clone());
        if reply.header("connection") != "keep-alive" {
            client = Client::connect(address);
        }
    }
    tally
}

fn over_http2(address: SocketAddr, seed: u64, count: usize) -> Tally {
    let mut random = Random(seed);
    let (mut tally, mut left) = (Tally::default(), count);
    while left > 0 {
        let (mut requests, mut forbidden) = (Vec::new(), Vec::new());
        while requests.len() < left.min(100) {
            let spelling = spell(&mut random);
            let mut request =
                Request::get(format!("http://{}{}", spelling.host, spelling.target)).version(http::Version::HTTP_2);
            for (name, value) in spelling.fields.iter().filter_map(|field| field.split_once(": ")) {
                // The client itself refuses to send what HTTP/2 has not.
                if !["content-length", "transfer-encoding"].contains(&name) {
                    request = request.header(name, value);
                }
            }
            if let Ok(request) = request.body(Vec::new()) {
                forbidden.push((spelling.forbidden, format!("{request:?}")));
                requests.push(request);
            }
        }
        left -= requests.len();
        for (response, (forbidden, shown)) in exchange(address, requests).iter().zip(forbidden) {
            tally.take(response.status().as_u16(), response.body(), forbidden, || shown.clone());
        }
    }
    tally
}

/// Sends spellings over two connections of HTTP/1.1 and two of HTTP/2, and returns a tally of each.
fn run(address: SocketAddr, count: usize) -> [Tally; 4] {
    std::thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|seed| {
            let send = if seed < 2 { over_http1 } else { over_http2 };
            scope.spawn(move || send(address, seed, count / 4))
        });
        threads.map(|thread| thread.join().expect("the client runs"))
    })
}

#[test]
fn no_spelling_passes_a_rule() {
    let count = std::env::var("CELERO_SPELLINGS").map_or(10_000, |count| count.parse().expect("a number of spellings"));
    let server = Recorder::keeping();
    let proxy = Running::with(&server.config(), POLICY);
    let tallies = run(proxy.address, count);
    // Without requests that pass, nothing would be compared.
    assert!(tallies.iter().all(|tally| tally.served > count / 200), "{tallies:?}");
    let Tally { lost, violations, .. } = with_server(tallies, &server);
    assert_eq!(lost, 0, "requests without an answer");
    assert!(
        violations.is_empty(),
        "{} violations:\n{}",
        violations.len(),
        violations[..violations.len().min(9)].join("\n")
    );
}

#[test]
fn servers_of_http2_get_what_the_rules_saw() {
    let upstreams = "upstreams: [{ name: demo, demo: true, h2c: true }]\nroutes: [{ upstream: demo }]\n";
    let proxy = Running::with(upstreams, POLICY);
    let tally = run(proxy.address, 2_000).into_iter().fold(Tally::default(), Tally::and);
    assert!(tally.served > 100 && tally.violations.is_empty(), "{:?}", tally.violations);
}

/// Policies that break the promise: the check must find each of them, over HTTP/1.1 and HTTP/2.
#[test]
fn planted_faults_are_found() {
    let without = |text: &str| {
        assert!(POLICY.contains(text), "{text}");
        POLICY.replace(text, "")
    };
    let with = |option: &str| format!("normalize: {{ {option} }}\n{POLICY}");
    for (fault, policy, finding) in [
        (
            "a rule on the raw path",
            POLICY.replace("request.path ", "request.rawPath ").replace("request.path.", "request.rawPath."),
            "a forbidden request",
        ),
        ("no rule on the host", POLICY.replace("admin.example", "other.example"), "a forbidden request"),
        ("slashes stay", with("slashes: keep"), "a forbidden request"),
        ("the raw path is forwarded", with("forwardRaw: true"), "path"),
        ("imitations stay", with("underscores: keep"), "a field that imitates one"),
        (
            "a field is added, not set",
            POLICY.replace("x-user: policy", "x-other: policy"),
            "a field that the policy sets",
        ),
        ("a field stays", without("    removeHeaders: [x-restricted]\n"), "a field that the policy removes"),
    ] {
        let server = Recorder::keeping();
        let proxy = Running::with(&server.config(), &policy);
        let tallies = run(proxy.address, 1_600);
        for versions in tallies.chunks(2) {
            let found = |tally: &Tally| tally.violations.iter().any(|violation| violation.starts_with(finding));
            assert!(versions.iter().any(found), "{fault}: {:?}", versions[0].violations);
        }
    }
}
