//! The phase `responseBody`, prefixes of bodies, and streams.

use crate::client::{Client, Reply, get, get_with, post};
use crate::h2::{Stream, exchange};
use crate::running::Running;
use crate::scripted::Scripted;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Request;
use std::io::Write;

const RULES: &str = r#"
responseBody:
  limit: 100KiB
  rules:
    - { name: secret, when: 'string(response.body).contains("SECRET")', deny: { status: 502, body: hidden } }
    - { name: mark, setHeaders: { x-size: "${size(response.body)}" }, removeHeaders: [x-internal] }
log:
  - logFields: { code: "${response.code}", peer: "${source.address}" }
"#;

const PREFIX: &str = r#"
responseBody:
  prefix: 16
  rules:
    - { name: secret, when: 'string(response.bodyPrefix).contains("SECRET")', deny: { status: 502, body: hidden } }
    - { name: mark, setHeaders: { x-size: "${size(response.bodyPrefix)}" } }
"#;

#[test]
fn a_response_is_read_before_its_head_is_sent() {
    for upstream in ["demo: true", "demo: true, h2c: true"] {
        let rest = format!("upstreams: [{{ name: demo, {upstream} }}]\nroutes: [{{ upstream: demo }}]\n");
        let proxy = Running::with(&rest, RULES);
        let mut client = Client::connect(proxy.address);
        for _ in 0..3 {
            let fine = client.request("GET /", &[], b"").kept();
            assert_eq!((fine.status, fine.header("x-size")), (200, fine.body.len().to_string()));
        }
        let head = client.request("HEAD /", &[], b"").try_reply(false).unwrap();
        assert_eq!((head.status, head.header("x-size").as_str()), (200, ""));
        let hidden = client.request("POST /x", &[], b"a SECRET").reply();
        assert_eq!((hidden.status, hidden.text().as_str(), hidden.header("x-size").as_str()), (502, "hidden", ""));
        let request = |body: &str| {
            Request::post("http://a/x").version(http::Version::HTTP_2).body(body.as_bytes().to_vec()).unwrap()
        };
        let replies = exchange(proxy.address, vec![request("fine"), request("a SECRET"), request("")]);
        let statuses: Vec<_> = replies.iter().map(|reply| reply.status().as_u16()).collect();
        assert_eq!(statuses, [200, 502, 200]);
        assert_eq!(replies[0].headers()["x-size"], replies[0].body().len().to_string());
        assert_eq!(replies[1].body(), b"hidden");
        let log = proxy.log(8);
        let secret = log.iter().filter(|line| line["rule"] == "secret" && line["code"] == 502 && line["status"] == 502);
        assert_eq!(secret.count(), 2);
        assert!(log.iter().all(|line| line["peer"] == "127.0.0.1" && line.get("error").is_none()), "{log:?}");
    }
}

#[test]
fn a_client_cannot_ask_for_parts_or_other_codings() {
    let proxy = Running::demo(RULES);
    let headers = ["range: bytes=0-3", "if-range: x", "accept-encoding: zstd, gzip;q=0.5"];
    let echo = get_with(proxy.address, "/echo", &headers).echo();
    assert!(echo.header("range").is_empty() && echo.header("if-range").is_empty());
    assert_eq!(echo.header("accept-encoding"), ["gzip;q=0.5"]);
}

/// What a client gets if the server sends these bytes, in pieces.
fn served(policy: &str, pieces: &[&[u8]]) -> std::io::Result<Reply> {
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), policy);
    let mut client = Client::connect(proxy.address);
    client.request("GET /", &[], b"");
    server.until("\r\n\r\n");
    for piece in pieces {
        server.say(piece);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(server.send);
    client.try_reply(true)
}

