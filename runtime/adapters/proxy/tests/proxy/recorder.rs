//! A server behind the proxy that reads the bytes of its connections itself: it counts the requests
//! that arrive, and reports what servers could read in several ways.

use crate::running::eventually;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

/// Requests whose targets are kept.
const KEPT: usize = 100;

/// The server. It stops to accept when it is dropped.
pub(crate) struct Recorder {
    pub(crate) address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    seen: Seen,
    /// The connections whose bytes are being read, with the addresses of their other ends.
    open: Vec<(SocketAddr, TcpStream)>,
    ended: bool,
}

/// What has arrived.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: usize,
    /// The targets of the first of them.
    pub(crate) targets: Vec<String>,
    /// Connections that ended within their first request.
    pub(crate) unfinished: usize,
    /// What servers could read in several ways, and bytes after a request that are no whole request.
    pub(crate) faults: Vec<String>,
}

/// A request that all servers read alike.
#[derive(Debug)]
struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Its length on the wire.
    length: usize,
}

impl Recorder {
    /// One that answers a request on each connection, and counts those that follow.
    pub(crate) fn start() -> Self {
        Self::with(true)
    }

    /// One that keeps connections.
    pub(crate) fn keeping() -> Self {
        Self::with(false)
    }

    fn with(closing: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Mutex::new(Shared::default()));
        let of_server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, shared) = (stream.unwrap(), Arc::clone(&of_server));
                let Ok(client) = stream.peer_addr() else { continue };
                let mut now = lock(&shared);
                if now.ended {
                    return;
                }
                now.open.push((client, stream.try_clone().unwrap()));
                drop(now);
                std::thread::spawn(move || serve(stream, client, closing, &shared));
            }
        });
        Self { address, shared }
    }

    /// The part of the configuration that leads to it.
    pub(crate) fn config(&self) -> String {
        format!("upstreams: [{{ name: one, servers: [\"{}\"] }}]\nroutes: [{{ upstream: one }}]\n", self.address)
    }

    /// Returns what has arrived since the last call, up to the last byte that was sent to it before
    /// this call. Connections end with it.
    pub(crate) fn seen(&self) -> Seen {
        // Connections are accepted in their order.
        let last = TcpStream::connect(self.address).unwrap();
        let client = last.local_addr().unwrap();
        let accepted = || lock(&self.shared).open.iter().any(|(other, _)| *other == client);
        eventually(accepted, || "a connection".into());
        // What was sent can still be read, then the end.
        lock(&self.shared).open.iter().for_each(|(_, stream)| drop(stream.shutdown(Shutdown::Read)));
        eventually(|| lock(&self.shared).open.is_empty(), || "ends of connections".into());
        std::mem::take(&mut lock(&self.shared).seen)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        lock(&self.shared).ended = true;
        let _ = TcpStream::connect(self.address);
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap()
}

/// Reads and answers the requests of a connection to its end.
fn serve(mut stream: TcpStream, client: SocketAddr, closing: bool, shared: &Mutex<Shared>) {
    let (mut bytes, mut piece, mut is_first) = (Vec::new(), vec![0; 1 << 14], true);
    stream.set_nodelay(true).unwrap();
    let fault = loop {
        match read(&bytes) {
            Ok(Some(request)) => {
                bytes.drain(..request.length);
                is_first = false;
                let mut now = lock(shared);
                now.seen.requests += 1;
                if now.seen.targets.len() < KEPT {
                    now.seen.targets.push(request.target.clone());
                }
                drop(now);
                let _ = stream.write_all(answer(&request, closing).as_bytes());
                if closing {
                    let _ = stream.shutdown(Shutdown::Write);
                }
            }
            Ok(None) => match stream.read(&mut piece) {
                Ok(count @ 1..) => bytes.extend_from_slice(&piece[..count]),
                _ if bytes.is_empty() => break None,
                _ if is_first => {
                    lock(shared).seen.unfinished += 1;
                    break None;
                }
                _ => break Some("no whole request".to_owned()),
            },
            Err(fault) => break Some(fault),
        }
    };
    let mut now = lock(shared);
    now.seen.faults.extend(fault.map(|fault| format!("{fault}: {}", bytes.escape_ascii())));
    now.open.retain(|(other, _)| *other != client);
}

fn answer(request: &Request, closing: bool) -> String {
    let Request { method, target, headers, body, .. } = request;
    let text = String::from_utf8_lossy(body);
    let echo =
        json!({ "method": method, "target": target, "headers": headers, "bodyLength": body.len(), "body": text });
    let (echo, field) = (echo.to_string(), if closing { "connection: close\r\n" } else { "" });
    format!("HTTP/1.1 200 OK\r\n{field}content-length: {}\r\n\r\n{echo}", echo.len())
}

/// Reads the first request in `bytes`. `None`: it is not complete.
///
/// # Errors
/// What servers could read in another way. This knows nothing of the proxy, and is stricter than RFC 9112.
fn read(bytes: &[u8]) -> Result<Option<Request>, String> {
    let Some(end) = find(bytes, b"\r\n\r\n") else { return Ok(None) };
    let head: String = bytes[..end].iter().copied().map(char::from).collect();
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap();
    let [method, target, "HTTP/1.1"] = line.split(' ').collect::<Vec<_>>()[..] else {
        return Err(format!("request line {line:?}"));
    };
    let mut headers = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(format!("line {line:?}"))?;
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) || value.contains(['\r', '\n', '\0']) {
            return Err(format!("line {line:?}"));
        }
        headers.push((name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).to_owned()));
    }
    let folded = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let imitates = |name: &str| ["content-length", "transfer-encoding", "host"].contains(&&*folded(name));
    if let Some((name, _)) = headers.iter().find(|(name, _)| imitates(name) && folded(name) != *name) {
        return Err(format!("name {name}"));
    }
    let all = |wanted: &str| {
        headers.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    let [_] = all("host")[..] else { return Err("not one host".into()) };
    let start = end + 4;
    let body = match (&all("content-length")[..], &all("transfer-encoding")[..]) {
        ([], []) => Some((Vec::new(), start)),
        ([length], []) if !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit()) => {
            let end = start + length.parse::<usize>().map_err(|error| error.to_string())?;
            bytes.get(start..end).map(|body| (body.to_vec(), end))
        }
        ([], ["chunked"]) => chunks(bytes, start)?,
        (lengths, codings) => return Err(format!("lengths {lengths:?} and codings {codings:?}")),
    };
    let (method, target) = (method.to_owned(), target.to_owned());
    Ok(body.map(|(body, length)| Request { method, target, headers, body, length }))
}

/// Reads a chunked body without extensions and trailers, and returns it with its end.
fn chunks(bytes: &[u8], mut at: usize) -> Result<Option<(Vec<u8>, usize)>, String> {
    let mut body = Vec::new();
    loop {
        let line = bytes[at..].split(|byte| *byte == b'\n').next().filter(|line| at + line.len() < bytes.len());
        let Some(line) = line else { return Ok(None) };
        let line = line.strip_suffix(b"\r").ok_or("a bare LF")?;
        let digits = std::str::from_utf8(line).ok().filter(|line| line.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let size = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok().filter(|size| *size < 1 << 30));
        let size = size.ok_or(format!("size of a chunk {}", line.escape_ascii()))?;
        at += line.len() + 2;
        let Some(chunk) = bytes.get(at..at + size + 2) else { return Ok(None) };
        at += size + 2;
        body.extend(chunk.strip_suffix(b"\r\n").ok_or("a chunk that does not end, or trailers")?);
        if size == 0 {
            return Ok(Some((body, at)));
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
