//! All metrics, whoever gets them: Prometheus by `/metrics`, and collectors by OTLP.
//!
//! Rules and phases are counted by `celero-policy` ([`RuleInfo`],
//! [`PhaseInfo`](celero_policy::PhaseInfo)); what the proxy itself does is counted in
//! `metrics/counters.rs`.
//!
//! Invariant: `write_all` writes every metric, so every format has the same ones. Test:
//! `runtime/adapters/proxy/tests/proxy/metric_export.rs::a_collector_gets_what_the_page_has`.
//!
//! # How to add a metric
//!
//! 1. Of a rule or a phase: count it in `celero-policy` (`policy/src/phases/phase.rs` runs the
//!    rules) and add a field to `RuleInfo` or `PhaseInfo`. Of the proxy: add a counter to
//!    [`Metrics`](crate::metrics::counters::Metrics), and increment it where the event happens.
//! 2. Write it in [`write_all`] or in what that calls: one family with name and help, then one
//!    sample for each combination of labels, with the time since when it counts if that is not the
//!    start of the process. Names start with `celero_`, counters end with `_total`, times are in
//!    seconds.
//! 3. Describe it in `docs/proxy-output.md`, where the test `every_metric_is_described` looks for it.

use crate::generation::Generation;
use crate::metrics::lists;
use crate::metrics::process;
use crate::metrics::sink::{MetricKind, MetricSink, MetricValue, MetricWriter};
use crate::state::State;
use crate::upstreams::upstream::Upstream;
use celero_policy::{LimitInfo, RuleInfo};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes all metrics: those of the process, and those of the current generation.
pub(crate) fn write_all(state: &State, sink: &mut dyn MetricSink) {
    let (now, start) = (state.current(), state.started);
    let mut page = MetricWriter::new(sink, start);
    let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    state.metrics.write(&mut page);
    now.latency.write(&mut page);
    page.since(start);
    let copies = state.mirrors.counts();
    page.counter("celero_mirrored_requests_total", "Copies of requests, by what became of them.");
    for (result, counter) in [("answered", &copies.answered), ("failed", &copies.failed), ("skipped", &copies.skipped)]
    {
        page.sample(&[("result", result)], get(counter));
    }
    let dropped = state.log.as_ref().map_or(0, |log| log.dropped());
    page.single_counter("celero_access_log_dropped_total", "Lines of the access log that were dropped.", dropped);
    limits(&mut page, &now);
    delays(&mut page, &now);
    lists::write(&mut page, &state.lists, &now.policy);
    process::write(&mut page);
    key_sources(&mut page, &now);
    upstreams(&mut page, &now);
    spans(&mut page, &now);
    recorded(&mut page, &now);
    rate_limit_services(&mut page, &now);
    page.since(now.loaded);
    credentials(&mut page, &now);
    rules(&mut page, &now);
}

/// What became of spans, since their export was configured as it is.
fn spans(page: &mut MetricWriter<'_>, now: &Generation) {
    let Some(spans) = &now.spans else { return };
    page.since(spans.since);
    page.counter("celero_spans_total", "Spans of requests, by what became of them.");
    let counts = spans.counts();
    for (result, count) in [("exported", &counts.exported), ("failed", &counts.failed), ("dropped", &counts.dropped)] {
        page.sample(&[("result", result)], count.load(Ordering::Relaxed));
    }
}

/// What became of recorded requests, since they are recorded into the file.
fn recorded(page: &mut MetricWriter<'_>, now: &Generation) {
    let Some(recorder) = &now.recorder else { return };
    let (written, dropped) = recorder.counts();
    page.since(recorder.since());
    page.counter("celero_recorded_requests_total", "Requests that were recorded, by what became of them.");
    page.sample(&[("result", "written")], written);
    page.sample(&[("result", "dropped")], dropped);
}

