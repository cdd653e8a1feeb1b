//! Rules about methods of gRPC as they stand in a file: mistakes, places, files of descriptors, cases.

use crate::grpc_calls::{CREATE, LARGE, ORDERS, call, code, examples, order, policy, run, wrong};
use crate::support::Folder;
use celero_policy::{LivePolicy, Outcome, Policy};
use serde_json::json;
use std::sync::{Arc, Mutex};

#[test]
fn mistakes_are_found_when_the_policy_is_loaded() {
    let rule = |rest: &str| format!("requestBody: [{{{rest}}}]");
    let of = |method: &str| rule(&format!("method: {method}, deny: 403"));
    for (text, message) in [
        (of("shop.v1.Orders/Creat"), "has no method `shop.v1.Orders/Creat`"),
        (of("shop.v1.Orders/Creat"), "did you mean `shop.v1.Orders/Create`?"),
        (of("/shop.v1.Orders/Create"), "did you mean `shop.v1.Orders/Create`?"),
        (of("shop.v1.Orders.Create"), "did you mean `shop.v1.Orders/Create`?"),
        (of("Orders/Create"), "did you mean `shop.v1.Orders/Create`?"),
        (of("x"), "a method is written as `package.Service/Method`"),
        (rule("method: shop.v1.Orders/Create, when: request.message.totl > 1, deny: 403"), "totl"),
        (rule("method: shop.v1.Orders/Create, when: request.message.total == 'a', deny: 403"), "int"),
        (
            rule("method: shop.v1.Orders/Create, when: request.message.total, deny: 403"),
            "a condition is `bool`, this is `int`",
        ),
        (rule("method: shop.v1.Orders/Create, when: 'true) || (true', deny: 403"), "policy.yaml:2:"),
        (rule("when: request.message.total > 1, deny: 403"), "this rule has no `method`"),
        (rule("labels: {a: '${request.message.total}'}"), "add the method whose messages the rule reads"),
        ("request: [{when: request.message.total > 1, deny: 403}]".into(), "move the rule to `requestBody`"),
        ("request: [{method: shop.v1.Orders/Create, deny: 403}]".into(), "`method` can't be in the phase `request`"),
        (rule("method: shop.v1.Orders/Create, setBody: x"), "`setBody` can't change the messages of a call of gRPC"),
        (
            rule("method: shop.v1.Orders/Import, setHeaders: {x-a: b}"),
            "clients of `shop.v1.Orders/Import` send a stream",
        ),
        (
            rule("method: shop.v1.Orders/Create, language: filter, when: ssl, deny: 403"),
            "a rule with `method` is written in CEL",
        ),
        (
            "responseBody: [{method: shop.v1.Orders/Create, when: response.message.total == 1, deny: 403}]".into(),
            "total",
        ),
        (
            "responseBody: [{method: shop.v1.Orders/Create, when: request.message.total == 1, deny: 403}]".into(),
            "`request.message` exists in the phase `requestBody`",
        ),
        ("responseBody: [{when: response.message.id == '', deny: 403}]".into(), "this rule has no `method`"),
        (
            "responseBody: [{method: shop.v1.Orders/Watch, setStatus: 201}]".into(),
            "servers of `shop.v1.Orders/Watch` send a stream",
        ),
        (
            "requestBody: {prefix: 1KiB, rules: [{method: shop.v1.Orders/Create, deny: 403}]}".into(),
            "needs whole messages",
        ),
    ] {
        let told = wrong(&text);
        assert!(told.contains(message), "{message}\n{told}");
    }
    let told = Policy::parse("policy.yaml", &of("shop.v1.Orders/Create"), &examples()).unwrap_err().to_string();
    assert!(told.contains("add `grpc: {descriptors: FILE}`"), "{told}");
    // A wrong method is one mistake.
    let told = wrong("requestBody: [{method: a.B/C, when: request.message.total > 1, deny: 403}]");
    assert_eq!(told.matches("error[").count(), 1, "{told}");
    // A place in a condition is one in the file, though the condition of the method is before it.
    let told =
        wrong("requestBody:\n- method: shop.v1.Orders/Create\n  when: request.message.nothing > 1\n  deny: 403\n");
    assert!(told.contains("policy.yaml:4:"), "{told}");
}

