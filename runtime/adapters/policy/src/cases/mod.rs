//! Cases: requests with the expected results, which `celero test` compares with what a policy does.
//! `run` is a host without a network.

mod calls;
pub(crate) mod keys;
pub(crate) mod messages;
mod reasons;
mod report;
pub(crate) mod variables;

pub use report::TestReport;

use crate::auth::VerifiedFields;
use crate::bodies::buffering::BufferState;
use crate::cases::keys::CASES;
use crate::cases::messages::{ArrivingHead, address, headers, parsed};
use crate::file::error::PolicyError;
use crate::host::outcome::{LogFields, Outcome, PolicyAnswer, RequestSummary};
use crate::host::tls_hello::TlsHello;
use crate::limits::remote::{RemoteAnswer, RemoteVerdict};
use crate::phases::exchange::Exchange;
use crate::phases::tls_connection::TlsConnection;
use crate::phases::watch::RuleWatch;
use crate::policy::Policy;
use crate::policy::connection::{ClientConnection, ConnectionOutcome};
use crate::problems::{FileSpan, Problems};
use crate::schema::duration;
use crate::yaml::{Node, read};
use bytes::Bytes;
use celero::host::Extension;
use http::uri::Scheme;
use http::{HeaderMap, StatusCode, request, response};
use serde_json::Value as Json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

impl Policy {
    /// Runs the cases of a file's text. Messages call the file `name`. `docs/policy-reference.md` describes the format.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] if the text is not a valid file of cases, or if the policy was
    /// loaded for the variables of a type without [`Loader::for_cases`](crate::Loader::for_cases).
    pub fn test(&self, name: &str, text: &str) -> Result<TestReport, PolicyError> {
        self.test_while(name, text, &|| true)
    }

    /// Runs cases as [`test`](Self::test) does, and notes why each has its result: [`TestReport::reasons`].
    ///
    /// # Errors
    /// As [`test`](Self::test).
    pub fn test_with_reasons(&self, name: &str, text: &str) -> Result<TestReport, PolicyError> {
        self.run_cases(name, text, &|| true, true)
    }

    /// Runs cases as [`test`](Self::test) does, as long as the result is wanted, which is asked
    /// before each request: a case may have many. For tools that run what others have written.
    ///
    /// # Errors
    /// As [`test`](Self::test); also if the result is not wanted any more.
    pub fn test_while(&self, name: &str, text: &str, wanted: &dyn Fn() -> bool) -> Result<TestReport, PolicyError> {
        self.run_cases(name, text, wanted, false)
    }

    fn run_cases(
        &self,
        name: &str,
        text: &str,
        wanted: &dyn Fn() -> bool,
        with_reasons: bool,
    ) -> Result<TestReport, PolicyError> {
        let mut problems = Problems::default();
        let file = problems.file(name.to_owned(), text);
        // Cases give values by names, and rules would read them from a value of the type.
        if self.host_variables.as_ref().is_some_and(|variables| !Extension::default().has(variables)) {
            let message = "the policy was loaded for the variables of a type, of which cases have no value".to_owned();
            let problem = problems.add("case-variables", FileSpan::new(file, 0, 0), message);
            problem.help("load the policy with `Loader::for_cases`");
            return Err(PolicyError::new(problems));
        }
        let root = read(file, &mut problems);
        if let Some(root) = &root {
            CASES.check(root, &mut problems);
        }
        let read: Vec<Option<Case<'_>>> =
            root.iter().flat_map(Node::elements).map(|node| Case::read(self, node, &mut problems)).collect();
        if problems.has_errors() {
            return Err(PolicyError::new(problems));
        }
        let (mut cases, mut reasons) = (Vec::new(), Vec::new());
        for case in read.into_iter().flatten() {
            let before = problems.count();
            let Some(seen) = case.run(self, wanted, with_reasons) else {
                let message = format!("{}: the cases take too long", case.name);
                problems.add("case-time", case.node.place, message);
                return Err(PolicyError::new(problems));
            };
            case.expect(&seen, self, &mut problems);
            cases.push((case.name, problems.count() == before));
            if with_reasons {
                reasons.push(reasons::lines(&seen.watched()));
            }
        }
        let unmatched = self.rules().filter(|rule| rule.matched == 0);
        let unmatched = unmatched.map(|rule| format!("{}: {}", rule.phase.name(), rule.name)).collect();
        Ok(TestReport { cases, reasons, unmatched, problems })
    }
}

