//! The phases of a request in the proxy.
//!
//! Invariant: rules on bodies run before a server is chosen. Test:
//! `runtime/adapters/proxy/tests/proxy/phases.rs::a_body_is_looked_at_before_the_server_is_asked`.

use crate::clients::{Connection, identify};
use crate::config::{Route, Target};
use crate::listener::{BodyWatch, ClientStream};
use crate::logs::event_history::Refused;
use crate::metrics::counters::Event;
use crate::metrics::latency;
use crate::request::content_clock::ContentClock;
use crate::request::state::RequestState;
use crate::request::static_answer::{respond, respond_later, send_static};
use crate::request::{failure, log_entry, retry, span, status_class};
use crate::state::State;
use crate::upstreams::connections::POOL_EXHAUSTED;
use crate::upstreams::routing;
use async_trait::async_trait;
use bytes::Bytes;
use celero_pingora::{BodyPace, Guard, WithoutChunksBuilder, client_gone, final_response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::modules::http::HttpModules;
use pingora::protocols::l4::socket::SocketAddr as Address;
use pingora::proxy::{FailToProxy, ProxyHttp, Session};
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, Result};
use std::sync::Arc;
use std::time::Duration;

/// The longest time for reading the rest of a body after the request was answered.
const DRAIN: Duration = Duration::from_secs(5);

/// The implementation of Pingora's proxy trait.
pub(crate) struct Service {
    pub(crate) state: Arc<State>,
}

#[async_trait]
impl ProxyHttp for Service {
    type CTX = RequestState;

    fn new_ctx(&self) -> RequestState {
        let now = self.state.current();
        let timeouts = now.timeouts();
        let pace = BodyPace { pause: timeouts.body, total: timeouts.body_total, rate: now.config.limits.body_rate };
        let mut guard = Guard::new(Arc::clone(&now.policy)).with_body_pace(pace).with_message_streams();
        now.compression.iter().for_each(|compression| guard.set_compression(Arc::clone(compression)));
        RequestState::new(Arc::clone(&self.state), now, guard)
    }

    /// Leaves out Pingora's own compression.
    fn init_downstream_modules(&self, modules: &mut HttpModules) {
        modules.add_module(Box::new(WithoutChunksBuilder));
    }

    /// Refuses heads beyond the bounds that were not noticed while they arrived: those of HTTP/2,
    /// and those that arrived with a body.
    async fn early_request_filter(&self, session: &mut Session, request: &mut RequestState) -> Result<()> {
        ClientStream::head_is_complete(session.stream());
        let (head, limits) = (session.req_header(), &request.now.config.limits);
        // A request line has two spaces and the version besides.
        let line = head.raw_path().len().saturating_add(head.method.as_str().len()).saturating_add(" HTTP/1.1 ".len());
        let (status, reason) = if line > limits.request_line {
            (414, "the request line is too long")
        } else if head.headers.len() > limits.headers || size(&head.headers) > limits.head {
            (431, "the head is too large")
        } else {
            return Ok(());
        };
        self.state.metrics.head_refused(StatusCode::from_u16(status).unwrap_or_default());
        Error::e_explain(ErrorType::HTTPStatus(status), reason)
    }

