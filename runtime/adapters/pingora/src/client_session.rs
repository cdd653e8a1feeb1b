//! The session with the client while Pingora proxies a request whose body, or the body of whose
//! response, a phase reads.
//!
//! Pingora sends a body that was read early only as far as its retry buffer of 64 KiB holds it, and
//! writes the head of a response before it has the body. [`ClientSession`] takes the place of
//! Pingora's session and passes everything on to it, except that
//!
//! - its retry buffer is what was buffered of the request's body, whatever its size, so that each
//!   attempt starts with these bytes;
//! - the tasks of a response are held back until the phase `responseBody` has decided. If it
//!   decides because the prefix of a body has been waited for, Pingora's loop, which waits for a
//!   client or a server, is made to turn: see [`ClientSession::wake`];
//! - after a message of a call was denied, nothing more of the response is sent;
//! - a body whose messages are judged has an end that is read, also if it comes between two questions of Pingora;
//! - what is sent then may be compressed: rules read and change the plain body;
//! - the wait for the head of a response ends after a while: Pingora bounds each read of it, not the whole.
//!
//! For a request it is in place from just before a server gets the request until the server
//! answers, for a response from then until the request ends; [`take_back`] restores Pingora's.

use crate::compressor::Compressor;
use crate::held_response::{Decision, HeldResponse};
use crate::messages::Refused;
use crate::response_head_clock::ResponseHeadClock;
use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use http::HeaderMap;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::Digest;
use pingora::protocols::http::custom::CustomMessageWrite;
use pingora::protocols::http::custom::server::Session as CustomSession;
use pingora::protocols::http::{HttpTask, ServerSession};
use pingora::protocols::l4::socket::SocketAddr;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where a [`ClientSession`] leaves what it holds when it is dropped.
pub(crate) type Place = Arc<Mutex<Option<Returned>>>;

/// What a [`ClientSession`] held.
pub(crate) struct Returned {
    session: ServerSession,
    response: Option<Box<HeldResponse>>,
}

/// Pingora's session, with a body to send first or a response to hold back.
struct ClientSession {
    inner: ServerSession,
    /// What was buffered of the request's body.
    first: Option<FirstBytes>,
    /// While the head of a response is awaited.
    head: Option<ResponseHeadClock>,
    response: Option<Box<HeldResponse>>,
    compressor: Option<Compressor>,
    /// Whether a message was denied.
    refused: Refused,
    /// Whether the filter of the request's body has to see its end, which may come at any time.
    awaits_end: bool,
    /// The tasks of a response that was held back long enough: to be sent next.
    due: Vec<HttpTask>,
    /// Whether the last read of the client's body returned only for the sake of `due`.
    woken: bool,
    place: Place,
}

/// What was buffered of a request's body.
#[derive(Clone)]
pub(crate) struct FirstBytes {
    pub(crate) bytes: Bytes,
    /// Whether they are all of the body.
    pub(crate) whole: bool,
}

/// Puts a [`ClientSession`] in the place of Pingora's session.
pub(crate) fn put_in_place(
    session: &mut Session,
    (first, head): (Option<FirstBytes>, Option<ResponseHeadClock>),
    response: Option<Box<HeldResponse>>,
    compressor: Option<Compressor>,
    (refused, awaits_end): (Refused, bool),
) -> Place {
    let place = Place::default();
    let inner = std::mem::replace(&mut *session.downstream_session, absent());
    let own = ClientSession {
        inner,
        first,
        head,
        response,
        compressor,
        refused,
        awaits_end,
        due: Vec::new(),
        woken: false,
        place: Arc::clone(&place),
    };
    *session.downstream_session = ServerSession::new_custom(Box::new(own));
    place
}

/// Restores Pingora's session, and returns the response that was held back. `place` is that of the session in place.
pub(crate) fn take_back(session: &mut Session, place: &Place) -> Option<Box<HeldResponse>> {
    let own = std::mem::replace(&mut *session.downstream_session, absent());
    drop(own);
    let Returned { session: inner, response } = place.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    *session.downstream_session = inner;
    response
}

/// Returns a session that stands where another one is moved from.
fn absent() -> ServerSession {
    ServerSession::new_custom(Box::new(()))
}

impl FirstBytes {
    fn is_no_body(&self) -> bool {
        self.whole && self.bytes.is_empty()
    }
}

