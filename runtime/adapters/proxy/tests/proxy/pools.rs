//! The connections to servers, counted by the servers.

use crate::client::{Client, get};
use crate::h2;
use crate::raw_h2::{END_HEADERS, END_STREAM, RST_STREAM, RawH2};
use crate::running::{Running, config, eventually, free_port};
use bytes::Bytes;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// After what time a server fails for `/late`, until it is released.
const LATE: Duration = Duration::from_secs(5);

/// What a server has seen.
#[derive(Default)]
struct Seen {
    open: AtomicUsize,
    most: AtomicUsize,
    all: AtomicUsize,
    requests: AtomicUsize,
    /// Whether requests for `/hold` are answered.
    released: Mutex<bool>,
    release: Condvar,
}

impl Seen {
    fn release(&self) {
        *self.released.lock().unwrap() = true;
        self.release.notify_all();
    }

    fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    fn connected(&self) {
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(open, Ordering::SeqCst);
        self.all.fetch_add(1, Ordering::SeqCst);
    }
}

/// A server that keeps connections, until the test ends.
fn keeping() -> (SocketAddr, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, seen) = (listener.local_addr().unwrap(), Arc::new(Seen::default()));
    let all = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let seen = Arc::clone(&all);
            seen.connected();
            std::thread::spawn(move || {
                keep(stream.unwrap(), &seen);
                seen.open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    (address, seen)
}

fn keep(stream: TcpStream, seen: &Seen) {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while let Ok(1..) = stream.read_line(&mut head) {
        if !head.ends_with("\r\n\r\n") {
            continue;
        }
        seen.requests.fetch_add(1, Ordering::SeqCst);
        if head.starts_with("GET /hold") {
            let mut released = seen.released.lock().unwrap();
            while !*released {
                released = seen.release.wait(released).unwrap();
            }
        } else if head.starts_with("GET /late") && !*seen.released.lock().unwrap() {
            std::thread::sleep(LATE);
            let _ = stream.get_mut().write_all(b"HTTP/1.1 503 Late\r\ncontent-length: 0\r\n\r\n");
            head.clear();
            continue;
        } else if head.starts_with("GET /work") {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        head.clear();
    }
}

fn upstream(address: SocketAddr, pool: &str, more: &str) -> String {
    format!(
        "upstreams: [{{ name: one, servers: [\"{address}\"], pool: {{ {pool} }} }}]\nroutes: [{{ upstream: one }}]\n{more}"
    )
}

#[test]
fn no_more_connections_than_the_bound() {
    let (server, seen) = keeping();
    let second: SocketAddr = format!("127.0.0.1:{}", free_port()).parse().unwrap();
    let one = config(&upstream(server, "connections: 3, wait: 20s", ""));
    let proxy = Running::with_config(
        &one.replacen("listeners: [", &format!("listeners: [{{ address: \"{second}\" }}, "), 1),
        "",
    );
    let proxies = [proxy.address, second];
    std::thread::scope(|scope| {
        for number in 0..12 {
            scope.spawn(move || {
                let mut client = Client::connect(proxies[number % 2]);
                for _ in 0..15 {
                    assert_eq!(client.request("GET /work", &[], b"").kept().status, 200);
                }
            });
        }
    });
    assert_eq!(seen.requests(), 12 * 15);
    assert_eq!(seen.most.load(Ordering::SeqCst), 3, "connections at a time");
    assert!(seen.all.load(Ordering::SeqCst) < 20, "connections are used again");
    proxy.reaches("celero_upstream_connections_open{upstream=\"one\"}", seen.open() as f64);
    let opened = proxy.metric("celero_upstream_connections_opened_total{upstream=\"one\"}");
    assert_eq!(opened, seen.all.load(Ordering::SeqCst) as f64);
}

#[test]
fn a_request_that_waits_too_long_is_refused() {
    let (server, seen) = keeping();
    let proxy = Running::with(&upstream(server, "connections: 1, wait: 50ms", ""), "");
    let mut held = Client::connect(proxy.address);
    held.request("GET /hold", &[], b"");
    eventually(|| seen.requests() == 1, || "a request at the server".into());
    for _ in 0..2 {
        let refused = Client::connect(proxy.address).request("GET /", &[], b"").reply();
        assert_eq!((refused.status, refused.header("retry-after").as_str()), (503, "1"));
    }
    let refused = &h2::exchange(proxy.address, vec![h2::request("GET", "/", b"")])[0];
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (503, "1"));
    assert_eq!(proxy.log(3)[0]["refused"], "connections");
    proxy.reaches("celero_upstream_waits_refused_total{upstream=\"one\"}", 3.0);
    seen.release();
    assert_eq!(held.reply().status, 200);
    eventually(|| get(proxy.address, "/").status == 200, || "the connection again".into());
    assert_eq!(seen.all.load(Ordering::SeqCst), 1, "the one connection was used again");
}

#[test]
fn a_request_waits_for_a_connection_that_becomes_free() {
    let (server, seen) = keeping();
    let proxy = Running::with(&upstream(server, "connections: 1, wait: 20s", ""), "");
    let [mut held, mut waits] = [(); 2].map(|()| Client::connect(proxy.address));
    held.request("GET /hold", &[], b"");
    eventually(|| seen.requests() == 1, || "a request at the server".into());
    waits.request("GET /", &[], b"");
    eventually(
        || proxy.metric("celero_upstream_requests_waiting{upstream=\"one\"}") == 1.0,
        || "a request that waits".into(),
    );
    seen.release();
    assert_eq!((held.reply().status, waits.reply().status), (200, 200));
    proxy.reaches("celero_upstream_requests_waiting{upstream=\"one\"}", 0.0);
}

/// Requests that nobody awaits any more are neither kept nor sent.
#[test]
fn clients_that_leave_wait_for_no_connection() {
    let (server, seen) = keeping();
    let proxy = Running::with(&upstream(server, "connections: 1, wait: 1m", "limits: { controlFrames: 100 }\n"), "");
    let mut held = Client::connect(proxy.address);
    held.request("GET /hold", &[], b"");
    eventually(|| seen.requests() == 1, || "a request at the server".into());
    let waiting = |count: usize| {
        let waiting = || proxy.metric("celero_upstream_requests_waiting{upstream=\"one\"}");
        eventually(|| waiting() == count as f64, || format!("{count} requests that wait, not {}", waiting()));
    };
    let only_held = || {
        waiting(0);
        proxy.reaches("celero_requests_open", 1.0);
    };
    let mut client = Client::connect(proxy.address);
    client.request("POST /", &[], b"body");
    waiting(1);
    drop(client);
    only_held();
    let mut client = RawH2::connect(proxy.address, &[]);
    client.request("POST", "/", END_HEADERS, 1);
    client.request("GET", "/", END_HEADERS | END_STREAM, 3);
    waiting(2);
    client.frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]);
    waiting(1);
    drop(client);
    only_held();
    let mut flood = RawH2::connect(proxy.address, &[]);
    for stream in (1..4_000).step_by(2) {
        let sent = flood.request("GET", "/", END_HEADERS | END_STREAM, stream)
            && flood.frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]);
        if !sent {
            break;
        }
    }
    assert!(flood.closed(), "too many resets end the connection");
    only_held();
    seen.release();
    assert_eq!(held.reply().status, 200);
    assert_eq!(get(proxy.address, "/").status, 200);
    assert_eq!((seen.requests(), seen.all.load(Ordering::SeqCst)), (2, 1));
}

