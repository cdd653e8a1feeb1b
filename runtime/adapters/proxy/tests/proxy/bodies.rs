//! A body is looked at whatever the head of its request says.

use crate::client::{Client, Reply};
use crate::h2::exchange;
use crate::running::Running;
use crate::scripted::Scripted;
use http::Request;
use std::io::{Read, Write};
use std::net::TcpListener;

const RULES: &str = r#"
requestBody:
  limit: 1MiB
  rules:
    - { name: injection, when: 'string(request.body).contains("DROP TABLE")', deny: 403 }
"#;

fn proxy() -> Running {
    Running::demo(RULES)
}

/// A body that the rule denies, in this framing.
fn framed(chunked: bool) -> String {
    let body = "x; DROP TABLE users";
    if chunked {
        "transfer-encoding: chunked\r\n\r\n5\r\nx; DR\r\ne\r\nOP TABLE users\r\n0\r\n\r\n".to_owned()
    } else {
        format!("content-length: {}\r\n\r\n{body}", body.len())
    }
}

fn ask(proxy: &Running, head: &str, chunked: bool) -> Reply {
    let mut client = Client::connect(proxy.address);
    client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\n{head}{}", framed(chunked))).reply()
}

#[test]
fn a_head_cannot_hide_a_body() {
    let proxy = proxy();
    for chunked in [false, true] {
        for head in ["", "connection: close\r\n", "connection: keep-alive, x\r\n", "connection: upgrade\r\n"] {
            assert_eq!(ask(&proxy, head, chunked).status, 403, "{head:?} {chunked}");
        }
        for head in [
            "upgrade: x\r\n",
            "Upgrade:\r\n",
            "upgrade: websocket\r\n",
            "upgrade: x\r\nconnection: close\r\n",
            "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
            "connection: upgrade, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
        ] {
            assert_eq!(ask(&proxy, head, chunked).status, 400, "{head:?} {chunked}");
        }
    }
    let log = proxy.log(20);
    assert_eq!(log.iter().filter(|line| line["refused"] == "upgrade-body").count(), 12);
    assert!(log.iter().all(|line| line.get("server").is_none()), "the server was asked");
}

#[test]
fn an_upgrade_without_a_body_passes() {
    let proxy = proxy();
    let mut client = Client::connect(proxy.address);
    for head in
        ["upgrade: x\r\n", "connection: upgrade\r\nupgrade: websocket\r\n", "upgrade: x\r\ncontent-length: 0\r\n"]
    {
        assert_eq!(client.send(format!("GET /x HTTP/1.1\r\nhost: a\r\n{head}\r\n")).reply().status, 200, "{head:?}");
    }
}

#[test]
fn expectations_have_no_case() {
    let proxy = proxy();
    for expect in ["100-continue", "100-Continue", "100-CONTINUE"] {
        let mut client = Client::connect(proxy.address);
        client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: {expect}\r\n\r\n"));
        assert_eq!(client.reply().status, 100);
        let echo = client.send("body").reply().echo();
        assert_eq!(echo.0["body"], "body");
        assert!(echo.header("expect").is_empty());
    }
}

#[test]
fn unknown_expectations_are_refused() {
    let proxy = proxy();
    for expect in ["200-ok", "100-continue, magic", "magic=1;q", "100-continue\r\nexpect: magic"] {
        let mut client = Client::connect(proxy.address);
        client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: {expect}\r\n\r\nbody"));
        assert_eq!(client.reply().status, 417, "{expect:?}");
    }
    assert!(proxy.log(4).iter().all(|line| line["rule"] == "request.expect" && line.get("server").is_none()));
}

#[test]
fn transfer_codings_are_refused() {
    let proxy = proxy();
    for coding in [
        "gzip, chunked",
        "identity, chunked",
        "chunked\r\ntransfer-encoding: chunked",
        "x\r\ntransfer-encoding: chunked",
    ] {
        let mut client = Client::connect(proxy.address);
        client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: {coding}\r\n\r\n2\r\nab\r\n0\r\n\r\n"));
        assert_eq!(client.reply().status, 400, "{coding:?}");
    }
}

/// A body of `length` bytes with a marker at byte `at`.
fn marked(length: usize, at: usize) -> Vec<u8> {
    const MARKER: &[u8] = b"DROP TABLE";
    let mut body = vec![b'x'; length];
    body[at..at + MARKER.len()].copy_from_slice(MARKER);
    body
}

/// Sends a body in chunks of these lengths, in turn.
fn send_chunked(client: &mut Client, body: &[u8], lengths: &[usize]) -> Reply {
    client.send("POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    let (mut rest, mut lengths) = (body, lengths.iter().cycle());
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
        client.send(format!("{:x}\r\n", chunk.len())).send(chunk).send("\r\n");
        rest = after;
    }
    client.send("0\r\n\r\n").reply()
}

/// Sends a body over HTTP/2 without its length.
fn send_h2(proxy: &Running, body: &[u8]) -> (u16, Vec<u8>) {
    let request = Request::post("http://a/x").version(http::Version::HTTP_2).body(body.to_vec()).unwrap();
    let response = exchange(proxy.address, vec![request]).remove(0);
    (response.status().as_u16(), response.into_body())
}

