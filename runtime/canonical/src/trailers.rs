//! Trailers: fields after the body. Servers may merge them into the head, so they may not carry what a policy decides.

use crate::guarded::GuardedNames;
use http::{HeaderMap, HeaderName};

/// Fields that a recipient needs before the content, or that frame and route it (RFC 9110, section 6.5.1).
const NEVER: [&str; 26] = [
    "age",
    "authorization",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "location",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "vary",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
];

/// Removes from trailers what RFC 9110, section 6.5.1, forbids there, and the guarded names with their imitations. Call it for the
/// trailers of requests and of responses. Without trailers it does nothing.
pub fn clean_trailers(trailers: &mut HeaderMap, guarded: &GuardedNames) {
    let wrong = |name: &&HeaderName| NEVER.contains(&name.as_str()) || guarded.covers(name);
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
        for name in ["grpc-status", "host", "x-user", "x_user", "content-length", "x-checksum"] {
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
