//! What becomes of a request when an expression fails, and of a policy when its file is wrong.

use crate::support::{Folder, answer, ask, ask_response, edits, exchange, head, log, policy, response, status};
use celero_policy::{LivePolicy, Policy};
use std::sync::{Arc, Mutex};

/// A rule that denies and one that does not, both of which fail; with the header they are false.
const FAILING: &str = r#"
  errorStatus: 503
  rules:
    - name: idle
      when: request.headers["x-n"] == "1"
      setHeaders: {x-idle: "1"}
    - when: request.path == "/deny" && request.headers["x-n"] == "1"
      deny: 403
"#;

#[test]
fn failing_conditions_count_as_the_policy_says() {
    for (on_error, open, deny, edited) in
        [("closed", 0, 403, 0), ("noMatch", 0, 0, 0), ("match", 403, 403, 0), ("stop", 503, 503, 0)]
    {
        for phase in ["request", "requestBody", "response"] {
            let policy = policy(&format!("{phase}:\n  onError: {on_error}{FAILING}"));
            let ask = |path: &str, headers: &[(&str, &str)]| {
                let (head, mut exchange) = (head(path, headers), exchange());
                let outcome = match phase {
                    "request" => ask(&policy, &head, &mut exchange),
                    "requestBody" => policy.request_body(&head, b"", &mut exchange).outcome,
                    _ => ask_response(&policy, &head, &response(200, &[]), &mut exchange),
                };
                (status(outcome), edits(&exchange).len())
            };
            assert_eq!(ask("GET /deny", &[("x-n", "2")]), (0, 0), "{on_error}");
            assert_eq!(ask("GET /deny", &[]), (deny, edited), "{on_error}");
            // The second rule is false on another path; it does not fail there.
            let open = if on_error == "match" { 0 } else { open };
            let idle = usize::from(on_error == "match");
            assert_eq!(ask("GET /open", &[]), (open, idle), "{on_error}");
            let failed: u64 = policy.rules().map(|rule| rule.failed).sum();
            assert!(failed >= 2, "{on_error} {failed}");
        }
    }
    // `closed` is what counts where nothing is said, and `defaults` is for all phases.
    let policy = crate::support::policy(&format!("request:{FAILING}"));
    assert_eq!(status(ask(&policy, &head("GET /deny", &[]), &mut exchange())), 403);
    let policy = crate::support::policy(&format!("defaults: {{onError: stop, errorStatus: 599}}\nrequest:{FAILING}"));
    let stopped = answer(ask(&policy, &head("GET /open", &[]), &mut exchange()));
    assert_eq!((stopped.status.as_u16(), &*stopped.rule), (503, "idle"));
}

