//! Spans of requests, as a collector of OpenTelemetry gets them.

use crate::client::{Client, get_with};
use crate::collector::attribute;
use crate::running::{Running, eventually};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// A collector that decodes what it gets.
#[derive(Default)]
struct Collected {
    spans: Vec<Span>,
    resource: Vec<KeyValue>,
    heads: Vec<String>,
}

/// Starts a collector that answers with this status, or never if that is 0.
fn collector(status: u16) -> (SocketAddr, Arc<Mutex<Collected>>) {
    crate::collector::collector(status, |found: &mut Collected, head, body| {
        let request = ExportTraceServiceRequest::decode(body).unwrap();
        found.heads.push(head);
        for part in request.resource_spans {
            found.resource = part.resource.unwrap().attributes;
            found.spans.extend(part.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A proxy that sends its spans there.
fn exporting(collector: SocketAddr, traces: &str, export: &str, policy: &str) -> Running {
    let rest = format!(
        "upstreams: [{{ name: demo, demo: true }}]\nroutes: [{{ path: /echo, upstream: demo }}, {{ path: /down, answer: {{ status: 503 }} }}, \
         {{ upstream: demo }}]\ntraces: {{ {traces}, export: {{ url: \"http://{collector}/v1/traces\", {export} }} }}\n\
         forwarded: {{ trusted: [\"127.0.0.1\"] }}\n"
    );
    Running::with(&rest, policy)
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[test]
fn a_span_has_its_place_in_the_trace() {
    let (address, collected) = collector(200);
    let export = "serviceName: edge, attributes: { deployment.environment.name: tests }";
    let policy = "request: [{ name: no, when: request.path == '/no', deny: 403 }]\n";
    let proxy = exporting(address, "sampled: 1", export, policy);
    let parent = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01");
    let kept =
        get_with(proxy.address, "/echo?secret=1", &[&parent, "tracestate: a=b", "x-forwarded-for: 192.0.2.1"]).echo();
    let begun = get_with(proxy.address, "/", &[]);
    assert_eq!(begun.status, 200);
    assert_eq!(get_with(proxy.address, "/no", &[]).status, 403);
    assert_eq!(get_with(proxy.address, "/down", &[]).status, 503);
    assert_eq!(Client::connect(proxy.address).request("BREW /echo", &[], b"").reply().status, 200);
    // Not recorded, so nothing of it changes.
    let unsampled = format!("00-{TRACE}-00f067aa0ba902b7-00");
    let echo = get_with(proxy.address, "/echo", &[&format!("traceparent: {unsampled}")]).echo();
    assert_eq!(echo.header("traceparent"), [unsampled]);

    eventually(|| collected.lock().unwrap().spans.len() == 5, || format!("{}", collected.lock().unwrap().spans.len()));
    let Collected { spans, resource, heads } = &*collected.lock().unwrap();
    let find = |name: &str, path: &str| {
        spans.iter().find(|span| span.name == name && attribute(&span.attributes, "url.path") == path).expect(name)
    };
    let span = find("GET */echo", "/echo");
    assert_eq!((hex(&span.trace_id), hex(&span.parent_span_id)), (TRACE.to_owned(), "00f067aa0ba902b7".to_owned()));
    // What the server records belongs to this span.
    assert_eq!(kept.header("traceparent"), [format!("00-{TRACE}-{}-01", hex(&span.span_id))]);
    assert_eq!(kept.header("tracestate"), ["a=b"]);
    for (name, expected) in [
        ("http.request.method", "GET"),
        ("url.path", "/echo"),
        ("url.scheme", "http"),
        ("url.query", "-"),
        ("server.address", "localhost"),
        ("network.protocol.version", "1.1"),
        ("client.address", "192.0.2.1"),
        ("http.route", "*/echo"),
        ("http.response.status_code", "200"),
        ("celero.upstream", "demo"),
        ("celero.rule", "-"),
    ] {
        assert_eq!(attribute(&span.attributes, name), expected, "{name}");
    }
    assert!(span.kind == 2 && span.status.as_ref().unwrap().code == 0, "{span:?}");
    assert!(span.end_time_unix_nano >= span.start_time_unix_nano && span.start_time_unix_nano > 0);
    let own = find("GET *", "/");
    assert!(own.parent_span_id.is_empty() && own.trace_id.len() == 16 && own.trace_id != span.trace_id, "{own:?}");
    assert_eq!(attribute(&find("GET", "/no").attributes, "celero.rule"), "no");
    assert_eq!(find("GET */down", "/down").status.as_ref().unwrap().code, 2);
    assert_eq!(attribute(&find("HTTP */echo", "/echo").attributes, "http.request.method"), "_OTHER");
    for (name, expected) in [("service.name", "edge"), ("deployment.environment.name", "tests")] {
        assert_eq!(attribute(resource, name), expected);
    }
    assert!(heads[0].starts_with("POST /v1/traces HTTP/1.1\r\n"), "{}", heads[0]);
    let exported = || proxy.metric("celero_spans_total{result=\"exported\"}");
    eventually(|| exported() == 5.0, || format!("5 exported, not {}", exported()));
}

/// A share of the traces that begin here is recorded, and clients who are not trusted have no say.
#[test]
fn clients_do_not_decide_what_is_recorded() {
    let (address, collected) = collector(200);
    let rest = format!(
        "upstreams: [{{ name: demo, demo: true }}]\nroutes: [{{ upstream: demo }}]\ntraces: {{ sampled: 0.000001, export: {{ url: \"http://{address}/\" }} }}\n"
    );
    let proxy = Running::with(&rest, "");
    let parent = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01");
    for _ in 0..20 {
        let echo = get_with(proxy.address, "/echo", &[&parent]).echo();
        assert!(echo.header("traceparent").concat().ends_with("-00"), "{}", echo.0);
    }
    drop(proxy);
    assert!(collected.lock().unwrap().spans.is_empty());
}

/// A collector that hangs costs spans, and no request anything.
#[test]
fn requests_do_not_wait_for_the_collector() {
    let (address, _) = collector(0);
    let proxy = exporting(address, "sampled: 1", "queue: 8", "");
    let mut client = Client::connect(proxy.address);
    for _ in 0..50 {
        assert_eq!(client.request("GET /", &[], b"").reply().status, 200);
    }
    let dropped = || proxy.metric("celero_spans_total{result=\"dropped\"}");
    eventually(|| dropped() >= 42.0, || format!("42 dropped, not {}", dropped()));
}

#[test]
fn a_collector_that_refuses_is_counted() {
    for address in [collector(500).0, SocketAddr::from(([127, 0, 0, 1], 1))] {
        let proxy = exporting(address, "sampled: 1", "queue: 8", "");
        assert_eq!(get_with(proxy.address, "/", &[]).status, 200);
        let failed = || proxy.metric("celero_spans_total{result=\"failed\"}");
        eventually(|| failed() == 1.0, || format!("1 failed, not {}", failed()));
    }
}

/// A reload that changes nothing about it keeps the queue and its counts; another collector gets what comes then.
#[test]
fn a_reload_changes_the_collector() {
    let ((first, before), (second, after)) = (collector(200), collector(200));
    let proxy = exporting(first, "sampled: 1", "queue: 8", "");
    assert_eq!(get_with(proxy.address, "/", &[]).status, 200);
    let spans = |collected: &Mutex<Collected>| collected.lock().unwrap().spans.len();
    eventually(|| spans(&before) == 1, || "a span".into());
    proxy.handle.reload().unwrap();
    proxy.reaches("celero_spans_total{result=\"exported\"}", 1.0);
    let file = proxy.folder.0.join("proxy.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    proxy.folder.write("proxy.yaml", &text.replace(&first.to_string(), &second.to_string()));
    proxy.handle.reload().unwrap();
    assert_eq!(get_with(proxy.address, "/", &[]).status, 200);
    eventually(|| spans(&after) == 1, || "a span".into());
    assert_eq!(spans(&before), 1);
    // The last one is sent when the proxy ends.
    assert_eq!(get_with(proxy.address, "/", &[]).status, 200);
    drop(proxy);
    assert_eq!(spans(&after), 2);
}

#[test]
fn what_is_no_collector_is_an_error() {
    let folder = crate::running::Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    for (url, why) in [("127.0.0.1:4318", "is no URL of a collector"), ("ftp://a/b", "is no URL of a collector")] {
        let rest = format!(
            "upstreams: [{{ name: d, demo: true }}]\nroutes: [{{ upstream: d }}]\ntraces: {{ export: {{ url: \"{url}\" }} }}\n"
        );
        let file = folder.write("proxy.yaml", &crate::running::config(&rest));
        let error = celero_proxy::config::Config::load(&file).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
