//! Metrics in the protobuf format of Prometheus, which alone has native histograms: messages
//! `io.prometheus.client.MetricFamily`, each after its length.
//!
//! The messages are those of `metrics.proto` of
//! [client_model](https://github.com/prometheus/client_model), without what the proxy does not
//! write.

use crate::metrics::histogram::{ExponentialBuckets, HistogramCounts, ZERO_THRESHOLD};
use crate::metrics::sink::{MetricFamily, MetricKind, MetricSink, MetricValue};
use prost::Message;
use std::time::SystemTime;

/// The media type of the format.
pub(crate) const PROTOBUF: &str = "application/vnd.google.protobuf";

/// The value of `content-type`.
pub(crate) const CONTENT_TYPE: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

#[derive(Clone, PartialEq, Message)]
struct FamilyMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    help: String,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(message, repeated, tag = "4")]
    metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Number>,
    #[prost(message, optional, tag = "4")]
    summary: Option<Summary>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<HistogramMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// `Gauge` and `Counter`.
#[derive(Clone, PartialEq, Message)]
struct Number {
    #[prost(double, tag = "1")]
    value: f64,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(uint64, tag = "1")]
    count: u64,
    #[prost(double, tag = "2")]
    sum: f64,
}

#[derive(Clone, PartialEq, Message)]
struct HistogramMessage {
    #[prost(uint64, tag = "1")]
    count: u64,
    #[prost(double, tag = "2")]
    sum: f64,
    #[prost(message, repeated, tag = "3")]
    buckets: Vec<Bucket>,
    #[prost(sint32, tag = "5")]
    schema: i32,
    #[prost(double, tag = "6")]
    zero_threshold: f64,
    #[prost(uint64, tag = "7")]
    zero_count: u64,
    #[prost(message, repeated, tag = "12")]
    spans: Vec<BucketSpan>,
    /// Of each bucket, the difference to the one before.
    #[prost(sint64, repeated, tag = "13")]
    deltas: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Bucket {
    #[prost(uint64, tag = "1")]
    cumulative_count: u64,
    #[prost(double, tag = "2")]
    upper_bound: f64,
}

/// Consecutive buckets.
#[derive(Clone, Copy, PartialEq, Message)]
struct BucketSpan {
    /// The index of the first one; of further spans, the number of empty buckets before it.
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint32, tag = "2")]
    length: u32,
}

/// A page of metrics.
#[derive(Default)]
pub(crate) struct PrometheusProtobuf {
    written: Vec<u8>,
    family: FamilyMessage,
}

impl MetricSink for PrometheusProtobuf {
    fn family(&mut self, MetricFamily { name, kind, help }: MetricFamily<'_>) {
        self.end_family();
        let kind = match kind {
            MetricKind::Counter => 0,
            MetricKind::Gauge => 1,
            MetricKind::Summary => 2,
            MetricKind::Histogram => 4,
        };
        self.family = FamilyMessage { name: name.to_owned(), help: help.to_owned(), kind, metrics: Vec::new() };
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: MetricValue<'_>, _: SystemTime) {
        let label = |(name, value): &(&str, &str)| Label { name: (*name).to_owned(), value: (*value).to_owned() };
        let mut metric = Metric { labels: labels.iter().map(label).collect(), ..Metric::default() };
        match value {
            MetricValue::Count(count) => self.number(&mut metric, count as f64),
            MetricValue::Number(number) => self.number(&mut metric, number),
            MetricValue::Total { sum, count } => metric.summary = Some(Summary { count, sum }),
            MetricValue::Histogram(counts) => metric.histogram = Some(histogram(counts)),
        }
        self.family.metrics.push(metric);
    }
}

impl PrometheusProtobuf {
    fn number(&self, metric: &mut Metric, value: f64) {
        let place = if self.family.kind == 0 { &mut metric.counter } else { &mut metric.gauge };
        *place = Some(Number { value });
    }

    /// Writes the family. A family without metrics is left out: Prometheus would refuse it.
    fn end_family(&mut self) {
        if !self.family.metrics.is_empty() {
            self.written.extend(self.family.encode_length_delimited_to_vec());
        }
    }

    /// Returns the bytes.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.end_family();
        self.written
    }
}

fn histogram(counts: &HistogramCounts) -> HistogramMessage {
    let mut cumulative_count = 0_u64;
    let bounds = HistogramCounts::classic_bounds().chain([f64::INFINITY]);
    let buckets = counts.classic().into_iter().zip(bounds).map(|(count, upper_bound)| {
        cumulative_count = cumulative_count.saturating_add(count);
        Bucket { cumulative_count, upper_bound }
    });
    let buckets = buckets.collect();
    let exponential = counts.exponential();
    let (spans, deltas) = spans(&exponential);
    HistogramMessage {
        count: counts.count(),
        sum: counts.sum,
        buckets,
        schema: exponential.scale,
        zero_threshold: ZERO_THRESHOLD,
        zero_count: exponential.zeros,
        spans,
        deltas,
    }
}

/// Returns the buckets that are not empty.
fn spans(buckets: &ExponentialBuckets) -> (Vec<BucketSpan>, Vec<i64>) {
    let (mut spans, mut deltas): (Vec<BucketSpan>, Vec<i64>) = (Vec::new(), Vec::new());
    // Prometheus names a bucket by its upper bound, OTLP by its lower one.
    let (mut gap, mut before) = (buckets.offset.saturating_add(1), 0_i64);
    let mut in_span = false;
    for count in &buckets.counts {
        if *count == 0 {
            gap = if in_span { 1 } else { gap.saturating_add(1) };
            in_span = false;
            continue;
        }
        match spans.last_mut().filter(|_| in_span) {
            Some(span) => span.length = span.length.saturating_add(1),
            None => spans.push(BucketSpan { offset: gap, length: 1 }),
        }
        in_span = true;
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        deltas.push(count.saturating_sub(before));
        before = count;
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::histogram::Histogram;
    use std::time::Duration;

    #[test]
    fn buckets_are_spans_of_differences() {
        let buckets = ExponentialBuckets { scale: 3, zeros: 0, offset: -7, counts: vec![5, 2, 0, 0, 0, 4, 9] };
        let span = |offset, length| BucketSpan { offset, length };
        assert_eq!(spans(&buckets), (vec![span(-6, 2), span(3, 2)], vec![5, -3, 2, 5]));
        let none = ExponentialBuckets { scale: 3, zeros: 1, offset: 0, counts: vec![] };
        assert_eq!(spans(&none), (vec![], vec![]));
    }

    #[test]
    fn histograms_have_both_kinds_of_buckets() {
        let durations = Histogram::default();
        [0, 3_000_000, 1_000_000_000].into_iter().for_each(|nanos| durations.add(Duration::from_nanos(nanos)));
        let found = histogram(&durations.counts());
        assert_eq!((found.count, found.schema, found.zero_count), (3, 3, 1));
        // 2^(-68/8) < 0.003 <= 2^(-67/8): the bucket whose upper bound is 2^(-67/8), and the one that ends at 1.
        assert_eq!(found.spans[0], BucketSpan { offset: -67, length: 1 });
        assert_eq!(found.spans[1], BucketSpan { offset: 66, length: 1 });
        assert_eq!(found.deltas, [1, 0]);
        let last = found.buckets.last().unwrap();
        assert!(last.cumulative_count == 3 && last.upper_bound.is_infinite() && found.buckets.len() == 15);
    }
}
