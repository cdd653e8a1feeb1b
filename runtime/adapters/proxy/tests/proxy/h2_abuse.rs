//! HTTP/2 clients that are slow, greedy or wrong.

use crate::backend::Backend;
use crate::client::get;
use crate::raw_h2::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, RawH2, fields, frame, status,
};
use crate::running::Running;

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

const BODY_RULES: &str =
    "requestBody:\n  limit: 1KiB\n  rules:\n    - { name: evil, when: 'request.body == b\"evil\"', deny: 400 }\n";

fn hurried(policy: &str) -> Running {
    let timeouts = "timeouts: { head: 1s, keepAlive: 1s, body: 1s, bodyTotal: 1s, read: 2s, send: 1s }\n";
    Running::with(&format!("{DEMO}{timeouts}limits: {{ controlFrames: 100, streams: 3 }}\n"), policy)
}

#[track_caller]
fn still_serves(proxy: &Running) {
    assert_eq!(get(proxy.address, "/").status, 200);
    proxy.reaches("celero_requests_open", 0.0);
}

#[test]
fn idle_connections_are_closed() {
    let proxy = hurried("");
    // After the preface, after settings, within a block of fields, after a request.
    let mut silent = RawH2::connect(proxy.address, &[]);
    assert!(silent.closed());
    let mut half = RawH2::connect(proxy.address, &[]);
    half.frame(HEADERS, END_STREAM, 1, &fields("GET", "/"));
    assert!(half.closed());
    let mut whole = RawH2::connect(proxy.address, &[]);
    whole.request("GET", "/", END_HEADERS | END_STREAM, 1);
    assert_eq!(status(&whole.find(HEADERS).unwrap().payload), "200");
    assert!(whole.find(GOAWAY).is_some() && whole.closed());
    still_serves(&proxy);
}

#[test]
fn a_head_without_end_is_cut_off() {
    let proxy = hurried("");
    for piece in [&b""[..], &b"\x00\x01a\x01b"[..], &[0; 4096][..]] {
        let mut client = RawH2::connect(proxy.address, &[]);
        client.frame(HEADERS, END_STREAM, 1, &fields("GET", "/"));
        let flood = frame(CONTINUATION, 0, 1, piece).repeat(20);
        while client.send(&flood) {}
        assert!(client.closed());
    }
    still_serves(&proxy);
}

#[test]
fn requests_that_are_reset_at_once_end_the_connection() {
    let proxy = hurried("");
    let mut client = RawH2::connect(proxy.address, &[]);
    for stream in (1..2_000).step_by(2) {
        let reset = frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]);
        if !client.request("GET", "/", END_HEADERS | END_STREAM, stream) || !client.send(&reset) {
            break;
        }
    }
    assert!(client.closed());
    still_serves(&proxy);
    let finished: f64 = ["none", "2xx", "4xx", "5xx"]
        .map(|class| proxy.metric(&format!("celero_requests_total{{status=\"{class}\"}}")))
        .iter()
        .sum();
    assert!(finished < 200.0, "{finished} requests were handled");
}

#[test]
fn open_requests_are_bounded() {
    let proxy = hurried("");
    let mut client = RawH2::connect(proxy.address, &[]);
    assert!((0..8).all(|i| client.request("POST", "/x", END_HEADERS, 2 * i + 1)));
    // REFUSED_STREAM.
    let refused = client.find(RST_STREAM).unwrap();
    assert_eq!((refused.payload, refused.stream >= 7), (vec![0, 0, 0, 7], true));
    drop(client);
    still_serves(&proxy);
}

#[test]
fn slow_bodies_are_cut_off() {
    for policy in ["", BODY_RULES] {
        let proxy = hurried(policy);
        // Silent, and a byte now and then.
        for pause in [None, Some(std::time::Duration::from_millis(50))] {
            let mut client = RawH2::connect(proxy.address, &[]);
            client.request("POST", "/x", END_HEADERS, 1);
            client.frame(DATA, 0, 1, b"x");
            for _ in 0..30 {
                let Some(pause) = pause else { break };
                std::thread::sleep(pause);
                client.frame(DATA, 0, 1, b"x");
            }
            assert_eq!(status(&client.find(HEADERS).unwrap().payload), "408", "{policy} {pause:?}");
        }
        still_serves(&proxy);
    }
}

#[test]
fn a_body_whose_request_is_answered_is_not_awaited() {
    let server = Backend::start("early");
    let proxy = Running::with(
        &format!(
            "upstreams: [{{ name: a, servers: [\"{}\"] }}]\nroutes: [{{ upstream: a }}]\n\
             timeouts: {{ body: 1s, bodyTotal: 1s, read: 20s, write: 1s }}\n",
            server.address
        ),
        "",
    );
    let mut client = RawH2::connect(proxy.address, &[]);
    client.request("POST", "/x", END_HEADERS, 1);
    client.frame(DATA, 0, 1, b"half");
    assert_eq!(status(&client.find(HEADERS).unwrap().payload), "200");
    still_serves(&proxy);
}

#[test]
fn clients_that_take_nothing_are_cut_off() {
    let proxy = hurried("");
    // SETTINGS_INITIAL_WINDOW_SIZE is 0.
    let mut client = RawH2::connect(proxy.address, &[0, 4, 0, 0, 0, 0]);
    client.request("GET", "/", END_HEADERS | END_STREAM, 1);
    assert_eq!(status(&client.find(HEADERS).unwrap().payload), "200");
    still_serves(&proxy);
}

#[test]
fn large_heads_are_refused() {
    let rest = format!("{DEMO}limits: {{ headers: 20, head: 8KiB, requestLine: 200 }}\n");
    let proxy = Running::with(&rest, "");
    let mut client = RawH2::connect(proxy.address, &[]);
    let mut many = fields("GET", "/");
    (0..30).for_each(|i| many.extend_from_slice(&[0, 2, b'x', b'a' + i % 26, 1, b'v']));
    client.frame(HEADERS, END_HEADERS | END_STREAM, 1, &many);
    assert_eq!(status(&client.find(HEADERS).unwrap().payload), "431");
    let mut long = fields("GET", "/");
    (0..100).for_each(|_| long.extend_from_slice(&[&[0, 2, b'x', b'a', 120][..], &[b'v'; 120]].concat()));
    // Another connection: the first answer is in the table of its fields now.
    let mut client = RawH2::connect(proxy.address, &[]);
    client.frame(HEADERS, END_HEADERS | END_STREAM, 1, &long);
    assert_eq!(status(&client.find(HEADERS).unwrap().payload), "431");
    // A path of 210 bytes: its length has a byte more.
    let mut path = vec![0x82, 0x86, 1, 9];
    path.extend_from_slice(b"a.example\x04\x7f\x53/");
    path.extend_from_slice(&[b'p'; 209]);
    let mut client = RawH2::connect(proxy.address, &[]);
    client.frame(HEADERS, END_HEADERS | END_STREAM, 1, &path);
    assert_eq!(status(&client.find(HEADERS).unwrap().payload), "414");
    still_serves(&proxy);
}