#[test]
fn descriptors_are_files_of_the_policy() {
    let folder = Folder::new("descriptors");
    let load = |file: &str, content: Option<&[u8]>| {
        if let Some(content) = content {
            folder.write(file, content);
        }
        let text = format!("grpc: {{descriptors: {file}}}\n{LARGE}");
        Policy::load(folder.write("policy.yaml", text)).map_err(|error| error.to_string())
    };
    let loaded = load("orders.binpb", Some(ORDERS)).unwrap();
    assert!(loaded.files().contains(&folder.path("orders.binpb")), "{:?}", loaded.files());
    let missing = load("none.binpb", None).unwrap_err();
    assert!(missing.contains("none.binpb can't be read") && missing.contains("policy.yaml:1:"), "{missing}");
    let damaged = load("damaged.binpb", Some(&ORDERS[..ORDERS.len() - 1])).unwrap_err();
    assert!(
        damaged.contains("`damaged.binpb`: these bytes are no file descriptor set") && damaged.contains("protoc"),
        "{damaged}"
    );
    let large = load("large.binpb", Some(&vec![0; (16 << 20) + 1])).unwrap_err();
    assert!(large.contains("it is larger than 16 MiB"), "{large}");
    // A change of the file changes all or nothing.
    let file = folder.write("live.yaml", format!("grpc: {{descriptors: live.binpb}}\n{LARGE}"));
    folder.write("live.binpb", ORDERS);
    let live = LivePolicy::load(&file).unwrap();
    folder.write("live.binpb", b"");
    assert!(live.reload().unwrap_err().to_string().contains("has no method `shop.v1.Orders/Create`"));
    assert_eq!(code(&live.current(), &call(CREATE), &order(&json!({"total": 5000}))), "7");
    folder.write("live.binpb", ORDERS);
    live.reload().unwrap();
    // A text that a stranger has changed names no other file.
    let confined = Policy::loader().within(loaded.reach().clone());
    let text = |file: &str| format!("grpc: {{descriptors: {file}}}\n{LARGE}");
    let check = |file: &str| confined.check("policy.yaml", &text(file), folder.path("").as_path());
    assert!(check("orders.binpb").is_ok());
    assert!(check("damaged.binpb").unwrap_err().to_string().contains("out of reach"));
}

#[test]
fn a_failing_rule_is_reported_at_its_place() {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut policy = policy(
        "requestBody:\n- name: bad\n  method: shop.v1.Orders/Create\n  when: request.message.items[5].count > 1u\n  deny: 403\n",
    );
    let told = Arc::clone(&lines);
    policy.log_failures(move |line| told.lock().unwrap().push(line.to_owned()));
    assert_eq!(code(&policy, &call(CREATE), &order(&json!({}))), "7");
    let lines = lines.lock().unwrap();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line.starts_with("phase requestBody: rule \"bad\": ") && line.contains("(at 0.."), "{line}");
}

#[test]
fn rules_of_different_methods_are_no_rivals() {
    let two = "requestBody:
- {name: a, method: shop.v1.Orders/Create, when: request.message.total > 5, deny: 403}
- {name: b, method: shop.v1.Orders/Watch, when: request.message.total > 5, deny: 403}
- {name: c, method: shop.v1.Orders/Create, when: request.message.total > 5, deny: 401}
- {name: d, method: shop.v1.Orders/Import, deny: 401}
- {name: e, method: shop.v1.Orders/Cancel, deny: 401}
";
    let told = policy(two).render_warnings(false);
    assert!(told.contains("`a` before it has the same condition") && told.matches("warning[").count() == 1, "{told}");
    let explained =
        Policy::explain_text("policy.yaml", &format!("grpc: {{descriptors: orders.binpb}}\n{two}"), &examples());
    let explained = explained.unwrap();
    assert!(explained.contains("1. a: method shop.v1.Orders/Create, when request.message.total > 5"), "{explained}");
    assert!(explained.contains("4. d: method shop.v1.Orders/Import\n"), "{explained}");
}

