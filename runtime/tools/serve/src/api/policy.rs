//! The policy that the command was given: its rules and cases, and what it does with a request.

use super::{Refusal, input};
use crate::files::{self, Files};
use celero::Diagnostic;
use celero_policy::{
    BufferState, ClientConnection, ConnectionOutcome, Decision, Edit, Exchange, Outcome, Phase, Policy, PolicyAnswer,
    PolicyError, RequestSummary,
};
use celero_tooling::diagnostic_json::diagnostic_json;
use http::request::Parts;
use http::{HeaderMap, Response};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The body of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Question {
    input: String,
    source: String,
}

/// Returns the policy's text, rules, diagnostics and explanation, and the results of its cases.
///
/// # Errors
/// There is no policy, or it can't be read.
pub(super) fn whole(files: &Files) -> Result<Json, Refusal> {
    let (path, text) = read(files)?;
    let name = path.display().to_string();
    let mut answer = json!({ "name": name, "text": text });
    let Some(members) = answer.as_object_mut() else { return Ok(answer) };
    let policy = match parse(files, path, &text) {
        Ok(policy) => policy,
        Err(error) => {
            members.insert("diagnostics".to_owned(), placed(error.diagnostics()));
            return Ok(answer);
        }
    };
    members.insert("diagnostics".to_owned(), placed(policy.warnings()));
    let mut cases = Vec::new();
    let mut unmatched = None;
    for path in &files.cases {
        let name = path.display().to_string();
        let report = files::read(path).map_err(Refusal::not_found)?;
        match policy.test(&name, &report) {
            Ok(report) => {
                let names = report.cases().map(|(name, passed)| json!({ "name": name, "passed": passed }));
                cases.push(json!({
                    "file": name,
                    "cases": names.collect::<Vec<_>>(),
                    "diagnostics": placed(report.diagnostics()),
                    "text": report.render(false),
                }));
                unmatched = Some(report.unmatched_rules().to_vec());
            }
            Err(error) => cases.push(json!({
                "file": name, "cases": [], "diagnostics": placed(error.diagnostics()), "text": error.render(false),
            })),
        }
    }
    members.insert("rules".to_owned(), rules(&policy));
    members.insert("cases".to_owned(), json!(cases));
    members.insert("unmatched".to_owned(), json!(unmatched));
    if let Ok(explanation) = files.host.explain_text(&name, &text, base(path)) {
        members.insert("explanation".to_owned(), json!(super::shown::stage(&explanation)));
    }
    Ok(answer)
}

/// How much of a body is shown, in bytes.
const SHOWN_BODY: usize = 2048;

/// Runs the policy for one request. The server behind it answers with 200 and no headers.
///
/// # Errors
/// There is no policy, it is not valid, or the input is not a request.
pub(super) fn one(files: &Files, question: &Question) -> Result<Json, Refusal> {
    let (path, text) = read(files)?;
    let policy = parse(files, path, &text).map_err(|_| Refusal::bad("the policy has errors"))?;
    let client = input::client(&question.source).map_err(Refusal::bad)?;
    let request = input::request(&question.input).map_err(Refusal::bad)?;
    if let ConnectionOutcome::Close { rule } = policy.connection(&mut ClientConnection::new(Some(client), None)) {
        let why = format!("the rule `{rule}` of the phase `connection` closes the connection: no request is read");
        return Err(Refusal::bad(why));
    }
    let (mut head, body) = request.into_parts();
    let mut exchange = Exchange::new(Some(client), None);
    let mut phases = Vec::new();
    let (mut response, ()) = Response::new(()).into_parts();
    let mut answer = before_server(&policy, &mut head, &body, &mut exchange, &mut phases);
    if answer.is_none() {
        let outcome = policy.response(&head, &mut response, &mut exchange);
        exchange.edits().apply_to_response(&mut response);
        answer = ended(Phase::Response, outcome, &exchange, &mut phases);
    }
    if let Some(answer) = &answer {
        response.status = answer.status;
        response.headers = answer.headers.clone();
    }
    let bytes_sent = answer.as_ref().map_or(0, |answer| u64::try_from(answer.body.len()).unwrap_or(u64::MAX));
    let end = RequestSummary { started: SystemTime::now(), duration: Duration::from_millis(1), bytes_sent };
    let log = policy.log(&head, Some(&response), &end, &mut exchange);
    let log: Map<String, Json> = log.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    Ok(json!({
        "phases": phases,
        "matched": rules(&policy),
        "answer": answer.map(|answer| json!({
            "status": answer.status.as_u16(),
            "rule": &*answer.rule,
            "headers": headers(&answer.headers),
            "body": String::from_utf8_lossy(answer.body.get(..SHOWN_BODY).unwrap_or(&answer.body)),
        })),
        "refusal": exchange.refusal().map(|refusal| refusal.word()),
        "request": json!({ "method": head.method.as_str(), "target": head.uri.to_string(), "headers": headers(&head.headers) }),
        "response": json!({ "status": response.status.as_u16(), "headers": headers(&response.headers) }),
        "labels": exchange.labels().map(|(name, value)| json!([name, value])).collect::<Vec<_>>(),
        "log": log,
    }))
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
    let decision = match policy.request_buffering()?.state(body.len(), true) {
        BufferState::TooLarge => policy.request_body_too_large(head, exchange),
        BufferState::Ready | BufferState::More => policy.request_body(head, body, exchange),
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

/// Returns the rules with how often each matched and failed since the policy was parsed: for this
/// request or these cases.
fn rules(policy: &Policy) -> Json {
    let rules = policy.rules().map(|rule| {
        json!({
            "phase": rule.phase.name(),
            "name": &*rule.name,
            "evaluated": rule.evaluated,
            "matched": rule.matched,
            "failed": rule.failed,
        })
    });
    rules.collect()
}

fn headers(headers: &HeaderMap) -> Json {
    headers.iter().map(|(name, value)| json!([name.as_str(), text(value.as_bytes())])).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(files: &Files) -> Result<(&Path, String), Refusal> {
    let Some(path) = &files.policy else {
        return Err(Refusal::not_found("no policy was given: celero serve policy.yaml"));
    };
    Ok((path, files::read(path).map_err(Refusal::not_found)?))
}

fn base(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

fn parse(files: &Files, path: &Path, text: &str) -> Result<Policy, PolicyError> {
    files.host.parse(&path.display().to_string(), text, base(path))
}

/// Returns diagnostics as JSON, each with its file.
fn placed<'d>(found: impl Iterator<Item = (&'d str, Diagnostic)>) -> Json {
    let one = |(file, diagnostic): (&str, Diagnostic)| {
        let mut json = diagnostic_json(&diagnostic);
        if let Some(members) = json.as_object_mut() {
            members.insert("file".to_owned(), json!(file));
        }
        json
    };
    found.map(one).collect()
}