    async fn request_filter(&self, session: &mut Session, request: &mut RequestState) -> Result<bool> {
        let body_timeout = request.now.timeouts().body;
        session.set_read_timeout(Some(body_timeout));
        session.set_write_timeout(Some(request.now.timeouts().send));
        // If the connection were closed as soon as a request is answered, a client that is still
        // sending its body could lose the answer; and the next request may be on its way already.
        session.set_close_on_response_before_downstream_finish(false);
        session.set_total_drain_timeout(Some(body_timeout.min(DRAIN)));
        session.set_pipelining_enabled(true);
        let Some(connection) = connection(session) else {
            // Without the address of the peer nobody knows whom to believe.
            request.refused = Some("no-address");
            respond(session, StatusCode::INTERNAL_SERVER_ERROR, "the client has no address").await?;
            return Ok(true);
        };
        if let (Some(recorder), false) = (&request.now.recorder, request.overload) {
            let tls = session.digest().and_then(|digest| digest.ssl_digest.as_ref());
            // rustls writes `TLSv1_3`.
            let version = tls.map(|tls| tls.version.replace('_', "."));
            recorder.record(session.req_header(), &connection, version.as_deref());
        }
        let Ok(client) = identify(session.req_header_mut(), &connection, &request.now.config) else {
            request.refused = Some("forwarded");
            log::debug!("{}, which is trusted, sends a header about the client that can't be read", connection.peer);
            respond(session, StatusCode::BAD_REQUEST, "a proxy in front names no client").await?;
            return Ok(true);
        };
        request.guard.set_client(client.address, client.via, client.is_peer());
        request.client = Some(client);
        if request.overload {
            // Before rules run or a body is read. The connection stays: another one would cost more than this answer.
            request.refused = Some("overload");
            self.state.metrics.count(Event::Overloaded);
            respond_later(session, "too many requests are open").await?;
            return Ok(true);
        }
        let has_body = !session.is_body_empty();
        request.has_body = has_body;
        if request.guard.request_filter_until(session, self.state.stopped()).await? {
            return Ok(true);
        }
        let has_body = request.guard.has_new_body().unwrap_or(has_body);
        request.has_body = has_body;
        let (exchange, head) = (request.guard.exchange(), session.req_header());
        request.route = routing::choose(request.now.routes(), head, |name| exchange.label(name));
        let found = request.route.and_then(|route| Some((route, request.now.routes().get(route)?)));
        if let Some((_, Route { target: Target::Answer(answer), .. })) = found {
            send_static(session, answer).await?;
            return Ok(true);
        }
        if let Some((_, Route { compression: false, .. })) = found {
            request.guard.disable_compression();
        }
        let keys = request.keys(head);
        request.upstream = found.and_then(|(route, _)| request.now.upstream_of(route, keys));
        let Some(((route, found), upstream)) = found.zip(request.upstream()) else {
            respond(session, StatusCode::NOT_FOUND, "no route leads to an upstream").await?;
            return Ok(true);
        };
        if let Some(retry) = &found.retry {
            upstream.retries.add(retry.budget);
        }
        let Ok(admitted) = upstream.admission.admit() else {
            request.refused = Some("upstream");
            respond_later(session, "too many requests of the upstream are open").await?;
            return Ok(true);
        };
        request.admitted = admitted;
        request.copy = match session.is_upgrade_req() {
            true => None,
            false => self.state.mirrors.begin(&request.now, route, has_body),
        };
        let end = session.is_body_done();
        BodyWatch::awaits(session, end);
        Ok(false)
    }

    async fn upstream_peer(&self, session: &mut Session, request: &mut RequestState) -> Result<Box<HttpPeer>> {
        let keys = request.keys(session.req_header());
        let chosen = request.upstream().and_then(|upstream| {
            let server = upstream.choose(keys, &request.failed)?;
            Some((Arc::clone(upstream), server))
        });
        let Some((upstream, server)) = chosen else {
            if !request.failed.is_empty() {
                return Error::e_explain(ErrorType::HTTPStatus(502), "no server of the upstream accepts a connection");
            }
            return Error::e_explain(ErrorType::HTTPStatus(503), "no server of the upstream is left to try");
        };
        request.server = Some(server);
        request.answered = false;
        request.at_server = upstream.servers.begin(server);
        // The same before and after the wait: meanwhile the server may have been replaced by another of its address.
        let connections = upstream.servers.connections(server);
        if let Some(connections) = &connections {
            tokio::select! {
                biased;
                waited = request.await_connection(connections) => {
                    if waited.is_err() {
                        return Error::e_explain(ErrorType::HTTPStatus(503), "no connection to the server is free");
                    }
                }
                () = client_gone(session) => {
                    let reason = "the client has left while its request waited for a connection";
                    return Err(Error::explain(ErrorType::ConnectionClosed, reason).into_down());
                }
            }
        }
        let mut peer = upstream.peer(server);
        connections.into_iter().for_each(|connections| connections.apply(&mut peer));
        request.now.apply_timeouts(&mut peer, request.route);
        if let Some(limit) = peer.options.read_timeout {
            request.guard.set_response_head_timeout(limit);
            request.content = Some(ContentClock::new(limit));
        }
        Ok(Box::new(peer))
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        head: &mut RequestHeader,
        request: &mut RequestState,
    ) -> Result<()> {
        request.pool_exhausted = 0;
        if let Some(copy) = &mut request.copy {
            copy.again(request.has_body);
        }
        request.guard.upstream_request_filter(session, head)
    }

