//! The way of a request through the proxy.

use crate::generation::Generation;
use crate::state::State;
use crate::{entry, route};
use async_trait::async_trait;
use bytes::Bytes;
use celero_pingora::Guard;
use http::{HeaderValue, StatusCode, header};
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::proxy::{FailToProxy, ProxyHttp, Session};
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorSource, ErrorType, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long the rest of a body is read that nobody wants any more.
const DRAIN: Duration = Duration::from_secs(5);

/// The proxy, as Pingora sees it.
pub(crate) struct Service {
    pub(crate) state: Arc<State>,
}

/// What a request carries.
pub(crate) struct Request {
    pub(crate) now: Arc<Generation>,
    pub(crate) guard: Guard,
    /// The index of its upstream.
    pub(crate) upstream: Option<usize>,
    /// The server that was chosen last.
    pub(crate) server: Option<SocketAddr>,
    /// The servers that could not be connected to.
    failed: Vec<SocketAddr>,
}

#[async_trait]
impl ProxyHttp for Service {
    type CTX = Request;

    fn new_ctx(&self) -> Request {
        self.state.metrics.began();
        let now = self.state.current();
        let guard = Guard::new(Arc::clone(&now.policy)).with_patience(now.timeouts().body);
        Request { now, guard, upstream: None, server: None, failed: Vec::new() }
    }

    async fn request_filter(&self, session: &mut Session, request: &mut Request) -> Result<bool> {
        let patience = request.now.timeouts().body;
        session.set_read_timeout(Some(patience));
        // A client that is answered before its body was read would lose the answer if the connection were closed at once, and
        // may have sent its next request already.
        session.set_close_on_response_before_downstream_finish(false);
        session.set_total_drain_timeout(Some(patience.min(DRAIN)));
        session.set_pipelining_enabled(true);
        if request.guard.request_filter(session).await? {
            return Ok(true);
        }
        let exchange = request.guard.exchange();
        request.upstream = route::choose(request.now.routes(), session.req_header(), |name| exchange.label(name));
        if request.upstream.is_none() {
            respond(session, StatusCode::NOT_FOUND, "no route leads to an upstream").await?;
            return Ok(true);
        }
        Ok(false)
    }

    async fn upstream_peer(&self, session: &mut Session, request: &mut Request) -> Result<Box<HttpPeer>> {
        let upstream = request.upstream.and_then(|index| request.now.upstreams.get(index));
        let client = request.guard.exchange().peer().map(|peer| peer.ip());
        let chosen = upstream.and_then(|upstream| {
            let server = upstream.choose(session.req_header(), client, &request.failed)?;
            Some((upstream, server))
        });
        let Some((upstream, server)) = chosen else {
            return Error::e_explain(ErrorType::HTTPStatus(503), "no server of the upstream is left to try");
        };
        request.server = Some(server);
        let mut peer = HttpPeer::new(server, false, String::new());
        let (options, timeouts) = (&mut peer.options, request.now.timeouts());
        options.connection_timeout = Some(timeouts.connect);
        options.total_connection_timeout = Some(timeouts.connect);
        options.read_timeout = Some(timeouts.read);
        options.write_timeout = Some(timeouts.write);
        options.idle_timeout = Some(timeouts.idle);
        if upstream.wanted.h2c {
            options.set_http_version(2, 2);
        }
        Ok(Box::new(peer))
    }

    /// Tells the server who the client is, as proxies do.
    async fn upstream_request_filter(
        &self,
        _: &mut Session,
        head: &mut RequestHeader,
        request: &mut Request,
    ) -> Result<()> {
        if let Some(peer) = request.guard.exchange().peer() {
            let client = peer.ip().to_string();
            let mut chain =
                head.headers.get_all("x-forwarded-for").iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
            chain.push(client.as_bytes());
            let chain = chain.join(&b", "[..]);
            head.insert_header("x-forwarded-for", chain)?;
        }
        Ok(())
    }

