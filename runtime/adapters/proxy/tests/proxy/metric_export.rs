//! Metrics as a collector of OpenTelemetry gets them.

use crate::client::{get, get_with};
use crate::collector::{attribute, collector as start};
use crate::running::{Running, config, eventually};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{Metric, NumberDataPoint};
use prost::Message;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// What was sent, request by request.
#[derive(Default)]
struct Collected {
    requests: Vec<Vec<Metric>>,
    resource: Vec<KeyValue>,
    heads: Vec<String>,
}

fn collector(status: u16) -> (SocketAddr, Arc<Mutex<Collected>>) {
    start(status, |found: &mut Collected, head, body| {
        let request = ExportMetricsServiceRequest::decode(body).unwrap();
        found.heads.push(head);
        for part in request.resource_metrics {
            found.resource = part.resource.unwrap().attributes;
            found.requests.push(part.scope_metrics.into_iter().flat_map(|scope| scope.metrics).collect());
        }
    })
}

fn rest(collector: SocketAddr, export: &str) -> String {
    format!(
        "upstreams: [{{ name: demo, demo: true }}]\nroutes: [{{ upstream: demo }}]\n\
         metrics: {{ address: \"127.0.0.1:0\", export: {{ url: \"http://{collector}/v1/metrics\", {export} }} }}\n"
    )
}

/// A proxy that sends metrics each second, unless `export` says otherwise.
fn exporting(collector: SocketAddr, export: &str, policy: &str) -> Running {
    let export = if export.contains("interval") { export.to_owned() } else { format!("interval: 1s, {export}") };
    Running::with_config(&config(&rest(collector, &export)).replacen("metrics: 127.0.0.1:0\n", "", 1), policy)
}

fn find<'m>(metrics: &'m [Metric], name: &str) -> &'m Metric {
    metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn sums<'m>(metrics: &'m [Metric], name: &str) -> &'m [NumberDataPoint] {
    match &find(metrics, name).data {
        Some(Data::Sum(sum)) if sum.is_monotonic && sum.aggregation_temporality == 2 => &sum.data_points,
        other => panic!("{name} is no cumulative sum: {other:?}"),
    }
}

fn count(points: &[NumberDataPoint], label: (&str, &str)) -> i64 {
    let point = points.iter().find(|point| attribute(&point.attributes, label.0) == label.1);
    match point.unwrap_or_else(|| panic!("no {label:?}")).value {
        Some(Value::AsInt(count)) => count,
        other => panic!("{other:?}"),
    }
}

/// Waits for a request that fits.
fn wait(collected: &Mutex<Collected>, fits: impl Fn(&[Metric]) -> bool) -> Vec<Metric> {
    let last = || collected.lock().unwrap().requests.iter().rev().find(|metrics| fits(metrics)).cloned();
    eventually(|| last().is_some(), || format!("one of {} requests to fit", collected.lock().unwrap().requests.len()));
    last().unwrap()
}

fn ok_requests(metrics: &[Metric]) -> i64 {
    count(sums(metrics, "celero_requests_total"), ("status", "2xx"))
}

#[test]
fn a_collector_gets_what_the_page_has() {
    let (address, collected) = collector(200);
    let policy = "request:\n  - { name: a, when: request.path == '/a', count: seen }\n";
    let export = "serviceName: edge, attributes: { deployment.environment.name: tests }";
    let proxy = exporting(address, export, policy);
    for path in ["/", "/a", "/status/404"] {
        get(proxy.address, path);
    }
    let metrics = wait(&collected, |metrics| ok_requests(metrics) == 2);
    let page = get(proxy.metrics, "/metrics").text();
    let on_page: BTreeSet<&str> = page
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .map(|name| ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name))
        .collect();
    let sent: BTreeSet<&str> = metrics.iter().map(|metric| &*metric.name).collect();
    assert_eq!(sent, on_page);
    assert!(sent.len() > 40, "{sent:?}");

    assert_eq!(count(sums(&metrics, "celero_responses_total"), ("code", "404")), 1);
    assert_eq!(count(sums(&metrics, "celero_rule_matches_total"), ("rule", "a")), 1);
    let process = sums(&metrics, "celero_requests_total")[0].clone();
    assert!(0 < process.start_time_unix_nano && process.start_time_unix_nano <= process.time_unix_nano, "{process:?}");
    let Some(Data::Gauge(open)) = &find(&metrics, "celero_requests_open").data else { panic!("no gauge") };
    assert_eq!(open.data_points.len(), 1);

    let duration = find(&metrics, "celero_request_duration_seconds");
    let Some(Data::ExponentialHistogram(histogram)) = &duration.data else { panic!("{duration:?}") };
    assert_eq!((&*duration.unit, histogram.aggregation_temporality), ("s", 2));
    let point = histogram.data_points.iter().find(|point| attribute(&point.attributes, "status") == "2xx").unwrap();
    let buckets = point.positive.as_ref().unwrap();
    assert_eq!((point.count, point.zero_count + buckets.bucket_counts.iter().sum::<u64>()), (2, 2));
    assert_eq!((point.scale, &*attribute(&point.attributes, "route")), (3, "*"));
    // The sum lies between what the bounds of the buckets allow.
    let bound = |index: i32| (f64::from(index) / 8.0).exp2();
    let (mut least, mut most) = (0.0, 0.0);
    for (index, count) in (buckets.offset..).zip(&buckets.bucket_counts) {
        least += bound(index) * *count as f64;
        most += bound(index + 1) * *count as f64;
    }
    assert!(point.sum.is_some_and(|sum| least < sum && sum <= most), "{least} {most} {point:?}");

    let Collected { resource, heads, .. } = &*collected.lock().unwrap();
    for (name, expected) in [("service.name", "edge"), ("deployment.environment.name", "tests")] {
        assert_eq!(attribute(resource, name), expected);
    }
    let head = heads[0].to_ascii_lowercase();
    assert!(head.starts_with("post /v1/metrics http/1.1\r\n") && head.contains("application/x-protobuf"), "{head}");
}

