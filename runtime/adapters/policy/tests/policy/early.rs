//! Phases that read bodies, tried before the body comes: they end as they would end with it, whatever clients send.
//!
//! `CELERO_EARLY_POLICIES` sets how many random policies are compared, `CELERO_SEED` the seed.

use crate::support::{exchange, head, log, policy, response, status};
use celero_policy::{BodyBuffering, BufferState, Exchange, Outcome, Policy};
use fastrand::Rng;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, response};
use std::path::Path;
use std::time::Duration;

/// Whether a policy wants the body of a request.
fn wants(policy: &Policy, line: &str, headers: &[(&str, &str)]) -> bool {
    policy.request_buffering(&head(line, headers), &mut exchange()).is_some()
}

const LOGIN: &str = r#"
variables:
  post: request.method == "POST"
  bad: variables.post && json(request.body).user == "root"
requestBody:
  limit: 1KiB
  rules:
    - {name: root, when: 'request.path.startsWith("/login") && variables.bad', deny: 403}
    - {name: form, language: filter, when: 'http.request.uri.path eq "/form" and http.request.body.raw contains "x"', deny: 402}
"#;

#[test]
fn a_body_that_no_rule_can_match_is_not_wanted() {
    for read in [Policy::parse, Policy::check] {
        let policy = read("policy.yaml", LOGIN, Path::new(".")).unwrap();
        for (line, wanted) in [
            ("GET /", false),
            ("POST /", false),
            ("GET /login", false),
            ("POST /login", true),
            ("POST /login/a", true),
            ("GET /form", true),
            ("GET /form/", false),
        ] {
            assert_eq!(wants(&policy, line, &[]), wanted, "{line}");
        }
        let notes: Vec<String> = policy.buffering_notes().collect();
        assert!(notes[0].ends_with("; those that no matching rule reads are forwarded as they arrive"), "{notes:?}");
        // What is decided early is an evaluation like any other.
        assert!(policy.rules().all(|rule| (rule.evaluated, rule.matched, rule.failed) == (4, 0, 0)));
    }
}

/// What says nothing about the head, or fails, or may fail with some body, is not decided early.
#[test]
fn what_is_not_certain_waits_for_the_body() {
    for (when, wanted) in [
        ("!has(request.body)", true),
        ("size(request.body) == 0", true),
        ("!(has(request.body) && request.method == 'GET')", true),
        ("default(request.body, b'') == b'' || request.method == 'POST'", true),
        ("request.headers['x-none'] == 'a' && size(request.body) > 0", true),
        ("request.headers['x-none'] == 'a' || size(request.body) > 0", true),
        ("request.method == 'GET' ? request.body == b'' : false", true),
        ("request.method == 'POST' ? request.body == b'' : false", false),
        ("request.body == b'' ? request.method == 'POST' : request.method == 'PUT'", true),
        ("[b'', request.body].exists(b, b == b'a' && request.method == 'POST')", true),
        ("random() > 2.0", true),
        ("random() > 2.0 && request.method == 'POST'", false),
        ("request.method == 'POST'", false),
        ("'x-none' in request.headers && request.headers['x-none'] == string(request.body)", false),
        ("request.headers['x-twice'] == 'a' && size(request.body) > 0", false),
        ("false", false),
        ("request.path.contains('%FF') && size(request.body) > 0", true),
    ] {
        for rest in ["deny: 403", "setHeaders: {a: b}"] {
            for error in ["closed", "noMatch", "match", "stop"] {
                let text = format!("requestBody: {{onError: {error}, rules: [{{when: \"{when}\", {rest}}}]}}");
                let policy = Policy::check("policy.yaml", &text, Path::new(".")).unwrap();
                assert_eq!(wants(&policy, "GET /%FF", &[("x-twice", "a"), ("x-twice", "b")]), wanted, "{text}");
            }
        }
    }
    let text = "requestBody:\n- {when: request.method == 'POST', deny: 403}\n- {name: always, limit: {rate: 1/s}}\n";
    assert!(wants(&policy(text), "GET /", &[]), "a rule without a condition matches");
    let required = "requestBody: [{when: request.method == 'GET', require: size(request.body) > 0, deny: 403}]";
    assert!(wants(&policy(required), "GET /", &[]) && !wants(&policy(required), "POST /", &[]));
    let prefix = "requestBody: {prefix: 4, rules: [{when: \"request.method == 'PUT' && request.bodyPrefix == b'MZ'\", deny: 403}]}";
    assert!(wants(&policy(prefix), "PUT /", &[]) && !wants(&policy(prefix), "GET /", &[]));
}

