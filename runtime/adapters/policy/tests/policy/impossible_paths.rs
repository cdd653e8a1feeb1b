//! Warnings about paths that `normalize` lets no rule see: only under the settings that are in force.

use celero_policy::Policy;
use std::path::Path;

/// The warnings about a condition of a rule of a phase, as text.
fn warned(settings: &str, phase: &str, language: &str, condition: &str) -> String {
    let action = if phase == "log" { "logFields: {a: x}" } else { "addHeaders: {x-a: b}" };
    let quoted = condition.replace('\'', "''");
    let text = format!("{settings}\n{phase}: [{{name: a, language: {language}, when: '{quoted}', {action}}}]\n");
    let policy = Policy::check("policy.yaml", &text, Path::new(".")).unwrap_or_else(|error| panic!("{text}\n{error}"));
    policy.render_warnings(false)
}

const KEEP: &str = "normalize: {slashes: keep, encodedSlashes: keep}";
const DECODE: &str = "normalize: {encodedSlashes: decode}";

#[test]
fn paths_that_no_request_has_are_warned_of() {
    for (settings, condition, because, help) in [
        ("", "request.path == '/a//b'", "has no `//`", "write `/a/b`: repeated slashes are merged before any rule"),
        ("", "request.path.contains('//')", "has no `//`", "what the client sent is `request.rawPath`"),
        ("", "request.path.startsWith('//admin')", "has no `//`", "write `/admin`"),
        ("", "request.path in ['/a', '/b//c']", "has no `//`", "write `/b/c`"),
        ("", "request.path.matches('^/+//')", "has no `//`", "`normalize: {slashes: keep}` keeps them"),
        ("", "request.path == '/a/../b'", "has no segment `.` or `..`", "write `/b`"),
        ("", "request.path == '/a/./b'", "has no segment `.` or `..`", "write `/a/b`"),
        ("", "request.path.contains('/../')", "has no segment", "what the client sent is `request.rawPath`"),
        ("", "request.path.contains('%2f')", "has no `%2F`", "are refused before any rule"),
        ("", "request.path == '/a%5Cb'", "has no `%2F`", "`normalize: {encodedSlashes: keep}` lets them through"),
        (DECODE, "request.path == '/a%2Fb'", "has no `%2F`", "write `/a/b`: encoded slashes are decoded"),
        (KEEP, "request.path == '/a%2fb'", "another encoding", "write `/a%2Fb`"),
        (KEEP, "request.path == '/a//../b'", "has no segment", "write `/a/b`"),
        ("", "request.path.contains('?')", "has no `?`", "the query is `request.query`"),
    ] {
        let found = warned(settings, "request", "cel", condition);
        assert!(found.contains(because) && found.contains(help), "{condition}\n{found}");
        assert!(found.contains("never-that-value"), "{condition}\n{found}");
    }
    let filter = warned("", "request", "filter", r#"http.request.uri.path contains "//""#);
    assert!(found_in(&filter, "has no `//`", "what the client sent is `raw.http.request.uri.path`"), "{filter}");
    let filter = warned("", "request", "filter", r#"starts_with(http.request.uri.path, "/a?")"#);
    assert!(found_in(&filter, "has no `?`", "the query is `http.request.uri.query`"), "{filter}");
    // Phases behind the request see the path of the request that is forwarded.
    let response = warned("", "response", "cel", "request.path == '/a//b'");
    assert!(response.contains("has no `//`"), "{response}");
}

fn found_in(text: &str, because: &str, help: &str) -> bool {
    text.contains(because) && text.contains(help)
}

#[test]
fn paths_that_a_request_may_have_are_not() {
    for (settings, condition) in [
        (KEEP, "request.path == '/a//b'"),
        (KEEP, "request.path.contains('//')"),
        (KEEP, "request.path == '/a%2Fb'"),
        (KEEP, "request.path.matches('(?i)%2f')"),
        ("normalize: {slashes: keep}", "request.path.contains('//')"),
        ("normalize: {encodedSlashes: keep}", "request.path.contains('%5C')"),
        ("", "request.path == '/a%2520b'"),
        ("", "request.path.contains('%2')"),
        ("", "request.path.contains('/')"),
        ("", "request.path.matches('/+a')"),
        ("", "request.path.matches('a/?/b|c')"),
        ("", "request.path.endsWith('..')"),
        ("", "request.rawPath.contains('//')"),
        ("", "request.pathAndQuery.contains('//')"),
        ("", "request.query.contains('?')"),
        ("", "request.uri.contains('//')"),
        (DECODE, "request.rawPath.contains('%2f')"),
    ] {
        assert_eq!(warned(settings, "request", "cel", condition), "", "{settings} {condition}");
    }
    // Requests that are refused are logged as they came.
    for condition in ["request.path.contains('/../')", "request.path == '/a%2fb'", "request.method == 'get'"] {
        assert_eq!(warned("", "log", "cel", condition), "", "{condition}");
    }
}