impl ClientSession {
    /// Decides about a response whose prefix has been waited for, while Pingora waits for the
    /// client or the server. Returns an empty piece of the client's body, which Pingora passes
    /// over; then it asks for tasks that are due.
    fn wake(&mut self) -> Result<Option<Bytes>> {
        let decision = self.response.as_mut().map(|held| held.decide(self.inner.req_header(), false));
        match decision {
            Some(Decision::Pass(tasks)) => self.due = tasks,
            Some(Decision::Answer(status)) => return answers_instead(status),
            Some(Decision::Wait) | None => {}
        }
        self.woken = true;
        Ok(Some(Bytes::new()))
    }

    /// Sends tasks of the response, compressed if they are to be. Returns whether they end it.
    async fn send(&mut self, mut tasks: Vec<HttpTask>) -> Result<bool> {
        if let Some(compressor) = &mut self.compressor {
            tasks = compressor.process(self.inner.req_header(), tasks)?;
            // A piece may only have filled the compressor.
            if tasks.is_empty() {
                return Ok(false);
            }
        }
        self.inner.response_duplex_vec(tasks).await
    }
}

fn answers_instead<T>(status: u16) -> Result<T> {
    Error::e_explain(ErrorType::HTTPStatus(status), "the policy answers instead of the server")
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        let session = std::mem::replace(&mut self.inner, absent());
        let returned = Returned { session, response: self.response.take() };
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(returned);
    }
}

#[async_trait]
impl CustomSession for ClientSession {
    fn get_retry_buffer(&self) -> Option<Bytes> {
        match &self.first {
            // An empty body ends with the head.
            Some(first) if first.is_no_body() => None,
            Some(first) => Some(first.bytes.clone()),
            None => self.inner.get_retry_buffer(),
        }
    }

    fn enable_retry_buffering(&mut self) {
        if self.first.is_none() {
            self.inner.enable_retry_buffering();
        }
    }

    /// Only a request whose whole body can be sent again may be retried.
    fn retry_buffer_truncated(&self) -> bool {
        self.first.as_ref().map_or_else(|| self.inner.retry_buffer_truncated(), |first| !first.whole)
    }

    async fn response_duplex_vec(&mut self, mut tasks: Vec<HttpTask>) -> Result<bool> {
        if self.refused.is_set() {
            // What passed before the message that was denied.
            let passed = tasks.into_iter().filter_map(|task| match task {
                HttpTask::Header(head, _) => Some(HttpTask::Header(head, false)),
                HttpTask::Body(piece, _) => Some(HttpTask::Body(piece, false)),
                HttpTask::UpgradedBody(..) | HttpTask::Trailer(_) | HttpTask::Done | HttpTask::Failed(_) => None,
            });
            self.send(passed.collect()).await?;
            let error = Error::explain(ErrorType::HTTPStatus(200), "the policy refuses a message");
            return Err(error.into_down());
        }
        if let Some(held) = &mut self.response {
            match held.hold(self.inner.req_header(), tasks)? {
                Decision::Wait => return Ok(false),
                Decision::Pass(held) => tasks = held,
                Decision::Answer(status) => return answers_instead(status),
            }
        }
        if !self.due.is_empty() {
            let later = std::mem::replace(&mut tasks, std::mem::take(&mut self.due));
            tasks.extend(later);
        }
        self.send(tasks).await
    }

    /// Pingora's loop sends what is pending by these four methods, which are for its cache
    /// otherwise. So they are on only while something is due.
    fn proxy_tasks_enabled(&self) -> bool {
        !self.due.is_empty()
    }

    fn has_pending_proxy_tasks(&self) -> bool {
        !self.due.is_empty()
    }

    fn send_proxy_task(&mut self, task: HttpTask) {
        self.due.push(task);
    }

    async fn write_proxy_tasks(&mut self) -> Result<bool> {
        let due = std::mem::take(&mut self.due);
        self.send(due).await
    }

    fn req_header(&self) -> &RequestHeader {
        self.inner.req_header()
    }

    fn req_header_mut(&mut self) -> &mut RequestHeader {
        self.inner.req_header_mut()
    }

    async fn read_body_bytes(&mut self) -> Result<Option<Bytes>> {
        let read = self.inner.read_request_body().await?;
        self.awaits_end &= read.is_some();
        Ok(read)
    }

