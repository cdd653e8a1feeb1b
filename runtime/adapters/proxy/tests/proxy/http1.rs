//! HTTP/1.1 as it comes: connections that stay, large bodies, pieces, slow clients, odd headers.

use crate::client::{Client, get, get_with, post};
use crate::running::Running;
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::Duration;

const BODY_RULES: &str = r#"
requestBody:
  limit: 300KiB
  rules:
    - { name: evil, when: 'string(request.body).contains("evil")', deny: 400 }
"#;

#[test]
fn connections_stay() {
    let proxy = Running::demo("request:\n  - { name: no, when: 'request.path == \"/no\"', deny: true }\n");
    let mut client = Client::connect(proxy.address);
    for round in 0..20 {
        let path = if round % 2 == 0 { "/no" } else { "/echo" };
        let reply = client.request(&format!("POST {path}"), &[], b"body").kept();
        assert_eq!(reply.status, if round % 2 == 0 { 403 } else { 200 });
    }
}

#[test]
fn requests_may_come_before_their_predecessors_are_answered() {
    let proxy = Running::demo("request:\n  - { name: no, when: 'request.path == \"/no\"', deny: true }\n");
    let mut client = Client::connect(proxy.address);
    client.request("GET /echo", &[], b"").request("POST /no", &[], b"body").request("GET /", &[], b"");
    assert_eq!([client.kept().status, client.kept().status, client.kept().status], [200, 403, 200]);
}

#[test]
fn large_bodies_pass_whole() {
    let proxy = Running::demo("empty: allowed\n");
    let body = vec![b'x'; 3 << 20];
    assert_eq!(post(proxy.address, "/x", &body).echo().0["bodyLength"], 3 << 20);
    let proxy = Running::demo(BODY_RULES);
    for length in [1, 65_535, 65_536, 65_537, 131_072, 200_001, 300 << 10] {
        let mut body = vec![b'x'; length];
        body[length - 1] = b'y';
        let echo = post(proxy.address, "/x", &body).echo();
        assert_eq!(echo.0["bodyLength"], length);
        assert_eq!(echo.header("content-length"), [length.to_string()]);
    }
    let mut body = vec![b'x'; 200_000];
    body.extend_from_slice(b"evil");
    assert_eq!(post(proxy.address, "/x", &body).status, 400);
}

#[test]
fn bodies_beyond_the_limit_are_refused() {
    let proxy = Running::demo(BODY_RULES);
    assert_eq!(post(proxy.address, "/x", &vec![b'x'; (300 << 10) + 1]).status, 413);
    assert_eq!(get(proxy.address, "/x").status, 200);
}

#[test]
fn bodies_beyond_the_limit_pass_if_the_policy_says_so() {
    let proxy = Running::demo(&BODY_RULES.replace("300KiB", "1KiB\n  tooLarge: skip"));
    assert_eq!(post(proxy.address, "/x", &vec![b'x'; 500_000]).echo().0["bodyLength"], 500_000);
    let mut client = Client::connect(proxy.address);
    client.request("POST /x", &["transfer-encoding: chunked"], b"");
    for _ in 0..50 {
        client.send("1000\r\n").send(vec![b'z'; 4096]).send("\r\n");
    }
    let echo = client.send("0\r\n\r\n").reply().echo();
    assert_eq!(echo.0["bodyLength"], 50 * 4096);
}

#[test]
fn chunked_bodies_are_put_together() {
    let proxy = Running::demo(BODY_RULES);
    let mut client = Client::connect(proxy.address);
    client.request("POST /x", &["transfer-encoding: chunked"], b"");
    let reply = client.send("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n").reply();
    assert_eq!(reply.echo().0["body"], "abcde");
    client.request("POST /x", &["transfer-encoding: chunked"], b"");
    assert_eq!(client.send("2\r\nev\r\n2\r\nil\r\n0\r\n\r\n").reply().status, 400);
}

#[test]
fn clients_may_be_slow() {
    let proxy = Running::demo(BODY_RULES);
    let mut client = Client::connect(proxy.address);
    for byte in b"POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nslow" {
        client.send([*byte]);
        std::thread::sleep(Duration::from_millis(3));
    }
    assert_eq!(client.reply().echo().0["body"], "slow");
}