/// A rule that matches, but reads no body, does not wait for one; what comes before a rule that reads it does.
#[test]
fn what_the_head_decides_buffers_nothing() {
    let reads = "{when: 'size(request.body) > 3 && request.method == \"POST\"', deny: 400}";
    let head_only = "when: 'request.path == \"/a\"'";
    let needs = |rules: &str, line: &str| {
        let policy = policy(&format!("requestBody: [{rules}]"));
        let buffering = policy.request_buffering(&head(line, &[]), &mut exchange())?;
        Some(buffering.state(0, false) != BufferState::Ready)
    };
    for action in [
        "deny: 403",
        "respond: {status: 200, body: a}",
        "setHeaders: {a: b}",
        "removeHeaders: [a]",
        "labels: {a: b}",
        "logFields: {a: request.path}",
        "count: a",
        "allow: true",
        "limit: {rate: 1/s}",
        "delay: 5ms",
        "setPath: /b",
        "require: 'request.method == \"GET\"', deny: 403",
        "sample: 0.5, deny: 403",
    ] {
        let rule = format!("{{{head_only}, {action}}}");
        assert_eq!(needs(&rule, "POST /a"), Some(false), "{action}");
        assert_eq!(needs(&rule, "POST /b"), None, "{action}");
        // Only a certain answer ends the phase before the rule that reads the body.
        let is_answer = action.starts_with("deny") || action.starts_with("respond");
        assert_eq!(needs(&format!("{rule}, {reads}"), "POST /a"), Some(!is_answer), "{action}");
        assert_eq!(needs(&format!("{rule}, {reads}"), "GET /a"), Some(false), "{action}");
    }
    for action in ["patchBody: {a: 1}", "setBody: {a: 1}", "setHeaders: {a: '${size(request.body)}'}"] {
        assert_eq!(needs(&format!("{{{head_only}, {action}}}"), "POST /a"), Some(true), "{action}");
    }
    // A rule without a condition is about all bodies, so that `limit` and `encoded` are.
    for action in ["deny: 403", "count: a", "setHeaders: {a: b}"] {
        assert_eq!(needs(&format!("{{name: all, {action}}}"), "POST /a"), Some(true), "{action}");
    }
    // What answers now may not answer in the phase.
    let by_chance = "{when: 'request.path == \"/a\" && random() < 2.0', deny: 403}";
    assert_eq!(needs(by_chance, "POST /a"), Some(false));
    assert_eq!(needs(&format!("{by_chance}, {reads}"), "POST /a"), Some(true));
    // A rule that may be skipped ends nothing.
    let skipped = format!("{{{head_only}, allow: true}}, {{{head_only}, deny: 403}}, {reads}");
    assert_eq!(needs(&skipped, "POST /a"), Some(true));
}

/// What has arrived of a body that no rule reads is neither decoded nor refused.
#[test]
fn bytes_of_an_unread_body_decide_nothing() {
    let text = "requestBody:\n- {when: 'request.path == \"/a\"', setHeaders: {a: b}}\n- {when: 'request.method == \"PUT\" && size(request.body) > 0', deny: 403}\nresponseBody: [{when: response.code == 200, setHeaders: {a: b}}]";
    let policy = policy(text);
    let mut exchange = exchange();
    let coded = [("content-encoding", "gzip")];
    let head = head("POST /a", &coded);
    assert!(policy.request_buffering(&head, &mut exchange).is_some());
    assert_eq!(status(policy.request_body(&head, b"no gzip", &mut exchange)), 0);
    let response = response(200, &coded);
    assert!(policy.response_buffering(&head, &response, &mut exchange).is_some());
    assert!(matches!(policy.response_body(&head, &response, &[0x1f; 3 << 20], &mut exchange), Outcome::Continue));
    let mut edited = response;
    exchange.edits().apply_to_response(&mut edited);
    assert_eq!(edited.headers["a"], "b");
}

