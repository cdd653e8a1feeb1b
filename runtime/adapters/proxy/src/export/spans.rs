//! Sends spans to a collector of OpenTelemetry (OTLP over HTTP, in protobuf).
//!
//! Spans wait in a queue with a bound, from which one thread sends them in batches. What has no place is dropped and
//! counted. `request/span.rs` makes the spans.
//!
//! Invariant: no request waits for the collector. Test:
//! `runtime/adapters/proxy/tests/proxy/spans.rs::requests_do_not_wait_for_the_collector`.

use crate::config::SpanExport as Config;
use crate::error::Error;
use crate::export::collector::{CollectorClient, CollectorHealth, END, TIMEOUT, resource};
use opentelemetry_otlp::{Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanExporter, SpanProcessor};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// The most spans of a request to the collector.
const BATCH: usize = 512;

/// How long spans wait for others.
const DELAY: Duration = Duration::from_secs(1);

/// Sends spans to one collector.
pub(crate) struct SpanExport {
    pub(crate) config: Config,
    /// `None` only while it is dropped.
    processor: Option<BatchSpanProcessor>,
    counts: Arc<SpanCounts>,
    /// Since when they are counted.
    pub(crate) since: SystemTime,
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
}

impl SpanExport {
    /// Starts to send spans.
    ///
    /// # Errors
    /// Returns an error if the environment has variables of OpenTelemetry
    /// (`OTEL_EXPORTER_OTLP_HEADERS`) that can't be read.
    pub(crate) fn start(config: &Config) -> Result<Self, Error> {
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&config.collector.url)
            .with_timeout(TIMEOUT)
            .with_http_client(CollectorClient::new())
            .build()
            .map_err(|error| Error::new(format!("error: traces.export: {error}")))?;
        let counts = Arc::<SpanCounts>::default();
        let exporter = Counted {
            exporter,
            counts: Arc::clone(&counts),
            health: CollectorHealth::default(),
            url: config.collector.url.clone(),
        };
        let batches = BatchConfigBuilder::default()
            // The bound is `waiting`: what is in a batch under way counts there too.
            .with_max_queue_size(config.queue.saturating_add(BATCH))
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(DELAY);
        let mut processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches.build()).build();
        processor.set_resource(&resource(&config.collector));
        Ok(Self { config: config.clone(), processor: Some(processor), counts, since: SystemTime::now() })
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
    health: CollectorHealth,
    url: String,
}

impl SpanExporter for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let result = self.exporter.export(batch).await;
        let counter = if result.is_ok() { &self.counts.exported } else { &self.counts.failed };
        counter.fetch_add(u64::try_from(spans).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.counts.waiting.fetch_sub(spans, Ordering::Relaxed);
        self.health.note("spans", &self.url, result.as_ref().map(drop));
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
