//! An entry of the access log: the proxy's own fields of a request, then the fields of the policy.

use crate::clients::{CONNECTION, Client};
use crate::request::failure;
use crate::request::state::RequestState;
use crate::upstreams::routing;
use celero_pingora::final_response;
use celero_policy::LogFields;
use pingora::Error;
use pingora::proxy::Session;
use serde_json::Value as Json;
use std::fmt::Write;

/// Returns the entry as a line of JSON, without a line break. A field of the policy replaces a
/// field of the proxy with the same name.
pub(crate) fn line(session: &Session, request: &RequestState, fields: &LogFields, error: Option<&Error>) -> String {
    let mut entry = LogEntry { text: String::with_capacity(384), fields };
    let (guard, head) = (&request.guard, session.req_header());
    let started = jiff::Timestamp::try_from(guard.started()).unwrap_or_default();
    entry.add("time", || format!("{started:.3}").into());
    let client = request.client.as_ref();
    entry.add("client", || client.map(Client::text).into());
    if let Some(client) = client.filter(|client| client.via != CONNECTION) {
        entry.add("via", || client.via.into());
        entry.add("peer", || client.peer.to_string().into());
    }
    entry.add("method", || head.method.as_str().into());
    entry.add("host", || routing::host(head).into());
    entry.add("path", || head.uri.path().into());
    entry.add("protocol", || format!("{:?}", head.version).into());
    if let Some(tls) = session.digest().and_then(|digest| digest.ssl_digest.as_ref()) {
        // rustls writes `TLSv1_3`.
        entry.add("tls", || tls.version.replace('_', ".").into());
    }
    let response = final_response(session);
    if let Some(client) = client {
        entry.add("requestId", || client.request_id.as_str().into());
        if let Some(trace) = &client.trace_id {
            entry.add("traceId", || trace.as_str().into());
        }
    }
    entry.add("status", || response.map(|head| head.status.as_u16()).into());
    // Without it, refused calls would look like answered ones.
    let of_answer = || guard.answer()?.headers.get("grpc-status");
    if let Some(status) = response.and_then(|head| head.headers.get("grpc-status")).or_else(of_answer) {
        entry.add("grpcStatus", || String::from_utf8_lossy(status.as_bytes()).into());
    }
    entry.add("bytesSent", || session.body_bytes_sent().into());
    entry.add("durationMs", || (guard.elapsed().as_micros() as f64 / 1e3).into());
    if let Some(upstream) = request.upstream() {
        entry.add("upstream", || (*upstream.name).into());
    }
    if let Some(server) = request.server {
        entry.add("server", || server.to_string().into());
    }
    if request.retries > 0 {
        entry.add("retries", || request.retries.into());
    }
    if let Some(refused) = guard.exchange().refusal().map(|refusal| refusal.word()).or(request.refused) {
        entry.add("refused", || refused.into());
    }
    if let Some(answer) = guard.answer() {
        entry.add("rule", || (*answer.rule).into());
    } else if let Some(error) = error {
        entry.add("error", || failure::reason_of(error).into());
    }
    for (name, value) in fields.iter() {
        entry.put(name, value);
    }
    entry.text.push_str(if entry.text.is_empty() { "{}" } else { "}" });
    entry.text
}

struct LogEntry<'a> {
    text: String,
    fields: &'a LogFields,
}

impl LogEntry<'_> {
    /// Adds a field of the proxy, unless the policy has one with this name.
    fn add(&mut self, name: &str, value: impl FnOnce() -> Json) {
        if !self.fields.iter().any(|(taken, _)| taken == name) {
            self.put(name, &value());
        }
    }

    fn put(&mut self, name: &str, value: &Json) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        let _ = write!(self.text, "{}:{value}", Json::from(name));
    }
}