#[test]
fn cases_write_messages_as_json() {
    let policy = policy(&format!(
        "{LARGE}- {{name: none, method: shop.v1.Orders/Import, when: request.message.total == 0, deny: 401}}\n"
    ));
    let cases = "
- name: large
  request: {uri: /shop.v1.Orders/Create, message: {total: 5000, items: [{name: tea, count: 2}], placed_at: 2026-01-02T03:04:05Z}}
  expect: {rule: large, responseHeaders: {grpc-status: 7}}
- name: small
  request: {uri: /shop.v1.Orders/Create, message: {total: '5'}}
  expect: {rule: server}
- name: stream
  request: {uri: /shop.v1.Orders/Import, messages: [{total: 1}, {}]}
  expect: {rule: none}
- name: none
  request: {uri: /shop.v1.Orders/Import, messages: [{total: 1}, {total: 2}]}
  expect: {rule: server}
- name: other
  request: {uri: /shop.v1.Orders/Create, headers: {content-type: application/grpc+json}, message: {}}
  expect: {rule: requestBody.grpc, responseHeaders: {grpc-status: 12}}
";
    let report = policy.test("cases.yaml", cases).unwrap();
    assert!(report.passed(), "{}", report.render(false));
    for (request, message) in [
        ("{uri: /shop.v1.Orders/Creat, message: {}}", "did you mean `/shop.v1.Orders/Create`?"),
        ("{uri: /, message: {}}", "`uri` is the path of the call"),
        (
            "{uri: /shop.v1.Orders/Create, message: {totl: 1}}",
            "`shop.v1.Order` has no field `totl`; did you mean `total`?",
        ),
        ("{uri: /shop.v1.Orders/Create, message: {items: [{count: -1}]}}", "items[0].count: -1 is no `uint32`"),
        ("{uri: /shop.v1.Orders/Create, message: {state: LOST}}", "state: \"LOST\" is no `shop.v1.State`"),
        ("{uri: /shop.v1.Orders/Create, message: {}, body: x}", "there may be one of `message`, `messages` and `body`"),
    ] {
        let case = format!("- {{name: one, request: {request}, expect: {{status: 200}}}}");
        let told = policy.test("cases.yaml", &case).unwrap_err().to_string();
        assert!(told.contains(message), "{message}\n{told}");
    }
    let plain = crate::support::policy("request: [{deny: 403}]");
    let told = plain.test("cases.yaml", "- {name: one, request: {message: {}}, expect: {status: 200}}").unwrap_err();
    assert!(told.to_string().contains("only where the policy has `grpc: {descriptors: FILE}`"), "{told}");
}

#[test]
fn a_limit_counts_a_call_once_and_the_longest_delay_counts() {
    let policy = policy(
        "requestBody:
- {method: shop.v1.Orders/Import, limit: {key: all, rate: 2/h, burst: 2}}
- {method: shop.v1.Orders/Import, when: request.message.total == 1, delay: 2s}
- {method: shop.v1.Orders/Import, when: request.message.total == 2, delay: 1s}
",
    );
    let import = call("/shop.v1.Orders/Import");
    let body: Vec<u8> = [1, 2, 3].iter().flat_map(|total| order(&json!({"total": total}))).collect();
    for _ in 0..2 {
        let (decision, _) = run(&policy, &import, &body);
        assert!(matches!(decision.outcome, Outcome::Continue));
        assert_eq!(decision.delay.map(|delay| delay.time().as_secs()), Some(2));
    }
    assert_eq!(code(&policy, &import, &body), "14");
}
