//! Compresses one response on its way to the client.

use crate::coding::{Coding, Encoder};
use crate::compression::{Compression, OpenStream, forbids_transforming};
use crate::head::OfResponse;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::http::HttpTask;
use pingora::{ErrorType, OrErr, Result};
use std::sync::Arc;

/// A response that may be compressed. Its client accepts the coding.
pub(crate) struct Compressor {
    settings: Arc<Compression>,
    coding: Coding,
    state: State,
}

enum State {
    /// The head has not been sent.
    Head,
    Body(Box<Encoding>),
    /// The response is sent as it is.
    Plain,
}

/// A body that is compressed.
struct Encoding {
    encoder: Encoder,
    /// Whether what has arrived is sent at once: a body whose length nobody knows may stop for a while.
    flushes: bool,
    _open: OpenStream,
}

impl Compressor {
    pub(crate) fn new(settings: Arc<Compression>, coding: Coding) -> Self {
        Self { settings, coding, state: State::Head }
    }

    /// Returns the next tasks of the response to a request with this head as they are sent.
    ///
    /// # Errors
    /// Returns an error if the compressor fails.
    pub(crate) fn process(&mut self, request: &RequestHeader, tasks: Vec<HttpTask>) -> Result<Vec<HttpTask>> {
        if matches!(self.state, State::Plain) {
            return Ok(tasks);
        }
        let mut sent = Vec::with_capacity(tasks.len().saturating_add(1));
        let has_data = tasks.iter().any(|task| matches!(task, HttpTask::Body(Some(data), false) if !data.is_empty()));
        for task in tasks {
            match task {
                HttpTask::Header(mut head, end) => {
                    self.begin(request, &mut head, end);
                    sent.push(HttpTask::Header(head, end));
                }
                HttpTask::Body(data, end) => self.body(data, end, &mut sent)?,
                HttpTask::Trailer(mut trailers) => {
                    if let (State::Body(_), Some(trailers)) = (&self.state, trailers.as_deref_mut()) {
                        Compression::change_trailers(trailers);
                    }
                    self.end(false, &mut sent)?;
                    sent.push(HttpTask::Trailer(trailers));
                }
                HttpTask::Done => {
                    self.end(true, &mut sent)?;
                    sent.push(HttpTask::Done);
                }
                task @ (HttpTask::UpgradedBody(..) | HttpTask::Failed(_)) => sent.push(task),
            }
        }
        if let State::Body(encoding) = &mut self.state
            && encoding.flushes
            && has_data
        {
            encoding.encoder.flush().or_err(ErrorType::InternalError, "the body can't be compressed")?;
            push(encoding.encoder.output(), false, &mut sent);
        }
        Ok(sent)
    }

    /// Returns what compresses the body of a response whose head is final; `None` if it stays as it
    /// is. Whether the response has a body may be known only when it is sent.
    pub(crate) fn of_head(
        settings: &Arc<Compression>,
        coding: Coding,
        request: &RequestHeader,
        head: &mut ResponseHeader,
    ) -> Option<Self> {
        settings.prepare(request, head).then(|| Self::new(Arc::clone(settings), coding))
    }