#[test]
fn responses_are_tried_with_their_heads() {
    let text = "responseBody: [{when: \"response.code == 200 && 'x-a' in response.headers && size(response.body) > 1\", deny: 502}]";
    let policy = policy(text);
    let wants = |line: &str, code: u16, headers: &[(&str, &str)]| {
        policy.response_buffering(&head(line, &[]), &response(code, headers), &mut exchange()).is_some()
    };
    assert!(wants("GET /", 200, &[("x-a", "")]));
    assert!(!wants("GET /", 404, &[("x-a", "")]) && !wants("GET /", 200, &[]) && !wants("HEAD /", 200, &[("x-a", "")]));
    let events = [("content-type", "text/event-stream")];
    assert!(!wants("GET /", 200, &events), "a stream that no rule concerns passes");
}

/// A list may change between the head and the body. Each phase that reads the body asks the lists of its own time.
#[test]
fn a_list_that_changes_in_between_is_asked_again() {
    let text = "lists: {bad: {kind: addresses, entries: [192.0.2.7]}}\nrequestBody: [{when: source.address in lists.bad && size(request.body) > 1, deny: 403}]";
    let policy = policy(text);
    let lists = policy.lists().unwrap();
    let post = head("POST /", &[]);
    let mut exchange = exchange();
    assert!(policy.request_buffering(&post, &mut exchange).is_some());
    lists.change().remove("bad", "192.0.2.7").commit().unwrap();
    assert_eq!(status(policy.request_body(&post, b"body", &mut exchange)), 0);
    assert!(policy.request_buffering(&post, &mut exchange).is_none());
    lists.change().insert("bad", "192.0.2.7").commit().unwrap();
    assert!(policy.request_buffering(&post, &mut exchange).is_some());
}

#[test]
fn tools_learn_why_no_rule_matches() {
    let policy = policy(LOGIN);
    let mut exchange = exchange();
    exchange.watch_rules(Some("root"));
    assert!(policy.request_buffering(&head("GET /login", &[]), &mut exchange).is_none());
    let reasons: Vec<String> = exchange.rule_reasons().flat_map(|rule| rule.lines).collect();
    assert_eq!(reasons, ["`root` does not match: request.method == \"POST\" is false: request.method is \"GET\""]);
}

const PREAMBLE: &str = r#"
lists:
  bad: {kind: addresses, entries: [192.0.2.7]}
  paths: {kind: texts, entries: [/login, /a]}
variables:
  post: request.method == "POST"
  wide: request.headers["x-mode"] == "a" || variables.post
functions:
  "is(a: string, b: string) -> bool": a == b
request:
  - {when: 'request.query.contains("gold")', labels: {tier: gold}}
  - {name: failures, when: '"x-limit" in request.headers', limit: {rate: 2/h, countWhen: response.code >= 400}}
  - {when: 'request.query.contains("edit")', setHeaders: {x-mode: c}}
"#;

/// What can be said of a head.
const HEAD: &[&str] = &[
    "request.method == \"POST\"",
    "request.path.startsWith(\"/login\")",
    "request.path in lists.paths",
    "source.address in lists.bad",
    "request.headers[\"x-mode\"] == \"a\"",
    "request.headers[\"x-mode\"] != \"c\"",
    "\"x-mode\" in request.headers",
    "request.headers[?\"x-mode\"].orValue(\"\").startsWith(\"a\")",
    "int(request.headers[\"x-n\"]) > 1",
    "labels.tier == \"gold\"",
    "has(labels.tier)",
    "1 / size(request.query) > 0",
    "request.headers.exists(name, name == \"x-n\")",
    "variables.post",
    "variables.wide",
    "is(request.method, \"GET\")",
    "random() < 2.0",
    "random() > 2.0",
    "true",
    "false",
];

