//! Every action, in every phase.

use crate::support::{answer, ask, ask_response, edits, exchange, head, log, policy, response, status};
use celero_policy::{Exchange, Outcome, Phase, Policy, RuleInfo};

const HEADERS: &str = r#"
headerSets:
  internal: {names: [x-route], prefixes: [x-int-]}
PHASE:
  - removeHeaders: [x-secret]
    removePrefixes: [x-debug-]
    removeHeaderSets: [internal]
    setHeaders:
      x-int-path: "p=${request.path}"
      x-constant: yes
    addHeaders:
      via: ${request.version} celero
  - when: request.path == "/other"
    setHeaders: {x-other: no}
"#;

/// Many names are removed in another way than few, with the same outcome: what an earlier rule set goes as well.
#[test]
fn what_earlier_rules_set_is_removed_with_the_rest() {
    for removal in
        ["removeHeaders: [x-a, x-b]", "removeHeaders: [x-a, x-b, x-c, x-d, x-e, x-f]", "removePrefixes: [x-]"]
    {
        let policy = policy(&format!(
            "request:\n- setHeaders: {{x-a: new, y: new}}\n- {removal}\n- addHeaders: {{x-b: last}}\n"
        ));
        let (mut head, mut exchange) = (head("GET /", &[("x-b", "1"), ("x-b", "2"), ("z", "3")]), exchange());
        assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
        exchange.edits().apply_to_request(&mut head);
        let mut left: Vec<String> =
            head.headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        left.retain(|header| header != "host: localhost");
        left.sort();
        assert_eq!(left, ["x-b: last", "y: new", "z: 3"], "{removal}");
    }
}

#[test]
fn headers_of_requests_are_set_added_and_removed() {
    for phase in ["request", "requestBody"] {
        let policy = policy(&HEADERS.replace("PHASE", phase));
        let sent = [
            ("x-secret", "1"),
            ("X-Debug-A", "1"),
            ("x-debug-a", "2"),
            ("x-int-b", "1"),
            ("x-route", "r"),
            ("via", "a"),
        ];
        let mut head = head("GET /a?b", &sent);
        let mut exchange = exchange();
        let outcome = match phase {
            "request" => ask(&policy, &head, &mut exchange),
            _ => policy.request_body(&head, b"", &mut exchange).outcome,
        };
        assert_eq!(status(outcome), 0);
        let expected = [
            "- x-secret",
            "- x-debug-a",
            "- x-int-b",
            "- x-route",
            "x-int-path = p=/a",
            "x-constant = yes",
            "via + HTTP/1.1 celero",
        ];
        assert_eq!(edits(&exchange), expected);
        exchange.edits().apply_to_request(&mut head);
        let mut left: Vec<String> =
            head.headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        left.retain(|header| header != "host: localhost");
        left.sort();
        assert_eq!(left, ["via: HTTP/1.1 celero", "via: a", "x-constant: yes", "x-int-path: p=/a"]);
    }
}

#[test]
fn headers_of_responses_are_set_added_and_removed() {
    let policy = policy(&HEADERS.replace("PHASE", "response").replace("p=${request.path}", "${response.code}"));
    let mut exchange = exchange();
    let sent = response(404, &[("x-secret", "1"), ("x-int-z", "1"), ("x-intern", "1")]);
    assert_eq!(status(ask_response(&policy, &head("GET /other", &[("x-int-q", "1")]), &sent, &mut exchange)), 0);
    assert_eq!(
        edits(&exchange),
        ["- x-secret", "- x-int-z", "x-int-path = 404", "x-constant = yes", "via + HTTP/1.1 celero", "x-other = no"]
    );
}

