//! `delay`: how long requests wait, which delay counts, and what happens when too many wait.

use crate::support::{Folder, answer, ask, exchange, head, log, policy, response, status, wrong};
use celero_policy::{Decision, Exchange, LivePolicy, Outcome, Policy};

/// The phase `request` on a head: how many milliseconds the host waits, and the status, 0 for a
/// request that goes on. The place is free again.
fn decided(policy: &Policy, line: &str, headers: &[(&str, &str)], exchange: &mut Exchange) -> (u128, u16) {
    let decision = policy.request(&mut head(line, headers), exchange);
    (millis(&decision), status(decision))
}

fn millis(decision: &Decision) -> u128 {
    decision.delay.as_ref().map_or(0, |delay| delay.time().as_millis())
}

#[test]
fn the_longest_delay_counts_also_for_answers() {
    let policy = policy(
        "
request:
- {delay: 100ms}
- {name: slow, when: 'request.path.startsWith(\"/slow\")', delay: 250ms}
- {when: 'request.path == \"/denied\" || request.path == \"/slow/denied\"', deny: 403}
- {name: computed, when: '\"x-wait\" in request.headers', delay: '${duration(request.headers[\"x-wait\"])}'}
- {name: required, when: 'request.path == \"/team\"', require: 'request.headers[\"x-team\"] == \"ops\"', delay: 2s, deny: 401}
",
    );
    assert!(policy.has_delays());
    for (line, header, expected) in [
        ("GET /", "", (100, 0)),
        ("GET /slow", "", (250, 0)),
        ("GET /denied", "", (100, 403)),
        ("GET /slow/denied", "", (250, 403)),
        ("GET /", "x-wait: 300ms", (300, 0)),
        ("GET /", "x-wait: 5ms", (100, 0)),
        ("GET /", "x-wait: -5s", (100, 0)),
        ("GET /team", "", (2000, 401)),
        ("GET /team", "x-team: ops", (100, 0)),
        // At most the usual 10 seconds; a time that fails is the longest.
        ("GET /", "x-wait: 11s", (10_000, 0)),
        ("GET /", "x-wait: soon", (10_000, 0)),
    ] {
        let headers: Vec<(&str, &str)> = header.split_once(": ").into_iter().collect();
        assert_eq!(decided(&policy, line, &headers, &mut exchange()), expected, "{line} {header}");
    }
    let computed = policy.rules().find(|rule| &*rule.name == "computed").unwrap();
    assert_eq!((computed.matched, computed.failed), (5, 1));
    let info = policy.delays();
    assert_eq!((info.waiting, info.limit, info.delayed, info.rejected), (0, 1000, 11, 0));
}

#[test]
fn a_request_waits_once_whatever_its_phases() {
    let policy = policy(
        "
request: [{when: 'request.path != \"/\"', delay: 2s}]
requestBody: [{when: 'request.body == b\"3\"', delay: 3s}, {when: 'request.body == b\"1\"', delay: 1s}]
",
    );
    for (line, body, expected) in [
        ("POST /a", "3", (2000, 1000)),
        ("POST /a", "1", (2000, 0)),
        ("POST /a", "", (2000, 0)),
        ("POST /", "3", (0, 3000)),
    ] {
        let mut exchange = exchange();
        let first = decided(&policy, line, &[], &mut exchange).0;
        let then = policy.request_body(&head(line, &[]), body.as_bytes(), &mut exchange);
        assert_eq!((first, millis(&then)), expected, "{line} {body}");
        drop(then);
        // The next request on the connection has not waited yet.
        exchange.reset(exchange.peer(), None);
        assert_eq!(decided(&policy, line, &[], &mut exchange).0, first);
    }
}

#[test]
fn beyond_the_bound_requests_are_denied_or_go_on_as_the_file_says() {
    let rules = "request: [{when: 'request.path != \"/free\"', delay: 1s, setHeaders: {x-a: b}}, {when: 'request.path == \"/no\"', deny: 418}]\n";
    for (more, full) in [("", 503), (", onFull: deny", 503), (", onFull: pass", 0)] {
        let policy = policy(&format!("delays: {{waiting: 2{more}}}\n{rules}"));
        let ask = |path: &str| {
            let mut exchange = exchange();
            let decision = policy.request(&mut head(&format!("GET {path}"), &[]), &mut exchange);
            (decision, exchange)
        };
        let waiting = [ask("/").0, ask("/no").0];
        assert!(waiting.iter().all(|decision| millis(decision) == 1000) && policy.delays().waiting == 2);
        let (decision, exchange) = ask("/");
        assert_eq!((millis(&decision), exchange.edits().is_empty()), (0, full == 503), "{more}");
        if full == 503 {
            let refused = answer(decision);
            assert_eq!((refused.status.as_u16(), &*refused.rule), (503, "delay.busy"));
            assert_eq!(refused.headers["retry-after"], "1");
        } else {
            assert_eq!(status(decision), 0);
        }
        // What is answered anyway, or is not delayed, does not depend on it.
        assert_eq!((status(ask("/no").0), status(ask("/free").0)), (418, 0), "{more}");
        assert_eq!((policy.delays().delayed, policy.delays().rejected), (2, 2));
        // A host that drops the delay, because the client is gone, frees its place.
        drop(waiting);
        assert_eq!((policy.delays().waiting, millis(&ask("/").0)), (0, 1000));
    }
}