#[test]
fn the_limit_is_the_same_for_every_framing() {
    const LIMIT: usize = 200 << 10;
    for upstream in ["demo: true", "demo: true, h2c: true"] {
        let rest = format!("upstreams: [{{ name: demo, {upstream} }}]\nroutes: [{{ upstream: demo }}]\n");
        let proxy = Running::with(&rest, &RULES.replace("1MiB", "200KiB"));
        let mut client = Client::connect(proxy.address);
        for at in [0, 65_520, 65_530, 65_600, LIMIT - 10] {
            let body = marked(LIMIT, at);
            assert_eq!(client.request("POST /x", &[], &body).reply().status, 403, "{at}");
            assert_eq!(send_chunked(&mut client, &body, &[70_000, 1, 9]).status, 403, "{at}");
            assert_eq!(send_h2(&proxy, &body).0, 403, "{at}");
        }
        for length in [1, 65_535, 65_536, 65_537, LIMIT] {
            let body = vec![b'y'; length];
            assert_eq!(client.request("POST /x", &[], &body).reply().echo().0["bodyLength"], length);
            assert_eq!(send_chunked(&mut client, &body, &[LIMIT]).echo().0["bodyLength"], length);
            assert_eq!(send_chunked(&mut client, &body, &[3, 65_536, 16_000]).echo().0["bodyLength"], length);
            let (status, echo) = send_h2(&proxy, &body);
            let echo: serde_json::Value = serde_json::from_slice(&echo).unwrap();
            assert_eq!((status, &echo["bodyLength"]), (200, &length.into()));
        }
        let larger = vec![b'x'; LIMIT + 1];
        assert_eq!(client.request("POST /x", &[], &larger).reply().status, 413);
        assert_eq!(send_chunked(&mut Client::connect(proxy.address), &larger, &[50_000]).status, 413);
        assert_eq!(send_h2(&proxy, &larger).0, 413);
    }
}

#[test]
fn larger_bodies_are_skipped_in_every_framing() {
    let proxy = Running::demo(&RULES.replace("limit: 1MiB", "limit: 100KiB\n  tooLarge: skip"));
    let mut client = Client::connect(proxy.address);
    for (length, status) in [(100 << 10, 403), ((100 << 10) + 1, 200), (200_000, 200)] {
        let body = marked(length, 65_600);
        let mut replies = vec![client.request("POST /x", &[], &body).reply()];
        replies.push(send_chunked(&mut client, &body, &[length]));
        replies.push(send_chunked(&mut client, &body, &[4096, 1]));
        for reply in replies {
            assert_eq!(reply.status, status, "{length}");
            assert!(status != 200 || reply.echo().0["bodyLength"] == length);
        }
        let (h2, echo) = send_h2(&proxy, &body);
        assert_eq!(h2, status, "{length}");
        let echo = serde_json::from_slice::<serde_json::Value>(&echo).unwrap_or_default();
        assert!(status != 200 || echo["bodyLength"] == length);
    }
}

#[test]
fn trailers_do_not_reach_the_server() {
    let proxy = Running::demo("request: [{ setHeaders: { x-user: ada }, removeHeaders: [x-role] }]\n");
    let with_rules =
        Running::demo(&format!("request: [{{ setHeaders: {{ x-user: ada }}, removeHeaders: [x-role] }}]\n{RULES}"));
    for proxy in [&proxy, &with_rules] {
        let mut client = Client::connect(proxy.address);
        client.send(
            "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntrailer: x-user, x-role\r\n\r\n2\r\nab\r\n",
        );
        let echo = client.send("0\r\nx-user: eve\r\nx-role: admin\r\ncontent-length: 5\r\n\r\n").reply().echo();
        assert_eq!((echo.header("x-user"), echo.header("x-role")), (vec!["ada"], vec![]));
        assert_eq!(echo.0["body"], "ab");
        assert_eq!(client.request("GET /x", &[], b"").reply().status, 200, "the connection is still in step");
    }
}

/// Starts a server that closes its first connection after the request's head, and answers the
/// requests after with the length of their bodies.
fn unreliable(requests: usize) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut served = 0;
        for stream in listener.incoming() {
            let (mut stream, mut read, mut piece) = (stream.unwrap(), Vec::new(), vec![0; 1 << 16]);
            loop {
                let count = stream.read(&mut piece).unwrap_or(0);
                read.extend_from_slice(&piece[..count]);
                let text = String::from_utf8_lossy(&read);
                if count == 0 || (served > 0 && text.ends_with("end\r\n0\r\n\r\n")) {
                    break;
                }
                if served == 0 && text.contains("\r\n\r\n") {
                    break;
                }
            }
            served += 1;
            if served > 1 {
                let body = read.iter().filter(|byte| **byte == b'z').count().to_string();
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(answer.as_bytes());
            }
            if served == requests {
                return;
            }
        }
    });
    address
}

