//! Requests that their clients leave, at a server that answers the first one only: a place of
//! `concurrent` is free when the server can know that.

use crate::client::{Client, get};
use crate::raw_h2::{ACK, DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, RawH2, SETTINGS, frame};
use crate::running::{LONG, Running, eventually};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Requests that may be open at once.
const PLACES: usize = 3;
/// Requests that a client begins at once.
const BURST: u32 = 8;
const CANCEL: [u8; 4] = [0, 0, 0, 8];

/// What the server has seen.
#[derive(Default)]
struct Seen {
    most: AtomicUsize,
    all: AtomicUsize,
}

impl Seen {
    /// Returns whether no request has come, which counts as one.
    fn is_first(&self) -> bool {
        self.all.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn began(&self) {
        self.all.fetch_add(1, Ordering::SeqCst);
    }

    fn are_open(&self, open: usize) {
        self.most.fetch_max(open, Ordering::SeqCst);
    }
}

/// A server of HTTP/1.1. A request is open there until its connection is closed.
fn http1(listener: &TcpListener, seen: &Seen) {
    let mut open: Vec<TcpStream> = Vec::new();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut head = Vec::new();
        let mut piece = [0; 4096];
        while !head.ends_with(b"\r\n\r\n") && !head.ends_with(b"half") {
            match stream.read(&mut piece) {
                Ok(count @ 1..) => head.extend_from_slice(&piece[..count]),
                _ => break,
            }
        }
        if seen.is_first() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            continue;
        }
        stream.set_nonblocking(true).unwrap();
        open.push(stream);
        // Closed ones are at their end, perhaps after the half of a body.
        open.retain_mut(|stream| {
            let left = std::iter::repeat_with(|| stream.read(&mut piece)).find(|read| !matches!(read, Ok(1..)));
            matches!(left, Some(Err(error)) if error.kind() == ErrorKind::WouldBlock)
        });
        seen.began();
        seen.are_open(open.len());
    }
}

/// A server of HTTP/2. A request is open there until it is reset. The client may write the head of
/// a request before resets that it has queued earlier, so the requests are counted when all that
/// was written has been read.
fn http2(listener: &TcpListener, seen: &Seen) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        stream.read_exact(&mut [0; 24]).unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
        let socket = stream.try_clone().unwrap();
        let is_read = || {
            std::thread::sleep(Duration::from_millis(2));
            socket.set_nonblocking(true).unwrap();
            let more = socket.peek(&mut [0]).is_ok();
            socket.set_nonblocking(false).unwrap();
            !more
        };
        let mut server = RawH2::begun(stream);
        let mut open = Vec::new();
        while let Some(frame) = server.read() {
            match frame.kind {
                HEADERS if seen.is_first() => {
                    server.frame(HEADERS, END_HEADERS | END_STREAM, frame.stream, &[0x88]);
                }
                HEADERS => {
                    open.push(frame.stream);
                    seen.began();
                }
                RST_STREAM => open.retain(|stream| *stream != frame.stream),
                SETTINGS if frame.flags == 0 => {
                    server.frame(SETTINGS, ACK, 0, &[]);
                }
                _ => {}
            }
            if open.len() > PLACES && !is_read() {
                continue;
            }
            seen.are_open(open.len());
        }
    }
}

/// How clients begin more requests than there are places, and leave them. The streams of a
/// connection that stays begin with this number.
type Leaving = (&'static str, fn(SocketAddr, &mut RawH2, u32));

const LEAVING: [Leaving; 5] = [
    ("that resets its streams", |_, client, first| {
        let mut streams = (0..BURST).map(|i| first + 2 * i);
        assert!(streams.clone().all(|stream| client.request("GET", "/", END_HEADERS | END_STREAM, stream)));
        pause();
        assert!(streams.all(|stream| client.frame(RST_STREAM, 0, stream, &CANCEL)));
    }),
    ("that resets its streams within bodies", |_, client, first| {
        let mut streams = (0..BURST).map(|i| first + 2 * i);
        for stream in streams.clone() {
            assert!(client.request("POST", "/", END_HEADERS, stream) && client.frame(DATA, 0, stream, b"half"));
        }
        pause();
        assert!(streams.all(|stream| client.frame(RST_STREAM, 0, stream, &CANCEL)));
    }),
    ("that closes its connection of HTTP/2", |address, _, _| {
        let mut client = RawH2::connect(address, &[]);
        assert!((0..BURST).all(|i| client.request("GET", "/", END_HEADERS | END_STREAM, 2 * i + 1)));
        pause();
    }),
    ("that closes its connections of HTTP/1.1", |address, _, _| {
        let mut clients = Vec::from_iter((0..BURST).map(|_| Client::connect(address)));
        for client in &mut clients {
            client.request("GET /", &[], b"");
        }
        pause();
    }),
    ("that closes its connections within bodies", |address, _, _| {
        let mut clients = Vec::from_iter((0..BURST).map(|_| Client::connect(address)));
        let half = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 8\r\n\r\nhalf";
        for client in &mut clients {
            client.send(half);
        }
        pause();
    }),
];

fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

/// Serves what a listener accepts, and counts it.
type Serve = fn(&TcpListener, &Seen);

#[test]
fn a_place_is_free_when_the_server_can_know_it() {
    let servers: [(&str, Serve); 2] = [("", http1), (", h2c: true, pool: { streams: 100 }", http2)];
    for (keys, serve) in servers {
        for (way, leave) in LEAVING {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let (address, seen) = (listener.local_addr().unwrap(), Arc::new(Seen::default()));
            let counts = Arc::clone(&seen);
            std::thread::spawn(move || serve(&listener, &counts));
            let upstream = format!("upstreams: [{{ name: a, servers: [\"{address}\"]{keys} }}]\n");
            let limit = format!("limit: {{ concurrent: {PLACES}, onLimit: {{ deny: 503 }} }}");
            let proxy = Running::with(
                &format!("{upstream}routes: [{{ upstream: a }}]\n"),
                &format!("request: [{{ name: open, {limit} }}]\n"),
            );
            let mut client = RawH2::connect(proxy.address, &[]);
            // A kept connection, if the server has it, gets what follows.
            assert_eq!(get(proxy.address, "/").status, 200);
            for i in 0..20 {
                leave(proxy.address, &mut client, 2 * BURST * i + 1);
            }
            eventually(
                || proxy.metric("celero_limit_keys{limit=\"open\"}") == 0.0,
                || format!("{way}: no place taken"),
            );
            let (most, all) = (seen.most.load(Ordering::SeqCst), seen.all.load(Ordering::SeqCst));
            assert!(all >= 2 * PLACES, "a client {way}{keys}: only {all} requests");
            assert!(most <= PLACES, "a client {way}{keys}: {most} requests at once");
        }
    }
}
