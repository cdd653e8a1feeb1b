//! What a failed case says about the rule that was expected, and about the one that decided.

use crate::support::{Folder, policy};
use celero_policy::Policy;

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
    helps_of(&policy(POLICY), case)
}

fn helps_of(policy: &Policy, case: &str) -> Vec<String> {
    let report = policy.test("cases.yaml", &format!("- {{name: a, {case}}}\n")).unwrap();
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
            &[
                "`label` matches and acts, but does not end the phase: request.method == \"GET\" is true: request.method is \"GET\"",
            ],
        ),
        (
            "request: {uri: /strict, headers: {x: \"1\"}}, response: {status: 201}, expect: {rule: strict}",
            &["`strict` matches, but does not act: the message meets its `require`"],
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

/// What failed is said after what the rule did, and only of rules that were reached.
#[test]
fn a_failed_condition_is_told_with_what_follows() {
    let rules = r#"request:
- {name: first, when: 'request.path == "/first"', deny: 401}
- {name: guard, when: 'request.headers["x"] == "1"', deny: 403}
- {name: tag, when: 'request.headers["y"] == "1"', labels: {a: b}}
"#;
    let policy = policy(rules);
    let given = "request: {uri: /first}, expect: {rule: guard}";
    let helps = helps_of(&policy, given);
    assert_eq!(helps[0], "`guard` is not reached: `first` ends the phase before it");
    assert!(helps[1].starts_with("`first` matches and ends the phase: "), "{helps:?}");
    let helps = helps_of(&policy, "request: {uri: /first}, expect: {rule: tag}");
    assert_eq!(helps[0], "`tag` is not reached: `first` ends the phase before it");
    let helps = helps_of(&policy, "request: {uri: /x}, expect: {rule: first}");
    assert!(helps[0].starts_with("`first` does not match: "), "{helps:?}");
    assert!(helps[1].starts_with("`guard` failed, which counts as a match, and ends the phase"), "{helps:?}");
    let given = "request: {uri: /x, headers: {x: a}}, response: {status: 201}, expect: {rule: tag}";
    let helps = helps_of(&policy, given);
    assert!(helps.iter().all(|help| help.starts_with("`tag` failed, which counts as no match")), "{helps:?}");
}

#[test]
fn a_rule_that_is_left_out_says_why() {
    let rules = r#"request:
- {name: never, sample: 0.000000000001, labels: {a: b}}
- {name: met, sample: 1, require: 'request.path == "/x"', deny: 401}
"#;
    let policy = policy(rules);
    for (rule, why) in [("never", "its `sample` leaves the message out"), ("met", "the message meets its `require`")] {
        let case = format!("request: {{uri: /x}}, response: {{status: 201}}, expect: {{rule: {rule}}}");
        assert_eq!(helps_of(&policy, &case), [format!("`{rule}` matches, but does not act: {why}")]);
    }
}

#[test]
fn allow_overtakes_rules_of_its_level_only() {
    let folder = Folder::new("case-reasons-levels");
    folder.write("team.yaml", "request:\n- {name: team, when: 'request.path == \"/b\"', deny: 401}\n");
    let main = "levels: [team.yaml]
request:
- {name: pass, when: 'request.path.startsWith(\"/a\")', allow: true}
- {name: late, when: 'request.path == \"/a\"', deny: 403}
";
    let policy = Policy::load(folder.write("policy.yaml", main)).unwrap();
    let helps = |rule: &str| {
        helps_of(&policy, &format!("request: {{uri: /a}}, response: {{status: 201}}, expect: {{rule: {rule}}}"))
    };
    let ends = r#"`pass` matches and ends its level: request.path.startsWith("/a") is true: request.path is "/a""#;
    assert_eq!(helps("late"), ["`late` matches, but `pass` ends its level before it", ends]);
    assert_eq!(helps("team"), [r#"`team` does not match: request.path == "/b" is false: request.path is "/a""#, ends]);
}

#[test]
fn rules_that_are_not_shown_are_counted() {
    let of = |count: usize| -> String {
        let rule = |number| format!("- {{name: r{number}, when: 'request.path == \"/{number}\"', deny: 403}}\n");
        std::iter::once("request:\n".to_owned()).chain((0..count).map(rule)).collect()
    };
    for (count, more) in
        [(3, None), (4, Some("and 1 more rule that answers 403")), (6, Some("and 3 more rules that answer 403"))]
    {
        let helps = helps_of(&policy(&of(count)), "request: {uri: /x}, response: {status: 201}, expect: {status: 403}");
        assert_eq!(helps.len(), 3 + usize::from(more.is_some()), "{helps:?}");
        assert_eq!(helps.get(3).map(String::as_str), more);
    }
}

#[test]
fn a_rule_that_should_have_allowed_says_why_it_did_not() {
    let of = |count: usize| -> String {
        let rule = |number| format!("- {{name: r{number}, when: 'request.path == \"/{number}\"', allow: true}}\n");
        let first =
            "request:\n- {name: team, when: 'request.headers[\"x-team\"] == \"ops\"', allow: true}\n".to_owned();
        std::iter::once(first)
            .chain((0..count).map(rule))
            .chain(["- {name: others, deny: true}\n".to_owned()])
            .collect()
    };
    let denied = "`others` matches and ends the phase";
    for (expected, more) in [
        ("{status: 200}", "and 2 more rules that answer 200 or allow"),
        ("{rule: server}", "and 2 more rules that allow"),
    ] {
        let case = format!("request: {{uri: /x}}, expect: {expected}");
        let [team, path, last] = &*helps_of(&policy(&of(1)), &case) else { panic!("{expected}") };
        assert!(team.starts_with("`team` failed, which counts as no match: "), "{team}");
        assert_eq!(path, r#"`r0` does not match: request.path == "/0" is false: request.path is "/x""#);
        assert_eq!(last, denied);
        let helps = helps_of(&policy(&of(4)), &case);
        assert_eq!(helps.get(3..), Some(&[more.to_owned(), denied.to_owned()][..]));
    }
    // Whoever expects a refusal is not told what allows.
    assert_eq!(helps_of(&policy(&of(1)), "request: {uri: /x}, expect: {status: 401}"), [denied]);
}

/// Of many rules those are shown that were closest to a match.
#[test]
fn the_rules_that_nearly_matched_are_shown() {
    let mut text = "request:\n".to_owned();
    for number in 0..9 {
        let path = if number == 6 { "/x" } else { "/other" };
        text += &format!(
            "- {{name: r{number}, when: 'request.path == \"{path}\" && request.method == \"POST\"', deny: 403}}\n"
        );
    }
    let case = "request: {uri: /x}, response: {status: 201}, expect: {status: 403}";
    let helps = helps_of(&policy(&text), case);
    let first = r#"`r6` does not match: request.method == "POST" is false: request.method is "GET""#;
    assert_eq!(helps.first().map(String::as_str), Some(first));
    assert!(helps[1].starts_with("`r0` ") && helps[2].starts_with("`r1` "), "{helps:?}");
    assert_eq!(helps[3..], ["and 6 more rules that answer 403"]);
    // The one that is named is shown in any case, here alone.
    let named =
        helps_of(&policy(&text), "request: {uri: /x}, response: {status: 201}, expect: {rule: r8, status: 403}");
    assert!(named.iter().any(|help| help.starts_with("`r8` does not match")), "{named:?}");
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
