//! Metrics as messages of OTLP.
//!
//! Counters are cumulative sums, each with the time since when it counts. Names, labels and values
//! are those of `/metrics`.

use crate::config::OtlpHistograms;
use crate::metrics::histogram::{HistogramCounts, ZERO_THRESHOLD};
use crate::metrics::sink::{MetricFamily, MetricKind, MetricSink, MetricValue};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::exponential_histogram_data_point::Buckets;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Histogram, HistogramDataPoint,
    Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

/// The most metrics of a request: collectors bound the size of what they take.
const MAX_POINTS: usize = 5000;

const CUMULATIVE: i32 = AggregationTemporality::Cumulative as i32;

/// Since when counters count, as one collector knows it. A counter that is smaller than it was, or
/// was not among the last ones, has begun after those were sent.
#[derive(Debug, Default)]
pub(crate) struct StartTimes {
    /// By the hash of name and labels.
    streams: HashMap<u64, Stream>,
    /// When all were sent last.
    sent: Option<SystemTime>,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    since: SystemTime,
    count: f64,
}

impl StartTimes {
    /// Notes the value of a counter that counts `since` then or later, and returns since when it counts.
    fn since(&mut self, next: &mut HashMap<u64, Stream>, key: u64, count: f64, since: SystemTime) -> SystemTime {
        let since = match (self.streams.get(&key), self.sent) {
            (Some(known), Some(sent)) if count < known.count => since.max(sent),
            (Some(known), _) => since.max(known.since),
            (None, Some(sent)) => since.max(sent),
            (None, None) => since,
        };
        next.insert(key, Stream { since, count });
        since
    }
}

/// Collects metrics for a collector.
pub(crate) struct OtlpMetrics<'t> {
    histograms: OtlpHistograms,
    now: SystemTime,
    starts: &'t mut StartTimes,
    /// The counters of this collection.
    streams: HashMap<u64, Stream>,
    kind: MetricKind,
    /// The family that was begun last, without its data.
    family: Metric,
    /// Full requests, then the one that is being filled, each with its number of metrics.
    requests: Vec<(usize, Vec<Metric>)>,
}

impl<'t> OtlpMetrics<'t> {
    pub(crate) fn new(histograms: OtlpHistograms, starts: &'t mut StartTimes) -> Self {
        let (kind, family) = (MetricKind::Gauge, Metric::default());
        let (streams, requests) = (HashMap::with_capacity(starts.streams.len()), Vec::new());
        Self { histograms, now: SystemTime::now(), starts, streams, kind, family, requests }
    }

