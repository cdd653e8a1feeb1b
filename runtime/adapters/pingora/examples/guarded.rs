//! A proxy of one server with a policy: as little as it takes.
//!
//! ```console
//! $ cargo run -p celero-pingora --example guarded -- examples/proxy-policy.yaml 127.0.0.1:9000
//! $ curl -i http://127.0.0.1:6188/
//! ```
//!
//! Without arguments it starts a server of its own, sends itself two requests, and ends.

use async_trait::async_trait;
use celero_pingora::Guard;
use celero_policy::LivePolicy;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::prelude::*;
use pingora::proxy::FailToProxy;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

struct Guarded {
    policy: LivePolicy,
    server: String,
}

#[async_trait]
impl ProxyHttp for Guarded {
    type CTX = Guard;

    fn new_ctx(&self) -> Guard {
        Guard::new(self.policy.current())
    }

    async fn request_filter(&self, session: &mut Session, guard: &mut Guard) -> Result<bool> {
        guard.request_filter(session).await
    }

    async fn upstream_peer(&self, _: &mut Session, _: &mut Guard) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.server.as_str(), false, String::new())))
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        head: &mut RequestHeader,
        guard: &mut Guard,
    ) -> Result<()> {
        guard.upstream_request_filter(session, head)
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        response: &mut ResponseHeader,
        guard: &mut Guard,
    ) -> Result<()> {
        guard.response_filter(session, response)
    }

    fn error_while_proxy(
        &self,
        _: &HttpPeer,
        session: &mut Session,
        mut error: Box<Error>,
        guard: &mut Guard,
        _: bool,
    ) -> Box<Error> {
        guard.error_while_proxy(session, &mut error);
        error.set_retry(false);
        error
    }

    async fn fail_to_proxy(&self, session: &mut Session, _: &Error, guard: &mut Guard) -> FailToProxy {
        if let Some(sent) = guard.fail_to_proxy(session).await {
            return sent;
        }
        let _ = session.respond_error(502).await;
        FailToProxy { error_code: 502, can_reuse_downstream: false }
    }

    async fn logging(&self, session: &mut Session, _: Option<&Error>, guard: &mut Guard) {
        let _ = writeln!(std::io::stdout(), "{}", guard.log(session));
    }
}

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let (policy, server, listen) = match (arguments.next(), arguments.next()) {
        (Some(policy), Some(server)) => (PathBuf::from(policy), server, "127.0.0.1:6188".to_owned()),
        (None, _) => demonstrate()?,
        _ => return Err("usage: guarded [POLICY SERVER]".into()),
    };
    let policy = LivePolicy::load(&policy)?;
    let mut pingora = Server::new(None)?;
    pingora.bootstrap();
    let mut service = http_proxy_service(&pingora.configuration, Guarded { policy, server });
    service.add_tcp(&listen);
    pingora.add_service(service);
    pingora.run_forever();
}

/// Starts a server, and a thread that sends requests through the proxy and then ends the program.
/// Returns a policy, the server's address, and an address for the proxy.
fn demonstrate() -> Outcome<(PathBuf, String, String)> {
    let server = TcpListener::bind("127.0.0.1:0")?;
    let address = server.local_addr()?.to_string();
    std::thread::spawn(move || {
        for stream in server.incoming().flatten() {
            let _ = answer(stream);
        }
    });
    let listen = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let proxy = listen.clone();
    std::thread::spawn(move || {
        let code = match try_it(&proxy) {
            Ok(()) => 0,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "{error}");
                1
            }
        };
        std::process::exit(code);
    });
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/proxy-policy.yaml");
    Ok((policy, address, listen))
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = [0; 4096];
    let _ = stream.read(&mut head)?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n")
}

/// Sends a request that the policy admits and one that it denies.
fn try_it(proxy: &str) -> Outcome<()> {
    for (path, status) in [("/", "200"), ("/x/..//admin", "403")] {
        let mut tries = 0..100;
        let mut stream = loop {
            match TcpStream::connect(proxy) {
                Ok(stream) => break stream,
                Err(error) => tries.next().map(|_| std::thread::sleep(Duration::from_millis(50))).ok_or(error)?,
            }
        };
        write!(stream, "GET {path} HTTP/1.1\r\nhost: shop.example\r\nconnection: close\r\n\r\n")?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        writeln!(std::io::stdout(), "{path}\n{response}")?;
        if !response.starts_with(&format!("HTTP/1.1 {status} ")) {
            return Err(format!("{path} is not answered with {status}").into());
        }
    }
    Ok(())
}
