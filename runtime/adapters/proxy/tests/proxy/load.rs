//! Clients that ask without a pause, and note what fails.

use crate::running::LONG;
use http::Request;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

const NAME: &str = "one.example";

/// Requests of an HTTP/2 connection at a time.
const AT_ONCE: usize = 4;

/// Where a client asks, and how.
pub(crate) struct Target {
    address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
    http2: bool,
}

impl Target {
    pub(crate) fn http1(address: SocketAddr, tls: Option<ClientConfig>) -> Self {
        Self { address, tls: tls.map(Arc::new), http2: false }
    }

    pub(crate) fn http2(address: SocketAddr, tls: Option<ClientConfig>) -> Self {
        Self { address, tls: tls.map(Arc::new), http2: true }
    }
}

#[derive(Default)]
struct Counts {
    stop: AtomicBool,
    answered: AtomicUsize,
    /// Requests that the server said it has not begun, which were sent again.
    again: AtomicUsize,
    failures: Mutex<Vec<String>>,
}

impl Counts {
    fn failed(&self, what: &str, error: impl std::fmt::Display) {
        self.failures.lock().unwrap().push(format!("{what}: {error}"));
        std::thread::sleep(Duration::from_millis(50));
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Clients at work.
pub(crate) struct Load {
    counts: Arc<Counts>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts a client for each target.
    pub(crate) fn start(targets: &[Target]) -> Self {
        let counts = Arc::<Counts>::default();
        let threads = targets.iter().map(|target| {
            let counts = Arc::clone(&counts);
            let Target { address, tls, http2 } = target;
            let (address, tls, http2) = (*address, tls.clone(), *http2);
            std::thread::spawn(
                move || if http2 { ask_http2(address, tls, &counts) } else { ask_http1(address, tls, &counts) },
            )
        });
        let threads = threads.collect();
        Self { counts, threads }
    }

    pub(crate) fn answered(&self) -> usize {
        self.counts.answered.load(Ordering::Relaxed)
    }

    pub(crate) fn again(&self) -> usize {
        self.counts.again.load(Ordering::Relaxed)
    }

    pub(crate) fn failures(&self) -> Vec<String> {
        self.counts.failures.lock().unwrap().clone()
    }

    /// Returns what failed.
    pub(crate) fn stop(mut self) -> Vec<String> {
        self.counts.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
        self.failures()
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.counts.stop.store(true, Ordering::Relaxed);
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

fn ask_http1(address: SocketAddr, tls: Option<Arc<ClientConfig>>, counts: &Counts) {
    let what = if tls.is_some() { "HTTP/1.1 with TLS" } else { "HTTP/1.1" };
    let mut connections = 0_usize;
    while counts.goes_on() {
        let mut connection = match connect(address, tls.as_ref()) {
            Ok(connection) => BufReader::new(connection),
            Err(error) => {
                counts.failed(what, format!("connecting: {error}"));
                continue;
            }
        };
        connections += 1;
        // Some connections are for one request, so that handshakes are under way too.
        let most = if connections.is_multiple_of(3) { 1 } else { 200 };
        for number in 1.. {
            match ask(&mut connection, number == most) {
                Ok(closes) => {
                    counts.answered.fetch_add(1, Ordering::Relaxed);
                    if closes || !counts.goes_on() {
                        break;
                    }
                }
                Err(error) => {
                    counts.failed(what, format!("request {number} of a connection: {error}"));
                    break;
                }
            }
        }
    }
}

fn connect(address: SocketAddr, tls: Option<&Arc<ClientConfig>>) -> std::io::Result<Box<dyn Stream>> {
    let socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(LONG))?;
    let Some(config) = tls else { return Ok(Box::new(socket)) };
    let name = ServerName::try_from(NAME).unwrap();
    let connection = ClientConnection::new(Arc::clone(config), name).map_err(std::io::Error::other)?;
    Ok(Box::new(StreamOwned::new(connection, socket)))
}

/// Sends a request and reads its response. Returns whether the connection ends.
fn ask(connection: &mut BufReader<Box<dyn Stream>>, last: bool) -> std::io::Result<bool> {
    let close = if last { "connection: close\r\n" } else { "" };
    write!(connection.get_mut(), "GET /echo HTTP/1.1\r\nhost: {NAME}\r\n{close}\r\n")?;
    connection.get_mut().flush()?;
    let (mut length, mut closes, mut status) = (0, false, String::new());
    loop {
        let mut line = String::new();
        if connection.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if status.is_empty() {
            status.clone_from(&line);
        } else if line.is_empty() {
            break;
        } else if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().map_err(std::io::Error::other)?;
        } else if line == "connection: close" {
            closes = true;
        }
    }
    connection.read_exact(&mut vec![0; length])?;
    if status.starts_with("http/1.1 200 ") { Ok(closes) } else { Err(std::io::Error::other(status)) }
}

fn ask_http2(address: SocketAddr, tls: Option<Arc<ClientConfig>>, counts: &Counts) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let what = if tls.is_some() { "HTTP/2 with TLS" } else { "HTTP/2" };
    while counts.goes_on() {
        let done = runtime.block_on(async {
            let socket =
                tokio::net::TcpStream::connect(address).await.map_err(|error| format!("connecting: {error}"))?;
            match &tls {
                None => over(socket, counts).await,
                Some(config) => {
                    let connector = tokio_rustls::TlsConnector::from(Arc::clone(config));
                    let name = ServerName::try_from(NAME).unwrap();
                    let socket =
                        connector.connect(name, socket).await.map_err(|error| format!("handshake: {error}"))?;
                    over(socket, counts).await
                }
            }
        });
        if let Err(error) = done {
            counts.failed(what, error);
        }
    }
}

/// Asks until the server ends the connection.
async fn over(socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, counts: &Counts) -> Result<(), String> {
    let (sender, connection) = h2::client::handshake(socket).await.map_err(|error| format!("preface: {error}"))?;
    tokio::spawn(connection);
    while counts.goes_on() {
        let mut pending = Vec::new();
        let mut ends = false;
        for _ in 0..AT_ONCE {
            let request = Request::get(format!("http://{NAME}/echo")).body(()).unwrap();
            let Ok(mut ready) = sender.clone().ready().await else {
                ends = true;
                break;
            };
            match ready.send_request(request, true) {
                Ok((response, _)) => pending.push(response),
                Err(_) => ends = true,
            }
        }
        for response in pending {
            let answered = async {
                let (head, mut body) = response.await?.into_parts();
                while let Some(piece) = body.data().await {
                    let piece = piece?;
                    body.flow_control().release_capacity(piece.len())?;
                }
                Ok::<_, h2::Error>(head.status.as_u16())
            };
            match answered.await {
                Ok(200) => drop(counts.answered.fetch_add(1, Ordering::Relaxed)),
                Ok(status) => return Err(format!("status {status}")),
                // The server names the last request that it has begun, or refuses one: the others
                // may be sent again (RFC 9113, section 8.7).
                Err(error)
                    if error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR)
                        || error.reason() == Some(h2::Reason::REFUSED_STREAM) =>
                {
                    counts.again.fetch_add(1, Ordering::Relaxed);
                    ends = true;
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        if ends {
            return Ok(());
        }
    }
    Ok(())
}
