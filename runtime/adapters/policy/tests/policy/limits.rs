//! Limits: keys that attackers choose, costs that responses decide about, open requests, reloads,
//! and mistakes in the file.

use crate::support::{Folder, answer, ask, ask_response, edits, exchange, head, log, response, status, wrong};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use celero_policy::{Exchange, LimitInfo, LivePolicy, Outcome, Policy};
use http::request::Parts;
use std::path::Path;
use std::time::Duration;

/// The policy in both tiers.
fn both(text: &str) -> [Policy; 2] {
    [Policy::parse, Policy::check]
        .map(|read| read("policy.yaml", text, Path::new(".")).unwrap_or_else(|error| panic!("{error}")))
}

fn from(address: &str) -> Exchange {
    let mut exchange = Exchange::new(
        Some(format!("[{address}]:1").parse().or_else(|_| format!("{address}:1").parse()).unwrap()),
        None,
    );
    exchange.set_time(Duration::ZERO);
    exchange
}

/// Sends a request at a time in milliseconds, and drops it. Returns the status of the answer, 0 if there is none.
fn send(policy: &Policy, head: &Parts, at: u64) -> u16 {
    let mut exchange = exchange();
    exchange.set_time(Duration::from_millis(at));
    status(ask(policy, head, &mut exchange))
}

fn info(policy: &Policy) -> LimitInfo {
    policy.limits().next().unwrap()
}

#[test]
fn a_burst_passes_and_comes_back() {
    for policy in both("request:\n- {name: api, limit: {key: '${source.address}', rate: 100/s, burst: 20}}") {
        let get = head("GET /", &[]);
        assert!((0..20).all(|_| send(&policy, &get, 0) == 0));
        assert!((0..5).all(|_| send(&policy, &get, 0) == 429));
        assert_eq!([send(&policy, &get, 10), send(&policy, &get, 10), send(&policy, &get, 29)], [0, 429, 0]);
        let info = info(&policy);
        assert_eq!((&*info.name, info.admitted, info.limited, info.failed), ("api", 22, 6, 0));
    }
}

#[test]
fn spellings_of_an_address_are_one_key() {
    for (key, phase, language) in [
        ("'${source.address}'", "request", "cel"),
        ("'${ source.address }'", "requestBody", "cel"),
        ("['${source.address}', fixed]", "request", "cel"),
        ("'${ip.src}'", "request", "filter"),
        // These are texts.
        ("'${source.address + \"\"}'", "request", "cel"),
        ("'${request.headers[\"x-address\"]}'", "request", "cel"),
    ] {
        let limit = format!("limit: {{key: {key}, groupV4: 24, rate: 2/m}}");
        for policy in both(&format!("{phase}:\n  rules:\n  - {{name: a, language: {language}, {limit}}}\n")) {
            let ask = |text: &str, mut exchange: Exchange| {
                let head = head("GET /", &[("x-address", text)]);
                match status(ask(&policy, &head, &mut exchange)) {
                    0 => status(policy.request_body(&head, b"", &mut exchange)),
                    denied => denied,
                }
            };
            let send = |text: &str| ask(text, from(text));
            assert_eq!(["192.0.2.1", "::ffff:192.0.2.255", "::FFFF:c000:201"].map(send), [0, 0, 429], "{key}");
            assert_eq!(["192.0.3.1", "::c000:201"].map(send), [0, 0], "{key}");
            assert_eq!(["2001:db8::1", "2001:DB8::ffff:0:0:0", "2001:db8::"].map(send), [0, 0, 429], "{key}");
            assert_eq!(["2001:db8:0:1::1", "192.0.2.0"].map(send), [0, 429], "{key}");
            assert_eq!(info(&policy).failed, 0, "{key}");
            // Without an address there is no key.
            let failed = !key.contains("x-address");
            assert_eq!(ask("-", Exchange::new(None, None)), if failed { 429 } else { 0 }, "{key}");
            assert_eq!(info(&policy).failed, u64::from(failed), "{key}");
        }
    }
}

