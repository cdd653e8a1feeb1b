//! A client's connection, whose reads obey the deadlines and bounds of heads.
//!
//! Pingora reads a head without a deadline for the whole of it: each read may take a minute. So the
//! stream keeps the deadline itself, and ends the connection with an answer of its own when it has
//! passed. While a request is handled there is no deadline here.
//!
//! Invariant: no head of a request is read without a deadline. Test:
//! `runtime/adapters/proxy/tests/proxy/heads.rs::silent_connections_are_closed`.

use super::frame_budget::FrameBudget;
use super::head_scan::HeadScan;
use super::tls_socket::RecordBudget;
use crate::config::{Limits, Timeouts};
use async_trait::async_trait;
use http::StatusCode;
use pingora::protocols::tls::SslDigest;
use pingora::protocols::{Shutdown, Ssl, Stream};
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until, timeout};

/// The first bytes of an HTTP/2 connection (RFC 9113, section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long what a refused client still sends is read, so that it can read the answer: closing a
/// connection with unread bytes would reset it.
const LINGER: Duration = Duration::from_secs(1);
/// The bytes that are dropped before others have their turn.
const LINGER_TURN: usize = 16 << 10;

/// How long a connection without a request stays open when the proxy is about to stop: a request
/// may be on its way already.
const LAST: Duration = Duration::from_secs(1);

/// What happened to the head of a request. Shared by the stream and the loop that serves it.
#[derive(Debug, Default)]
pub(crate) struct HeadProgress {
    /// Whether the request is being handled: its head was complete.
    complete: AtomicBool,
    /// Whether a byte of the head has arrived.
    began: AtomicBool,
    /// The status that was sent before the head was complete; 0: none.
    answered: AtomicU16,
    /// Whether an HTTP/2 connection was ended because of too many frames without content.
    flooded: AtomicBool,
    /// Until when the first byte of a head is awaited if the proxy is about to stop.
    last: OnceLock<Instant>,
}

impl HeadProgress {
    /// Returns the status with which an incomplete or malformed head was answered.
    pub(super) fn refused(&self) -> Option<StatusCode> {
        StatusCode::from_u16(self.answered.load(Ordering::Relaxed)).ok()
    }

    /// Returns whether the connection was ended because of too many frames without content.
    pub(super) fn flooded(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }

    /// Ends the time without a request soon: the proxy is about to stop. Whoever reads must be polled again.
    pub(super) fn expect_last(&self) {
        let _ = self.last.set(after(LAST));
    }

    fn answer(&self, status: u16) {
        self.answered.store(status, Ordering::Relaxed);
    }
}

/// A client's connection.
#[derive(Debug)]
pub(crate) struct ClientStream {
    inner: Stream,
    /// The bytes read in search of the HTTP/2 preface, and how many of them were read again.
    looked: Vec<u8>,
    again: usize,
    progress: Arc<HeadProgress>,
    /// `None` if the start of the head is unknown: it may have arrived with the body before it.
    scan: Option<HeadScan>,
    /// Bytes of the head so far; bytes of a body that arrived with its end count too.
    received: usize,
    /// Whether nothing has arrived since the last request.
    idle: bool,
    deadline: Instant,
    timer: Option<Pin<Box<Sleep>>>,
    /// Of an HTTP/2 connection.
    frames: Option<FrameBudget>,
    /// Of TLS, if the connection has it.
    records: Arc<RecordBudget>,
    /// Whether the answer to a refused head was sent.
    lingers: bool,
    /// Whether a write waits until the client takes bytes, and how long.
    stuck: bool,
    send_timer: Option<Pin<Box<Sleep>>>,
    timeouts: Timeouts,
    limits: Limits,
}

impl ClientStream {
    /// Returns a connection whose first head must be complete within the deadline of heads.
    pub(super) fn new(inner: Stream, timeouts: Timeouts, limits: Limits, records: Arc<RecordBudget>) -> Self {
        Self {
            inner,
            looked: Vec::new(),
            again: 0,
            progress: Arc::default(),
            scan: Some(HeadScan::default()),
            received: 0,
            idle: false,
            deadline: after(timeouts.head),
            timer: None,
            frames: None,
            records,
            lingers: false,
            stuck: false,
            send_timer: None,
            timeouts,
            limits,
        }
    }

    /// Returns what is known of the current head.
    pub(super) fn progress(&self) -> Arc<HeadProgress> {
        Arc::clone(&self.progress)
    }

