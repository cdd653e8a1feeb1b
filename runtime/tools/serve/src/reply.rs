//! Answers, with the headers that protect the page.
//!
//! Invariant: the `content-security-policy` of every answer forbids scripts, styles and connections that are not those
//! of the page. Test: `runtime/tools/serve/tests/it/hostile.rs::every_answer_forbids_foreign_scripts`.

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value as Json, json};

/// An answer with its whole body.
pub(crate) type Reply = Response<Full<Bytes>>;

/// The page's own script, style, icon and API, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// What a report of the lab may do: have a style. It is a file of the user, shown in an origin of
/// its own (`sandbox`), and runs no script.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PROTECTION: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Returns an answer.
pub(crate) fn with(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    for (name, value) in PROTECTION {
        reply.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    reply
}

/// Returns a page that `celero lab report` wrote.
pub(crate) fn report(html: String) -> Reply {
    let mut reply = with(StatusCode::OK, "text/html; charset=utf-8", html);
    reply.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(REPORT_POLICY));
    reply
}

/// Returns an answer in JSON.
pub(crate) fn json(status: StatusCode, body: &Json) -> Reply {
    with(status, "application/json", body.to_string())
}

/// Returns an error of the API.
pub(crate) fn error(status: StatusCode, message: &str) -> Reply {
    json(status, &json!({ "error": message }))
}
