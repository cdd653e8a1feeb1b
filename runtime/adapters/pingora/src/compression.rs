//! Which responses are compressed, and what that changes in their heads.

use crate::coding::Coding;
use celero_policy::DIGEST_FIELDS;
use celero_policy::canonical::ResponseHead;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, response};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The content types that are compressed by default.
const TYPES: [&str; 14] = [
    "text/html",
    "text/css",
    "text/plain",
    "text/xml",
    "text/csv",
    "text/markdown",
    "text/javascript",
    "application/javascript",
    "application/json",
    "application/*+json",
    "application/xml",
    "application/*+xml",
    "application/wasm",
    "image/svg+xml",
];

/// Fields besides digests that are not true of a compressed body: its length, and the ranges of the
/// plain one (RFC 9110, section 14.3).
const OF_PLAIN_BODY: [&str; 2] = ["content-length", "accept-ranges"];

/// Which responses are compressed, with which codings, and how much that may cost.
#[derive(Clone, Debug)]
pub struct Compression {
    /// Content types in lower case; `text/*` and `application/*+json` stand for several.
    types: Arc<[String]>,
    /// The preferred one first.
    codings: Arc<[Coding]>,
    smallest: u64,
    level: u32,
    streams: usize,
    open: Arc<AtomicUsize>,
}

