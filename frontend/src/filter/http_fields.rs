//! The fields that Cloudflare documents for requests and responses, as a table: types, where they
//! have a value, examples. A field without an example has the reason for which it has no value.

use super::scheme::Scheme;
use HttpFieldValue::{Host, Request, RequestBody, Response, Tls};

/// Where a documented field has a value, with an example in the notation of the language's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpFieldValue {
    /// In every phase of a request: it follows from the head of the request, its connection or its time.
    Request(&'static str),
    /// Where the body of the request is read.
    RequestBody(&'static str),
    /// Where there is a response.
    Response(&'static str),
    /// In every phase of a request that came over TLS.
    Tls(&'static str),
    /// Nowhere, unless the host gives it one: why.
    Host(&'static str),
}

/// A documented field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpField {
    /// Its name.
    pub name: &'static str,
    /// Its type. Cloudflare calls `Bytes` a string and `Int` a number.
    pub ty: &'static str,
    /// Where it has a value.
    pub value: HttpFieldValue,
}

const TOKENS: &str = "it is about a token configuration of Cloudflare; a policy verifies tokens by its section `jwt`";
const PLACES: &str = "a list of networks with values says where an address is";
const CERTIFICATES: &str = "rules read the subject, the issuer and the fingerprint of a certificate";
const HELLO: &str = "the TLS library does not say";
const SCHEMAS: &str = "only Cloudflare's API Shield finds it out";
const BOTS: &str = "only Cloudflare's detection of bots finds it out";
const DETECTIONS: &str = "only Cloudflare's detections find it out";
const TIMES: &str = "it is not measured";
const NETWORK: &str = "only Cloudflare's network has it";
const ERRORS: &str = "only Cloudflare's network has such errors";
const PACKETS: &str = "it is about packets, and a proxy reads requests";
const RAW_RESPONSE: &str = "the phase `response` reads the server's headers as `http.response.headers`, and later phases those that rules changed";

/// Name, type and value of each documented field.
#[rustfmt::skip]
const FIELDS: &[(&str, &str, HttpFieldValue)] = &[
    // The request.
    ("http.cookie", "Bytes", Request(r#""session=8521F670545D7865;-background=light""#)),
    ("http.host", "Bytes", Request(r#""www.example.org""#)),
    ("http.referer", "Bytes", Request(r#""https://developer.example.org/en-US/docs""#)),
    ("http.request.full_uri", "Bytes", Request(r#""https://www.example.org/articles/index.html?section=539061&expand=comments""#)),
    ("http.request.method", "Bytes", Request(r#""GET""#)),
    ("http.request.cookies", "Map<Array<Bytes>>", Request(r#"{"-background": ["light"], "session": ["8521F670545D7865"]}"#)),
    ("http.request.timestamp.sec", "Int", Request("1484063137")),
    ("http.request.timestamp.msec", "Int", Request("857")),
    ("http.request.uri", "Bytes", Request(r#""/articles/index.html?section=539061&expand=comments""#)),
    ("http.request.uri.path", "Bytes", Request(r#""/articles/index.html""#)),
    ("http.request.uri.path.extension", "Bytes", Request(r#""html""#)),
    ("http.request.uri.query", "Bytes", Request(r#""section=539061&expand=comments""#)),
    ("http.request.uri.args", "Map<Array<Bytes>>", Request(r#"{"expand": ["comments"], "section": ["539061"]}"#)),
    ("http.request.uri.args.names", "Array<Bytes>", Request(r#"["section", "expand"]"#)),
    ("http.request.uri.args.values", "Array<Bytes>", Request(r#"["539061", "comments"]"#)),
    ("http.user_agent", "Bytes", Request(r#""Mozilla/5.0 (X11; Linux x86_64)""#)),
    ("http.request.version", "Bytes", Request(r#""HTTP/2""#)),
    ("http.x_forwarded_for", "Bytes", Request(r#""203.0.113.195, 70.41.3.18""#)),
    ("http.request.headers", "Map<Array<Bytes>>", Request(r#"{"content-type": ["application/json"]}"#)),
    ("http.request.headers.names", "Array<Bytes>", Request(r#"["content-type"]"#)),
    ("http.request.headers.values", "Array<Bytes>", Request(r#"["application/json"]"#)),
    ("http.request.headers.truncated", "Bool", Request("false")),
    ("http.request.accepted_languages", "Array<Bytes>", Request(r#"["fr-CH", "en", "fr", "de"]"#)),
    // Its body.
    ("http.request.body.raw", "Bytes", RequestBody(r#""username=admin""#)),
    ("http.request.body.truncated", "Bool", RequestBody("false")),
    ("http.request.body.size", "Int", RequestBody("14")),
    ("http.request.body.form", "Map<Array<Bytes>>", RequestBody(r#"{"username": ["admin"]}"#)),
    ("http.request.body.form.names", "Array<Bytes>", RequestBody(r#"["username"]"#)),
    ("http.request.body.form.values", "Array<Bytes>", RequestBody(r#"["admin"]"#)),
    ("http.request.body.mime", "Bytes", RequestBody(r#""image/gif""#)),
    ("http.request.body.multipart", "Map<Array<Bytes>>", RequestBody(r#"{"picture": ["JPEG"], "username": ["alice_doe"]}"#)),
    ("http.request.body.multipart.names", "Array<Array<Bytes>>", RequestBody(r#"[["username"], ["picture"]]"#)),
    ("http.request.body.multipart.values", "Array<Bytes>", RequestBody(r#"["alice_doe", "JPEG"]"#)),
    ("http.request.body.multipart.content_types", "Array<Array<Bytes>>", RequestBody(r#"[["text/plain"], ["image/jpeg"]]"#)),
    ("http.request.body.multipart.content_dispositions", "Array<Array<Bytes>>", RequestBody(r#"[["form-data; name=\"username\""], ["form-data; name=\"picture\"; filename=\"photo.jpg\""]]"#)),
    ("http.request.body.multipart.content_transfer_encodings", "Array<Array<Bytes>>", RequestBody(r#"[["quoted-printable"], ["binary"]]"#)),
    ("http.request.body.multipart.filenames", "Array<Array<Bytes>>", RequestBody(r#"[[], ["photo.jpg"]]"#)),
    // As they arrived, before rules changed them.
    ("raw.http.request.full_uri", "Bytes", Request(r#""https://www.example.org/articles/%69ndex.html?section=539061&expand=%63omments""#)),
    ("raw.http.request.uri", "Bytes", Request(r#""/articles/%69ndex.html?section=539061&expand=%63omments""#)),
    ("raw.http.request.uri.path", "Bytes", Request(r#""/articles/%69ndex.html""#)),
    ("raw.http.request.uri.path.extension", "Bytes", Request(r#""html""#)),
    ("raw.http.request.uri.query", "Bytes", Request(r#""section=539061&expand=%63omments""#)),
    ("raw.http.request.uri.args", "Map<Array<Bytes>>", Request(r#"{"expand": ["%63omments"], "section": ["539061"]}"#)),
    ("raw.http.request.uri.args.names", "Array<Bytes>", Request(r#"["section", "expand"]"#)),
    ("raw.http.request.uri.args.values", "Array<Bytes>", Request(r#"["539061", "%63omments"]"#)),
    ("raw.http.response.headers", "Map<Array<Bytes>>", Host(RAW_RESPONSE)),
    ("raw.http.response.headers.names", "Array<Bytes>", Host(RAW_RESPONSE)),
    ("raw.http.response.headers.values", "Array<Bytes>", Host(RAW_RESPONSE)),
    // JSON Web Tokens.
    ("http.request.jwt.claims", "Map<Array<Bytes>>", Host(TOKENS)),
    ("http.request.jwt.claims.aud", "Map<Array<Bytes>>", Host(TOKENS)),
    ("http.request.jwt.claims.aud.names", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.aud.values", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.iss", "Map<Array<Bytes>>", Host(TOKENS)),
    ("http.request.jwt.claims.iss.names", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.iss.values", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.jti", "Map<Array<Bytes>>", Host(TOKENS)),
    ("http.request.jwt.claims.jti.names", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.jti.values", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.sub", "Map<Array<Bytes>>", Host(TOKENS)),
    ("http.request.jwt.claims.sub.names", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.sub.values", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.iat.sec", "Map<Array<Int>>", Host(TOKENS)),
    ("http.request.jwt.claims.iat.sec.names", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.iat.sec.values", "Array<Int>", Host(TOKENS)),
    ("http.request.jwt.claims.nbf.sec", "Map<Array<Int>>", Host(TOKENS)),
    ("http.request.jwt.claims.nbf.sec.names", "Array<Bytes>", Host(TOKENS)),
    ("http.request.jwt.claims.nbf.sec.values", "Array<Int>", Host(TOKENS)),
    // The response.
    ("http.response.code", "Int", Response("403")),
    ("http.response.headers", "Map<Array<Bytes>>", Response(r#"{"server": ["nginx"]}"#)),
    ("http.response.headers.names", "Array<Bytes>", Response(r#"["server"]"#)),
    ("http.response.headers.values", "Array<Bytes>", Response(r#"["nginx"]"#)),
    ("http.response.content_type.media_type", "Bytes", Response(r#""text/html""#)),
    ("cf.response.1xxx_code", "Int", Host(ERRORS)),
    ("cf.response.error_type", "Bytes", Host(ERRORS)),
    // The client.
    ("ip.src", "Ip", Request("93.184.216.34")),
    ("ip.src.lat", "Bytes", Host(PLACES)),
    ("ip.src.lon", "Bytes", Host(PLACES)),
    ("ip.src.city", "Bytes", Host(PLACES)),
    ("ip.src.postal_code", "Bytes", Host(PLACES)),
    ("ip.src.metro_code", "Bytes", Host(PLACES)),
    ("ip.src.region", "Bytes", Host(PLACES)),
    ("ip.src.region_code", "Bytes", Host(PLACES)),
    ("ip.src.timezone.name", "Bytes", Host(PLACES)),
    ("ip.src.asnum", "Int", Host(PLACES)),
    ("ip.src.continent", "Bytes", Host(PLACES)),
    ("ip.src.country", "Bytes", Host(PLACES)),
    ("ip.src.subdivision_1_iso_code", "Bytes", Host(PLACES)),
    ("ip.src.subdivision_2_iso_code", "Bytes", Host(PLACES)),
    ("ip.src.is_in_european_union", "Bool", Host(PLACES)),
    ("ssl", "Bool", Request("true")),
    // Former names of the client's fields.
    ("ip.geoip.asnum", "Int", Host(PLACES)),
    ("ip.geoip.continent", "Bytes", Host(PLACES)),
    ("ip.geoip.country", "Bytes", Host(PLACES)),
    ("ip.geoip.subdivision_1_iso_code", "Bytes", Host(PLACES)),
    ("ip.geoip.subdivision_2_iso_code", "Bytes", Host(PLACES)),
    ("ip.geoip.is_in_european_union", "Bool", Host(PLACES)),
    // TLS.
    ("cf.tls_client_auth.cert_revoked", "Bool", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_verified", "Bool", Tls("true")),
    ("cf.tls_client_auth.cert_presented", "Bool", Tls("true")),
    ("cf.tls_client_auth.cert_rfc9440_too_large", "Bool", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_chain_rfc9440_too_large", "Bool", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_issuer_dn", "Bytes", Tls(r#""CN=Access Testing CA,OU=TX,O=Access Testing,L=Austin,ST=Texas,C=US""#)),
    ("cf.tls_client_auth.cert_subject_dn", "Bytes", Tls(r#""CN=James Royal,OU=Access Admins,O=Access,L=Austin,ST=Texas,C=US""#)),
    ("cf.tls_client_auth.cert_issuer_dn_rfc2253", "Bytes", Tls(r#""CN=Access Testing CA,OU=TX,O=Access Testing,L=Austin,ST=Texas,C=US""#)),
    ("cf.tls_client_auth.cert_subject_dn_rfc2253", "Bytes", Tls(r#""CN=James Royal,OU=Access Admins,O=Access,L=Austin,ST=Texas,C=US""#)),
    ("cf.tls_client_auth.cert_issuer_dn_legacy", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_subject_dn_legacy", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_serial", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_issuer_serial", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_fingerprint_sha256", "Bytes", Tls(r#""af363dc85bc942a892d3cee9796190fdb36d89cd588a4f1cb17c74a943439714""#)),
    ("cf.tls_client_auth.cert_fingerprint_sha1", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_not_before", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_not_after", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_ski", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_issuer_ski", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_rfc9440", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_client_auth.cert_chain_rfc9440", "Bytes", Host(CERTIFICATES)),
    ("cf.tls_cipher", "Bytes", Tls(r#""ECDHE-RSA-AES128-GCM-SHA256""#)),
    ("cf.tls_client_extensions_sha1", "Bytes", Host(HELLO)),
    ("cf.tls_client_extensions_sha1_le", "Bytes", Host(HELLO)),
    ("cf.tls_ciphers_sha1", "Bytes", Host(HELLO)),
    ("cf.tls_client_hello_length", "Int", Host(HELLO)),
    ("cf.tls_client_random", "Bytes", Host(HELLO)),
    ("cf.tls_version", "Bytes", Tls(r#""TLSv1.2""#)),
    // What Cloudflare knows of a request; a host gives what it knows itself.
    ("cf.api_gateway.auth_id_present", "Bool", Host(SCHEMAS)),
    ("cf.api_gateway.request_violates_schema", "Bool", Host(SCHEMAS)),
    ("cf.api_gateway.fallthrough_detected", "Bool", Host(SCHEMAS)),
    ("cf.schema_validation.learned.violated", "Bool", Host(SCHEMAS)),
    ("cf.schema_validation.uploaded.violated", "Bool", Host(SCHEMAS)),
    ("cf.bot_management.verified_bot", "Bool", Host(BOTS)),
    ("cf.verified_bot_category", "Bytes", Host(BOTS)),
    ("cf.bot_management.score", "Int", Host(BOTS)),
    ("cf.bot_management.static_resource", "Bool", Host(BOTS)),
    ("cf.bot_management.ja3_hash", "Bytes", Host(BOTS)),
    ("cf.bot_management.ja4", "Bytes", Host(BOTS)),
    ("cf.bot_management.js_detection.passed", "Bool", Host(BOTS)),
    ("cf.bot_management.detection_ids", "Array<Int>", Host(BOTS)),
    ("cf.bot_management.corporate_proxy", "Bool", Host(BOTS)),
    ("cf.bot_management.signed_agent", "Bool", Host(BOTS)),
    ("cf.client.bot", "Bool", Host(BOTS)),
    ("cf.edge.server_ip", "Ip", Request("198.51.100.7")),
    ("cf.edge.server_port", "Int", Request("443")),
    ("cf.edge.client_tcp", "Bool", Request("true")),
    ("cf.edge.l4.delivery_rate", "Int", Host(TIMES)),
    ("cf.hostname.metadata", "Bytes", Host(NETWORK)),
    ("cf.random_seed", "Bytes", Host(NETWORK)),
    ("cf.ray_id", "Bytes", Host(NETWORK)),
    ("cf.threat_score", "Int", Host(DETECTIONS)),
    ("cf.timings.client_tcp_rtt_msec", "Int", Host(TIMES)),
    ("cf.timings.client_quic_rtt_msec", "Int", Host(TIMES)),
    ("cf.timings.edge_msec", "Int", Host(TIMES)),
    ("cf.timings.origin_ttfb_msec", "Int", Host(TIMES)),
    ("cf.timings.worker_msec", "Int", Host(TIMES)),
    ("cf.worker.upstream_zone", "Bytes", Host(NETWORK)),
    ("cf.zone.name", "Bytes", Host(NETWORK)),
    // Scores and findings of Cloudflare's detections.
    ("cf.waf.content_scan.has_obj", "Bool", Host(DETECTIONS)),
    ("cf.waf.content_scan.has_malicious_obj", "Bool", Host(DETECTIONS)),
    ("cf.waf.content_scan.num_malicious_obj", "Int", Host(DETECTIONS)),
    ("cf.waf.content_scan.has_failed", "Bool", Host(DETECTIONS)),
    ("cf.waf.content_scan.num_obj", "Int", Host(DETECTIONS)),
    ("cf.waf.content_scan.obj_sizes", "Array<Int>", Host(DETECTIONS)),
    ("cf.waf.content_scan.obj_types", "Array<Bytes>", Host(DETECTIONS)),
    ("cf.waf.content_scan.obj_results", "Array<Bytes>", Host(DETECTIONS)),
    ("cf.waf.score", "Int", Host(DETECTIONS)),
    ("cf.waf.score.sqli", "Int", Host(DETECTIONS)),
    ("cf.waf.score.xss", "Int", Host(DETECTIONS)),
    ("cf.waf.score.rce", "Int", Host(DETECTIONS)),
    ("cf.waf.score.class", "Bytes", Host(DETECTIONS)),
    ("cf.waf.ml.score", "Int", Host(DETECTIONS)),
    ("cf.waf.auth_detected", "Bool", Host(DETECTIONS)),
    ("cf.waf.credential_check.password_leaked", "Bool", Host(DETECTIONS)),
    ("cf.waf.credential_check.username_leaked", "Bool", Host(DETECTIONS)),
    ("cf.waf.credential_check.username_and_password_leaked", "Bool", Host(DETECTIONS)),
    ("cf.waf.credential_check.username_password_similar", "Bool", Host(DETECTIONS)),
    ("cf.llm.prompt.detected", "Bool", Host(DETECTIONS)),
    ("cf.llm.prompt.pii_detected", "Bool", Host(DETECTIONS)),
    ("cf.llm.prompt.pii_categories", "Array<Bytes>", Host(DETECTIONS)),
    ("cf.llm.prompt.unsafe_topic_detected", "Bool", Host(DETECTIONS)),
    ("cf.llm.prompt.unsafe_topic_categories", "Array<Bytes>", Host(DETECTIONS)),
    ("cf.llm.prompt.injection_score", "Int", Host(DETECTIONS)),
    ("cf.llm.prompt.token_count", "Int", Host(DETECTIONS)),
    ("cf.llm.prompt.custom_topic_categories", "Map<Int>", Host(DETECTIONS)),
    // Packets.
    ("ip.addr", "Ip", Request("93.184.216.34")),
    ("ip.dst", "Ip", Request("198.51.100.7")),
    ("ip.dst.country", "Bytes", Host(PLACES)),
    ("ip.proto", "Bytes", Host(PACKETS)),
    ("ip.proto.num", "Int", Host(PACKETS)),
    ("ip.len", "Int", Host(PACKETS)),
    ("ip.hdr_len", "Int", Host(PACKETS)),
    ("ip.ttl", "Int", Host(PACKETS)),
    ("ip.id", "Int", Host(PACKETS)),
    ("ip.opt.type", "Int", Host(PACKETS)),
    ("tcp", "Bytes", Host(PACKETS)),
    ("tcp.srcport", "Int", Request("4711")),
    ("tcp.dstport", "Int", Request("443")),
    ("tcp.flags", "Int", Host(PACKETS)),
    ("tcp.flags.ack", "Bool", Host(PACKETS)),
    ("tcp.flags.cwr", "Bool", Host(PACKETS)),
    ("tcp.flags.ecn", "Bool", Host(PACKETS)),
    ("tcp.flags.fin", "Bool", Host(PACKETS)),
    ("tcp.flags.push", "Bool", Host(PACKETS)),
    ("tcp.flags.reset", "Bool", Host(PACKETS)),
    ("tcp.flags.syn", "Bool", Host(PACKETS)),
    ("tcp.flags.urg", "Bool", Host(PACKETS)),
    ("udp", "Bytes", Host(PACKETS)),
    ("udp.srcport", "Int", Host(PACKETS)),
    ("udp.dstport", "Int", Host(PACKETS)),
    ("icmp", "Bytes", Host(PACKETS)),
    ("icmp.type", "Int", Host(PACKETS)),
    ("icmp.code", "Int", Host(PACKETS)),
    // Behind `tcp.srcport`: translations write the first field with a value.
    ("cf.edge.client_port", "Int", Request("4711")),
];

/// The documented fields.
pub fn http_fields() -> impl ExactSizeIterator<Item = HttpField> {
    FIELDS.iter().map(|&(name, ty, value)| HttpField { name, ty, value })
}

/// The scheme of HTTP: the documented fields and functions, and the constants `true` and `false`. It has no lists.
///
/// A host gives the fields that it knows; the others are missing, so comparisons with them are false.
#[must_use]
pub fn http_scheme() -> Scheme {
    let mut scheme = Scheme::new();
    for (name, ty, _) in FIELDS {
        let declared = ty.parse().map(|ty| scheme.add_field(name, ty));
        debug_assert!(matches!(declared, Ok(Ok(_))), "{name}");
    }
    for (name, value) in [("true", true), ("false", false)] {
        let declared = scheme.add_constant(name, value);
        debug_assert!(declared.is_ok(), "{name}");
    }
    scheme
}
