//! A team's own examples: requests, and what must come of them. `run` is a host without a network.

use crate::auth::Finding;
use crate::error::PolicyError;
use crate::exchange::Exchange;
use crate::outcome::{Answer, Ended, LogFields, Outcome};
use crate::policy::Policy;
use crate::problems::{Place, Problems};
use crate::shape::check;
use crate::shapes::CASES;
use crate::yaml::{Node, Text, read};
use celero::Diagnostic;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, request, response};
use serde_json::Value as Json;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

/// What came of the examples of a file.
#[derive(Debug)]
pub struct TestReport {
    cases: Vec<(String, bool)>,
    unmatched: Vec<String>,
    problems: Problems,
}

impl TestReport {
    /// The cases, and whether what was expected came of each.
    pub fn cases(&self) -> impl Iterator<Item = (&str, bool)> {
        self.cases.iter().map(|(name, passed)| (&**name, *passed))
    }

    /// Whether everything came as expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.problems.has_errors()
    }

    /// Rules that did not match in any case, as `phase: name`.
    #[must_use]
    pub fn unmatched_rules(&self) -> &[String] {
        &self.unmatched
    }

    /// What came otherwise, each with the name of its file; places are bytes of that file.
    pub fn diagnostics(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        self.problems.all()
    }

    /// What came otherwise, each at its place in the file; `color` asks for ANSI colours.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        PolicyError::new(self.problems.clone()).render(color)
    }
}

impl Policy {
    /// Tries a policy with the examples of a file's text; `name` stands in messages.
    ///
    /// # Errors
    /// [`PolicyError`] if the text is no file of cases.
    pub fn test(&self, name: &str, text: &str) -> Result<TestReport, PolicyError> {
        let mut problems = Problems::default();
        let file = problems.file(name.to_owned(), text);
        let root = read(file, &mut problems);
        if let Some(root) = &root {
            check(root, &CASES, "a file of cases", &mut problems);
        }
        let read: Vec<Option<Case<'_>>> =
            root.iter().flat_map(Node::elements).map(|node| Case::read(node, &mut problems)).collect();
        if problems.has_errors() {
            return Err(PolicyError::new(problems));
        }
        let mut cases = Vec::new();
        for case in read.into_iter().flatten() {
            let before = problems.count();
            case.expect(&run(self, &case), &mut problems);
            cases.push((case.name, problems.count() == before));
        }
        let unmatched = self.rules().filter(|rule| rule.matched == 0);
        let unmatched = unmatched.map(|rule| format!("{}: {}", rule.phase.name(), rule.name)).collect();
        Ok(TestReport { cases, unmatched, problems })
    }
}

/// An example, read.
struct Case<'n> {
    name: String,
    head: request::Parts,
    body: Vec<u8>,
    response: response::Parts,
    addresses: [SocketAddr; 2],
    node: &'n Node,
}

/// What came of an example.
struct Seen {
    request: HeaderMap,
    response: response::Parts,
    answer: Option<Answer>,
    exchange: Exchange,
    log: LogFields,
}

impl<'n> Case<'n> {
    fn read(node: &'n Node, problems: &mut Problems) -> Option<Self> {
        let name = node.text_of("name")?.text;
        let (asked, answered) = (node.get("request"), node.get("response"));
        let text = |key: &str| asked.and_then(|request| request.text_of(key));
        let (mut head, ()) = http::Request::new(()).into_parts();
        head.method = parsed(text("method"), Method::GET, "a method", problems);
        head.uri = parsed(text("uri"), Uri::from_static("/"), "a request target", problems);
        head.headers = headers(asked, problems);
        let (mut response, ()) = http::Response::new(()).into_parts();
        let status = answered.and_then(|response| response.text_of("status"));
        response.status = parsed(status, StatusCode::OK, "a status", problems);
        response.headers = headers(answered, problems);
        let usual = SocketAddr::from(([127, 0, 0, 1], 1));
        let addresses = ["source", "destination"].map(|key| parsed(text(key), usual, "an address with port", problems));
        let body = text("body").map(|text| text.text.into_bytes()).unwrap_or_default();
        Some(Self { name, head, body, response, addresses, node })
    }

