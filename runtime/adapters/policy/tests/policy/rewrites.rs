//! Rules that change the target of a request or the status of a response.

use crate::support::{answer, ask, ask_response, exchange, head, policy, response, status, wrong};
use celero_policy::{Outcome, Policy};

/// The target that the server gets, or the status of the policy's answer.
fn sent(policy: &Policy, target: &str, headers: &[(&str, &str)]) -> Result<String, u16> {
    let (mut head, mut exchange) = (head(&format!("GET {target}"), headers), exchange());
    match policy.request(&mut head, &mut exchange).outcome {
        Outcome::Continue => {
            exchange.edits().apply_to_request(&mut head);
            Ok(head.uri.to_string())
        }
        Outcome::Respond(answer) => Err(answer.status.as_u16()),
    }
}

#[test]
fn a_path_is_made_canonical() {
    let policy = policy("request:\n- when: has(request.query)\n  setPath: /x${request.headers['to']}\n");
    let to = |to| sent(&policy, "/a?q=1", &[("to", to)]);
    assert_eq!(to("/b").as_deref(), Ok("/x/b?q=1"));
    assert_eq!(to("/%61dmin//c/").as_deref(), Ok("/x/admin/c/?q=1"));
    assert_eq!(to("/?admin=1#f").as_deref(), Ok("/x/%3Fadmin=1%23f?q=1"), "a path holds no query");
    // A client can't leave the part of the path that the rule gives it.
    for refused in ["/../admin", "/a/%2e%2e/b", "/.", "/a b", "/%2f", "/%00", "/%", "/a\\b", "/..;/"] {
        assert_eq!(to(refused), Err(500), "{refused}");
    }
    assert_eq!(sent(&policy, "/a?q=1", &[]), Err(500), "the path fails, so the request reaches no place");
    assert_eq!(sent(&policy, "/a", &[]).as_deref(), Ok("/a"), "the rule does not match");
}

#[test]
fn the_settings_of_normalize_hold_for_new_paths() {
    let keep = policy("normalize: {encodedSlashes: keep, slashes: keep}\nrequest:\n- setPath: /a%2fb//c\n");
    assert_eq!(sent(&keep, "/", &[]).as_deref(), Ok("/a%2Fb//c"));
    let fixed = policy("request:\n- setPath: /a/../b\n");
    assert_eq!(sent(&fixed, "/", &[]).as_deref(), Ok("/b"), "what the file says is made canonical");
}

#[test]
fn parameters_are_removed_in_every_spelling_and_set_alone() {
    let policy = policy(
        "request:\n- removeQuery: [debug]\n  setQuery: {user: \"${request.headers['x-user']}\", v: 2}\n- setQuery: {v: 3}\n",
    );
    let to = |target| sent(&policy, target, &[("x-user", "a&admin=1")]);
    assert_eq!(to("/").as_deref(), Ok("/?user=a%26admin%3D1&v=3"));
    assert_eq!(to("/?%64ebug=1&a=%62&debug&v=9").as_deref(), Ok("/?a=%62&user=a%26admin%3D1&v=3"));
    assert_eq!(sent(&policy, "/?user=root&a", &[]).as_deref(), Ok("/?a&v=3"), "the client's does not stay");
}

#[test]
fn later_phases_and_hosts_see_the_new_target() {
    let policy = policy(
        "normalize: {forwardRaw: true}\nrequest:\n- setPath: /new\nrequestBody:\n- when: request.path == '/new'\n  deny: 418\n",
    );
    let (mut head, mut exchange) = (head("GET /./old?a", &[]), exchange());
    assert_eq!(status(policy.request(&mut head, &mut exchange)), 0);
    exchange.edits().apply_to_request(&mut head);
    assert_eq!(status(policy.request_body(&head, b"", &mut exchange)), 418);
    assert!(policy.raw_target(&exchange).is_none(), "what was received is sent no more");
    // Nor if it happens to mean what the rule says.
    let same = crate::support::policy("normalize: {forwardRaw: true}\nrequest:\n- setPath: /public\n");
    let (mut other, mut second) = (crate::support::head("GET /admin/%2e%2e/public", &[]), crate::support::exchange());
    assert_eq!(status(same.request(&mut other, &mut second)), 0);
    assert!(same.raw_target(&second).is_none());
    assert_eq!(exchange.received_target(), Some(&b"/./old?a"[..]));
    // The state of a connection is used again.
    exchange.reset(None, None);
    assert!(exchange.edits().is_empty());
}

#[test]
fn a_target_with_an_authority_keeps_it() {
    let policy = policy("request:\n- setPath: /b\n  setHeaders: {host: other.example}\n");
    let mut head = head("GET http://a.example/x", &[("host", "a.example")]);
    head.version = http::Version::HTTP_2;
    let mut exchange = exchange();
    assert_eq!(status(policy.request(&mut head, &mut exchange)), 0);
    exchange.edits().apply_to_request(&mut head);
    assert_eq!(head.uri.to_string(), "http://other.example/b");
}

#[test]
fn a_target_that_grows_too_long_is_answered() {
    let policy = policy("request:\n- name: long\n  setQuery: {a: \"${request.headers['x']}\"}\n");
    let long = "é".repeat(15_000);
    let (head, mut exchange) = (head("GET /", &[("x", &long)]), exchange());
    let refused = answer(ask(&policy, &head, &mut exchange));
    assert_eq!((refused.status.as_u16(), &*refused.rule), (500, "long"));
    assert!(exchange.edits().is_empty());
}

#[test]
fn a_status_is_changed_where_the_message_stays_right() {
    let policy = policy(
        "response:\n- when: response.code >= 500 || response.code < 400\n  setStatus: 502\nlog:\n- logFields: {code: \"${response.code}\"}\n",
    );
    for (before, after) in [(500, 502), (200, 502), (404, 404), (204, 204), (206, 206), (304, 304), (101, 101)] {
        let (head, mut exchange) = (head("GET /", &[]), exchange());
        let mut answered = response(before, &[("x-a", "1")]);
        assert_eq!(status(ask_response(&policy, &head, &answered, &mut exchange)), 0);
        exchange.edits().apply_to_response(&mut answered);
        assert_eq!(answered.status.as_u16(), after, "{before}");
    }
}

#[test]
fn mistakes_are_found_when_the_policy_is_read() {
    for (text, expected) in [
        ("request: [{setPath: x}]", "this path is refused"),
        ("request: [{setPath: /%2f}]", "this path is refused"),
        ("response: [{setPath: /x}]", "the target of a request can't change in the phase `response`"),
        ("response: [{removeQuery: [x]}]", "move the rule to `request` or `requestBody`"),
        ("request: [{setStatus: 200}]", "there is no response in the phase `request`"),
        ("response: [{setStatus: 204}]", "a response can't get the status 204"),
        ("response: [{setStatus: 99}]", "200 to 599"),
        ("log: [{setQuery: {a: b}}]", "setQuery"),
    ] {
        let found = wrong(text);
        assert!(found.contains(expected), "{text}:\n{found}");
    }
}