#[test]
fn only_what_requests_hold_lasts_until_their_end() {
    let lasts = |limit: &str, more: &str| {
        let text = format!("request:\n- {{name: a, limit: {{key: '${{source.address}}', {limit}}}}}\n{more}");
        both(&text).map(|policy| policy.lasts_until_end())
    };
    assert_eq!(lasts("rate: 2/m", ""), [false; 2]);
    assert_eq!(lasts("rate: 2/m, headers: always", ""), [false; 2], "the phase `response` tells");
    assert_eq!(lasts("concurrent: 2", ""), [true; 2]);
    assert_eq!(lasts("rate: 2/m, countWhen: response.code == 401", ""), [true; 2]);
    assert_eq!(lasts("rate: 2/m, dryRun: true", ""), [true; 2], "the log says so");
    assert_eq!(lasts("rate: 2/m", "response:\n- {settle: {a: '2'}}"), [true; 2]);
    assert_eq!(lasts("rate: 2/m", "log:\n- {logFields: {a: b}}"), [true; 2]);
}

#[test]
fn answers_tell_when_to_come_again() {
    let text = "request:\n- {name: api, limit: {rate: 2/m, onLimit: {deny: {status: 503, headers: {retry-after: '7'}}}}}
- {name: b, when: request.path == '/b', limit: {rate: 1/m, headers: never, onLimit: {redirect: 'https://wait.example/'}}}";
    for policy in both(text) {
        let get = head("GET /", &[]);
        send(&policy, &get, 0);
        send(&policy, &get, 0);
        let mut exchange = from("192.0.2.1");
        let Outcome::Respond(answer) = ask(&policy, &get, &mut exchange) else { panic!() };
        assert_eq!((answer.status.as_u16(), &*answer.rule), (503, "api"));
        assert_eq!(answer.headers["retry-after"], "7");
        assert_eq!(answer.headers["ratelimit"], "\"api\";r=0;t=60");
        assert_eq!(answer.headers["ratelimit-policy"], "\"api\";q=2;w=60");
        policy.clear_limits();
        let other = head("GET /b", &[]);
        assert_eq!(send(&policy, &other, 0), 0);
        let Outcome::Respond(answer) = ask(&policy, &other, &mut from("192.0.2.1")) else { panic!() };
        assert_eq!(
            (answer.status.as_u16(), &answer.headers["location"]),
            (302, &"https://wait.example/".parse().unwrap())
        );
        assert!(answer.headers["retry-after"] == "60" && !answer.headers.contains_key("ratelimit"));
    }
}

#[test]
fn many_addresses_of_one_network_are_one_client() {
    for policy in both("request:\n- {name: a, limit: {key: '${source.address}', rate: 5/m}}") {
        let get = head("GET /", &[]);
        let passed = |address: String| status(ask(&policy, &get, &mut from(&address))) == 0;
        assert_eq!((0..1000).filter(|last| passed(format!("2001:db8::{last:x}"))).count(), 5);
        assert_eq!((0..1000).filter(|net| passed(format!("2001:db8:0:{:x}::1", net + 1))).count(), 1000);
        // IPv4 in IPv6 notation is the IPv4 address.
        assert!((0..5).all(|_| passed("192.0.2.1".into())) && !passed("::ffff:192.0.2.1".into()));
        assert!(passed("192.0.2.2".into()));
    }
}

#[test]
fn spellings_of_a_header_are_one_key_and_parts_do_not_run_together() {
    let text = "request:\n- {name: a, limit: {key: ['${request.headers[\"x-key\"]}', '${request.headers[\"x-b\"]}'], rate: 3/m}}";
    for policy in both(text) {
        for name in ["x-key", "X-Key", "X-KEY"] {
            assert_eq!(send(&policy, &head("GET /", &[(name, "ab"), ("x-b", "c")]), 0), 0);
        }
        assert_eq!(send(&policy, &head("GET /", &[("x-kEy", "ab"), ("X-B", "c")]), 0), 429);
        assert_eq!(send(&policy, &head("GET /", &[("x-key", "a"), ("x-b", "bc")]), 0), 0);
    }
}