#[test]
fn rules_answer_in_every_phase() {
    let rules = r#"
  - name: refused
    when: request.path == "/deny"
    setHeaders: {x-lost: "1"}
    deny: true
  - when: request.path == "/status"
    deny: 429
  - when: request.path == "/full"
    deny: {status: 401, headers: {www-authenticate: 'Basic realm="${request.host}"'}, body: "no, ${source.address}"}
  - when: request.path == "/respond"
    respond: {headers: {content-type: text/plain}, body: "User-agent: *"}
  - when: request.path == "/redirect"
    redirect: https://${request.host}${request.pathAndQuery}
  - when: request.path == "/moved"
    redirect: {to: /new, status: 308}
"#;
    for phase in ["request", "requestBody", "response"] {
        let policy = policy(&format!("{phase}:{rules}"));
        let ask = |path: &str| {
            let head = head(&format!("GET {path}"), &[("host", "a.example")]);
            let mut exchange = exchange();
            let outcome = match phase {
                "request" => ask(&policy, &head, &mut exchange),
                "requestBody" => policy.request_body(&head, b"", &mut exchange).outcome,
                _ => ask_response(&policy, &head, &response(200, &[]), &mut exchange),
            };
            assert!(exchange.edits().is_empty());
            outcome
        };
        let refused = answer(ask("/deny"));
        assert_eq!((refused.status.as_u16(), &*refused.rule, refused.body.len()), (403, "refused", 0));
        assert_eq!(status(ask("/status")), 429);
        let full = answer(ask("/full"));
        assert_eq!(full.status, 401);
        assert_eq!(full.headers["www-authenticate"], "Basic realm=\"a.example\"");
        assert_eq!(&full.body[..], b"no, 192.0.2.7");
        let respond = answer(ask("/respond"));
        assert_eq!((respond.status.as_u16(), &respond.body[..]), (200, &b"User-agent: *"[..]));
        assert_eq!(respond.headers["content-type"], "text/plain");
        let redirect = answer(ask("/redirect?a=b"));
        assert_eq!(
            (redirect.status.as_u16(), &redirect.headers["location"]),
            (302, &"https://a.example/redirect?a=b".parse().unwrap())
        );
        let moved = answer(ask("/moved"));
        assert_eq!((moved.status.as_u16(), &moved.headers["location"]), (308, &"/new".parse().unwrap()));
        assert_eq!(status(ask("/")), 0);
    }
}

#[test]
fn the_first_answer_ends_a_phase() {
    let policy = policy(
        r#"
request:
  - setHeaders: {x-first: "1"}
  - when: request.path.startsWith("/open")
    allow: true
  - when: request.path.endsWith("/late")
    priority: 1
    deny: 418
  - setHeaders: {x-second: "2"}
  - deny: true
"#,
    );
    let mut exchange = exchange();
    assert_eq!(status(ask(&policy, &head("GET /open", &[]), &mut exchange)), 0);
    assert_eq!(edits(&exchange), ["x-first = 1"]);
    assert_eq!(status(ask(&policy, &head("GET /closed", &[]), &mut exchange)), 403);
    assert_eq!(status(ask(&policy, &head("GET /open/late", &[]), &mut exchange)), 418);
}

#[test]
fn rules_match_the_message_as_the_phase_found_it() {
    let policy = policy(
        "request:\n- setHeaders: {x-a: new}\n- when: request.headers['x-a'] == 'old'\n  setHeaders: {x-seen: old}\n",
    );
    let mut exchange = exchange();
    assert_eq!(status(ask(&policy, &head("GET /", &[("x-a", "old")]), &mut exchange)), 0);
    assert_eq!(edits(&exchange), ["x-a = new", "x-seen = old"]);
}

#[test]
fn labels_are_for_the_host_and_for_later_phases() {
    let policy = policy(
        r#"
request:
  - when: labels.listener == "edge"
    labels: {backend: "${request.host}-1", kind: api}
  - when: '"backend" in labels'
    deny: true
requestBody:
  - when: labels.kind == "api"
    labels: {kind: "${labels.kind}/body"}
response:
  - setHeaders: {x-kind: "${labels.kind}"}
"#,
    );
    let mut exchange = exchange();
    exchange.set_label("listener", "edge");
    let head = head("GET /", &[("host", "a")]);
    assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
    assert_eq!(exchange.label("backend"), Some("a-1"));
    assert_eq!(status(policy.request_body(&head, b"", &mut exchange)), 0);
    assert_eq!(exchange.labels().collect::<Vec<_>>(), [("backend", "a-1"), ("kind", "api/body"), ("listener", "edge")]);
    assert_eq!(status(ask_response(&policy, &head, &response(200, &[]), &mut exchange)), 0);
    assert_eq!(edits(&exchange), ["x-kind = api/body"]);
    exchange.reset(None, None);
    assert_eq!(exchange.labels().count(), 0);
    // Without the label the first condition fails.
    assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
    assert_eq!(exchange.label("backend"), None);
}