#[test]
fn a_reload_keeps_who_waits() {
    let folder = Folder::new("delays");
    let file = folder.write("policy.yaml", "delays: {waiting: 1}\nrequest: [{delay: 1s}]\n");
    let live = LivePolicy::load(&file).unwrap();
    let first = live.current().request(&mut head("GET /", &[]), &mut exchange());
    folder.write("policy.yaml", "delays: {waiting: 1}\nrequest: [{delay: 2s}]\n");
    live.reload().unwrap();
    let policy = live.current();
    assert_eq!((policy.delays().waiting, status(policy.request(&mut head("GET /", &[]), &mut exchange()))), (1, 503));
    drop(first);
    assert_eq!(decided(&policy, "GET /", &[], &mut exchange()), (2000, 0));
}

#[test]
fn a_dry_run_says_how_long_and_waits_for_nothing() {
    let policy = policy("request: [{name: tried, delay: {time: 1500ms, dryRun: true}}]");
    assert!(!policy.has_delays() && policy.has_log_fields());
    let mut exchange = exchange();
    assert_eq!(decided(&policy, "GET /", &[], &mut exchange), (0, 0));
    let fields = log(&policy, &head("GET /", &[]), Some(&response(200, &[])), &mut exchange);
    assert_eq!(fields.to_string(), "{\"dryRunDelay\":1.5}");
    assert_eq!(policy.delays().delayed, 0);
}

/// A client that leaves out what the condition reads does not get around the delay, as with other guards.
#[test]
fn a_condition_that_fails_delays_unless_the_file_says_otherwise() {
    for (on_error, expected) in [("closed", (1000, 0)), ("match", (1000, 0)), ("noMatch", (0, 0)), ("stop", (0, 500))] {
        let text = format!(
            "request: {{onError: {on_error}, rules: [{{when: 'request.headers[\"x-bot\"] != \"no\"', delay: 1s}}]}}"
        );
        let policy = policy(&text);
        assert_eq!(decided(&policy, "GET /", &[], &mut exchange()), expected, "{on_error}");
        assert_eq!(decided(&policy, "GET /", &[("x-bot", "no")], &mut exchange()), (0, 0), "{on_error}");
    }
    // Under `stop` a time that fails ends the phase, after the longest delay.
    let stopped = policy(
        "delays: {longest: 3s}\nrequest: {onError: stop, rules: [{delay: '${duration(request.headers[\"x-wait\"])}'}]}",
    );
    assert_eq!(decided(&stopped, "GET /", &[], &mut exchange()), (3000, 500));
}

#[test]
fn delays_of_levels_are_not_shortened_by_lower_ones() {
    let folder = Folder::new("delay-levels");
    folder.write("team.yaml", "request: [{when: 'request.path == \"/a\"', delay: 3s}, {delay: 1s}]");
    let file = folder.write(
        "policy.yaml",
        "levels: [team.yaml]\nrequest: [{delay: 2s}, {when: 'request.path == \"/no\"', deny: true}, {when: 'request.path == \"/all\"', allow: true}]",
    );
    let policy = Policy::load(&file).unwrap();
    for (path, expected) in [("/", (2000, 0)), ("/a", (3000, 0)), ("/no", (2000, 403)), ("/all", (2000, 0))] {
        assert_eq!(decided(&policy, &format!("GET {path}"), &[], &mut exchange()), expected, "{path}");
    }
    folder.write("team.yaml", "delays: {longest: 1s}\nrequest: [{delay: 1s}]");
    let error = Policy::load(&file).unwrap_err().to_string();
    assert!(error.contains("policy-level") && error.contains("delays"), "{error}");
}

/// It counts for limits of open requests while it waits: the exchange holds its place.
#[test]
fn a_request_that_waits_is_an_open_request() {
    let policy =
        policy("request: [{limit: {key: '${source.address}', concurrent: 1}, delay: 1s}, {setHeaders: {x-a: b}}]");
    let mut waiting = exchange();
    assert_eq!(millis(&policy.request(&mut head("GET /", &[]), &mut waiting)), 1000);
    // A request above the limit does not reach the delay.
    assert_eq!(decided(&policy, "GET /", &[], &mut exchange()), (0, 429));
    drop(waiting);
    assert_eq!(decided(&policy, "GET /", &[], &mut exchange()), (1000, 0));
}

