//! What metrics are made of, whoever gets them: `admin/all_metrics.rs` lists all metrics once, and
//! each format is a [`MetricSink`].

use crate::metrics::histogram::HistogramCounts;
use std::time::SystemTime;

/// What a family of metrics measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricKind {
    /// Rises, until what counts starts anew.
    Counter,
    /// Rises and falls.
    Gauge,
    /// The sum and the number of measurements.
    Summary,
    /// A distribution.
    Histogram,
}

/// A family: metrics of one name that differ in their labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetricFamily<'a> {
    /// The name, as `docs/proxy-output.md` describes it.
    pub(crate) name: &'a str,
    pub(crate) kind: MetricKind,
    /// A sentence about it.
    pub(crate) help: &'a str,
}

/// The value of a metric.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MetricValue<'a> {
    Count(u64),
    Number(f64),
    /// Of a [`MetricKind::Summary`].
    Total {
        sum: f64,
        count: u64,
    },
    Histogram(&'a HistogramCounts),
}

impl From<u64> for MetricValue<'_> {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for MetricValue<'_> {
    fn from(count: usize) -> Self {
        Self::Count(u64::try_from(count).unwrap_or(u64::MAX))
    }
}

impl From<i64> for MetricValue<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<f64> for MetricValue<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// A format of metrics.
pub(crate) trait MetricSink {
    /// Begins a family. The samples that follow are of this family.
    fn family(&mut self, family: MetricFamily<'_>);

    /// Adds a metric of the family, which counts `since` then or later.
    fn sample(&mut self, labels: &[(&str, &str)], value: MetricValue<'_>, since: SystemTime);
}

/// Writes families into a format.
pub(crate) struct MetricWriter<'s> {
    sink: &'s mut dyn MetricSink,
    since: SystemTime,
}

impl<'s> MetricWriter<'s> {
    /// Returns a writer. What is written counts `since` then, until [`since`](Self::since) says otherwise.
    pub(crate) fn new(sink: &'s mut dyn MetricSink, since: SystemTime) -> Self {
        Self { sink, since }
    }

    /// Says since when what is written next counts.
    pub(crate) fn since(&mut self, since: SystemTime) {
        self.since = since;
    }

    pub(crate) fn family(&mut self, kind: MetricKind, name: &str, help: &str) {
        self.sink.family(MetricFamily { name, kind, help });
    }

    pub(crate) fn counter(&mut self, name: &str, help: &str) {
        self.family(MetricKind::Counter, name, help);
    }

    pub(crate) fn gauge(&mut self, name: &str, help: &str) {
        self.family(MetricKind::Gauge, name, help);
    }

    /// Adds a metric of the family that was begun last.
    pub(crate) fn sample<'v>(&mut self, labels: &[(&str, &str)], value: impl Into<MetricValue<'v>>) {
        self.sink.sample(labels, value.into(), self.since);
    }

    /// Adds a counter without labels.
    pub(crate) fn single_counter<'v>(&mut self, name: &str, help: &str, value: impl Into<MetricValue<'v>>) {
        self.counter(name, help);
        self.sample(&[], value);
    }

    /// Adds a gauge without labels.
    pub(crate) fn single_gauge<'v>(&mut self, name: &str, help: &str, value: impl Into<MetricValue<'v>>) {
        self.gauge(name, help);
        self.sample(&[], value);
    }
}