#[test]
fn clients_may_not_be_slow_for_ever() {
    let proxy = Running::with(
        "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\ntimeouts: { body: 200ms }\n",
        BODY_RULES,
    );
    let mut client = Client::connect(proxy.address);
    client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf");
    assert_eq!(client.reply().status, 408);
    assert!(client.closed());
    assert_eq!(get(proxy.address, "/").status, 200);
}

#[test]
fn a_client_that_waits_is_told_to_go_on() {
    let proxy = Running::demo(BODY_RULES);
    let mut client = Client::connect(proxy.address);
    client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n");
    assert_eq!(client.reply().status, 100);
    assert_eq!(client.send("body").reply().echo().0["body"], "body");
}

#[test]
fn a_client_that_leaves_harms_nobody() {
    let proxy = Running::demo(BODY_RULES);
    for _ in 0..5 {
        let mut client = Client::connect(proxy.address);
        client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf");
        drop(client);
    }
    assert_eq!(get(proxy.address, "/").status, 200);
    assert_eq!(proxy.log(6).len(), 6);
}

#[test]
fn headers_need_not_be_utf8() {
    let proxy = Running::demo("request:\n  - { name: bad, when: 'request.headers[\"x-a\"] == \"b\"', deny: true }\n");
    let mut client = Client::connect(proxy.address);
    client.send(b"GET /echo HTTP/1.1\r\nhost: a\r\nx-a: caf\xe9\xff\r\n\r\n");
    let echo = client.reply().echo();
    assert_eq!(echo.header("x-a"), ["caf\u{fffd}\u{fffd}"]);
    assert_eq!(get_with(proxy.address, "/echo", &["x-a: b"]).status, 403);
}

#[test]
fn headers_may_come_twice() {
    let proxy = Running::demo(
        "request:\n  - { name: both, when: 'request.headers[\"x-a\"] == \"1,2\"', setHeaders: { x-both: 'yes' } }\n",
    );
    let echo = get_with(proxy.address, "/echo", &["x-a: 1", "X-A: 2"]).echo();
    assert_eq!(echo.header("x-a"), ["1", "2"]);
    assert_eq!(echo.header("x-both"), ["yes"]);
}

#[test]
fn clients_do_not_say_who_they_are() {
    let proxy = Running::demo("empty: allowed\n");
    let echo = get_with(proxy.address, "/echo", &["x-forwarded-for: 192.0.2.1"]).echo();
    assert_eq!(echo.header("x-forwarded-for"), ["127.0.0.1"]);
}

/// Sends requests without end and reads no answer. Returns how the connection ended.
pub(crate) fn flood(connection: &mut impl Write) -> ErrorKind {
    let requests = "GET /no HTTP/1.1\r\nhost: a\r\n\r\n".repeat(100);
    std::iter::repeat_with(|| connection.write_all(requests.as_bytes())).find_map(Result::err).unwrap().kind()
}

/// Answers without a body are not written as bodies are, and Pingora has no time limit for them.
#[test]
fn clients_that_read_no_answers_are_cut_off() {
    let rest = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\ntimeouts: { send: 500ms }\n";
    let proxy = Running::with(rest, "request: [{ name: no, deny: 403 }]\n");
    let mut socket = TcpStream::connect(proxy.address).unwrap();
    socket.set_write_timeout(Some(Duration::from_secs(8))).unwrap();
    let ended = flood(&mut socket);
    assert!(matches!(ended, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{ended}");
    proxy.reaches("celero_requests_open", 0.0);
}

/// The 100 before a body is no answer.
#[test]
fn a_client_that_was_told_to_continue_is_answered() {
    let rest = "upstreams: [{ name: gone, servers: [\"127.0.0.1:1\"] }]\nroutes: [{ upstream: gone }]\n";
    let proxy = Running::with(rest, BODY_RULES);
    let mut client = Client::connect(proxy.address);
    client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n");
    assert_eq!(client.try_reply(false).unwrap().status, 100);
    client.send("body");
    assert_eq!(client.reply().status, 502);
    assert_eq!(proxy.log(1)[0]["status"], 502);
}
