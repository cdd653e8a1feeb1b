//! Policies in the other language of rules: the same outcome for every request.

use crate::support::{ask, exchange, head, status};
use celero_policy::{Language, Policy, TranslatedPolicy};
use http::request::Parts;
use std::path::Path;

fn translated(text: &str, to: Language) -> TranslatedPolicy {
    let found = Policy::translate("policy.yaml", text, Path::new("."), to);
    found.unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn requests() -> Vec<Parts> {
    let headers: [&[(&str, &str)]; 6] = [
        &[],
        &[("user-agent", "nikto/2")],
        &[("referer", "ops"), ("user-agent", "curl/8")],
        &[("referer", "dev"), ("x-level", "7")],
        &[("referer", "ops"), ("referer", "dev")],
        &[("x-level", "many"), ("referer", "")],
    ];
    let lines = ["GET /", "GET /admin/x", "POST /api/orders", "DELETE /.env"];
    lines.iter().flat_map(|line| headers.map(|headers| head(line, headers))).collect()
}

/// Checks that two policies have the same outcome for each request, and not one for all.
fn same(before: &str, after: &str) {
    let [one, other] = [before, after].map(|text| {
        Policy::parse("policy.yaml", text, Path::new(".")).unwrap_or_else(|error| panic!("{text}\n{error}"))
    });
    let mut seen = std::collections::BTreeSet::new();
    for request in requests() {
        let statuses = [&one, &other].map(|policy| status(ask(policy, &request, &mut exchange())));
        assert_eq!(statuses[0], statuses[1], "{request:?}\n{before}\n{after}");
        seen.insert(statuses[0]);
    }
    assert!(seen.len() > 1, "every outcome is {seen:?}: {before}");
}

const CEL: &str = r#"# Our rules.
request:
  # Scanners come first.
  - name: scanners
    when: request.headers["user-agent"].contains("nikto") || request.path == "/.env"   # both
    deny: 404
  - when: 'request.path.startsWith("/admin/") && request.headers["referer"] != "ops"'
    deny: true
  - name: api
    when: |
      request.path.startsWith("/api/") &&
        request.method in ["POST", "PUT"]
    respond: {status: 429}
  - {name: flow, when: 'request.method == "DELETE"', deny: 405}
  - name: always
    setHeaders: {x-fixed: "a"}
"#;

#[test]
fn a_policy_in_cel_becomes_one_in_the_filter_language_and_back() {
    let filter = translated(CEL, Language::filter());
    assert_eq!((filter.translated(), filter.kept(), &*filter.render(false)), (4, &[][..], ""), "{}", filter.text());
    assert!(
        filter.text().starts_with("# Our rules.\ndefaults:\n  language: filter\nrequest:\n  # Scanners"),
        "{}",
        filter.text()
    );
    assert!(filter.text().contains("# both\n    deny: 404"), "{}", filter.text());
    assert!(
        filter.text().contains("  - {name: flow, when: http.request.method eq \"DELETE\", deny: 405}"),
        "{}",
        filter.text()
    );
    same(CEL, filter.text());
    let back = translated(filter.text(), Language::cel());
    assert_eq!((back.translated(), back.kept().len()), (4, 0));
    assert!(back.text().contains("defaults:\n  language: cel\n"), "{}", back.text());
    same(CEL, back.text());
}

/// Where a condition fails, a guard matches under `closed`, and no rule does under `noMatch`: so does the translation.
#[test]
fn failures_keep_their_meaning() {
    for on_error in ["closed", "noMatch", "match"] {
        for rule in [
            "{when: 'request.headers[\"referer\"] != \"ops\"', deny: 403}",
            "{when: 'request.headers[\"referer\"] == \"ops\"', deny: 403}",
            "{when: '!(request.headers[\"referer\"].startsWith(\"o\") && request.path != \"/\")', respond: {status: 404}}",
            "{when: 'request.headers[\"referer\"] == \"ops\"', respond: {status: 200}}",
        ] {
            let policy = format!("defaults: {{onError: {on_error}}}\nrequest:\n  - {rule}\n");
            let filter = translated(&policy, Language::filter());
            assert_eq!(filter.translated(), 1, "{policy}{}", filter.render(false));
            same(&policy, filter.text());
            assert_eq!(
                filter.render(false).contains("false-for-failure"),
                on_error == "noMatch" || { on_error == "closed" && rule.contains("200") },
                "{policy}{}",
                filter.render(false)
            );
        }
    }
    let policy =
        "request:\n  onError: stop\n  rules:\n    - {when: 'request.headers[\"referer\"] == \"b\"', deny: 403}\n";
    let kept = translated(policy, Language::filter());
    assert_eq!((kept.translated(), kept.text()), (0, policy));
    assert!(kept.render(false).contains("under `onError: stop` the phase ends then"), "{}", kept.render(false));
}

#[test]
fn rules_without_an_equal_stay_and_are_named() {
    let policy = r#"
defaults: {language: filter, deny: {status: 404}}
request:
  - name: fine
    when: http.request.uri.path eq "/.env"
    deny: true
  - name: bytes
    when: http.user_agent eq "\xff"
    deny: true
  - when: ssl
    redirect: ${concat("/x", http.request.uri.path)}
  - name: own
    language: cel
    when: request.path == "/admin/x"
    deny: true
  - name: folded
    when: >-
      ssl
      or http.request.method eq "POST"
    deny: 405
"#;
    let cel = translated(policy, Language::cel());
    assert_eq!((cel.translated(), cel.kept()), (1, &["bytes".to_owned(), "request #3".into(), "folded".into()][..]));
    assert!(
        cel.text().contains("  - language: cel\n    name: fine\n    when: request.path == \"/.env\"\n"),
        "{}",
        cel.text()
    );
    assert!(cel.text().starts_with("\ndefaults: {language: filter, deny: {status: 404}}\n"), "{}", cel.text());
    let found = cel.render(false);
    for part in ["bytes that are not UTF-8", "policy.yaml:8:11", "an expression in `${..}`", "use `|-`"] {
        assert!(found.contains(part), "{part}: {found}");
    }
    same(policy, cel.text());
    let error = Policy::translate("policy.yaml", "request:\n  - {when: a, deny: 1}\n", Path::new("."), Language::cel());
    assert!(error.unwrap_err().to_string().contains("undeclared"));
}

/// A condition is written on one line in a flow mapping and before a comment, and on several lines elsewhere.
#[test]
fn patterns_stay_what_they_are() {
    let pattern = r#"a\n\r\t \"'# : x,\\]\\}"#;
    let long = r"request.path == '/0123456789012345678901234567890123456789' && request.method == 'GET' && ";
    for (before, after) in [
        ("- {deny: true, when: '", "'}"),
        ("- deny: true\n  when: '", "' # a comment"),
        ("- deny: true\n  when: '", "'"),
        ("- deny: true\n  when: |-\n    ", ""),
    ] {
        for more in ["", long] {
            let quoted = before.ends_with('\'');
            let condition = format!("{more}request.path.matches(\"{pattern}\")");
            let condition = if quoted { condition.replace('\'', "''") } else { condition };
            let text = format!("request:\n{before}{condition}{after}\n");
            let filter = Policy::translate("policy.yaml", &text, Path::new("."), Language::filter()).unwrap();
            assert_eq!(filter.translated(), 1, "{text}\n{}", filter.render(false));
            let expected = r##"a\x{a}\x{d}\x{9} "'# : x,\]\}"##;
            let written = filter.text().replace("''", "'");
            assert!(written.contains(expected), "{text}\n{}", filter.text());
        }
    }
}