/// A case.
struct Case<'n> {
    name: String,
    /// The requests that precede it.
    before: Vec<Earlier<'n>>,
    /// When the request arrives, after the beginning of the case.
    at: Duration,
    /// When the request arrives, after the beginning of 1970.
    time: Duration,
    head: ArrivingHead,
    body: Vec<u8>,
    response: response::Parts,
    response_body: Vec<u8>,
    addresses: [SocketAddr; 2],
    /// The values of the host's variables.
    variables: Extension,
    node: &'n Node,
}

/// Most requests that stay open until a case ends.
const MAX_OPEN: u64 = 10_000;

/// Requests that precede the one of a case.
struct Earlier<'n> {
    request: Case<'n>,
    times: u32,
    /// They are open until the case ends.
    is_open: bool,
}

/// What a policy did in a case.
struct CaseResult {
    /// The connection of the request, open as long as this is kept.
    connection: ClientConnection,
    /// The rule that closed the connection.
    closed_by: Option<Arc<str>>,
    request: request::Parts,
    /// The body that the server gets.
    request_body: Bytes,
    /// The body of the response that the client gets.
    body: Bytes,
    response: response::Parts,
    answer: Option<PolicyAnswer>,
    exchange: Exchange,
    log: LogFields,
    /// The functions without code that this request and those before it have called: rule and function.
    without_code: Vec<(Arc<str>, String)>,
}

impl<'n> Case<'n> {
    fn read(policy: &Policy, node: &'n Node, problems: &mut Problems) -> Option<Self> {
        let name = node.text_of("name")?.text;
        let earlier = |node, problems: &mut Problems| Earlier {
            request: Self::request(policy, node, String::new(), problems),
            times: Node::text_of(node, "times").and_then(|text| text.text.parse().ok()).unwrap_or(1),
            is_open: Node::get(node, "open").is_some(),
        };
        let mut before: Vec<Earlier<'n>> =
            node.get("before").map_or(&[][..], Node::elements).iter().map(|node| earlier(node, problems)).collect();
        let open: u64 = before.iter().filter(|earlier| earlier.is_open).map(|earlier| u64::from(earlier.times)).sum();
        if open > MAX_OPEN {
            let message = format!("a case leaves at most {MAX_OPEN} requests open, this one {open}");
            problems.add("policy-value", node.place, message);
            before.clear();
        }
        let last = before.last().map_or(Duration::ZERO, |earlier| earlier.request.at);
        let mut case = Self::request(policy, node, name, problems);
        if node.get("at").is_none() {
            case.at = last;
        }
        Some(Self { before, ..case })
    }

    /// Reads a request without those that precede it.
    fn request(policy: &Policy, node: &'n Node, name: String, problems: &mut Problems) -> Self {
        let at = node.text_of("at").and_then(|text| duration(&text.text)).unwrap_or_default();
        let (asked, answered) = (node.get("request"), node.get("response"));
        let text = |key: &str| asked.and_then(|request| request.text_of(key));
        let time = Duration::from_secs(text("time").and_then(|text| text.text.parse().ok()).unwrap_or_default());
        let is_call = [asked, answered].into_iter().any(|side| calls::messages(side).is_some());
        let mut head = ArrivingHead::read(asked, is_call, problems);
        let (mut response, ()) = http::Response::new(()).into_parts();
        let status = answered.and_then(|response| response.text_of("status"));
        response.status = parsed(status, StatusCode::OK, "a status", problems);
        response.headers = headers(answered, is_call, problems);
        let usual = SocketAddr::from(([127, 0, 0, 1], 1));
        let addresses = ["source", "destination"].map(|key| address(text(key), usual, problems));
        let body = calls::body(policy, asked, false, &head.path(), problems)
            .or_else(|| text("body").map(|text| text.text.into_bytes()))
            .unwrap_or_default();
        head.announce(asked, &body);
        let response_body = calls::body(policy, answered, true, &head.path(), problems)
            .or_else(|| answered?.text_of("body").map(|text| text.text.into_bytes()))
            .unwrap_or_default();
        let variables = variables::read(node, policy.host_variables.as_ref(), problems);
        Self { name, before: Vec::new(), at, time, head, body, response, response_body, addresses, variables, node }
    }

