//! Streams of messages of gRPC on their way through the layer: each message is judged when it has
//! arrived, and a denial ends the call in both directions.

use bytes::Bytes;
use celero_policy::{CheckedMessages, Exchange, LimitReply, MessageStep, MessageStream, Policy, PolicyAnswer};
use http::HeaderMap;
use http_body::{Body, Frame};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

/// The state of a request, which both directions of a call need at the same time.
#[derive(Clone, Debug)]
pub(crate) struct SharedExchange(Arc<Mutex<Exchange>>);

impl From<Exchange> for SharedExchange {
    fn from(exchange: Exchange) -> Self {
        Self(Arc::new(Mutex::new(exchange)))
    }
}

impl SharedExchange {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Exchange> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer of the policy to a call of which a message was denied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusal(Arc<Mutex<Refused>>);

#[derive(Debug, Default)]
struct Refused {
    answer: Option<Box<PolicyAnswer>>,
    /// Who waits for the answer, by direction.
    wakers: [Option<Waker>; 2],
}

/// A direction of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Direction {
    Request,
    Response,
}

impl Refusal {
    fn lock(&self) -> MutexGuard<'_, Refused> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, answer: Box<PolicyAnswer>) {
        let mut refused = self.lock();
        refused.answer.get_or_insert(answer);
        let wakers = std::mem::take(&mut refused.wakers);
        drop(refused);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    fn is_set(&self) -> bool {
        self.lock().answer.is_some()
    }

    /// Returns the answer, if there is one; otherwise the task of this direction is woken when there is.
    fn poll(&self, direction: Direction, cx: &Context<'_>) -> Option<Box<PolicyAnswer>> {
        let mut refused = self.lock();
        if refused.answer.is_none() {
            let [request, response] = &mut refused.wakers;
            let waker = match direction {
                Direction::Request => request,
                Direction::Response => response,
            };
            *waker = Some(cx.waker().clone());
        }
        refused.answer.clone()
    }

    /// Returns the error of the body of a request whose call was refused.
    pub(crate) fn poll_request(&self, cx: &Context<'_>) -> Option<CallRefused> {
        self.poll(Direction::Request, cx).map(|_| CallRefused)
    }

    /// Waits for the service, as long as no message is denied.
    ///
    /// # Errors
    /// Returns the answer of the policy.
    pub(crate) async fn or<F: Future>(&self, service: F) -> Result<F::Output, Box<PolicyAnswer>> {
        let mut service = std::pin::pin!(service);
        std::future::poll_fn(|cx| {
            if let Some(answer) = self.poll(Direction::Response, cx) {
                return Poll::Ready(Err(answer));
            }
            let output = ready!(service.as_mut().poll(cx));
            // The service may have answered because the body has failed.
            Poll::Ready(self.lock().answer.clone().map_or(Ok(output), Err))
        })
        .await
    }
}

/// Why the body of a request can't be read to its end: the policy has refused the call because of one of its messages.
/// The client gets its answer. Other errors are those of the client's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRefused;

impl fmt::Display for CallRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the policy has refused the call")
    }
}

impl std::error::Error for CallRefused {}

/// Any error of a body.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

type Asking = Pin<Box<dyn Future<Output = LimitReply> + Send>>;

/// The messages of a client.
pub(crate) struct ClientMessages<B> {
    /// `None` after its end, or a refusal.
    body: Option<B>,
    stream: MessageStream,
    /// Whether something has come since the last check.
    unchecked: bool,
    /// Whether all of the stream has passed.
    passed: bool,
    asking: Option<Asking>,
    policy: Arc<Policy>,
    exchange: SharedExchange,
    refusal: Refusal,
}

impl<B> ClientMessages<B> {
    pub(crate) fn new(
        body: B,
        stream: MessageStream,
        policy: Arc<Policy>,
        exchange: SharedExchange,
        refusal: Refusal,
    ) -> Self {
        Self { body: Some(body), stream, unchecked: false, passed: false, asking: None, policy, exchange, refusal }
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.passed
    }

