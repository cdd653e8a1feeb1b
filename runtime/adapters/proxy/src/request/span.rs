//! The span of a request, by the conventions of OpenTelemetry for servers of HTTP.
//!
//! Invariant: the flag `sampled` is decided when the request arrives. A client decides it only if the configuration
//! trusts the client. Test: `runtime/adapters/proxy/tests/proxy/spans.rs::clients_do_not_decide_what_is_recorded`.

use crate::clients::{Client, SpanIds};
use crate::request::failure;
use crate::request::state::RequestState;
use crate::upstreams::routing;
use celero_pingora::final_response;
use celero_policy::EndCondition;
use http::Version;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use pingora::Error;
use pingora::proxy::Session;

/// The methods that may be in names; others would make too many.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// The longest name of a host, in bytes. Names in DNS are not longer.
const LONGEST_HOST: usize = 255;

/// The longest other text that is or may hold what a client sent, in bytes: the queue of spans is
/// bounded in their number.
const LONGEST_TEXT: usize = 2 << 10;

/// Sends the span of a request that is over, if its trace is recorded or the configuration asks for it.
pub(crate) fn record(session: &Session, request: &RequestState, error: Option<&Error>) {
    let Some(export) = &request.now.spans else { return };
    let client = request.client.as_ref();
    if let Some((client, (trace, ids))) =
        client.and_then(|client| Some((client, client.trace_id.as_deref().zip(client.span)?)))
        && (ids.sampled || is_always_recorded(session, request, client, export.config.always.as_ref()))
    {
        export.record(span(session, request, error, trace, ids));
    }
}

/// Returns whether a condition on the end of a request holds. A condition that fails counts as false.
fn is_always_recorded(session: &Session, request: &RequestState, client: &Client, when: Option<&EndCondition>) -> bool {
    let Some(when) = when else { return false };
    let end = request.guard.summary(session);
    let response = final_response(session).map(|head| &**head);
    when.matches(session.req_header(), response, &end, client.origin()).unwrap_or(false)
}

fn span(session: &Session, request: &RequestState, error: Option<&Error>, trace: &str, ids: SpanIds) -> SpanData {
    let (guard, head) = (&request.guard, session.req_header());
    let known = METHODS.into_iter().find(|known| *known == head.method.as_str());
    let route = request.route.and_then(|route| request.now.routes().get(route)).map(|route| route.name());
    let status = final_response(session).map(|response| response.status.as_u16());
    let has_tls = session.digest().is_some_and(|digest| digest.ssl_digest.is_some());
    let protocol = match head.version {
        Version::HTTP_10 => "1.0",
        Version::HTTP_2 => "2",
        _ => "1.1",
    };
    let mut attributes = vec![
        KeyValue::new("http.request.method", known.unwrap_or("_OTHER")),
        KeyValue::new("url.path", cut(head.uri.path(), LONGEST_TEXT)),
        KeyValue::new("url.scheme", if has_tls { "https" } else { "http" }),
        KeyValue::new("server.address", cut(routing::host(head), LONGEST_HOST)),
        KeyValue::new("network.protocol.version", protocol),
    ];
    let texts = [
        ("client.address", request.client.as_ref().map(|client| client.address.ip().to_string())),
        ("http.route", route.clone()),
        ("celero.upstream", request.upstream().map(|upstream| upstream.name.to_string())),
        ("celero.server", request.server.map(|server| server.to_string())),
        ("celero.rule", guard.answer().map(|answer| answer.rule.to_string())),
    ];
    attributes.extend(texts.into_iter().filter_map(|(name, text)| Some(KeyValue::new(name, text?))));
    attributes.extend(status.map(|status| KeyValue::new("http.response.status_code", i64::from(status))));
    // What a client does wrong is no error of the server.
    let fails = status.is_none_or(|status| status >= 500);
    let reason = error.map(|error| cut(&failure::reason_of(error), LONGEST_TEXT)).unwrap_or_default();
    let method = known.unwrap_or("HTTP");
    SpanData {
        span_context: SpanContext::new(
            TraceId::from_hex(trace).unwrap_or(TraceId::INVALID),
            SpanId::from_bytes(ids.id.to_be_bytes()),
            // The span is recorded, also if the trace as a whole is not.
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        ),
        parent_span_id: SpanId::from_bytes(ids.parent.to_be_bytes()),
        parent_span_is_remote: ids.parent != 0,
        span_kind: SpanKind::Server,
        name: route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}")).into(),
        start_time: guard.started(),
        end_time: guard.started().checked_add(guard.elapsed()).unwrap_or_else(|| guard.started()),
        attributes,
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: if fails { Status::Error { description: reason.into() } } else { Status::Unset },
        instrumentation_scope: InstrumentationScope::builder("celero-proxy")
            .with_version(env!("CARGO_PKG_VERSION"))
            .build(),
    }
}

/// Returns the beginning of a text: whole characters, at most so many bytes.
fn cut(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!([cut("", 3), cut("abc", 3), cut("abcd", 3)], ["", "abc", "abc"]);
        assert_eq!([cut("a\u{e4}\u{e4}", 4), cut("\u{1f980}", 3)], ["a\u{e4}", ""]);
    }
}