    /// Returns the requests, each with at most 5,000 metrics of the resource.
    pub(crate) fn into_requests(self, resource: &Resource) -> Vec<ExportMetricsServiceRequest> {
        self.starts.streams = self.streams;
        self.starts.sent = Some(self.now);
        let scope = InstrumentationScope {
            name: "celero-proxy".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        let request = |(_, metrics): (usize, Vec<Metric>)| ExportMetricsServiceRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(resource.clone()),
                scope_metrics: vec![ScopeMetrics { scope: Some(scope.clone()), metrics, ..ScopeMetrics::default() }],
                ..ResourceMetrics::default()
            }],
        };
        self.requests.into_iter().map(request).collect()
    }

    fn point(&self, attributes: Vec<KeyValue>, value: Value, since: SystemTime) -> NumberDataPoint {
        NumberDataPoint {
            attributes,
            // A gauge has no beginning.
            start_time_unix_nano: if self.kind == MetricKind::Counter { nanos(since) } else { 0 },
            time_unix_nano: nanos(self.now),
            value: Some(value),
            ..NumberDataPoint::default()
        }
    }

    /// A histogram of one bucket, if all that is known is the sum; with bounds, as many and one more.
    fn explicit(
        &self,
        attributes: Vec<KeyValue>,
        since: SystemTime,
        sum: f64,
        buckets: Vec<u64>,
    ) -> HistogramDataPoint {
        let bounds = HistogramCounts::classic_bounds().take(buckets.len().saturating_sub(1));
        HistogramDataPoint {
            attributes,
            start_time_unix_nano: nanos(since),
            time_unix_nano: nanos(self.now),
            count: buckets.iter().fold(0, |sum, count| sum.saturating_add(*count)),
            sum: Some(sum),
            explicit_bounds: bounds.collect(),
            bucket_counts: buckets,
            ..HistogramDataPoint::default()
        }
    }

    fn exponential(
        &self,
        attributes: Vec<KeyValue>,
        since: SystemTime,
        counts: &HistogramCounts,
    ) -> ExponentialHistogramDataPoint {
        let buckets = counts.exponential();
        ExponentialHistogramDataPoint {
            attributes,
            start_time_unix_nano: nanos(since),
            time_unix_nano: nanos(self.now),
            count: counts.count(),
            sum: Some(counts.sum),
            scale: buckets.scale,
            zero_count: buckets.zeros,
            zero_threshold: ZERO_THRESHOLD,
            positive: Some(Buckets { offset: buckets.offset, bucket_counts: buckets.counts }),
            ..ExponentialHistogramDataPoint::default()
        }
    }

    /// Adds a metric to the request that is being filled.
    fn push(&mut self, point: Point) {
        if self.requests.last().is_none_or(|(points, _)| *points >= MAX_POINTS) {
            self.requests.push((0, Vec::new()));
        }
        let Some((points, metrics)) = self.requests.last_mut() else { return };
        *points = points.saturating_add(1);
        if metrics.last().is_none_or(|last| last.name != self.family.name) {
            metrics.push(Metric { data: Some(point.empty(self.kind)), ..self.family.clone() });
        }
        let Some(data) = metrics.last_mut().and_then(|metric| metric.data.as_mut()) else { return };
        match (data, point) {
            (Data::Sum(Sum { data_points, .. }) | Data::Gauge(Gauge { data_points }), Point::Number(point)) => {
                data_points.push(point);
            }
            (Data::Histogram(histogram), Point::Explicit(point)) => histogram.data_points.push(point),
            (Data::ExponentialHistogram(histogram), Point::Exponential(point)) => histogram.data_points.push(point),
            _ => {}
        }
    }
}

/// A metric of any kind.
enum Point {
    Number(NumberDataPoint),
    Explicit(HistogramDataPoint),
    Exponential(ExponentialHistogramDataPoint),
}

impl Point {
    /// Returns a family for such points, without one.
    fn empty(&self, kind: MetricKind) -> Data {
        let (data_points, aggregation_temporality) = (Vec::new(), CUMULATIVE);
        match self {
            Self::Number(_) if kind == MetricKind::Counter => {
                Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic: true })
            }
            Self::Number(_) => Data::Gauge(Gauge { data_points }),
            Self::Explicit(_) => Data::Histogram(Histogram { data_points: Vec::new(), aggregation_temporality }),
            Self::Exponential(_) => {
                Data::ExponentialHistogram(ExponentialHistogram { data_points: Vec::new(), aggregation_temporality })
            }
        }
    }
}

impl MetricSink for OtlpMetrics<'_> {
    fn family(&mut self, MetricFamily { name, kind, help }: MetricFamily<'_>) {
        self.kind = kind;
        self.family = Metric {
            name: name.to_owned(),
            description: help.to_owned(),
            unit: unit(name).to_owned(),
            ..Metric::default()
        };
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: MetricValue<'_>, since: SystemTime) {
        let since = match (self.kind, value) {
            (MetricKind::Gauge, _) => since,
            (_, MetricValue::Count(count) | MetricValue::Total { count, .. }) => {
                self.began(labels, count as f64, since)
            }
            (_, MetricValue::Number(number)) => self.began(labels, number, since),
            (_, MetricValue::Histogram(counts)) => self.began(labels, counts.count() as f64, since),
        };
        let attributes = labels.iter().map(|(name, value)| attribute(name, value)).collect();
        self.push(match value {
            MetricValue::Count(count) => {
                Point::Number(self.point(attributes, Value::AsInt(i64::try_from(count).unwrap_or(i64::MAX)), since))
            }
            MetricValue::Number(number) => Point::Number(self.point(attributes, Value::AsDouble(number), since)),
            MetricValue::Total { sum, count } => Point::Explicit(self.explicit(attributes, since, sum, vec![count])),
            MetricValue::Histogram(counts) => match self.histograms {
                OtlpHistograms::Exponential => Point::Exponential(self.exponential(attributes, since, counts)),
                OtlpHistograms::Explicit => {
                    Point::Explicit(self.explicit(attributes, since, counts.sum, counts.classic().to_vec()))
                }
            },
        });
    }
}

