//! The listener for operators: `/metrics`, `/health`, `/ready`, `/lists`, and a page.

pub(crate) mod all_metrics;
pub(crate) mod array_lines;
pub(crate) mod host;
pub(crate) mod lists;
pub(crate) mod page;

use crate::admin::all_metrics::write_all;
use crate::listener::ClientStream;
use crate::metrics::prometheus_text::PrometheusText;
use crate::state::State;
use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, header};
use pingora::apps::{HttpPersistentSettings, HttpServerApp, ReusedHttpStream};
use pingora::http::ResponseHeader;
use pingora::protocols::http::ServerSession;
use pingora::server::ShutdownWatch;
use pingora::{ErrorType, Result};
use std::sync::Arc;

/// Serves the pages for operators.
pub(crate) struct Admin {
    pub(crate) state: Arc<State>,
    /// Whether only clients of this machine reach the address. Then they name it by its address or
    /// as `localhost`; elsewhere it may have any name.
    pub(crate) is_local: bool,
}

impl Admin {
    async fn answer(&self, session: &mut ServerSession) -> Result<()> {
        let mut content_type = "text/plain; version=0.0.4";
        let (mut more, mut leaves_body) = (None, false);
        let head = session.req_header();
        let path = head.uri.path().to_owned();
        let (status, body) = match &*path {
            _ if self.is_local && !host::is_own(&head.uri, &head.headers) => {
                (421, "this address is known by its IP address or as `localhost` only\n".into())
            }
            "/metrics" => {
                let mut page = PrometheusText::default();
                write_all(&self.state, &mut page);
                (200, page.into_text().into())
            }
            // The process answers.
            "/health" => (200, Bytes::from("ok\n")),
            // The files were loaded before the socket was opened. Servers are no part of it: a
            // proxy whose servers are all down still answers what the policy answers, and a load
            // balancer that took it out would take out all others as well.
            "/ready" if self.state.is_draining() => (503, "draining\n".into()),
            "/ready" => (200, "ready\n".into()),
            "/" => {
                content_type = "text/html; charset=utf-8";
                (200, page::render(&self.state).into())
            }
            "/style.css" => {
                content_type = "text/css; charset=utf-8";
                (200, page::STYLE.into())
            }
            path if path == "/lists" || path.starts_with("/lists/") => {
                let reply = lists::answer(&self.state, session, path).await;
                content_type = "application/json";
                (more, leaves_body) = (reply.header, reply.leaves_body);
                (reply.status, reply.body.into())
            }
            _ => (404, "there are /metrics, /health, /ready, /lists and the page /\n".into()),
        };
        let mut head = ResponseHeader::build(status, Some(7))?;
        head.insert_header(header::CONTENT_TYPE, content_type)?;
        head.insert_header(header::CONTENT_SECURITY_POLICY, page::CONTENT_SECURITY)?;
        head.insert_header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")?;
        head.insert_header(header::REFERRER_POLICY, "no-referrer")?;
        head.insert_header(header::CACHE_CONTROL, "no-store")?;
        head.insert_header(header::CONTENT_LENGTH, body.len())?;
        if let Some((name, value)) = more {
            head.insert_header(name, value)?;
        }
        session.write_response_header(Box::new(head)).await?;
        if session.req_header().method != Method::HEAD {
            session.write_response_body(body, true).await?;
        }
        if leaves_body {
            lists::linger(session).await;
        }
        Ok(())
    }
}

#[async_trait]
impl HttpServerApp for Admin {
    async fn process_new_http(
        self: &Arc<Self>,
        mut session: ServerSession,
        shutdown: &ShutdownWatch,
    ) -> Option<ReusedHttpStream> {
        match session.read_request().await {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => {
                if *error.etype() == ErrorType::InvalidHTTPHeader {
                    let _ = session.respond_error(400).await;
                }
                session.shutdown().await;
                return None;
            }
        }
        ClientStream::head_is_complete(session.stream());
        // A request with a body is not read further.
        if *shutdown.borrow() || !session.is_body_empty() {
            session.set_keepalive(None);
        }
        self.answer(&mut session).await.ok()?;
        let settings = HttpPersistentSettings::for_session(&session);
        let reusable = session.finish().await.ok()??;
        Some(ReusedHttpStream::from_reusable_stream(reusable, settings))
    }
}