    fn check(&mut self) -> Bytes {
        let CheckedMessages { pass, next } = self.stream.check(&self.policy, &mut self.exchange.lock());
        match next {
            MessageStep::More => {}
            MessageStep::End => self.passed = true,
            MessageStep::Ask(question) => {
                let policy = Arc::clone(&self.policy);
                self.asking = Some(Box::pin(async move { question.ask(&policy).await }));
            }
            MessageStep::Refuse(answer) => self.refusal.set(answer),
        }
        pass
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin> ClientMessages<B> {
    pub(crate) fn poll_pass(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        loop {
            if let Some(refused) = self.refusal.poll_request(cx) {
                self.body = None;
                self.asking = None;
                return Poll::Ready(Some(Err(refused.into())));
            }
            if self.passed {
                return Poll::Ready(None);
            }
            if let Some(asking) = &mut self.asking {
                let reply = ready!(asking.as_mut().poll(cx));
                self.asking = None;
                self.exchange.lock().note_limit(reply);
                self.unchecked = true;
            }
            if std::mem::take(&mut self.unchecked) {
                let pass = self.check();
                if !pass.is_empty() {
                    return Poll::Ready(Some(Ok(pass)));
                }
                continue;
            }
            let read = match &mut self.body {
                Some(body) => ready!(Pin::new(body).poll_frame(cx)),
                None => None,
            };
            match read.transpose().map_err(Into::into)?.map(Frame::into_data) {
                Some(Ok(data)) => self.stream.push(&data),
                // Trailers of a request are dropped.
                Some(Err(_)) | None => {
                    self.body = None;
                    self.stream.end();
                }
            }
            self.unchecked = true;
        }
    }
}

impl<B> fmt::Debug for ClientMessages<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientMessages").field("stream", &self.stream).finish_non_exhaustive()
    }
}

/// The response to a call whose messages are judged, of one direction or of both.
#[derive(Debug)]
pub(crate) struct CallResponse {
    /// The messages of the server, if they are judged.
    stream: Option<MessageStream>,
    policy: Arc<Policy>,
    exchange: SharedExchange,
    refusal: Refusal,
    /// Whether the head has the status of the call.
    has_status: bool,
    ended: bool,
}

impl CallResponse {
    pub(crate) fn new(
        stream: Option<MessageStream>,
        policy: Arc<Policy>,
        exchange: SharedExchange,
        refusal: Refusal,
        has_status: bool,
    ) -> Self {
        Self { stream, policy, exchange, refusal, has_status, ended: false }
    }

    /// Returns whether the policy ends the call, and has not said so.
    pub(crate) fn is_refused(&self) -> bool {
        !self.ended && self.refusal.is_set()
    }

    /// Returns whether nothing follows, if nothing follows from the service.
    pub(crate) fn is_end(&self) -> bool {
        self.ended || !self.stream.as_ref().is_some_and(MessageStream::has_begun)
    }

    /// Returns whether nothing follows, whatever the service sends.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns the trailers with which the policy ends the call, if it does and the call has no status.
    pub(crate) fn poll_refusal(&mut self, cx: &Context<'_>) -> Option<HeaderMap> {
        let answer = self.refusal.poll(Direction::Response, cx).filter(|_| !self.ended)?;
        self.ended = true;
        (!self.has_status).then(|| answer.trailers())
    }

    /// Judges what the service sends; `None`: it has ended. Returns what may be sent on, if there is something.
    pub(crate) fn pass(&mut self, frame: Option<Frame<Bytes>>) -> Option<Frame<Bytes>> {
        let is_end = frame.as_ref().is_none_or(Frame::is_trailers);
        let Some(stream) = &mut self.stream else {
            self.ended |= is_end;
            return frame;
        };
        match frame.as_ref().and_then(Frame::data_ref) {
            Some(data) => stream.push(data),
            None => stream.end(),
        }
        let CheckedMessages { pass, next } = stream.check(&self.policy, &mut self.exchange.lock());
        match next {
            MessageStep::Refuse(answer) => self.refusal.set(answer),
            MessageStep::End => {
                self.ended = true;
                return frame.filter(Frame::is_trailers);
            }
            // No service counts for responses.
            MessageStep::More | MessageStep::Ask(_) => {}
        }
        (!pass.is_empty()).then(|| Frame::data(pass))
    }
}