#[test]
fn a_phase_that_waits_for_a_password_delays_once() {
    let folder = Folder::new("delay-passwords");
    folder.write("users", format!("ada:{}\n", bcrypt::hash("right", 4).unwrap()));
    let file = folder.write(
        "policy.yaml",
        "basicAuth: {users: users}\ndelays: {waiting: 1}\nrequest: [{delay: 1s}, {when: 'basicAuth.username != \"ada\"', deny: 401}]",
    );
    let policy = Policy::load(&file).unwrap();
    let login = ("authorization", "Basic YWRhOnJpZ2h0");
    assert_eq!(decided(&policy, "GET /", &[login], &mut exchange()), (1000, 0));
    assert_eq!(decided(&policy, "GET /", &[("authorization", "Basic YWRhOndyb25n")], &mut exchange()), (1000, 401));
    assert_eq!((policy.delays().delayed, policy.delays().rejected), (2, 0));
}

#[test]
fn what_is_refused_has_no_canonical_form_and_no_delay() {
    let policy = policy("request: [{delay: 1s}]");
    assert_eq!(decided(&policy, "GET /a%2Fb", &[], &mut exchange()), (0, 400));
    assert!(matches!(ask(&policy, &head("GET /", &[]), &mut exchange()), Outcome::Continue));
}

#[test]
fn requests_above_a_limit_wait_and_are_answered_or_go_on_as_the_file_says() {
    let policy = policy(
        "
request:
- {name: tarpit, when: 'request.path == \"/tarpit\"', limit: {rate: 1/h, onLimit: {delay: 2s}}}
- {name: late, when: 'request.path == \"/late\"', limit: {rate: 1/h, onLimit: {delay: '${duration(request.headers[\"x-wait\"])}', deny: 503}}}
- {name: slow, when: 'request.path == \"/slow\"', limit: {rate: 1/h, onLimit: {delay: 1s, pass: true}}, delay: 100ms, setHeaders: {x-a: b}}
- {name: open, when: 'request.path == \"/open\"', limit: {concurrent: 0, onLimit: {delay: 3s, pass: true}}}
- {name: tried, when: 'request.path == \"/tried\"', limit: {rate: 1/h, dryRun: true, onLimit: {delay: 2s}}}
",
    );
    let ask = |path: &str, headers: &[(&str, &str)]| {
        let mut exchange = exchange();
        let found = decided(&policy, &format!("GET {path}"), headers, &mut exchange);
        (found, exchange.edits().is_empty())
    };
    for (path, within, above) in [
        ("/tarpit", (0, 0), ((2000, 429), true)),
        ("/late", (0, 0), ((3000, 503), true)),
        ("/slow", (100, 0), ((1000, 0), false)),
        ("/tried", (0, 0), ((0, 0), true)),
    ] {
        let headers = [("x-wait", "3s")];
        assert_eq!(ask(path, &headers).0, within, "{path}");
        for _ in 0..2 {
            assert_eq!(ask(path, &headers), above, "{path}");
        }
    }
    assert_eq!(ask("/open", &[]).0, (3000, 0));
    // A time that fails is the longest, as that of a rule.
    assert_eq!(ask("/late", &[]).0, (10_000, 503));
    let limited: Vec<u64> = policy.limits().map(|limit| limit.limited).collect();
    assert_eq!(limited, [2, 3, 2, 1, 0]);
    let mut exchange = exchange();
    let decision = policy.request(&mut head("GET /tarpit", &[]), &mut exchange);
    assert!(answer(decision).headers.contains_key("retry-after"));
}

/// How often its key came is not known: only the file lets it pass.
#[test]
fn a_request_whose_key_fails_does_not_pass_after_a_delay() {
    for (on_error, expected) in [("", (1000, 429)), (", onError: closed", (1000, 429)), (", onError: pass", (0, 0))] {
        for key in [
            "key: '${request.headers[\"x-user\"]}', rate: 1/h",
            "cost: '${int(request.headers[\"x-user\"])}', rate: 1/h",
        ] {
            let policy =
                policy(&format!("request: [{{limit: {{{key}{on_error}, onLimit: {{delay: 1s, pass: true}}}}}}]"));
            assert_eq!(decided(&policy, "GET /", &[], &mut exchange()), expected, "{key}{on_error}");
            assert_eq!(decided(&policy, "GET /", &[("x-user", "1")], &mut exchange()), (0, 0), "{key}{on_error}");
            assert_eq!(decided(&policy, "GET /", &[("x-user", "1")], &mut exchange()), (1000, 0), "{key}{on_error}");
        }
    }
    let shared = policy(
        "request: [{limit: {key: '${request.headers[\"x-user\"]}', rate: 1/h, onError: shared, onLimit: {delay: 1s, pass: true}}}]",
    );
    assert_eq!(decided(&shared, "GET /", &[], &mut exchange()), (0, 0));
    assert_eq!(decided(&shared, "GET /", &[], &mut exchange()), (1000, 0));
}