#[test]
fn failing_rules_are_reported_to_the_log_of_the_host() {
    let mut policy = policy(
        r#"
request:
- name: admin
  when: request.headers["x-team"] == "ops"
  deny: true
- name: key
  when: '{"a": 1}[request.headers["x-key"]] == 1'
  deny: true
"#,
    );
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    policy.log_failures(move |line| sink.lock().unwrap().push(line.to_owned()));
    for _ in 0..5 {
        // The second rule would fail too, but the first one ends the phase.
        assert_eq!(status(ask(&policy, &head("GET /", &[("x-key", "b")]), &mut exchange())), 403);
    }
    let first = std::mem::take(&mut *lines.lock().unwrap());
    let start = r#"phase request: rule "admin": no header "x-team" (at 0..25); guard it with"#;
    assert!(first.len() == 3 && first[0].starts_with(start) && first[0].ends_with("[failure 1]"), "{first:#?}");
    assert!(first[1].ends_with("[failure 2]") && first[2].ends_with("[failure 4]"), "{first:#?}");

    let key = head("GET /", &[("x-team", "web"), ("x-key", "hunter2")]);
    assert_eq!(status(ask(&policy, &key, &mut exchange())), 403);
    let second = lines.lock().unwrap().join("\n");
    assert!(
        second.starts_with(r#"phase request: rule "key": no key `request.headers["x-key"]` (at 0..34)"#),
        "{second}"
    );
    assert!(!second.contains("hunter2"), "{second}");
}

/// The lines that a policy writes about failures in one request.
fn lines_about(text: &str, head: &http::request::Parts) -> Vec<String> {
    let mut policy = policy(text);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    policy.log_failures(move |line| sink.lock().unwrap().push(line.to_owned()));
    let mut exchange = exchange();
    let _ = ask(&policy, head, &mut exchange);
    let _ = log(&policy, head, None, &mut exchange);
    drop(policy);
    Arc::into_inner(lines).unwrap().into_inner().unwrap()
}

#[test]
fn failing_actions_are_reported_to_the_log_of_the_host() {
    let secret = head("GET /", &[("x-json", "\"hunter2\\n\""), ("x-key", "hunter3")]);
    for (actions, expected) in [
        (
            "setHeaders: {x-team: \"team ${request.headers['x-team']}!\"}",
            "setHeaders x-team: no header \"x-team\" (in `request.headers['x-team']`); guard it with",
        ),
        (
            "addHeaders: {x-user: \"${string(json(request.headers['x-json']))}\"}",
            "addHeaders x-user: the value has a line break or a control character, or begins or ends with a space [failure 1]",
        ),
        (
            "labels: {team: \"${{'a': 'b'}[request.headers['x-key']]}\"}",
            "labels team: no key `request.headers['x-key']`",
        ),
        ("logFields: {n: \"${1 / (size(request.path) - 1)}\"}", "logFields n: division of 1 by zero"),
        ("deny: {body: \"${request.headers['x']}\"}", "body of the answer: no header \"x\""),
        ("redirect: \"${request.headers['x']}/a\"", "header location of the answer: no header \"x\""),
    ] {
        let lines = lines_about(&format!("request:\n- name: own\n  {actions}\n"), &secret);
        assert_eq!(lines.len(), 1, "{actions}: {lines:#?}");
        assert!(lines[0].starts_with(&format!("phase request: rule \"own\": {expected}")), "{actions}: {}", lines[0]);
        assert!(!lines[0].contains("hunter"), "{}", lines[0]);
    }
    // All that fails in one evaluation of a rule is one failure, and every part of it has its line.
    let both =
        "request:\n- name: both\n  setHeaders: {a: \"${request.headers['x']}\", b: \"${request.headers['y']}\"}\n";
    let lines = lines_about(both, &secret);
    assert!(lines.len() == 2 && lines.iter().all(|line| line.ends_with("[failure 1]")), "{lines:#?}");
    // What is optional and absent is not a failure.
    assert_eq!(lines_about("log:\n- logFields: {user: \"${request.headers[?'x']}\"}\n", &secret), [""; 0]);
}

#[test]
fn guards_are_rules_whose_answer_keeps_a_message_back() {
    for (action, status_when_failing) in [
        ("deny: true", 403),
        ("deny: {status: 200}", 200),
        ("respond: {status: 403}", 403),
        ("respond: {status: 300}", 300),
        ("respond: {status: 503, body: \"${request.headers['x-n']}\"}", 503),
        ("redirect: /login", 302),
        ("redirect: \"${request.headers['x-n']}\"", 500),
        ("redirect: {to: /login, status: 307}", 307),
        ("respond: {status: 299}", 0),
        ("respond: {body: x}", 0),
        ("allow: true", 0),
        ("setHeaders: {x-a: b}", 0),
    ] {
        for phase in ["request", "requestBody", "response"] {
            let rules = format!("{phase}:\n- when: request.headers['x-n'] == '1'\n  {action}\n");
            for defaults in ["", "defaults: {onError: closed}\n"] {
                let policy = policy(&format!("{defaults}{rules}"));
                let (without, mut exchange) = (head("GET /", &[]), exchange());
                let outcome = match phase {
                    "request" => ask(&policy, &without, &mut exchange),
                    "requestBody" => policy.request_body(&without, b"", &mut exchange).outcome,
                    _ => ask_response(&policy, &without, &response(200, &[]), &mut exchange),
                };
                assert_eq!(status(outcome), status_when_failing, "{action} in {phase}");
                assert!(exchange.edits().is_empty(), "{action} in {phase}");
            }
        }
    }
}

/// Whether it is safe to remove a header without knowing that the condition holds is not known: it
/// may be one that the server trusts, or one that restricts the client.
#[test]
fn a_rule_that_fails_removes_nothing() {
    for (on_error, outcome, edited) in [("closed", 0, 0), ("noMatch", 0, 0), ("match", 0, 3), ("stop", 500, 0)] {
        for phase in ["request", "requestBody", "response"] {
            let policy = policy(&format!(
                "headerSets: {{a: {{names: [x-a]}}}}\n{phase}:\n  onError: {on_error}\n  rules:\n  - when: request.headers['x-n'] != '1'\n    \
                 removeHeaders: [x-debug]\n    removePrefixes: [x-in-]\n    removeHeaderSets: [a]\n"
            ));
            let (request, mut exchange) =
                (head("GET /", &[("x-debug", "1"), ("x-in-a", "1"), ("x-a", "1")]), exchange());
            let found = match phase {
                "request" => ask(&policy, &request, &mut exchange),
                "requestBody" => policy.request_body(&request, b"", &mut exchange).outcome,
                _ => {
                    let response = response(200, &[("x-debug", "1"), ("x-in-a", "1"), ("x-a", "1")]);
                    ask_response(&policy, &request, &response, &mut exchange)
                }
            };
            assert_eq!((status(found), edits(&exchange).len()), (outcome, edited), "{on_error} in {phase}");
            assert_eq!(policy.rules().map(|rule| rule.failed).sum::<u64>(), 1, "{on_error} in {phase}");
        }
    }
}

#[test]
fn an_allowing_rule_that_fails_admits_nobody() {
    let policy = policy("request:\n- when: request.headers['x-n'] == '1'\n  allow: true\n- redirect: /login\n");
    assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange())), 302);
    assert_eq!(status(ask(&policy, &head("GET /", &[("x-n", "1")]), &mut exchange())), 0);
}