#[test]
fn log_fields_of_all_phases_are_one_entry() {
    let policy = policy(
        r#"
request:
  - logFields: {path: "${request.path}", late: early}
response:
  - logFields: {code: "${response.code}"}
log:
  - logFields:
      late: "${response.bytesSent > 10}"
      started: ${request.startTime}
      took: ${request.duration}
      text: "${response.code} in ${request.duration}"
      list: ${request.path.split("/")}
      map: "${{'a': [1, 2.5], 'b': null}}"
      absent: ${request.headers["x-none"]}
      fixed: 1
  - when: response.code >= 500
    logFields: {bad: "true"}
"#,
    );
    assert!(
        policy.has_log_fields()
            && policy.has_response_rules()
            && policy.request_buffering(&head("GET /", &[]), &mut exchange()).is_none()
    );
    let (head, response, mut exchange) = (head("GET /a/b", &[]), response(200, &[]), exchange());
    assert!(matches!(ask(&policy, &head, &mut exchange), Outcome::Continue));
    assert!(matches!(ask_response(&policy, &head, &response, &mut exchange), Outcome::Continue));
    let fields = log(&policy, &head, Some(&response), &mut exchange);
    assert_eq!(
        fields.to_string(),
        r#"{"path":"/a/b","late":true,"code":200,"started":"2023-11-14T22:13:20Z","took":"1.5s","text":"200 in 1.5s","list":["","a","b"],"map":{"a":[1,2.5],"b":null},"fixed":"1"}"#
    );
    // A request that was answered before there was a response.
    exchange.reset(None, None);
    let fields = log(&policy, &head, None, &mut exchange);
    assert!(fields.iter().all(|(name, _)| name != "text" && name != "bad"), "{fields}");
    assert!(log(&policy, &head, None, &mut exchange).iter().any(|(name, _)| name == "late"));
}

#[test]
fn matches_failures_and_counters_are_counted() {
    let policy = policy(
        r#"
request:
  - name: a
    when: request.path == "/a"
    count: hits
  - when: request.headers["x-n"] == "1"
    respond: {status: 299}
log:
  - count: all
  - count: hits
"#,
    );
    let mut exchange = exchange();
    for path in ["GET /a", "GET /b", "GET /a"] {
        assert_eq!(status(ask(&policy, &head(path, &[]), &mut exchange)), 0);
    }
    // A rule that fails matches if it denies; this one does not.
    assert_eq!(status(ask(&policy, &head("GET /a", &[("x-n", "1")]), &mut exchange)), 299);
    log(&policy, &head("GET /", &[]), None, &mut exchange);
    let rules: Vec<_> =
        policy.rules().map(|rule| (rule.phase, rule.name.to_string(), rule.matched, rule.failed)).collect();
    let expected = [
        (Phase::Request, "a".to_owned(), 3, 0),
        (Phase::Request, "request #2".to_owned(), 1, 3),
        (Phase::Log, "log #1".to_owned(), 1, 0),
        (Phase::Log, "log #2".to_owned(), 1, 0),
    ];
    assert_eq!(rules, expected);
    assert_eq!(policy.counters().collect::<Vec<_>>(), [("hits", 4), ("all", 1)]);
    let phases: Vec<_> = policy.phases().map(|info| (info.phase, info.evaluated)).collect();
    assert_eq!(phases, [(Phase::Request, 4), (Phase::Log, 1)]);
}

#[test]
fn some_evaluations_are_timed() {
    let policy = policy("request:\n- when: request.path.matches('b+$')\n");
    let mut exchange = exchange();
    for _ in 0..6400 {
        assert_eq!(status(ask(&policy, &head("GET /b", &[]), &mut exchange)), 0);
    }
    let info = policy.phases().next().unwrap();
    assert_eq!((info.evaluated, info.timed), (6400, 100));
    assert!(!info.time.is_zero());
}

#[test]
fn rules_are_timed_by_themselves_in_turn() {
    let ten = "[1,2,3,4,5,6,7,8,9,10]";
    let policy = policy(&format!(
        r#"
request:
  - name: cheap
    when: request.path == "/a"
    count: cheap
  - name: dear
    when: '{ten}.all(a, {ten}.all(b, {ten}.all(c, a + b + c < 100 || request.path == "/b")))'
  - name: failing
    when: request.headers["x-n"] == "1"
    deny: 400
  - respond: {{status: 299}}
response:
  - when: response.code == 200
"#
    ));
    let (request, answer, mut exchange) = (head("GET /a", &[("x-n", "2")]), response(200, &[]), exchange());
    for _ in 0..640 {
        // The phases take turns, and each is timed as often.
        assert_eq!(status(ask(&policy, &request, &mut exchange)), 299);
        assert_eq!(status(ask_response(&policy, &request, &answer, &mut exchange)), 0);
    }
    assert_eq!(policy.phases().map(|info| (info.evaluated, info.timed)).collect::<Vec<_>>(), [(640, 10), (640, 10)]);
    let rules: Vec<_> = policy.rules().collect();
    let counted = |rule: &RuleInfo| (rule.evaluated, rule.matched, rule.failed, rule.timed);
    let expected = [(640, 640, 0, 3), (640, 640, 0, 3), (640, 0, 0, 2), (640, 640, 0, 2), (640, 640, 0, 10)];
    assert_eq!(rules.iter().map(counted).collect::<Vec<_>>(), expected);
    assert!(rules.iter().all(|rule| !rule.time.is_zero()));
    assert!(rules[1].time > rules[0].time, "{rules:?}");
    // Nor does it count that a rule fails.
    for _ in 0..256 {
        assert_eq!(status(ask(&policy, &head("GET /a", &[]), &mut exchange)), 400);
    }
    assert_eq!(policy.rules().nth(2).as_ref().map(counted), Some((896, 256, 256, 3)));
}