/// The time that a server takes is none that the request waits for a connection.
#[test]
fn a_request_waits_at_the_next_server_too() {
    let ((a, seen_a), (b, seen_b)) = (keeping(), keeping());
    // Shorter than `LATE`.
    let rest = format!(
        "upstreams: [{{ name: one, servers: [\"{a}\", \"{b}\"], pool: {{ connections: 1, wait: 4s }} }}]\n\
         routes: [{{ upstream: one, retry: {{}} }}]\n"
    );
    let proxy = Running::with(&rest, "");
    let [mut held, mut late] = [(); 2].map(|()| Client::connect(proxy.address));
    held.request("GET /hold", &[], b"");
    eventually(|| seen_a.requests() + seen_b.requests() == 1, || "a request at a server".into());
    let (busy, other) = if seen_a.requests() == 1 { (seen_a, seen_b) } else { (seen_b, seen_a) };
    late.request("GET /late", &[], b"");
    eventually(
        || proxy.metric("celero_upstream_requests_waiting{upstream=\"one\"}") == 1.0,
        || "a request that waits for the busy server".into(),
    );
    assert_eq!(other.requests(), 1, "the other one has failed");
    busy.release();
    assert_eq!((held.reply().status, late.reply().status), (200, 200));
}

#[test]
fn a_server_with_a_free_connection_is_preferred() {
    for balance in ["roundRobin", "random", "leastRequests"] {
        let ((a, seen_a), (b, seen_b)) = (keeping(), keeping());
        let rest = format!(
            "upstreams: [{{ name: two, servers: [\"{a}\", \"{b}\"], balance: {balance}, pool: {{ connections: 1, wait: 0s }} }}]\n\
             routes: [{{ upstream: two }}]\n"
        );
        let proxy = Running::with(&rest, "");
        let mut held = Client::connect(proxy.address);
        held.request("GET /hold", &[], b"");
        eventually(|| seen_a.requests() + seen_b.requests() == 1, || "a request at a server".into());
        for _ in 0..10 {
            assert_eq!(get(proxy.address, "/").status, 200, "{balance}");
            // The connection is free a little later than the response is there.
            proxy.reaches("celero_requests_open", 1.0);
        }
        seen_a.release();
        seen_b.release();
        assert_eq!(held.reply().status, 200);
    }
}

