//! HTTP/1 bodies that arrive slowly, and clients that do not read.

use crate::backend::Backend;
use crate::client::{Client, get};
use crate::raw_h2::{DATA, END_HEADERS, HEADERS, RST_STREAM, RawH2, status};
use crate::running::Running;
use std::time::{Duration, Instant};

const BODY_RULES: &str =
    "requestBody:\n  limit: 1KiB\n  rules:\n    - { name: evil, when: 'request.body == b\"evil\"', deny: 400 }\n";

fn hurried(limits: &str, policy: &str) -> Running {
    let rest = format!(
        "upstreams: [{{ name: demo, demo: true }}]\nroutes: [{{ upstream: demo }}]\n\
         timeouts: {{ body: 5s, bodyTotal: 300ms, send: 300ms }}\nlimits: {{ {limits} }}\n"
    );
    Running::with(&rest, policy)
}

/// Sends a body byte by byte until the connection does not take more.
fn drip(client: &mut Client, head: &str, piece: &[u8]) {
    client.send(head);
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(1500) {
        client.send(piece);
        std::thread::sleep(Duration::from_millis(30));
    }
}

#[test]
fn bodies_have_a_deadline_as_a_whole() {
    for policy in ["", BODY_RULES] {
        let proxy = hurried("", policy);
        let mut client = Client::connect(proxy.address);
        drip(&mut client, "POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n", b"x");
        assert_eq!(client.reply().status, 408);
        let mut client = Client::connect(proxy.address);
        drip(&mut client, "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n");
        assert_eq!(client.reply().status, 408);
        assert_eq!(get(proxy.address, "/").status, 200);
        proxy.reaches("celero_requests_open", 0.0);
    }
}

/// A client that sends a part of a body and then nothing is answered without another byte of it,
/// also where the phase reads a prefix.
#[test]
fn silent_clients_are_answered() {
    const PREFIX: &str =
        "requestBody:\n  prefix: 4\n  rules: [{ when: 'request.bodyPrefix == b\"evil\"', deny: 403 }]\n";
    let (pause, total) = ("body: 100ms, bodyTotal: 60s", "body: 60s, bodyTotal: 100ms");
    for (policy, body, timeouts) in [
        ("", "half", pause),
        (BODY_RULES, "half", pause),
        (BODY_RULES, "half", total),
        (PREFIX, "ha", pause),
        (PREFIX, "ha", total),
        (PREFIX, "behind the prefix", pause),
    ] {
        let rest = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";
        let proxy = Running::with(&format!("{rest}timeouts: {{ {timeouts}, write: 100ms }}\n"), policy);
        let sized = format!("content-length: 100\r\n\r\n{body}");
        let chunked = format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n", body.len());
        for rest in [sized, chunked] {
            let mut client = Client::connect(proxy.address);
            client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\n{rest}"));
            assert_eq!(client.reply().status, 408, "{timeouts} {policy} {rest}");
        }
        let mut client = RawH2::connect(proxy.address, &[]);
        client.request("POST", "/x", END_HEADERS, 1);
        client.frame(DATA, 0, 1, body.as_bytes());
        let end = std::iter::from_fn(|| client.read()).find(|frame| matches!(frame.kind, HEADERS | RST_STREAM));
        let answer = end.expect("an end of the stream");
        assert!(answer.kind == RST_STREAM || status(&answer.payload) == "408", "{timeouts} {policy} {body}");
    }
}

#[test]
fn a_fast_client_has_time_for_a_large_body() {
    let proxy = hurried("bodyRate: 10B", "");
    let mut client = Client::connect(proxy.address);
    // The first bytes come with the head: each gives the client a tenth of a second more.
    client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 400\r\n\r\n{}", "x".repeat(200)));
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(60));
        client.send([b'x'; 20]);
    }
    assert_eq!(client.reply().echo().0["bodyLength"], 400);
}

#[test]
fn an_upgraded_connection_has_no_deadline() {
    // The demo server does not switch protocols: a body after the head is the next request.
    let proxy = hurried("", "");
    let mut client = Client::connect(proxy.address);
    client.send("GET /x HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    assert_eq!(client.reply().status, 200);
}

#[test]
fn a_server_that_refuses_connections_gives_502() {
    let server = Backend::start("gone");
    let address = server.address;
    drop(server);
    for retries in 0..3 {
        let rest = format!(
            "upstreams: [{{ name: a, servers: [\"{address}\"] }}]\nroutes: [{{ upstream: a }}]\nretries: {retries}\n"
        );
        let proxy = Running::with(&rest, "");
        assert_eq!(get(proxy.address, "/").status, 502, "{retries} retries");
        proxy.reaches("celero_upstream_connect_failures_total", 1.0);
        assert!(proxy.log(1)[0]["error"].is_string());
    }
}
