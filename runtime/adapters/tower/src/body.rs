//! The bodies of requests and responses after the policy has run.

use crate::log_on_drop::LogOnDrop;
use bytes::{Bytes, BytesMut};
use celero_policy::Policy;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The body of a request as the service receives it: first what was buffered for the policy, then the rest. Trailers are dropped: they
/// arrive after the rules ran, and could name headers that the rules set or remove.
#[derive(Debug)]
pub struct RequestBody<B> {
    first: Option<Bytes>,
    rest: Option<B>,
}

impl<B> RequestBody<B> {
    /// Returns a body of which nothing was buffered.
    pub(crate) fn unread(body: B) -> Self {
        Self { first: None, rest: Some(body) }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for RequestBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Some(rest) = &mut this.rest else { return Poll::Ready(None) };
        let polled = Pin::new(rest).poll_frame(cx);
        if matches!(&polled, Poll::Ready(Some(Ok(frame))) if frame.is_trailers()) {
            this.rest = None;
            return Poll::Ready(None);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.as_ref().is_none_or(Body::is_end_stream)
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
pub(crate) struct BufferedBody<B> {
    /// The bytes read: all of the body unless it is too large.
    pub(crate) read: Bytes,
    pub(crate) too_large: bool,
    /// The body for the service, which starts with the bytes read.
    pub(crate) body: RequestBody<B>,
}

/// Buffers a body of at most `limit` bytes. A larger body is read up to the first piece beyond the limit.
pub(crate) async fn buffer<B: Body<Data = Bytes> + Unpin>(
    mut body: B,
    limit: usize,
) -> Result<BufferedBody<B>, B::Error> {
    if usize::try_from(body.size_hint().lower()).is_ok_and(|least| least > limit) {
        return Ok(BufferedBody { read: Bytes::new(), too_large: true, body: RequestBody::unread(body) });
    }
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { break };
        read.extend_from_slice(&data);
        if read.len() > limit {
            let read = read.freeze();
            let body = RequestBody { first: Some(read.clone()), rest: Some(body) };
            return Ok(BufferedBody { read, too_large: true, body });
        }
    }
    let read = read.freeze();
    let first = (!read.is_empty()).then(|| read.clone());
    Ok(BufferedBody { read, too_large: false, body: RequestBody { first, rest: None } })
}

/// The body of a response: the service's, or that of the policy's answer.
#[derive(Debug)]
pub struct ResponseBody<B> {
    content: Content<B>,
    log: Option<Box<LogOnDrop>>,
    /// The policy whose rules decide what trailers may carry.
    policy: Option<Arc<Policy>>,
}

#[derive(Debug)]
enum Content<B> {
    Service(B),
    Policy(Option<Bytes>),
}

impl<B> ResponseBody<B> {
    pub(crate) fn service(body: B) -> Self {
        Self { content: Content::Service(body), log: None, policy: None }
    }

    pub(crate) fn policy(body: Bytes) -> Self {
        Self { content: Content::Policy(Some(body).filter(|body| !body.is_empty())), log: None, policy: None }
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

impl<B: Body<Data = Bytes> + Unpin> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let mut polled = match &mut this.content {
            Content::Service(body) => Pin::new(body).poll_frame(cx),
            Content::Policy(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
        };
        if let (Some(policy), Poll::Ready(Some(Ok(frame)))) = (&this.policy, &mut polled)
            && let Some(trailers) = frame.trailers_mut()
        {
            policy.response_trailers(trailers);
        }
        if let (Some(log), Poll::Ready(Some(Ok(frame)))) = (&mut this.log, &polled) {
            log.sent(frame.data_ref().map_or(0, length));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Service(body) => body.is_end_stream(),
            Content::Policy(body) => body.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Service(body) => body.size_hint(),
            Content::Policy(body) => SizeHint::with_exact(body.as_ref().map_or(0, length)),
        }
    }
}
