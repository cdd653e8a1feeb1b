//! A server behind the proxy that answers as the test says, and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The server. It accepts no more connections when it is dropped.
pub(crate) struct Answering {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

type Answer = dyn Fn(&str) -> Option<String> + Send + Sync;

struct Shared {
    answer: Box<Answer>,
    seen: Mutex<Vec<String>>,
    ended: AtomicBool,
}

impl Answering {
    /// One that sends what `answer` makes of a request, which ends with its body. `None`: it closes the connection.
    pub(crate) fn start(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared =
            Arc::new(Shared { answer: Box::new(answer), seen: Mutex::default(), ended: AtomicBool::new(false) });
        let of_server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if of_server.ended.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&of_server);
                std::thread::spawn(move || serve(stream.unwrap(), &shared));
            }
        });
        Self { address, shared }
    }

    /// One that answers everything with a status and a body.
    pub(crate) fn always(status: u16, body: &'static str) -> Self {
        Self::start(move |_| Some(response(status, body)))
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.shared.seen.lock().unwrap().clone()
    }

    pub(crate) fn hits(&self) -> usize {
        self.shared.seen.lock().unwrap().len()
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

pub(crate) fn response(status: u16, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn serve(stream: TcpStream, shared: &Shared) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            if !matches!(stream.read_line(&mut request), Ok(1..)) {
                return;
            }
        }
        let length =
            request.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        if stream.read_exact(&mut body).is_err() {
            return;
        }
        request.push_str(&String::from_utf8_lossy(&body));
        let answer = (shared.answer)(&request);
        shared.seen.lock().unwrap().push(request);
        let Some(answer) = answer else { return };
        if stream.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