/// A host that cannot wait has to know.
#[test]
fn a_policy_with_delays_of_limits_has_delays() {
    let on = "onLimit: {delay: 1s}";
    for (limit, expected) in [
        (format!("rate: 1/h, {on}"), true),
        (format!("remote: a, descriptors: {{b: c}}, {on}"), true),
        (format!("rate: 1/h, dryRun: true, {on}"), false),
        (format!("remote: a, descriptors: {{b: c}}, dryRun: true, {on}"), false),
        ("rate: 1/h".to_owned(), false),
    ] {
        assert_eq!(policy(&format!("request: [{{limit: {{{limit}}}}}]")).has_delays(), expected, "{limit}");
        assert_eq!(policy(&format!("requestBody: [{{limit: {{{limit}}}}}]")).has_delays(), expected, "{limit}");
    }
}

#[test]
fn mistakes_are_reported() {
    for (text, message) in [
        ("request: [{delay: soon}]", "`soon` is not a delay"),
        ("request: [{delay: 1}]", "`1` is not a delay"),
        ("request: [{delay: 0s}]", "a delay can't be 0s"),
        ("request: [{delay: 11s}]", "it is above 0s and at most 10s"),
        ("delays: {longest: 1s}\nrequest: [{delay: 2s}]", "at most 1s"),
        ("delays: {longest: 61s}", "the longest delay can't be 61s"),
        ("delays: {longest: 0s}", "the longest delay can't be 0s"),
        ("delays: {waiting: 0}", "a number from 1 to 1000000"),
        ("delays: {onFull: wait}", "one of `deny`, `pass`"),
        ("request: [{delay: '${1}'}]", "a delay is a `duration`, this is `int`"),
        ("request: [{delay: '${request.path}s'}]", "is not a delay"),
        ("request: [{delay: {dryRun: true}}]", "needs the key `time`"),
        ("response: [{delay: 1s}]", "the phase `response` has no delays"),
        ("log: [{delay: 1s}]", "has no key `delay`"),
        ("connection: [{delay: 1s}]", "has no key `delay`"),
        ("request: [{limit: {rate: 1/s, onLimit: {delay: 11s}}}]", "a delay can't be 11s"),
        ("request: [{limit: {rate: 1/s, onLimit: {delay: 0s}}}]", "a delay can't be 0s"),
        ("request: [{limit: {rate: 1/s, onLimit: {delay: '${1}'}}}]", "a delay is a `duration`, this is `int`"),
        ("request: [{limit: {rate: 1/s, onLimit: {pass: true}}}]", "requests above the limit would pass at once"),
        (
            "request: [{limit: {rate: 1/s, onLimit: {pass: true, delay: 1s, deny: 429}}}]",
            "a request that passes has no answer",
        ),
        ("request: [{limit: {remote: a, descriptors: {b: c}, onLimit: {pass: true}}}]", "would pass at once"),
    ] {
        let error = wrong(text);
        assert!(error.contains(message), "{text}\n{error}");
    }
    // A dry run has the same bounds.
    assert!(wrong("request: [{delay: {time: 11s, dryRun: true}}]").contains("a delay can't be 11s"));
    let usual = policy("delays: {longest: 1m}\nrequest: [{sample: 0.5, delay: 1m}, {delay: '${duration(\"2s\")}'}]");
    assert_eq!(usual.warnings().count(), 0, "{}", usual.render_warnings(false));
    assert_eq!(usual.delays().limit, 1000);
}

#[test]
fn cases_expect_delays() {
    let policy = policy("request: [{name: slow, when: 'request.path == \"/slow\"', delay: 250ms, deny: 403}]");
    let cases = |delay: &str| {
        format!(
            "- {{name: a, request: {{uri: /slow}}, expect: {{status: 403, delay: {delay}}}}}\n- {{name: b, expect: {{delay: 0s}}}}\n"
        )
    };
    assert!(policy.test("cases", &cases("250ms")).unwrap().passed());
    let wrong = policy.test("cases", &cases("1s")).unwrap();
    assert!(!wrong.passed() && wrong.render(false).contains("a: the delay is 250ms"), "{}", wrong.render(false));
    assert_eq!(policy.delays().waiting, 0);
}
