//! What a failed case says about the rule that was expected, and about the one that decided.

use crate::support::policy;

const POLICY: &str = r#"connection:
- {name: blocked, when: 'source.port == 9', deny: true}
request:
- {name: label, when: 'request.method == "GET"', labels: {a: b}}
- {name: admin, when: 'request.path.startsWith("/admin") && request.method == "GET"', deny: true}
- {name: teapot, when: 'request.path == "/tea"', deny: 418}
- {name: tea, when: 'request.path.startsWith("/tea")', deny: 404}
- {name: strict, when: 'request.path == "/strict"', require: 'request.headers[?"x"].orValue("") == "1"', deny: 401}
- {name: filter, language: filter, when: 'http.host eq "f.example" and ssl', deny: 402}
response:
- {name: late, when: 'response.code == 200', deny: 502}
"#;

/// The help of the only problem of a case.
fn helps(case: &str) -> Vec<String> {
    let report = policy(POLICY).test("cases.yaml", &format!("- {{name: a, {case}}}\n")).unwrap();
    let found: Vec<_> = report.diagnostics().collect();
    let Some(((_, first), others)) = found.split_first() else { panic!("nothing differs: {case}") };
    assert!(others.iter().all(|(_, found)| found.help.is_empty()), "reasons are given once: {found:?}");
    first.help.clone()
}

#[test]
fn a_failed_case_says_why() {
    for (case, helps_of_case) in [
        // Why the rule that was expected does not match, and which decided.
        (
            "request: {uri: /x}, response: {status: 201}, expect: {rule: admin}",
            &[r#"`admin` does not match: request.path.startsWith("/admin") is false: request.path is "/x""#][..],
        ),
        (
            "request: {uri: /teas}, expect: {rule: teapot, status: 418}",
            &[
                r#"`teapot` does not match: request.path == "/tea" is false: request.path is "/teas""#,
                r#"`tea` matches and ends the phase: request.path.startsWith("/tea") is true: request.path is "/teas""#,
            ],
        ),
        (
            "request: {uri: /tea}, expect: {rule: tea}",
            &[
                "`tea` matches, but `teapot` ends the phase before it",
                r#"`teapot` matches and ends the phase: request.path == "/tea" is true: request.path is "/tea""#,
            ],
        ),
        (
            "request: {uri: /x}, response: {status: 201}, expect: {rule: label}",
            &["`label` matches and acts, but does not end the phase"],
        ),
        (
            "request: {uri: /strict, headers: {x: \"1\"}}, response: {status: 201}, expect: {rule: strict}",
            &[
                "`strict` matches, but does not act: the message meets its `require`, or its `sample` or an `allow` before it leaves the message out",
            ],
        ),
        (
            "request: {uri: /x, headers: {host: f.example}}, response: {status: 201}, expect: {rule: filter}",
            &["`filter` does not match: ssl is false"],
        ),
        (
            "request: {uri: /tea}, expect: {rule: late}",
            &[
                "`late` was not asked: its phase, `response`, did not run",
                r#"`teapot` matches and ends the phase: request.path == "/tea" is true: request.path is "/tea""#,
            ],
        ),
        (
            "request: {uri: /x}, response: {status: 201}, expect: {rule: admn}",
            &["the policy has no rule `admn`", "did you mean `admin`?"],
        ),
        // Without a name, the rules of the status that was expected.
        (
            "request: {uri: /x}, response: {status: 201}, expect: {status: 418}",
            &[r#"`teapot` does not match: request.path == "/tea" is false: request.path is "/x""#],
        ),
        (
            "request: {uri: /tea}, response: {status: 201}, expect: {status: 201, rule: server}",
            &[r#"`teapot` matches and ends the phase: request.path == "/tea" is true: request.path is "/tea""#],
        ),
        (
            "request: {uri: /x, source: \"192.0.2.1:9\"}, expect: {connection: accepted}",
            &["`blocked` matches and ends the phase: source.port == 9 is true: source.port is 9"],
        ),
    ] {
        assert_eq!(helps(case), helps_of_case, "{case}");
    }
}

#[test]
fn other_differences_have_no_reasons() {
    let case = "request: {uri: /x}, response: {status: 201}, expect: {status: 201, labels: {a: c}}";
    assert_eq!(helps(case), [""; 0]);
}

#[test]
fn a_case_counts_what_it_counted_before() {
    let policy = policy(POLICY);
    let report = policy.test("cases.yaml", "- {name: a, request: {uri: /tea}, expect: {rule: tea}}\n").unwrap();
    assert!(!report.passed());
    let matched: Vec<_> =
        policy.rules().filter(|rule| rule.matched > 0).map(|rule| (rule.name, rule.matched)).collect();
    let names: Vec<_> = matched.iter().map(|(name, matched)| (&**name, *matched)).collect();
    assert_eq!(names, [("label", 1), ("teapot", 1)]);
}
