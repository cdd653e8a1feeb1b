//! Floods of HTTP/1.1 of every kind: each ends its connection after a bounded number of bytes, or
//! is made of requests and content, while others are served.

use crate::client::{Client, get};
use crate::running::{LONG, Running};
use std::io::{ErrorKind, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::{scope, spawn};
use std::time::Duration;

/// What a client may send at most of a flood that is to be ended. Most of it is in buffers of the system.
const ENOUGH: usize = 4 << 20;
/// What is sent of a flood that is not ended.
const ENDLESS: usize = 256 << 10;
/// How long a connection that is not closed is silent after a flood.
const SILENCE: Duration = Duration::from_secs(20);

/// A flood: its first bytes, and what follows them again and again.
pub(crate) struct Flood {
    pub(crate) name: &'static str,
    pub(crate) first: &'static str,
    pub(crate) again: &'static str,
    /// Whether it is made of requests or content, so that it is not ended.
    pub(crate) is_work: bool,
}

const CHUNKED: &str = "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";

pub(crate) const FLOODS: [Flood; 18] = [
    ended("blank lines", "", "\r\n"),
    ended("ends of lines", "", "\n"),
    ended("spaces before a request", "", " "),
    ended("a method", "", "A"),
    ended("a target", "GET /", "a"),
    ended("a field", "GET / HTTP/1.1\r\nhost: a\r\nx: ", "a"),
    ended("a name of a field", "GET / HTTP/1.1\r\nhost: a\r\n", "a"),
    ended("fields", "GET / HTTP/1.1\r\nhost: a\r\n", "x: a\r\n"),
    ended("the extension of a chunk", "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1;", "a"),
    ended("the size of a chunk", CHUNKED, "0"),
    ended("a trailer", "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ", "a"),
    ended("trailers", "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", "x: a\r\n"),
    ended("malformed requests", "", "GET\r\n\r\n"),
    ended("the preface of HTTP/2", "", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    work("requests", "", "GET / HTTP/1.1\r\nhost: a\r\n\r\n"),
    work(
        "requests that ask before they send",
        "",
        "POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\nx",
    ),
    work("chunks of a byte", CHUNKED, "1\r\na\r\n"),
    work("chunks with extensions", CHUNKED, "1;a=b;c=\"d\"\r\na\r\n"),
];

const fn ended(name: &'static str, first: &'static str, again: &'static str) -> Flood {
    Flood { name, first, again, is_work: false }
}

const fn work(name: &'static str, first: &'static str, again: &'static str) -> Flood {
    Flood { name, first, again, is_work: true }
}

/// Sends bytes until the connection is closed, at most this many. Returns whether it is closed
/// then. `answers`: whether they are read.
pub(crate) fn ends(mut socket: TcpStream, answers: bool, most: usize, mut next: impl FnMut() -> Vec<u8>) -> bool {
    socket.set_write_timeout(Some(LONG)).unwrap();
    socket.set_read_timeout(Some(SILENCE)).unwrap();
    let reading = socket.try_clone().unwrap();
    let reader = answers.then(|| spawn(move || std::io::copy(&mut &reading, &mut std::io::sink())));
    let is_closed = |error: std::io::Error| !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    let mut sent = 0;
    while sent < most {
        let piece = next();
        if let Err(error) = socket.write_all(&piece) {
            return is_closed(error);
        }
        sent += piece.len();
    }
    // What was sent may still be in buffers of the system. A connection that is closed gives an end or an error.
    reader.is_some_and(|reader| reader.join().unwrap().map_or_else(is_closed, |_| true))
}

/// Sends a flood. Returns whether the connection is closed after this many bytes.
pub(crate) fn is_ended(stream: TcpStream, flood: &Flood, answers: bool, most: usize) -> bool {
    let piece = flood.again.repeat((16_usize << 10).div_ceil(flood.again.len()));
    let mut first = Some(flood.first);
    ends(stream, answers, most, || first.take().filter(|first| !first.is_empty()).unwrap_or(&piece).as_bytes().to_vec())
}

/// Floods on a connection of its own, until the proxy has answered all of it.
pub(crate) fn flood(address: SocketAddr, flood: &Flood) {
    let stream = TcpStream::connect(address).unwrap();
    let (reading, over) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
    let most = if flood.is_work { ENDLESS } else { ENOUGH };
    let reader = spawn(move || std::io::copy(&mut &reading, &mut std::io::sink()));
    is_ended(stream, flood, false, most);
    let _ = over.shutdown(Shutdown::Write);
    let _ = reader.join().unwrap();
}

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\ntimeouts: { head: 1h, keepAlive: 1h, bodyTotal: 1h }\n";

#[test]
fn floods_end_or_are_work_and_others_are_served() {
    let proxy = Running::with(DEMO, "");
    scope(|scope| {
        let floods: Vec<_> = FLOODS
            .iter()
            .map(|flood| {
                let stream = TcpStream::connect(proxy.address).unwrap();
                let most = if flood.is_work { ENDLESS } else { ENOUGH };
                (flood, scope.spawn(move || is_ended(stream, flood, true, most)))
            })
            .collect();
        // A client that keeps its connection, and new ones.
        let mut client = Client::connect(proxy.address);
        while floods.iter().any(|(_, flood)| !flood.is_finished()) {
            assert_eq!(client.request("GET /", &[], b"").reply().status, 200);
            assert_eq!(get(proxy.address, "/").status, 200);
        }
        let wrong = floods.into_iter().filter_map(|(flood, thread)| {
            let ended = thread.join().unwrap();
            (ended == flood.is_work).then_some(flood.name)
        });
        let wrong: Vec<&str> = wrong.collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    });
    proxy.reaches("celero_requests_open", 0.0);
}

/// A client that reads no answers is not served without end: its requests wait, and its connection is closed.
#[test]
fn requests_whose_answers_nobody_reads_end() {
    let proxy = Running::with(&DEMO.replace("head: 1h", "head: 1h, send: 500ms"), "");
    for flood in FLOODS.iter().filter(|flood| flood.is_work && flood.first.is_empty()) {
        let stream = TcpStream::connect(proxy.address).unwrap();
        assert!(is_ended(stream, flood, false, 1 << 30), "{}", flood.name);
    }
    proxy.reaches("celero_requests_open", 0.0);
}
