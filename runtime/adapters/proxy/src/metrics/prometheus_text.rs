//! Metrics as text for Prometheus (text format 0.0.4). Histograms have their classic buckets only.

use crate::metrics::histogram::HistogramCounts;
use crate::metrics::sink::{MetricFamily, MetricKind, MetricSink, MetricValue};
use std::fmt::{Display, Write};
use std::time::SystemTime;

/// A page of metrics.
#[derive(Default)]
pub(crate) struct PrometheusText {
    text: String,
    /// The name of the family that was begun last.
    name: String,
}

impl MetricSink for PrometheusText {
    fn family(&mut self, MetricFamily { name, kind, help }: MetricFamily<'_>) {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Summary => "summary",
            MetricKind::Histogram => "histogram",
        };
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        name.clone_into(&mut self.name);
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: MetricValue<'_>, _: SystemTime) {
        match value {
            MetricValue::Count(count) => self.line("", labels, &[], count),
            MetricValue::Number(number) => self.line("", labels, &[], number),
            MetricValue::Total { sum, count } => self.total(labels, sum, count),
            MetricValue::Histogram(counts) => {
                let mut below = 0_u64;
                let bounds =
                    HistogramCounts::classic_bounds().map(|bound| bound.to_string()).chain(["+Inf".to_owned()]);
                for (count, bound) in counts.classic().into_iter().zip(bounds) {
                    below = below.saturating_add(count);
                    self.line("_bucket", labels, &[("le", &bound)], below);
                }
                self.total(labels, counts.sum, below);
            }
        }
    }
}

impl PrometheusText {
    fn total(&mut self, labels: &[(&str, &str)], sum: f64, count: u64) {
        self.line("_sum", labels, &[], sum);
        self.line("_count", labels, &[], count);
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], more: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.text, "{}{suffix}", self.name);
        for (position, (label, text)) in labels.iter().chain(more).enumerate() {
            self.text.push(if position == 0 { '{' } else { ',' });
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.text, "{label}=\"{text}\"");
        }
        self.text.push_str(if labels.is_empty() && more.is_empty() { "" } else { "}" });
        let _ = writeln!(self.text, " {value}");
    }

    /// Returns the text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::histogram::Histogram;
    use crate::metrics::sink::MetricWriter;
    use std::time::Duration;

    #[test]
    fn samples_are_escaped() {
        let mut page = PrometheusText::default();
        let mut writer = MetricWriter::new(&mut page, SystemTime::UNIX_EPOCH);
        writer.counter("a", "A.");
        writer.sample(&[("b", "x\"y\\z\n"), ("c", "d")], 3_u64);
        writer.single_gauge("e", "E.", 0.5);
        assert_eq!(
            page.into_text(),
            "# HELP a A.\n# TYPE a counter\na{b=\"x\\\"y\\\\z\\n\",c=\"d\"} 3\n# HELP e E.\n# TYPE e gauge\ne 0.5\n"
        );
    }

    #[test]
    fn buckets_add_up() {
        let histogram = Histogram::default();
        [0, 500, 501, 10_000_000, 10_000_001]
            .into_iter()
            .for_each(|micros| histogram.add(Duration::from_micros(micros)));
        let mut page = PrometheusText::default();
        let mut writer = MetricWriter::new(&mut page, SystemTime::UNIX_EPOCH);
        writer.family(MetricKind::Histogram, "x", "X.");
        writer.sample(&[("route", "*")], MetricValue::Histogram(&histogram.counts()));
        let text = page.into_text();
        for (bound, count) in [("0.0005", 2), ("0.001", 3), ("5", 3), ("10", 4), ("+Inf", 5)] {
            let line = format!("x_bucket{{route=\"*\",le=\"{bound}\"}} {count}\n");
            assert!(text.contains(&line), "{line} in {text}");
        }
        assert!(text.ends_with("x_count{route=\"*\"} 5\n"));
    }
}