impl OtlpMetrics<'_> {
    /// Returns since when a counter of the family counts.
    fn began(&mut self, labels: &[(&str, &str)], count: f64, since: SystemTime) -> SystemTime {
        let mut hasher = DefaultHasher::new();
        (&self.family.name, labels).hash(&mut hasher);
        self.starts.since(&mut self.streams, hasher.finish(), count, since)
    }
}

fn attribute(name: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::Value::StringValue(value.to_owned())) };
    KeyValue { key: name.to_owned(), value: Some(value), ..KeyValue::default() }
}

/// Returns the unit of a metric, which its name says.
fn unit(name: &str) -> &'static str {
    let name = name.strip_suffix("_total").unwrap_or(name);
    match name.rsplit('_').next() {
        Some("seconds") => "s",
        Some("bytes") => "By",
        _ => "",
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::sink::MetricWriter;
    use std::time::Duration;

    fn collect(starts: &mut StartTimes, since: SystemTime, counts: &[u64]) -> Vec<ExportMetricsServiceRequest> {
        let mut metrics = OtlpMetrics::new(OtlpHistograms::Exponential, starts);
        let mut page = MetricWriter::new(&mut metrics, since);
        page.counter("a_bytes_total", "A.");
        for (number, count) in counts.iter().enumerate() {
            page.sample(&[("n", &number.to_string())], *count);
        }
        metrics.into_requests(&Resource::default())
    }

    /// The number of metrics of each request, and since when each counts.
    fn points(requests: &[ExportMetricsServiceRequest]) -> (Vec<usize>, Vec<u64>) {
        let (mut numbers, mut starts) = (Vec::new(), Vec::new());
        for request in requests {
            let [metric] = &*request.resource_metrics[0].scope_metrics[0].metrics else { panic!("one family") };
            let Some(Data::Sum(sum)) = &metric.data else { panic!("no sum") };
            assert_eq!((&*metric.name, &*metric.unit), ("a_bytes_total", "By"));
            numbers.push(sum.data_points.len());
            starts.extend(sum.data_points.iter().map(|point| point.start_time_unix_nano));
        }
        (numbers, starts)
    }

    #[test]
    fn a_counter_that_is_smaller_began_anew() {
        let (mut starts, first) = (StartTimes::default(), UNIX_EPOCH + Duration::from_secs(1));
        assert_eq!(points(&collect(&mut starts, first, &[5, 5])).1, [1_000_000_000; 2]);
        let sent = nanos(starts.sent.unwrap());
        assert_eq!(points(&collect(&mut starts, first, &[5, 4])).1, [1_000_000_000, sent]);
        // From then on it goes on, and a later start counts.
        assert_eq!(points(&collect(&mut starts, first, &[6, 5])).1, [1_000_000_000, sent]);
        let later = starts.sent.unwrap();
        assert_eq!(points(&collect(&mut starts, later, &[7, 6])).1, [nanos(later); 2]);
    }

    #[test]
    fn a_counter_that_comes_back_began_anew() {
        let (mut starts, first) = (StartTimes::default(), UNIX_EPOCH + Duration::from_secs(1));
        assert_eq!(points(&collect(&mut starts, first, &[5, 5])).1, [1_000_000_000; 2]);
        assert_eq!(points(&collect(&mut starts, first, &[5])).1, [1_000_000_000]);
        let sent = nanos(starts.sent.unwrap());
        assert_eq!(points(&collect(&mut starts, first, &[5, 7])).1, [1_000_000_000, sent]);
        assert_eq!(points(&collect(&mut starts, first, &[5, 8])).1, [1_000_000_000, sent]);
    }

    #[test]
    fn requests_are_bounded() {
        let (mut starts, since) = (StartTimes::default(), SystemTime::now());
        assert_eq!(points(&collect(&mut starts, since, &vec![1; 2 * MAX_POINTS + 1])).0, [MAX_POINTS, MAX_POINTS, 1]);
        // What is gone is forgotten.
        assert_eq!(starts.streams.len(), 2 * MAX_POINTS + 1);
        collect(&mut starts, since, &[1]);
        assert_eq!(starts.streams.len(), 1);
        assert!(collect(&mut starts, since, &[]).is_empty());
    }
}
