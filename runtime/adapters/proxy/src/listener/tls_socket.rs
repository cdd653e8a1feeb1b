//! The socket under a client's TLS, which bounds records that carry nothing.
//!
//! Records without content, updates of keys and alerts are read and decrypted before anybody above
//! TLS sees a byte, all that have arrived in one go. rustls bounds some of them, but not empty
//! records, and each of these permits more updates of keys.
//!
//! Invariant: the number of TLS records without content is bounded. Test:
//! `runtime/adapters/proxy/tests/proxy/tls_floods.rs::records_without_content_end_the_connection`.

use async_trait::async_trait;
use pingora::protocols::l4::stream::Stream as Socket;
use pingora::protocols::{Shutdown, Ssl};
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most bytes before the first content: more than any handshake has.
const MAX_FIRST: usize = 128 << 10;
/// The most bytes between pieces of content: those of a record with content, and of what is read with it.
const MAX: usize = 32 << 10;
/// The bytes of the largest record with content (RFC 8446, section 5.2).
const RECORD: usize = (16 << 10) + 256 + 5;

/// The bytes after which others have their turn, beyond those of a record: rustls reads as long as
/// bytes are there and give no content, and an update of keys costs as much as many records.
const TURN: usize = 2 << 10;

/// The bytes of records since the last content. Shared by the two sides of TLS.
#[derive(Debug, Default)]
pub(super) struct RecordBudget {
    bytes: AtomicUsize,
    /// Whether there was content.
    content: AtomicBool,
}

impl RecordBudget {
    /// Notes that a record had content.
    pub(super) fn had_content(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.content.store(true, Ordering::Relaxed);
    }

    /// Returns whether too many bytes of records had none.
    pub(super) fn is_spent(&self) -> bool {
        self.bytes() > if self.content.load(Ordering::Relaxed) { MAX } else { MAX_FIRST }
    }

    fn take(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// The socket under TLS.
#[derive(Debug)]
pub(crate) struct TlsSocket {
    inner: Socket,
    budget: Arc<RecordBudget>,
    /// Bytes since others had their turn.
    in_turn: usize,
}

impl TlsSocket {
    pub(super) fn new(inner: Socket, budget: Arc<RecordBudget>) -> Self {
        Self { inner, budget, in_turn: 0 }
    }
}

impl AsyncRead for TlsSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        if self.budget.is_spent() {
            return Poll::Ready(Err(Error::new(
                ErrorKind::ConnectionAborted,
                "the client sent too many records of TLS without content",
            )));
        }
        if self.in_turn >= TURN && self.budget.bytes() > RECORD {
            self.in_turn = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        if read.is_pending() {
            self.in_turn = 0;
        }
        ready!(read)?;
        let new = buf.filled().len().saturating_sub(before);
        self.in_turn = self.in_turn.saturating_add(new);
        self.budget.take(new);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TlsSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[async_trait]
impl Shutdown for TlsSocket {
    async fn shutdown(&mut self) {
        Shutdown::shutdown(&mut self.inner).await;
    }
}

impl Ssl for TlsSocket {}

delegate_digests!(TlsSocket);

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::task::{Wake, Waker};
    use tokio::net::TcpStream;

    /// Counts how often it was woken.
    #[derive(Default)]
    struct Turns(AtomicUsize);

    impl Wake for Turns {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn others_have_their_turn_while_records_have_no_content() {
        const SENT: usize = 32 << 10;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(&[0; SENT]).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let turns = Arc::new(Turns::default());
        let pending_but_woken = runtime.block_on(async {
            let server = TcpStream::from_std(server).unwrap();
            server.readable().await.unwrap();
            let mut socket = TlsSocket::new(Socket::from(server), Arc::default());
            let waker = Waker::from(Arc::clone(&turns));
            let (mut read, mut count) = (0, 0);
            while read < SENT {
                let (mut bytes, before) = ([0; 1024], turns.0.load(Ordering::Relaxed));
                let mut buf = ReadBuf::new(&mut bytes);
                match Pin::new(&mut socket).poll_read(&mut Context::from_waker(&waker), &mut buf) {
                    Poll::Ready(result) => {
                        result.unwrap();
                        read += buf.filled().len();
                    }
                    Poll::Pending if turns.0.load(Ordering::Relaxed) > before => count += 1,
                    Poll::Pending => tokio::task::yield_now().await,
                }
            }
            count
        });
        assert!(pending_but_woken >= (SENT - RECORD) / TURN - 1, "{pending_but_woken}");
    }
}
