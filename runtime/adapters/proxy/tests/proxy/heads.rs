//! Heads that are short, slow, large or never complete.

use crate::client::{Client, get};
use crate::running::{LONG, Running, eventually};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

/// A proxy with short deadlines; `more` are further settings.
fn hurried(more: &str) -> Running {
    Running::with(&format!("{DEMO}timeouts: {{ head: 300ms, keepAlive: 300ms, body: 5s }}\n{more}"), "")
}

/// Sends bytes and returns what comes until the other side closes the connection.
fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends a byte again and again until the connection is closed, and returns what came.
fn drip(address: SocketAddr, start: &[u8], piece: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    stream.write_all(start).unwrap();
    let (began, mut answer) = (Instant::now(), Vec::new());
    while began.elapsed() < LONG {
        match stream.read_to_end(&mut answer) {
            Ok(_) => return String::from_utf8_lossy(&answer).into_owned(),
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => return String::from_utf8_lossy(&answer).into_owned(),
        }
        let _ = stream.write_all(piece);
    }
    panic!("the connection is still open; it gave {:?}", String::from_utf8_lossy(&answer));
}

#[test]
fn requests_of_any_length_are_answered() {
    let proxy = Running::demo("empty: allowed\n");
    for address in [proxy.address, proxy.metrics] {
        for request in ["GET / HTTP/1.0\r\n\r\n", "GARBAGE\r\n\r\n", "\r\n\r\nX\r\n\r\n", "P\r\n\r\n", "PRI\r\n\r\n"] {
            let answer = exchange(address, request.as_bytes());
            assert!(answer.starts_with("HTTP/1."), "{request:?} gave {answer:?}");
        }
    }
    assert_eq!(get(proxy.address, "/").status, 200);
}

#[test]
fn silent_connections_are_closed() {
    let proxy = hurried("");
    for address in [proxy.address, proxy.metrics] {
        assert_eq!(exchange(address, b""), "");
    }
    // Nor do they count as requests.
    proxy.reaches("celero_requests_open", 0.0);
}

#[test]
fn incomplete_heads_are_answered_with_408() {
    let proxy = hurried("");
    for address in [proxy.address, proxy.metrics] {
        for start in ["G", "GET / HTTP/1.1\r\nhost: localhost\r\n", "PRI * HT", "\r\n"] {
            let answer = exchange(address, start.as_bytes());
            assert!(answer.starts_with("HTTP/1.1 408 "), "{start:?} gave {answer:?}");
        }
    }
    let answer = exchange(proxy.address, b"PRI * HTTP/2.0\r\n\r\nSM");
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer:?}");
    assert_eq!(get(proxy.address, "/").status, 200);
    proxy.reaches(r#"celero_refused_heads_total{status="408"}"#, 9.0);
}

#[test]
fn heads_that_arrive_byte_by_byte_are_cut_off() {
    let proxy = hurried("");
    for address in [proxy.address, proxy.metrics] {
        let answer = drip(address, b"GET / HTTP/1.1\r\nhost: localhost\r\n", b"x-a: b\r\n");
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer:?}");
        let answer = drip(address, b"G", b"E");
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer:?}");
    }
}

#[test]
fn idle_connections_are_closed_without_an_answer() {
    let proxy = hurried("");
    let mut client = Client::connect(proxy.address);
    for _ in 0..3 {
        client.request("GET /", &[], b"").kept();
    }
    assert!(client.closed());
    // Half a second request is answered.
    let mut client = Client::connect(proxy.address);
    client.request("GET /", &[], b"").kept();
    client.send("GET / HT");
    assert_eq!(client.reply().status, 408);
    assert!(client.closed());
}

#[test]
fn a_slow_answer_is_no_slow_head() {
    let proxy = hurried("");
    let mut client = Client::connect(proxy.address);
    // The body takes longer than a head may.
    client.send("POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\n");
    for byte in b"slow" {
        std::thread::sleep(Duration::from_millis(150));
        client.send([*byte]);
    }
    assert_eq!(client.reply().echo().0["body"], "slow");
    assert_eq!(client.request("GET /", &[], b"").reply().status, 200);
}

#[test]
fn many_empty_lines_before_a_head_are_refused() {
    let proxy = Running::demo("empty: allowed\n");
    let request = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    for (lines, status) in [(10, "200"), (11, "400")] {
        for line in ["\r\n", "\n"] {
            let answer = exchange(proxy.address, format!("{}{request}", line.repeat(lines)).as_bytes());
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{lines} {line:?}: {answer}");
        }
    }
}

