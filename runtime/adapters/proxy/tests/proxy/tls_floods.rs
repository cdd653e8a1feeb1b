//! Floods of TLS of every kind: records without content end the connection after a bounded number
//! of bytes, before and after the handshake, and others are served meanwhile.

use crate::certificates::{Authority, TlsClient};
use crate::http1_floods;
use crate::raw_tls::{ALERT, CHANGE_CIPHER_SPEC, CONTENT, HANDSHAKE, RawTls, VERSIONS, provider};
use crate::running::{Running, eventually};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::scope;

pub(crate) const NAME: &str = "one.example";
const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

/// What a client may send at most. Most of it is in buffers of the system.
const ENOUGH: usize = 4 << 20;

/// A proxy with TLS, and who trusts it.
pub(crate) fn proxy(rest: &str) -> (Running, TlsClient) {
    let authority = Authority::new("tests");
    let tls = "tls: { certificates: [{ chain: one.pem, key: one.key }] }";
    let proxy = Running::with_listener(tls, &format!("{DEMO}{rest}"), "", |folder| {
        authority.server(&[NAME]).write(folder, "one");
    });
    (proxy, authority.trust().provider(provider()))
}

/// A record without encryption.
fn plain(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind, 3, 1, 0, u8::try_from(content.len()).unwrap()], content].concat()
}

/// Sends records. Returns whether the connection is closed then.
pub(crate) fn ends(socket: TcpStream, mut next: impl FnMut() -> Vec<u8>) -> bool {
    http1_floods::ends(socket, true, ENOUGH, || (0..64).flat_map(|_| next()).collect())
}

/// The floods before a handshake: the first bytes, and what follows them.
fn before() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    // A hello of 16 MiB.
    let hello = plain(HANDSHAKE, &[1, 255, 255, 255, 3, 3]);
    vec![
        ("a hello of one byte a record", hello.clone(), plain(HANDSHAKE, &[0])),
        ("a hello of large records", hello.clone(), [&[HANDSHAKE, 3, 1, 0x3f, 0xff][..], &[0; 0x3fff]].concat()),
        ("empty records of a hello", hello, plain(HANDSHAKE, &[])),
        ("empty records", Vec::new(), plain(HANDSHAKE, &[])),
        ("alerts", Vec::new(), plain(ALERT, &[1, 90])),
        ("changes of ciphers", Vec::new(), plain(CHANGE_CIPHER_SPEC, &[1])),
        ("content", Vec::new(), plain(CONTENT, b"x")),
        ("an unknown kind", Vec::new(), plain(99, b"x")),
        ("no TLS", Vec::new(), b"GET / HTTP/1.1\r\n\r\n".to_vec()),
    ]
}

type Records = fn(&mut RawTls) -> Vec<u8>;

/// The floods after a handshake, and whether only TLS 1.3 has them.
pub(crate) const AFTER: [(&str, bool, Records); 10] = [
    ("empty records", false, |tls| tls.record(CONTENT, &[])),
    ("empty records of padding", true, |tls| tls.record_13(&[&[CONTENT][..], &[0; 100]].concat())),
    ("updates of keys", true, |tls| tls.key_update(false)),
    ("requested updates of keys", true, |tls| tls.key_update(true)),
    ("updates of keys and empty records", true, |tls| [tls.record(CONTENT, &[]), tls.key_update(true)].concat()),
    ("warnings", false, |tls| tls.record(ALERT, &[1, 90])),
    ("changes of ciphers", true, |_| plain(CHANGE_CIPHER_SPEC, &[1])),
    ("requests for a new handshake", false, |tls| tls.record(HANDSHAKE, &[0, 0, 0, 0])),
    ("new handshakes", false, |tls| tls.record(HANDSHAKE, &renegotiation())),
    ("records of an unknown kind", false, |tls| tls.record(99, b"x")),
];

/// A hello without extensions (RFC 5246, section 7.4.1.2).
fn renegotiation() -> Vec<u8> {
    let body = [&[3, 3][..], &[7; 32], &[0, 0, 2, 0xc0, 0x2b, 1, 0]].concat();
    [&[1, 0, 0, u8::try_from(body.len()).unwrap()], &body[..]].concat()
}

