//! Durations and bytes of the requests of each route.
//!
//! Their number is bounded by the configuration: one histogram for each route, upstream and class of status. A reload keeps those of routes that stay.

use crate::config::{Config, Route};
use crate::prometheus_text::PrometheusText;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds, and as Prometheus has them, in seconds.
const BOUNDS: [(u64, &str); 14] = [
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (5_000_000, "5"),
    (10_000_000, "10"),
];

/// The classes of statuses, by their first digit. `none`: no response was sent.
pub(crate) const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// The requests of a route, or those that none fits.
#[derive(Debug)]
pub(crate) struct RouteRequests {
    route: String,
    upstream: String,
    by_class: [Histogram; CLASSES.len()],
    received: AtomicU64,
    sent: AtomicU64,
}

#[derive(Debug, Default)]
struct Histogram {
    /// How many durations are in each bucket alone; the last one has no bound.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
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

    /// Counts a finished request of a route and an upstream. `class` is the first digit of its status, 0 without a response.
    pub(crate) fn finished(&self, place: (Option<usize>, Option<usize>), class: usize, took: Duration, bytes: Bytes) {
        let (route, upstream) = place;
        let of_route = route.and_then(|route| self.routes.get(route)).or(self.routes.last());
        let found = of_route.and_then(|of| of.iter().find(|(index, _)| *index == upstream).or(of.first()));
        let Some((_, requests)) = found else { return };
        if let Some(histogram) = requests.by_class.get(class).or(requests.by_class.first()) {
            histogram.add(took);
        }
        requests.received.fetch_add(bytes.received, Ordering::Relaxed);
        requests.sent.fetch_add(bytes.sent, Ordering::Relaxed);
    }

    /// Writes the families. Classes without requests are left out.
    pub(crate) fn render(&self, page: &mut PrometheusText) {
        let mut routes: Vec<&RouteRequests> = self.all().map(|requests| &**requests).collect();
        // Routes that fit the same requests share their counters.
        routes.sort_by(|a, b| (&a.route, &a.upstream).cmp(&(&b.route, &b.upstream)));
        routes.dedup_by(|a, b| a.route == b.route && a.upstream == b.upstream);
        let name = "celero_request_duration_seconds";
        page.head(name, "histogram", "Duration of requests, by route, upstream and class of status.");
        for requests in &routes {
            for (class, histogram) in CLASSES.iter().zip(&requests.by_class) {
                histogram.render(
                    page,
                    name,
                    &[("route", &requests.route), ("upstream", &requests.upstream), ("status", class)],
                );
            }
        }
        let mut bytes = |name, help, value: fn(&RouteRequests) -> u64| {
            page.head(name, "counter", help);
            for requests in &routes {
                let labels = [("route", requests.route.as_str()), ("upstream", requests.upstream.as_str())];
                page.sample(name, &labels, value(requests));
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
        Self { route, upstream, by_class: Default::default(), received: AtomicU64::new(0), sent: AtomicU64::new(0) }
    }
}

impl Histogram {
    fn add(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|(bound, _)| *bound < micros);
        if let Some(bucket) = self.buckets.get(bucket) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanos, Ordering::Relaxed);
    }

    fn render(&self, page: &mut PrometheusText, name: &str, labels: &[(&str, &str); 3]) {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        if counts.iter().all(|count| *count == 0) {
            return;
        }
        let [route, upstream, status] = *labels;
        let mut sum = 0_u64;
        for (count, bound) in counts.iter().zip(BOUNDS.iter().map(|(_, bound)| *bound).chain(["+Inf"])) {
            sum = sum.saturating_add(*count);
            page.sample(&format!("{name}_bucket"), &[route, upstream, status, ("le", bound)], sum);
        }
        let seconds = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        page.sample(&format!("{name}_sum"), labels, seconds);
        page.sample(&format!("{name}_count"), labels, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_in_the_bucket_up_to_whose_bound_they_are() {
        let histogram = Histogram::default();
        for micros in [0, 500, 501, 10_000_000, 10_000_001] {
            histogram.add(Duration::from_micros(micros));
        }
        let mut page = PrometheusText::default();
        histogram.render(&mut page, "x", &[("route", "*"), ("upstream", "a"), ("status", "2xx")]);
        let text = page.into_text();
        for (bound, count) in [("0.0005", 2), ("0.001", 3), ("5", 3), ("10", 4), ("+Inf", 5)] {
            let line = format!("x_bucket{{route=\"*\",upstream=\"a\",status=\"2xx\",le=\"{bound}\"}} {count}\n");
            assert!(text.contains(&line), "{line} in {text}");
        }
        assert!(text.ends_with("x_count{route=\"*\",upstream=\"a\",status=\"2xx\"} 5\n"));
    }
}
