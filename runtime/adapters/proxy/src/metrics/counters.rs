//! What the proxy itself counts. `admin/all_metrics.rs` says how to add a metric.
//!
//! Counting takes no lock. It allocates only for the first request of a route, an upstream and a class of status.

use crate::metrics::latency::CLASSES;
use crate::metrics::sink::MetricWriter;
use http::StatusCode;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Declares the events, each with its metric and what it means.
macro_rules! events {
    ($($event:ident = $name:literal: $help:literal;)*) => {
        /// What is counted without labels.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Event {
            $($event,)*
        }

        /// The metrics of the events, in their order, with what they mean.
        const EVENTS: &[(&str, &str)] = &[$(($name, $help),)*];
    };
}

events! {
    Overloaded = "celero_overload_refused_total": "Requests that were refused because too many were open.";
    ConnectionRefused = "celero_connections_refused_total":
        "Connections that were closed because a bound was reached.";
    HandshakeFailed = "celero_tls_handshakes_failed_total": "Handshakes of TLS with clients that failed.";
    ProxyHeaderRefused = "celero_proxy_headers_refused_total":
        "Connections of load balancers that were closed because their header of the PROXY protocol can't be read.";
    UpstreamFailed = "celero_upstream_connect_failures_total": "Failed connections to servers.";
    Retried = "celero_upstream_retries_total": "Requests that were sent again to another server.";
    RetryRefused = "celero_upstream_retries_refused_total":
        "Retries that the budget of an upstream did not allow.";
    Reloaded = "celero_policy_reloads_total": "Reloads that succeeded.";
    ReloadFailed = "celero_policy_reload_failures_total": "Reloads that failed because of errors in the files.";
    EmptinessRefused = "celero_refused_empty_total":
        "Reloads and documents of lists that were refused because a policy, a level or a list would have been empty.";
}

/// The counters of the proxy. All threads share them: a request writes about five.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Finished requests, indexed by the first digit of their status; 0: no response was sent.
    by_class: [AtomicU64; 6],
    /// Responses by their exact status, from 100 on.
    by_status: Statuses,
    /// Calls of gRPC by their status, from 0 to 16.
    by_grpc_status: [AtomicU64; 17],
    open: AtomicI64,
    cut_off: AtomicI64,
    /// What is counted without labels, indexed by [`Event`].
    events: [AtomicU64; EVENTS.len()],
    exports: AtomicU64,
    export_failures: AtomicU64,
    /// Refused heads, by the statuses of [`HEAD_STATUSES`].
    refused_heads: [AtomicU64; HEAD_STATUSES.len()],
}

/// Counters of the statuses from 100 to 599.
struct Statuses([AtomicU64; 500]);

impl Default for Statuses {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; 500])
    }
}

/// The statuses that refuse the head of a request.
const HEAD_STATUSES: [u16; 5] = [400, 405, 408, 414, 431];

impl Metrics {
    /// Counts an event.
    pub(crate) fn count(&self, event: Event) {
        if let Some(counter) = self.events.get(event as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a request as open, and returns how many there are.
    pub(crate) fn began(&self) -> i64 {
        self.open.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// Counts a finished request by the class, the status of its response, and its status of gRPC.
    pub(crate) fn ended(&self, class: usize, status: Option<u16>, grpc: Option<u16>) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        let count = |counter: Option<&AtomicU64>| counter.map(|counter| counter.fetch_add(1, Ordering::Relaxed));
        count(self.by_class.get(class).or(self.by_class.first()));
        count(status.and_then(|status| self.by_status.0.get(usize::from(status.checked_sub(100)?))));
        count(grpc.and_then(|status| self.by_grpc_status.get(usize::from(status))));
    }

    /// Counts a request, which has ended, as cut off by the end of the proxy.
    pub(crate) fn was_cut_off(&self) {
        self.cut_off.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of requests that the end of the proxy has cut off, or will if it ends now.
    pub(crate) fn cut_off(&self) -> i64 {
        loop {
            let cut_off = self.cut_off.load(Ordering::Acquire);
            let open = self.open();
            // Else a request may be in both.
            if self.cut_off.load(Ordering::Acquire) == cut_off {
                return cut_off.saturating_add(open);
            }
        }
    }

    /// Returns the number of open requests.
    pub(crate) fn open(&self) -> i64 {
        self.open.load(Ordering::Relaxed)
    }

    pub(crate) fn head_refused(&self, status: StatusCode) {
        let index = HEAD_STATUSES.iter().position(|known| status == *known).unwrap_or_default();
        if let Some(counter) = self.refused_heads.get(index) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts metrics that were sent to a collector, or not taken by it.
    pub(crate) fn exported(&self, worked: bool) {
        let counter = if worked { &self.exports } else { &self.export_failures };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes the counters, which count since the process started.
    pub(crate) fn write(&self, page: &mut MetricWriter<'_>) {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        page.counter("celero_requests_total", "Finished requests, by the class of their status.");
        for (class, counter) in CLASSES.iter().zip(&self.by_class) {
            page.sample(&[("status", class)], get(counter));
        }
        page.counter("celero_responses_total", "Responses, by their exact status.");
        for (status, counter) in (100_u16..).zip(&self.by_status.0).filter(|(_, counter)| get(counter) > 0) {
            page.sample(&[("code", &status.to_string())], get(counter));
        }
        page.counter("celero_grpc_responses_total", "Answered calls of gRPC, by their status of gRPC.");
        for (status, counter) in self.by_grpc_status.iter().enumerate().filter(|(_, counter)| get(counter) > 0) {
            page.sample(&[("code", &status.to_string())], get(counter));
        }
        page.single_gauge("celero_requests_open", "Open requests.", self.open());
        page.counter("celero_refused_heads_total", "Requests that were refused because of their heads, by status.");
        for (status, counter) in HEAD_STATUSES.iter().zip(&self.refused_heads) {
            page.sample(&[("status", &status.to_string())], get(counter));
        }
        for ((name, help), counter) in EVENTS.iter().zip(&self.events) {
            page.single_counter(name, help, get(counter));
        }
        page.counter("celero_metric_exports_total", "How often all metrics were sent to a collector, by the result.");
        page.sample(&[("result", "exported")], get(&self.exports));
        page.sample(&[("result", "failed")], get(&self.export_failures));
    }
}
