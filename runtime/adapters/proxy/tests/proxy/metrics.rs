//! What `/metrics` says, as Prometheus reads it.

use crate::client::{get, post};
use crate::h2;
use crate::running::{Running, config};
use std::collections::{BTreeMap, BTreeSet};

/// Reads a page, and checks what Prometheus requires of it: each family once, its samples below it,
/// each combination of labels once, counters that end with `_total`, buckets that only rise.
fn samples(page: &str) -> BTreeMap<String, f64> {
    let (mut found, mut families, mut family) = (BTreeMap::new(), BTreeSet::new(), "");
    for line in page.lines().filter(|line| !line.starts_with("# HELP ")) {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let mut words = rest.split(' ');
            family = words.next().unwrap();
            assert!(words.next() != Some("counter") || family.ends_with("_total"), "{family} is a counter");
            assert!(families.insert(family), "{family} twice");
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').unwrap();
        assert!(sample.starts_with(family), "{sample} is not of {family}");
        assert!(found.insert(sample.to_owned(), value.parse().unwrap()).is_none(), "{sample} twice");
    }
    found
}

fn page(proxy: &Running) -> BTreeMap<String, f64> {
    // A request is counted after its answer was sent.
    proxy.reaches("celero_requests_open", 0.0);
    samples(&get(proxy.metrics, "/metrics").text())
}

const ROUTES: &str = "upstreams: [{ name: a, demo: true }, { name: b, demo: true }]\nroutes:\n  - { host: localhost, path: /api, upstream: a }\n  - { path: /b, upstream: b }\n  - { path: /b, upstream: b }\n";

#[test]
fn durations_are_counted_by_route_upstream_and_class() {
    let proxy = Running::with(ROUTES, "request: [{ name: no, when: 'request.path == \"/no\"', deny: 403 }]\n");
    for (path, status) in [("/api/x", 200), ("/api/y", 200), ("/b", 200), ("/no", 403), ("/nowhere", 404)] {
        assert_eq!(get(proxy.address, path).status, status, "{path}");
    }
    assert_eq!(post(proxy.address, "/b", &[b'x'; 5000]).status, 200);
    let now = page(&proxy);
    let name = "celero_request_duration_seconds";
    for (labels, count) in [
        ("route=\"localhost/api\",upstream=\"a\",status=\"2xx\"", 2.0),
        ("route=\"*/b\",upstream=\"b\",status=\"2xx\"", 2.0),
        ("route=\"\",upstream=\"\",status=\"4xx\"", 2.0),
    ] {
        assert_eq!(now[&format!("{name}_count{{{labels}}}")], count, "{labels}");
        assert_eq!(now[&format!("{name}_bucket{{{labels},le=\"+Inf\"}}")], count, "{labels}");
        assert!(now[&format!("{name}_sum{{{labels}}}")] > 0.0);
        let mut before = 0.0;
        for bound in
            ["0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10"]
        {
            let bucket = now[&format!("{name}_bucket{{{labels},le=\"{bound}\"}}")];
            assert!(bucket >= before && bucket <= count);
            before = bucket;
        }
    }
    assert_eq!(now["celero_request_bytes_total{route=\"*/b\",upstream=\"b\"}"], 5000.0);
    assert!(now["celero_response_bytes_total{route=\"*/b\",upstream=\"b\"}"] > 100.0);
    for (code, count) in [("200", 4.0), ("403", 1.0), ("404", 1.0)] {
        assert_eq!(now[&format!("celero_responses_total{{code=\"{code}\"}}")], count, "{code}");
    }
}

/// Counters of routes that stay go on; those of others are gone, so that reloads do not fill the page.
#[test]
fn reloads_keep_the_counters_of_routes_that_stay() {
    let proxy = Running::with(ROUTES, "");
    assert_eq!([get(proxy.address, "/b").status, get(proxy.address, "/api").status], [200, 200]);
    page(&proxy);
    let rest = "upstreams: [{ name: b, demo: true }]\nroutes: [{ path: /b, upstream: b }]\n";
    proxy.folder.write("proxy.yaml", &config(rest));
    proxy.handle.reload().unwrap();
    get(proxy.address, "/b");
    let now = page(&proxy);
    assert_eq!(now["celero_request_duration_seconds_count{route=\"*/b\",upstream=\"b\",status=\"2xx\"}"], 2.0);
    assert!(!now.keys().any(|sample| sample.contains("localhost/api")));
}

#[test]
fn rules_of_one_name_are_one_line() {
    let rule = "{ name: twin, when: 'request.path == \"/b\"', setHeaders: { x-a: b } }";
    let proxy = Running::demo(&format!("request:\n  - {rule}\n  - {rule}\n  - {{ setHeaders: {{ x-b: c }} }}\n"));
    get(proxy.address, "/b");
    assert_eq!(page(&proxy)["celero_rule_matches_total{phase=\"request\",rule=\"twin\"}"], 2.0);
}

#[test]
fn refused_calls_of_grpc_are_no_successes() {
    let proxy = Running::demo("request: [{ name: no, when: 'request.path == \"/no\"', deny: 403 }]\n");
    let call = |path| {
        let mut request = h2::request("POST", path, b"");
        request.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
        h2::exchange(proxy.address, vec![request]).remove(0)
    };
    let refused = call("/no");
    assert_eq!((refused.status().as_u16(), refused.headers()["grpc-status"].to_str().unwrap()), (200, "7"));
    let now = page(&proxy);
    assert_eq!(
        (now["celero_requests_total{status=\"4xx\"}"], now["celero_requests_total{status=\"2xx\"}"]),
        (1.0, 0.0)
    );
    assert_eq!(now["celero_grpc_responses_total{code=\"7\"}"], 1.0);
}

#[test]
fn the_process_is_measured() {
    let now = page(&Running::demo("empty: allowed\n"));
    assert!(
        now["process_resident_memory_bytes"] > 1e6
            && now["process_resident_memory_bytes"] < now["process_virtual_memory_bytes"]
    );
    assert!(now["process_open_fds"] > 5.0 && now["process_max_fds"] >= now["process_open_fds"]);
    assert!(now["process_threads"] > 1.0 && now["process_cpu_seconds_total"] > 0.0);
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let age = seconds - now["process_start_time_seconds"];
    assert!((-2.0..3600.0).contains(&age), "{age}");
}
