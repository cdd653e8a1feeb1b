//! A server in this process, and a client that sends exactly what it is told.

use celero_serve::{Files, Server};
use serde_json::Value as Json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Starts a server that runs until the tests end.
pub(crate) fn serve(files: Files) -> SocketAddr {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = server.address().unwrap();
    std::thread::spawn(move || server.run(files).unwrap());
    address
}

/// A folder for the files of a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Sends bytes and reads until the server closes the connection.
pub(crate) fn send(to: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server may refuse before it has read everything.
    let _ = stream.write_all(bytes);
    read(&mut stream)
}

/// Reads an answer: until its end, if its head says its length, or the end of the connection.
pub(crate) fn read(stream: &mut TcpStream) -> Answer {
    let mut received = Vec::new();
    let mut chunk = [0; 1 << 14];
    loop {
        if let Some(end) = received.windows(4).position(|part| part == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).into_owned();
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned));
            if length.is_some_and(|length| received.len() >= end + 4 + length.trim().parse::<usize>().unwrap()) {
                break;
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(read) => received.extend_from_slice(&chunk[..read]),
        }
    }
    let text = String::from_utf8_lossy(&received).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

pub(crate) fn get(to: SocketAddr, path: &str) -> Answer {
    send(to, format!("GET {path} HTTP/1.1\r\nHost: {to}\r\nX-Celero: 1\r\nConnection: close\r\n\r\n").as_bytes())
}

pub(crate) fn request(method: &str, to: SocketAddr, path: &str, body: &str) -> Answer {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {to}\r\nX-Celero: 1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    send(to, (head + body).as_bytes())
}

pub(crate) fn post(to: SocketAddr, path: &str, body: &Json) -> Answer {
    request("POST", to, path, &body.to_string())
}
