//! Floods of HTTP/2 frames of every kind, and clients that send many of them for good reasons.

use crate::certificates::Authority;
use crate::client::get;
use crate::raw_h2::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, PRIORITY, PUSH_PROMISE,
    RST_STREAM, RawH2, SETTINGS, WINDOW_UPDATE, fields, frame,
};
use crate::running::Running;
use crate::scripted::Scripted;
use std::time::Duration;

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

/// Frames without content in ten seconds.
const BUDGET: u32 = 100;
/// What a flood may have at most: its budget, and what the few requests and answers of the connection earn.
const ENOUGH: u32 = 4 * BUDGET;

/// A kind of frame, and the frames of a flood by their number. Stream 1 has a body that has not
/// ended, stream 3 is over.
pub(crate) type Flood = (&'static str, fn(u32) -> Vec<u8>);

/// Every kind of frame in each form in which it carries nothing.
pub(crate) const FLOODS: [Flood; 25] = [
    ("DATA", |_| frame(DATA, 0, 1, &[])),
    ("DATA of padding", |_| frame(DATA, PADDED, 1, &[3, 0, 0, 0])),
    ("the end of a body", |_| frame(DATA, END_STREAM, 1, &[])),
    ("DATA of a stream that is over", |_| frame(DATA, 0, 3, &[])),
    ("requests beyond the open ones", |i| {
        let open = fields("POST", "/x");
        frame(HEADERS, END_HEADERS, 2 * i + 5, &open)
    }),
    ("trailers", |_| frame(HEADERS, END_HEADERS | END_STREAM, 1, &[])),
    ("empty HEADERS", |i| frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 5, &[])),
    ("PRIORITY", |i| frame(PRIORITY, 0, 2 * i + 5, &[0, 0, 0, 0, 9])),
    ("RST_STREAM of a request", |i| {
        let stream = 2 * i + 5;
        [frame(HEADERS, END_HEADERS, stream, &fields("POST", "/x")), frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])]
            .concat()
    }),
    ("RST_STREAM of a stream that is over", |_| frame(RST_STREAM, 0, 3, &[0, 0, 0, 8])),
    ("SETTINGS", |_| frame(SETTINGS, 0, 0, &[])),
    ("SETTINGS with values", |i| frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 1, (i % 2) as u8])),
    ("acknowledged SETTINGS", |_| frame(SETTINGS, ACK, 0, &[])),
    ("PUSH_PROMISE", |_| frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])),
    ("PING", |_| frame(PING, 0, 0, &[0; 8])),
    ("answered PING", |_| frame(PING, ACK, 0, &[0; 8])),
    ("GOAWAY", |_| frame(GOAWAY, 0, 0, &[0; 8])),
    ("WINDOW_UPDATE of the connection", |_| frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
    ("WINDOW_UPDATE of a stream", |_| frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1])),
    ("WINDOW_UPDATE of a stream that is over", |_| frame(WINDOW_UPDATE, 0, 3, &[0, 0, 0, 1])),
    ("CONTINUATION", |_| frame(CONTINUATION, 0, 1, &[])),
    ("an unknown kind", |_| frame(99, 0, 1, &[])),
    ("an unknown kind with a payload", |_| frame(255, 255, 1, &[7; 50])),
    ("PRIORITY_UPDATE", |_| frame(16, 0, 0, &[0, 0, 0, 1, b'u', b'=', b'1'])),
    ("ORIGIN", |_| frame(12, 0, 0, &[])),
];

fn small_budget(upstream: &str) -> String {
    format!("{upstream}limits: {{ controlFrames: {BUDGET}, streams: 3 }}\n")
}

fn strict(upstream: &str) -> Running {
    Running::with(&small_budget(upstream), "")
}

/// Returns a connection with a stream whose body has not ended, and one that is over.
pub(crate) fn begun(mut client: RawH2) -> RawH2 {
    client.request("POST", "/x", END_HEADERS, 1);
    client.request("GET", "/", END_HEADERS | END_STREAM, 3);
    while let Some(answer) = client.read() {
        if answer.stream == 3 && answer.flags & END_STREAM != 0 && answer.kind != SETTINGS {
            break;
        }
    }
    client
}

/// Sends a flood. Returns whether the connection takes all of it.
pub(crate) fn takes(client: &mut RawH2, kinds: &[Flood]) -> bool {
    (0..ENOUGH).all(|i| client.send(&kinds.iter().flat_map(|(_, frames)| frames(i)).collect::<Vec<_>>()))
}

/// Sends a flood. Returns whether the connection is closed by then.
fn is_ended_by(mut client: RawH2, kinds: &[Flood]) -> bool {
    !takes(&mut client, kinds) || client.closed()
}

#[track_caller]
fn still_serves(proxy: &Running) {
    assert_eq!(get(proxy.address, "/").status, 200);
    proxy.reaches("celero_requests_open", 0.0);
}