    /// Runs the case with unused limits; `None` if the result is not wanted any more.
    fn run(&self, policy: &Policy, wanted: &dyn Fn() -> bool, with_reasons: bool) -> Option<CaseResult> {
        policy.clear_limits();
        let (mut open, mut without_code) = (Vec::new(), Vec::new());
        for Earlier { request, times, is_open } in &self.before {
            for _ in 0..*times {
                if !wanted() {
                    return None;
                }
                let earlier = run(policy, request, false);
                without_code.extend(earlier.functions_without_code());
                let CaseResult { connection, exchange, .. } = earlier;
                if *is_open {
                    open.push((connection, exchange));
                }
            }
        }
        if !wanted() {
            return None;
        }
        let mut seen = run(policy, self, with_reasons);
        without_code.extend(seen.functions_without_code());
        seen.without_code = without_code;
        Some(seen)
    }

    /// Reports the differences from the expectation.
    fn expect(&self, seen: &CaseResult, policy: &Policy, problems: &mut Problems) {
        if let Some((rule, function)) = seen.without_code.first() {
            let place = self.node.text_of("name").map_or(self.node.place, |name| name.place);
            let message = format!("{}: `{rule}` calls `{function}`, which is only declared and has no code", self.name);
            let problem = problems.add("case-failed", place, message);
            problem.help("what the rule does here is not what it does in the host: test it in the host's program, with `Loader::for_cases`");
        }
        let Some(expected) = self.node.get("expect") else { return };
        let differ = |place: FileSpan, what: &str, actual: &str, problems: &mut Problems| {
            problems.add("case-failed", place, format!("{}: {what} is {actual}", self.name));
        };
        let ended = if seen.closed_by.is_some() { "closed" } else { "accepted" };
        let by = seen.closed_by.as_ref().or(seen.answer.as_ref().map(|answer| &answer.rule));
        let status = match (&seen.closed_by, &seen.answer) {
            (Some(rule), _) => format!("not there: the connection is closed by the rule `{rule}`"),
            (None, Some(answer)) => format!("{}, by the rule `{}`", seen.response.status.as_str(), answer.rule),
            (None, None) => seen.response.status.as_str().to_owned(),
        };
        // What is expected where nothing differs. A closed connection has no status.
        let right_status = if seen.closed_by.is_some() { "" } else { seen.response.status.as_str() };
        let rule = by.map_or("server", |rule| &**rule);
        let who = format!("`{rule}`");
        let decided = [
            ("connection", "the connection", ended, ended),
            ("status", "the status", status.as_str(), right_status),
            ("rule", "who answers", who.as_str(), rule),
        ];
        let mut is_explained = false;
        for (key, what, actual, right) in decided {
            let Some(text) = expected.text_of(key).filter(|text| text.text != right) else { continue };
            differ(text.place, what, actual, problems);
            // All of these have the same reasons.
            if !std::mem::replace(&mut is_explained, true) {
                reasons::explain(expected, &seen.watched(), policy, problems);
            }
        }
        if let Some(text) = expected.text_of("delay")
            && duration(&text.text) != Some(seen.exchange.delayed)
        {
            differ(text.place, "the delay", &format!("{:?}", seen.exchange.delayed), problems);
        }
        let target = seen.request.uri.path_and_query().map_or("", |target| target.as_str());
        if let Some(text) = expected.text_of("uri")
            && text.text != target
        {
            differ(text.place, "the target", &format!("`{target}`"), problems);
        }
        for (key, what, body) in
            [("body", "the body", &seen.body), ("requestBody", "the body of the request", &seen.request_body)]
        {
            let body = String::from_utf8_lossy(body);
            if let Some(text) = expected.text_of(key)
                && body != text.text
            {
                differ(text.place, what, &format!("{body:?}"), problems);
            }
        }
        for (key, what) in [
            ("requestHeaders", "the request's header"),
            ("responseHeaders", "the response's header"),
            ("labels", "the label"),
            ("log", "the log's field"),
        ] {
            for entry in expected.get(key).map_or(&[][..], Node::entries) {
                let name = &entry.key.text;
                let (actual, expected) = (seen.find(key, name), entry.value.json());
                let same = match &actual {
                    None => expected.is_null(),
                    // Headers and labels are text, even if the expectation looks like a number.
                    Some(Json::String(text)) => entry.value.text().is_some_and(|expected| expected.text == *text),
                    Some(json) => *json == expected,
                };
                if !same {
                    let actual = actual.map_or("not there".to_owned(), |json| json.to_string());
                    differ(entry.value.place, &format!("{what} `{name}`"), &actual, problems);
                }
            }
        }
    }
}

