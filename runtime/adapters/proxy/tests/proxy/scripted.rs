//! A server behind the proxy that sends what the test says, when the test says it.

use crate::running::LONG;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A server for one connection.
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    /// Bytes for the server to send. It closes the connection when this is dropped.
    pub(crate) send: Sender<Vec<u8>>,
    received: Receiver<Vec<u8>>,
}

impl Scripted {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (send, to_send) = channel::<Vec<u8>>();
        let (report, received) = channel();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let reading = stream.try_clone().unwrap();
            std::thread::spawn(move || read(reading, &report));
            for bytes in to_send {
                if stream.write_all(&bytes).is_err() {
                    break;
                }
            }
            let _ = stream.shutdown(std::net::Shutdown::Both);
        });
        Self { address, send, received }
    }

    /// The part of the configuration that leads to it.
    pub(crate) fn config(&self) -> String {
        format!("upstreams: [{{ name: one, servers: [\"{}\"] }}]\nroutes: [{{ upstream: one }}]\n", self.address)
    }

    pub(crate) fn say(&self, bytes: impl AsRef<[u8]>) -> &Self {
        let _ = self.send.send(bytes.as_ref().to_vec());
        self
    }

    /// Waits until the server has received this text, and returns all that it has received since it last was asked.
    pub(crate) fn until(&self, text: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(text) {
            let piece = self.received.recv_timeout(LONG).unwrap_or_else(|_| panic!("only {seen:?}"));
            seen.push_str(&String::from_utf8_lossy(&piece));
        }
        seen
    }

    /// Whether the server has received nothing more.
    pub(crate) fn is_idle(&self) -> bool {
        self.received.try_recv().is_err()
    }
}

fn read(mut stream: TcpStream, report: &Sender<Vec<u8>>) {
    let mut piece = vec![0; 1 << 16];
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        if report.send(piece[..count].to_vec()).is_err() {
            return;
        }
    }
}
