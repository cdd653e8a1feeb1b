//! Metrics as text for Prometheus (text format 0.0.4).

use std::fmt::{Display, Write};

/// A page of metrics.
#[derive(Default)]
pub(crate) struct PrometheusText {
    text: String,
}

impl PrometheusText {
    /// Begins a family of samples.
    pub(crate) fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Adds a sample.
    pub(crate) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.text.push_str(name);
        for (position, (label, text)) in labels.iter().enumerate() {
            self.text.push(if position == 0 { '{' } else { ',' });
            let _ = write!(
                self.text,
                "{label}=\"{}\"",
                text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
            );
        }
        self.text.push_str(if labels.is_empty() { "" } else { "}" });
        let _ = writeln!(self.text, " {value}");
    }

    /// Adds a family of one sample without labels.
    pub(crate) fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.head(name, kind, help);
        self.sample(name, &[], value);
    }

    /// Returns the text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_escaped() {
        let mut page = PrometheusText::default();
        page.sample("a", &[("b", "x\"y\\z\n"), ("c", "d")], 3);
        page.sample("e", &[], 0.5);
        assert_eq!(page.into_text(), "a{b=\"x\\\"y\\\\z\\n\",c=\"d\"} 3\ne 0.5\n");
    }
}
