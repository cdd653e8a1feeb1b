//! The counters of the proxy, and their text for Prometheus.
//!
//! Rules and phases are counted by `celero-policy` ([`RuleInfo`], [`PhaseInfo`](celero_policy::PhaseInfo)); only what the proxy itself
//! does is counted here.
//!
//! # How to add a metric
//!
//! 1. Of a rule or a phase: count it in `celero-policy` (`phase.rs` runs the rules) and add a field to `RuleInfo` or `PhaseInfo`.
//!    Of the proxy: add a counter to [`Metrics`], and increment it where the event happens.
//! 2. Write it in [`render`]: one `head` with name, type and help, then one `sample` for each combination of labels. Names
//!    start with `celero_`, new counters end with `_total`, times are in seconds.
//! 3. Describe it in `docs/proxy.md`, where the test `every_metric_is_described` looks for it.

use crate::generation::Generation;
use crate::latency::CLASSES;
use crate::list_control::ListControl;
use crate::list_metrics;
use crate::mirror::MirrorCounts;
use crate::process_metrics;
use crate::prometheus_text::PrometheusText;
use celero_policy::{LimitInfo, RuleInfo};
use http::StatusCode;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

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
    upstream_failures: AtomicU64,
    retries: AtomicU64,
    refused_retries: AtomicU64,
    overloaded: AtomicU64,
    reloads: AtomicU64,
    reload_failures: AtomicU64,
    /// Refused heads, by the statuses of [`HEAD_STATUSES`].
    refused_heads: [AtomicU64; HEAD_STATUSES.len()],
    refused_connections: AtomicU64,
    failed_handshakes: AtomicU64,
    refused_proxy_headers: AtomicU64,
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
    /// Counts a request as open, and returns how many there are.
    pub(crate) fn began(&self) -> i64 {
        self.open.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    pub(crate) fn overloaded(&self) {
        self.overloaded.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a finished request by the class, the status of its response, and its status of gRPC.
    pub(crate) fn ended(&self, class: usize, status: Option<u16>, grpc: Option<u16>) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        let count = |counter: Option<&AtomicU64>| counter.map(|counter| counter.fetch_add(1, Ordering::Relaxed));
        count(self.by_class.get(class).or(self.by_class.first()));
        count(status.and_then(|status| self.by_status.0.get(usize::from(status.checked_sub(100)?))));
        count(grpc.and_then(|status| self.by_grpc_status.get(usize::from(status))));
    }

    /// Counts a request that the end of the proxy cut off.
    pub(crate) fn was_cut_off(&self) {
        self.cut_off.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of requests that the end of the proxy has cut off, or will if it ends now.
    pub(crate) fn cut_off(&self) -> i64 {
        self.cut_off.load(Ordering::Relaxed).saturating_add(self.open())
    }

    /// Returns the number of open requests.
    pub(crate) fn open(&self) -> i64 {
        self.open.load(Ordering::Relaxed)
    }

    pub(crate) fn connection_refused(&self) {
        self.refused_connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn handshake_failed(&self) {
        self.failed_handshakes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn proxy_header_refused(&self) {
        self.refused_proxy_headers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn head_refused(&self, status: StatusCode) {
        let index = HEAD_STATUSES.iter().position(|known| status == *known).unwrap_or_default();
        if let Some(counter) = self.refused_heads.get(index) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn upstream_failed(&self) {
        self.upstream_failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn retry_refused(&self) {
        self.refused_retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn reloaded(&self, worked: bool) {
        let counter = if worked { &self.reloads } else { &self.reload_failures };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns all metrics in the text format of Prometheus: the counters, those of the current generation `now`, of its lists and of copies, and the number of
/// lines of the access log that were `dropped`.
pub(crate) fn render(
    metrics: &Metrics,
    now: &Generation,
    lists: &ListControl,
    copies: &MirrorCounts,
    dropped: u64,
) -> String {
    let mut page = PrometheusText::default();
    let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    page.head("celero_requests_total", "counter", "Finished requests, by the class of their status.");
    for (class, counter) in CLASSES.iter().zip(&metrics.by_class) {
        page.sample("celero_requests_total", &[("status", class)], get(counter));
    }
    page.head("celero_responses_total", "counter", "Responses, by their exact status.");
    for (status, counter) in (100_u16..).zip(&metrics.by_status.0).filter(|(_, counter)| get(counter) > 0) {
        page.sample("celero_responses_total", &[("code", &status.to_string())], get(counter));
    }
    page.head("celero_grpc_responses_total", "counter", "Answered calls of gRPC, by their status of gRPC.");
    for (status, counter) in metrics.by_grpc_status.iter().enumerate().filter(|(_, counter)| get(counter) > 0) {
        page.sample("celero_grpc_responses_total", &[("code", &status.to_string())], get(counter));
    }
    now.latency.render(&mut page);
    page.head("celero_requests_open", "gauge", "Open requests.");
    page.sample("celero_requests_open", &[], metrics.open());
    page.head("celero_overload_refused_total", "counter", "Requests that were refused because too many were open.");
    page.sample("celero_overload_refused_total", &[], get(&metrics.overloaded));
    page.head("celero_refused_heads_total", "counter", "Requests that were refused because of their heads, by status.");
    for (status, counter) in HEAD_STATUSES.iter().zip(&metrics.refused_heads) {
        page.sample("celero_refused_heads_total", &[("status", &status.to_string())], get(counter));
    }
    page.head(
        "celero_connections_refused_total",
        "counter",
        "Connections that were closed because a bound was reached.",
    );
    page.sample("celero_connections_refused_total", &[], get(&metrics.refused_connections));
    page.head("celero_tls_handshakes_failed_total", "counter", "Handshakes of TLS with clients that failed.");
    page.sample("celero_tls_handshakes_failed_total", &[], get(&metrics.failed_handshakes));
    page.head(
        "celero_proxy_headers_refused_total",
        "counter",
        "Connections of load balancers that were closed because their header of the PROXY protocol can't be read.",
    );
    page.sample("celero_proxy_headers_refused_total", &[], get(&metrics.refused_proxy_headers));
    page.head("celero_upstream_connect_failures_total", "counter", "Failed connections to servers.");
    page.sample("celero_upstream_connect_failures_total", &[], get(&metrics.upstream_failures));
    page.head("celero_upstream_retries_total", "counter", "Requests that were sent again to another server.");
    page.sample("celero_upstream_retries_total", &[], get(&metrics.retries));
    page.head(
        "celero_upstream_retries_refused_total",
        "counter",
        "Retries that the budget of an upstream did not allow.",
    );
    page.sample("celero_upstream_retries_refused_total", &[], get(&metrics.refused_retries));
    page.head("celero_mirrored_requests_total", "counter", "Copies of requests, by what became of them.");
    for (result, counter) in [("answered", &copies.answered), ("failed", &copies.failed), ("skipped", &copies.skipped)]
    {
        page.sample("celero_mirrored_requests_total", &[("result", result)], get(counter));
    }
    page.head("celero_policy_reloads", "counter", "Reloads that succeeded.");
    page.sample("celero_policy_reloads", &[], get(&metrics.reloads));
    page.head("celero_policy_reload_failures", "counter", "Reloads that failed because of errors in the files.");
    page.sample("celero_policy_reload_failures", &[], get(&metrics.reload_failures));
    page.head("celero_access_log_dropped_total", "counter", "Lines of the access log that were dropped.");
    page.sample("celero_access_log_dropped_total", &[], dropped);
    spans(&mut page, now);
    upstreams(&mut page, now);
    credentials(&mut page, now);
    rules(&mut page, now);
    list_metrics::render(&mut page, lists, &now.policy);
    process_metrics::render(&mut page);
    page.into_text()
}

/// What became of spans, since their export was configured as it is.
fn spans(page: &mut PrometheusText, now: &Generation) {
    let Some(spans) = &now.spans else { return };
    page.head("celero_spans_total", "counter", "Spans of requests, by what became of them.");
    let counts = spans.counts();
    for (result, count) in [("exported", &counts.exported), ("failed", &counts.failed), ("dropped", &counts.dropped)] {
        page.sample("celero_spans_total", &[("result", result)], count.load(Ordering::Relaxed));
    }
}

fn upstreams(page: &mut PrometheusText, now: &Generation) {
    page.head("celero_upstream_servers", "gauge", "Servers of an upstream.");
    for upstream in &now.upstreams {
        page.sample("celero_upstream_servers", &[("upstream", &upstream.name)], upstream.health().0);
    }
    page.head("celero_upstream_servers_healthy", "gauge", "Healthy servers of an upstream.");
    for upstream in &now.upstreams {
        page.sample("celero_upstream_servers_healthy", &[("upstream", &upstream.name)], upstream.health().1);
    }
    page.head(
        "celero_upstream_requests_open",
        "gauge",
        "Requests that the servers of an upstream have not answered yet.",
    );
    for upstream in &now.upstreams {
        let count = upstream.servers.all().iter().map(|server| server.open()).sum::<usize>();
        page.sample("celero_upstream_requests_open", &[("upstream", &upstream.name)], count);
    }
    page.head(
        "celero_upstream_requests_refused_total",
        "counter",
        "Requests that were refused because too many of the upstream were open.",
    );
    for upstream in &now.upstreams {
        let name = [("upstream", &*upstream.name)];
        page.sample("celero_upstream_requests_refused_total", &name, upstream.admission.refused());
    }
    page.head("celero_upstream_servers_ejected", "gauge", "Servers that get no requests because they failed.");
    for upstream in &now.upstreams {
        page.sample("celero_upstream_servers_ejected", &[("upstream", &upstream.name)], upstream.servers.ejected());
    }
    page.head("celero_upstream_ejections_total", "counter", "How often a server was ejected because it failed.");
    for upstream in &now.upstreams {
        let count = upstream.servers.all().iter().map(|server| server.ejections()).sum::<u64>();
        page.sample("celero_upstream_ejections_total", &[("upstream", &upstream.name)], count);
    }
}

fn credentials(page: &mut PrometheusText, now: &Generation) {
    let passwords = now.policy.verifications();
    page.head("celero_auth_verifications_total", "counter", "Passwords that were hashed, since the policy was loaded.");
    page.sample("celero_auth_verifications_total", &[], passwords.done);
    page.head("celero_auth_refused_total", "counter", "Requests that were refused because too many passwords waited.");
    page.sample("celero_auth_refused_total", &[], passwords.refused);
    page.head("celero_auth_waiting", "gauge", "Passwords that wait for a thread.");
    page.sample("celero_auth_waiting", &[], passwords.waiting);
    let sources: Vec<_> = now.policy.key_sources().map(|source| (source.url(), source.info())).collect();
    page.head("celero_auth_keys", "gauge", "Keys of a URL that count; 0: its tokens are refused.");
    for (url, info) in &sources {
        page.sample("celero_auth_keys", &[("url", url)], info.keys);
    }
    page.head("celero_auth_keys_age_seconds", "gauge", "Time since the keys of a URL were fetched.");
    for (url, info) in &sources {
        if let Some(age) = info.age {
            page.sample("celero_auth_keys_age_seconds", &[("url", url)], age.as_secs());
        }
    }
    page.head("celero_auth_key_fetches_total", "counter", "Fetches of keys, by their result.");
    for (url, info) in &sources {
        page.sample("celero_auth_key_fetches_total", &[("url", url), ("result", "ok")], info.fetched);
        page.sample("celero_auth_key_fetches_total", &[("url", url), ("result", "failed")], info.failed);
    }
}

fn rules(page: &mut PrometheusText, now: &Generation) {
    let phases: Vec<_> = now.policy.phases().collect();
    page.head("celero_phase_evaluations_total", "counter", "Evaluations of a phase, since the policy was loaded.");
    for info in &phases {
        page.sample("celero_phase_evaluations_total", &[("phase", info.phase.name())], info.evaluated);
    }
    page.head("celero_phase_duration_seconds", "summary", "Duration of a phase, for one evaluation in 64.");
    for info in &phases {
        let labels = [("phase", info.phase.name())];
        page.sample("celero_phase_duration_seconds_sum", &labels, info.time.as_secs_f64());
        page.sample("celero_phase_duration_seconds_count", &labels, info.timed);
    }
    page.head(
        "celero_requests_refused_total",
        "counter",
        "Requests without a canonical form, by reason, since the policy was loaded.",
    );
    for (refusal, count) in now.policy.refusals() {
        page.sample("celero_requests_refused_total", &[("reason", refusal.word())], count);
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
        page.head(name, "counter", help);
        for rule in &rules {
            page.sample(name, &[("phase", rule.phase.name()), ("rule", &rule.name)], value(rule));
        }
    };
    counter("celero_rule_evaluations_total", "Evaluations of a rule, since the policy was loaded.", |rule| {
        rule.evaluated
    });
    counter("celero_rule_matches_total", "Matches of a rule, since the policy was loaded.", |rule| rule.matched);
    counter("celero_rule_errors_total", "Errors of a rule, since the policy was loaded.", |rule| rule.failed);
    page.head(
        "celero_rule_duration_seconds",
        "summary",
        "Duration of the condition of a rule, evaluated standalone as a sample.",
    );
    for rule in &rules {
        let labels = [("phase", rule.phase.name()), ("rule", &*rule.name)];
        page.sample("celero_rule_duration_seconds_sum", &labels, rule.time.as_secs_f64());
        page.sample("celero_rule_duration_seconds_count", &labels, rule.timed);
    }
    limits(page, now);
    rate_limit_services(page, now);
    page.head("celero_policy_counter_total", "counter", "The policy's own counters, since it was loaded.");
    for (name, value) in now.policy.counters() {
        page.sample("celero_policy_counter_total", &[("name", name)], value);
    }
}

fn rate_limit_services(page: &mut PrometheusText, now: &Generation) {
    let services = now.rate_limits.services();
    page.head("celero_rate_limit_calls_total", "counter", "Calls of rate limit services, by what became of them.");
    for service in services {
        for (result, count) in service.counts() {
            page.sample("celero_rate_limit_calls_total", &[("service", service.name()), ("result", result)], count);
        }
    }
    page.head("celero_rate_limit_skipped", "gauge", "1: the service is not called, because it has failed too often.");
    for service in services {
        page.sample("celero_rate_limit_skipped", &[("service", service.name())], u8::from(service.is_skipped()));
    }
}

fn limits(page: &mut PrometheusText, now: &Generation) {
    let limits: Vec<_> = now.policy.limits().collect();
    page.head("celero_limit_decisions_total", "counter", "Requests that asked a limit, by its decision.");
    for limit in &limits {
        let LimitInfo { admitted, limited, tolerated, unavailable, .. } = *limit;
        for (decision, count) in
            [("admitted", admitted), ("limited", limited), ("tolerated", tolerated), ("unavailable", unavailable)]
        {
            page.sample("celero_limit_decisions_total", &[("limit", &limit.name), ("decision", decision)], count);
        }
    }
    page.head("celero_limit_errors_total", "counter", "Requests whose key, cost or countWhen failed.");
    for limit in &limits {
        page.sample("celero_limit_errors_total", &[("limit", &limit.name)], limit.failed);
    }
    page.head("celero_limit_keys", "gauge", "Keys of a limit that have used something.");
    for limit in &limits {
        page.sample("celero_limit_keys", &[("limit", &limit.name)], limit.keys);
    }
    page.head("celero_limit_keys_merged_total", "counter", "Keys that were replaced before what they used came back.");
    for limit in &limits {
        page.sample("celero_limit_keys_merged_total", &[("limit", &limit.name)], limit.merged);
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