fn sized(body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\nx-internal: 1\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

#[test]
fn every_framing_of_a_response_is_read() {
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".as_slice();
    let until_close = b"HTTP/1.1 200 OK\r\n\r\n".as_slice();
    let early =
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\na SECRET".as_slice();
    for pieces in [
        &[sized(b"a SECRET").as_slice()][..],
        &[&sized(b"a SECRET")[..60], &sized(b"a SECRET")[60..]],
        &[chunked, b"3\r\na S\r\n", b"5\r\nECRET\r\n0\r\n\r\n"],
        &[chunked, b"3\r\na S\r\n5\r\nECRET\r\n", b"0\r\n\r\n"],
        &[until_close, b"a SEC", b"RET"],
        &[early],
    ] {
        let status = served(RULES, pieces).unwrap().status;
        assert!(status == 502 || (status == 103 && pieces == [early]), "{status}");
    }
    for pieces in [&[chunked, b"4\r\nfine\r\n", b"0\r\n\r\n"][..], &[until_close, b"fi", b"ne"], &[&sized(b"fine")]] {
        let reply = served(RULES, pieces).unwrap();
        assert_eq!((reply.status, reply.text(), reply.header("x-size")), (200, "fine".into(), "4".into()));
        assert_eq!(reply.header("x-internal"), "");
    }
    let empty = served(RULES, &[b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"]).unwrap();
    assert_eq!((empty.status, empty.header("x-size").as_str()), (200, "0"));
}

#[test]
fn a_server_that_dies_sends_nothing_to_the_client() {
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of it";
    assert_eq!(served(RULES, &[half]).unwrap().status, 502);
}

#[test]
fn large_responses_are_refused_or_skipped() {
    let larger = [vec![b'x'; 100 << 10], b"SECRET".to_vec()].concat();
    let chunked = |body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n", body.len());
        [head.as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
    };
    let skip = RULES.replace("limit: 100KiB", "limit: 100KiB\n  tooLarge: skip");
    for bytes in [sized(&larger), chunked(&larger)] {
        assert_eq!(served(RULES, &[&bytes]).unwrap().status, 502);
        let skipped = served(&skip, &[&bytes]).unwrap();
        assert_eq!((skipped.status, skipped.body.len()), (200, larger.len()));
        assert_eq!(skipped.header("x-size"), "");
    }
    let whole = [vec![b'x'; (100 << 10) - 6], b"SECRET".to_vec()].concat();
    assert_eq!(served(&skip, &[&chunked(&whole)]).unwrap().status, 502);
}

#[test]
fn compressed_responses_are_decoded_for_the_rules() {
    let gzip = |body: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    };
    let coded = |coding: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    assert_eq!(served(RULES, &[&coded("gzip", &gzip(b"a SECRET"))]).unwrap().status, 502);
    let fine = served(RULES, &[&coded("gzip", &gzip(b"fine"))]).unwrap();
    assert_eq!((fine.status, fine.header("x-size").as_str(), &fine.body), (200, "4", &gzip(b"fine")));
    assert_eq!(served(RULES, &[&coded("gzip", &gzip(&vec![b'x'; 1 << 20]))]).unwrap().status, 502);
    assert_eq!(served(RULES, &[&coded("zstd", b"a SECRET")]).unwrap().status, 502);
}

const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

#[test]
fn events_arrive_as_they_are_sent() {
    let no_body_rules =
        "requestBody: [{ when: size(request.body) > 9, deny: true }]\nresponse: [{ setHeaders: { x-a: b } }]\n";
    let skip = RULES.replace("limit: 100KiB", "tooLarge: skip");
    for policy in [no_body_rules, PREFIX, skip.as_str()] {
        let server = Scripted::start();
        let proxy = Running::with(&server.config(), policy);
        let mut client = Client::connect(proxy.address);
        client.request("GET /", &[], b"");
        server.until("\r\n\r\n");
        server.say(EVENTS).say("3\r\none\r\n");
        assert_eq!(client.try_reply(false).unwrap().status, 200);
        assert_eq!(client.chunk(), b"one");
        for event in ["two, which is longer than the prefix", "a SECRET", "4"] {
            server.say(format!("{:x}\r\n{event}\r\n", event.len()));
            assert_eq!(client.chunk(), event.as_bytes());
        }
        server.say("0\r\n\r\n");
        assert_eq!(client.chunk(), b"");
    }
}

#[test]
fn events_arrive_over_http2() {
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), PREFIX);
    let mut stream = Stream::open(proxy.address, Request::get("http://a/").body(()).unwrap());
    server.until("\r\n\r\n");
    server.say(EVENTS).say("3\r\none\r\n");
    assert_eq!((stream.head().status().as_u16(), stream.data()), (200, b"one".to_vec()));
    server.say("3\r\ntwo\r\n");
    assert_eq!(stream.data(), b"two");
}

#[test]
fn a_stream_is_judged_by_what_arrives_first() {
    let secret = [EVENTS.as_bytes(), b"8\r\na SECRET\r\n"].concat();
    assert_eq!(served(PREFIX, &[&secret]).unwrap().status, 502);
    assert_eq!(served(RULES, &[EVENTS.as_bytes()]).unwrap().status, 502, "a stream of events never ends");
}

#[test]
fn the_rest_of_a_response_streams_after_its_prefix() {
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), PREFIX);
    let mut client = Client::connect(proxy.address);
    client.request("GET /", &[], b"");
    server.until("\r\n\r\n");
    server
        .say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        .say("8\r\nfirst ei\r\n")
        .say("a\r\nght, more.\r\n");
    let head = client.try_reply(false).unwrap();
    assert_eq!((head.status, head.header("x-size").as_str()), (200, "16"));
    let mut read = client.chunk();
    while read.len() < 18 {
        read.extend(client.chunk());
    }
    assert_eq!(read, b"first eight, more.");
    server.say("6\r\nSECRET\r\n");
    assert_eq!(client.chunk(), b"SECRET", "it is behind the prefix");
    let large = [b"a SECRET".to_vec(), vec![b'x'; 1 << 20]].concat();
    assert_eq!(served(PREFIX, &[&sized(&large)]).unwrap().status, 502);
}

