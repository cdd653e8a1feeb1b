//! All settings of a configuration that are in force, with defaults, for `--check`. Listeners,
//! upstreams and routes have their own description.
//!
//! Nothing secret is shown: files are named and not read, and of URLs user, password and query are left out.

use crate::config::{Collector, Config, ForwardedHeader, LogOutput, OtlpHistograms, RateLimitService};
use std::fmt::{Display, Write};
use std::time::Duration;

/// Returns the settings, a line each: the key as in the file, with those above it, and its value.
pub(crate) fn settings(config: &Config) -> String {
    let mut text = Settings("settings\n".to_owned());
    let Config { forwarded, timeouts, limits, reload, .. } = config;
    text.list("include", &config.included.iter().map(|path| path.display().to_string()).collect::<Vec<_>>());
    text.list("forwarded.trusted", &forwarded.trusted);
    let header = match forwarded.header {
        ForwardedHeader::XForwardedFor => "x-forwarded-for",
        ForwardedHeader::Forwarded => "forwarded",
    };
    text.line("forwarded.header", header);
    text.rate_limit_services(config);
    text.traces(config);
    for (key, time) in [
        ("connect", timeouts.connect),
        ("read", timeouts.read),
        ("write", timeouts.write),
        ("head", timeouts.head),
        ("body", timeouts.body),
        ("bodyTotal", timeouts.body_total),
        ("send", timeouts.send),
        ("keepAlive", timeouts.keep_alive),
        ("idle", timeouts.idle),
    ] {
        text.time(&format!("timeouts.{key}"), time);
    }
    text.line("limits.connections", limits.connections);
    text.option("limits.connectionsPerAddress", limits.connections_per_address);
    text.line("limits.requests", limits.requests);
    text.line("limits.headers", limits.headers);
    text.line("limits.head", format_args!("{}B", limits.head));
    text.line("limits.requestLine", format_args!("{}B", limits.request_line));
    text.line("limits.streams", limits.streams);
    text.line("limits.controlFrames", limits.control_frames);
    text.line("limits.bodyRate", format_args!("{}B", limits.body_rate));
    text.line("limits.idleConnections", limits.idle_connections);
    text.time("reload.settle", reload.settle);
    text.line("reload.endMarker", reload.end_marker);
    text.line("retries", config.retries);
    text.option("metrics.address", config.metrics);
    text.metrics_export(config);
    let admin = config.admin.as_ref();
    text.option("admin.token", admin.map(|admin| admin.token.display()));
    text.option("admin.listChanges", config.list_changes().map(|file| file.display()));
    text.option("listCopies", config.list_copies.as_ref().map(|folder| folder.display()));
    let log = config.access_log.as_ref().map(|output| match output {
        LogOutput::Stdout => "-".to_owned(),
        LogOutput::File(file) => file.display().to_string(),
    });
    text.option("accessLog", log);
    text.record(config);
    text.line("threads", config.threads);
    text.time("grace", config.grace);
    text.time("drainDelay", config.drain_delay);
    text.0
}

struct Settings(String);

impl Settings {
    fn line(&mut self, key: &str, value: impl Display) {
        let _ = writeln!(self.0, "  {key}: {value}");
    }

    fn time(&mut self, key: &str, time: Duration) {
        self.line(key, duration(time));
    }

    fn option(&mut self, key: &str, value: Option<impl Display>) {
        match value {
            Some(value) => self.line(key, value),
            None => self.line(key, "none"),
        }
    }

    fn list(&mut self, key: &str, values: &[impl Display]) {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        self.option(key, Some(values.join(", ")).filter(|text| !text.is_empty()));
    }

    fn rate_limit_services(&mut self, config: &Config) {
        if config.rate_limit_services.is_empty() {
            self.line("rateLimitServices", "none");
        }
        for service in &config.rate_limit_services {
            let RateLimitService { name, address, domain, tls, timeout, concurrent, failures, pause } = service;
            let tls = tls.as_ref().map_or_else(String::new, |tls| format!(", TLS as {}", tls.server_name));
            self.line(
                &format!("rateLimitServices.{name}"),
                format_args!(
                    "{address}{tls}, domain {domain}, timeout {}, concurrent {concurrent}, failures {failures}, pause {}",
                    duration(*timeout),
                    duration(*pause)
                ),
            );
        }
    }

    fn traces(&mut self, config: &Config) {
        let Some(traces) = &config.traces else { return self.line("traces", "none") };
        self.line("traces.accept", if traces.accept_all { "all" } else { "trusted" });
        self.line("traces.sampled", traces.sampled);
        for rule in &traces.sample {
            self.line("traces.sample", format_args!("{} when {}", rule.share, one_line(rule.when.text())));
        }
        let Some(export) = &traces.export else { return self.line("traces.export", "none") };
        self.collector("traces.export", &export.collector);
        self.line("traces.export.queue", export.queue);
        self.option("traces.export.always", export.always.as_ref().map(|when| one_line(when.text())));
    }

    fn metrics_export(&mut self, config: &Config) {
        let Some(export) = &config.metrics_export else { return self.line("metrics.export", "none") };
        self.collector("metrics.export", &export.collector);
        self.time("metrics.export.interval", export.interval);
        let histograms = match export.histograms {
            OtlpHistograms::Exponential => "exponential",
            OtlpHistograms::Explicit => "explicit",
        };
        self.line("metrics.export.histograms", histograms);
    }

    fn record(&mut self, config: &Config) {
        let Some(record) = &config.record else { return self.line("record", "none") };
        self.line("record.file", record.file.display());
        self.line("record.share", record.share);
        self.line("record.maxSize", format_args!("{}B", record.max_size));
        self.list("record.redactHeaders", &record.redact_headers);
        self.list("record.redactParameters", &record.redact_parameters);
    }

    fn collector(&mut self, key: &str, collector: &Collector) {
        self.line(&format!("{key}.url"), without_secrets(&collector.url));
        self.line(&format!("{key}.serviceName"), &collector.service_name);
        let attributes: Vec<String> =
            collector.attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.list(&format!("{key}.attributes"), &attributes);
    }
}

fn duration(time: Duration) -> String {
    if time.is_zero() { "0s".to_owned() } else { format!("{time:?}") }
}

/// Returns an expression on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a URL without user, password and query.
pub(crate) fn without_secrets(url: &str) -> String {
    let (url, hidden) = url.split_once('?').map_or((url, ""), |(url, _)| (url, "?.."));
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}{hidden}")
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn urls_lose_their_secrets() {
        for (url, shown) in [
            ("https://a.example:4318/v1/traces", "https://a.example:4318/v1/traces"),
            ("https://me:secret@a.example/x@y?key=secret&b", "https://a.example/x@y?.."),
            ("http://secret@a@b", "http://b"),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }
}
