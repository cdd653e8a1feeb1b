//! The demo server: an upstream within the proxy, for first steps and for tests.
//!
//! `/` is answered with a text, `/status/<code>` with that status, and every other path with a
//! description of the request, as JSON.

use async_trait::async_trait;
use http::{Method, Response, header};
use pingora::apps::http_app::{HttpServer, ServeHttp};
use pingora::apps::{HttpServerOptions, ServerApp};
use pingora::protocols::Stream;
use pingora::protocols::http::ServerSession;
use pingora::server::ShutdownWatch;
use pingora::services::background::BackgroundService;
use serde_json::json;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

/// The largest accepted body, in bytes.
const MAX_BODY: usize = 64 << 20;

struct Demo;

#[async_trait]
impl ServeHttp for Demo {
    async fn response(&self, session: &mut ServerSession) -> Response<Vec<u8>> {
        let mut body = Vec::new();
        while let Ok(Some(piece)) = session.read_request_body().await {
            if body.len().saturating_add(piece.len()) > MAX_BODY {
                return answer(413, "text/plain", "the demo server accepts at most 64 MiB\n".into());
            }
            body.extend_from_slice(&piece);
        }
        let head = session.req_header();
        let path = head.uri.path();
        if head.method == Method::HEAD {
            return answer(200, "text/plain", String::new());
        }
        if path == "/" {
            return answer(200, "text/plain", "Hello from the demo upstream of celero-proxy.\n".into());
        }
        let status = path.strip_prefix("/status/").and_then(|code| code.parse().ok()).unwrap_or(200);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers: Vec<_> =
            head.headers.iter().map(|(name, value)| json!([name.as_str(), text(value.as_bytes())])).collect();
        let echo = json!({
            "method": head.method.as_str(),
            "target": head.uri.to_string(),
            "headers": headers,
            "bodyLength": body.len(),
            "body": text(body.get(..body.len().min(1 << 10)).unwrap_or_default()),
        });
        answer(status, "application/json", format!("{echo}\n"))
    }
}

fn answer(status: u16, kind: &str, body: String) -> Response<Vec<u8>> {
    let response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, kind)
        .header(header::CONTENT_LENGTH, body.len())
        .body(body.into_bytes());
    response.unwrap_or_default()
}

/// The service that runs the demo server on its own socket.
pub(crate) struct DemoService {
    listener: Mutex<Option<TcpListener>>,
}

impl DemoService {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener: Mutex::new(Some(listener)) }
    }

    async fn accept(&self) -> std::io::Result<()> {
        let Some(listener) = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let mut server = HttpServer::new_app(Demo);
        let mut options = HttpServerOptions::default();
        options.h2c = true;
        server.server_options = Some(options);
        let app = Arc::new(server);
        let (_open, watch) = tokio::sync::watch::channel(false);
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            let stream: Stream = Box::new(pingora::protocols::l4::stream::Stream::from(socket));
            let (app, watch) = (Arc::clone(&app), watch.clone());
            tokio::spawn(async move {
                let mut next = app.process_new(stream, &watch).await;
                while let Some(stream) = next {
                    next = app.process_new(stream, &watch).await;
                }
            });
        }
    }
}

#[async_trait]
impl BackgroundService for DemoService {
    /// Ignores the shutdown: requests that are open in the proxy still need their responses.
    async fn start(&self, _: ShutdownWatch) {
        if let Err(error) = self.accept().await {
            log::error!("the demo server stopped: {error}");
        }
    }
}