/// The server has sent three bytes of the prefix, and sends no more.
#[test]
fn a_slow_prefix_is_cut_short() {
    const START: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    for body in [&b""[..], b"all of the body"] {
        let server = Scripted::start();
        let proxy = Running::with(&server.config(), PREFIX);
        let mut client = Client::connect(proxy.address);
        client.request("POST /", &[], body);
        server.until(if body.is_empty() { "\r\n\r\n" } else { "the body" });
        server.say(START).say("3\r\none\r\n");
        let head = client.try_reply(false).unwrap();
        assert_eq!((head.status, head.header("x-size").as_str()), (200, "3"));
        assert_eq!(client.chunk(), b"one");
        for piece in ["two", "a SECRET behind the prefix"] {
            server.say(format!("{:x}\r\n{piece}\r\n", piece.len()));
            assert_eq!(client.chunk(), piece.as_bytes());
        }
        server.say("0\r\n\r\n");
        assert_eq!(client.chunk(), b"");
    }
    let hidden = Scripted::start();
    let proxy = Running::with(&hidden.config(), PREFIX);
    let mut client = Client::connect(proxy.address);
    client.request("GET /", &[], b"");
    hidden.until("\r\n\r\n");
    hidden.say(START).say("8\r\na SECRET\r\n");
    let reply = client.reply();
    assert_eq!((reply.status, reply.text().as_str()), (502, "hidden"));
}

/// The same, with HTTP/2 on both sides of a proxy: a second proxy is before the server.
#[test]
fn a_slow_prefix_is_cut_short_over_http2() {
    let server = Scripted::start();
    let behind = Running::with(&server.config(), "");
    let upstream = format!(
        "upstreams: [{{ name: a, servers: [\"{}\"], h2c: true }}]\nroutes: [{{ upstream: a }}]\n",
        behind.address
    );
    let proxy = Running::with(&upstream, PREFIX);
    let mut stream = Stream::open(proxy.address, Request::get("http://a/").body(()).unwrap());
    server.until("\r\n\r\n");
    server.say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").say("3\r\none\r\n");
    let head = stream.head();
    assert_eq!((head.status().as_u16(), &head.headers()["x-size"]), (200, &"3".parse().unwrap()));
    assert_eq!(stream.data(), b"one");
    server.say("3\r\ntwo\r\n");
    assert_eq!(stream.data(), b"two");
}

#[test]
fn the_rest_of_a_request_streams_after_its_prefix() {
    const RULE: &str =
        "requestBody:\n  prefix: 4\n  rules: [{ when: 'string(request.bodyPrefix).startsWith(\"MZ\")', deny: 403 }]\n";
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), RULE);
    let mut client = Client::connect(proxy.address);
    client.send("PUT /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n");
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(server.is_idle(), "the prefix is not there yet");
    client.send("6\r\n, then\r\n");
    server.until("ok, then");
    client.send("4\r\nmore\r\n");
    server.until("more");
    client.send("0\r\n\r\n");
    server.until("0\r\n\r\n");
    server.say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    assert_eq!(client.reply().text(), "ok");
    let proxy = Running::demo(RULE);
    for body in [&b"MZ"[..], &[b"MZ".to_vec(), vec![0; 300_000]].concat()] {
        assert_eq!(post(proxy.address, "/x", body).status, 403);
    }
    assert_eq!(post(proxy.address, "/x", &vec![b'x'; 300_000]).echo().0["bodyLength"], 300_000);
    let request = |body: Vec<u8>| Request::post("http://a/x").version(http::Version::HTTP_2).body(body).unwrap();
    let replies = exchange(proxy.address, vec![request(b"MZ, and so on".to_vec()), request(vec![b'x'; 100_000])]);
    assert_eq!((replies[0].status().as_u16(), replies[1].status().as_u16()), (403, 200));
    assert_eq!(get(proxy.address, "/").status, 200);
}

#[test]
fn a_websocket_works_with_body_phases() {
    let server = Scripted::start();
    let both = format!("requestBody: [{{ when: size(request.body) > 0, deny: true }}]\n{RULES}");
    let proxy = Running::with(&server.config(), &both);
    let mut client = Client::connect(proxy.address);
    client.send("GET /chat HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
    server.until("\r\n\r\n");
    server.say("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n");
    assert_eq!(client.try_reply(false).unwrap().status, 101);
    client.send("a frame");
    server.until("a frame");
    server.say("a SECRET");
    assert_eq!(client.bytes(8), b"a SECRET");
}
