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

/// What a record costs beyond its bytes, in bytes: as much as an update of keys, which has 27.
const PRICE: usize = 512;
/// The most that records cost before the first content: more than those of any handshake.
const MAX_FIRST: usize = 128 << 10;
/// The most that they cost between pieces of content: more than a record with content, and what is read with it.
const MAX: usize = 32 << 10;
/// What the largest record with content costs (RFC 8446, section 5.2).
const RECORD: usize = (16 << 10) + 256 + HEAD + PRICE;

/// The cost after which others have their turn, beyond that of a record: rustls reads as long as
/// bytes are there and give no content.
const TURN: usize = 2 << 10;

/// What records have cost since the last content. Shared by the two sides of TLS.
#[derive(Debug, Default)]
pub(super) struct RecordBudget {
    cost: AtomicUsize,
    /// Whether there was content.
    content: AtomicBool,
}

impl RecordBudget {
    /// Notes that a record had content.
    pub(super) fn had_content(&self) {
        self.cost.store(0, Ordering::Relaxed);
        self.content.store(true, Ordering::Relaxed);
    }

    /// Returns whether records without content cost too much.
    pub(super) fn is_spent(&self) -> bool {
        self.cost() > if self.content.load(Ordering::Relaxed) { MAX } else { MAX_FIRST }
    }

    fn take(&self, cost: usize) {
        self.cost.fetch_add(cost, Ordering::Relaxed);
    }

    fn cost(&self) -> usize {
        self.cost.load(Ordering::Relaxed)
    }
}

/// The bytes of the head of a record, the last two of which are the length of its body (RFC 8446, section 5.1).
const HEAD: usize = 5;

/// Where in a record the bytes end that were read so far.
#[derive(Debug, Default)]
struct RecordPlace {
    /// The bytes of the head that were read.
    head: usize,
    /// The bytes of the body that were not read; before the head is complete, its last two bytes.
    body: usize,
}

impl RecordPlace {
    /// Goes on by `bytes`. Returns the number of heads that end in them.
    fn advance(&mut self, mut bytes: &[u8]) -> usize {
        let mut heads = 0_usize;
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.head < HEAD {
                self.head = self.head.saturating_add(1);
                self.body = (self.body << 8 | usize::from(byte)) & 0xffff;
                heads = heads.saturating_add(usize::from(self.head == HEAD));
                bytes = rest;
            } else {
                let read = self.body.min(bytes.len());
                self.body = self.body.saturating_sub(read);
                bytes = bytes.get(read..).unwrap_or_default();
            }
            if self.head == HEAD && self.body == 0 {
                self.head = 0;
            }
        }
        heads
    }
}

/// The socket under TLS.
#[derive(Debug)]
pub(crate) struct TlsSocket {
    inner: Socket,
    budget: Arc<RecordBudget>,
    place: RecordPlace,
    /// The cost since others had their turn.
    in_turn: usize,
}

impl TlsSocket {
    pub(super) fn new(inner: Socket, budget: Arc<RecordBudget>) -> Self {
        Self { inner, budget, place: RecordPlace::default(), in_turn: 0 }
    }
}

impl AsyncRead for TlsSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        // First: what was read may have content, which nobody sees before a read waits.
        if self.in_turn >= TURN && self.budget.cost() > RECORD {
            self.in_turn = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.budget.is_spent() {
            return Poll::Ready(Err(Error::new(
                ErrorKind::ConnectionAborted,
                "the client sent too many records of TLS without content",
            )));
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        if read.is_pending() {
            self.in_turn = 0;
        }
        ready!(read)?;
        let new = buf.filled().get(before..).unwrap_or_default();
        let cost = new.len().saturating_add(self.place.advance(new).saturating_mul(PRICE));
        self.in_turn = self.in_turn.saturating_add(cost);
        self.budget.take(cost);
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
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpStream;

    #[test]
    fn records_are_counted_wherever_reads_end() {
        let record = |length: u16| [&[23, 3, 3][..], &length.to_be_bytes(), &vec![7; length.into()]].concat();
        let lengths = [0, 1, 5, 0, 0, 255, 256, 257, 0xffff, 2];
        let bytes: Vec<u8> = lengths.into_iter().flat_map(record).collect();
        for size in [1, 2, 3, 4, 5, 6, 7, 64, 4096, bytes.len()] {
            let mut place = RecordPlace::default();
            let count: usize = bytes.chunks(size).map(|piece| place.advance(piece)).sum();
            assert_eq!((count, place.head), (lengths.len(), 0), "{size} bytes at a time");
        }
    }

    /// Counts how often it was woken.
    #[derive(Default)]
    struct Turns(AtomicUsize);

    impl Wake for Turns {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Runs `test` with a socket from which `bytes` can be read, and its budget.
    fn with_socket<T>(bytes: &[u8], test: impl AsyncFnOnce(TlsSocket, &RecordBudget) -> T) -> T {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(bytes).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let server = TcpStream::from_std(server).unwrap();
            server.readable().await.unwrap();
            let budget = Arc::default();
            test(TlsSocket::new(Socket::from(server), Arc::clone(&budget)), &budget).await
        })
    }

    #[test]
    fn others_have_their_turn_while_records_have_no_content() {
        const SENT: usize = 32 << 10;
        // One record.
        let mut bytes = [23; SENT];
        bytes[3..HEAD].copy_from_slice(&u16::try_from(SENT - HEAD).unwrap().to_be_bytes());
        let turns = Arc::new(Turns::default());
        let pending_but_woken = with_socket(&bytes, async |mut socket, _| {
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

    #[test]
    fn empty_records_cost_more_than_their_bytes() {
        const EMPTY: [u8; HEAD] = [23, 3, 3, 0, 0];
        with_socket(&EMPTY.repeat(1000), async |mut socket, budget| {
            for bound in [MAX_FIRST, MAX] {
                for _ in 0..=bound / (HEAD + PRICE) {
                    socket.read_exact(&mut [0; HEAD]).await.unwrap();
                }
                assert_eq!(socket.read(&mut [0; HEAD]).await.unwrap_err().kind(), ErrorKind::ConnectionAborted);
                budget.had_content();
            }
        });
    }
}
