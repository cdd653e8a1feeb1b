//! JSON bodies that a policy changes: large documents of clients, and patches of many operations.

use crate::SizedRule;
use crate::measure::growth;
use crate::rules::many;
use crate::{exclusive, report};
use celero_policy::{Exchange, Outcome, Policy};
use http::Request;
use std::hint::black_box;
use std::path::Path;

/// Documents, each an object with the members `a` and `l` or what is refused.
const DOCUMENTS: &[SizedRule] = &[
    ("members", |n| format!("{{\"a\": 1, \"l\": [], {}}}", many(n, ", ", |k| format!("\"k{k}\": {k}")))),
    ("members that the patch names", |n| format!("{{\"l\": [], {}}}", many(n, ", ", |_| "\"a\": 1".to_owned()))),
    ("members in both cases", |n| {
        format!("{{\"a\": 1, \"l\": [], {}}}", many(n, ", ", |k| format!("\"K{k}\": 1, \"k{k}\": 1")))
    }),
    ("elements", |n| format!("{{\"a\": 1, \"l\": [{}]}}", many(n, ", ", |k| k.to_string()))),
    ("objects", |n| format!("{{\"a\": 1, \"l\": [{}]}}", many(n, ", ", |k| format!("{{\"id\": {k}}}")))),
    ("depth", |n| format!("{{\"a\": {}1{}, \"l\": []}}", "[".repeat(n), "]".repeat(n))),
    ("depth of objects", |n| format!("{{\"l\": [], \"a\": {}1{}}}", "{\"a\": ".repeat(n), "}".repeat(n))),
    ("a long text", |n| format!("{{\"a\": \"{}\", \"l\": []}}", "x".repeat(n))),
    ("escapes", |n| format!("{{\"a\": \"{}\", \"l\": []}}", "\\u0061\\n".repeat(n))),
    ("a long number", |n| format!("{{\"a\": {}, \"l\": []}}", "9".repeat(n))),
    ("a long name", |n| format!("{{\"a\": 1, \"l\": [], \"{}\": 1}}", "x".repeat(n))),
    ("blanks", |n| format!("{{\"a\": 1,{}\"l\": []}}", " \n".repeat(n))),
    ("what is no JSON", |n| format!("{{\"a\": {}", "[".repeat(n))),
];

/// Patches, each with a name.
const PATCHES: &[(&str, &str)] = &[
    ("a merge patch", "{a: 2, l: null, x: {y: {z: 1}}}"),
    ("a merge patch of an expression", "{a: \"${json(request.body).a}\"}"),
    ("added first", "[{op: add, path: /l/0, value: 1}]"),
    ("added last", "[{op: add, path: /l/-, value: {n: 1}}]"),
    ("replaced", "[{op: test, path: /a, value: 1}, {op: replace, path: /a, value: 2}]"),
    ("moved", "[{op: move, from: /a, path: /l/0}]"),
    ("copied", "[{op: copy, from: /l, path: /m}, {op: copy, from: /m, path: /n}]"),
    ("removed", "[{op: remove, path: /l/0}, {op: remove, path: /a}]"),
];

/// Patches of many operations.
const LONG_PATCHES: &[SizedRule] = &[
    ("members merged", |n| format!("{{{}}}", many(n, ", ", |k| format!("k{k}: {k}")))),
    ("operations at one place", |n| format!("[{}]", many(n, ", ", |_| "{op: replace, path: /a, value: 2}".to_owned()))),
    ("elements added last", |n| format!("[{}]", many(n, ", ", |_| "{op: add, path: /l/-, value: 1}".to_owned()))),
    ("members added", |n| format!("[{}]", many(n, ", ", |k| format!("{{op: add, path: /k{k}, value: 1}}")))),
    ("copies of copies", |n| format!("[{}]", many(n, ", ", |_| "{op: copy, from: /l, path: /l/-}".to_owned()))),
];

fn policy(patch: &str) -> Policy {
    let text = format!("requestBody:\n  limit: 4MiB\n  rules:\n    - patchBody: {patch}\n");
    Policy::parse("policy.yaml", &text, Path::new("/nowhere")).unwrap()
}

/// Returns whether the policy forwards the body.
fn forwards(policy: &Policy, body: &str) -> bool {
    let (head, ()) = Request::post("/").header("host", "a").body(()).unwrap().into_parts();
    let mut exchange = Exchange::new(None, None);
    matches!(policy.request_body(&head, body.as_bytes(), &mut exchange).outcome, Outcome::Continue)
}

#[test]
fn changed_bodies_cost_what_their_length_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    for (name, patch) in PATCHES {
        let policy = policy(patch);
        assert!(forwards(&policy, "{\"a\": 1, \"l\": [1]}"), "{name}");
        for (kind, make) in DOCUMENTS {
            let work = |n: usize| {
                let (body, policy) = (make(n), &policy);
                move || drop(black_box(forwards(policy, &body)))
            };
            problems.extend(growth(&format!("{name}, in a body of {kind}"), 1 << 14, work));
        }
    }
    report(&problems);
}

#[test]
fn patches_cost_what_their_length_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    for (name, make) in LONG_PATCHES {
        let work = |n: usize| {
            let policy = policy(&make(n));
            move || drop(black_box(forwards(&policy, "{\"a\": 1, \"l\": [1]}")))
        };
        problems.extend(growth(&format!("a patch of {name}"), 1 << 12, work));
    }
    report(&problems);
}
