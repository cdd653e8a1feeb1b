//! Durations and bytes of the requests of each route.
//!
//! Their number is bounded by the configuration: one histogram for each route, upstream and class
//! of status. A reload keeps those of routes that stay.

use crate::config::{Config, Route};
use crate::metrics::histogram::Histogram;
use crate::metrics::sink::{MetricKind, MetricValue, MetricWriter};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

/// The classes of statuses, by their first digit. `none`: no response was sent.
pub(crate) const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// The requests of a route, or those that none fits.
#[derive(Debug)]
pub(crate) struct RouteRequests {
    route: String,
    upstream: String,
    /// Since when they are counted.
    since: SystemTime,
    /// Made for the first request of a class, because most routes have one or two classes.
    by_class: [OnceLock<Histogram>; CLASSES.len()],
    received: AtomicU64,
    sent: AtomicU64,
}

/// The requests of all routes of a configuration.
#[derive(Debug)]
pub(crate) struct Latency {
    /// In the order of the routes, each with its upstreams by their indexes; the last is for requests without a route.
    routes: Vec<Vec<(Option<usize>, Arc<RouteRequests>)>>,
}

impl Latency {
    /// Returns the counters for a configuration, with those of `before` for the same routes.
    pub(crate) fn new(config: &Config, before: Option<&Self>) -> Self {
        let mut all: Vec<Arc<RouteRequests>> = before.iter().flat_map(|before| before.all()).cloned().collect();
        let mut counters = |route: &str, upstream: Option<usize>| {
            let name = upstream.and_then(|index| config.upstreams.get(index)).map(|upstream| upstream.name.as_str());
            let name = name.unwrap_or_default();
            let known = all.iter().find(|known| known.route == route && known.upstream == name).map(Arc::clone);
            let counters = known.unwrap_or_else(|| Arc::new(RouteRequests::new(route.to_owned(), name.to_owned())));
            all.push(Arc::clone(&counters));
            (upstream, counters)
        };
        let of_route = |route: &Route| {
            let name = route.name();
            let mut upstreams: Vec<Option<usize>> = route.upstreams().into_iter().map(Some).collect();
            if upstreams.is_empty() {
                upstreams.push(None);
            }
            upstreams.into_iter().map(|upstream| counters(&name, upstream)).collect()
        };
        let mut routes: Vec<Vec<_>> = config.routes.iter().map(of_route).collect();
        routes.push(vec![counters("", None)]);
        Self { routes }
    }

    fn all(&self) -> impl Iterator<Item = &Arc<RouteRequests>> {
        self.routes.iter().flatten().map(|(_, requests)| requests)
    }

    /// Counts a finished request of a route and an upstream. `class` is the first digit of its
    /// status, 0 without a response.
    pub(crate) fn finished(&self, place: (Option<usize>, Option<usize>), class: usize, took: Duration, bytes: Bytes) {
        let (route, upstream) = place;
        let of_route = route.and_then(|route| self.routes.get(route)).or(self.routes.last());
        let found = of_route.and_then(|of| of.iter().find(|(index, _)| *index == upstream).or(of.first()));
        let Some((_, requests)) = found else { return };
        if let Some(histogram) = requests.by_class.get(class).or(requests.by_class.first()) {
            histogram.get_or_init(Histogram::default).add(took);
        }
        requests.received.fetch_add(bytes.received, Ordering::Relaxed);
        requests.sent.fetch_add(bytes.sent, Ordering::Relaxed);
    }

    /// Writes the families. Classes without requests are left out.
    pub(crate) fn write(&self, page: &mut MetricWriter<'_>) {
        let mut routes: Vec<&RouteRequests> = self.all().map(|requests| &**requests).collect();
        // Routes that fit the same requests share their counters.
        routes.sort_by(|a, b| (&a.route, &a.upstream).cmp(&(&b.route, &b.upstream)));
        routes.dedup_by(|a, b| a.route == b.route && a.upstream == b.upstream);
        page.family(
            MetricKind::Histogram,
            "celero_request_duration_seconds",
            "Duration of requests, by route, upstream and class of status.",
        );
        for requests in &routes {
            page.since(requests.since);
            for (class, histogram) in CLASSES.iter().zip(&requests.by_class) {
                let Some(histogram) = histogram.get() else { continue };
                let labels = [("route", &*requests.route), ("upstream", &*requests.upstream), ("status", class)];
                page.sample(&labels, MetricValue::Histogram(&histogram.counts()));
            }
        }
        let mut bytes = |name, help, value: fn(&RouteRequests) -> u64| {
            page.counter(name, help);
            for requests in &routes {
                page.since(requests.since);
                page.sample(&[("route", &*requests.route), ("upstream", &*requests.upstream)], value(requests));
            }
        };
        bytes("celero_request_bytes_total", "Bytes of the bodies of requests.", |requests| {
            requests.received.load(Ordering::Relaxed)
        });
        bytes("celero_response_bytes_total", "Bytes of the bodies of responses.", |requests| {
            requests.sent.load(Ordering::Relaxed)
        });
    }
}

/// Bytes of the bodies of a request and its response.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bytes {
    pub(crate) received: u64,
    pub(crate) sent: u64,
}

impl RouteRequests {
    fn new(route: String, upstream: String) -> Self {
        let (received, sent) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { route, upstream, since: SystemTime::now(), by_class: Default::default(), received, sent }
    }
}