impl CaseResult {
    /// Returns what became of rules: in the connection's phase, then in those of the request.
    fn watched(&self) -> Vec<&RuleWatch> {
        let phases = [&self.connection.effects, &self.exchange.effects];
        phases.into_iter().filter_map(|effects| effects.watch.as_deref()).collect()
    }

    /// Returns the functions without code that this request has called: rule and function.
    fn functions_without_code(&self) -> Vec<(Arc<str>, String)> {
        self.watched().iter().flat_map(|watch| &watch.without_code).cloned().collect()
    }

    /// Returns the actual value for an entry of a section of the expectation.
    fn find(&self, section: &str, name: &str) -> Option<Json> {
        let header = |headers: &HeaderMap| {
            let values: Vec<_> =
                headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            (!values.is_empty()).then(|| Json::from(values.join(",")))
        };
        match section {
            "requestHeaders" => header(&self.request.headers),
            "responseHeaders" => header(&self.response.headers),
            "labels" => self.exchange.label(name).map(Json::from),
            _ => self.log.iter().find(|(known, _)| *known == name).map(|(_, json)| json.clone()),
        }
    }
}

/// Runs all phases, as a host does. `with_reasons` notes also what became of rules that act.
fn run(policy: &Policy, case: &Case<'_>, with_reasons: bool) -> CaseResult {
    let [source, destination] = case.addresses;
    let mut exchange = Exchange::new(Some(source), Some(destination));
    exchange.set_time(case.at);
    let started = SystemTime::UNIX_EPOCH.checked_add(case.time).unwrap_or(SystemTime::UNIX_EPOCH);
    exchange.set_start_time(started);
    exchange.set_scheme(if case.head.parts.uri.scheme() == Some(&Scheme::HTTPS) { "https" } else { "http" });
    let mut connection = ClientConnection::new(Some(source), Some(destination));
    connection.set_time(case.at);
    if let Some(tls) = case.node.get("request").and_then(|request| request.get("tls")) {
        exchange.set_tls(TlsConnection::of_case(tls));
        connection = connection.with_hello(TlsHello::of_case(tls));
    }
    let said = case.node.get("remote").map_or(&[][..], Node::entries).iter();
    let said = said.filter_map(|entry| Some((entry.key.text.clone(), rehearsed(&entry.value.text()?.text))));
    exchange.effects.limits.rehearsed = Some(said.collect());
    exchange.effects.watch = Some(reasons::watch(case.node.get("expect"), with_reasons));
    connection.effects.watch.clone_from(&exchange.effects.watch);
    if let ConnectionOutcome::Close { rule } = policy.connection(&mut connection) {
        let (request, response) = (case.head.parts.clone(), http::Response::new(()).into_parts().0);
        let (closed_by, log) = (Some(rule), LogFields::default());
        let (request_body, body) = (Bytes::new(), Bytes::new());
        return CaseResult {
            connection,
            closed_by,
            request,
            request_body,
            body,
            response,
            answer: None,
            exchange,
            log,
            without_code: Vec::new(),
        };
    }
    for entry in case.node.get("labels").map_or(&[][..], Node::entries) {
        if let Some(value) = entry.value.text() {
            exchange.set_label(&entry.key.text, &value.text);
        }
    }
    exchange.attributes.variables = case.variables.clone();
    if let Some(given) = case.node.get("given") {
        let findings = &exchange.findings;
        for (key, finding) in [
            ("jwt", &findings.jwt),
            ("apiKey", &findings.api_key),
            ("basicAuth", &findings.basic),
            ("clientCert", &findings.client_cert),
        ] {
            give(given.get(key), finding);
        }
    }
    let mut head = case.head.clone();
    let mut response = case.response.clone();
    let mut request_body = Bytes::copy_from_slice(&case.body);
    let mut body = Bytes::copy_from_slice(&case.response_body);
    let answer = before_server(policy, &mut head, &mut request_body, &mut exchange);
    let head = head.parts;
    let answer = match answer {
        Some(answer) => Some(answer),
        None => after_server(policy, &head, &mut response, &mut body, &mut exchange),
    };
    if let Some(answer) = &answer {
        response.status = answer.status;
        response.headers = answer.headers.clone();
        body = answer.body.clone();
    }
    let bytes_sent = body.len() as u64;
    let end = RequestSummary { started, duration: Duration::from_millis(1), bytes_sent };
    let log = policy.log(&head, Some(&response), &end, &mut exchange);
    let without_code = Vec::new();
    CaseResult {
        connection,
        closed_by: None,
        request: head,
        request_body,
        body,
        response,
        answer,
        exchange,
        log,
        without_code,
    }
}

