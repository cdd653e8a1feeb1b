//! The listener for operators: `/metrics`, `/health`, `/ready`, `/lists`, and a page.

use crate::admin_lists;
use crate::admin_page;
use crate::listener::ClientStream;
use crate::metrics;
use crate::state::State;
use async_trait::async_trait;
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
}

impl Admin {
    async fn answer(&self, session: &mut ServerSession) -> Result<()> {
        let mut content_type = "text/plain; version=0.0.4";
        let (mut more, mut leaves_body) = (None, false);
        let path = session.req_header().uri.path().to_owned();
        let (status, body) = match &*path {
            "/metrics" => {
                let dropped = self.state.log.as_ref().map_or(0, |log| log.dropped());
                (
                    200,
                    metrics::render(
                        &self.state.metrics,
                        &self.state.current(),
                        &self.state.lists,
                        self.state.mirrors.counts(),
                        dropped,
                    ),
                )
            }
            // The process answers.
            "/health" => (200, "ok\n".to_owned()),
            // The files were loaded before the socket was opened. Servers are no part of it: a proxy whose servers are all down still answers
            // what the policy answers, and a load balancer that took it out would take out all others as well.
            "/ready" if self.state.is_draining() => (503, "draining\n".to_owned()),
            "/ready" => (200, "ready\n".to_owned()),
            "/" => {
                content_type = "text/html; charset=utf-8";
                (200, admin_page::render(&self.state))
            }
            "/style.css" => {
                content_type = "text/css; charset=utf-8";
                (200, admin_page::STYLE.to_owned())
            }
            path if path == "/lists" || path.starts_with("/lists/") => {
                let reply = admin_lists::answer(&self.state, session, path).await;
                content_type = "application/json";
                (more, leaves_body) = (reply.header, reply.leaves_body);
                (reply.status, reply.body)
            }
            _ => (404, "there are /metrics, /health, /ready, /lists and the page /\n".to_owned()),
        };
        let mut head = ResponseHeader::build(status, Some(6))?;
        head.insert_header(header::CONTENT_TYPE, content_type)?;
        head.insert_header(header::CONTENT_SECURITY_POLICY, admin_page::CONTENT_SECURITY)?;
        head.insert_header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")?;
        head.insert_header(header::REFERRER_POLICY, "no-referrer")?;
        head.insert_header(header::CACHE_CONTROL, "no-store")?;
        head.insert_header(header::CONTENT_LENGTH, body.len())?;
        if let Some((name, value)) = more {
            head.insert_header(name, value)?;
        }
        session.write_response_header(Box::new(head)).await?;
        if session.req_header().method != Method::HEAD {
            session.write_response_body(body.into(), true).await?;
        }
        if leaves_body {
            admin_lists::linger(session).await;
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
