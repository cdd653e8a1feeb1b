//! The bodies of requests and responses after the policy has run.

use crate::log_on_drop::LogOnDrop;
use crate::messages::{BoxError, CallResponse, ClientMessages, Refusal};
use bytes::{Bytes, BytesMut};
use celero_policy::{BodyBuffering, BufferState, Policy};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

/// The body of a request as the service receives it: first what was buffered for the policy, then
/// the rest; or, of a stream of gRPC, each message when the policy has let it through. Trailers are
/// dropped: they arrive after the rules ran, and could name headers that the rules set or remove.
#[derive(Debug)]
pub struct RequestBody<B>(RequestContent<B>);

#[derive(Debug)]
enum RequestContent<B> {
    /// With the refusal of a call whose response may be judged.
    Replayed(Replayed<B>, Option<Refusal>),
    Messages(Box<ClientMessages<Replayed<B>>>),
}

impl<B> RequestBody<B> {
    pub(crate) fn of(body: Replayed<B>, refusal: Option<Refusal>) -> Self {
        Self(RequestContent::Replayed(body, refusal))
    }

    pub(crate) fn messages(messages: ClientMessages<Replayed<B>>) -> Self {
        Self(RequestContent::Messages(Box::new(messages)))
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin> Body for RequestBody<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let replayed = match &mut self.get_mut().0 {
            RequestContent::Replayed(replayed, refusal) => {
                if let Some(refused) = refusal.as_ref().and_then(|refusal| refusal.poll_request(cx)) {
                    return Poll::Ready(Some(Err(refused.into())));
                }
                replayed
            }
            RequestContent::Messages(messages) => {
                return messages.poll_pass(cx).map(|pass| pass.map(|pass| pass.map(Frame::data)));
            }
        };
        let polled = Pin::new(&mut *replayed).poll_frame(cx);
        if matches!(&polled, Poll::Ready(Some(Ok(frame))) if frame.is_trailers()) {
            replayed.rest = None;
            return Poll::Ready(None);
        }
        polled.map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            RequestContent::Replayed(Replayed { first, rest, .. }, _) => {
                first.is_none() && rest.as_ref().is_none_or(Body::is_end_stream)
            }
            RequestContent::Messages(messages) => messages.has_passed(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            RequestContent::Replayed(replayed, _) => replayed.size_hint(),
            RequestContent::Messages(_) => SizeHint::default(),
        }
    }
}

impl<B> Replayed<B> {
    pub(crate) fn unread(body: B) -> Self {
        Self { first: None, rest: Some(body), trailers: None }
    }

    /// Returns the body, or the one that a rule has given the message instead.
    pub(crate) fn or_new(self, new: Option<&Bytes>) -> Self {
        let Some(new) = new else { return self };
        Self { first: Some(new.clone()).filter(|new| !new.is_empty()), rest: None, trailers: None }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Replayed<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if let Some(rest) = &mut this.rest {
            return Pin::new(rest).poll_frame(cx);
        }
        Poll::Ready(this.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.trailers.is_none() && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let first = self.first.as_ref().map_or(0, length);
        let mut hint = self.rest.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint);
        // The upper bound is set first: `set_lower` panics above it.
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(first));
        }
        hint.set_lower(hint.lower().saturating_add(first));
        hint
    }
}