#[test]
fn an_answer_before_a_failure_stands() {
    let policy = policy(
        "request:\n  onError: stop\n  rules:\n  - when: request.path == '/ok'\n    allow: true\n  - when: request.headers['x'] == 'y'\n    deny: true\n",
    );
    assert_eq!(status(ask(&policy, &head("GET /ok", &[]), &mut exchange())), 0);
    assert_eq!(status(ask(&policy, &head("GET /other", &[]), &mut exchange())), 500);
}

#[test]
fn values_that_break_lines_never_become_headers() {
    let text = r#"
request:
  onError: POLICY
  rules:
    - setHeaders: {x-user: "${string(json(request.headers['x-json']))}"}
      addHeaders: {x-more: "${string(json(request.headers['x-json']))}"}
"#;
    for evil in ["\"a\\r\\nx-evil: 1\"", "\"a\\nb\"", "\"a\\rb\"", "\"a\\u0000b\"", "\"a\\u007fb\""] {
        let head = head("GET /", &[("x-json", evil), ("x-user", "spoofed")]);
        for open in ["closed", "noMatch", "match"] {
            let policy = policy(&text.replace("POLICY", open));
            let mut exchange = exchange();
            assert_eq!(status(ask(&policy, &head, &mut exchange)), 0);
            // What the client sent is not left in its place.
            assert_eq!(edits(&exchange), ["- x-user"], "{evil}");
            assert_eq!(policy.rules().next().unwrap().failed, 1);
        }
        let policy = policy(&text.replace("POLICY", "stop"));
        let mut exchange = exchange();
        assert_eq!(status(ask(&policy, &head, &mut exchange)), 500);
        assert!(exchange.edits().is_empty());
    }
    let policy = policy(&text.replace("POLICY", "stop"));
    let mut exchange = exchange();
    assert_eq!(status(ask(&policy, &head("GET /", &[("x-json", "\"a b\\tc\"")]), &mut exchange)), 0);
    assert_eq!(edits(&exchange).len(), 2);
}

#[test]
fn answers_stand_without_what_has_no_value() {
    let policy = policy(
        r#"
request:
  - when: request.path == "/deny"
    deny: {status: 401, headers: {x-a: "${request.headers['x']}", x-b: b}, body: "${request.headers['x']}"}
  - when: request.path == "/go"
    redirect: ${request.headers['x-to']}
"#,
    );
    let deny = answer(ask(&policy, &head("GET /deny", &[]), &mut exchange()));
    assert_eq!((deny.status.as_u16(), deny.headers.len(), deny.body.len()), (401, 1, 0));
    assert_eq!(status(ask(&policy, &head("GET /go", &[("x-to", "/a")]), &mut exchange())), 302);
    // A redirect to nowhere is none.
    let nowhere = answer(ask(&policy, &head("GET /go", &[]), &mut exchange()));
    assert_eq!((nowhere.status.as_u16(), nowhere.headers.len()), (500, 0));
}

