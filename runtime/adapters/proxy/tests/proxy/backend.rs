//! A server behind the proxy that tells who it is, and can die.

use crate::running::LONG;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

/// A server; it dies when dropped.
pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
    hits: Arc<AtomicUsize>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Backend {
    /// One that answers everything with its name.
    pub(crate) fn start(name: &'static str) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), name)
    }

    /// The same at an address.
    pub(crate) fn at(address: SocketAddr, name: &'static str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let (hits, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (seen, over) = (Arc::clone(&hits), Arc::clone(&ended));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || serve(stream.unwrap(), name, &seen));
            }
        });
        Self { address, hits, ended, thread: Some(thread) }
    }

    /// How many requests came, health checks not among them.
    pub(crate) fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }
}

fn serve(stream: TcpStream, name: &str, hits: &AtomicUsize) {
    let _ = stream.set_read_timeout(Some(LONG));
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while let Ok(1..) = stream.read_line(&mut head) {
        if head.ends_with("\r\n\r\n") {
            if !head.starts_with("GET /health") {
                hits.fetch_add(1, Ordering::SeqCst);
            }
            let answer =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{name}", name.len());
            let _ = stream.get_mut().write_all(answer.as_bytes());
            return;
        }
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().unwrap().join();
    }
}
