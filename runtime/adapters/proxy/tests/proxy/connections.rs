//! The phase `connection`, over sockets: who is served, what a client that is not sees, and what floods cost.

use crate::certificates::{Authority, TlsClient};
use crate::client::{Client, get};
use crate::h2;
use crate::running::{LONG, Running, eventually};
use crate::tls::{NEW, OLD};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

/// Sends bytes on a connection of its own. Returns what comes back before the connection ends.
fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    // The other side may have closed it already.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        answer.extend_from_slice(&piece[..count]);
    }
    answer
}

/// A request behind a load balancer that names this client. Returns whether it was answered.
fn through(address: SocketAddr, client: &str) -> bool {
    let family = if client.contains(':') { ("TCP6", "2001:db8::2") } else { ("TCP4", "198.51.100.2") };
    let header = format!("PROXY {} {client} {} 4711 443\r\n", family.0, family.1);
    let request = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    exchange(address, format!("{header}{request}").as_bytes()).starts_with(b"HTTP/1.1 200 ")
}

fn behind_balancer(policy: &str) -> Running {
    Running::with_listener("proxyProtocol: [\"127.0.0.0/8\"]", DEMO, policy, |_| {})
}

#[test]
fn a_denied_connection_is_closed_without_an_answer() {
    let denies = "connection: [{ name: nobody, when: source.address == '127.0.0.1', deny: true }]\n";
    let proxy = Running::demo(denies);
    for bytes in [&b""[..], b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\0\x01\x02"] {
        assert_eq!(exchange(proxy.address, bytes), b"", "{bytes:?}");
    }
    let line = &proxy.log(4)[0];
    assert_eq!(
        (&line["phase"], &line["rule"], &line["client"]),
        (&"connection".into(), &"nobody".into(), &"127.0.0.1".into())
    );
    proxy.reaches("celero_rule_matches_total{phase=\"connection\",rule=\"nobody\"}", 4.0);
    proxy.reaches("celero_requests_open", 0.0);
    assert_eq!(proxy.metric("celero_requests_total{status=\"none\"}"), 0.0);
    // A reload counts for new connections, and only for them.
    proxy.folder.write("policy.yaml", "empty: allowed\n");
    proxy.handle.reload().unwrap();
    let mut kept = Client::connect(proxy.address);
    assert_eq!(kept.request("GET /", &[], b"").kept().status, 200);
    proxy.folder.write("policy.yaml", denies);
    proxy.handle.reload().unwrap();
    assert_eq!(exchange(proxy.address, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"), b"");
    assert_eq!(kept.request("GET /", &[], b"").reply().status, 200);
    // A file with a mistake changes nothing.
    proxy.folder.write("policy.yaml", "connection: [{ when: request.path == '/', deny: true }]\n");
    assert!(proxy.handle.reload().is_err());
    assert_eq!(exchange(proxy.address, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"), b"");
}

#[test]
fn the_client_is_whom_a_trusted_balancer_names() {
    let policy = "lists: { blocked: { kind: addresses, entries: [192.0.2.0/24, \"2001:db8:1::/48\"] } }\nconnection: [{ name: blocked, when: 'source.address in lists.blocked || source.via != \"proxy-protocol\"', deny: true }]\n";
    let proxy = behind_balancer(policy);
    for (client, is_served) in [
        ("198.51.100.1", true),
        ("192.0.2.1", false),
        ("2001:db8::1", true),
        ("2001:db8:1::1", false),
        ("::ffff:192.0.2.1", false),
    ] {
        assert_eq!(through(proxy.address, client), is_served, "{client}");
    }
    // Without a balancer that is trusted, the header names nobody: it is no HTTP, and the
    // connection is judged by its real end.
    let policy = "connection: [{ name: real, when: source.address == '192.0.2.1', deny: true }]\n";
    let proxy = Running::demo(policy);
    assert!(!through(proxy.address, "192.0.2.1"));
    assert_eq!(proxy.metric("celero_rule_matches_total{phase=\"connection\",rule=\"real\"}"), 0.0);
    assert_eq!(get(proxy.address, "/").status, 200);
}

const BY_NAME: &str = "connection:\n- { name: alpn, when: '\"evil\" in source.tls.alpn', deny: true }\n- { name: name, when: 'source.tls.sni != \"one.example\"', deny: true }\n";

fn with_tls(rest: &str, policy: &str) -> (Running, Authority) {
    let authority = Authority::new("tests");
    let tls = "tls: { certificates: [{ chain: one.pem, key: one.key }] }";
    let proxy = Running::with_listener(tls, &format!("{DEMO}{rest}"), policy, |folder| {
        authority.server(&["one.example", "two.example"]).write(folder, "one");
    });
    (proxy, authority)
}

/// The hello of a client.
fn hello(client: &TlsClient, name: &str) -> Vec<u8> {
    let name = rustls::pki_types::ServerName::try_from(name.to_owned()).unwrap();
    let mut connection = rustls::ClientConnection::new(Arc::new(client.config()), name).unwrap();
    let mut bytes = Vec::new();
    connection.write_tls(&mut bytes).unwrap();
    bytes
}

#[test]
fn the_hello_decides_before_the_handshake_is_answered() {
    let (proxy, authority) = with_tls("", BY_NAME);
    for versions in [NEW, OLD] {
        let client = || authority.trust().versions(versions);
        let answer = client().get(proxy.address, "one.example", "/", "").unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        // Not even an alert: nothing was computed for this client.
        assert_eq!(exchange(proxy.address, &hello(&client(), "two.example")), b"");
        assert_eq!(exchange(proxy.address, &hello(&client().protocols(&["evil"]), "one.example")), b"");
        // Without a name the rule fails, and closes.
        assert_eq!(exchange(proxy.address, &hello(&client(), "127.0.0.1")), b"");
        assert!(!exchange(proxy.address, &hello(&client(), "one.example")[..40]).starts_with(b"\x16"));
    }
    let config = Arc::new(authority.trust().protocols(&["h2"]).config());
    let replies = h2::over_tls(proxy.address, "one.example", config, vec![h2::request("GET", "/", b"")]);
    assert_eq!(replies[0].status(), 200);
    proxy.reaches("celero_rule_matches_total{phase=\"connection\",rule=\"name\"}", 4.0);
    proxy.reaches("celero_rule_matches_total{phase=\"connection\",rule=\"alpn\"}", 2.0);
    proxy.reaches("celero_rule_errors_total{phase=\"connection\",rule=\"name\"}", 2.0);
}

/// In which pieces a hello arrives makes no difference, and what is none ends the connection.
#[test]
fn hellos_in_pieces_and_what_is_none() {
    let (proxy, authority) = with_tls("timeouts: { head: 5s }\n", BY_NAME);
    let whole = hello(&authority.trust(), "one.example");
    let mut stream = TcpStream::connect(proxy.address).unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in &whole {
        stream.write_all(&[*byte]).unwrap();
    }
    let mut first = [0];
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.read_exact(&mut first).unwrap();
    assert_eq!(first, [22], "a handshake begins");
    // Records of one byte each: more than the bytes that are read of a hello.
    let endless =
        [[22, 3, 1, 0, 1, 1], [22, 3, 1, 0, 1, 0]].concat().into_iter().chain([22, 3, 1, 0, 1, 255].repeat(20_000));
    for bytes in [b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_vec(), vec![0; 100_000], endless.collect()] {
        assert_eq!(exchange(proxy.address, &bytes), b"");
    }
    // Half of a hello, and silence: until the deadline of heads.
    assert_eq!(exchange(proxy.address, &whole[..whole.len() / 2]), b"");
    assert_eq!(exchange(proxy.address, b""), b"");
    // The first client did not go on either.
    drop(stream);
    let failed = || proxy.metric("celero_tls_handshakes_failed_total");
    eventually(|| failed() == 6.0, || format!("6 failed handshakes, not {}", failed()));
    assert!(authority.trust().get(proxy.address, "one.example", "/", "").is_ok());
}

#[test]
fn rules_without_the_hello_do_not_wait_for_it() {
    let (proxy, _) = with_tls("", "connection: [{ name: nobody, when: source.port > 0, deny: true }]\n");
    assert_eq!(exchange(proxy.address, b""), b"");
    proxy.reaches("celero_rule_matches_total{phase=\"connection\",rule=\"nobody\"}", 1.0);
    assert_eq!(proxy.metric("celero_tls_handshakes_failed_total"), 0.0);
}

#[test]
fn open_connections_of_a_client_are_bounded_until_they_end() {
    let proxy = Running::demo("connection: [{ name: open, limit: { key: '${source.address}', concurrent: 2 } }]\n");
    let mut kept: Vec<Client> = (0..2).map(|_| Client::connect(proxy.address)).collect();
    for client in &mut kept {
        assert_eq!(client.request("GET /", &[], b"").kept().status, 200);
    }
    assert_eq!(exchange(proxy.address, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"), b"");
    drop(kept.pop());
    eventually(
        || {
            exchange(proxy.address, b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
                .starts_with(b"HTTP/1.1 200 ")
        },
        || "a place for another connection".into(),
    );
}

/// A client that floods is closed by its limit, others are served, and the log stays small.
#[test]
fn a_flood_of_connections_is_refused_and_hardly_logged() {
    let proxy = behind_balancer("connection: [{ name: new, limit: { key: '${source.address}', rate: 5/h } }]\n");
    let start = std::time::Instant::now();
    let served = (0..600).filter(|_| through(proxy.address, "192.0.2.1")).count();
    assert_eq!(served, 5);
    assert!(through(proxy.address, "192.0.2.2"));
    proxy.reaches("celero_limit_decisions_total{limit=\"new\",decision=\"limited\"}", 595.0);
    let periods = start.elapsed().as_secs() + 1;
    let log = proxy.log(6);
    let denied: Vec<_> = log.iter().filter(|line| line["rule"] == "new").collect();
    assert!(!denied.is_empty() && denied.len() as u64 <= periods * 10, "{} entries in {periods} s", denied.len());
}