    async fn upstream_response_filter(
        &self,
        session: &mut Session,
        response: &mut ResponseHeader,
        request: &mut RequestState,
    ) -> Result<()> {
        if response.status.is_informational() && response.status != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(());
        }
        if retry::drops_response(session, request, response) {
            let status = response.status.as_u16();
            return Error::e_explain(ErrorType::HTTPStatus(status), "another server is tried after this response");
        }
        self.send_copy(session, request);
        Ok(())
    }

    /// Pingora passes on each read of a body, also of what is no content: parts of the head of a chunk, and trailers.
    fn upstream_response_body_filter(
        &self,
        _: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        request: &mut RequestState,
    ) -> Result<Option<Duration>> {
        let is_content = end || body.as_ref().is_some_and(|body| !body.is_empty());
        request.content.as_mut().map_or(Ok(()), |content| content.take(is_content))?;
        Ok(None)
    }

    async fn request_body_filter(
        &self,
        session: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        request: &mut RequestState,
    ) -> Result<()> {
        // An empty piece is none: the guard turns Pingora's loop with it.
        if !end && body.as_ref().is_some_and(Bytes::is_empty) {
            return Ok(());
        }
        BodyWatch::awaits(session, end);
        let arrived = body.as_ref().map_or(0, Bytes::len);
        request.guard.request_body_filter(body, end).await?;
        if let Some(copy) = &mut request.copy
            && !copy.take(body.as_deref().unwrap_or_default(), end)
        {
            request.copy = None;
            self.state.mirrors.skipped();
        }
        if !end && !session.was_upgraded() {
            request.guard.body_arrived(arrived)?;
        }
        Ok(())
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        response: &mut ResponseHeader,
        request: &mut RequestState,
    ) -> Result<()> {
        if self.state.is_stopping() {
            session.set_keepalive(None);
        }
        request.guard.response_filter(session, response)
    }

    fn response_body_filter(
        &self,
        _: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        request: &mut RequestState,
    ) -> Result<Option<Duration>> {
        request.guard.response_body_filter(body, end);
        Ok(None)
    }

    async fn response_trailer_filter(
        &self,
        _: &mut Session,
        trailers: &mut HeaderMap,
        request: &mut RequestState,
    ) -> Result<Option<Bytes>> {
        request.grpc = status_class::grpc_status(trailers).or(request.grpc);
        request.guard.response_trailer_filter(trailers);
        Ok(None)
    }

    fn fail_to_connect(
        &self,
        _: &mut Session,
        _: &HttpPeer,
        request: &mut RequestState,
        mut error: Box<Error>,
    ) -> Box<Error> {
        if *error.etype() == POOL_EXHAUSTED {
            // Neither the server nor the proxy has failed: `await_connection` decides how long the request tries.
            request.pool_exhausted = request.pool_exhausted.saturating_add(1);
            error.set_retry(true);
            return error;
        }
        self.state.metrics.count(Event::UpstreamFailed);
        // Without descriptors or ports the proxy would eject servers that work.
        if !failure::is_local(&error) {
            request.server_failed();
        }
        request.failed.extend(request.server);
        request.failed_connections = request.failed_connections.saturating_add(1);
        error.set_retry(request.failed_connections <= request.now.config.retries);
        if error.retry() {
            let server = request.server.map(|server| server.to_string()).unwrap_or_default();
            log::warn!("server {server}: {}; another server is tried", failure::reason_of(&error));
        }
        error
    }

    fn error_while_proxy(
        &self,
        peer: &HttpPeer,
        session: &mut Session,
        error: Box<Error>,
        request: &mut RequestState,
        reused: bool,
    ) -> Box<Error> {
        let mut error = error;
        request.guard.error_while_proxy(session, &mut error);
        let mut error = error.more_context(format!("server {peer}"));
        let (server, retries) = (request.server, request.retries);
        retry::after_failure(session, request, &mut error, reused);
        if request.retries > retries || matches!(error.etype(), ErrorType::HTTPStatus(_)) && error.retry() {
            let server = server.map(|server| server.to_string()).unwrap_or_default();
            log::info!("server {server}: {}; another server is tried", failure::reason_of(&error));
        }
        error
    }

    async fn fail_to_proxy(&self, session: &mut Session, error: &Error, request: &mut RequestState) -> FailToProxy {
        if let Some(sent) = request.guard.fail_to_proxy(session).await {
            return sent;
        }
        let mut status = failure::status_of(error);
        // The server waits for the rest of the body. HTTP/2 has no other time limit for that. A
        // server that does not accept the connection fails with another error.
        let waits = status == Some(StatusCode::GATEWAY_TIMEOUT) && matches!(error.etype(), ErrorType::ReadTimedout);
        if waits && !session.was_upgraded() && !session.is_body_done() {
            status = Some(StatusCode::REQUEST_TIMEOUT);
        }
        // What is refused is in the access log and the metrics; under load it would flood this log.
        if let (Some(upstream), None) = (request.upstream(), request.refused) {
            let (level, reason) = (failure::level_of(error), failure::reason_of(error));
            match request.server {
                Some(server) => log::log!(level, "upstream {}, server {server}: {reason}", upstream.name),
                None => log::log!(level, "upstream {}: {reason}", upstream.name),
            }
        }
        log::debug!("{error}");
        if let Some(status) = status
            && final_response(session).is_none()
        {
            session.set_keepalive(None);
            let reason = status.canonical_reason().unwrap_or_default().to_lowercase();
            let sent = match request.refused {
                Some("connections") => respond_later(session, "all connections to the server are in use").await,
                _ => respond(session, status, &reason).await,
            };
            if let Err(error) = sent {
                log::debug!("the client did not receive its answer: {error}");
            }
        }
        FailToProxy { error_code: status.map_or(0, |status| status.as_u16()), can_reuse_downstream: false }
    }

    async fn logging(&self, session: &mut Session, error: Option<&Error>, request: &mut RequestState) {
        let response = final_response(session);
        let status = response.map(|head| head.status.as_u16());
        let of_head = response.and_then(|head| status_class::grpc_status(&head.headers));
        // An answer in the middle of a call is in the trailers.
        let answered = request.guard.answer().and_then(|answer| status_class::grpc_status(&answer.headers));
        request.grpc = of_head.or(answered).or(request.grpc);
        let bytes = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let bytes =
            latency::Bytes { received: bytes(session.body_bytes_read()), sent: bytes(session.body_bytes_sent()) };
        let fields = request.guard.log(session);
        retry::succeeded(request, error);
        self.send_copy(session, request);
        self.keep_refused(session, request);
        if let Some(log) = &self.state.log {
            log.line(log_entry::line(session, request, &fields, error));
        }
        span::record(session, request, error);
        request.ended(status, bytes);
    }

    /// Failures are logged in [`fail_to_connect`](Self::fail_to_connect) and [`fail_to_proxy`](Self::fail_to_proxy).
    fn suppress_error_log(&self, _: &Session, _: &RequestState, _: &Error) -> bool {
        true
    }

    fn suppress_proxy_warn_log(
        &self,
        _: &Session,
        _: &RequestState,
        _: &Error,
        _: pingora::proxy::ProxyWarnLogContext,
    ) -> bool {
        true
    }
}