/// What can be said of a body.
const BODY: &[&str] = &[
    "string(BODY).contains(\"x\")",
    "json(BODY).n == 1",
    "has(json(BODY).n)",
    "coalesce(json(BODY).n, 0) > 0",
    "!has(BODY)",
    "has(BODY)",
    "size(BODY) == 0",
    "BODY == b\"x\"",
    "[1, 2].exists(i, i == size(BODY) && request.method == \"POST\")",
    "is(string(BODY), \"x\")",
];

const OF_RESPONSES: &[&str] =
    &["response.code == 200", "response.headers[\"x-mode\"] == \"a\"", "response.code >= 400"];

const FILTER: &[&str] = &[
    "http.request.method eq \"POST\"",
    "http.request.uri.path contains \"login\"",
    "http.request.headers[\"x-mode\"][0] eq \"a\"",
    "any(http.request.headers[\"x-mode\"][*] eq \"b\")",
    "http.request.body.raw contains \"x\"",
    "http.request.body.size gt 1",
    "ip.src in $bad",
];

const ACTIONS: &[&str] = &[
    "deny: 403",
    "deny: {status: 401, body: '${request.path} ${size(BODY)}'}",
    "respond: {status: 200, body: '${json(BODY).n}'}",
    "setHeaders: {x-size: '${size(BODY)}'}",
    "setHeaders: {x-json: '${json(BODY).n}'}",
    "removeHeaders: [x-mode]",
    "labels: {seen: '${string(BODY)}'}",
    "logFields: {path: '${request.path}', size: '${size(BODY)}'}",
    "count: seen",
    "require: 'size(BODY) > 0', deny: 402",
    "require: 'request.headers[\"x-n\"] == \"1\"', deny: 402",
    "sample: 1, deny: 405",
    "allow: true",
    "patchBody: {added: 1}",
    "setBody: {new: '${request.path}'}",
];

const OF_REQUESTS: &[&str] = &[
    "limit: {key: '${request.path}', rate: 3/h}",
    "delay: 5ms",
    "setPath: '/moved${request.path}'",
    "limit: {rate: 5/h, dryRun: true}",
];

fn condition(rng: &mut Rng, atoms: &[String], depth: u32) -> String {
    if depth == 0 || rng.u8(..4) == 0 {
        return rng.choice(atoms).unwrap().clone();
    }
    let part = |rng: &mut Rng| condition(rng, atoms, depth - 1);
    match rng.u8(..10) {
        0..5 => format!("({} && {})", part(rng), part(rng)),
        5..7 => format!("({} || {})", part(rng), part(rng)),
        7..9 => format!("!({})", part(rng)),
        _ => format!("({} ? {} : {})", part(rng), part(rng), part(rng)),
    }
}

fn filter_condition(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 || rng.u8(..3) == 0 {
        return (*rng.choice(FILTER).unwrap()).to_owned();
    }
    let word = *rng.choice(&["and", "and", "or", "xor"]).unwrap();
    let joined = format!("({}) {word} ({})", filter_condition(rng, depth - 1), filter_condition(rng, depth - 1));
    if rng.u8(..4) == 0 { format!("not ({joined})") } else { joined }
}

