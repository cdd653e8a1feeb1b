//! Trailers: fields after the body. Servers may merge them into the head, so they may not carry what a policy decides.

use crate::guarded::GuardedNames;
use http::{HeaderMap, HeaderName};

/// Fields that a recipient needs before the content (RFC 9110, section 6.5.1), besides those that are always guarded.
const NEVER: [&str; 26] = [
    "age",
    "cache-control",
    "content-encoding",
    "content-range",
    "content-type",
    "date",
    "expect",
    "expires",
    "http2-settings",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "location",
    "max-forwards",
    "pragma",
    "proxy-authenticate",
    "proxy-connection",
    "range",
    "retry-after",
    "set-cookie",
    "vary",
    "warning",
    "www-authenticate",
];

/// Removes from trailers what RFC 9110, section 6.5.1, forbids there, and the guarded names, those
/// of [`GuardedNames::ALWAYS`] included, with their imitations. Call it for the trailers of
/// requests and of responses. Without trailers it does nothing.
pub fn clean_trailers(trailers: &mut HeaderMap, guarded: &GuardedNames) {
    let wrong = |name: &&HeaderName| NEVER.contains(&name.as_str()) || guarded.covers_or_always(name);
    let found: Vec<HeaderName> = trailers.keys().filter(wrong).cloned().collect();
    for name in found {
        trailers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn trailers_keep_what_decides_nothing() {
        let mut trailers = HeaderMap::new();
        for name in ["grpc-status", "host", "x-user", "x_user", "content-length", "x-checksum", "x-real-ip"] {
            trailers.append(HeaderName::from_static(name), HeaderValue::from_static("1"));
        }
        let mut guarded = GuardedNames::default();
        guarded.add("x-user");
        clean_trailers(&mut trailers, &guarded);
        let mut left: Vec<_> = trailers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["grpc-status", "x-checksum"]);
    }
}
