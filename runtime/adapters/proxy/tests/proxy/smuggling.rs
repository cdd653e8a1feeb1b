//! Heads and bodies that servers read in several ways: each is refused, or forwarded as the one
//! request that the rules read. A server that reads the bytes itself counts what arrives.

use crate::client::Client;
use crate::raw_h2::{DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, RawH2, fields, literal, status};
use crate::recorder::{Recorder, Seen};
use crate::running::Running;
use std::net::SocketAddr;

const POLICY: &str = r#"
request:
  - { name: no, when: 'request.path.startsWith("/smuggled")', deny: 403 }
"#;

/// A request that the rules deny, so no server may see it. It follows each request of the corpus.
const SECOND: &str = "GET /smuggled HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

/// What a client sends after `POST /x HTTP/1.1` and `Host`, with the body.
pub(crate) const CORPUS: [&str; 36] = [
    // CL.TE, TE.CL, both.
    "content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nG",
    "content-length: 63\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    "transfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n0\r\n\r\n",
    // TE.TE and codings that only look like chunked.
    "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n",
    "transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: identity, chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding:\tchunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
    "transfer-encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    "transfer_encoding: chunked\r\n\r\n",
    "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    // CL.0, and lengths that are no single number.
    "content-length: 5\r\ncontent-length: 5\r\n\r\nGET /",
    "content-length: 5\r\ncontent-length: 6\r\n\r\nGET / ",
    "content-length: 5, 5\r\n\r\nGET /",
    "content-length: +5\r\n\r\nGET /",
    "content-length: 5 5\r\n\r\nGET /",
    "content-length: 0x5\r\n\r\nGET /",
    "content-length: -1\r\n\r\n",
    "content-length: 99999999999999999999\r\n\r\n",
    "content-length: 0\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    // Lines that servers end or continue in several ways.
    "x-a: 1\r\n transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    " x-a: 1\r\n\r\n",
    "x-a: 1\rtransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "x-a: 1\ntransfer-encoding: chunked\n\n0\r\n\r\n",
    "x-a: a\0b\r\n\r\n",
    "x\0a: 1\r\n\r\n",
    "x-a\r\n\r\n",
    // Chunks.
    "transfer-encoding: chunked\r\n\r\n0;x=y\r\n\r\n",
    "transfer-encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n",
    "transfer-encoding: chunked\r\n\r\n1\na\n0\n\n",
    "transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\na\r\n0\r\n\r\n",
];

/// Sends a request of the corpus and `then`. Returns what is wrong with what the server got:
/// anything but the one request that the client was answered with 200.
fn over_http1(address: SocketAddr, server: &Recorder, rest: &str, then: &str) -> Option<String> {
    let mut client = Client::connect(address);
    client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\n{rest}{then}"));
    let mut served = 0;
    while let Ok(reply) = client.try_reply(true) {
        match reply.status {
            200 => served += 1,
            400..=501 => {}
            status => return Some(format!("status {status}")),
        }
    }
    let seen = server.seen();
    (!is_one_request(&seen) || seen.requests != served).then(|| format!("{served} answers, {seen:?}"))
}

/// Whether the server has seen the one request that the rules allow, or a part of it, or nothing.
fn is_one_request(seen: &Seen) -> bool {
    let of_one = seen.requests + seen.unfinished <= 1;
    of_one && seen.faults.is_empty() && seen.targets.iter().all(|target| target == "/x")
}