/// What was sent on a connection before its flood.
const STATES: [&str; 3] =
    ["", "GET / HTTP/1.1\r\nhost: a\r\n\r\n", "POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf"];

#[track_caller]
fn is_served(client: &TlsClient, address: SocketAddr) {
    assert!(client.get(address, NAME, "/", "").unwrap().starts_with("HTTP/1.1 200"));
}

#[test]
fn records_without_content_end_the_connection() {
    let (proxy, client) = proxy("timeouts: { head: 1h, keepAlive: 1h, body: 1h, bodyTotal: 1h, read: 1h }\n");
    let (address, mut endless) = (proxy.address, Vec::new());
    scope(|scope| {
        let mut floods = Vec::new();
        for (name, first, again) in before() {
            floods.push((
                name.to_owned(),
                scope.spawn(move || {
                    let mut socket = TcpStream::connect(address).unwrap();
                    let _ = socket.write_all(&first);
                    ends(socket, || again.clone())
                }),
            ));
        }
        for (version, (name, only_13, records)) in
            [0, 1].into_iter().flat_map(|version| AFTER.map(|flood| (version, flood)))
        {
            if only_13 && version == 1 {
                continue;
            }
            let client = client.clone().versions(VERSIONS[version]);
            for state in STATES {
                let client = client.clone();
                floods.push((
                    format!("{name} after {state:?} in TLS 1.{}", 3 - version),
                    scope.spawn(move || {
                        let mut tls = RawTls::connect(&client, address, NAME);
                        if !state.is_empty() {
                            let first = tls.record(CONTENT, state.as_bytes());
                            tls.socket.write_all(&first).unwrap();
                        }
                        ends(tls.socket.try_clone().unwrap(), || records(&mut tls))
                    }),
                ));
            }
        }
        while floods.iter().any(|(_, flood)| !flood.is_finished()) {
            is_served(&client, address);
        }
        endless.extend(floods.into_iter().filter_map(|(name, flood)| (!flood.join().unwrap()).then_some(name)));
    });
    assert!(endless.is_empty(), "{endless:#?}");
    eventually(|| proxy.metric("celero_connections_refused_total") >= 1.0, || "a refused connection".to_owned());
}

/// Content in records of one byte is content.
#[test]
fn tiny_records_are_read() {
    const LENGTH: usize = 20_000;
    let (proxy, client) = proxy("");
    for version in VERSIONS {
        let mut tls = RawTls::connect(&client.clone().versions(version), proxy.address, NAME);
        let head = format!("POST /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {LENGTH}\r\n\r\n");
        let bytes: Vec<u8> = head.bytes().chain([b'x'; LENGTH]).flat_map(|byte| tls.record(CONTENT, &[byte])).collect();
        tls.socket.write_all(&bytes).unwrap();
        let mut answer = Vec::new();
        tls.socket.read_to_end(&mut answer).unwrap();
        assert!(answer.len() > LENGTH / 1000, "{} bytes", answer.len());
    }
    proxy.reaches("celero_responses_total{code=\"200\"}", 2.0);
}

/// Handshakes that were begun and left end within the time for a head, and take no place of others.
#[test]
fn handshakes_that_are_left_end() {
    let (proxy, client) = proxy("timeouts: { head: 500ms }\n");
    let hello = plain(HANDSHAKE, &[1, 0, 200, 0, 3, 3]);
    let mut left: Vec<TcpStream> = (0..100)
        .map(|i| {
            let mut socket = TcpStream::connect(proxy.address).unwrap();
            socket.set_read_timeout(Some(crate::running::LONG)).unwrap();
            socket.write_all(hello.get(..i % hello.len()).unwrap_or_default()).unwrap();
            socket
        })
        .collect();
    is_served(&client, proxy.address);
    for socket in &mut left {
        let _ = socket.read_to_end(&mut Vec::new());
    }
    proxy.reaches("celero_tls_handshakes_failed_total", 100.0);
}