    /// Reports what was expected otherwise.
    fn expect(&self, seen: &Seen, problems: &mut Problems) {
        let Some(expected) = self.node.get("expect") else { return };
        let differ = |place: Place, what: &str, actual: &str, problems: &mut Problems| {
            problems.add("case-failed", place, format!("{}: {what} is {actual}", self.name));
        };
        if let Some(text) = expected.text_of("status")
            && text.text != seen.response.status.as_str()
        {
            differ(text.place, "the status", seen.response.status.as_str(), problems);
        }
        let rule = seen.answer.as_ref().map_or("server", |answer| &answer.rule);
        if let Some(text) = expected.text_of("rule")
            && text.text != rule
        {
            differ(text.place, "who answers", &format!("`{rule}`"), problems);
        }
        let body = seen.answer.as_ref().map(|answer| String::from_utf8_lossy(&answer.body));
        if let Some(text) = expected.text_of("body")
            && body.as_deref() != Some(&*text.text)
        {
            differ(
                text.place,
                "the body",
                &body.map_or("the server's".to_owned(), |body| format!("{body:?}")),
                problems,
            );
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
                    // Headers and labels are text, whatever it looks like.
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

impl Seen {
    /// What an entry of a section of expectations is about.
    fn find(&self, section: &str, name: &str) -> Option<Json> {
        let header = |headers: &HeaderMap| {
            let values: Vec<_> =
                headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            (!values.is_empty()).then(|| Json::from(values.join(",")))
        };
        match section {
            "requestHeaders" => header(&self.request),
            "responseHeaders" => header(&self.response.headers),
            "labels" => self.exchange.label(name).map(Json::from),
            _ => self.log.iter().find(|(known, _)| *known == name).map(|(_, json)| json.clone()),
        }
    }
}

fn parsed<T: std::str::FromStr>(text: Option<Text>, usual: T, what: &str, problems: &mut Problems) -> T {
    let Some(text) = text else { return usual };
    text.text.parse().unwrap_or_else(|_| {
        problems.add("policy-value", text.place, format!("`{}` is not {what}", text.text));
        usual
    })
}

fn headers(message: Option<&Node>, problems: &mut Problems) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for entry in message.and_then(|message| message.get("headers")).map_or(&[][..], Node::entries) {
        let single = entry.value.text().into_iter();
        for value in single.chain(entry.value.elements().iter().filter_map(Node::text)) {
            let header = HeaderName::from_bytes(entry.key.text.as_bytes()).ok();
            match header.zip(HeaderValue::from_bytes(value.text.as_bytes()).ok()) {
                Some((name, value)) => drop(headers.append(name, value)),
                None => {
                    problems.add("policy-header", entry.key.place, "this can't be a header".to_owned());
                }
            }
        }
    }
    headers
}

/// Does what a host does.
fn run(policy: &Policy, case: &Case<'_>) -> Seen {
    let [source, destination] = case.addresses;
    let mut exchange = Exchange::new(Some(source), Some(destination));
    for entry in case.node.get("labels").map_or(&[][..], Node::entries) {
        if let Some(value) = entry.value.text() {
            exchange.set_label(&entry.key.text, &value.text);
        }
    }
    if let Some(given) = case.node.get("given") {
        let findings = &exchange.findings;
        for (key, finding) in [("jwt", &findings.jwt), ("apiKey", &findings.api_key), ("basicAuth", &findings.basic)] {
            give(given.get(key), finding);
        }
    }
    let mut head = case.head.clone();
    let mut response = case.response.clone();
    let answer = ask(policy, &mut head, &case.body, &mut exchange);
    let answer = match answer {
        Some(answer) => Some(answer),
        None => match policy.response(&head, &response, &mut exchange) {
            Outcome::Respond(answer) => Some(*answer),
            Outcome::Continue => {
                exchange.edits().apply(&mut response.headers);
                None
            }
        },
    };
    if let Some(answer) = &answer {
        response.status = answer.status;
        response.headers = answer.headers.clone();
    }
    let bytes_sent = answer.as_ref().map_or(0, |answer| answer.body.len() as u64);
    let end = Ended { started: SystemTime::UNIX_EPOCH, duration: Duration::from_millis(1), bytes_sent };
    let log = policy.log(&head, Some(&response), &end, &mut exchange);
    Seen { request: head.headers, response, answer, exchange, log }
}

/// The phases before the server.
fn ask(policy: &Policy, head: &mut request::Parts, body: &[u8], exchange: &mut Exchange) -> Option<Answer> {
    if let Outcome::Respond(answer) = policy.request(head, exchange) {
        return Some(*answer);
    }
    exchange.edits().apply(&mut head.headers);
    let limit = policy.body_limit()?;
    let outcome = if body.len() > limit {
        policy.request_body_too_large(exchange)
    } else {
        policy.request_body(head, body, exchange)
    };
    if let Outcome::Respond(answer) = outcome {
        return Some(*answer);
    }
    exchange.edits().apply(&mut head.headers);
    None
}

fn give(node: Option<&Node>, finding: &Finding) {
    if let Some(Json::Object(known)) = node.map(Node::json) {
        let _ = finding.set(known);
    }
}