#[test]
fn a_flood_of_any_kind_ends_the_connection() {
    let proxy = strict(DEMO);
    let endless: Vec<&str> = FLOODS
        .iter()
        .filter(|flood| !is_ended_by(begun(RawH2::connect(proxy.address, &[])), &[**flood]))
        .map(|(name, _)| *name)
        .collect();
    assert!(endless.is_empty(), "{endless:?}");
    still_serves(&proxy);
}

#[test]
fn a_flood_of_two_kinds_ends_the_connection() {
    let proxy = strict(DEMO);
    for (i, first) in FLOODS.iter().enumerate() {
        for second in &FLOODS[i + 1..] {
            let ended = is_ended_by(begun(RawH2::connect(proxy.address, &[])), &[*first, *second]);
            assert!(ended, "{} and {}", first.0, second.0);
        }
    }
    still_serves(&proxy);
}

#[test]
fn a_flood_over_tls_ends_the_connection() {
    let authority = Authority::new("tests");
    let tls = "tls: { certificates: [{ chain: one.pem, key: one.key }] }";
    let proxy = Running::with_listener(tls, &small_budget(DEMO), "", |folder| {
        authority.server(&["one.example"]).write(folder, "one");
    });
    for flood in FLOODS {
        let tls = authority.trust().protocols(&["h2"]).connect(proxy.address, "one.example").unwrap();
        tls.sock.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        assert!(is_ended_by(begun(RawH2::over(tls, &[])), &[flood]), "{}", flood.0);
    }
}

#[test]
fn the_client_learns_why_its_connection_ends() {
    let proxy = strict(DEMO);
    let mut client = RawH2::connect(proxy.address, &[]);
    let ping = frame(PING, 0, 0, &[0; 8]);
    // The settings of the client, and perhaps their acknowledgement, are of the budget too.
    client.send(&ping.repeat(BUDGET as usize));
    let farewell = client.find(GOAWAY).unwrap();
    // ENHANCE_YOUR_CALM.
    assert_eq!(farewell.payload, [0, 0, 0, 0, 0, 0, 0, 11]);
    assert!(client.closed());
    proxy.reaches("celero_connections_refused_total", 1.0);
}

/// A download whose client releases each KiB of the windows and measures the connection with pings,
/// with a small budget.
#[test]
fn a_client_that_reads_in_small_pieces_is_served() {
    const LENGTH: usize = 2 << 20;
    let server = Scripted::start();
    let proxy = strict(&server.config());
    let mut client = RawH2::connect(proxy.address, &[]);
    client.request("GET", "/", END_HEADERS | END_STREAM, 1);
    server.until("\r\n\r\n");
    server.say(format!("HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\n\r\n"));
    server.say(vec![b'x'; LENGTH]);
    let (mut received, mut updates) = (0, 0);
    while received < LENGTH {
        let Some(data) = client.read() else { panic!("the connection ended after {received} bytes") };
        if data.kind != DATA {
            assert_ne!(data.kind, GOAWAY);
            continue;
        }
        received += data.payload.len();
        for piece in data.payload.chunks(1 << 10) {
            let size = u32::try_from(piece.len()).unwrap().to_be_bytes();
            client.send(&[0, 1].map(|stream| frame(WINDOW_UPDATE, 0, stream, &size)).concat());
            updates += 2;
        }
        client.frame(PING, 0, 0, &[0; 8]);
    }
    assert!(updates > 30 * BUDGET, "{updates}");
    client.request("GET", "/", END_HEADERS | END_STREAM, 3);
    assert!(server.until("\r\n\r\n").starts_with("GET"));
}

/// Small messages in both directions, each acknowledged, as gRPC does.
#[test]
fn a_stream_of_small_messages_is_served() {
    let server = Scripted::start();
    let proxy = strict(&server.config());
    let mut client = RawH2::connect(proxy.address, &[]);
    client.request("POST", "/", END_HEADERS, 1);
    server.until("\r\n\r\n");
    server.say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    for _ in 0..10 * BUDGET {
        client.frame(DATA, 0, 1, b"x");
        server.until("x");
        server.say("1\r\ny\r\n");
        assert_eq!(client.find(DATA).unwrap().payload, b"y");
        client.send(&[0, 1].map(|stream| frame(WINDOW_UPDATE, 0, stream, &[0, 0, 0, 1])).concat());
    }
    client.frame(PING, 0, 0, &[0; 8]);
    assert!(client.find(PING).is_some());
}

/// Requests one after another, each with the frames that browsers send with it.
#[test]
fn a_client_of_many_requests_is_served() {
    let proxy = strict(DEMO);
    let mut client = RawH2::connect(proxy.address, &[]);
    for i in 0..10 * BUDGET {
        let stream = 2 * i + 1;
        client.request("POST", "/", END_HEADERS, stream);
        client.frame(WINDOW_UPDATE, 0, stream, &[0, 1, 0, 0]);
        client.frame(PRIORITY, 0, stream, &[0, 0, 0, 0, 9]);
        client.frame(DATA, END_STREAM, stream, &[]);
        let answer = std::iter::from_fn(|| client.read()).find(|answer| answer.stream == stream);
        assert_eq!(answer.map(|answer| answer.kind), Some(HEADERS), "request {i}");
    }
}