impl Service {
    /// Sends the copy of a request whose body has arrived.
    fn send_copy(&self, session: &Session, request: &mut RequestState) {
        if let Some(copy) = request.copy.take_if(|copy| copy.is_whole()) {
            let head = session.req_header();
            self.state.mirrors.send(copy, head, request.keys(head), &request.now);
        }
    }

    /// Keeps a request that a rule or the proxy refused for the page of operators.
    fn keep_refused(&self, session: &Session, request: &RequestState) {
        let by_rule = request.guard.answer().filter(|answer| answer.status.as_u16() >= 400).map(|answer| &*answer.rule);
        let own = request.guard.exchange().refusal().map(|refusal| refusal.word()).or(request.refused);
        let Some(by) = own.or(by_rule) else { return };
        let head = session.req_header();
        self.state.history.refused(|| Refused {
            at: jiff::Timestamp::now(),
            client: request.client.as_ref().map(|client| client.address.ip().to_string()).unwrap_or_default(),
            method: head.method.to_string(),
            host: routing::host(head).to_owned(),
            path: head.uri.path().to_owned(),
            status: final_response(session).map_or(0, |response| response.status.as_u16()),
            by: by.to_owned(),
        });
    }
}

/// Returns the connection that a request came over.
fn connection(session: &Session) -> Option<Connection> {
    let digest = session.digest()?;
    let inet = |address: Option<&Address>| address?.as_inet().copied();
    let socket = digest.socket_digest.as_ref()?;
    let proxied = socket.original_dst.get().is_some();
    let (peer, local) = (inet(socket.peer_addr())?, inet(socket.local_addr()));
    Some(Connection { peer, local, proxied, tls: digest.ssl_digest.is_some() })
}

/// Returns the bytes of header lines.
fn size(headers: &HeaderMap) -> usize {
    let line = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len().saturating_add(value.len());
    // `: ` and the end of the line.
    headers.iter().map(line).fold(0, |sum, line| sum.saturating_add(line).saturating_add(4))
}
