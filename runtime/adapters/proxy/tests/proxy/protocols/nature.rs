//! What differs between protocols by nature, with the value that is right in each.

use super::random_request::RandomRequest;
use super::ways::{TLS_NAME, Way};
use serde_json::{Map, Value as Json, json};

/// How a value of one way follows from that of another one.
pub(super) enum Nature {
    /// They are equal.
    Same,
    /// It is this one. `None`: the attribute is absent.
    Is(Option<Json>),
    /// Nothing is compared.
    Any,
}

/// Whether a field says how HTTP/1.1 frames a body, which HTTP/2 does otherwise.
pub(super) fn is_framing_of_http1(name: &str) -> bool {
    name == "transfer-encoding"
}

/// Returns what is right for a log field, `phase|language|attribute`, of a request that came in a
/// way. `ports` are those of the listeners without and with TLS.
pub(super) fn nature(
    name: &str,
    request: &RandomRequest,
    way: Way,
    fields: &Map<String, Json>,
    ports: [u16; 2],
) -> Nature {
    let (rest, attribute) = name.rsplit_once('|').unwrap_or(("", name));
    let phase = rest.split('|').next().unwrap_or_default();
    let is = |value: &str| Nature::Is(Some(value.into()));
    let tls = |value: &str| Nature::Is(way.has_tls().then(|| value.into()));
    // An element of an array is what the array is.
    let indexed = attribute.split('[').next().unwrap_or(attribute);
    match indexed {
        "request.version" => is(way.version()),
        // Cloudflare's documentation has no minor version of HTTP/2.
        "http.request.version" => is(way.version().strip_suffix("2.0").map_or(way.version(), |_| "HTTP/2")),
        "request.scheme" => Nature::Is(way.scheme().map(Json::from)),
        "request.fullUri" | "http.request.full_uri" | "raw.http.request.full_uri" => {
            let of = |attribute: &str| fields.get(&format!("{phase}|cel|{attribute}")).cloned().unwrap_or_default();
            let target = if indexed.starts_with("raw.") { "request.rawPath" } else { "request.uri" };
            let (headers, uri) = (of("request.headers"), of(target));
            let path = uri.as_str().unwrap_or_default().trim_start_matches('*').to_owned();
            let host = headers["host"].as_str().unwrap_or_default();
            is(&format!("{}://{host}{path}", way.scheme().unwrap_or("http")))
        }
        "ssl" => Nature::Is(Some(way.has_tls().into())),
        "source.tls.version" | "cf.tls_version" => tls("TLSv1.3"),
        "cf.tls_cipher" => tls("AEAD-AES256-GCM-SHA384"),
        "cf.tls_client_auth.cert_presented" | "cf.tls_client_auth.cert_verified" => {
            Nature::Is(Some(way.has_tls().into()))
        }
        "cf.tls_client_auth.cert_subject_dn" | "cf.tls_client_auth.cert_subject_dn_rfc2253" => {
            is(if way.has_tls() { "O=Example\\, Inc.,CN=ada" } else { "" })
        }
        "cf.tls_client_auth.cert_issuer_dn" | "cf.tls_client_auth.cert_issuer_dn_rfc2253" => {
            is(if way.has_tls() { "CN=tests" } else { "" })
        }
        "cf.tls_client_auth.cert_fingerprint_sha256" if way.has_tls() => Nature::Any,
        "source.tls.cipher" => tls("TLS_AES_256_GCM_SHA384"),
        "source.tls.sni" => tls(TLS_NAME),
        "source.tls.subject" => tls("O=Example\\, Inc.,CN=ada"),
        "source.tls.issuer" => tls("CN=tests"),
        "source.tls.spiffeId" => tls("spiffe://example/ada"),
        "source.tls.sans" => {
            let sans = json!(["URI:spiffe://example/ada", "DNS:client.example"]);
            Nature::Is(way.has_tls().then(|| match attribute.strip_prefix("source.tls.sans[") {
                Some(index) => sans[index.trim_end_matches(']').parse::<usize>().unwrap()].clone(),
                None => sans,
            }))
        }
        // The certificate is new in each run.
        "source.tls.fingerprint" if way.has_tls() && fields.contains_key(name) => Nature::Any,
        "source.tls.fingerprint" => Nature::Is(None),
        "clientCert" if way.has_tls() => Nature::Any,
        "destination.port" | "tcp.dstport" | "cf.edge.server_port" => {
            Nature::Is(Some(ports[usize::from(way.has_tls())].into()))
        }
        // Each connection has a port of its own, and each request its time.
        "source.port" | "tcp.srcport" | "cf.edge.client_port" | "request.startTime" | "request.duration" => Nature::Any,
        // The log has the fields of the response as the client got it: those of the connection, and the date.
        "response.headers" | "response.headers.raw()" if phase == "log" => Nature::Any,
        "http.response.headers.names" | "http.response.headers.values" if phase == "log" => Nature::Any,
        "http.request.timestamp.sec" | "http.request.timestamp.msec" => Nature::Any,
        // Only a client of HTTP/1.1 sends `transfer-encoding`, which moves the fields that follow it.
        _ if request.is_chunked() && attribute.starts_with("http.request.headers.names") => Nature::Any,
        _ if request.is_chunked() && attribute.starts_with("http.request.headers.values") => Nature::Any,
        _ => Nature::Same,
    }
}