    async fn request_body_filter(
        &self,
        _: &mut Session,
        body: &mut Option<Bytes>,
        _: bool,
        request: &mut Request,
    ) -> Result<()> {
        request.guard.request_body_filter(body);
        Ok(())
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        response: &mut ResponseHeader,
        request: &mut Request,
    ) -> Result<()> {
        request.guard.response_filter(session, response)
    }

    fn fail_to_connect(
        &self,
        _: &mut Session,
        _: &HttpPeer,
        request: &mut Request,
        mut error: Box<Error>,
    ) -> Box<Error> {
        self.state.metrics.upstream_failed();
        request.failed.extend(request.server);
        error.set_retry(request.failed.len() <= request.now.config.retries);
        error
    }

    /// As Pingora does it, but never without the part of the body that is gone.
    fn error_while_proxy(
        &self,
        peer: &HttpPeer,
        session: &mut Session,
        error: Box<Error>,
        request: &mut Request,
        reused: bool,
    ) -> Box<Error> {
        let mut error = error.more_context(format!("server {peer}"));
        let again = session.req_header().method.is_idempotent()
            && !session.retry_buffer_truncated()
            && request.guard.may_retry()
            && request.guard.answer().is_none();
        if again {
            error.retry.decide_reuse(reused);
        } else {
            error.set_retry(false);
        }
        error
    }

    async fn fail_to_proxy(&self, session: &mut Session, error: &Error, request: &mut Request) -> FailToProxy {
        if let Some(sent) = request.guard.fail_to_proxy(session).await {
            return sent;
        }
        let status = status_of(error);
        if let Some(status) = status
            && session.response_written().is_none()
        {
            session.set_keepalive(None);
            let reason = status.canonical_reason().unwrap_or_default().to_lowercase();
            if let Err(error) = respond(session, status, &reason).await {
                log::debug!("the client did not take its answer: {error}");
            }
        }
        FailToProxy { error_code: status.map_or(0, |status| status.as_u16()), can_reuse_downstream: false }
    }

    async fn logging(&self, session: &mut Session, error: Option<&Error>, request: &mut Request) {
        let status = session.response_written().map(|head| head.status.as_u16());
        let fields = request.guard.log(session);
        if let Some(log) = &self.state.log {
            log.line(entry::line(session, request, &fields, error));
        }
        // At last: a proxy that is ending waits for nothing else.
        self.state.metrics.ended(status, request.guard.elapsed());
    }

    /// What the policy answered is no failure.
    fn suppress_error_log(&self, _: &Session, request: &Request, _: &Error) -> bool {
        request.guard.answer().is_some()
    }
}

/// The status that tells a client what went wrong; `None`: it is gone.
fn status_of(error: &Error) -> Option<StatusCode> {
    let status = match (error.etype(), error.esource()) {
        (ErrorType::HTTPStatus(status), _) => *status,
        (ErrorType::ConnectTimedout | ErrorType::ReadTimedout | ErrorType::WriteTimedout, ErrorSource::Upstream) => 504,
        (_, ErrorSource::Upstream) => 502,
        (ErrorType::WriteError | ErrorType::ReadError | ErrorType::ConnectionClosed, ErrorSource::Downstream) => {
            return None;
        }
        (ErrorType::ReadTimedout, ErrorSource::Downstream) => 408,
        (_, ErrorSource::Downstream) => 400,
        _ => 500,
    };
    StatusCode::from_u16(status).ok()
}

/// The proxy's own answers.
async fn respond(session: &mut Session, status: StatusCode, text: &str) -> Result<()> {
    let body = format!("{text}\n");
    let mut head = ResponseHeader::build(status, Some(2))?;
    head.insert_header(header::CONTENT_TYPE, "text/plain")?;
    head.insert_header(header::CONTENT_LENGTH, body.len())?;
    let silent = session.req_header().method == http::Method::HEAD;
    session.write_response_header(Box::new(head), silent).await?;
    if !silent {
        session.write_response_body(Some(body.into()), true).await?;
    }
    Ok(())
}