#[test]
fn histograms_may_have_the_buckets_of_the_page() {
    let (address, collected) = collector(200);
    let proxy = exporting(address, "histograms: explicit", "");
    get(proxy.address, "/");
    let metrics = wait(&collected, |metrics| ok_requests(metrics) == 1);
    let duration = find(&metrics, "celero_request_duration_seconds");
    let Some(Data::Histogram(histogram)) = &duration.data else { panic!("{duration:?}") };
    let point = &histogram.data_points[0];
    assert_eq!((point.explicit_bounds.len(), point.bucket_counts.len(), point.count), (14, 15, 1));
    assert_eq!(point.explicit_bounds[..2], [0.0005, 0.001]);
}

/// Counters of the policy begin anew when it is loaded, those of the process go on.
#[test]
fn a_reload_begins_the_counters_of_the_policy() {
    let (address, collected) = collector(200);
    let proxy = exporting(address, "", "request:\n  - { name: a, count: seen }\n");
    let rule = |metrics: &[Metric]| sums(metrics, "celero_rule_matches_total")[0].clone();
    let is = |metrics: &[Metric], count| rule(metrics).value == Some(Value::AsInt(count));
    get(proxy.address, "/");
    let before = wait(&collected, |metrics| is(metrics, 1));
    proxy.handle.reload().unwrap();
    // More than before: the value alone does not tell that it began anew.
    (0..3).for_each(|_| drop(get(proxy.address, "/")));
    let after = wait(&collected, |metrics| is(metrics, 3));
    assert!(rule(&before).time_unix_nano < rule(&after).start_time_unix_nano);
    let start = |metrics: &[Metric]| sums(metrics, "celero_requests_total")[0].start_time_unix_nano;
    assert_eq!((start(&before), ok_requests(&after)), (start(&after), 4));
}

/// The last metrics are sent when the proxy ends; a collector that refuses or hangs costs no request anything.
#[test]
fn failures_are_counted_and_the_last_metrics_are_sent() {
    for url in [collector(500).0, SocketAddr::from(([127, 0, 0, 1], 1))] {
        let proxy = exporting(url, "", "");
        let failed = || proxy.metric("celero_metric_exports_total{result=\"failed\"}");
        eventually(|| failed() >= 1.0, || format!("a failure of {url}"));
        assert_eq!(get_with(proxy.address, "/", &[]).status, 200);
    }
    let (hangs, waiting) = collector(0);
    let proxy = exporting(hangs, "", "");
    eventually(|| waiting.lock().unwrap().requests.len() == 1, || "a request".into());
    assert_eq!(get_with(proxy.address, "/", &[]).status, 200);
    drop(proxy);
    let (address, collected) = collector(200);
    let proxy = exporting(address, "interval: 1h", "");
    get(proxy.address, "/");
    proxy.reaches("celero_requests_total{status=\"2xx\"}", 1.0);
    assert!(collected.lock().unwrap().requests.is_empty());
    drop(proxy);
    let requests = &collected.lock().unwrap().requests;
    assert_eq!((requests.len(), ok_requests(&requests[0])), (1, 1));
}

#[test]
fn a_reload_starts_and_ends_the_export() {
    let (address, collected) = collector(200);
    let proxy = Running::demo("empty: allowed\n");
    let sent = || collected.lock().unwrap().requests.len();
    let without = std::fs::read_to_string(proxy.folder.0.join("proxy.yaml")).unwrap();
    let export =
        format!("metrics: {{ address: \"127.0.0.1:0\", export: {{ url: \"http://{address}\", interval: 1s }} }}\n");
    proxy.folder.write("proxy.yaml", &without.replace("metrics: 127.0.0.1:0\n", &export));
    proxy.handle.reload().unwrap();
    eventually(|| sent() >= 1, || "metrics".into());
    proxy.folder.write("proxy.yaml", &without);
    proxy.handle.reload().unwrap();
    let exported = || proxy.metric("celero_metric_exports_total{result=\"exported\"}");
    // One may be under way.
    eventually(|| sent() as f64 == exported(), || format!("{} to be {}", exported(), sent()));
    let before = sent();
    drop(proxy);
    // Neither later nor at the end.
    assert_eq!(sent(), before);
}