#[test]
fn rules_with_impure_calls_are_never_evaluated_a_second_time() {
    let policy = policy(
        r#"
functions:
  'lucky(share: double)': random() < share
request:
  - when: lucky(0.5)
  - when: request.path == "/a"
  - when: uuid() != request.path
"#,
    );
    let (request, mut exchange) = (head("GET /a", &[]), exchange());
    for _ in 0..640 {
        assert_eq!(status(ask(&policy, &request, &mut exchange)), 0);
    }
    let timed: Vec<u64> = policy.rules().map(|rule| rule.timed).collect();
    assert_eq!(timed, [0, 10, 0]);
}

#[test]
fn a_sample_is_a_share_of_the_requests() {
    let policy = policy("request:\n- sample: 0.25\n  count: sampled\n- sample: 1\n  count: all\n");
    let (head, mut exchange) = (head("GET /", &[]), exchange());
    for _ in 0..4000 {
        assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
    }
    let counters: Vec<u64> = policy.counters().map(|(_, count)| count).collect();
    assert!((800..1200).contains(&counters[0]) && counters[1] == 4000, "{counters:?}");
}

#[test]
fn bodies_are_gathered_where_rules_want_them() {
    let policy = policy(
        r#"
requestBody:
  limit: 1KiB
  rules:
    - when: json(request.body).model == "big"
      deny: 402
    - when: request.headers["content-type"] == "application/x-www-form-urlencoded" && form.decode(string(request.body)).a == "1"
      labels: {form: "1"}
"#,
    );
    assert_eq!(
        policy.request_buffering(&head("GET /", &[]), &mut exchange()).map(|buffering| buffering.limit()),
        Some(1024)
    );
    let (json, form) = (head("POST /", &[]), head("POST /", &[("content-type", "application/x-www-form-urlencoded")]));
    let mut exchange = exchange();
    assert_eq!(status(policy.request_body(&json, br#"{"model": "big"}"#, &mut exchange)), 402);
    assert_eq!(status(policy.request_body(&json, br#"{"model": "small"}"#, &mut exchange)), 0);
    // What is no JSON makes the condition fail, and a rule that denies then does.
    assert_eq!(status(policy.request_body(&json, b"{", &mut exchange)), 402);
    assert_eq!(status(policy.request_body(&form, b"a=1", &mut exchange)), 402);
    assert_eq!(answer(policy.request_body_too_large(&json, &mut exchange)).status, 413);
    let open = crate::support::policy("requestBody: {tooLarge: skip, rules: [{deny: true}]}");
    assert_eq!(open.request_buffering(&json, &mut exchange).map(|buffering| buffering.limit()), Some(65_536));
    assert_eq!(status(open.request_body_too_large(&json, &mut exchange)), 0);
}

#[test]
fn an_empty_policy_does_nothing() {
    for text in ["", "# nothing\n", "request:\n", "request: []\n", "response: {}\nlog: {rules: []}\n"] {
        let policy = policy(&format!("empty: allowed\n{text}"));
        let (head, mut exchange) = (head("GET /", &[]), exchange());
        assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
        assert!(exchange.edits().is_empty() && policy.rules().count() == 0);
        assert!(policy.request_buffering(&head, &mut exchange).is_none());
        assert!(!policy.has_response_rules() && !policy.has_log_fields());
        let mut answered = response(200, &[]);
        exchange.edits().apply_to_response(&mut answered);
        assert!(answered.headers.is_empty() && answered.status == 200);
        assert_eq!(log(&policy, &head, None, &mut exchange).to_string(), "{}");
    }
}

#[test]
fn policies_and_exchanges_go_from_thread_to_thread() {
    fn shared<T: Send + Sync>() {}
    shared::<Policy>();
    shared::<celero_policy::LivePolicy>();
    shared::<Exchange>();
    shared::<Outcome>();
    shared::<celero_policy::PolicyError>();
}
