//! What a policy does with one request. The server behind it answers with 200 and no headers.

use celero_policy::{
    BufferState, ClientConnection, ConnectionOutcome, Decision, Edit, Exchange, Outcome, Phase, Policy, PolicyAnswer,
    RequestSummary, RuleReasons,
};
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use serde_json::{Map, Value as Json, json};
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

/// How much of a body is shown, in bytes.
const SHOWN_BODY: usize = 2048;

/// What is asked about a request.
pub(super) struct Asked<'q> {
    pub(super) client: SocketAddr,
    /// When the request arrives.
    pub(super) time: SystemTime,
    /// Whether the reasons of the rules that decide are wanted.
    pub(super) why: bool,
    /// A rule whose reasons are wanted too.
    pub(super) rule: Option<&'q str>,
}

/// Runs the policy for one request.
pub(super) fn run(policy: &Policy, request: Request<Vec<u8>>, asked: &Asked<'_>) -> Map<String, Json> {
    let mut connection = ClientConnection::new(Some(asked.client), None);
    let mut exchange = Exchange::new(Some(asked.client), None);
    exchange.set_start_time(asked.time);
    if asked.why {
        connection.watch_rules(asked.rule);
        exchange.watch_rules(asked.rule);
    }
    let (mut head, body) = request.into_parts();
    let mut answer = Map::new();
    let mut add = |name: &str, json: Json| drop(answer.insert(name.to_owned(), json));
    if let ConnectionOutcome::Close { rule } = policy.connection(&mut connection) {
        add("closed_by", json!(&*rule));
        add("phases", json!([]));
        if asked.why {
            add("reasons", reasons(connection.rule_reasons()));
        }
        return answer;
    }
    let mut phases = Vec::new();
    let (mut response, ()) = Response::new(()).into_parts();
    let mut answered = before_server(policy, &mut head, &body, &mut exchange, &mut phases);
    if answered.is_none() {
        let outcome = policy.response(&head, &mut response, &mut exchange);
        exchange.edits().apply_to_response(&mut response);
        answered = ended(Phase::Response, outcome, &exchange, &mut phases);
    }
    if let Some(answered) = &answered {
        response.status = answered.status;
        response.headers = answered.headers.clone();
    }
    let bytes_sent = answered.as_ref().map_or(0, |answer| u64::try_from(answer.body.len()).unwrap_or(u64::MAX));
    let end = RequestSummary { started: asked.time, duration: Duration::from_millis(1), bytes_sent };
    let log = policy.log(&head, Some(&response), &end, &mut exchange);
    let log: Map<String, Json> = log.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    add("phases", json!(phases));
    if asked.why {
        add("reasons", reasons(connection.rule_reasons().chain(exchange.rule_reasons())));
    }
    add(
        "answer",
        json!(answered.map(|answer| json!({
            "status": answer.status.as_u16(),
            "rule": &*answer.rule,
            "headers": headers(&answer.headers),
            "body": String::from_utf8_lossy(answer.body.get(..SHOWN_BODY).unwrap_or(&answer.body)),
        }))),
    );
    add("refusal", json!(exchange.refusal().map(|refusal| refusal.word())));
    add(
        "request",
        json!({ "method": head.method.as_str(), "target": head.uri.to_string(), "headers": headers(&head.headers) }),
    );
    add("response", json!({ "status": response.status.as_u16(), "headers": headers(&response.headers) }));
    add("labels", exchange.labels().map(|(name, value)| json!([name, value])).collect());
    add("log", json!(log));
    answer
}

fn reasons(of: impl Iterator<Item = RuleReasons>) -> Json {
    let one = |rule: RuleReasons| {
        let RuleReasons { phase, name, decided, lines, .. } = rule;
        json!({ "phase": phase.name(), "name": &*name, "decided": decided, "lines": lines })
    };
    of.map(one).collect()
}

fn before_server(
    policy: &Policy,
    head: &mut Parts,
    body: &[u8],
    exchange: &mut Exchange,
    phases: &mut Vec<Json>,
) -> Option<PolicyAnswer> {
    let decision = policy.request(head, exchange);
    let answer = ended(Phase::Request, decision, exchange, phases);
    if answer.is_some() {
        return answer;
    }
    exchange.edits().apply_to_request(head);
    let decision = match policy.request_messages(head, exchange) {
        Some(messages) => messages.whole(policy, body, exchange).into(),
        None => match policy.request_buffering(head, exchange)?.state(body.len(), true) {
            BufferState::TooLarge => policy.request_body_too_large(head, exchange),
            BufferState::Ready | BufferState::More => policy.request_body(head, body, exchange),
        },
    };
    let answer = ended(Phase::RequestBody, decision, exchange, phases);
    if answer.is_none() {
        exchange.edits().apply_to_request(head);
    }
    answer
}

/// Notes the end of a phase. Returns the answer that it gave.
fn ended(
    phase: Phase,
    decision: impl Into<Decision>,
    exchange: &Exchange,
    phases: &mut Vec<Json>,
) -> Option<PolicyAnswer> {
    let Decision { delay, outcome } = decision.into();
    let answer = match outcome {
        Outcome::Continue => None,
        Outcome::Respond(answer) => Some(*answer),
    };
    let edits = exchange.edits().iter().filter(|_| answer.is_none()).map(|edit| match edit {
        Edit::Set { name, value } => json!({ "edit": "set", "name": name.as_str(), "value": text(value.as_bytes()) }),
        Edit::Add { name, value } => json!({ "edit": "add", "name": name.as_str(), "value": text(value.as_bytes()) }),
        Edit::Remove { name } => json!({ "edit": "remove", "name": name.as_str() }),
    });
    let target = exchange.edits().uri().map(|uri| ("target", uri.to_string()));
    let status = exchange.edits().status().map(|status| ("status", status.as_u16().to_string()));
    let body = exchange.edits().body().map(|body| ("body", text(body.get(..SHOWN_BODY).unwrap_or(body))));
    let heads = target.into_iter().chain(status).chain(body).filter(|_| answer.is_none());
    let edits = edits.chain(heads.map(|(name, value)| json!({ "edit": "set", "name": name, "value": value })));
    phases.push(json!({
        "phase": phase.name(),
        "edits": edits.collect::<Vec<_>>(),
        "delay": delay.map(|delay| format!("{:?}", delay.time())),
        "answered_by": answer.as_ref().map(|answer| answer.rule.to_string()),
    }));
    answer
}

fn headers(headers: &HeaderMap) -> Json {
    headers.iter().map(|(name, value)| json!([name.as_str(), text(value.as_bytes())])).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