#[test]
fn the_log_goes_on_without_what_fails() {
    let policy = policy(
        "log:\n  onError: stop\n  rules:\n  - logFields: {a: '1', b: \"${request.headers['x']}\"}\n  - when: response.headers['x'] == '1'\n    logFields: {c: '3'}\n  - logFields: {d: '4'}\n",
    );
    assert_eq!(log(&policy, &head("GET /", &[]), None, &mut exchange()).to_string(), r#"{"a":"1"}"#);
}

#[test]
fn a_bad_file_changes_nothing_and_says_why() {
    let folder = Folder::new("live");
    let file = folder.write("policy.yaml", "include: [more.yaml]\nrequest:\n- deny: 403\n");
    folder.write("more.yaml", "response:\n- setHeaders: {x-a: b}\n");
    let live = LivePolicy::load(&file).unwrap();
    let ask = || status(live.current().request(&mut head("GET /", &[]), &mut exchange()));
    assert_eq!(ask(), 403);
    let started = live.current();
    for (bad, why) in
        [("request:\n- dny: 404\n", "did you mean `deny`?"), ("\u{0}", "YAML"), ("include: [gone.yaml]\n", "gone.yaml")]
    {
        std::fs::write(&file, bad).unwrap();
        let error = live.reload().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(ask(), 403);
    }
    std::fs::write(&file, [0xff]).unwrap();
    assert!(live.reload().unwrap_err().to_string().contains("not UTF-8"));
    std::fs::remove_file(&file).unwrap();
    assert!(live.reload().unwrap_err().to_string().contains("policy.yaml can't be read"));
    std::fs::write(&file, "include: [more.yaml]\nrequest:\n- deny: 404\n").unwrap();
    live.reload().unwrap();
    assert_eq!(ask(), 404);
    // A request keeps the policy that it started with.
    assert_eq!(status(started.request(&mut head("GET /", &[]), &mut exchange())), 403);
}

#[test]
fn included_files_come_first() {
    let folder = Folder::new("include");
    std::fs::create_dir_all(folder.path("sub")).unwrap();
    folder.write("sub/a.yaml", "include: [b.yaml]\nvariables:\n  old: request.path == '/old'\nrequest:\n- name: a\n  when: variables.old || variables.new\n  count: a\n");
    folder.write("sub/b.yaml", "request: {errorStatus: 501, rules: [{name: b, count: b}]}\nfunctions:\n  'is(p: string) -> bool': request.path == p\n");
    let file = folder.write(
        "policy.yaml",
        "include: [sub/a.yaml]\nvariables:\n  new: is('/new')\nrequest:\n- name: own\n  count: own\n",
    );
    let policy = Policy::load(&file).unwrap();
    assert_eq!(policy.rules().map(|rule| rule.name.to_string()).collect::<Vec<_>>(), ["b", "a", "own"]);
    let names: Vec<_> = policy.files().iter().map(|file| file.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["policy.yaml", "a.yaml", "b.yaml"]);
    for path in ["GET /new", "GET /old", "GET /other"] {
        assert_eq!(status(ask(&policy, &head(path, &[]), &mut exchange())), 0);
    }
    assert_eq!(policy.counters().collect::<Vec<_>>(), [("b", 3), ("a", 2), ("own", 3)]);
    let told = |file: &str, text: &str, why: &str| {
        folder.write(file, text);
        let error = Policy::load(folder.path("policy.yaml")).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    told("sub/b.yaml", "request:\n- when: nme\n  deny: true\n", "b.yaml:2:9");
    told("sub/b.yaml", "include: [a.yaml]\n", "`a.yaml` includes itself");
    told("sub/b.yaml", "include: [../policy.yaml]\n", "includes itself");
    told("sub/b.yaml", "variables:\n  old: 'true'\n", "`old` is in two files");
    told("sub/b.yaml", "request: {errorStatus: 501}\n", "undeclared");
    folder.write("sub/a.yaml", "request: {errorStatus: 500}\n");
    told("policy.yaml", "include: [sub/a.yaml, sub/b.yaml]\n", "`errorStatus` is in two files");
    told("policy.yaml", "include: [none.yaml]\n", "none.yaml can't be read");
}

#[test]
fn the_environment_is_read_as_far_as_it_is_named() {
    // Cargo sets this for tests.
    let policy = policy("env: [CARGO_PKG_NAME]\nresponse:\n- setHeaders: {x-served-by: \"${env.CARGO_PKG_NAME}\"}\n");
    let mut exchange = exchange();
    assert_eq!(status(ask_response(&policy, &head("GET /", &[]), &response(200, &[]), &mut exchange)), 0);
    assert_eq!(edits(&exchange), ["x-served-by = celero-policy"]);
    let error =
        crate::support::wrong("env: [CARGO_PKG_NAME]\nrequest:\n- when: env.CARGO_PKG_NAM == ''\n  deny: true\n");
    assert!(error.contains("did you mean `env.CARGO_PKG_NAME`?"), "{error}");
}

#[test]
fn suspicious_rules_are_warned_of() {
    let policy = policy(
        "request:\n- when: request.path == 'a' || true\n  deny: true\n- when: request.path == '/'\n- deny: true\n- count: never\n",
    );
    let warnings = policy.render_warnings(false);
    for part in ["this rule does nothing", "`request #3` before it always ends the phase"] {
        assert!(warnings.contains(part), "{warnings}");
    }
    assert_eq!(policy.warnings().count(), warnings.matches("warning[").count());
}

/// The codes of the warnings about a policy, with the text that each points at.
fn warned(text: &str) -> Vec<(String, String)> {
    let policy = policy(text);
    let found = policy.warnings().map(|(_, found)| {
        let place = text.get(found.span.start as usize..found.span.end as usize).unwrap();
        (found.code.to_owned(), place.to_owned())
    });
    found.collect()
}

#[test]
fn guards_that_a_client_passes_are_warned_of() {
    let header = "request.headers['x-team']";
    let absence = vec![("guard-passed-by-absence".to_owned(), header.to_owned())];
    for action in ["deny: true", "redirect: /login", "respond: {status: 403}"] {
        for policy in ["noMatch", "closed", "match", "stop"] {
            let rules = format!("rules: [{{when: \"{header} != 'ops'\", {action}}}]");
            let expected = if policy == "noMatch" { absence.clone() } else { Vec::new() };
            assert_eq!(warned(&format!("request: {{onError: {policy}, {rules}}}\n")), expected, "{action} {policy}");
            assert_eq!(
                warned(&format!("defaults: {{onError: {policy}}}\nrequest: {{{rules}}}\n")),
                expected,
                "{action}"
            );
        }
    }
    for action in ["allow: true", "respond: {body: x}", "setHeaders: {a: b}"] {
        let text = format!("request: {{onError: noMatch, rules: [{{when: \"{header} == 'ops'\", {action}}}]}}\n");
        assert_eq!(warned(&text), [], "{action}");
    }
    // What is read in a definition is read by its rule.
    let defined = "variables: {team: request.headers.team}\nrequest: {onError: noMatch, rules: [{when: variables.team != 'ops', deny: true}]}\n";
    assert_eq!(warned(defined), [("guard-passed-by-absence".to_owned(), "variables.team".to_owned())]);
    let repeated = format!("request: [{{when: \"{header} == 'guest'\", deny: true}}]\n");
    assert_eq!(warned(&repeated), [("guard-passed-by-repeating".to_owned(), header.to_owned())]);
    // A credential can be left out too.
    let key = "apiKey: {keys: [{name: a, sha256: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae}]}\n";
    let credential = format!("{key}request: {{onError: noMatch, rules: [{{when: apiKey.name == 'a', deny: true}}]}}\n");
    assert_eq!(warned(&credential), [("guard-passed-by-absence".to_owned(), "apiKey.name".to_owned())]);
}

#[test]
fn a_sampled_guard_is_warned_of() {
    for (rule, expected) in [
        ("{sample: 0.5, deny: true}", 1),
        ("{sample: 0.5, redirect: /login}", 1),
        ("{sample: 0.5, deny: 429}", 0),
        ("{sample: 0.5, respond: {status: 503}}", 0),
        ("{sample: 1, deny: true}", 0),
        ("{sample: 0.5, respond: {body: x}}", 0),
        ("{sample: 0.5, setHeaders: {a: b}}", 0),
    ] {
        let found = warned(&format!("request: [{rule}]\n"));
        assert_eq!(
            found.iter().filter(|(code, _)| code == "policy-sampled-guard").count(),
            expected,
            "{rule} {found:?}"
        );
    }
}

/// A guard that fails acts on its share of the requests, as one that matches does.
#[test]
fn a_sampled_guard_that_fails_acts_on_its_share() {
    let policy = policy("request: [{sample: 0.5, when: \"request.headers['x'] == 'y'\", deny: 429}]\n");
    let denied = (0..1000).filter(|_| status(policy.request(&mut head("GET /", &[]), &mut exchange())) == 429).count();
    assert!((300..700).contains(&denied), "{denied}");
}