    /// Ends the deadline and the bounds: the head is complete. To be called as soon as a request is handled.
    pub(crate) fn head_is_complete(stream: Option<&Stream>) {
        if let Some(stream) = stream.and_then(|stream| (**stream).as_any().downcast_ref::<Self>()) {
            stream.progress.complete.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the stream for HTTP/2, whose frames have no deadline here.
    pub(super) fn into_http2(mut self) -> Stream {
        self.frames = Some(FrameBudget::new(self.limits.control_frames, self.limits.streams));
        self.progress.complete.store(true, Ordering::Relaxed);
        Box::new(self)
    }

    /// Begins to wait for the next request.
    pub(super) fn next_head(&mut self) {
        self.progress.complete.store(false, Ordering::Relaxed);
        self.progress.began.store(false, Ordering::Relaxed);
        self.scan = self.scan.take().filter(HeadScan::exact_end).map(|_| HeadScan::default());
        self.received = 0;
        self.idle = true;
        self.deadline = after(self.timeouts.keep_alive);
    }

    /// Reads until it is certain whether the client speaks HTTP/2: up to the first byte that is not
    /// the preface's. What was read is read again afterwards.
    ///
    /// # Errors
    /// Returns an error if the connection fails, or the deadline passes; then it was answered.
    pub(super) async fn has_preface(&mut self) -> Result<bool> {
        std::future::poll_fn(|cx| self.poll_preface(cx)).await
    }

    fn poll_preface(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool>> {
        loop {
            let Some(expected) = PREFACE.as_slice().strip_prefix(&*self.looked) else { return Poll::Ready(Ok(false)) };
            if expected.is_empty() {
                return Poll::Ready(Ok(true));
            }
            let mut bytes = [0; PREFACE.len()];
            let mut piece = ReadBuf::new(bytes.get_mut(..expected.len()).unwrap_or_default());
            match Pin::new(&mut self.inner).poll_read(cx, &mut piece) {
                Poll::Ready(Ok(())) if piece.filled().is_empty() => return Poll::Ready(Ok(false)),
                Poll::Ready(Ok(())) => {
                    self.progress.began.store(true, Ordering::Relaxed);
                    self.looked.extend_from_slice(piece.filled());
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return self.poll_deadline(cx).map(|ended| ended.and(Ok(false))),
            }
        }
    }

    fn poll_inner(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let Some(rest) = self.looked.get(self.again..).filter(|rest| !rest.is_empty()) else {
            return self.poll_content(cx, buf);
        };
        let piece = rest.get(..buf.remaining()).unwrap_or(rest);
        buf.put_slice(piece);
        self.again = self.again.saturating_add(piece.len());
        Poll::Ready(Ok(()))
    }

    /// Reads what has arrived.
    fn poll_content(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.records.had_content();
        }
        read
    }

    /// Reads bytes of a head.
    fn poll_head(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        if self.received > self.limits.head {
            return self.refuse(cx, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
        }
        let before = buf.filled().len();
        let read = self.poll_inner(cx, buf);
        let Poll::Ready(result) = read else { return self.poll_deadline(cx) };
        result?;
        let new = buf.filled().get(before..).unwrap_or_default();
        if new.is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.progress.began.store(true, Ordering::Relaxed);
        if std::mem::take(&mut self.idle) {
            self.deadline = after(self.timeouts.head);
        }
        self.received = self.received.saturating_add(new.len());
        if let Some(scan) = &mut self.scan {
            scan.take(new);
            if let Some(status) = scan.refusal(&self.limits) {
                buf.set_filled(before);
                return self.refuse(cx, status);
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Waits for the deadline. A head of which nothing has arrived is not answered.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if !self.poll_timer(cx) {
            return Poll::Pending;
        }
        if self.progress.began.load(Ordering::Relaxed) {
            return self.refuse(cx, StatusCode::REQUEST_TIMEOUT);
        }
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }

    /// Ends a write for which the client takes no bytes. Pingora has time limits for bodies only,
    /// not for heads and the end of TLS.
    fn poll_sent<T>(&mut self, cx: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.stuck = false;
            return written;
        }
        let deadline = after(self.timeouts.send);
        let timer = self.send_timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if !std::mem::replace(&mut self.stuck, true) {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx).map(|()| Err(Error::new(ErrorKind::TimedOut, "the client takes no bytes")))
    }

    /// Returns whether the deadline has passed. A timer that was set for an earlier deadline is
    /// reset only when it fires: most deadlines are moved before.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> bool {
        let begun = self.progress.began.load(Ordering::Relaxed);
        let last = self.progress.last.get().filter(|_| !begun);
        let deadline = last.map_or(self.deadline, |last| self.deadline.min(*last));
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return true;
            }
            timer.as_mut().reset(deadline);
        }
        false
    }

    /// Counts the frames of HTTP/2 in what was written of these pieces.
    fn count_sent<'b>(&mut self, written: &Poll<Result<usize>>, pieces: impl IntoIterator<Item = &'b [u8]>) {
        let (Some(frames), Poll::Ready(Ok(written))) = (&mut self.frames, written) else { return };
        let mut left = *written;
        for piece in pieces {
            frames.send(piece.get(..left).unwrap_or(piece));
            left = left.saturating_sub(piece.len());
        }
    }

    /// Says goodbye to a client of HTTP/2 that sent too many frames without content. Returns the
    /// error that ends the connection.
    fn end_flood(&mut self, cx: &mut Context<'_>) -> Error {
        self.progress.flooded.store(true, Ordering::Relaxed);
        if let Some(farewell) = self.frames.as_ref().and_then(FrameBudget::farewell) {
            // It fits into the buffer of the socket. If it does not, the client reads nothing.
            let _ = Pin::new(&mut self.inner).poll_write(cx, &farewell);
            let _ = Pin::new(&mut self.inner).poll_flush(cx);
        }
        Error::new(ErrorKind::ConnectionAborted, "the client sent too many frames without content")
    }

    /// Sends an answer, and ends the connection.
    fn refuse(&mut self, cx: &mut Context<'_>, status: StatusCode) -> Poll<Result<()>> {
        self.progress.answer(status.as_u16());
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        // The answer fits into the buffer of any socket. If it does not, the client reads nothing.
        let _ = Pin::new(&mut self.inner).poll_write(cx, answer.as_bytes());
        let _ = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.lingers = true;
        self.deadline = after(LINGER);
        self.poll_linger(cx)
    }

    /// Reads and drops what the client still sends, for a while.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let mut bytes = [0; LINGER_TURN];
        let mut piece = ReadBuf::new(&mut bytes);
        match self.poll_content(cx, &mut piece) {
            Poll::Ready(Ok(())) if !piece.filled().is_empty() && Instant::now() < self.deadline => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Poll::Pending if !self.poll_timer(cx) => Poll::Pending,
            _ => Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the head was refused"))),
        }
    }
}

fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now)
}

impl AsyncRead for ClientStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        if self.lingers {
            return self.poll_linger(cx);
        }
        if !self.progress.complete.load(Ordering::Relaxed) {
            return self.poll_head(cx, buf);
        }
        if self.frames.as_mut().is_some_and(FrameBudget::turn_is_over) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buf.filled().len();
        ready!(self.poll_inner(cx, buf))?;
        let new = buf.filled().get(before..).unwrap_or_default();
        if !new.is_empty() {
            // The next head may have arrived with the end of a body.
            self.scan = None;
        }
        if self.frames.as_mut().is_some_and(|frames| !frames.receive(new)) {
            return Poll::Ready(Err(self.end_flood(cx)));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        if !self.progress.complete.load(Ordering::Relaxed) && self.progress.refused().is_none() {
            // Pingora answers a malformed head itself.
            let status = bytes.get(9..12).and_then(|status| StatusCode::from_bytes(status).ok());
            self.progress.answer(status.map_or(0, |status| status.as_u16()));
        }
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.count_sent(&written, [bytes]);
        self.poll_sent(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.poll_sent(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let ended = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.poll_sent(cx, ended)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.count_sent(&written, slices.iter().map(|slice| &**slice));
        self.poll_sent(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[async_trait]
impl Shutdown for ClientStream {
    async fn shutdown(&mut self) {
        // Not more than what is left to say can be lost.
        let _ = timeout(self.timeouts.send, Shutdown::shutdown(&mut *self.inner)).await;
    }
}

impl Ssl for ClientStream {
    fn get_ssl_digest(&self) -> Option<Arc<SslDigest>> {
        self.inner.get_ssl_digest()
    }
}

delegate_digests!(ClientStream);