#[test]
fn a_large_body_is_sent_again_to_the_next_server() {
    let server = unreliable(2);
    // A port where nobody listens comes first.
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let upstreams = format!(
        "upstreams: [{{ name: two, servers: [\"{dead}\", \"{server}\"] }}]\nroutes: [{{ upstream: two }}]\nretries: 3\n"
    );
    let proxy = Running::with(&upstreams, RULES);
    let mut body = vec![b'z'; 300_000];
    body.extend_from_slice(b"end");
    let mut statuses = Vec::new();
    for _ in 0..2 {
        let mut client = Client::connect(proxy.address);
        client.send("PUT /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
        let reply = client.send(format!("{:x}\r\n", body.len())).send(&body).send("\r\n0\r\n\r\n").reply();
        statuses.push((reply.status, reply.text()));
    }
    assert_eq!(statuses.last().unwrap(), &(200, "300000".to_owned()), "{statuses:?}");
}

/// Rules about some bodies only.
const SOME: &str = r#"
requestBody:
  limit: 1KiB
  rules:
    - { name: login, when: 'request.path.startsWith("/login") && string(request.body).contains("DROP TABLE")', deny: 403 }
responseBody:
  limit: 1KiB
  rules:
    - { name: secret, when: 'response.code == 200 && string(response.body).contains("SECRET")', deny: 502 }
"#;

/// A body that no rule can match is neither held back nor bounded, in either direction; others are.
#[test]
fn a_body_that_no_rule_needs_is_streamed() {
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), SOME);
    let mut client = Client::connect(proxy.address);
    let framing = "transfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n";
    client.send(format!("POST /upload HTTP/1.1\r\nhost: a\r\n{framing}"));
    server.until("\r\n\r\n");
    server.say("HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.reply().status, 100);
    client.send("5\r\nfirst\r\n");
    server.until("first");
    server.say("HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n6\r\nSECRET\r\n");
    client.send(format!("800\r\n{}\r\n3\r\nend\r\n0\r\n\r\n", "x".repeat(0x800)));
    server.until("end");
    let head = client.try_reply(false).unwrap();
    assert_eq!((head.status, client.chunk()), (404, b"SECRET".to_vec()));
    server.say(format!("800\r\n{}\r\n0\r\n\r\n", "y".repeat(0x800)));
    assert_eq!((client.chunk().len(), client.chunk().len()), (0x800, 0));

    let server = Scripted::start();
    let proxy = Running::with(&server.config(), SOME);
    let mut client = Client::connect(proxy.address);
    client.send("POST /%6cogin HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(server.is_idle(), "the server gets a body that a rule needs");
    assert_eq!(client.send("b\r\n DROP TABLE\r\n0\r\n\r\n").reply().status, 403);
    assert!(server.is_idle());
    for (path, body) in [("/login", 2048), ("/login", 2)] {
        let mut client = Client::connect(proxy.address);
        client.request(&format!("POST {path}"), &["content-encoding: gzip"], &vec![b'x'; body]);
        assert_eq!(client.reply().status, if body > 1024 { 413 } else { 415 });
    }
    assert!(server.is_idle());
}

/// Rules of a body phase of which some read no body.
const BY_HEAD: &str = r#"
requestBody:
  limit: 1KiB
  rules:
    - { name: closed, when: 'request.path == "/closed"', deny: 403 }
    - { name: mark, when: 'request.path == "/mark"', setHeaders: { x-mark: "1" } }
    - { name: login, when: 'request.method == "POST" && string(request.body).contains("DROP TABLE")', deny: 402 }
responseBody:
  limit: 1KiB
  rules:
    - { name: mark, when: 'response.code == 200', setHeaders: { x-mark: "2" } }
"#;

/// What the head decides does not wait for a body that never comes, and asks no client to send it.
#[test]
fn what_the_head_decides_waits_for_no_body() {
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), BY_HEAD);
    for framing in ["content-length: 5000", "transfer-encoding: chunked", "content-length: 9\r\nexpect: 100-continue"] {
        let mut client = Client::connect(proxy.address);
        assert_eq!(
            client.send(format!("POST /closed HTTP/1.1\r\nhost: a\r\n{framing}\r\n\r\n")).reply().status,
            403,
            "{framing}"
        );
    }
    assert!(server.is_idle());
    let mut client = Client::connect(proxy.address);
    client.send("PUT /mark HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    let head = server.until("first");
    assert!(head.contains("x-mark: 1"), "{head}");
    server.say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nreply\r\n");
    client.send(format!("800\r\n{}\r\n0\r\n\r\n", "x".repeat(0x800)));
    let head = client.try_reply(false).unwrap();
    assert_eq!((head.status, head.header("x-mark"), client.chunk()), (200, "2".to_owned(), b"reply".to_vec()));
    server.say("0\r\n\r\n");
    assert_eq!(client.chunk().len(), 0);
    // A rule that reads the body may match after one that does not.
    let mut client = Client::connect(proxy.address);
    client.send("POST /mark HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nDROP TABLE");
    assert_eq!(client.reply().status, 402);
}
