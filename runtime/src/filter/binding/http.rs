//! The fields that Cloudflare documents, as expressions over the variables of
//! [`RequestContext`](crate::http::RequestContext) and of policies. Fields without a row are
//! missing, unless the host adds them.

use super::source::{Derivation, PartValue, Source};
use super::spelling::Words;
use celero_frontend::filter::FilterType;

/// Name and value. A field whose expression mentions a variable that the environment does not have is missing.
const VALUES: &[(&str, &str)] = &[
    ("http.cookie", "request.headers['cookie']"),
    ("http.host", "request.host"),
    ("http.referer", "request.headers['referer']"),
    ("http.user_agent", "request.headers['user-agent']"),
    ("http.x_forwarded_for", "request.headers['x-forwarded-for']"),
    ("http.request.method", "request.method"),
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
    ("http.request.timestamp.msec", "request.startTime.getMilliseconds()"),
    (
        "raw.http.request.full_uri",
        "default(request.scheme, 'http') + '://' + request.host + default(':' + string(request.port), '') + \
         (request.rawPath == '*' ? '' : request.rawPath)",
    ),
    ("raw.http.request.uri", "request.rawPath"),
    ("raw.http.request.uri.path", "request.rawPath.split('?', 2)[0]"),
    ("raw.http.request.uri.query", RAW_QUERY),
    ("http.response.code", "response.code"),
    ("http.response.headers", "response.headers"),
    ("ip.src", "source.address"),
    ("ip.addr", "source.address"),
    ("ip.dst", "destination.address"),
    ("cf.edge.server_ip", "destination.address"),
    ("cf.edge.server_port", "destination.port"),
    ("cf.edge.client_port", "source.port"),
    ("cf.edge.client_tcp", "request.version != 'HTTP/3.0'"),
    ("cf.tls_version", "source.tls.version"),
    // The host verifies every certificate that it takes.
    ("cf.tls_client_auth.cert_presented", "has(source.tls.fingerprint)"),
    ("cf.tls_client_auth.cert_verified", "has(source.tls.fingerprint)"),
    ("cf.tls_client_auth.cert_fingerprint_sha256", "default(source.tls.fingerprint, '')"),
    ("cf.tls_client_auth.cert_issuer_dn", "default(source.tls.issuer, '')"),
    ("cf.tls_client_auth.cert_issuer_dn_rfc2253", "default(source.tls.issuer, '')"),
    ("cf.tls_client_auth.cert_subject_dn", "default(source.tls.subject, '')"),
    ("cf.tls_client_auth.cert_subject_dn_rfc2253", "default(source.tls.subject, '')"),
    ("tcp.srcport", "source.port"),
    ("tcp.dstport", "destination.port"),
    ("ssl", "default(request.scheme, 'http') == 'https'"),
];

/// Fields that have the values of a variable in other words: name, variable, and the words of both.
const SPELLED: &[(&str, &str, Words)] = &[
    ("http.request.version", "request.version", &[("HTTP/2.0", "HTTP/2"), ("HTTP/3.0", "HTTP/3")]),
    (
        "cf.tls_cipher",
        "source.tls.cipher",
        &[
            ("TLS_AES_128_GCM_SHA256", "AEAD-AES128-GCM-SHA256"),
            ("TLS_AES_256_GCM_SHA384", "AEAD-AES256-GCM-SHA384"),
            ("TLS_CHACHA20_POLY1305_SHA256", "AEAD-CHACHA20-POLY1305-SHA256"),
            ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
            ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
            ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
            ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
            ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
            ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ],
    ),
];

/// The query of the target as it was received.
const RAW_QUERY: &str = "request.rawPath.contains('?') ? request.rawPath.split('?', 2)[1] : ''";

/// A body and what its header says it is.
const TYPED_BODY: &str = "[bytes(request.headers['content-type']), request.body]";

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
    ("raw.http.request.uri.args", Derivation::Arguments, RAW_QUERY),
    ("raw.http.request.uri.args.names", Derivation::ArgumentNames, RAW_QUERY),
    ("raw.http.request.uri.args.values", Derivation::ArgumentValues, RAW_QUERY),
    ("http.request.body.mime", Derivation::Mime, "request.body"),
    ("http.request.body.form", Derivation::Form, TYPED_BODY),
    ("http.request.body.form.names", Derivation::FormNames, TYPED_BODY),
    ("http.request.body.form.values", Derivation::FormValues, TYPED_BODY),
    ("http.request.body.multipart", Derivation::Multipart, TYPED_BODY),
    ("http.request.body.multipart.names", Derivation::Parts(PartValue::Names), TYPED_BODY),
    ("http.request.body.multipart.values", Derivation::Parts(PartValue::Content), TYPED_BODY),
    ("http.request.body.multipart.content_types", Derivation::Parts(PartValue::Types), TYPED_BODY),
    ("http.request.body.multipart.content_dispositions", Derivation::Parts(PartValue::Dispositions), TYPED_BODY),
    ("http.request.body.multipart.content_transfer_encodings", Derivation::Parts(PartValue::Encodings), TYPED_BODY),
    ("http.request.body.multipart.filenames", Derivation::Parts(PartValue::FileNames), TYPED_BODY),
    ("http.response.content_type.media_type", Derivation::MediaType, "response.headers['content-type']"),
    ("http.response.headers.names", Derivation::HeaderNames, "response.headers"),
    ("http.response.headers.values", Derivation::HeaderValues, "response.headers"),
];

/// The sources of the documented fields that an environment has. `source` gives that of an expression.
pub(super) fn sources(source: impl Fn(&str) -> Option<(FilterType, Source)>) -> Vec<(&'static str, Source)> {
    let values = VALUES.iter().filter_map(|(name, cel)| Some((*name, source(cel)?.1)));
    let spelled =
        SPELLED.iter().filter_map(|(name, variable, words)| Some((*name, source(&translated(variable, words))?.1)));
    let derived =
        DERIVED.iter().filter_map(|(name, how, cel)| Some((*name, Source::Derived(*how, Box::new(source(cel)?.1)))));
    values.chain(spelled).chain(derived).collect()
}

/// Returns the expression whose value a documented field has.
pub(crate) fn expression_of(field: &str) -> Option<&'static str> {
    VALUES.iter().find(|(name, _)| *name == field).map(|(_, cel)| *cel)
}

/// The value of a variable in the words of a field, as CEL.
fn translated(variable: &str, words: Words) -> String {
    words.iter().rev().fold(variable.to_owned(), |otherwise, (of_variable, of_field)| {
        format!("{variable} == '{of_variable}' ? '{of_field}' : ({otherwise})")
    })
}

/// The fields that have the values of a variable in other words, with its name.
pub(super) fn spelled() -> impl Iterator<Item = (&'static str, &'static str, Words)> {
    SPELLED.iter().copied()
}