/// The rules of a phase.
fn phase(rng: &mut Rng, name: &str, body: &str) -> String {
    let of_response = name == "responseBody";
    let atoms = HEAD.iter().chain(BODY.iter()).chain(if of_response { OF_RESPONSES } else { &[] });
    let atoms: Vec<String> = atoms.map(|atom| atom.replace("BODY", body)).collect();
    let head: Vec<String> = HEAD.iter().map(|atom| (*atom).to_owned()).collect();
    let error = rng.choice(["closed", "noMatch", "match", "stop"]).unwrap();
    let mut text = format!("{name}:\n  onError: {error}\n  limit: 1KiB\n  rules:\n");
    for number in 0..rng.u8(1..4) {
        let is_filter = !of_response && rng.u8(..5) == 0;
        let when = if is_filter {
            format!("({}) and ({})", rng.choice(FILTER.iter().take(4)).unwrap(), filter_condition(rng, 2))
        } else {
            // Most rules say first which heads they are about.
            let first = condition(rng, &head, 1);
            let rest = condition(rng, &atoms, 2);
            if rng.u8(..8) == 0 { rest } else { format!("{first} && {rest}") }
        };
        let actions: Vec<&str> = ACTIONS.iter().chain(if of_response { &[] } else { OF_REQUESTS }).copied().collect();
        let action =
            if is_filter { "deny: 403".to_owned() } else { rng.choice(actions).unwrap().replace("BODY", body) };
        let language = if is_filter { "language: filter, " } else { "" };
        text += &format!("    - {{name: {name}{number}, {language}when: '{when}', {action}}}\n");
    }
    text
}

/// A request and the response to it.
struct Case {
    head: Parts,
    body: &'static [u8],
    response: response::Parts,
    response_body: &'static [u8],
}

fn case(rng: &mut Rng) -> Case {
    const BODIES: [&[u8]; 6] = [b"", b"x", b"{\"n\": 1}", b"{\"n\": \"x\"}", b"{", b"\xff\xfe"];
    let method = rng.choice(["GET", "POST", "POST", "PUT"]).unwrap();
    let path = rng.choice(["/", "/login", "/%6cogin/x", "/a//../login", "/a", "/%FF"]).unwrap();
    let query = rng.choice(["", "?gold", "?edit", "?q=%00"]).unwrap();
    let mut head = head(&format!("{method} {path}{query}"), &[]);
    for (name, values) in
        [("x-mode", &["a", "b", "c", "\u{e9}"][..]), ("x-n", &["1", "2", "x", ""]), ("x-limit", &["1"])]
    {
        for _ in 0..*rng.choice(&[0, 0, 1, 1, 2]).unwrap() {
            head.headers.append(name, HeaderValue::from_bytes(rng.choice(values).unwrap().as_bytes()).unwrap());
        }
    }
    if rng.u8(..8) == 0 {
        head.headers.append("x-mode", HeaderValue::from_bytes(b"a\xff").unwrap());
    }
    let code = *rng.choice(&[200, 200, 404, 500, 204]).unwrap();
    let modes: &[(&str, &str)] = &[("x-mode", "a"), ("x-mode", "b")];
    let response = response(code, modes.get(..rng.usize(..3)).unwrap());
    Case { head, body: rng.choice(BODIES).unwrap(), response, response_body: rng.choice(BODIES).unwrap() }
}

fn fields(headers: &HeaderMap) -> Vec<String> {
    headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect()
}

fn ended(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Continue => None,
        Outcome::Respond(answer) => {
            Some(format!("{} {} {:?} {:?}", answer.status, answer.rule, fields(&answer.headers), answer.body))
        }
    }
}

/// How many bodies were wanted, and how many phases ran without one.
#[derive(Default)]
struct Wanted {
    bodies: u32,
    nothing: u32,
}

impl Wanted {
    /// What a host buffers of a body; `None` if the phase is not run.
    fn of<'b>(
        &mut self,
        early: bool,
        body: &'b [u8],
        buffering: impl FnOnce() -> Option<BodyBuffering>,
    ) -> Option<&'b [u8]> {
        if early && buffering()?.state(0, false) == BufferState::Ready {
            self.nothing += 1;
            return Some(b"");
        }
        self.bodies += 1;
        Some(body)
    }
}