/// A response that is compressed, counted as long as it is open.
#[derive(Debug)]
pub(crate) struct OpenStream(Arc<AtomicUsize>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Compression {
    /// Texts, JSON, XML, scripts and SVG from 1 KiB, with brotli, zstd or gzip at level 5, at most 256 at a time.
    fn default() -> Self {
        let types = TYPES.into_iter().map(str::to_owned).collect();
        let codings = Coding::ALL.into();
        Self { types, codings, smallest: 1 << 10, level: 5, streams: 256, open: Arc::default() }
    }
}

impl Compression {
    /// Sets the content types, without parameters: `text/html`; `text/*` and `application/*+json` stand for several.
    #[must_use]
    pub fn with_types(mut self, types: impl IntoIterator<Item = String>) -> Self {
        self.types = types.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        self
    }

    /// Sets the codings. Among those that a client likes equally, the first is taken.
    #[must_use]
    pub fn with_codings(mut self, codings: impl IntoIterator<Item = Coding>) -> Self {
        self.codings = codings.into_iter().collect();
        self
    }

    /// Sets the smallest body that is compressed, in bytes. A body of unknown length is compressed
    /// whatever its length turns out to be.
    #[must_use]
    pub fn with_smallest(mut self, bytes: u64) -> Self {
        self.smallest = bytes;
        self
    }

    /// Sets the level of all codings: from 1, the fastest, to 9. Others count as the nearest of
    /// these, and for brotli and zstd those above 5 as 5.
    #[must_use]
    pub fn with_level(mut self, level: u32) -> Self {
        self.level = level.clamp(1, 9);
        self
    }

    /// Sets how many responses are compressed at a time. Further ones are sent as they are.
    #[must_use]
    pub fn with_streams(mut self, streams: usize) -> Self {
        self.streams = streams;
        self
    }

    /// Takes the count of open responses over from the settings that were valid before.
    pub fn take_over(&mut self, before: &Self) {
        self.open = Arc::clone(&before.open);
    }

    pub(crate) fn codings(&self) -> &[Coding] {
        &self.codings
    }

    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// Counts a response as one that is compressed; `None` if there are too many.
    pub(crate) fn open(&self) -> Option<OpenStream> {
        let more = |open: usize| Some(open.saturating_add(1)).filter(|open| *open <= self.streams);
        self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(OpenStream(Arc::clone(&self.open)))
    }

    /// Returns whether a response with this head is compressed for clients that accept it.
    pub(crate) fn concerns(&self, head: &response::Parts) -> bool {
        let has_body = !matches!(head.status.as_u16(), 100..=199 | 204 | 205 | 304);
        let is_whole = head.status != StatusCode::PARTIAL_CONTENT && !head.headers.contains_key(header::CONTENT_RANGE);
        let is_plain = !head.headers.contains_key(header::CONTENT_ENCODING);
        let length = head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        has_body
            && is_whole
            && is_plain
            && length.is_none_or(|length: u64| length >= self.smallest)
            && self.has_type(&head.headers)
            && !forbids_transforming(&head.headers)
    }

    fn has_type(&self, headers: &HeaderMap) -> bool {
        let Some(Ok(line)) = headers.get(header::CONTENT_TYPE).map(HeaderValue::to_str) else { return false };
        let name = line.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let fits = |wanted: &String| match wanted.split_once('*') {
            Some((start, end)) => {
                name.len() > start.len().saturating_add(end.len()) && name.starts_with(start) && name.ends_with(end)
            }
            None => *wanted == name,
        };
        self.types.iter().any(fits)
    }

    /// Adds `vary: accept-encoding`, so that caches keep the two forms of a response apart (RFC 9110, section 12.5.5).
    pub(crate) fn add_vary(head: &mut impl ResponseHead) {
        let lines = head.headers().get_all(header::VARY);
        let mut members = lines.iter().filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
        let is_there = |name: &str| name.trim() == "*" || name.trim().eq_ignore_ascii_case("accept-encoding");
        if !members.any(is_there) {
            head.add_field(&header::VARY, HeaderValue::from_static("accept-encoding"));
        }
    }

    /// Makes a head say that the body is compressed.
    pub(crate) fn change(head: &mut impl ResponseHead, coding: Coding) {
        Self::leave_open(head);
        head.set_field(&header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    }

    /// Makes a head true of the plain body and of the compressed one. That is what a response to
    /// HEAD says: whether the response to GET will be compressed is known only when it is sent, so
    /// what depends on that is left out (RFC 9110, section 9.3.2).
    pub(crate) fn leave_open(head: &mut impl ResponseHead) {
        for name in OF_PLAIN_BODY.into_iter().chain(DIGEST_FIELDS) {
            head.remove_field(&HeaderName::from_static(name));
        }
        Self::weaken(head);
    }

    /// Removes from the trailers of a response whose body is compressed what is true of the plain one.
    pub(crate) fn change_trailers(trailers: &mut HeaderMap) {
        for name in OF_PLAIN_BODY.into_iter().chain(DIGEST_FIELDS) {
            trailers.remove(name);
        }
    }

    /// Makes an entity tag weak: the bytes are others than those that the server has named (RFC 9110, section 8.8.3.3).
    pub(crate) fn weaken(head: &mut impl ResponseHead) {
        let tag = head.headers().get(header::ETAG).map(|tag| tag.as_bytes().to_vec());
        if let Some(tag) = tag.filter(|tag| !tag.starts_with(b"W/")) {
            match HeaderValue::from_bytes(&[b"W/", &*tag].concat()) {
                Ok(weak) => head.set_field(&header::ETAG, weak),
                Err(_) => head.remove_field(&header::ETAG),
            }
        }
    }
}

/// Returns whether a message must reach its recipient as it is (RFC 9111, section 5.2.2.6; of a
/// request: section 5.2.1.6).
pub(crate) fn forbids_transforming(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|name| name.trim().eq_ignore_ascii_case("no-transform"))
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { smallest, level, streams, codings, .. } = self;
        let codings: Vec<&str> = codings.iter().map(|coding| coding.name()).collect();
        let (codings, types) = (codings.join(", "), self.types.join(", "));
        write!(f, "{codings}, level {level}, bodies from {smallest} bytes, {streams} at a time: {types}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16, headers: &[(&'static str, &str)]) -> response::Parts {
        let response = http::Response::builder().status(status);
        let response = headers.iter().fold(response, |response, (name, value)| response.header(*name, *value));
        response.body(()).unwrap().into_parts().0
    }

    #[test]
    fn heads_decide() {
        let compression = Compression::default();
        let concerns = |status, headers: &[(&'static str, &str)]| compression.concerns(&head(status, headers));
        let json = ("content-type", "application/json");
        for kind in ["text/html", "Text/HTML; charset=utf-8", "application/problem+json", "application/atom+xml ;x"] {
            assert!(concerns(200, &[("content-type", kind)]), "{kind}");
        }
        for kind in
            ["image/png", "text/event-stream", "application/grpc", "application/+json", "json", "", "text/html, x"]
        {
            assert!(!concerns(200, &[("content-type", kind)]), "{kind}");
        }
        assert!(!concerns(200, &[]) && concerns(404, &[json]) && concerns(500, &[json]));
        for status in [101, 204, 205, 206, 304] {
            assert!(!concerns(status, &[json]), "{status}");
        }
        for field in [
            ("content-encoding", "br"),
            ("content-encoding", "identity"),
            ("content-range", "bytes 0-1/2"),
            ("cache-control", "max-age=1, No-Transform"),
            ("content-length", "1023"),
        ] {
            assert!(!concerns(200, &[json, field]), "{field:?}");
        }
        assert!(concerns(200, &[json, ("content-length", "1024"), ("cache-control", "private")]));
        let own = compression.clone().with_types(["TEXT/*".to_owned()]).with_smallest(0);
        assert!(own.concerns(&head(200, &[("content-type", "text/x")])) && !own.concerns(&head(200, &[json])));
    }

    #[test]
    fn a_compressed_response_says_so() {
        let mut changed =
            head(200, &[("etag", "\"a\""), ("content-length", "9"), ("accept-ranges", "bytes"), ("digest", "x")]);
        Compression::change(&mut changed, Coding::Zstd);
        assert_eq!(changed.headers.len(), 2);
        assert_eq!(
            (&changed.headers["etag"], &changed.headers["content-encoding"]),
            (&"W/\"a\"".parse().unwrap(), &"zstd".parse().unwrap())
        );
        Compression::change(&mut changed, Coding::Zstd);
        assert_eq!(changed.headers["etag"], "W/\"a\"");
        for (before, lines) in [(None, 1), (Some("origin"), 2), (Some("origin, Accept-Encoding"), 1), (Some("*"), 1)] {
            let mut varied = before.map_or_else(|| head(200, &[]), |before| head(200, &[("vary", before)]));
            Compression::add_vary(&mut varied);
            assert_eq!(varied.headers.get_all("vary").iter().count(), lines, "{before:?}");
        }
    }

    #[test]
    fn open_responses_are_counted() {
        let compression = Compression::default().with_streams(2);
        let (first, second) = (compression.open(), compression.open());
        assert!(first.is_some() && second.is_some() && compression.open().is_none());
        let mut next = Compression::default().with_streams(2);
        next.take_over(&compression);
        assert!(next.open().is_none());
        drop(first);
        assert!(next.open().is_some());
    }
}
