//! Which requests have spans, decided by conditions.

use crate::client::get_with;
use crate::collector::{attribute, collector as start};
use crate::running::{Folder, Running, config, eventually};
use celero_proxy::config::Config;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

fn collector() -> (SocketAddr, Arc<Mutex<Vec<Span>>>) {
    start(200, |found: &mut Vec<Span>, _, body| {
        let parts = ExportTraceServiceRequest::decode(body).unwrap().resource_spans.into_iter();
        found.extend(parts.flat_map(|part| part.scope_spans).flat_map(|scope| scope.spans));
    })
}

fn proxy(address: SocketAddr, traces: &str, export: &str, more: &str) -> Running {
    let rest = format!(
        "upstreams: [{{ name: demo, demo: true }}]\nroutes: [{{ upstream: demo }}]\n\
         traces: {{ {traces}, export: {{ url: \"http://{address}/\", {export} }} }}\n{more}"
    );
    Running::with(&rest, "")
}

fn paths(spans: &Mutex<Vec<Span>>) -> Vec<String> {
    let mut paths: Vec<String> =
        spans.lock().unwrap().iter().map(|span| attribute(&span.attributes, "url.path")).collect();
    paths.sort();
    paths
}

const PARENT: &str = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";

const RULES: &str = "sampled: 0.000001, sample: [\
    { when: request.path == '/health', share: 0 }, \
    { when: 'request.headers[\"x-none\"] == \"a\"', share: 1 }, \
    { when: request.path.startsWith('/pay') && source.address == '192.0.2.1' && source.via == 'x-forwarded-for', share: 1 }, \
    { when: request.path.startsWith('/health'), share: 1 }]";

/// The first rule that fits counts, a rule that fails does not, and servers are told what was decided.
#[test]
fn rules_decide_what_is_recorded() {
    let (address, spans) = collector();
    let proxy = proxy(address, RULES, "", "forwarded: { trusted: [\"127.0.0.1\"] }\n");
    let client = "x-forwarded-for: 192.0.2.1";
    for (path, headers, sampled) in [
        ("/health", vec![client], false),
        ("/health/x", vec![client], true),
        ("/pay/1", vec![client], true),
        ("/pay/2", vec!["x-forwarded-for: 192.0.2.2"], false),
        ("/other", vec![client], false),
    ] {
        let told = get_with(proxy.address, path, &headers).echo().header("traceparent").concat();
        assert_eq!(told.ends_with("-01"), sampled, "{path} {told}");
    }
    // A trusted proxy has decided already.
    let kept = format!("{PARENT}-01");
    let told = get_with(proxy.address, "/health", &[client, &kept]).echo().header("traceparent").concat();
    assert!(told.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && told.ends_with("-01"), "{told}");
    eventually(|| spans.lock().unwrap().len() == 3, || format!("{:?}", paths(&spans)));
    assert_eq!(paths(&spans), ["/health", "/health/x", "/pay/1"]);
}

/// Clients that are not trusted can't have their requests recorded, whatever they send.
#[test]
fn the_flag_of_a_stranger_does_not_count() {
    let (address, spans) = collector();
    let proxy = proxy(address, "sampled: 0.000001, sample: [{ when: request.path == '/yes', share: 1 }]", "", "");
    for path in ["/echo", "/yes"] {
        let sent = format!("{PARENT}-01");
        let told = get_with(proxy.address, path, &[&sent, "tracestate: a=b"]).echo();
        let parent = told.header("traceparent").concat();
        assert!(!parent.contains("4bf92f3577b34da6a3ce929d0e0e4736"), "{parent}");
        assert_eq!((parent.ends_with("-01"), told.header("tracestate").len()), (path == "/yes", 0), "{parent}");
    }
    // The end of a proxy waits for the collector only so long.
    eventually(|| !paths(&spans).is_empty(), || "a span".to_owned());
    drop(proxy);
    assert_eq!(paths(&spans), ["/yes"]);
}

/// A condition on the end of a request adds spans of traces that nobody else records.
#[test]
fn the_end_of_a_request_may_decide() {
    let (address, spans) = collector();
    let always = "always: \"response.code >= 404 && request.duration < duration('10m') && request.method == 'GET'\"";
    let proxy = proxy(address, "sampled: 0.000001", always, "forwarded: { trusted: [\"127.0.0.1\"] }\n");
    let unsampled = format!("{PARENT}-00");
    assert_eq!(get_with(proxy.address, "/status/503", &[&unsampled]).status, 503);
    assert_eq!(get_with(proxy.address, "/status/404", &[]).status, 404);
    assert_eq!(get_with(proxy.address, "/status/403", &[]).status, 403);
    // What servers are told was decided before, and they have no other parent than before.
    let told = get_with(proxy.address, "/echo", &[&unsampled]).echo().header("traceparent").concat();
    assert_eq!(format!("traceparent: {told}"), unsampled);
    drop(proxy);
    assert_eq!(paths(&spans), ["/status/404", "/status/503"]);
    let spans = spans.lock().unwrap();
    let span = |path: &str| spans.iter().find(|span| attribute(&span.attributes, "url.path") == path).unwrap();
    let kept = span("/status/503");
    assert_eq!(kept.parent_span_id, [0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
    assert!(span("/status/404").parent_span_id.is_empty() && kept.span_id != kept.parent_span_id);
}

#[test]
fn conditions_are_checked() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    for (traces, parts) in [
        ("sample: [{ when: request.pth == '/', share: 1 }]", &["proxy.yaml:8:36", "did you mean `request.path`?"][..]),
        ("sample: [{ when: request.path, share: 1 }]", &["a condition is `bool`, this is `string`"]),
        ("sample: [{ when: 'response.code == 500', share: 1 }]", &["response"]),
        ("sample: [{ when: 'true', share: 1.5 }]", &["`share` is a number from 0 to 1"]),
        ("sample: [{ share: 1 }]", &["needs the key `when`"]),
        ("export: { url: \"http://a/\", always: response.cod > 1 }", &["response.code"]),
    ] {
        let rest =
            format!("upstreams: [{{ name: d, demo: true }}]\nroutes: [{{ upstream: d }}]\ntraces: {{ {traces} }}\n");
        let file = folder.write("proxy.yaml", &config(&rest));
        let error = Config::load(&file).expect_err(traces).to_string();
        for part in parts {
            assert!(error.contains(part), "expected {part:?} in:\n{error}");
        }
    }
}