#[test]
fn large_heads_are_refused() {
    let proxy = Running::with(&format!("{DEMO}limits: {{ headers: 20, head: 4KiB, requestLine: 200 }}\n"), "");
    let head = |line: &str, headers: usize, length: usize| {
        let value = "v".repeat(length);
        let mut head = format!("GET {line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        (0..headers).for_each(|i| head.push_str(&format!("x-{i}: {value}\r\n")));
        head + "\r\n"
    };
    for (line, headers, length, status) in [
        ("/", 18, 1, "200"),
        ("/", 19, 1, "431"),
        ("/", 300, 1, "431"),
        ("/", 100_000, 1, "431"),
        ("/", 1, 3_000, "200"),
        ("/", 1, 5_000, "431"),
        ("/", 1, 1_000_000, "431"),
        (&*format!("/{}", "p".repeat(180)), 1, 1, "200"),
        (&*format!("/{}", "p".repeat(200)), 1, 1, "414"),
        (&*format!("/{}", "p".repeat(5_000)), 1, 1, "414"),
    ] {
        for address in [proxy.address, proxy.metrics] {
            // `/metrics` is another server, with the same bounds.
            let is_unknown = address == proxy.metrics && line != "/";
            let wanted = if is_unknown && status == "200" { "404" } else { status };
            let answer = exchange(address, head(line, headers, length).as_bytes());
            assert!(answer.starts_with(&format!("HTTP/1.1 {wanted} ")), "{headers} of {length}: {answer:.60}");
        }
    }
}

#[test]
fn later_heads_have_bounds_too() {
    let proxy = Running::with(&format!("{DEMO}limits: {{ headers: 20, head: 4KiB, requestLine: 200 }}\n"), "");
    let many: String = (0..30).map(|i| format!("x-{i}: v\r\n")).collect();
    for before in [
        "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\nx",
    ] {
        for (line, headers, status) in [("/", &*many, 431), (&*format!("/{}", "p".repeat(300)), "", 414)] {
            let mut client = Client::connect(proxy.address);
            client.send(before).kept();
            client.send(format!("GET {line} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n"));
            assert_eq!(client.reply().status, status);
            // As pipelined bytes.
            let mut client = Client::connect(proxy.address);
            client.send(format!("{before}GET {line} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n"));
            assert_eq!((client.reply().status, client.reply().status), (200, status));
        }
    }
}

#[test]
fn refused_heads_are_logged() {
    let proxy = hurried("");
    exchange(proxy.address, b"GARBAGE\r\n\r\n");
    exchange(proxy.address, b"GET /");
    let log = proxy.log(2);
    assert_eq!((&log[0]["status"], &log[1]["status"]), (&400.into(), &408.into()));
    assert!(log.iter().all(|line| line["error"].is_string() && line["client"].is_string()), "{log:?}");
    proxy.reaches(r#"celero_refused_heads_total{status="400"}"#, 1.0);
}

#[test]
fn connections_are_bounded() {
    let proxy = Running::with(&format!("{DEMO}limits: {{ connections: 5 }}\n"), "");
    let mut clients: Vec<Client> = (0..5).map(|_| Client::connect(proxy.address)).collect();
    clients.iter_mut().for_each(|client| drop(client.request("GET /", &[], b"").kept()));
    assert!(Client::connect(proxy.address).closed());
    proxy.reaches("celero_connections_refused_total", 1.0);
    // The bound is that of each listener.
    assert_eq!(get(proxy.metrics, "/metrics").status, 200);
    clients.truncate(4);
    eventually(
        || Client::connect(proxy.address).request("GET /", &[], b"").try_reply(true).is_ok(),
        || "a free place".into(),
    );
}

#[test]
fn connections_of_an_address_are_bounded() {
    let proxy = Running::with(&format!("{DEMO}limits: {{ connectionsPerAddress: 2 }}\n"), "");
    let mut clients = [Client::connect(proxy.address), Client::connect(proxy.address)];
    clients.iter_mut().for_each(|client| drop(client.request("GET /", &[], b"").kept()));
    assert!(Client::connect(proxy.address).closed());
    drop(clients);
    let again = || Client::connect(proxy.address).request("GET /", &[], b"").try_reply(true).is_ok();
    eventually(again, || "a free place".into());
}