#[test]
fn what_servers_read_in_several_ways_is_one_request_or_none() {
    let server = Recorder::start();
    let proxy = Running::with(&server.config(), POLICY);
    let mut faults = Vec::new();
    for rest in CORPUS {
        for head in ["", "connection: close\r\n", "x-a: b\r\nconnection: keep-alive\r\n"] {
            let rest = format!("{head}{rest}");
            let fault = over_http1(proxy.address, &server, &rest, SECOND);
            faults.extend(fault.map(|fault| format!("{}: {fault}\n", rest.escape_debug())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.concat());
    // A request that is a body is none.
    let length = SECOND.len();
    let sized = format!("connection: close\r\ncontent-length: {length}\r\n\r\n{SECOND}");
    let chunked = format!("connection: close\r\ntransfer-encoding: chunked\r\n\r\n{length:x}\r\n{SECOND}\r\n0\r\n\r\n");
    for rest in [sized, chunked] {
        assert_eq!(over_http1(proxy.address, &server, &rest, SECOND), None, "{rest}");
        assert_eq!(over_http1(proxy.address, &server, &rest, ""), None, "{rest}");
    }
}

/// Without a proxy between, the server gets what the client sends.
#[test]
fn the_server_sees_second_requests() {
    let server = Recorder::start();
    let unseen = |then: &'static str| {
        let fault = |rest: &&&str| over_http1(server.address, &server, rest, then);
        CORPUS.iter().filter(|rest| fault(rest).is_none()).collect::<Vec<_>>()
    };
    // These are not odd.
    let plain = [
        "transfer-encoding:\tchunked\r\n\r\n0\r\n\r\n",
        "content-length: 0\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    ];
    assert_eq!(unseen(""), plain.iter().collect::<Vec<_>>());
    assert_eq!(unseen(SECOND), [&""; 0]);
    // A request that is a body is none.
    let body = format!("content-length: {}\r\n\r\n", SECOND.len());
    assert_eq!(over_http1(server.address, &server, &body, SECOND), None);
    let chunk = format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n{SECOND}\r\n0\r\n\r\n", SECOND.len());
    assert_eq!(over_http1(server.address, &server, &chunk, ""), None);
    assert!(over_http1(server.address, &server, &chunk, "G").unwrap().contains("no whole request: G"));
    let second = over_http1(server.address, &server, "content-length: 0\r\n\r\n", SECOND).unwrap();
    assert!(second.contains("requests: 2") && second.contains("/smuggled"), "{second}");
}

/// Returns heads of HTTP/2 that, written as HTTP/1.1, would be two requests, or one with two
/// framings, and their bodies.
fn frames(path: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let usual = || fields("POST", path);
    let with = |name: &str, value: &str| [usual(), literal(name, value)].concat();
    let second = || SECOND.as_bytes().to_vec();
    let ended = || [b"0\r\n\r\n", SECOND.as_bytes()].concat();
    let split = "HTTP/1.1\r\nhost: a\r\n\r\n";
    vec![
        (usual(), second()),
        (with("content-length", "0"), second()),
        (with("content-length", "5"), second()),
        (with("content-length", "5"), Vec::new()),
        (with("content-length", "+5"), second()),
        ([with("content-length", "63"), literal("content-length", "63")].concat(), second()),
        (with("transfer-encoding", "chunked"), ended()),
        (with("transfer_encoding", "chunked"), ended()),
        ([with("transfer-encoding", "chunked"), literal("content-length", "68")].concat(), ended()),
        (with("Transfer-Encoding", "chunked"), ended()),
        (with("connection", "content-length"), second()),
        (with("upgrade", "websocket"), second()),
        (with("x-a", "b\r\ntransfer-encoding: chunked"), ended()),
        (with("x-a", "b\ntransfer-encoding: chunked"), ended()),
        (with("x-a", "b\0"), second()),
        (with("x-a: b\r\ntransfer-encoding", "chunked"), ended()),
        (with("x-a:", "b"), second()),
        (with("", "b"), second()),
        (with("host", "b"), second()),
        (with("host", "a.example\r\nx-a: b"), second()),
        (with(":path", "/smuggled"), second()),
        (fields("POST", &format!("{path} {split}GET /smuggled")), second()),
        (fields("POST", &format!("{path} y")), second()),
        (fields("POST", path.trim_start_matches('/')), second()),
        (fields("POST", &format!("{path}\r\nx-a:")), second()),
        (fields(&format!("POST /smuggled {split}POST"), path), second()),
        (fields("POST ", path), second()),
    ]
}

#[test]
fn no_frames_become_two_requests() {
    let server = Recorder::start();
    let proxy = Running::with(&server.config(), POLICY);
    let mut served = Vec::new();
    for number in 0..frames("/").len() {
        // A stream may end before its request reaches the server, so each has a path of its own.
        let path = format!("/x{number}");
        let (head, body) = frames(&path).swap_remove(number);
        let mut client = RawH2::connect(proxy.address, &[]);
        client.frame(HEADERS, if body.is_empty() { END_HEADERS | END_STREAM } else { END_HEADERS }, 1, &head);
        client.frame(DATA, END_STREAM, 1, &body);
        let mut frames = std::iter::from_fn(|| client.read());
        let answer = frames.find(|frame| matches!((frame.kind, frame.stream), (HEADERS | RST_STREAM, 1) | (GOAWAY, _)));
        if answer.is_some_and(|answer| answer.kind == HEADERS && status(&answer.payload) == "200") {
            served.push(path);
        }
    }
    let Seen { mut targets, faults, .. } = server.seen();
    assert_eq!((served, faults), (vec!["/x0".to_owned()], Vec::new()), "only the first one is right");
    let all = targets.len();
    targets.sort();
    targets.dedup();
    assert!(targets.len() == all && targets.iter().all(|target| target.starts_with("/x")), "{targets:?}");
    assert!(targets.contains(&"/x0".to_owned()));
}
