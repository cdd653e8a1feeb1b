//! Bodies of which the policy has read, or which it gives in place of another.

use crate::logged::Logged;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The body of a request as the service gets it: what the policy read of it, then the rest.
#[derive(Debug)]
pub struct RequestBody<B> {
    first: Option<Bytes>,
    rest: Option<B>,
    trailers: Option<HeaderMap>,
}

impl<B> RequestBody<B> {
    /// One that nobody has read of.
    pub(crate) fn unread(body: B) -> Self {
        Self { first: None, rest: Some(body), trailers: None }
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
        // The lower bound may not rise above the upper one on the way.
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

/// What came of a body: what was read, all of it unless it is too large, and the body to be sent on.
pub(crate) struct Gathered<B> {
    pub(crate) read: Bytes,
    pub(crate) too_large: bool,
    pub(crate) body: RequestBody<B>,
}

/// Reads a body of at most `limit` bytes.
pub(crate) async fn gather<B: Body<Data = Bytes> + Unpin>(mut body: B, limit: usize) -> Result<Gathered<B>, B::Error> {
    if usize::try_from(body.size_hint().lower()).is_ok_and(|least| least > limit) {
        return Ok(Gathered { read: Bytes::new(), too_large: true, body: RequestBody::unread(body) });
    }
    let (mut read, mut trailers) = (BytesMut::new(), None);
    while let Some(frame) = body.frame().await {
        match frame?.into_data() {
            Ok(data) => read.extend_from_slice(&data),
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
        if read.len() > limit {
            let read = read.freeze();
            let body = RequestBody { first: Some(read.clone()), rest: Some(body), trailers };
            return Ok(Gathered { read, too_large: true, body });
        }
    }
    let read = read.freeze();
    let first = (!read.is_empty()).then(|| read.clone());
    Ok(Gathered { read, too_large: false, body: RequestBody { first, rest: None, trailers } })
}

/// The body of a response: the service's, or the policy's own.
#[derive(Debug)]
pub struct ResponseBody<B> {
    content: Content<B>,
    logged: Option<Box<Logged>>,
}

#[derive(Debug)]
enum Content<B> {
    Service(B),
    Policy(Option<Bytes>),
}

impl<B> ResponseBody<B> {
    pub(crate) fn service(body: B) -> Self {
        Self { content: Content::Service(body), logged: None }
    }

    pub(crate) fn policy(body: Bytes) -> Self {
        Self { content: Content::Policy(Some(body).filter(|body| !body.is_empty())), logged: None }
    }

    /// The same, with a log to be written when it was sent, or given up.
    pub(crate) fn logged(self, logged: Option<Box<Logged>>) -> Self {
        Self { logged, ..self }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let polled = match &mut this.content {
            Content::Service(body) => Pin::new(body).poll_frame(cx),
            Content::Policy(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
        };
        if let (Some(logged), Poll::Ready(Some(Ok(frame)))) = (&mut this.logged, &polled) {
            logged.sent(frame.data_ref().map_or(0, length));
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
