//! The fields that Cloudflare documents, as expressions over the variables of [`RequestContext`](crate::http::RequestContext) and of
//! policies. Fields without a row are missing, unless the host adds them.

use super::source::{Derivation, Source};
use celero_frontend::filter::FilterType;

/// Name and value. A field whose expression mentions a variable that the environment does not have is missing.
const VALUES: &[(&str, &str)] = &[
    ("http.cookie", "request.headers['cookie']"),
    ("http.host", "request.host"),
    ("http.referer", "request.headers['referer']"),
    ("http.user_agent", "request.headers['user-agent']"),
    ("http.x_forwarded_for", "request.headers['x-forwarded-for']"),
    ("http.request.method", "request.method"),
    ("http.request.version", "request.version"),
    ("http.request.uri", "request.pathAndQuery"),
    ("http.request.uri.path", "request.path"),
    ("http.request.uri.query", "default(request.query, '')"),
    ("http.request.full_uri", "request.fullUri"),
    ("http.request.headers", "request.headers"),
    ("http.request.headers.truncated", "false"),
    ("http.request.body.raw", "request.body"),
    ("http.request.body.size", "size(request.body)"),
    ("http.request.body.truncated", "false && has(request.body)"),
    ("http.request.timestamp.sec", "int(request.startTime)"),
    ("raw.http.request.uri", "request.rawPath"),
    ("raw.http.request.uri.path", "request.rawPath.split('?', 2)[0]"),
    ("raw.http.request.uri.query", "request.rawPath.contains('?') ? request.rawPath.split('?', 2)[1] : ''"),
    ("http.response.code", "response.code"),
    ("http.response.headers", "response.headers"),
    ("ip.src", "source.address"),
    ("ip.addr", "source.address"),
    ("ip.dst", "destination.address"),
    ("cf.edge.server_ip", "destination.address"),
    ("cf.edge.server_port", "destination.port"),
    ("tcp.srcport", "source.port"),
    ("tcp.dstport", "destination.port"),
    ("ssl", "default(request.scheme, 'http') == 'https'"),
];

/// Name, how it is derived, and the value from which.
const DERIVED: &[(&str, Derivation, &str)] = &[
    ("http.request.cookies", Derivation::Cookies, "request.headers['cookie']"),
    ("http.request.uri.path.extension", Derivation::Extension, "request.path"),
    ("http.request.uri.args", Derivation::Arguments, "default(request.query, '')"),
    ("http.request.uri.args.names", Derivation::ArgumentNames, "default(request.query, '')"),
    ("http.request.uri.args.values", Derivation::ArgumentValues, "default(request.query, '')"),
    ("http.request.headers.names", Derivation::HeaderNames, "request.headers"),
    ("http.request.headers.values", Derivation::HeaderValues, "request.headers"),
    ("http.request.accepted_languages", Derivation::Languages, "request.headers['accept-language']"),
    ("raw.http.request.uri.path.extension", Derivation::Extension, "request.rawPath.split('?', 2)[0]"),
    (
        "raw.http.request.uri.args",
        Derivation::Arguments,
        "request.rawPath.contains('?') ? request.rawPath.split('?', 2)[1] : ''",
    ),
    ("http.response.headers.names", Derivation::HeaderNames, "response.headers"),
    ("http.response.headers.values", Derivation::HeaderValues, "response.headers"),
];

/// The sources of the documented fields that an environment has. `source` gives that of an expression.
pub(super) fn sources(source: impl Fn(&str) -> Option<(FilterType, Source)>) -> Vec<(&'static str, Source)> {
    let values = VALUES.iter().filter_map(|(name, cel)| Some((*name, source(cel)?.1)));
    let derived =
        DERIVED.iter().filter_map(|(name, how, cel)| Some((*name, Source::Derived(*how, Box::new(source(cel)?.1)))));
    values.chain(derived).collect()
}
