//! Expressions in texts that lack `${..}`, so that the text itself is the value.

use celero_policy::Policy;
use std::path::Path;

/// The warnings about texts that are not evaluated: place and help.
fn found(text: &str) -> Vec<String> {
    let policy = Policy::check("policy.yaml", text, Path::new(".")).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let of_texts = policy.warnings().filter(|(_, warning)| warning.code == "policy-not-evaluated");
    of_texts.map(|(_, warning)| format!("{}: {}", warning.message, warning.help.join("; "))).collect()
}

#[test]
fn a_text_that_is_an_expression_is_warned_of_wherever_it_stands() {
    for action in [
        "limit: {key: TEXT, rate: 10/m}",
        "limit: {key: [a, TEXT], rate: 10/m}",
        "setHeaders: {x-a: TEXT}",
        "addHeaders: {x-a: TEXT}",
        "logFields: {a: TEXT}",
        "labels: {a: TEXT}",
        "deny: {status: 403, body: TEXT}",
        "redirect: TEXT",
    ] {
        let of = |text: &str| found(&format!("request:\n- {}\n", action.replace("TEXT", text)));
        let expected = "`source.address` is text here and is not evaluated: \
                        write `${source.address}` for the value of the expression";
        assert_eq!(of("source.address"), [expected], "{action}");
        assert!(of("'${source.address}'").is_empty(), "{action}");
    }
}

#[test]
fn signs_of_other_templates_are_known() {
    for (text, inner) in [
        ("$request.path", "request.path"),
        ("{{ request.path }}", "request.path"),
        ("{request.path}", "request.path"),
        ("$(request.path)", "request.path"),
        ("#{request.path}", "request.path"),
        ("%{request.path}", "request.path"),
        ("request.headers['x-a']", "request.headers['x-a']"),
        ("request.path.lowerAscii()", "request.path.lowerAscii()"),
    ] {
        let warnings = found(&format!("request:\n- setHeaders: {{x-a: \"{text}\"}}\n"));
        assert!(matches!(&*warnings, [one] if one.contains(&format!("write `${{{inner}}}`"))), "{text}: {warnings:?}");
    }
}

#[test]
fn the_names_of_the_filter_language_are_known() {
    let text = "request:\n- language: filter\n  logFields: {a: http.host}\n";
    assert!(matches!(&*found(text), [one] if one.contains("write `${http.host}`")), "{:?}", found(text));
    // The other language.
    assert!(found("request:\n- logFields: {a: http.host}\n").is_empty());
}

#[test]
fn other_texts_are_texts() {
    for text in [
        "shop.example.com",
        "request",
        "true",
        "1.5",
        "request.pth",
        "the request.path",
        "a",
        "",
        "'x.y'",
        "1 + 2",
        "$5",
        "request.path.matches('a')",
    ] {
        let warnings = found(&format!("request:\n- setHeaders: {{x-a: \"{text}\"}}\n"));
        assert!(warnings.is_empty(), "{text}: {warnings:?}");
    }
}