    async fn read_body_or_idle(&mut self, no_body_expected: bool) -> Result<Option<Bytes>> {
        // Pingora would wait for nothing after a body that ended since it asked.
        if self.awaits_end && self.inner.is_body_done() {
            self.awaits_end = false;
            return Ok(None);
        }
        let head_end = match &mut self.head {
            Some(clock) if self.inner.is_body_done() => clock.end(),
            _ => None,
        };
        let deadline = head_end.or_else(|| self.response.as_ref().and_then(|held| held.deadline()));
        let read = self.inner.read_body_or_idle(no_body_expected);
        let Some(deadline) = deadline else {
            let read = read.await?;
            self.awaits_end &= read.is_some();
            return Ok(read);
        };
        match pingora::time::timeout(deadline.saturating_duration_since(Instant::now()), read).await {
            Ok(read) => {
                let read = read?;
                self.awaits_end &= read.is_some();
                Ok(read)
            }
            Err(_) if head_end.is_some() => ResponseHeadClock::over(),
            Err(_) => self.wake(),
        }
    }

    async fn drain_request_body(&mut self) -> Result<()> {
        self.inner.drain_request_body().await
    }

    async fn write_response_header(&mut self, head: Box<ResponseHeader>, _: bool) -> Result<()> {
        self.inner.write_response_header(head).await
    }

    async fn write_response_header_ref(&mut self, head: &ResponseHeader, _: bool) -> Result<()> {
        self.inner.write_response_header_ref(head).await
    }

    async fn write_body(&mut self, data: Bytes, end: bool) -> Result<()> {
        self.inner.write_response_body(data, end).await
    }

    async fn write_trailers(&mut self, trailers: HeaderMap) -> Result<()> {
        self.inner.write_response_trailers(trailers).await
    }

    fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.inner.set_read_timeout(timeout);
    }

    fn get_read_timeout(&self) -> Option<Duration> {
        self.inner.get_read_timeout()
    }

    fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.inner.set_write_timeout(timeout);
    }

    fn get_write_timeout(&self) -> Option<Duration> {
        self.inner.get_write_timeout()
    }

    fn set_total_drain_timeout(&mut self, timeout: Option<Duration>) {
        self.inner.set_total_drain_timeout(timeout);
    }

    fn get_total_drain_timeout(&self) -> Option<Duration> {
        self.inner.get_total_drain_timeout()
    }

    fn request_summary(&self) -> String {
        self.inner.request_summary()
    }

    fn response_written(&self) -> Option<&ResponseHeader> {
        self.inner.response_written()
    }

    async fn shutdown(&mut self, _: u32, _: &str) {
        self.inner.shutdown().await;
    }

    fn is_body_done(&mut self) -> bool {
        !std::mem::take(&mut self.woken) && !self.awaits_end && self.inner.is_body_done()
    }

    /// A rule may have given the request a body, or taken it away.
    fn is_body_empty(&mut self) -> bool {
        let is_empty = self.first.as_ref().map_or_else(|| self.inner.is_body_empty(), FirstBytes::is_no_body);
        is_empty && !self.awaits_end
    }

    async fn finish(&mut self) -> Result<()> {
        self.inner.finish_body().await
    }

    fn body_bytes_sent(&self) -> usize {
        self.inner.body_bytes_sent()
    }

    fn body_bytes_read(&self) -> usize {
        self.inner.body_bytes_read()
    }

    fn digest(&self) -> Option<&Digest> {
        self.inner.digest()
    }

    fn digest_mut(&mut self) -> Option<&mut Digest> {
        self.inner.digest_mut()
    }

    fn client_addr(&self) -> Option<&SocketAddr> {
        self.inner.client_addr()
    }

    fn server_addr(&self) -> Option<&SocketAddr> {
        self.inner.server_addr()
    }

    fn pseudo_raw_h1_request_header(&self) -> Bytes {
        self.inner.to_h1_raw()
    }

    async fn finish_custom(&mut self) -> Result<()> {
        Ok(())
    }

    fn take_custom_message_reader(
        &mut self,
    ) -> Option<Box<dyn Stream<Item = Result<Bytes>> + Unpin + Send + Sync + 'static>> {
        None
    }

    fn restore_custom_message_reader(
        &mut self,
        _: Box<dyn Stream<Item = Result<Bytes>> + Unpin + Send + Sync + 'static>,
    ) -> Result<()> {
        Ok(())
    }

    fn take_custom_message_writer(&mut self) -> Option<Box<dyn CustomMessageWrite>> {
        None
    }

    fn restore_custom_message_writer(&mut self, _: Box<dyn CustomMessageWrite>) -> Result<()> {
        Ok(())
    }

    fn is_upgrade_req(&self) -> bool {
        self.inner.is_upgrade_req()
    }

    fn was_upgraded(&self) -> bool {
        self.inner.was_upgraded()
    }
}
