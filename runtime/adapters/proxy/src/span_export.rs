//! Sends spans to a collector of OpenTelemetry (OTLP over HTTP, in protobuf).
//!
//! Spans wait in a queue with a bound, from which one thread sends them in batches. A request never waits: what has no place is dropped and
//! counted. `span.rs` makes the spans.

use crate::config::SpanExport as Config;
use crate::error::Error;
use crate::http_client::agent;
use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry::KeyValue;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanExporter, SpanProcessor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use ureq::Agent;

/// The most spans of a request to the collector.
const BATCH: usize = 512;

/// How long spans wait for others.
const DELAY: Duration = Duration::from_secs(1);

/// How long the collector may take for a batch.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long the last spans may take when the proxy ends.
const END: Duration = Duration::from_secs(2);

/// The largest answer of a collector that is read, in bytes.
const LARGEST_ANSWER: u64 = 64 * 1024;

/// Sends spans to one collector.
pub(crate) struct SpanExport {
    pub(crate) config: Config,
    /// `None` only while it is dropped.
    processor: Option<BatchSpanProcessor>,
    counts: Arc<SpanCounts>,
}

/// How many spans there were.
#[derive(Debug, Default)]
pub(crate) struct SpanCounts {
    waiting: AtomicUsize,
    pub(crate) exported: AtomicU64,
    /// The collector did not take them.
    pub(crate) failed: AtomicU64,
    /// The queue was full.
    pub(crate) dropped: AtomicU64,
    /// Whether the last batch was refused.
    fails: AtomicBool,
}

impl SpanExport {
    /// Starts to send spans.
    ///
    /// # Errors
    /// Returns an error if the environment has variables of OpenTelemetry (`OTEL_EXPORTER_OTLP_HEADERS`) that can't be read.
    pub(crate) fn start(config: &Config) -> Result<Self, Error> {
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&config.url)
            .with_timeout(TIMEOUT)
            .with_http_client(Client(agent()))
            .build()
            .map_err(|error| Error::new(format!("error: traces.export: {error}")))?;
        let counts = Arc::<SpanCounts>::default();
        let exporter = Counted { exporter, counts: Arc::clone(&counts), url: config.url.clone() };
        let batches = BatchConfigBuilder::default()
            // The bound is `waiting`: what is in a batch under way counts there too.
            .with_max_queue_size(config.queue.saturating_add(BATCH))
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(DELAY);
        let mut processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches.build()).build();
        let attributes = config.attributes.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
        let resource = Resource::builder_empty()
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .with_attributes(attributes)
            .with_service_name(config.service_name.clone());
        processor.set_resource(&resource.build());
        Ok(Self { config: config.clone(), processor: Some(processor), counts })
    }

    /// Puts a span into the queue, or drops it if that is full.
    pub(crate) fn record(&self, span: SpanData) {
        let counts = &self.counts;
        if counts.waiting.fetch_add(1, Ordering::Relaxed) >= self.config.queue {
            counts.waiting.fetch_sub(1, Ordering::Relaxed);
            counts.dropped.fetch_add(1, Ordering::Relaxed);
        } else if let Some(processor) = &self.processor {
            processor.on_end(span);
        }
    }

    pub(crate) fn counts(&self) -> &SpanCounts {
        &self.counts
    }

    /// Sends what waits, for a while. Blocks.
    pub(crate) fn end(&self) {
        if let Some(processor) = &self.processor {
            let _ = processor.shutdown_with_timeout(END);
        }
    }
}

impl Drop for SpanExport {
    fn drop(&mut self) {
        // The last request of a generation may drop it, on a thread that must not wait.
        if let Some(processor) = self.processor.take() {
            let end = move || drop(processor.shutdown_with_timeout(END));
            let _ = std::thread::Builder::new().name("spans".to_owned()).spawn(end);
        }
    }
}

/// An exporter that counts, and says in the log when it begins to fail and when it works again.
#[derive(Debug)]
struct Counted {
    exporter: opentelemetry_otlp::SpanExporter,
    counts: Arc<SpanCounts>,
    url: String,
}

impl SpanExporter for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let result = self.exporter.export(batch).await;
        let counter = if result.is_ok() { &self.counts.exported } else { &self.counts.failed };
        counter.fetch_add(u64::try_from(spans).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.counts.waiting.fetch_sub(spans, Ordering::Relaxed);
        let failed_before = self.counts.fails.swap(result.is_err(), Ordering::Relaxed);
        match &result {
            Err(error) if !failed_before => {
                log::warn!("the collector of traces at {} takes no spans: {error}", self.url)
            }
            Ok(()) if failed_before => log::info!("the collector of traces at {} takes spans again", self.url),
            _ => {}
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// The client of the exporter. It blocks, which only the thread of the queue notices.
struct Client(Agent);

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let request = self.0.configure_request(Request::from_parts(head, &*body));
        let request = request.http_status_as_error(false).timeout_global(Some(TIMEOUT)).build();
        let (head, mut body) = self.0.run(request)?.into_parts();
        let body = body.with_config().limit(LARGEST_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(head, body.into()))
    }
}