fn upstreams(page: &mut MetricWriter<'_>, now: &Generation) {
    let mut of_each = |kind, name, help, value: fn(&Upstream) -> MetricValue<'static>| {
        page.family(kind, name, help);
        for upstream in &now.upstreams {
            page.since(upstream.since);
            page.sample(&[("upstream", &upstream.name)], value(upstream));
        }
    };
    let (counter, gauge) = (MetricKind::Counter, MetricKind::Gauge);
    of_each(gauge, "celero_upstream_servers", "Servers of an upstream.", |upstream| upstream.health().0.into());
    of_each(gauge, "celero_upstream_servers_healthy", "Healthy servers of an upstream.", |upstream| {
        upstream.health().1.into()
    });
    let help = "Requests that the servers of an upstream have not answered yet.";
    of_each(gauge, "celero_upstream_requests_open", help, |upstream| {
        upstream.servers.all().iter().map(|server| server.open()).sum::<usize>().into()
    });
    let help = "Requests that were refused because too many of the upstream were open.";
    of_each(counter, "celero_upstream_requests_refused_total", help, |upstream| upstream.admission.refused().into());
    let help = "Connections to the servers of an upstream, unused ones included.";
    of_each(gauge, "celero_upstream_connections_open", help, |upstream| {
        upstream.servers.all().iter().map(|server| server.connections.open()).sum::<usize>().into()
    });
    let help = "Requests that wait for a connection to a server of an upstream.";
    of_each(gauge, "celero_upstream_requests_waiting", help, |upstream| {
        upstream.servers.all().iter().map(|server| server.connections.waiting()).sum::<usize>().into()
    });
    let help = "Connections to the servers of an upstream that were opened.";
    of_each(counter, "celero_upstream_connections_opened_total", help, |upstream| {
        upstream.servers.connection_counters().opened().into()
    });
    let help = "Requests that were refused because no connection was free in time.";
    of_each(counter, "celero_upstream_waits_refused_total", help, |upstream| {
        upstream.servers.connection_counters().refused().into()
    });
    let help = "Servers that get no requests because they failed.";
    of_each(gauge, "celero_upstream_servers_ejected", help, |upstream| upstream.servers.ejected().into());
    let help = "How often a server was ejected because it failed.";
    of_each(counter, "celero_upstream_ejections_total", help, |upstream| upstream.servers.ejections().into());
}

fn credentials(page: &mut MetricWriter<'_>, now: &Generation) {
    let passwords = now.policy.verifications();
    page.single_counter(
        "celero_auth_verifications_total",
        "Passwords that were hashed, since the policy was loaded.",
        passwords.done,
    );
    page.single_counter(
        "celero_auth_refused_total",
        "Requests that were refused because too many passwords waited.",
        passwords.refused,
    );
    page.single_gauge("celero_auth_waiting", "Passwords that wait for a thread.", passwords.waiting);
}

/// The sources of keys that stay are kept by a reload, with their counts.
fn key_sources(page: &mut MetricWriter<'_>, now: &Generation) {
    // Two URLs may differ in their queries only, which are not shown.
    let sources = now.policy.key_sources().zip(1_usize..);
    let sources: Vec<_> =
        sources.map(|(source, number)| (source.shown_url(), number.to_string(), source.info())).collect();
    page.gauge("celero_auth_keys", "Keys of a URL that count; 0: its tokens are refused.");
    for (url, number, info) in &sources {
        page.sample(&[("url", url), ("number", number)], info.keys);
    }
    page.gauge("celero_auth_keys_age_seconds", "Time since the keys of a URL were fetched.");
    for (url, number, info) in &sources {
        if let Some(age) = info.age {
            page.sample(&[("url", url), ("number", number)], age.as_secs());
        }
    }
    page.counter("celero_auth_key_fetches_total", "Fetches of keys, by their result.");
    for (url, number, info) in &sources {
        page.sample(&[("url", url), ("number", number), ("result", "ok")], info.fetched);
        page.sample(&[("url", url), ("number", number), ("result", "failed")], info.failed);
    }
}