/// What a policy does with a request, and how many bodies it wanted.
fn run(policy: &Policy, case: &Case, early: bool, wanted: &mut Wanted) -> Vec<String> {
    let Case { mut head, body, mut response, response_body } =
        Case { head: case.head.clone(), response: case.response.clone(), ..*case };
    let mut exchange = exchange();
    exchange.set_time(Duration::ZERO);
    let mut seen = Vec::new();
    let answer =
        through(policy, (&mut head, body), (&mut response, response_body), early, wanted, &mut exchange, &mut seen);
    seen.extend(answer);
    seen.push(format!("{} {} {:?}", head.method, head.uri, fields(&head.headers)));
    seen.push(format!("{} {:?}", response.status, fields(&response.headers)));
    seen.push(format!("{:?}", exchange.labels().collect::<Vec<_>>()));
    seen.push(log(policy, &head, Some(&response), &mut exchange).to_string());
    seen
}

fn through(
    policy: &Policy,
    (head, body): (&mut Parts, &[u8]),
    (response, response_body): (&mut response::Parts, &[u8]),
    early: bool,
    wanted: &mut Wanted,
    exchange: &mut Exchange,
    seen: &mut Vec<String>,
) -> Option<String> {
    if let Some(answer) = ended(&policy.request(head, exchange).outcome) {
        return Some(answer);
    }
    exchange.edits().apply_to_request(head);
    if let Some(body) = wanted.of(early, body, || policy.request_buffering(head, exchange)) {
        let decision = policy.request_body(head, body, exchange);
        seen.extend(decision.delay.map(|delay| format!("waits {:?}", delay.time())));
        if let Some(answer) = ended(&decision.outcome) {
            return Some(answer);
        }
        exchange.edits().apply_to_request(head);
        seen.extend(exchange.edits().body().map(|body| format!("{body:?}")));
    }
    if let Some(answer) = ended(&policy.response(head, response, exchange)) {
        return Some(answer);
    }
    exchange.edits().apply_to_response(response);
    let has_body = response.status != 204;
    let buffering = || policy.response_buffering(head, response, exchange);
    if let Some(body) = has_body.then(|| wanted.of(early, response_body, buffering)).flatten() {
        if let Some(answer) = ended(&policy.response_body(head, response, body, exchange)) {
            return Some(answer);
        }
        exchange.edits().apply_to_response(response);
        seen.extend(exchange.edits().body().map(|body| format!("{body:?}")));
    }
    None
}

fn counts(policy: &Policy) -> Vec<String> {
    let rules = policy.rules().map(|rule| format!("{} {} {} {}", rule.name, rule.evaluated, rule.matched, rule.failed));
    let limits = policy.limits().map(|limit| format!("{} {} {}", limit.name, limit.admitted, limit.limited));
    let phases = policy.phases().map(|phase| format!("{} {}", phase.phase.name(), phase.evaluated));
    let own = policy.counters().map(|(name, value)| format!("{name} {value}"));
    rules.chain(limits).chain(phases).chain(own).collect()
}

#[test]
fn phases_without_bodies_end_as_with_them() {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let (policies, seed) = (number("CELERO_EARLY_POLICIES", 150), number("CELERO_SEED", 7));
    let mut rng = Rng::with_seed(seed);
    let (mut all, mut wanted) = (Wanted::default(), Wanted::default());
    for round in 0..policies {
        let text = format!(
            "{PREAMBLE}{}{}",
            phase(&mut rng, "requestBody", "request.body"),
            phase(&mut rng, "responseBody", "response.body")
        );
        let read = |read: fn(&str, &str, &Path) -> Result<Policy, _>| {
            read("policy.yaml", &text, Path::new(".")).unwrap_or_else(|error| panic!("{text}{error}"))
        };
        let (early, late) =
            (if round % 8 == 0 { read(Policy::parse) } else { read(Policy::check) }, read(Policy::check));
        for _ in 0..60 {
            let case = case(&mut rng);
            let (one, other) = (run(&early, &case, true, &mut wanted), run(&late, &case, false, &mut all));
            assert_eq!(one, other, "{text}{:?} {:?} {:?}", case.head, case.body, case.response);
        }
        assert_eq!(counts(&early), counts(&late), "{text}");
    }
    let (all, Wanted { bodies, nothing }) = (all.bodies, wanted);
    assert!(bodies < all / 4 * 3 && bodies > all / 10 && nothing > all / 100, "{bodies} of {all}, {nothing} without");
}