fn length(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// A body after buffering.
pub(crate) struct Buffered<B> {
    /// What was read of the body.
    pub(crate) read: Bytes,
    pub(crate) too_large: bool,
    /// The body with what was read.
    pub(crate) body: Replayed<B>,
}

/// A body of which some bytes were read.
#[derive(Debug)]
pub(crate) struct Replayed<B> {
    first: Option<Bytes>,
    rest: Option<B>,
    trailers: Option<HeaderMap>,
}

/// Buffers a body. Nothing is read of a body that is known to be too large; any other body is read
/// up to the first piece beyond the limit.
pub(crate) async fn buffer<B: Body<Data = Bytes> + Unpin>(
    mut body: B,
    buffering: BodyBuffering,
) -> Result<Buffered<B>, B::Error> {
    if buffering.refuses(body.size_hint().lower()) {
        return Ok(Buffered { read: Bytes::new(), too_large: true, body: Replayed::unread(body) });
    }
    let (mut read, mut trailers) = (BytesMut::new(), None);
    let mut ended = body.is_end_stream();
    let mut begun: Option<Instant> = None;
    loop {
        let state = buffering.state(read.len(), ended);
        if state != BufferState::More
            || begun.zip(buffering.longest_wait()).is_some_and(|(begun, wait)| begun.elapsed() >= wait)
        {
            let read = read.freeze();
            let first = (!read.is_empty()).then(|| read.clone());
            let body = Replayed { first, rest: (!ended).then_some(body), trailers };
            return Ok(Buffered { read, too_large: state == BufferState::TooLarge, body });
        }
        match body.frame().await {
            None => ended = true,
            Some(frame) => match frame?.into_data() {
                Ok(data) => {
                    begun.get_or_insert_with(Instant::now);
                    read.extend_from_slice(&data);
                }
                Err(frame) => {
                    trailers = frame.into_trailers().ok();
                    ended = true;
                }
            },
        }
    }
}

/// The body of a response: the service's, or that of the policy's answer.
#[derive(Debug)]
pub struct ResponseBody<B> {
    content: Content<B>,
    /// Of a call whose messages are judged.
    call: Option<Box<CallResponse>>,
    log: Option<Box<LogOnDrop>>,
    /// The policy whose rules decide what trailers may carry.
    policy: Option<Arc<Policy>>,
}

#[derive(Debug)]
enum Content<B> {
    Service(Replayed<B>),
    Policy(Option<Bytes>),
}

impl<B> ResponseBody<B> {
    pub(crate) fn service(body: B) -> Self {
        Self::replayed(Replayed::unread(body))
    }

    pub(crate) fn replayed(body: Replayed<B>) -> Self {
        Self { content: Content::Service(body), call: None, log: None, policy: None }
    }

    pub(crate) fn policy(body: Bytes) -> Self {
        let content = Content::Policy(Some(body).filter(|body| !body.is_empty()));
        Self { content, call: None, log: None, policy: None }
    }

    /// Ends the body when a message of the call is denied. An answer of the policy has ended it already.
    pub(crate) fn with_call(self, call: Option<CallResponse>) -> Self {
        let of_service = matches!(self.content, Content::Service(_));
        Self { call: call.filter(|_| of_service).map(Box::new), ..self }
    }

    /// Removes from the trailers what the policy's rules on responses set or remove.
    pub(crate) fn with_policy(self, policy: Arc<Policy>) -> Self {
        Self { policy: Some(policy), ..self }
    }

    /// Runs the phase `log` when the body was sent or dropped.
    pub(crate) fn with_log(self, log: Option<Box<LogOnDrop>>) -> Self {
        Self { log, ..self }
    }
}

impl<B: Body<Data = Bytes> + Unpin> ResponseBody<B> {
    /// Returns the next frame that the client gets.
    fn poll_call(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if self.call.is_none() {
            return self.poll_content(cx);
        }
        loop {
            if let Some(call) = &mut self.call {
                if let Some(trailers) = call.poll_refusal(cx) {
                    // The service need not send the rest.
                    self.content = Content::Policy(None);
                    return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                }
                if call.has_ended() {
                    return Poll::Ready(None);
                }
            }
            let frame = ready!(self.poll_content(cx)).transpose();
            let Some(call) = &mut self.call else { return Poll::Ready(frame.transpose()) };
            // The service has ended, or failed, because its request has.
            if call.is_refused() && !matches!(&frame, Ok(Some(frame)) if frame.is_data()) {
                continue;
            }
            let frame = frame?;
            if let Some(passed) = call.pass(frame) {
                return Poll::Ready(Some(Ok(passed)));
            }
        }
    }

    fn poll_content(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut polled = match &mut self.content {
            Content::Service(body) => Pin::new(body).poll_frame(cx),
            Content::Policy(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
        };
        if let (Some(policy), Poll::Ready(Some(Ok(frame)))) = (&self.policy, &mut polled)
            && let Some(trailers) = frame.trailers_mut()
        {
            policy.response_trailers(trailers);
        }
        polled
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let polled = this.poll_call(cx);
        if let (Some(log), Poll::Ready(Some(Ok(frame)))) = (&mut this.log, &polled) {
            log.sent(frame.data_ref().map_or(0, length));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        let is_end = match &self.content {
            Content::Service(body) => body.is_end_stream(),
            Content::Policy(body) => body.is_none(),
        };
        self.call.as_ref().map_or(is_end, |call| call.has_ended() || is_end && call.is_end())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            _ if self.call.is_some() => SizeHint::default(),
            Content::Service(body) => body.size_hint(),
            Content::Policy(body) => SizeHint::with_exact(body.as_ref().map_or(0, length)),
        }
    }
}