#[test]
fn a_key_that_fails_passes_only_if_the_file_says_so() {
    let text = |on_error: &str| {
        format!("request:\n- {{name: a, limit: {{key: '${{request.headers[\"x-key\"]}}', rate: 2/m{on_error}}}}}")
    };
    let (without, with) = (head("GET /", &[]), head("GET /", &[("x-key", "k")]));
    for policy in both(&text("")) {
        assert_eq!([send(&policy, &without, 0), send(&policy, &with, 0)], [429, 0]);
        assert_eq!((info(&policy).failed, policy.rules().next().unwrap().failed), (1, 1));
    }
    for policy in both(&text(", onError: shared")) {
        let all = [0; 4].map(|_| send(&policy, &without, 0));
        assert_eq!((all, send(&policy, &with, 0)), ([0, 0, 429, 429], 0));
    }
    for policy in both(&text(", onError: pass")) {
        assert!((0..10).all(|_| send(&policy, &without, 0) == 0) && info(&policy).failed == 10);
    }
    let stopped = "request:\n  onError: stop\n  errorStatus: 418\n  rules:\n  - {name: a, limit: {key: '${jwt.sub}', rate: 2/m, onError: pass}}";
    let jwt = "jwt: {keys: [{pem: keys/rsa.pub.pem, algorithm: RS256}]}\n";
    let policy =
        Policy::parse("p", &format!("{jwt}{stopped}"), &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")).unwrap();
    assert_eq!(send(&policy, &without, 0), 418);
}

/// A part that fails drops those before it: whoever leaves out a header shares one key with all others who do.
#[test]
fn a_key_of_which_a_part_fails_is_the_shared_one() {
    let key = "['${request.headers[\"x-key\"]}', '${request.headers[\"x-b\"]}']";
    for policy in both(&format!("request:\n- {{name: a, limit: {{key: {key}, rate: 2/m, onError: shared}}}}")) {
        let without = |key: &str| send(&policy, &head("GET /", &[("x-key", key)]), 0);
        assert_eq!([without("a"), without("b"), without("c")], [0, 0, 429]);
        assert_eq!(send(&policy, &head("GET /", &[("x-key", "a"), ("x-b", "")]), 0), 0);
    }
}

#[test]
fn a_condition_that_fails_does_not_free_from_a_limit() {
    for policy in both("request:\n- {name: a, when: \"request.headers['x-a'] == '1'\", limit: {rate: 1/m}}") {
        assert_eq!([send(&policy, &head("GET /", &[]), 0), send(&policy, &head("GET /", &[]), 0)], [0, 429]);
        assert_eq!(send(&policy, &head("GET /", &[("x-a", "2")]), 0), 0);
    }
}

#[test]
fn costs_are_numbers_from_0() {
    let text = "request:\n- {name: a, limit: {rate: 10/m, cost: '${int(request.headers[\"x-cost\"])}'}}";
    for policy in both(text) {
        let cost = |cost: &str| send(&policy, &head("GET /", &[("x-cost", cost)]), 0);
        assert_eq!(
            [cost("11"), cost("9223372036854775807"), cost("-1"), cost("x"), cost("0")],
            [429, 429, 429, 429, 0]
        );
        assert_eq!([cost("7"), cost("4"), cost("3"), cost("1"), cost("0")], [0, 429, 0, 429, 0]);
        assert_eq!(info(&policy).failed, 2);
    }
    for policy in both("request:\n- {name: a, limit: {rate: 10/m, cost: '${4.2}'}}") {
        assert_eq!([0; 3].map(|_| send(&policy, &head("GET /", &[]), 0)), [0, 0, 429]);
    }
}

const LOGIN: &str = "request:
- {name: login, limit: {key: '${source.address}', rate: 5/m, countWhen: response.code == 401}}
- {name: own, when: request.path == '/own', deny: 401}
";

#[test]
fn only_failed_logins_count() {
    for policy in both(LOGIN) {
        assert!(policy.has_response_rules() && policy.lasts_until_end() && !policy.has_log_fields());
        let get = head("GET /login", &[]);
        let login = |code: Option<u16>| {
            let mut exchange = from("192.0.2.1");
            let answer = status(ask(&policy, &get, &mut exchange));
            if let Some(code) = code.filter(|_| answer == 0) {
                let _ = ask_response(&policy, &get, &response(code, &[]), &mut exchange);
            }
            answer
        };
        assert!((0..100).all(|_| login(Some(200)) == 0));
        assert!((0..5).all(|_| login(Some(401)) == 0) && login(Some(200)) == 429);
        policy.clear_limits();
        // Broken off before the response.
        assert!((0..5).all(|_| login(None) == 0) && login(Some(200)) == 429);
        policy.clear_limits();
        // The policy's own answer is a response, and one that only the phase log sees too.
        assert!((0..5).all(|_| status(ask(&policy, &head("GET /own", &[]), &mut from("192.0.2.1"))) == 401));
        assert_eq!(login(None), 429);
        policy.clear_limits();
        for _ in 0..50 {
            let mut exchange = from("192.0.2.1");
            assert_eq!(status(ask(&policy, &get, &mut exchange)), 0);
            log(&policy, &get, Some(&response(502, &[])), &mut exchange);
        }
    }
}

#[test]
fn guesses_at_once_do_not_pass_together() {
    for policy in both(LOGIN) {
        let get = head("GET /login", &[]);
        let mut open: Vec<_> = (0..100).map(|_| from("192.0.2.1")).collect();
        let passed = open.iter_mut().map(|exchange| status(ask(&policy, &get, exchange))).filter(|status| *status == 0);
        assert_eq!(passed.count(), 5);
    }
}

#[test]
fn rules_settle_the_real_cost() {
    let text = "request:\n- {name: bytes, limit: {rate: 1000/s, cost: 10}}\nlog:\n- settle: {bytes: '${response.bytesSent * 40}'}";
    for policy in both(text) {
        let get = head("GET /", &[]);
        let mut exchange = from("192.0.2.1");
        assert_eq!(status(ask(&policy, &get, &mut exchange)), 0);
        // 42 bytes were sent: 1680 are used.
        log(&policy, &get, Some(&response(200, &[])), &mut exchange);
        assert_eq!([send(&policy, &get, 0), send(&policy, &get, 689), send(&policy, &get, 690)], [429, 429, 0]);
    }
}

#[test]
fn open_requests_end_whatever_way_they_end() {
    for policy in both(
        "request:\n- {name: a, limit: {key: '${source.address}', concurrent: 2, onLimit: {deny: 503}}}\n- {when: request.path == '/deny', deny: 403}",
    ) {
        assert!(policy.lasts_until_end());
        let get = head("GET /", &[]);
        let mut open: Vec<_> = (0..3).map(|_| from("192.0.2.1")).collect();
        assert_eq!(
            open.iter_mut().map(|exchange| status(ask(&policy, &get, exchange))).collect::<Vec<_>>(),
            [0, 0, 503]
        );
        assert_eq!(status(ask(&policy, &get, &mut from("192.0.2.2"))), 0);
        open[0].reset(None, None);
        assert_eq!(status(ask(&policy, &get, &mut open[2])), 503);
        open[2] = from("192.0.2.1");
        assert_eq!(status(ask(&policy, &get, &mut open[2])), 0);
        drop(open);
        assert_eq!(info(&policy).keys, 0);
        // An answer of a later rule ends with its exchange.
        assert!((0..9).all(|_| status(ask(&policy, &head("GET /deny", &[]), &mut from("192.0.2.1"))) == 403));
    }
}

#[test]
fn penalties_and_windows_and_dry_runs() {
    let text = "request:\n- {name: a, limit: {rate: 2/s, algorithm: slidingWindow, penalty: 1m}}";
    for policy in both(text) {
        let at = |at| send(&policy, &head("GET /", &[]), at);
        assert_eq!([at(0), at(0), at(1), at(30_000), at(60_000), at(60_001)], [0, 0, 429, 429, 429, 0]);
    }
    for policy in both("request:\n- {name: a, limit: {rate: 1/m, dryRun: true}, setHeaders: {x-a: '1'}}") {
        let get = head("GET /", &[]);
        for number in 0..3 {
            let mut exchange = from("192.0.2.1");
            assert_eq!(status(ask(&policy, &get, &mut exchange)), 0);
            assert_eq!(edits(&exchange), ["x-a = 1"]);
            let fields = log(&policy, &get, None, &mut exchange).to_string();
            assert_eq!(fields, if number == 0 { "{}" } else { "{\"aboveLimit\":\"a\"}" });
        }
        assert_eq!((info(&policy).admitted, info(&policy).limited, info(&policy).tolerated), (1, 0, 2));
    }
}

#[test]
fn all_responses_tell_if_the_file_says_so() {
    let text = "request:\n- {name: a, limit: {rate: 10/m, headers: always}}\n- {when: request.path == '/own', respond: {status: 200}}\nresponse:\n- {when: response.code == 500, deny: 502}";
    for policy in both(text) {
        let get = head("GET /", &[]);
        let mut exchange = from("192.0.2.1");
        assert_eq!(status(ask(&policy, &get, &mut exchange)), 0);
        let _ = ask_response(&policy, &get, &response(200, &[]), &mut exchange);
        assert_eq!(edits(&exchange), ["ratelimit-policy + \"a\";q=10;w=60", "ratelimit + \"a\";r=9;t=6"]);
        let Outcome::Respond(answer) = ask_response(&policy, &get, &response(500, &[]), &mut exchange) else {
            panic!()
        };
        assert_eq!(answer.headers["ratelimit"], "\"a\";r=9;t=6");
        let Outcome::Respond(answer) = ask(&policy, &head("GET /own", &[]), &mut from("192.0.2.1")) else { panic!() };
        assert_eq!(answer.headers["ratelimit"], "\"a\";r=8;t=12");
    }
}

#[test]
fn a_reload_keeps_what_was_counted_if_the_limit_stays() {
    let folder = Folder::new("limits-reload");
    let text = |rate: &str, more: &str| {
        format!("request:\n{more}- {{name: a, limit: {{key: '${{source.address}}', rate: {rate}}}}}\n")
    };
    let file = folder.write("policy.yaml", text("2/h", ""));
    let live = LivePolicy::load(&file).unwrap();
    let get = head("GET /", &[]);
    assert_eq!([0; 3].map(|_| send(&live.current(), &get, 0)), [0, 0, 429]);
    folder.write("policy.yaml", text("2/h", "- {name: new, setHeaders: {x-a: b}}\n"));
    live.reload().unwrap();
    assert_eq!(send(&live.current(), &get, 0), 429);
    assert_eq!(info(&live.current()).limited, 2);
    folder.write("policy.yaml", text("3/h", ""));
    live.reload().unwrap();
    assert_eq!(send(&live.current(), &get, 0), 0);
    // What is wrong changes nothing.
    folder.write("policy.yaml", text("3/x", ""));
    live.reload().unwrap_err();
    assert_eq!(info(&live.current()).admitted, 1);
}

/// A host that holds a response back may drop it, and ask another server.
#[test]
fn a_response_that_is_dropped_decides_nothing() {
    let text = "request:
- {name: login, limit: {rate: 1/m, countWhen: response.code == 401}}
- {labels: {pool: blue}}
response:
- {when: response.code == 200, labels: {pool: green, seen: yes}}
responseBody:
- {when: 'response.body.size() > 100', deny: 502}
";
    let get = head("GET /", &[]);
    for (dropped, sent, next) in [(200, 401, 429), (401, 200, 0)] {
        for policy in both(text) {
            let mut exchange = exchange();
            exchange.set_time(Duration::ZERO);
            assert_eq!(status(ask(&policy, &get, &mut exchange)), 0);
            assert_eq!(status(ask_response(&policy, &get, &response(dropped, &[]), &mut exchange)), 0);
            assert_eq!(exchange.label("seen").is_some(), dropped == 200);
            exchange.forget_response();
            assert_eq!(exchange.labels().collect::<Vec<_>>(), [("pool", "blue")]);
            let second = response(sent, &[]);
            assert_eq!(status(ask_response(&policy, &get, &second, &mut exchange)), 0);
            assert_eq!(status(policy.response_body(&get, &second, b"", &mut exchange)), 0);
            // What has been decided stays.
            exchange.forget_response();
            drop(exchange);
            assert_eq!(send(&policy, &get, 0), next, "{dropped} {sent}");
        }
    }
}

#[test]
fn a_phase_that_waits_for_a_password_counts_once() {
    let folder = Folder::new("limits-password");
    folder.write("users", format!("ada:{}\n", bcrypt::hash("right", 4).unwrap()));
    let rules = "request:\n- {name: a, limit: {rate: 100/h, countWhen: response.code == 401}}\n- {name: guard, when: '!has(basicAuth.username)', deny: 401}\n- {name: user, limit: {key: '${basicAuth.username}', rate: 2/h}}";
    let policy = Policy::load(folder.write("policy.yaml", format!("basicAuth: {{users: users}}\n{rules}"))).unwrap();
    let login = |password: &str| {
        head("GET /", &[("authorization", &format!("Basic {}", STANDARD.encode(format!("ada:{password}"))))])
    };
    assert_eq!([send(&policy, &login("right"), 0), send(&policy, &login("wrong"), 0)], [0, 401]);
    let admitted: Vec<u64> = policy.limits().map(|limit| limit.admitted).collect();
    assert_eq!(admitted, [2, 1]);
    assert_eq!([send(&policy, &login("right"), 0), send(&policy, &login("right"), 0)], [0, 429]);
}

#[test]
fn mistakes_are_named() {
    for (text, message) in [
        ("request: [{limit: {rate: fast}}]", "is a number in a time"),
        ("request: [{limit: {key: a}}]", "either `rate` or `concurrent`"),
        ("request: [{limit: {rate: 1/s, concurrent: 1}}]", "either `rate` or `concurrent`"),
        ("request: [{limit: {concurrent: 1, burst: 2}}]", "`burst` is for limits with `rate`"),
        ("request: [{limit: {rate: 1/s, burst: 2, algorithm: slidingWindow}}]", "a sliding window has no burst"),
        ("request: [{limit: {rate: 1/s, cost: 2}}]", "a cost of 2 is never within a limit of 1"),
        ("request: [{limit: {rate: 1/s, cost: two}}]", "`two` is not a cost"),
        ("request: [{limit: {rate: 1/s, cost: '${request.path}'}}]", "a cost is a number, this is `string`"),
        ("request: [{limit: {rate: 1/s, key: '${nobody}'}}]", "nobody"),
        ("request: [{limit: {rate: 1/s, countWhen: response.code}}]", "a condition is `bool`"),
        ("request: [{limit: {rate: 1/s, countWhen: response.bytesSent > 1}}]", "exists in the phase `log`"),
        (
            "request: [{name: a, limit: {rate: 1/s}}, {name: b, limit: {name: a, rate: 1/s}}]",
            "another limit is called `a`",
        ),
        ("request: [{limit: {name: 'a\"b', rate: 1/s}}]", "can't be the name of a limit"),
        ("request: [{limit: {rate: 1/d, burst: 1000000}}]", "at most 36 years"),
        ("response: [{limit: {rate: 1/s}}]", "a limit is asked before the server"),
        ("request: [{settle: {a: 1}}]", "has no response to read"),
        ("request: [{name: abc, limit: {rate: 1/s}}]\nlog: [{settle: {abd: 1}}]", "did you mean `abc`"),
    ] {
        let report = wrong(text);
        assert!(report.contains(message), "{text}\n{report}");
    }
}

#[test]
fn the_client_that_a_trusted_proxy_names_is_the_one_that_counts() {
    let text = "request:\n- {name: api, limit: {key: '${source.address}', rate: 1/m, countWhen: source.address == '192.0.2.7'}}";
    for policy in both(text) {
        let get = head("GET /", &[]);
        let send = |client: &str| {
            let mut exchange = from("10.0.0.1");
            exchange.set_client(format!("{client}:0").parse().unwrap(), "forwarded");
            let answer = status(ask(&policy, &get, &mut exchange));
            if answer == 0 {
                assert_eq!(status(ask_response(&policy, &get, &response(200, &[]), &mut exchange)), 0);
            }
            answer
        };
        assert_eq!(["192.0.2.7", "192.0.2.7", "192.0.2.8", "192.0.2.8"].map(send), [0, 429, 0, 0]);
    }
}

#[test]
fn a_call_of_grpc_counts_by_the_answer_before_it_is_converted() {
    let text = "request:\n- {name: api, limit: {rate: 1/m, countWhen: response.code >= 400}}
requestBody: {limit: 16, rules: [{when: request.body == b'x', deny: 403}]}";
    for policy in both(text) {
        let mut call = head("POST /a.B/C", &[("content-type", "application/grpc")]);
        call.version = http::Version::HTTP_2;
        let mut exchange = from("192.0.2.1");
        assert_eq!(status(ask(&policy, &call, &mut exchange)), 0);
        let answer = answer(policy.request_body_too_large(&call, &mut exchange));
        assert_eq!(answer.status.as_u16(), 200, "gRPC says it in another header");
        log(&policy, &call, Some(&response(200, &[])), &mut exchange);
        assert_eq!(send(&policy, &head("GET /", &[]), 0), 429);
    }
}
