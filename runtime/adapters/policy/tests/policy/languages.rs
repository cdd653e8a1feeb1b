//! Rules in the filter language, beside rules in CEL.

use crate::support::{answer, ask, ask_response, exchange, head, log, policy, response, status, wrong};
use celero_policy::Policy;

#[test]
fn rules_of_both_languages_stand_side_by_side() {
    let policy = policy(
        r#"
request:
  - name: scanners
    language: filter
    when: http.user_agent contains "nikto" or http.request.uri.path in {"/wp-login.php" "/.env"}
    deny: 404
  - name: internal
    when: request.path.startsWith("/internal")
    deny: true
  - name: networks
    language: filter
    when: ip.src in {192.0.2.0/24} and any(http.request.headers["x-tag"][*] eq "trial")
    deny: 429
"#,
    );
    let status_of = |line: &str, headers: &[(&str, &str)]| status(ask(&policy, &head(line, headers), &mut exchange()));
    assert_eq!(status_of("GET /", &[("user-agent", "nikto/2")]), 404);
    assert_eq!(status_of("GET /.env", &[]), 404);
    assert_eq!(status_of("GET /internal/a", &[]), 403);
    assert_eq!(status_of("GET /", &[("x-tag", "a"), ("x-tag", "trial")]), 429);
    assert_eq!(status_of("GET /", &[("x-tag", "other")]), 0);
    // Rules read the canonical path, as those in CEL do.
    assert_eq!(status_of("GET /a/..//%2eenv", &[]), 404);
}

#[test]
fn values_are_written_in_the_language_of_the_rule() {
    let policy = policy(
        r#"
defaults: {language: filter}
request:
  - setHeaders:
      x-prefixed: ${concat("/x", http.request.uri.path)}
      x-mixed: "to ${lower(http.host)}:${tcp.dstport} \"${ssl}\""
      x-gone: ${http.referer}
      x-fixed: yes
  - language: cel
    setHeaders: {x-cel: "${request.path.size()}"}
  - when: http.request.uri.path wildcard "/old/*"
    redirect: ${wildcard_replace(http.request.uri.path, "/old/*", "/new/${1}")}
log:
  - logFields: {size: "${len(http.request.uri.path)}", path: "${http.request.uri.path}"}
"#,
    );
    let redirected = answer(ask(&policy, &head("GET /old/a", &[]), &mut exchange()));
    assert_eq!((redirected.status.as_u16(), redirected.headers["location"].to_str().unwrap()), (302, "/new/a"));
    let (mut changed, mut exchange) = (head("GET /now/a", &[("host", "Example.com"), ("x-gone", "1")]), exchange());
    assert_eq!(status(ask(&policy, &changed, &mut exchange)), 0);
    exchange.edits().apply_to_request(&mut changed);
    let value = |name: &str| changed.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(value("x-prefixed").as_deref(), Some("/x/now/a"));
    assert_eq!(value("x-mixed").as_deref(), Some("to example.com:443 \"false\""));
    assert_eq!(value("x-gone"), None, "a missing value removes the header");
    assert_eq!(value("x-fixed").as_deref(), Some("yes"));
    assert_eq!(value("x-cel").as_deref(), Some("6"));
    let fields = log(&policy, &changed, Some(&response(200, &[])), &mut exchange);
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(fields, ["size=6", "path=\"/now/a\""]);
}

#[test]
fn responses_and_definitions_are_fields() {
    let policy = policy(
        r#"
variables:
  trusted: request.headers["x-team"] == "ops"
request:
  - labels: {pool: blue}
response:
  - language: filter
    when: http.response.code ge 500 and not variables.trusted and labels["pool"] eq "blue" and any(http.response.headers["server"][*] contains "x")
    deny: 503
"#,
    );
    let (request, mut exchange) = (head("GET /", &[]), exchange());
    let _ = ask(&policy, &request, &mut exchange);
    let status_of = |code, exchange: &mut _| {
        status(ask_response(&policy, &request, &response(code, &[("server", "nginx")]), exchange))
    };
    assert_eq!(status_of(502, &mut exchange), 503);
    assert_eq!(status_of(200, &mut exchange), 0);
}

#[test]
fn mistakes_are_shown_at_their_places() {
    let found = wrong("request:\n  - language: filter\n    when: http.hst eq \"a\"\n    deny: true\n");
    assert!(found.contains("policy.yaml:3:11") && found.contains("did you mean `http.host`?"), "{found}");
    let found = wrong("request:\n  - language: filter\n    when: http.host\n    deny: true\n");
    assert!(found.contains("a condition is `Bool`, this is `Bytes`"), "{found}");
    let found = wrong("request:\n  - language: filter\n    setHeaders: {a: \"x ${http.request.headers.names}\"}\n");
    assert!(
        found.contains("policy.yaml:3:26") && found.contains("a result of type `Array<Bytes>` has no text"),
        "{found}"
    );
    let found = wrong("request:\n  - language: lua\n    deny: true\n");
    assert!(found.contains("`cel`") && found.contains("`filter`"), "{found}");
}

#[test]
fn layout_leaves_the_filter_language_alone() {
    let text = "defaults: {language: filter}\nrequest:\n  - when: http.host   eq \"a\"\n    deny: true\n  - language: cel\n    when: a&&b\n    deny: true\n";
    let formatted = Policy::format("policy.yaml", text).unwrap();
    assert_eq!(formatted, text.replace("a&&b", "a && b"));
}
