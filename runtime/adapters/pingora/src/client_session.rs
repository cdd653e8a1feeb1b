//! The session with the client while Pingora sends a request whose body was buffered.
//!
//! Pingora sends a body that was read early only as far as its retry buffer of 64 KiB holds it. [`ClientSession`] takes the place of
//! Pingora's session and passes everything on to it, except that its retry buffer is what was buffered of the request's body, whatever
//! its size. So each attempt to send the request starts with these bytes. It is in place from just before a server gets the request
//! until the server answers; [`take_back`] restores Pingora's.

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use http::HeaderMap;
use pingora::Result;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::Digest;
use pingora::protocols::http::custom::CustomMessageWrite;
use pingora::protocols::http::custom::server::Session as CustomSession;
use pingora::protocols::http::{HttpTask, ServerSession};
use pingora::protocols::l4::socket::SocketAddr;
use pingora::proxy::Session;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Where a [`ClientSession`] leaves Pingora's session when it is dropped.
pub(crate) type Place = Arc<Mutex<Option<ServerSession>>>;

/// Pingora's session, with bytes of the request's body to send first.
struct ClientSession {
    inner: ServerSession,
    first: Bytes,
    /// Whether `first` is all of the body.
    whole: bool,
    place: Place,
}

/// Puts a [`ClientSession`] in the place of Pingora's session. `whole` says whether `first` is all of the body.
pub(crate) fn put_in_place(session: &mut Session, first: Bytes, whole: bool) -> Place {
    let place = Place::default();
    let inner = std::mem::replace(&mut *session.downstream_session, absent());
    let own = ClientSession { inner, first, whole, place: Arc::clone(&place) };
    *session.downstream_session = ServerSession::new_custom(Box::new(own));
    place
}

/// Restores Pingora's session. `place` is that of the session in place.
pub(crate) fn take_back(session: &mut Session, place: &Place) {
    let own = std::mem::replace(&mut *session.downstream_session, absent());
    drop(own);
    if let Some(inner) = place.lock().unwrap_or_else(PoisonError::into_inner).take() {
        *session.downstream_session = inner;
    }
}

/// Returns a session that stands where another one is moved from.
fn absent() -> ServerSession {
    ServerSession::new_custom(Box::new(()))
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        let session = std::mem::replace(&mut self.inner, absent());
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }
}

#[async_trait]
impl CustomSession for ClientSession {
    fn get_retry_buffer(&self) -> Option<Bytes> {
        Some(self.first.clone())
    }

    fn enable_retry_buffering(&mut self) {}

    /// Only a request whose whole body can be sent again may be retried.
    fn retry_buffer_truncated(&self) -> bool {
        !self.whole
    }

    async fn response_duplex_vec(&mut self, tasks: Vec<HttpTask>) -> Result<bool> {
        self.inner.response_duplex_vec(tasks).await
    }

    fn req_header(&self) -> &RequestHeader {
        self.inner.req_header()
    }

    fn req_header_mut(&mut self) -> &mut RequestHeader {
        self.inner.req_header_mut()
    }

    async fn read_body_bytes(&mut self) -> Result<Option<Bytes>> {
        self.inner.read_request_body().await
    }

    async fn read_body_or_idle(&mut self, no_body_expected: bool) -> Result<Option<Bytes>> {
        self.inner.read_body_or_idle(no_body_expected).await
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
        self.inner.is_body_done()
    }

    fn is_body_empty(&mut self) -> bool {
        self.inner.is_body_empty()
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