/// Runs the phases before the server.
fn before_server(
    policy: &Policy,
    head: &mut ArrivingHead,
    body: &mut Bytes,
    exchange: &mut Exchange,
) -> Option<PolicyAnswer> {
    if let Outcome::Respond(answer) = policy.request(head, exchange).outcome {
        return Some(*answer);
    }
    exchange.edits().apply_to_request(head);
    let outcome = match policy.request_messages(&head.parts, exchange) {
        Some(messages) => messages.whole(policy, body, exchange),
        None => match policy.request_buffering(&head.parts, exchange)?.state(body.len(), true) {
            BufferState::TooLarge => policy.request_body_too_large(&head.parts, exchange).outcome,
            BufferState::Ready | BufferState::More => policy.request_body(&head.parts, body, exchange).outcome,
        },
    };
    if let Outcome::Respond(answer) = outcome {
        return Some(*answer);
    }
    exchange.edits().apply_to_request(head);
    *body = exchange.edits().body().unwrap_or(body).clone();
    None
}

/// Runs the phases of the server's response.
fn after_server(
    policy: &Policy,
    head: &request::Parts,
    response: &mut response::Parts,
    body: &mut Bytes,
    exchange: &mut Exchange,
) -> Option<PolicyAnswer> {
    if let Outcome::Respond(answer) = policy.response(head, response, exchange) {
        return Some(*answer);
    }
    exchange.edits().apply_to_response(response);
    let outcome = match policy.response_messages(head, response, exchange) {
        Some(messages) => messages.whole(policy, body, exchange),
        None => match policy.response_buffering(head, response, exchange)?.state(body.len(), true) {
            BufferState::TooLarge => policy.response_body_too_large(exchange),
            BufferState::Ready | BufferState::More => policy.response_body(head, response, body, exchange),
        },
    };
    if let Outcome::Respond(answer) = outcome {
        return Some(*answer);
    }
    exchange.edits().apply_to_response(response);
    *body = exchange.edits().body().unwrap_or(body).clone();
    None
}

/// Returns what a service says in a case.
fn rehearsed(word: &str) -> RemoteVerdict {
    match word {
        "unavailable" => RemoteVerdict::Unavailable,
        word => RemoteVerdict::Answered(RemoteAnswer { is_within: word != "above", ..RemoteAnswer::default() }),
    }
}

fn give(node: Option<&Node>, finding: &VerifiedFields) {
    if let Some(Json::Object(known)) = node.map(Node::json) {
        let _ = finding.set(Some(Arc::new(known)));
    }
}
