//! Sends all metrics to a collector of OpenTelemetry once per `interval`.
//!
//! What is not taken is not sent again: counters are cumulative, so the next request has all that the last one had.

use crate::admin::all_metrics::write_all;
use crate::config::MetricsExport as Config;
use crate::error::Error;
use crate::export::collector::{CollectorClient, CollectorHealth, END, METRICS_HEADERS, TIMEOUT, headers, resource};
use crate::metrics::otlp::{OtlpMetrics, StartTimes};
use crate::state::State;
use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderValue, Request, header};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use pingora::server::ShutdownWatch;
use pingora::services::background::BackgroundService;
use prost::Message;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use tokio::time::Instant;

/// The service that sends metrics.
pub(crate) struct MetricExport {
    state: Arc<State>,
    /// Held while metrics are sent. `None`: none were sent yet.
    target: Mutex<Option<Target>>,
}

/// A collector, and what was sent to it.
struct Target {
    config: Config,
    client: CollectorClient,
    starts: StartTimes,
    health: CollectorHealth,
}

impl MetricExport {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Self { state, target: Mutex::new(None) }
    }

    async fn run(self: Arc<Self>) {
        let (mut changes, mut last) = (self.state.changes(), Instant::now());
        loop {
            let interval = self.state.current().config.metrics_export.as_ref().map(|export| export.interval);
            let Some(interval) = interval else {
                if changes.changed().await.is_err() {
                    return;
                }
                last = Instant::now();
                continue;
            };
            // The interval is a day at most.
            let next = last.checked_add(interval).unwrap_or(last);
            tokio::select! {
                () = tokio::time::sleep_until(next) => {}
                changed = changes.changed() => match changed {
                    Ok(()) => continue,
                    Err(_) => return,
                },
            }
            last = Instant::now();
            let export = Arc::clone(&self);
            let sent = move || export.send(export.target.lock().unwrap_or_else(PoisonError::into_inner), TIMEOUT);
            if let Err(error) = tokio::task::spawn_blocking(sent).await {
                log::error!("metrics can't be sent: {error}");
            }
        }
    }

    /// Sends all metrics once more when the proxy ends, unless they are just being sent. Blocks for a while.
    pub(crate) fn end(&self) {
        match self.target.try_lock() {
            Ok(target) => self.send(target, END),
            Err(TryLockError::Poisoned(target)) => self.send(target.into_inner(), END),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// Sends all metrics, if the configuration says where. Each request may take `timeout`; the
    /// first that fails is the last.
    fn send(&self, mut target: MutexGuard<'_, Option<Target>>, timeout: Duration) {
        let Some(config) = self.state.current().config.metrics_export.clone() else {
            *target = None;
            return;
        };
        let target = match target.take() {
            Some(known) if known.config == config => target.insert(known),
            _ => target.insert(Target {
                config,
                client: CollectorClient::new(),
                starts: StartTimes::default(),
                health: CollectorHealth::default(),
            }),
        };
        let mut metrics = OtlpMetrics::new(target.config.histograms, &mut target.starts);
        write_all(&self.state, &mut metrics);
        let requests = metrics.into_requests(&(&resource(&target.config.collector)).into());
        let result = requests.iter().try_for_each(|request| target.post(request.encode_to_vec().into(), timeout));
        self.state.metrics.exported(result.is_ok());
        target.health.note("metrics", &target.config.collector.url, result);
    }
}

impl Target {
    /// Sends a request.
    ///
    /// # Errors
    /// The collector does not answer, or does not take all of it.
    fn post(&self, body: Bytes, timeout: Duration) -> Result<(), Error> {
        let failed = |error: &dyn std::fmt::Display| Error::new(error.to_string());
        let mut request = Request::post(&*self.config.collector.url).body(body).map_err(|error| failed(&error))?;
        *request.headers_mut() = headers(METRICS_HEADERS)?;
        request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        let answer = self.client.send(request, timeout).map_err(|error| failed(&error))?;
        if !answer.status().is_success() {
            return Err(Error::new(format!("it answers with {}", answer.status())));
        }
        // An answer that can't be read says nothing about what was taken.
        let refused =
            ExportMetricsServiceResponse::decode(&**answer.body()).ok().and_then(|answer| answer.partial_success);
        match refused {
            Some(refused) if refused.rejected_data_points > 0 => Err(Error::new(format!(
                "{} of them are refused: {}",
                refused.rejected_data_points, refused.error_message
            ))),
            _ => Ok(()),
        }
    }
}

/// [`MetricExport`] as a service: the proxy keeps the export for its end.
pub(crate) struct MetricService(pub(crate) Arc<MetricExport>);

#[async_trait]
impl BackgroundService for MetricService {
    async fn start(&self, mut shutdown: ShutdownWatch) {
        tokio::select! {
            () = Arc::clone(&self.0).run() => {}
            _ = shutdown.changed() => {}
        }
    }
}
