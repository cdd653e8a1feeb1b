//! `setBody` and `patchBody`: bodies that rules replace or change.

use crate::support::{Folder, answer, exchange, head, policy, response, status, wrong};
use celero_policy::{Outcome, Policy};
use http::HeaderMap;

/// The body and the head that a server gets, or the status of the policy's answer.
fn sent(policy: &Policy, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<(Vec<u8>, HeaderMap), u16> {
    let (mut head, mut exchange) = (head(line, headers), exchange());
    match policy.request_body(&head, body, &mut exchange).outcome {
        Outcome::Continue => {
            exchange.edits().apply_to_request(&mut head);
            Ok((exchange.edits().body().map_or_else(|| body.to_vec(), |new| new.to_vec()), head.headers))
        }
        Outcome::Respond(answer) => Err(answer.status.as_u16()),
    }
}

/// The body that a server gets of a POST request.
fn posted(policy: &Policy, body: &str) -> Result<String, u16> {
    sent(policy, "POST /", &[], body.as_bytes()).map(|(body, _)| String::from_utf8(body).unwrap())
}

/// The body and the head of a response that a client gets, or the status of the policy's answer.
fn answered(policy: &Policy, code: u16, headers: &[(&str, &str)], body: &[u8]) -> Result<(String, HeaderMap), u16> {
    let (head, mut response, mut exchange) = (head("GET /", &[]), response(code, headers), exchange());
    match policy.response_body(&head, &response, body, &mut exchange) {
        Outcome::Continue => {
            exchange.edits().apply_to_response(&mut response);
            let body = exchange.edits().body().map_or_else(|| body.to_vec(), |new| new.to_vec());
            Ok((String::from_utf8(body).unwrap(), response.headers))
        }
        Outcome::Respond(answer) => Err(answer.status.as_u16()),
    }
}

fn rule(action: &str) -> Policy {
    policy(&format!("requestBody:\n- {action}\n"))
}

#[test]
fn a_new_body_is_text_bytes_or_json() {
    for (action, body, expected) in [
        ("setBody: fixed", "", "fixed"),
        ("setBody: ''", "x", ""),
        ("setBody: 5", "", "5"),
        ("setBody: 'a ${request.method} $${b}'", "", "a POST ${b}"),
        ("setBody: '${request.method}'", "", "POST"),
        ("setBody: '${request.body}'", "x\u{0}é", "x\u{0}é"),
        ("setBody: '${b\"\\xff\\x00\".size()}'", "", "2"),
        ("setBody: '${{\"b\": [1, 2.5, null], \"a\": request.path}}'", "", r#"{"a":"/","b":[1,2.5,null]}"#),
        ("setBody: '${json(request.body).a}'", r#"{"a":{"c":18446744073709551615}}"#, r#"{"c":18446744073709551615}"#),
        ("setBody: '${json(request.body).a}'", r#"{"a":"text"}"#, "text"),
        ("setBody: '${duration(\"90s\")}'", "", "90s"),
        (
            "setBody: {path: '${request.path}', n: 1, list: ['${1 + 1}', '1', null], gone: '${request.headers[?\"x\"]}'}",
            "",
            r#"{"list":[2,"1",null],"n":1,"path":"/"}"#,
        ),
        ("setBody: []", "", "[]"),
    ] {
        assert_eq!(posted(&rule(action), body).as_deref(), Ok(expected), "{action}");
    }
    let members: Vec<String> = (0..10_000).map(|number| format!("\"m{number:05}\":{number}")).collect();
    let large = format!("{{{}}}", members.join(","));
    let same = policy("requestBody:\n  limit: 1MiB\n  rules:\n  - setBody: '${json(request.body)}'\n");
    assert_eq!(posted(&same, &large).as_deref(), Ok(&*large));
    let bytes = policy("requestBody:\n- setBody: '${b\"\\xff\\x00\"}'\n");
    assert_eq!(sent(&bytes, "POST /", &[], b"").unwrap().0, b"\xff\0");
}

#[test]
fn a_patch_keeps_what_it_does_not_mention() {
    let merge = rule(
        "patchBody: {model: '${request.headers[?\"x-model\"].orValue(\"small\")}', debug: null, limits: {tokens: 100}}",
    );
    let body = "{\"model\": \"big\", \"debug\": true, \"id\": 12345678901234567890123, \"limits\": {\"n\": 1.50}, \"t\" : [ 1 ] }";
    let expected = r#"{"model":"small","id":12345678901234567890123,"limits":{"n":1.50,"tokens":100},"t":[ 1 ]}"#;
    assert_eq!(posted(&merge, body).as_deref(), Ok(expected));
    assert_eq!(posted(&merge, r#"{"model":1,"model":2}"#), Err(500), "servers disagree about which member counts");
    assert_eq!(posted(&merge, r#"{"model":1,"Model":2}"#), Err(500), "some servers read names ignoring case");
    assert_eq!(posted(&merge, "model=big"), Err(500));
    assert_eq!(posted(&merge, ""), Err(500));
    // A value may be moved to where it is, if it is there (RFC 6902, section 4.4).
    let same = rule("patchBody: [{op: move, from: /a, path: /a}]");
    assert_eq!(posted(&same, r#"{"a":1}"#).as_deref(), Ok(r#"{"a":1}"#));
    assert_eq!(posted(&same, "{}"), Err(500));
    let patch = rule(
        "patchBody: [{op: test, path: /v, value: 2}, {op: add, path: /items/-, value: {by: '${request.path}'}}, {op: move, from: /a, path: /b}, {op: copy, from: /v, path: /items/0}, {op: remove, path: /c~1d}]",
    );
    let body = r#"{"v":2.0,"items":[],"a":[1],"c/d":0}"#;
    assert_eq!(posted(&patch, body).as_deref(), Ok(r#"{"v":2.0,"items":[2.0,{"by":"/"}],"b":[1]}"#));
    assert_eq!(posted(&patch, r#"{"v":3,"items":[],"a":[1],"c/d":0}"#), Err(500), "the test fails");
    assert_eq!(posted(&patch, r#"{"v":2,"items":[],"a":[1]}"#), Err(500), "nothing to remove");
}

#[test]
fn an_absent_value_of_a_merge_patch_removes_what_the_client_sent() {
    let body = r#"{"tenant":"root","user":{"id":"admin","n":1},"list":[{"id":"admin"}]}"#;
    for rule in [
        rule(
            "patchBody: {tenant: '${request.headers[?\"x-tenant\"]}', user: {id: '${request.headers[?\"x-tenant\"]}'}, list: [{id: '${request.headers[?\"x-tenant\"]}'}]}",
        ),
        rule(
            "language: filter\n  patchBody: {tenant: '${http.request.headers[\"x-tenant\"][0]}', user: {id: '${http.request.headers[\"x-tenant\"][0]}'}, list: [{id: '${http.request.headers[\"x-tenant\"][0]}'}]}",
        ),
    ] {
        assert_eq!(posted(&rule, body).as_deref(), Ok(r#"{"user":{"n":1},"list":[{}]}"#));
        assert_eq!(posted(&rule, "{}").as_deref(), Ok(r#"{"list":[{}],"user":{}}"#));
        let (with, _) = sent(&rule, "POST /", &[("x-tenant", "acme")], body.as_bytes()).unwrap();
        let expected = r#"{"tenant":"acme","user":{"id":"acme","n":1},"list":[{"id":"acme"}]}"#;
        assert_eq!(std::str::from_utf8(&with), Ok(expected));
    }
    let added = rule("patchBody: [{op: add, path: /a, value: {b: '${request.headers[?\"x\"]}'}}]");
    assert_eq!(posted(&added, "{}").as_deref(), Ok(r#"{"a":{}}"#), "a value of a JSON Patch is no merge");
}

#[test]
fn several_rules_change_one_body_in_their_order() {
    let both = policy(
        "requestBody:\n- patchBody: {a: 1}\n- patchBody: {b: '${json(request.body).a}'}\n- when: request.path == '/x'\n  setBody: last\n",
    );
    assert_eq!(posted(&both, r#"{"a":0}"#).as_deref(), Ok(r#"{"a":1,"b":0}"#), "rules read the body as it was");
    assert_eq!(sent(&both, "POST /x", &[], b"{\"a\":0}").unwrap().0, b"last");
    let denied = policy("requestBody:\n- setBody: new\n- deny: 403\n");
    let (head, mut exchange) = (head("POST /", &[]), exchange());
    assert_eq!(status(denied.request_body(&head, b"x", &mut exchange)), 403);
    assert!(exchange.edits().body().is_none() && exchange.edits().is_empty());
}

#[test]
fn a_body_that_fails_goes_nowhere() {
    for on_error in ["closed", "noMatch", "match", "stop"] {
        let text = format!(
            "requestBody:\n  onError: {on_error}\n  errorStatus: 422\n  limit: 8\n  rules:\n  - name: new\n    setBody: '${{string(request.body) + request.headers[\"x\"]}}'\n"
        );
        let policy = policy(&text);
        let asked =
            |headers: &[(&str, &str)], body: &[u8]| sent(&policy, "POST /", headers, body).map(|(body, _)| body);
        assert_eq!(asked(&[], b"a"), Err(422), "{on_error}: the expression fails");
        assert_eq!(asked(&[("x", "1234567")], b"a").as_deref(), Ok(&b"a1234567"[..]), "{on_error}");
        assert_eq!(asked(&[("x", "12345678")], b"a"), Err(422), "{on_error}: larger than the limit");
        assert_eq!(policy.rules().map(|rule| (rule.matched, rule.failed)).collect::<Vec<_>>(), [(3, 2)], "{on_error}");
    }
    let large = policy(
        "requestBody:\n  limit: 16\n  rules:\n  - patchBody: [{op: copy, from: '', path: /a}, {op: remove, path: /a}]\n",
    );
    assert_eq!(posted(&large, r#"{"b":12}"#).as_deref(), Ok(r#"{"b":12}"#));
    let twice = policy(
        "requestBody:\n  limit: 16\n  rules:\n  - patchBody: [{op: copy, from: '', path: /a}, {op: copy, from: '', path: /a}]\n",
    );
    assert_eq!(posted(&twice, r#"{"b":12}"#), Err(500), "what is added in all is bounded");
}

#[test]
fn the_head_says_what_is_true_of_the_new_body() {
    let policy = policy(
        "requestBody:\n  encoded: decode\n  rules:\n  - setBody: new\n    setHeaders: {content-type: text/plain, digest: mine}\n",
    );
    let before = [
        ("content-length", "100"),
        ("content-encoding", "gzip"),
        ("transfer-encoding", "chunked"),
        ("trailer", "digest"),
        ("content-md5", "a"),
        ("digest", "a"),
        ("content-digest", "a"),
        ("repr-digest", "a"),
        ("content-type", "application/json"),
        ("x-other", "kept"),
    ];
    let (body, head) = sent(&policy, "POST /", &before, b"").unwrap();
    let mut left: Vec<_> = head.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    left.sort_unstable();
    let expected = [
        ("content-length", "3"),
        ("content-type", "text/plain"),
        ("digest", "mine"),
        ("host", "localhost"),
        ("x-other", "kept"),
    ];
    assert_eq!((&*body, &*left), (&b"new"[..], &expected[..]));

    let policy = crate::support::policy("responseBody:\n- setBody: new\n");
    let before = [
        ("etag", "\"a\""),
        ("last-modified", "x"),
        ("accept-ranges", "bytes"),
        ("content-length", "1"),
        ("vary", "a"),
        ("digest", "a"),
    ];
    let (body, head) = answered(&policy, 200, &before, b"x").unwrap();
    assert_eq!(body, "new");
    let mut left: Vec<_> = head.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    left.sort_unstable();
    assert_eq!(left, [("content-length", "3"), ("vary", "a")]);
    let (_, unchanged) =
        answered(&crate::support::policy("responseBody:\n- when: false\n  setBody: new\n"), 200, &before, b"x")
            .unwrap();
    assert_eq!(unchanged.len(), before.len());
}

#[test]
fn coded_bodies_are_changed_decoded() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(br#"{"a":1}"#).unwrap();
    let gzip = encoder.finish().unwrap();
    let policy = policy("responseBody:\n- patchBody: {b: 2}\n");
    let (body, head) = answered(&policy, 200, &[("content-encoding", "gzip")], &gzip).unwrap();
    assert_eq!(
        (&*body, head.contains_key("content-encoding"), &head["content-length"]),
        (r#"{"a":1,"b":2}"#, false, &"13".parse().unwrap())
    );
}

#[test]
fn bodies_that_are_no_whole_stay() {
    let policy = policy("requestBody:\n- setBody: new\nresponseBody:\n- setBody: new\n");
    for method in ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "PROPFIND"] {
        assert_eq!(sent(&policy, &format!("{method} /"), &[], b"").map(|(body, _)| body), Err(500), "{method}");
    }
    for method in ["POST", "PUT", "PATCH", "QUERY"] {
        assert_eq!(sent(&policy, &format!("{method} /"), &[], b"").unwrap().0, b"new", "{method}");
    }
    assert_eq!(sent(&policy, "GET /", &[], b"x").unwrap().0, b"new", "it has a body already");
    assert_eq!(sent(&policy, "PUT /", &[("content-range", "bytes 0-1/2")], b"x").map(|(body, _)| body), Err(500));
    for (code, headers) in [(206, &[][..]), (205, &[]), (200, &[("content-range", "bytes 0-1/2")])] {
        assert_eq!(answered(&policy, code, headers, b"x").map(|(body, _)| body), Err(500), "{code}");
    }
    assert_eq!(answered(&policy, 404, &[], b"x").unwrap().0, "new");
}

#[test]
fn calls_of_grpc_are_answered() {
    let policy = policy("requestBody:\n- setBody: new\nresponseBody:\n- setBody: new\n");
    let mut head = head("POST http://localhost/a.B/C", &[("content-type", "application/grpc")]);
    head.version = http::Version::HTTP_2;
    let mut exchange = exchange();
    assert_eq!(status(policy.request(&mut head, &mut exchange)), 0);
    for outcome in [
        policy.request_body(&head, b"\0\0\0\0\0", &mut exchange).outcome,
        policy.response_body(&head, &response(200, &[]), b"\0\0\0\0\0", &mut exchange),
    ] {
        let refused = answer(outcome);
        assert_eq!((refused.status.as_u16(), &refused.headers["grpc-status"]), (200, &"2".parse().unwrap()));
    }
}

#[test]
fn the_head_of_a_response_to_head_does_not_describe_the_old_body() {
    let policy = policy("responseBody:\n- setBody: new\nresponse:\n- setHeaders: {etag: '\"mine\"'}\n");
    let before = [("etag", "\"a\""), ("content-length", "100"), ("x", "y")];
    let left = |line: &str| {
        let (head, mut answered, mut exchange) = (head(line, &[]), response(200, &before), exchange());
        assert_eq!(status(policy.response(&head, &mut answered, &mut exchange)), 0);
        exchange.edits().apply_to_response(&mut answered);
        let left = answered.headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        left.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(left("HEAD /"), "x: y, etag: \"mine\"");
    assert_eq!(left("GET /"), "etag: \"mine\", content-length: 100, x: y");
}

#[test]
fn failures_are_told() {
    let lines = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = std::sync::Arc::clone(&lines);
    let text = "requestBody:\n- name: patch\n  patchBody: [{op: remove, path: /a}, {op: replace, path: /b, value: '${request.headers[\"x\"]}'}]\n";
    let mut policy = policy(text);
    policy.log_failures(move |line| told.lock().unwrap().push(line.to_owned()));
    for body in ["{", "{}", r#"{"a":1,"b":2}"#, r#"{"a":1,"\u0061":2}"#] {
        assert_eq!(posted(&policy, body), Err(500));
    }
    let lines = lines.lock().unwrap().join("\n");
    for expected in
        ["patchBody: the body is not JSON", "patchBody, operation 1: there is nothing at this place of the body"]
    {
        assert!(lines.contains(&format!("rule \"patch\": {expected}")), "{lines}");
    }
}

#[test]
fn mistakes_are_found_when_the_policy_is_read() {
    for (text, expected) in [
        ("request: [{setBody: x}]", "`setBody` can't be in the phase `request`: bodies are not buffered for it"),
        ("response: [{patchBody: {a: 1}}]", "move the rule to `requestBody` or `responseBody`"),
        ("log: [{setBody: x}]", "setBody"),
        ("requestBody: [{setBody: x, patchBody: {a: 1}}]", "either `setBody` or `patchBody`"),
        ("requestBody: {prefix: 10, rules: [{setBody: x}]}", "needs the whole body"),
        ("requestBody: {encoded: raw, rules: [{patchBody: {a: 1}}]}", "use `encoded: decode`"),
        ("requestBody: [{setBody: '${response.body}'}]", "`response.body` exists in the phase `responseBody`"),
        ("requestBody: [{patchBody: {a: {b: ['${nothing}']}}}]", "nothing"),
        ("requestBody: [{patchBody: [{op: merge, path: /a}]}]", "`merge`"),
        ("requestBody: [{patchBody: [{op: add, path: /a}]}]", "the operation `add` needs `value`"),
        ("requestBody: [{patchBody: [{op: remove, path: /a, value: 1}]}]", "the operation `remove` has no `value`"),
        ("requestBody: [{patchBody: [{op: copy, path: /a}]}]", "the operation `copy` needs `from`"),
        ("requestBody: [{patchBody: [{op: add, path: a, value: 1}]}]", "`a` is not a JSON Pointer"),
        ("requestBody: [{patchBody: [{op: remove, path: ''}]}]", "the whole document can't be removed"),
        ("requestBody: [{patchBody: [{op: move, from: /a, path: /a/b}]}]", "can't be moved into itself"),
        ("requestBody: [{patchBody: x}]", "a list or a mapping"),
        ("requestBody: [{setBody: }]", "`setBody` has no value"),
        ("requestBody: [{patchBody: null}]", "`patchBody` has no value"),
    ] {
        let found = wrong(text);
        assert!(found.contains(expected), "{text}:\n{found}");
    }
}

#[test]
fn a_lower_level_does_not_change_a_body_that_a_higher_level_has_checked() {
    let folder = Folder::new("body-levels");
    let found = |higher: &str, lower: &str| {
        let main = folder.write("policy.yaml", format!("levels: [team.yaml]\n{higher}\n"));
        folder.write("team.yaml", lower);
        Policy::load(&main).err().map(|error| error.to_string()).unwrap_or_default()
    };
    for (higher, lower, expected) in [
        ("requestBody: [{when: 'request.body == b\"x\"', deny: 403}]", "requestBody: [{setBody: y}]", "reads the body"),
        (
            "requestBody: [{when: 'json(request.body).a == 1', deny: 403}]",
            "requestBody: [{patchBody: {a: 2}}]",
            "reads the body",
        ),
        ("requestBody: [{setBody: x}]", "requestBody: [{setBody: y}]", "sets the body"),
        (
            "responseBody: [{when: 'response.body == b\"x\"', deny: 403}]",
            "responseBody: [{setBody: y}]",
            "reads the body",
        ),
        (
            "request: [{when: 'request.headers[\"content-length\"] == \"1\"', deny: 403}]",
            "requestBody: [{setBody: y}]",
            "reads `content-length`",
        ),
        ("response: [{setHeaders: {etag: x}}]", "responseBody: [{setBody: y}]", "sets `etag`"),
        (
            "responseBody: [{setBody: x}]",
            "responseBody: [{when: 'false', respond: {status: 200}}]",
            "changes the response",
        ),
        ("requestBody: [{setBody: x}]", "responseBody: [{setBody: y}]", ""),
        ("responseBody: [{when: 'response.body == b\"x\"', deny: 403}]", "requestBody: [{setBody: y}]", ""),
    ] {
        let report = found(higher, lower);
        assert!(
            if expected.is_empty() { report.is_empty() } else { report.contains(expected) },
            "{higher} {lower}:\n{report}"
        );
    }
}

#[test]
fn cases_compare_the_bodies() {
    let policy =
        policy("requestBody:\n- when: request.method == 'POST'\n  patchBody: {a: 1}\nresponseBody:\n- setBody: 'no'\n");
    let report = |cases: &str| policy.test("cases", cases).unwrap();
    let right = "- name: a\n  request: {method: POST, body: '{}'}\n  response: {body: 'yes'}\n  expect: {status: 200, rule: server, requestBody: '{\"a\":1}', body: 'no', requestHeaders: {content-length: 7}}\n";
    assert!(report(right).passed(), "{}", report(right).render(false));
    for wrong in ["requestBody: '{}'", "body: 'yes'"] {
        let wrong = format!("- name: a\n  request: {{method: POST, body: '{{}}'}}\n  expect: {{{wrong}}}\n");
        assert!(report(&wrong).render(false).contains("is \""), "{wrong}");
    }
}
