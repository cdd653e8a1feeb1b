//! Policies: `celero check`, `test`, `explain` and `schema`.

use crate::support::{celero, file};
use serde_json::json;
use std::path::PathBuf;

#[test]
fn policies_are_checked_tried_and_explained() {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../examples");
    let [policy, cases] = ["policy.yaml", "cases.yaml"].map(|name| examples.join(name).display().to_string());
    let run = celero(&["check", &policy]);
    assert_eq!(
        (run.code, &*run.out, &*run.err),
        (0, "ok: 9 rules (request 5, requestBody 0, response 2, responseBody 0, log 2)\n", "")
    );
    let run = celero(&["test", &policy, &cases]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: 7 of 7 cases\n", ""));
    let run = celero(&["explain", &policy]);
    assert!(run.code == 0 && run.out.contains("2. admin: when"), "{}", run.out);
    let schema = celero(&["schema"]).json();
    assert_eq!(schema["properties"]["request"]["anyOf"][0]["type"], "array");

    let bad = file("bad.yaml", "request:\n- when: request.pth == '/'\n  dny: true\n");
    for args in [&["check", &bad][..], &["explain", &bad], &["test", &bad, &cases]] {
        let run = celero(args);
        assert_eq!((run.code, &*run.out), (1, ""));
        assert!(run.err.contains("bad.yaml:2:17") && run.err.contains("did you mean `deny`?"), "{}", run.err);
    }
    let run = celero(&["check", "--json", &bad]).json();
    assert_eq!((&run["ok"], &run["diagnostics"][0]["code"]), (&json!(false), &json!("policy-key")));
    assert_eq!(run["diagnostics"].as_array().unwrap().len(), 2);

    let idle =
        file("idle.yaml", "request:\n- name: idle\nrequestBody:\n- when: size(request.body) > 10\n  deny: true\n");
    let run = celero(&["check", &idle]);
    assert!(run.code == 0 && run.err.contains("this rule does nothing"), "{}", run.err);
    assert!(
        run.out.contains("request bodies: buffered, up to 65536 bytes; larger ones are answered with 413"),
        "{}",
        run.out
    );
    assert_eq!(celero(&["check", "--deny-warnings", &idle]).code, 1);

    let failing = file("cases.yaml", "- name: a\n  expect: {status: 404}\n");
    let run = celero(&["test", &idle, &failing]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("a: the status is 200") && run.out.contains("failed: 1 of 1 cases"), "{}", run.err);
    assert!(run.out.contains("no case matches requestBody: requestBody #1"), "{}", run.out);
    let run = celero(&["test", "--json", &idle, &failing]).json();
    assert_eq!((&run["ok"], &run["cases"]), (&json!(false), &json!([{ "name": "a", "ok": false }])));
    assert_eq!(celero(&["test", &idle, "/nowhere.yaml"]).code, 2);
    assert_eq!(celero(&["check", "/nowhere.yaml"]).code, 2);
}

/// Under each case, those that passed too: the rules that acted, and the one that was expected.
#[test]
fn reasons_stand_under_every_case() {
    let policy = file(
        "why.yaml",
        "request:\n- {name: mark, when: 'request.method == \"GET\"', setHeaders: {x-a: b}}\n- {name: no, when: 'request.path == \"/no\"', deny: 403}\n",
    );
    let cases = file(
        "why-cases.yaml",
        "- {name: denied, request: {uri: /no}, expect: {status: 403}}\n- {name: wrong, request: {uri: /x, method: PUT}, expect: {rule: 'no'}}\n- {name: other, request: {uri: /x, method: PUT}, expect: {rule: server}}\n",
    );
    let run = celero(&["test", "--why", &policy, &cases]);
    let denied = "`no` matches and ends the phase: request.path == \"/no\" is true: request.path is \"/no\"";
    let wrong = "`no` does not match: request.path == \"/no\" is false: request.path is \"/x\"";
    let marked = "`mark` matches and acts, but does not end the phase: request.method == \"GET\" is true: request.method is \"GET\"";
    let wanted = format!(
        "ok: denied\n  {marked}\n  {denied}\nfailed: wrong\n  {wrong}\nok: other\n  no rule acted\nfailed: 1 of 3 cases\n"
    );
    assert_eq!((run.code, &*run.out), (1, &*wanted));
    let json = celero(&["test", "--why", "--json", &policy, &cases]).json();
    assert_eq!(json["cases"][1], json!({ "name": "wrong", "ok": false, "why": [wrong] }));
    assert_eq!(json["cases"][0]["why"], json!([marked, denied]));
    // What is said of a failed case does not depend on it.
    assert_eq!(run.err, celero(&["test", &policy, &cases]).err);
    assert!(run.err.contains(wrong), "{}", run.err);
}