/// The bound of an upstream is on connections that only its own requests use.
#[test]
fn upstreams_with_the_same_server_share_no_connections() {
    let (server, seen) = keeping();
    let rest = format!(
        "upstreams:\n- {{ name: one, servers: [\"{server}\"], pool: {{ connections: 1, wait: 5s }} }}\n\
         - {{ name: other, servers: [\"{server}\"] }}\n\
         routes: [{{ path: /hold, upstream: other }}, {{ upstream: one }}]\n"
    );
    let proxy = Running::with(&rest, "");
    assert_eq!(get(proxy.address, "/").status, 200);
    let mut held = Client::connect(proxy.address);
    held.request("GET /hold", &[], b"");
    eventually(|| seen.requests() == 2, || "a request at the server".into());
    // The connection of the first request is unused, and still that of its upstream.
    assert_eq!(get(proxy.address, "/").status, 200);
    assert_eq!(seen.all.load(Ordering::SeqCst), 2);
    seen.release();
    assert_eq!(held.reply().status, 200);
}

/// What is not opened does not count, so a server that comes back gets all its connections.
#[test]
fn connections_that_fail_do_not_count() {
    let port = free_port();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let proxy = Running::with(&upstream(address, "connections: 1, wait: 0s", ""), "");
    for _ in 0..3 {
        assert_eq!(get(proxy.address, "/").status, 502);
    }
    proxy.reaches("celero_upstream_connections_open{upstream=\"one\"}", 0.0);
    assert_eq!(proxy.metric("celero_upstream_connections_opened_total{upstream=\"one\"}"), 0.0);
}

#[test]
fn unused_connections_are_closed() {
    let (server, seen) = keeping();
    let proxy = Running::with(&upstream(server, "idle: 50ms", ""), "");
    assert_eq!(get(proxy.address, "/").status, 200);
    eventually(|| seen.open() == 0, || "no connection".into());
    proxy.reaches("celero_upstream_connections_open{upstream=\"one\"}", 0.0);

    let (server, seen) = keeping();
    let proxy = Running::with(&upstream(server, "", "limits: { idleConnections: 2 }\n"), "");
    let mut clients: Vec<Client> = (0..6).map(|_| Client::connect(proxy.address)).collect();
    clients.iter_mut().for_each(|client| {
        client.request("GET /hold", &[], b"");
    });
    eventually(|| seen.requests() == 6, || "six requests".into());
    seen.release();
    clients.iter_mut().for_each(|client| assert_eq!(client.reply().status, 200));
    eventually(|| seen.open() == 2, || format!("two connections, not {}", seen.open()));
}