    /// Decides about a response with this head.
    fn begin(&mut self, request: &RequestHeader, head: &mut ResponseHeader, end: bool) {
        if head.status.is_informational() && head.status.as_u16() != 101 {
            return;
        }
        self.state = State::Plain;
        if !self.settings.prepare(request, head) || end {
            return;
        }
        Compression::add_vary(&mut OfResponse(head));
        let Some(open) = self.settings.open() else { return };
        let Ok(encoder) = Encoder::new(self.coding, self.settings.level()) else { return };
        let flushes = !head.headers.contains_key(header::CONTENT_LENGTH);
        Compression::change(&mut OfResponse(head), self.coding);
        if request.version == Version::HTTP_11 {
            let _ = head.insert_header(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        self.state = State::Body(Box::new(Encoding { encoder, flushes, _open: open }));
    }

    fn body(&mut self, data: Option<Bytes>, end: bool, sent: &mut Vec<HttpTask>) -> Result<()> {
        let State::Body(encoding) = &mut self.state else {
            sent.push(HttpTask::Body(data, end));
            return Ok(());
        };
        let data = data.unwrap_or_default();
        encoding.encoder.write(&data).or_err(ErrorType::InternalError, "the body can't be compressed")?;
        if end {
            return self.end(true, sent);
        }
        push(encoding.encoder.output(), false, sent);
        Ok(())
    }

    /// Sends the end of a compressed body. `last`: nothing of the response follows.
    fn end(&mut self, last: bool, sent: &mut Vec<HttpTask>) -> Result<()> {
        let State::Body(encoding) = std::mem::replace(&mut self.state, State::Plain) else { return Ok(()) };
        let mut rest = encoding.encoder.finish().or_err(ErrorType::InternalError, "the body can't be compressed")?;
        push(&mut rest, last, sent);
        Ok(())
    }
}

impl Compression {
    /// Changes the head of a response without a body to what is true whether or not the body is
    /// compressed: one with status 304, and one to HEAD. Returns whether a body of any other
    /// response is compressed.
    fn prepare(&self, request: &RequestHeader, head: &mut ResponseHeader) -> bool {
        if head.status == StatusCode::NOT_MODIFIED {
            if !forbids_transforming(&head.headers) {
                Self::add_vary(&mut OfResponse(head));
                // It updates what a client has kept, which may be compressed: a strong tag would
                // let it ask for parts of the plain body.
                if head.headers.get(header::ETAG).is_some_and(|tag| may_keep_compressed(&request.headers, tag)) {
                    Self::weaken(&mut OfResponse(head));
                }
            }
            return false;
        }
        let concerns = self.concerns(head);
        if concerns && request.method == Method::HEAD {
            Self::add_vary(&mut OfResponse(head));
            Self::leave_open(&mut OfResponse(head));
        }
        concerns && request.method != Method::HEAD
    }
}

/// Returns whether what the client of this request has kept with this tag may be compressed: the
/// request names the weak form of the tag, which only compressed responses get, or no tag at all.
fn may_keep_compressed(request: &HeaderMap, tag: &HeaderValue) -> bool {
    let weak = [b"W/", tag.as_bytes()].concat();
    let weak = String::from_utf8_lossy(&weak);
    let mut lines = request.get_all(header::IF_NONE_MATCH).iter().peekable();
    lines.peek().is_none() || lines.any(|line| String::from_utf8_lossy(line.as_bytes()).contains(&*weak))
}

/// Adds compressed bytes, if there are any.
fn push(bytes: &mut Vec<u8>, end: bool, sent: &mut Vec<HttpTask>) {
    if !bytes.is_empty() {
        sent.push(HttpTask::Body(Some(Bytes::from(std::mem::take(bytes))), end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, headers: &[(&'static str, &'static str)]) -> RequestHeader {
        let mut head = RequestHeader::build(method, b"/", None).unwrap();
        for (name, value) in headers {
            head.insert_header(*name, *value).unwrap();
        }
        head
    }

    fn response(status: u16, headers: &[(&'static str, &'static str)]) -> Box<ResponseHeader> {
        let mut head = ResponseHeader::build(status, None).unwrap();
        for (name, value) in headers {
            head.insert_header(*name, *value).unwrap();
        }
        Box::new(head)
    }

    fn settings() -> Arc<Compression> {
        Arc::new(Compression::default().with_smallest(0))
    }

    #[test]
    fn trailers_have_no_digest_of_the_plain_body() {
        for (kind, left) in [("text/plain", 1), ("image/png", 3)] {
            let tasks = || {
                let mut trailers = HeaderMap::new();
                for name in ["content-digest", "repr-digest", "x-checked"] {
                    trailers.insert(name, HeaderValue::from_static("a"));
                }
                let head = HttpTask::Header(response(200, &[("content-type", kind)]), false);
                let body = HttpTask::Body(Some(Bytes::from_static(b"some text")), false);
                vec![head, body, HttpTask::Trailer(Some(Box::new(trailers)))]
            };
            let names = |mut sent: Vec<HttpTask>| match sent.pop() {
                Some(HttpTask::Trailer(Some(trailers))) => trailers.len(),
                other => panic!("no trailers at the end: {other:?}"),
            };
            let get = request("GET", &[]);
            let mut at_once = Compressor::new(settings(), Coding::Gzip);
            assert_eq!(names(at_once.process(&get, tasks()).unwrap()), left, "{kind}");
            let mut one_by_one = Compressor::new(settings(), Coding::Gzip);
            let mut sent = Vec::new();
            for task in tasks() {
                sent.extend(one_by_one.process(&get, vec![task]).unwrap());
            }
            assert_eq!(names(sent), left, "{kind}");
        }
    }

    #[test]
    fn only_tags_of_compressed_responses_are_weak_in_a_304() {
        for (asked, fields, expected) in [
            (&[("if-none-match", "\"a\"")][..], &[("etag", "\"a\"")][..], "\"a\""),
            (&[], &[("etag", "\"a\"")], "W/\"a\""),
            (&[("if-none-match", "*")], &[("etag", "\"a\"")], "\"a\""),
            (&[("if-none-match", "W/\"b\", \"a\"")], &[("etag", "\"a\"")], "\"a\""),
            (&[("if-none-match", "\"b\", W/\"a\"")], &[("etag", "\"a\"")], "W/\"a\""),
            (&[("if-none-match", "W/\"a,b\"")], &[("etag", "\"a,b\"")], "W/\"a,b\""),
            (&[("if-none-match", "\"a\"")], &[("etag", "W/\"a\"")], "W/\"a\""),
            (&[], &[("etag", "\"a\""), ("cache-control", "no-transform")], "\"a\""),
        ] {
            let head = HttpTask::Header(response(304, fields), true);
            let sent = Compressor::new(settings(), Coding::Gzip).process(&request("GET", asked), vec![head]).unwrap();
            let [HttpTask::Header(head, true)] = &*sent else { panic!("{sent:?}") };
            assert_eq!(head.headers["etag"], expected, "{asked:?} {fields:?}");
            assert_eq!(head.headers.contains_key("vary"), fields.len() == 1, "{asked:?} {fields:?}");
        }
    }

    #[test]
    fn a_response_to_head_is_true_of_both_forms() {
        let fields =
            [("content-type", "text/plain"), ("content-length", "9"), ("accept-ranges", "bytes"), ("etag", "\"a\"")];
        for streams in [0, 1] {
            let settings = Arc::new(Compression::default().with_smallest(0).with_streams(streams));
            let head = HttpTask::Header(response(200, &fields), true);
            let sent = Compressor::new(settings, Coding::Gzip).process(&request("HEAD", &[]), vec![head]).unwrap();
            let [HttpTask::Header(head, true)] = &*sent else { panic!("{sent:?}") };
            assert_eq!((&head.headers["etag"], head.headers.len()), (&"W/\"a\"".parse().unwrap(), 3), "{head:?}");
            assert_eq!(head.headers["vary"], "accept-encoding");
        }
    }

    #[test]
    fn only_bodies_that_are_compressed_have_a_compressor() {
        let text = [("content-type", "text/plain"), ("etag", "\"a\"")];
        let image = [("content-type", "image/png"), ("etag", "\"a\"")];
        for (method, status, fields, expected, tag) in [
            ("GET", 200, text, true, "\"a\""),
            ("GET", 200, image, false, "\"a\""),
            ("GET", 204, text, false, "\"a\""),
            ("HEAD", 200, text, false, "W/\"a\""),
            ("HEAD", 200, image, false, "\"a\""),
            ("GET", 304, text, false, "W/\"a\""),
        ] {
            let mut head = response(status, &fields);
            let found = Compressor::of_head(&settings(), Coding::Gzip, &request(method, &[]), &mut head);
            assert_eq!(
                (found.is_some(), &head.headers["etag"]),
                (expected, &tag.parse().unwrap()),
                "{method} {status}"
            );
        }
    }
}
