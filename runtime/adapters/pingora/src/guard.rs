//! The state of one request in the filters of Pingora.

use crate::accept_encoding::preferred;
use crate::body::{Buffered, buffer};
use crate::body_clock::{BodyClock, BodyPace};
use crate::client_session::{FirstBytes, Place, put_in_place, take_back};
use crate::coding::Coding;
use crate::compression::{Compression, forbids_transforming};
use crate::compressor::Compressor;
use crate::delay_wait::DelayWait;
use crate::head::{OfResponse, PingoraRequestHead, restore_content_length};
use crate::held_response::HeldResponse;
use crate::messages::{CallMessages, Refused, SharedExchange};
use crate::response_framing;
use crate::response_head_clock::{ResponseHeadClock, blame_server};
use crate::write_answer::write_answer;
use bytes::Bytes;
use celero_policy::{
    Context, Exchange, LogFields, MessageStream, Outcome, Policy, PolicyAnswer, RequestSummary, TlsConnection,
};
use http::{HeaderMap, StatusCode, Uri, Version};
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::proxy::{FailToProxy, Session};
use pingora::{Error, ErrorType, OrErr, Result};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The policy and the state of one request. The [crate's documentation](crate) says which filter calls which method.
pub struct Guard {
    pub(crate) policy: Arc<Policy>,
    pub(crate) exchange: Exchange,
    /// The same, while a response is held back.
    pub(crate) lent: Option<SharedExchange>,
    pub(crate) messages: CallMessages,
    /// What was read of the body, for the server.
    body: BufferedBody,
    /// Where Pingora's session is to be found again while the guard's own session is in its place.
    place: Option<Place>,
    /// Who the client is, how that is known, and whether it is the other end of the connection.
    client: Option<(SocketAddr, &'static str, bool)>,
    /// Sets the values of the host's variables.
    set_variables: Option<SetVariables>,
    pub(crate) answer: Option<Box<PolicyAnswer>>,
    body_clock: BodyClock,
    /// How long servers have for the head of a response.
    response_head: Option<Duration>,
    /// Which responses are compressed.
    compression: Option<Arc<Compression>>,
    /// The coding that the client likes best. Rules and phases may change what the server is told.
    coding: Option<Coding>,
    /// How many interim responses servers have sent.
    interim_responses: u32,
    started: SystemTime,
    clock: Instant,
}

/// Sets the values of the host's variables in an exchange.
type SetVariables = Box<dyn Fn(&mut Exchange) + Send + Sync>;

/// What was read of the body before a server was chosen.
enum BufferedBody {
    Nothing,
    /// All of it.
    Whole(Bytes),
    /// Its first bytes, which were not sent yet.
    Beginning(Bytes),
    /// Its first bytes, which were sent.
    Sent,
}

impl Guard {
    /// Returns the state of a request that has just arrived. All its phases use `policy`.
    #[must_use]
    pub fn new(policy: Arc<Policy>) -> Self {
        Self {
            policy,
            exchange: Exchange::new(None, None),
            lent: None,
            messages: CallMessages::default(),
            body: BufferedBody::Nothing,
            place: None,
            client: None,
            set_variables: None,
            answer: None,
            body_clock: BodyClock::new(BodyPace::default()),
            response_head: None,
            compression: None,
            coding: None,
            interim_responses: 0,
            started: SystemTime::now(),
            clock: Instant::now(),
        }
    }

    /// Sets how fast the client must send a body that is buffered for the phase `requestBody`.
    /// Default: [`BodyPace::default`].
    #[must_use]
    pub fn with_body_pace(mut self, pace: BodyPace) -> Self {
        self.body_clock = BodyClock::new(pace);
        self
    }

    /// Sets who the client is, as [`Exchange::set_client`]. Call it before
    /// [`request_filter`](Self::request_filter). `is_peer` says whether the client is the other end
    /// of the connection, so that the connection's TLS is the client's.
    pub fn set_client(&mut self, address: SocketAddr, via: &'static str, is_peer: bool) {
        self.client = Some((address, via, is_peer));
    }

    /// Sets the values of the host's own variables, as [`Exchange::set_variables`]. Call it before
    /// [`request_filter`](Self::request_filter), which answers with 500 if the policy was loaded for
    /// variables and has no values of theirs; a later filter may get other values.
    pub fn set_variables<E: Context + Send + Sync + 'static>(&mut self, variables: Arc<E>) {
        self.exchange.set_variables(Arc::clone(&variables));
        self.set_variables = Some(Box::new(move |exchange| exchange.set_variables(Arc::clone(&variables))));
    }

    /// Sets which responses of servers are compressed, after the phase `responseBody`. Call it
    /// before [`request_filter`](Self::request_filter), which reads what the client accepts.
    /// Default: none. Answers of the policy are sent as they are.
    pub fn set_compression(&mut self, compression: Arc<Compression>) {
        self.compression = Some(compression);
    }

    /// Sets how long a server may take for the head of its final response, from when the whole
    /// request was read from the client. Interim responses do not extend it. Without it, Pingora
    /// bounds only each read: a server that sends a byte now and then has no time limit. Call it
    /// before [`upstream_request_filter`](Self::upstream_request_filter).
    pub fn set_response_head_timeout(&mut self, limit: Duration) {
        self.response_head = Some(limit);
    }

    /// Sends the response of the server as it is. Call it before [`response_filter`](Self::response_filter).
    pub fn disable_compression(&mut self) {
        self.compression = None;
    }

    /// Ends what the request holds of limits, as [`Exchange::release_limits`]. Call it when the
    /// request is logged: Pingora keeps its context until the rest of a refused body has arrived.
    pub fn release(&mut self) {
        self.exchange.release_limits();
    }

    /// Counts a piece of a body that is not buffered. Call it from `request_body_filter` for each piece but the last.
    ///
    /// # Errors
    /// Returns an error with status 408 if the client is slower than
    /// [`with_body_pace`](Self::with_body_pace) says. The time between two pieces is not looked at
    /// here: set it with `Session::set_read_timeout`.
    pub fn body_arrived(&mut self, bytes: usize) -> Result<()> {
        self.body_clock.take(bytes)
    }

    /// Returns the state between phases: labels, for example, by which to choose a server.
    #[must_use]
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Returns the answer of the policy, if it gave one.
    #[must_use]
    pub fn answer(&self) -> Option<&PolicyAnswer> {
        self.answer.as_deref()
    }

    /// Returns the time since the request arrived.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Returns when the request arrived.
    #[must_use]
    pub fn started(&self) -> SystemTime {
        self.started
    }

    /// Returns whether the request may be retried after a connected server failed: not if a part of
    /// the body can't be sent again.
    #[must_use]
    pub fn may_retry(&self) -> bool {
        let sends_messages = self.messages.request.as_ref().is_some_and(MessageStream::has_begun);
        !matches!(self.body, BufferedBody::Sent) && !sends_messages
    }

    /// As [`request_filter_until`](Self::request_filter_until), with delays that nothing ends early.
    ///
    /// # Errors
    /// See [`request_filter_until`](Self::request_filter_until).
    pub async fn request_filter(&mut self, session: &mut Session) -> Result<bool> {
        self.request_filter_until(session, std::future::pending()).await
    }

    /// Runs the phases `request` and `requestBody`. Returns `true` if the policy answered the
    /// request, and the answer was sent. Both phases are over before a server is chosen, so headers
    /// and labels that they set can decide which.
    ///
    /// The TLS connection of the client is what the host's `TlsAccept::handshake_complete_callback`
    /// has returned as a [`TlsConnection`].
    ///
    /// A request waits for the delays of the policy, until its client has closed the connection (of
    /// HTTP/1, on Linux) or reset the stream. They end early when `stop` ends: give it the
    /// beginning of a graceful shutdown, which should wait for requests and not for delays.
    ///
    /// # Errors
    /// Returns an error if the client is gone, or sends a body too slowly that the policy needs.
    pub async fn request_filter_until(
        &mut self,
        session: &mut Session,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<bool> {
        let mut stop = pin!(stop);
        let mut delays = DelayWait::new(stop.as_mut());
        self.exchange.reset(inet(session.client_addr()), inet(session.server_addr()));
        self.exchange.set_start_time(self.started);
        if let Some((address, via, _)) = self.client {
            self.exchange.set_client(address, via);
        }
        if let Some(set) = &self.set_variables {
            set(&mut self.exchange);
        }
        let has_tls = session.digest().is_some_and(|digest| digest.ssl_digest.is_some());
        self.exchange.set_scheme(if has_tls { "https" } else { "http" });
        match tls(session) {
            Some(tls) if self.client.is_none_or(|(_, _, is_peer)| is_peer) => self.exchange.set_tls(tls.clone()),
            Some(tls) => {
                tls.certificate().into_iter().for_each(|shown| self.exchange.set_client_certificate(shown.clone()))
            }
            None => {}
        }
        // Clients of HTTP/1.0 know no interim responses (RFC 9110, section 15.2).
        if session.req_header().version < Version::HTTP_11 {
            session.set_ignore_info_resp(true);
        }
        let head = session.req_header();
        self.coding = self.compression.as_ref().and_then(|compression| {
            let may_be = head.version >= Version::HTTP_11 && !forbids_transforming(&head.headers);
            preferred(&head.headers, compression.codings()).filter(|_| may_be)
        });
        restore_content_length(session);
        let head = &mut PingoraRequestHead(session.req_header_mut());
        let decision = self.policy.request_async(head, &mut self.exchange).await;
        let outcome = delays.outcome(session, decision).await?;
        if self.apply_outcome(session, outcome).await? {
            return Ok(true);
        }
        if let Some(is_answered) = self.begin_request_messages(session).await? {
            return Ok(is_answered);
        }
        let buffering = self.policy.request_buffering(session.req_header(), &mut self.exchange);
        let Some(buffering) = buffering else { return Ok(false) };
        let Buffered { bytes, too_large } = buffer(session, buffering, &mut self.body_clock).await?;
        let decision = if too_large {
            self.policy.request_body_too_large(session.req_header(), &mut self.exchange)
        } else {
            self.policy.request_body_async(session.req_header(), &bytes, &mut self.exchange).await
        };
        let outcome = delays.outcome(session, decision).await?;
        self.body = match bytes {
            bytes if bytes.is_empty() => BufferedBody::Nothing,
            bytes if session.is_body_done() => BufferedBody::Whole(bytes),
            bytes => BufferedBody::Beginning(bytes),
        };
        let is_answered = self.apply_outcome(session, outcome).await?;
        if let Some(body) = self.exchange.edits().body().filter(|_| !is_answered) {
            self.body = BufferedBody::Whole(body.clone());
        }
        Ok(is_answered)
    }

    /// Returns whether the server gets a body, if a rule has decided that by a new body.
    #[must_use]
    pub fn has_new_body(&self) -> Option<bool> {
        match &self.body {
            BufferedBody::Whole(body) => Some(!body.is_empty()),
            BufferedBody::Nothing | BufferedBody::Beginning(_) | BufferedBody::Sent => None,
        }
    }

    /// Applies the outcome of a phase of the request.
    async fn apply_outcome(&mut self, session: &mut Session, outcome: Outcome) -> Result<bool> {
        match outcome {
            Outcome::Continue => {
                self.exchange.edits().apply_to_request(&mut PingoraRequestHead(session.req_header_mut()));
                Ok(false)
            }
            Outcome::Respond(given) => {
                write_answer(session, self.answer.insert(given)).await?;
                Ok(true)
            }
        }
    }

    /// Sees to it that the server gets what was buffered of the body, and the target as it was
    /// received if the policy says `forwardRaw`. Call it for each attempt.
    ///
    /// # Errors
    /// Returns an error if Pingora can't send the target.
    pub fn upstream_request_filter(&mut self, session: &mut Session, head: &mut RequestHeader) -> Result<()> {
        self.restore(session);
        self.set_raw_target(head)?;
        let first = match &self.body {
            BufferedBody::Nothing | BufferedBody::Sent => None,
            BufferedBody::Whole(body) => Some(FirstBytes { bytes: body.clone(), whole: true }),
            BufferedBody::Beginning(beginning) => Some(FirstBytes { bytes: beginning.clone(), whole: false }),
        };
        if matches!(self.body, BufferedBody::Beginning(_)) {
            self.body = BufferedBody::Sent;
        }
        let head = self.response_head.map(ResponseHeadClock::new);
        let awaits_end = self.messages.awaits_end();
        if first.is_some() || head.is_some() || awaits_end {
            self.place = Some(put_in_place(session, (first, head), None, None, (Refused::default(), awaits_end)));
        }
        Ok(())
    }

    /// Sets the target to the one that was received, if the policy says `forwardRaw`.
    fn set_raw_target(&self, head: &mut RequestHeader) -> Result<()> {
        let Some(target) = self.policy.raw_target(&self.exchange) else { return Ok(()) };
        match (head.uri.authority(), std::str::from_utf8(target)) {
            (Some(_), Ok(text)) => {
                let mut parts = head.uri.clone().into_parts();
                parts.path_and_query =
                    Some(text.parse().or_err(ErrorType::InvalidHTTPHeader, "the received target can't be sent")?);
                let uri = Uri::from_parts(parts);
                head.set_uri(uri.or_err(ErrorType::InvalidHTTPHeader, "the received target can't be sent")?);
                Ok(())
            }
            _ => head.set_raw_path(target),
        }
    }

    /// Removes from the trailers of a response what they may not carry: above all the fields that
    /// rules on responses set or remove.
    pub fn response_trailer_filter(&mut self, trailers: &mut HeaderMap) {
        self.end_response_messages();
        self.policy.response_trailers(trailers);
    }

    /// Restores Pingora's session after an attempt that failed, and makes the error one of the
    /// server if its head took too long. Call it before you decide about another attempt.
    pub fn error_while_proxy(&mut self, session: &mut Session, error: &mut Error) {
        self.restore(session);
        blame_server(error);
    }

    fn restore(&mut self, session: &mut Session) {
        let Some(place) = self.place.take() else { return };
        if let Some(answer) = take_back(session, &place).and_then(|held| held.into_answer()) {
            self.answer = Some(answer);
        }
        if let Some(lent) = self.lent.take() {
            self.exchange = lent.take();
        }
    }

    /// Runs the phase `response` on the head of a server's final response. If a rule of the phase
    /// `responseBody` may match, the response is held back until that phase has decided.
    ///
    /// # Errors
    /// Returns an error if the policy answers instead of the server. Return it from the filter, and
    /// send the answer in [`fail_to_proxy`](Self::fail_to_proxy). Returns an error of the server if
    /// it switches protocols without being asked to, frames its response otherwise than by
    /// `chunked`, by a length or by the end of the connection, or sends more than 100 interim
    /// responses. Those of servers of HTTP/2 are not counted: Pingora drops them. The type of the
    /// errors of the server is `ErrorType::CustomCode`, with words for logs.
    pub fn response_filter(&mut self, session: &mut Session, response: &mut ResponseHeader) -> Result<()> {
        let interim = response.status.is_informational() && response.status.as_u16() != 101;
        if interim {
            self.clean_interim(response);
            response_framing::set_own_version(response);
            return response_framing::count_interim(&mut self.interim_responses);
        }
        self.restore(session);
        response_framing::frame(session, response)?;
        if !self.policy.has_response_rules() {
            self.take_over(session, response);
            return Ok(());
        }
        let mut changed = OfResponse(response);
        match self.policy.response(session.req_header(), &mut changed, &mut self.exchange) {
            Outcome::Continue => {
                self.exchange.edits().apply_to_response(&mut changed);
                self.take_over(session, response);
                Ok(())
            }
            Outcome::Respond(given) => {
                let status = given.status.as_u16();
                self.answer = Some(given);
                Error::e_explain(ErrorType::HTTPStatus(status), "the policy answers instead of the server")
            }
        }
    }

    /// Removes from an interim response what may not be in trailers either: above all the fields
    /// that rules on responses set or remove, because no phase runs on it. That takes `vary`,
    /// `set-cookie` and `content-type` too; `link` stays.
    fn clean_interim(&self, response: &mut ResponseHeader) {
        let mut kept = response.headers.clone();
        self.policy.response_trailers(&mut kept);
        let removed: Vec<_> = response.headers.keys().filter(|name| !kept.contains_key(*name)).cloned().collect();
        removed.iter().for_each(|name| drop(response.remove_header(name)));
    }

    /// Holds a response back if a phase reads its body, and compresses it if it may be.
    fn take_over(&mut self, session: &mut Session, response: &mut ResponseHeader) {
        let compression = self.compression.as_ref().filter(|_| response.status != StatusCode::SWITCHING_PROTOCOLS);
        if let Some(compression) = compression.filter(|_| self.coding.is_none())
            && compression.concerns(response)
        {
            Compression::add_vary(&mut OfResponse(response));
        }
        let (head, exchange) = (session.req_header(), &mut self.exchange);
        let streams = self.messages.enabled.then(|| self.policy.response_messages(head, response, exchange));
        self.messages.response = streams.flatten();
        self.messages.response_ended = response.headers.contains_key("grpc-status");
        let held = match self.messages.response {
            Some(_) => None,
            None => self.policy.response_buffering(head, response, exchange).map(|buffering| {
                let shared = self.lent.insert(SharedExchange::new(std::mem::take(exchange))).clone();
                Box::new(HeldResponse::new(Arc::clone(&self.policy), shared, buffering))
            }),
        };
        let compressor = compression.zip(self.coding).and_then(|(compression, coding)| match &held {
            // The phase `responseBody` may still change the head.
            Some(_) => Some(Compressor::new(Arc::clone(compression), coding)),
            None => Compressor::of_head(compression, coding, session.req_header(), response),
        });
        let awaits_end = self.messages.awaits_end();
        if held.is_some() || compressor.is_some() || self.messages.response.is_some() || awaits_end {
            let refused = self.messages.refused.clone();
            self.place = Some(put_in_place(session, (None, None), held, compressor, (refused, awaits_end)));
        }
    }

    /// Sends the answer of the phase `response` or `responseBody`. Returns `None` if there is no
    /// such answer: then the failure has another reason.
    pub async fn fail_to_proxy(&mut self, session: &mut Session) -> Option<FailToProxy> {
        self.restore(session);
        let given = self.answer.as_deref()?;
        if final_response(session).is_none() {
            // The state of the connection is not known here, so it is closed after this answer.
            session.set_keepalive(None);
            if let Err(error) = write_answer(session, given).await {
                log::debug!("the answer of rule {} could not be sent: {error}", given.rule);
            }
        } else if self.messages.refused.is_set()
            && !self.messages.response_ended
            && let Err(error) = session.write_response_trailers(given.trailers()).await
        {
            log::debug!("the status of rule {} could not be sent: {error}", given.rule);
        }
        Some(FailToProxy { error_code: given.status.as_u16(), can_reuse_downstream: false })
    }

    /// Returns when the request began, and what it took until now.
    #[must_use]
    pub fn summary(&self, session: &Session) -> RequestSummary {
        RequestSummary {
            started: self.started,
            duration: self.clock.elapsed(),
            bytes_sent: u64::try_from(session.body_bytes_sent()).unwrap_or(u64::MAX),
        }
    }

    /// Runs the phase `log`, and returns the fields for the log entry. Call it once, when the request is over.
    pub fn log(&mut self, session: &mut Session) -> LogFields {
        self.restore(session);
        if !self.policy.lasts_until_end() {
            return LogFields::default();
        }
        let end = self.summary(session);
        let response = final_response(session).map(|head| &**head);
        self.policy.log(session.req_header(), response, &end, &mut self.exchange)
    }
}

/// Returns the head of the response that was sent, if one was: not that of an interim response,
/// such as the 100 that a body is asked for with (RFC 9110, section 15.2), which Pingora keeps like
/// others.
#[must_use]
pub fn final_response(session: &Session) -> Option<&ResponseHeader> {
    let is_final =
        |head: &&ResponseHeader| !head.status.is_informational() || head.status == StatusCode::SWITCHING_PROTOCOLS;
    session.response_written().filter(is_final)
}

/// Returns what the host keeps with the connection about its TLS.
fn tls(session: &Session) -> Option<&TlsConnection> {
    session.digest()?.ssl_digest.as_ref()?.extension.get()
}

fn inet(address: Option<&pingora::protocols::l4::socket::SocketAddr>) -> Option<SocketAddr> {
    address.and_then(|address| address.as_inet()).copied()
}