fn rules(page: &mut MetricWriter<'_>, now: &Generation) {
    let phases: Vec<_> = now.policy.phases().collect();
    page.counter("celero_phase_evaluations_total", "Evaluations of a phase, since the policy was loaded.");
    for info in &phases {
        page.sample(&[("phase", info.phase.name())], info.evaluated);
    }
    page.family(MetricKind::Summary, "celero_phase_duration_seconds", "Duration of a phase, for one evaluation in 64.");
    for info in &phases {
        let labels = [("phase", info.phase.name())];
        page.sample(&labels, MetricValue::Total { sum: info.time.as_secs_f64(), count: info.timed });
    }
    page.counter(
        "celero_requests_refused_total",
        "Requests without a canonical form, by reason, since the policy was loaded.",
    );
    for (refusal, count) in now.policy.refusals() {
        page.sample(&[("reason", refusal.word())], count);
    }
    // Rules of one name in a phase are one line: Prometheus refuses a page that has two.
    let mut rules: Vec<RuleInfo> = Vec::new();
    let mut places: HashMap<(&str, Arc<str>), usize> = HashMap::new();
    for rule in now.policy.rules() {
        let place = *places.entry((rule.phase.name(), Arc::clone(&rule.name))).or_insert(rules.len());
        match rules.get_mut(place) {
            Some(known) => add(known, &rule),
            None => rules.push(rule),
        }
    }
    let mut counter = |name, help, value: fn(&RuleInfo) -> u64| {
        page.counter(name, help);
        for rule in &rules {
            page.sample(&[("phase", rule.phase.name()), ("rule", &rule.name)], value(rule));
        }
    };
    counter("celero_rule_evaluations_total", "Evaluations of a rule, since the policy was loaded.", |rule| {
        rule.evaluated
    });
    counter("celero_rule_matches_total", "Matches of a rule, since the policy was loaded.", |rule| rule.matched);
    counter("celero_rule_errors_total", "Errors of a rule, since the policy was loaded.", |rule| rule.failed);
    page.family(
        MetricKind::Summary,
        "celero_rule_duration_seconds",
        "Duration of the condition of a rule, evaluated standalone as a sample.",
    );
    for rule in &rules {
        let labels = [("phase", rule.phase.name()), ("rule", &*rule.name)];
        page.sample(&labels, MetricValue::Total { sum: rule.time.as_secs_f64(), count: rule.timed });
    }
    page.counter("celero_policy_counter_total", "The policy's own counters, since it was loaded.");
    for (name, value) in now.policy.counters() {
        page.sample(&[("name", name)], value);
    }
}

fn limits(page: &mut MetricWriter<'_>, now: &Generation) {
    let limits: Vec<_> = now.policy.limits().collect();
    page.counter("celero_limit_decisions_total", "Requests that asked a limit, by its decision.");
    for limit in &limits {
        let LimitInfo { admitted, limited, tolerated, unavailable, .. } = *limit;
        for (decision, count) in
            [("admitted", admitted), ("limited", limited), ("tolerated", tolerated), ("unavailable", unavailable)]
        {
            page.sample(&[("limit", &limit.name), ("decision", decision)], count);
        }
    }
    let mut of_each = |kind, name, help, value: fn(&LimitInfo) -> MetricValue<'static>| {
        page.family(kind, name, help);
        limits.iter().for_each(|limit| page.sample(&[("limit", &limit.name)], value(limit)));
    };
    let (counter, gauge) = (MetricKind::Counter, MetricKind::Gauge);
    let help = "Requests whose key, cost or countWhen failed.";
    of_each(counter, "celero_limit_errors_total", help, |limit| limit.failed.into());
    of_each(gauge, "celero_limit_keys", "Keys of a limit that have used something.", |limit| limit.keys.into());
    let help = "Keys that were replaced before what they used came back.";
    of_each(counter, "celero_limit_keys_merged_total", help, |limit| limit.merged.into());
}

fn delays(page: &mut MetricWriter<'_>, now: &Generation) {
    let delays = now.policy.delays();
    page.single_gauge("celero_delayed_requests", "Requests that wait because a rule delays them.", delays.waiting);
    page.counter("celero_delays_total", "Requests that were to be delayed, by what became of them.");
    for (result, count) in [("delayed", delays.delayed), ("full", delays.rejected)] {
        page.sample(&[("result", result)], count);
    }
}

fn rate_limit_services(page: &mut MetricWriter<'_>, now: &Generation) {
    let services = now.rate_limits.services();
    page.counter("celero_rate_limit_calls_total", "Calls of rate limit services, by what became of them.");
    for service in services {
        page.since(service.since());
        for (result, count) in service.counts() {
            page.sample(&[("service", service.name()), ("result", result)], count);
        }
    }
    page.gauge("celero_rate_limit_skipped", "1: the service is not called, because it has failed too often.");
    for service in services {
        page.sample(&[("service", service.name())], u64::from(service.is_skipped()));
    }
}

/// Adds the counters of a rule to those of another one.
fn add(known: &mut RuleInfo, other: &RuleInfo) {
    for (sum, more) in [
        (&mut known.evaluated, other.evaluated),
        (&mut known.matched, other.matched),
        (&mut known.failed, other.failed),
        (&mut known.timed, other.timed),
    ] {
        *sum = sum.saturating_add(more);
    }
    known.time = known.time.saturating_add(other.time);
}
