//! Requests to a collector of OpenTelemetry: OTLP over HTTP, in protobuf.

use crate::config::Collector as Config;
use crate::config::settings::without_secrets;
use crate::error::Error;
use crate::http_client::agent;
use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response};
use opentelemetry::KeyValue;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_sdk::Resource;
use percent_encoding::percent_decode_str;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use ureq::Agent;

/// How long the collector may take for a request.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// How long the last requests may take when the proxy ends.
pub(crate) const END: Duration = Duration::from_secs(2);

/// The largest answer of a collector that is read, in bytes.
const LARGEST_ANSWER: u64 = 64 * 1024;

/// A client for collectors. It blocks, so it is for threads that serve no requests.
pub(crate) struct CollectorClient(Agent);

impl CollectorClient {
    pub(crate) fn new() -> Self {
        Self(agent())
    }

    /// Sends a request, and returns the answer, whatever its status. Blocks for at most `timeout`.
    ///
    /// # Errors
    /// Returns an error if there is no answer, or it has more than 64 KiB.
    pub(crate) fn send(&self, request: Request<Bytes>, timeout: Duration) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let request = self.0.configure_request(Request::from_parts(head, &*body));
        let request = request.http_status_as_error(false).timeout_global(Some(timeout)).build();
        let (head, mut body) = self.0.run(request)?.into_parts();
        let body = body.with_config().limit(LARGEST_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(head, body.into()))
    }
}

impl std::fmt::Debug for CollectorClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CollectorClient")
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        self.send(request, TIMEOUT)
    }
}

/// The attribute that tells one process from another of the same service
/// ([service](https://opentelemetry.io/docs/specs/semconv/resource/service/)). Without it, counters
/// of several proxies would be one.
const INSTANCE: &str = "service.instance.id";

/// Returns what all that is sent to a collector is about: the attributes of the resource.
pub(crate) fn resource(config: &Config) -> Resource {
    static RANDOM: LazyLock<String> =
        LazyLock::new(|| uuid::Builder::from_random_bytes(fastrand::u128(..).to_ne_bytes()).into_uuid().to_string());
    let is_named = config.attributes.iter().any(|(name, _)| name == INSTANCE);
    let instance = (!is_named).then(|| KeyValue::new(INSTANCE, RANDOM.clone()));
    let attributes = config.attributes.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    Resource::builder_empty()
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_attributes(attributes.chain(instance))
        .with_service_name(config.service_name.clone())
        .build()
}

/// The variable of the environment with headers for metrics. Without it, [`HEADERS`] counts.
pub(crate) const METRICS_HEADERS: &str = "OTEL_EXPORTER_OTLP_METRICS_HEADERS";

/// The variable of the environment with headers for all that collectors get.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Returns the headers that the environment asks for, of a variable or, without it, of
/// `OTEL_EXPORTER_OTLP_HEADERS`. Spans have theirs from `opentelemetry-otlp`.
///
/// # Errors
/// Returns an error if they can't be read. It shows no value.
pub(crate) fn headers(variable: &str) -> Result<HeaderMap, Error> {
    let found = [variable, HEADERS].into_iter().find_map(|name| Some((name, std::env::var(name).ok()?)));
    found.map_or_else(
        || Ok(HeaderMap::new()),
        |(name, text)| {
            parse_headers(&text).ok_or_else(|| {
                Error::new(format!("error: the environment variable {name} is no list of headers, as in `a=b,c=d`"))
            })
        },
    )
}

/// Reads `a=b,c=d`, with values as in URLs ([OTLP
/// exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables)).
fn parse_headers(text: &str) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let (name, value) = entry.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        headers.insert(name.trim().parse::<HeaderName>().ok()?, value.parse().ok()?);
    }
    Some(headers)
}

/// Whether a collector takes what it gets. The log says when that changes.
#[derive(Debug, Default)]
pub(crate) struct CollectorHealth {
    fails: AtomicBool,
}

impl CollectorHealth {
    /// Notes the result of a request with `what`, in the plural. The log shows the URL without its secrets.
    pub(crate) fn note<E: std::fmt::Display>(&self, what: &str, url: &str, result: Result<(), E>) {
        let failed_before = self.fails.swap(result.is_err(), Ordering::Relaxed);
        let url = without_secrets(url);
        match result {
            Err(error) if !failed_before => log::warn!("the collector at {url} takes no {what}: {error}"),
            Ok(()) if failed_before => log::info!("the collector at {url} takes {what} again"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, INSTANCE, parse_headers, resource};
    use opentelemetry::Key;

    #[test]
    fn each_process_has_an_identity() {
        let of = |attributes: &[(&str, &str)]| {
            let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let url = "http://127.0.0.1:4318/v1/metrics".to_owned();
            let config = Config { url, service_name: "edge".to_owned(), attributes };
            resource(&config).get(&Key::new(INSTANCE)).map(|value| value.as_str().into_owned())
        };
        let own = of(&[]).unwrap();
        assert_eq!((own.len(), own.as_bytes()[14]), (36, b'4'), "{own}");
        assert_eq!(of(&[("a", "b")]), Some(own));
        assert_eq!(of(&[(INSTANCE, "edge-1")]).as_deref(), Some("edge-1"));
    }

    #[test]
    fn headers_are_a_list() {
        let parsed = |text| {
            let headers = parse_headers(text)?;
            Some(headers.iter().map(|(name, value)| format!("{name}:{}", value.to_str().unwrap())).collect::<Vec<_>>())
        };
        assert_eq!(parsed("api-key=a%20b%3D, x=1=2,").unwrap(), ["api-key:a b=", "x:1=2"]);
        assert_eq!(parsed("").unwrap(), <[&str; 0]>::default());
        for wrong in ["a", "a b=c", "a=%0a", "=b", "a=%ff"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