/// A server of HTTP/2 that answers when it is released, and allows this number of requests on a connection.
fn http2(streams: u32) -> (SocketAddr, Arc<Seen>, tokio::sync::watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, seen) = (listener.local_addr().unwrap(), Arc::new(Seen::default()));
    listener.set_nonblocking(true).unwrap();
    let (all, released) = (Arc::clone(&seen), tokio::sync::watch::Sender::new(false));
    let release = released.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((socket, _)) = listener.accept().await {
                all.connected();
                let (seen, release) = (Arc::clone(&all), release.clone());
                tokio::spawn(async move {
                    let mut server = ::h2::server::Builder::new();
                    let mut connection =
                        server.max_concurrent_streams(streams).handshake::<_, Bytes>(socket).await.unwrap();
                    while let Some(Ok((_, mut respond))) = connection.accept().await {
                        seen.requests.fetch_add(1, Ordering::SeqCst);
                        let mut release = release.subscribe();
                        tokio::spawn(async move {
                            let _ = release.wait_for(|released| *released).await;
                            let _ = respond.send_response(
                                http::Response::builder().header("content-length", "0").body(()).unwrap(),
                                true,
                            );
                        });
                    }
                    seen.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
    });
    (address, seen, released)
}

#[test]
fn a_connection_with_http2_has_several_requests() {
    // The server allows what is configured, or less.
    for (allowed, together) in [(100, 6), (2, 4)] {
        let (server, seen, released) = http2(allowed);
        let rest = upstream(server, "connections: 2, streams: 3, wait: 5s", "").replace("pool:", "h2c: true, pool:");
        let proxy = Running::with(&rest, "");
        let mut clients: Vec<Client> = Vec::new();
        for number in 1..=together {
            let mut client = Client::connect(proxy.address);
            client.request("GET /", &[], b"");
            eventually(|| seen.requests() == number, || format!("{number} requests at the server"));
            clients.push(client);
        }
        let refused = get(proxy.address, "/");
        assert_eq!((refused.status, refused.header("retry-after").as_str()), (503, "1"), "{allowed}");
        assert_eq!((seen.open(), seen.requests()), (2, together), "{allowed}");
        released.send_replace(true);
        clients.iter_mut().for_each(|client| assert_eq!(client.reply().status, 200));
        eventually(|| get(proxy.address, "/").status == 200, || "a connection again".into());
        assert_eq!(seen.all.load(Ordering::SeqCst), 2, "{allowed}");
    }
}

/// With a place, but without a connection, a request tries again many times.
#[test]
fn a_request_tries_for_a_connection_as_long_as_it_may_wait() {
    let (server, seen, released) = http2(1);
    let rest = upstream(server, "connections: 1, streams: 2, wait: 20s", "").replace("pool:", "h2c: true, pool:");
    let proxy = Running::with(&rest, "");
    let [mut held, mut waits] = [(); 2].map(|()| Client::connect(proxy.address));
    held.request("GET /", &[], b"");
    eventually(|| seen.requests() == 1, || "a request at the server".into());
    waits.request("GET /", &[], b"");
    // Longer than 40 pauses.
    std::thread::sleep(Duration::from_secs(2));
    released.send_replace(true);
    assert_eq!((held.reply().status, waits.reply().status), (200, 200));
    assert_eq!((seen.requests(), seen.all.load(Ordering::SeqCst)), (2, 1));
}

#[test]
fn many_requests_at_once_open_no_more_connections_with_http2() {
    let (server, seen, released) = http2(100);
    released.send_replace(true);
    let rest = upstream(server, "connections: 2, streams: 4, wait: 20s", "").replace("pool:", "h2c: true, pool:");
    let proxy = Running::with_config(&config(&rest).replace("threads: 1", "threads: 4"), "");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut client = Client::connect(proxy.address);
                for _ in 0..20 {
                    let reply = client.request("GET /", &[], b"").reply();
                    assert_eq!(reply.status, 200);
                }
            });
        }
    });
    assert_eq!(seen.requests(), 16 * 20);
    assert!(seen.most.load(Ordering::SeqCst) <= 2, "{} connections at a time", seen.most.load(Ordering::SeqCst));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let message = |rest: &str| {
        let folder = crate::running::Folder::new();
        folder.write("policy.yaml", "empty: allowed\n");
        let file = folder.write("proxy.yaml", &config(rest));
        celero_proxy::config::Config::load(&file).expect_err(rest).to_string()
    };
    let server = SocketAddr::from(([127, 0, 0, 1], 1));
    for (pool, expected) in [
        ("streams: 2", "`streams` has a meaning for upstreams with HTTP/2 only"),
        ("connections: 0", "connections"),
        ("wait: soon", "wait"),
        ("wait: 61s", "`wait` can't be 61s"),
        ("size: 3", "no key `size`"),
    ] {
        let said = message(&upstream(server, pool, ""));
        assert!(said.contains(expected), "{pool}: {said}");
    }
}
