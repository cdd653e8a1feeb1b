//! `require`: what messages must meet, whatever else the policy says.

use crate::support::{answer, ask, exchange, head, policy, status, wrong};
use celero_policy::Outcome;

#[test]
fn what_is_false_or_fails_is_denied_under_every_setting() {
    for on_error in ["closed", "noMatch", "match"] {
        let policy = policy(&format!(
            "request:\n  onError: {on_error}\n  rules:\n  - name: team\n    when: request.path != '/health'\n    require: request.headers['x-team'] == 'ops'\n  - setHeaders: {{x-after: yes}}\n"
        ));
        let ask = |path: &str, headers: &[(&str, &str)]| {
            let mut exchange = exchange();
            match ask(&policy, &head(&format!("GET {path}"), headers), &mut exchange) {
                Outcome::Respond(answer) => {
                    assert_eq!(&*answer.rule, "team");
                    answer.status.as_u16()
                }
                Outcome::Continue => {
                    assert_eq!(exchange.edits().iter().count(), 1, "the rules after it act");
                    0
                }
            }
        };
        assert_eq!(ask("/", &[("x-team", "ops")]), 0);
        assert_eq!(ask("/", &[("x-team", "dev")]), 403);
        assert_eq!(ask("/", &[]), 403);
        assert_eq!(ask("/health", &[]), 0);
        let rule = policy.rules().next().unwrap();
        assert_eq!((rule.matched, rule.failed), (2, 1), "it acts when it denies");
    }
}

#[test]
fn a_failure_under_stop_ends_the_phase() {
    let policy = policy(
        "request:\n  onError: stop\n  errorStatus: 400\n  rules:\n  - require: request.headers['x-team'] == 'ops'\n",
    );
    assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange())), 400);
    assert_eq!(status(ask(&policy, &head("GET /", &[("x-team", "dev")]), &mut exchange())), 403);
}

#[test]
fn the_answer_is_that_of_the_rule_or_the_usual_one() {
    let usual = policy("defaults: {deny: {status: 404, body: gone}}\nrequest:\n- require: 'false'\n");
    let given = answer(ask(&usual, &head("GET /", &[]), &mut exchange()));
    assert_eq!((given.status.as_u16(), &*given.body), (404, &b"gone"[..]));
    for (end, expected) in [("deny: 401", 401), ("respond: {body: a}", 200), ("redirect: /login", 302)] {
        let own = policy(&format!("request:\n- require: request.headers['x'] == '1'\n  {end}\n- deny: 418\n"));
        assert_eq!(status(ask(&own, &head("GET /", &[]), &mut exchange())), expected);
        assert_eq!(status(ask(&own, &head("GET /", &[("x", "1")]), &mut exchange())), 418, "later rules are reached");
        assert_eq!(own.warnings().count(), 0, "{}", own.render_warnings(false));
    }
}

#[test]
fn in_the_filter_language_what_is_missing_is_denied() {
    let policy =
        policy("request:\n- language: filter\n  require: any(http.request.headers[\"x-team\"][*] == \"ops\")\n");
    assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange())), 403);
    assert_eq!(status(ask(&policy, &head("GET /", &[("x-team", "ops")]), &mut exchange())), 0);
}

#[test]
fn actions_that_would_run_only_on_what_is_denied_are_refused() {
    for action in ["allow: true", "setHeaders: {a: b}", "labels: {a: b}", "setPath: /x", "limit: {rate: 1/s}"] {
        let found = wrong(&format!("request:\n- require: 'true'\n  {action}\n"));
        assert!(found.contains("can't be in a rule with `require`"), "{found}");
    }
    assert!(wrong("request:\n- require: request.path\n").contains("a condition is `bool`"));
}
