//! The same requests spelled in thousands of ways, through the proxy to an echo server. One sentence is checked: *if the rule on the
//! canonical request denies, nothing reaches the server; if it allows, the server got what the rule saw.*
//!
//! The seed is fixed. `CELERO_SPELLINGS` sets the number of spellings (10,000 otherwise), half of them over HTTP/2.

use crate::client::{Client, Echo};
use crate::h2::exchange;
use crate::running::Running;
use http::Request;
use std::net::SocketAddr;

/// What the rules saw is told to the server in fields that they set.
const POLICY: &str = r#"
request:
  - { name: admin, when: 'request.path == "/admin" || request.path.startsWith("/admin/")', deny: 403 }
  - { name: host, when: 'request.host == "admin.example"', deny: 403 }
  - name: seen
    setHeaders:
      x-path: "${request.pathAndQuery}"
      x-host: "${request.host}"
      x-user: policy
    removeHeaders: [x-restricted]
"#;

/// A generator with a fixed seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % count as u64).unwrap()
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// A request in one spelling.
struct Spelling {
    target: String,
    host: String,
    fields: Vec<&'static str>,
    /// Whether a server could take it for the forbidden path or host.
    forbidden: bool,
}

fn spell(random: &mut Random) -> Spelling {
    let forbidden_path = random.below(2) == 0;
    let segments: &[&str] = if forbidden_path { &["admin", "x"] } else { &["open", "y~z"] };
    let mut target = String::new();
    for segment in segments {
        target.push_str(random.pick(&["/", "/", "/", "//", "/./", "/q/../", "/%2e/", "/q/%2E%2e/", "///", "/.//"]));
        for letter in segment.chars() {
            match random.below(8) {
                0 => target.push_str(&format!("%{:02x}", letter as u32)),
                1 => target.push_str(&format!("%{:02X}", letter as u32)),
                _ => target.push(letter),
            }
        }
    }
    target.push_str(
        random.pick(&["", "", "", "", "/", "/.", "/b/..", "?q=//../", "#f", "%2f", "%5c", "%00", "%", "\\", "/..;/"]),
    );
    let forbidden_host = random.below(3) == 0;
    let mut host: String = if forbidden_host { "admin.example" } else { "open.example" }.to_owned();
    if random.below(3) == 0 {
        host = host.chars().map(|c| if random.below(2) == 0 { c.to_ascii_uppercase() } else { c }).collect();
    }
    host.push_str(random.pick(&["", "", "", ".", ":80", ":", ".:8080", ":0443", ":x", ":99999"]));
    let choices = [
        "x-user: client",
        "x-restricted: client",
        "X-User: client",
        "x_user: client",
        "x.restricted: client",
        "cookie: a=1",
        "cookie: b=2",
        "x-other: 1",
        "X-Other: 2",
        "accept: */*",
        "content-length: 0",
        "content-length: +0",
        "transfer-encoding: xchunked",
    ];
    let fields = (0..random.below(4)).map(|_| random.pick(&choices)).collect();
    Spelling { target, host, fields, forbidden: forbidden_path || forbidden_host }
}

/// Compares what the server got with what the rules told it that they saw.
fn check(echo: &Echo, spelling: &str) {
    let one = |name: &str| {
        let values = echo.header(name);
        assert_eq!(values.len(), 1, "{name} of {spelling}: {:?}", echo.0);
        values[0].to_owned()
    };
    // HTTP/2 has scheme and host in the target.
    let target: http::Uri = echo.0["target"].as_str().unwrap().parse().unwrap();
    let path = target.path_and_query().unwrap().as_str();
    assert_eq!(path, one("x-path"), "{spelling}");
    let host = one("host");
    assert_eq!(host.split(':').next(), Some(&*one("x-host")), "{spelling}");
    assert_eq!((one("x-user").as_str(), echo.header("x-restricted").len()), ("policy", 0), "{spelling}");
    let imitated = |name: &str| echo.header(name).is_empty();
    assert!(
        imitated("x_user") && imitated("x.restricted") && echo.header("cookie").len() <= 1,
        "{spelling}: {:?}",
        echo.0
    );
}

fn over_http1(address: SocketAddr, seed: u64, count: usize) -> usize {
    let mut random = Random(seed);
    let (mut client, mut allowed) = (Client::connect(address), 0);
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
            client = Client::connect(address);
            continue;
        };
        match reply.status {
            200 => {
                assert!(!spelling.forbidden, "a forbidden request reached the server:\n{head}");
                check(&reply.echo(), &head);
                allowed += 1;
            }
            400 | 403 => {}
            other => panic!("status {other} for\n{head}"),
        }
        if reply.header("connection") != "keep-alive" {
            client = Client::connect(address);
        }
    }
    allowed
}

fn over_http2(address: SocketAddr, seed: u64, count: usize) -> usize {
    let mut random = Random(seed);
    let (mut allowed, mut left) = (0, count);
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
            match response.status().as_u16() {
                200 => {
                    assert!(!forbidden, "a forbidden request reached the server: {shown}");
                    check(&Echo(serde_json::from_slice(response.body()).unwrap()), &shown);
                    allowed += 1;
                }
                400 | 403 => {}
                other => panic!("status {other} for {shown}"),
            }
        }
    }
    allowed
}

#[test]
fn no_spelling_passes_a_rule() {
    let count = std::env::var("CELERO_SPELLINGS").map_or(10_000, |count| count.parse().expect("a number of spellings"));
    let proxy = Running::demo(POLICY);
    let address = proxy.address;
    let allowed: Vec<usize> = std::thread::scope(|scope| {
        let http1 = (0..2).map(|seed| scope.spawn(move || over_http1(address, seed, count / 4)));
        let http2 = (2..4).map(|seed| scope.spawn(move || over_http2(address, seed, count / 4)));
        let threads: Vec<_> = http1.chain(http2).collect();
        threads.into_iter().map(|thread| thread.join().expect("no violation")).collect()
    });
    // Without requests that pass, nothing would be compared.
    assert!(allowed.iter().all(|allowed| *allowed > count / 100), "{allowed:?} of {count}");
}
