//! Rules that read the messages of gRPC calls: what they read is what the server gets, or the call goes nowhere.

use crate::grpc_calls::{
    CREATE, LARGE, ORDERS, answered, call, call_with, code, frame, gzip, message, order, policy, run,
};
use crate::support::{ask, exchange, head, status};
use celero::messages::{Descriptors, Message};
use celero_policy::{Outcome, Policy, PolicyAnswer};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use http::Version;
use http::request::Parts;
use serde_json::json;
use std::io::Write as _;

#[test]
fn fields_are_read_by_the_type_of_the_method() {
    let order = |json| order(&json);
    let paid = json!({"customer": "ada", "total": 7, "state": "PAID", "address": {"country": "DE"},
        "items": [{"name": "tea", "count": 2}, {"name": "pot"}], "placedAt": "2026-01-02T03:04:05Z", "notes": {"a": "b"}});
    for (rule, is_true) in [
        ("request.message.total > 1000", false),
        ("request.message.total == 7 && request.message.customer == 'ada'", true),
        ("request.message.state == shop.v1.State.PAID", true),
        ("request.message.address.country == 'DE' && request.message.address.city == ''", true),
        ("request.message.items.exists(item, item.count > 1u && item.name == 'tea')", true),
        ("request.message.placed_at.getFullYear() == 2026", true),
        ("request.message.notes['a'] == 'b'", true),
        ("has(request.message.address) && request.path == '/shop.v1.Orders/Create'", true),
        ("request.message == shop.v1.Order{total: 7}", false),
        ("// all of them\n    true // and no more", true),
    ] {
        let rule = format!("requestBody:\n- method: shop.v1.Orders/Create\n  when: |\n    {rule}\n  deny: 403\n");
        let code = code(&policy(&rule), &call(CREATE), &order(paid.clone()));
        assert_eq!(code, if is_true { "7" } else { "" }, "{rule}");
    }
    let policy = policy(
        "requestBody:\n- {method: shop.v1.Orders/Create, labels: {who: '${request.message.customer}'}, logFields: {total: '${request.message.total}'}}\n",
    );
    let (decision, exchange) = run(&policy, &call(CREATE), &order(paid));
    assert!(matches!(decision.outcome, Outcome::Continue));
    assert_eq!(exchange.label("who"), Some("ada"));
}

#[test]
fn a_rule_is_about_the_calls_of_its_method_only() {
    let policy = policy(
        "requestBody:
- {name: create, method: shop.v1.Orders/Create, when: request.message.total > 5, deny: 403}
- {name: cancel, method: shop.v1.Orders/Cancel, when: request.message == 'x', deny: 401}
- {name: all, method: shop.v1.Orders/Watch, deny: 429}
- {name: form, when: request.body == b'form', deny: 418}
",
    );
    let create = |total: i64| code(&policy, &call(CREATE), &order(&json!({"total": total})));
    assert_eq!((&*create(6), &*create(5)), ("7", ""));
    // A `StringValue` is read as text.
    let cancel = |text: &str| {
        let bytes = Message::bytes_of_json(&Descriptors::well_known(), "google.protobuf.StringValue", &json!(text));
        code(&policy, &call("/shop.v1.Orders/Cancel"), &frame(0, &bytes.unwrap()))
    };
    assert_eq!((&*cancel("x"), &*cancel("y"), &*cancel("")), ("16", "", ""));
    assert_eq!(code(&policy, &call("/shop.v1.Orders/Watch"), &order(&json!({}))), "14");
    // Other calls and requests: whatever their bodies are.
    for path in ["/shop.v1.Orders/Import", "/other.Service/Create", "/"] {
        assert_eq!(code(&policy, &call(path), b"\0\0\0"), "", "{path}");
    }
    let form = head("POST /form", &[("content-type", "text/plain")]);
    assert_eq!((status(run(&policy, &form, b"form").0), status(run(&policy, &form, b"x").0)), (418, 0));
    assert!(policy.rules().all(|rule| rule.failed == 0), "{:?}", policy.rules().collect::<Vec<_>>());
    assert_eq!(policy.rules().map(|rule| rule.matched).collect::<Vec<_>>(), [1, 1, 1, 1]);
}

#[test]
fn the_body_of_a_unary_call_is_one_message() {
    let policy = policy(LARGE);
    let small = order(&json!({"total": 5}));
    let answer = |body: &[u8]| answered(&policy, &call(CREATE), body);
    assert_eq!(answer(&small).0, "");
    assert_eq!(answer(&order(&json!({"total": 5000}))).0, "7");
    assert_eq!(answer(b""), ("3".into(), "the method has one message, and the body has none".into()));
    for cut in 1..small.len() {
        assert_eq!(answer(&small[..cut]), ("3".into(), "the body ends inside a frame".into()), "{cut}");
    }
    // The second message is for servers that read the last one.
    let second = order(&json!({"total": 5000}));
    assert_eq!(answer(&[&small[..], &second].concat()).1, "the method has one message, and the body has more");
    assert_eq!(answer(&[&small[..], b"\0"].concat()), ("3".into(), "the body ends inside a frame".into()));
    for flag in 2..=255 {
        assert_eq!(answer(&frame(flag, b"")).0, "3", "{flag}");
    }
    assert_eq!(answer(&[0, 0xff, 0xff, 0xff, 0xff]).0, "8");
    assert_eq!(
        answer(&[0, 0, 1, 0, 1, 7]),
        ("8".into(), "a message has 65537 bytes, more than the limit of 65536".into())
    );
    // What is no message of the type is an error of the rule that reads it, which is a guard.
    assert_eq!(answer(&frame(0, &[0x10])).0, "7");
}

/// As the parsers of servers do: the last value counts, and messages of one field are merged.
#[test]
fn fields_that_are_there_twice_are_read_as_servers_read_them() {
    let policy = policy(
        "requestBody:
- {method: shop.v1.Orders/Create, when: request.message.total > 1000, deny: 403}
- {method: shop.v1.Orders/Create, when: request.message.address.country == 'XX', deny: 401}
",
    );
    let (low, high) = (message("Order", &json!({"total": 1})), message("Order", &json!({"total": 5000})));
    let place = |country: &str, city: &str| message("Order", &json!({"address": {"country": country, "city": city}}));
    let code = |parts: [&[u8]; 2]| code(&policy, &call(CREATE), &frame(0, &parts.concat()));
    assert_eq!((&*code([&low, &high]), &*code([&high, &low])), ("7", ""));
    assert_eq!((&*code([&place("XX", ""), &place("", "Y")]), &*code([&place("XX", ""), &place("DE", "")])), ("16", ""));
}

#[test]
fn compressed_messages_are_decoded_within_the_limit() {
    let policy = policy(LARGE);
    let large = message("Order", &json!({"total": 5000}));
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(&large).unwrap();
    let zlib = zlib.finish().unwrap();
    let bomb = gzip(&vec![0; 1 << 20]);
    let with = |headers: &[(&str, &str)], body: &[u8]| code(&policy, &call_with(CREATE, headers), body);
    assert_eq!(with(&[("grpc-encoding", "gzip")], &frame(1, &gzip(&large))), "7");
    assert_eq!(with(&[("grpc-encoding", "deflate")], &frame(1, &zlib)), "7");
    // The flag decides, not the header.
    assert_eq!(with(&[("grpc-encoding", "gzip")], &frame(0, &large)), "7");
    assert_eq!(with(&[("grpc-encoding", "gzip")], &frame(1, &gzip(&[]))), "");
    for (headers, body, expected) in [
        (&[][..], frame(1, &gzip(&large)), "3"),
        (&[("grpc-encoding", "identity")], frame(1, &large), "3"),
        (&[("grpc-encoding", "gzip")], frame(1, &large), "3"),
        (&[("grpc-encoding", "gzip")], frame(1, b""), "3"),
        (&[("grpc-encoding", "gzip")], frame(1, &[&gzip(&large)[..], b"x"].concat()), "3"),
        (&[("grpc-encoding", "gzip")], frame(1, &[gzip(&[]), gzip(&large)].concat()), "3"),
        (&[("grpc-encoding", "gzip")], frame(1, &bomb), "8"),
        (&[("grpc-encoding", "br")], frame(1, &large), "12"),
        (&[("grpc-encoding", "GZIP")], frame(1, &gzip(&large)), "12"),
        (&[("grpc-encoding", "gzip,deflate")], frame(1, &gzip(&large)), "12"),
        (&[("grpc-encoding", "deflate"), ("grpc-encoding", "gzip")], frame(1, &gzip(&large)), "3"),
        (&[("content-encoding", "gzip")], gzip(&frame(0, &large)), "12"),
        (&[("content-encoding", "gzip")], frame(0, &large), "12"),
    ] {
        assert_eq!(with(headers, &body), expected, "{headers:?} {body:?}");
    }
    // However many messages: they have the limit together.
    let stream = policy_of_stream();
    let half = frame(1, &gzip(&message("Order", &json!({"customer": "x".repeat(40_000)}))));
    let import = call_with("/shop.v1.Orders/Import", &[("grpc-encoding", "gzip")]);
    assert_eq!(code(&stream, &import, &half), "");
    assert_eq!(code(&stream, &import, &half.repeat(2)), "8");
}

fn policy_of_stream() -> Policy {
    policy(
        "requestBody:
- {name: large, method: shop.v1.Orders/Import, when: request.message.total > 1000, deny: 403}
- {name: names, method: shop.v1.Orders/Import, count: orders, logFields: {customer: '${request.message.customer}'}}
- {name: all, setHeaders: {x-seen: yes}}
",
    )
}

#[test]
fn each_message_of_a_stream_is_judged() {
    let policy = policy_of_stream();
    let import = call("/shop.v1.Orders/Import");
    let body = |totals: &[i64]| totals.iter().flat_map(|total| order(&json!({"total": total}))).collect::<Vec<u8>>();
    assert_eq!(code(&policy, &import, &body(&[1, 2, 3])), "");
    for at in 0..3 {
        let mut totals = [1, 2, 3];
        totals[at] = 5000;
        assert_eq!(code(&policy, &import, &body(&totals)), "7", "{at}");
    }
    let (decision, exchange) = run(&policy, &import, &body(&[1, 2]));
    assert!(matches!(decision.outcome, Outcome::Continue));
    assert_eq!(crate::support::edits(&exchange), ["x-seen = yes"]);
    assert_eq!(code(&policy, &import, &[body(&[1]), vec![0, 0]].concat()), "3");
    // A rule without a message to read fails, and a guard that fails denies.
    assert_eq!(code(&policy, &import, b""), "7");
}

#[test]
fn what_is_no_call_of_the_method_is_refused() {
    let policy = policy(LARGE);
    let large = order(&json!({"total": 5000}));
    let answer = |head: &Parts| -> PolicyAnswer {
        match run(&policy, head, &large).0.outcome {
            Outcome::Respond(answer) => *answer,
            Outcome::Continue => panic!("{head:?} goes on"),
        }
    };
    let plain = |head: &Parts| {
        let answer = answer(head);
        assert!(!answer.headers.contains_key("grpc-status") && !answer.body.is_empty(), "{answer:?}");
        answer.status.as_u16()
    };
    let kind = |kind: &str| call_with(CREATE, &[("content-type", kind)]);
    for other in [
        "application/grpc-web",
        "application/grpc-web+proto",
        "application/json",
        "application/proto",
        "application/grpcx",
        "",
    ] {
        assert_eq!(plain(&kind(other)), 415, "{other}");
    }
    for other in ["application/grpc+json", "application/grpc+x;a=b"] {
        assert_eq!(code(&policy, &kind(other), &large), "12", "{other}");
    }
    for same in ["application/grpc+proto", "Application/GRPC", "application/grpc;charset=utf-8"] {
        assert_eq!(code(&policy, &kind(same), &large), "7", "{same}");
    }
    let twice = call_with(CREATE, &[("content-type", "application/grpc"), ("content-type", "application/json")]);
    assert_eq!(code(&policy, &twice, &large), "13", "no canonical request");
    let with = |change: fn(&mut Parts)| {
        let mut head = call(CREATE);
        change(&mut head);
        plain(&head)
    };
    assert_eq!(with(|head| head.version = Version::HTTP_11), 505);
    assert_eq!(with(|head| head.method = http::Method::PUT), 405);
    assert_eq!(with(|head| head.method = http::Method::GET), 405);
    assert_eq!(with(|head| drop(head.headers.remove("content-type"))), 415);
    // Some servers do not tell these apart.
    for path in
        ["/shop.v1.Orders/create", "/SHOP.V1.ORDERS/CREATE", "/shop.v1.Orders/Create/", "/shop.v1.Orders/Create//"]
    {
        assert_eq!(answered(&policy, &call(path), &large).0, "12", "{path}");
    }
    // These are the path, in its canonical form.
    for path in [
        "/shop.v1.Orders/%43reate",
        "//shop.v1.Orders/Create",
        "/x/../shop.v1.Orders/Create",
        "/shop.v1.Orders/Create?a=b",
    ] {
        assert_eq!(code(&policy, &call(path), &large), "7", "{path}");
    }
    let keep = crate::grpc_calls::policy(&format!("normalize: {{slashes: keep}}\n{LARGE}"));
    assert_eq!(code(&keep, &call("//shop.v1.Orders/Create"), &large), "12");
}

#[test]
fn a_path_that_a_rule_sets_is_that_of_the_call() {
    let policy = policy(&format!("request:\n- {{when: request.path == '/alias', setPath: {CREATE}}}\n{LARGE}"));
    assert_eq!(code(&policy, &call("/alias"), &order(&json!({"total": 5000}))), "7");
    assert_eq!(code(&policy, &call("/alias"), &order(&json!({"total": 5}))), "");
}

/// A rule on bodies leads to no method whose messages other rules of the phase should have read.
#[test]
fn a_rule_on_bodies_leads_to_no_method_that_is_read() {
    let policy = policy(&format!(
        "{LARGE}- {{name: alias, when: request.path != '/other', setPath: '${{request.headers[\"x-to\"]}}'}}\n"
    ));
    let to = |from: &str, to: &str| {
        let head = call_with(from, &[("x-to", to), ("content-type", "application/grpc")]);
        let (decision, exchange) = run(&policy, &head, &order(&json!({"total": 5})));
        match decision.outcome {
            Outcome::Continue => exchange.edits().uri().map_or("", |uri| uri.path()).to_owned(),
            Outcome::Respond(answer) => answer.rule.to_string(),
        }
    };
    for path in [CREATE, "/shop.v1.Orders/create", "/shop.v1.Orders/Create/", "//shop.v1.Orders/Create"] {
        assert_eq!(to("/alias", path), "alias", "{path}");
    }
    assert_eq!(to("/alias", "/shop.v1.Orders/Cancel"), "/shop.v1.Orders/Cancel");
    // It was read.
    assert_eq!(
        (to(CREATE, CREATE), to(CREATE, "/shop.v1.Orders/Cancel")),
        (String::new(), "/shop.v1.Orders/Cancel".into())
    );
}

/// Runs the phases of a response to a call. Returns the status of gRPC of the answer, `""` if it goes on, and the rule.
fn responded(policy: &Policy, path: &str, headers: &[(&str, &str)], body: &[u8]) -> (String, String) {
    let (head, mut exchange) = (call(path), exchange());
    assert!(matches!(ask(policy, &head, &mut exchange), Outcome::Continue));
    let mut response = crate::support::response(200, headers);
    assert!(matches!(policy.response(&head, &mut response, &mut exchange), Outcome::Continue));
    match policy.response_body(&head, &response, body, &mut exchange) {
        Outcome::Continue => (String::new(), String::new()),
        Outcome::Respond(answer) => {
            assert_eq!((answer.status.as_u16(), &answer.body[..]), (200, &b""[..]), "{answer:?}");
            let status = answer.headers.get("grpc-status").unwrap();
            (status.to_str().unwrap().to_owned(), answer.rule.to_string())
        }
    }
}

#[test]
fn messages_of_responses_are_read_too() {
    let policy = policy(
        "responseBody:
- {name: secret, method: shop.v1.Orders/Create, when: response.message.id == 'secret', deny: 403}
- {name: each, method: shop.v1.Orders/Watch, when: response.message.id == 'secret', deny: 401}
",
    );
    assert!(policy.request_buffering(&call(CREATE), &mut exchange()).is_none());
    // A server compresses messages only as they can be read.
    let asked = |path: &str, codings: &[(&str, &str)]| {
        let mut exchange = exchange();
        assert!(matches!(ask(&policy, &call_with(path, codings), &mut exchange), Outcome::Continue));
        crate::support::edits(&exchange)
    };
    let codings = [("grpc-accept-encoding", "zstd, gzip"), ("grpc-accept-encoding", "snappy")];
    assert_eq!(asked(CREATE, &codings), ["grpc-accept-encoding = identity,gzip"]);
    assert_eq!(asked(CREATE, &[]), [""; 0]);
    assert_eq!(asked("/shop.v1.Orders/Cancel", &codings), [""; 0]);
    let receipt = |id: &str| frame(0, &message("Receipt", &json!({ "id": id })));
    let kind = [("content-type", "application/grpc")];
    let create = |body: &[u8]| responded(&policy, CREATE, &kind, body).0;
    assert_eq!((&*create(&receipt("secret")), &*create(&receipt("x"))), ("7", ""));
    // A call that has failed has no message.
    assert_eq!(create(b""), "");
    let watch = |ids: &[&str]| {
        let body: Vec<u8> = ids.iter().flat_map(|id| receipt(id)).collect();
        responded(&policy, "/shop.v1.Orders/Watch", &kind, &body).0
    };
    assert_eq!(
        (&*watch(&["a", "b"]), &*watch(&["a", "secret"]), &*watch(&["secret", "b"]), &*watch(&[])),
        ("", "16", "16", "")
    );
    let secret = message("Receipt", &json!({"id": "secret"}));
    let gzipped = [("content-type", "application/grpc"), ("grpc-encoding", "gzip")];
    assert_eq!(responded(&policy, CREATE, &gzipped, &frame(1, &gzip(&secret))).0, "7");
    for (headers, body, code) in [
        (&[][..], receipt("x"), "13"),
        (&[("content-type", "application/json")], b"{}".to_vec(), "13"),
        (&[("content-type", "application/grpc+json")], receipt("x"), "13"),
        (&[("content-type", "application/grpc"), ("content-encoding", "gzip")], gzip(&receipt("secret")), "13"),
        (&kind, frame(1, &gzip(&secret)), "13"),
        (&kind, receipt("x").repeat(2), "13"),
        (&kind, receipt("x")[..6].to_vec(), "13"),
        (&kind, vec![0, 0xff, 0, 0, 0], "8"),
    ] {
        let expected = (code.to_owned(), "responseBody.grpc".to_owned());
        assert_eq!(responded(&policy, CREATE, headers, &body), expected, "{headers:?} {body:?}");
    }
    // Other methods, and requests that are no calls of this one.
    assert_eq!(responded(&policy, "/shop.v1.Orders/Cancel", &[], b"secret").0, "");
    let (web, mut exchange) = (call_with(CREATE, &[("content-type", "application/grpc-web")]), exchange());
    let mut response = crate::support::response(200, &kind);
    assert!(matches!(ask(&policy, &web, &mut exchange), Outcome::Continue));
    assert!(matches!(policy.response(&web, &mut response, &mut exchange), Outcome::Continue));
    assert_eq!(status(policy.response_body(&web, &response, &receipt("secret"), &mut exchange)), 502);
    let cases = "
- name: secret
  request: {uri: /shop.v1.Orders/Create}
  response: {message: {id: secret}}
  expect: {rule: secret}
- name: stream
  request: {uri: /shop.v1.Orders/Watch, message: {}}
  response: {messages: [{id: a}, {id: b}]}
  expect: {rule: server}
";
    let report = policy.test("cases.yaml", cases).unwrap();
    assert!(report.passed(), "{}", report.render(false));
}

/// Each message is one run of the rules: a body of many would be read as often.
#[test]
fn a_stream_has_a_bounded_number_of_messages() {
    let rule = "requestBody:\n- {method: shop.v1.Orders/Import, when: request.message.total > 1000, deny: 403}\n";
    let policy = policy(rule);
    let import = |count: usize| code(&policy, &call("/shop.v1.Orders/Import"), &frame(0, b"").repeat(count));
    assert_eq!((&*import(1_024), &*import(1_025)), ("", "8"));
    // Rules may read the whole body for each of them.
    let rules = rule.trim_start_matches("requestBody:\n");
    let policy = crate::grpc_calls::policy(&format!("requestBody:\n  limit: 1MiB\n  rules:\n  {rules}"));
    let message = order(&json!({ "customer": "x".repeat(700) }));
    let import = |count: usize| code(&policy, &call("/shop.v1.Orders/Import"), &message.repeat(count));
    assert_eq!((&*import(600), &*import(700)), ("", "8"));
}

/// Labels are those of the phases before, whichever message sets one.
#[test]
fn messages_are_read_with_the_labels_of_earlier_phases() {
    let policy = policy(
        "requestBody:
- {method: shop.v1.Orders/Import, when: request.message.total > 1000, labels: {tier: gold}}
- {when: \"labels.?tier.orValue('') == 'gold'\", deny: 403}
",
    );
    let [large, small] = [5000, 5].map(|total| order(&json!({ "total": total })));
    assert_eq!(code(&policy, &call("/shop.v1.Orders/Import"), &[large, small].concat()), "");
}

/// A request that may be taken for a call of the method is buffered, so that it is read or refused.
#[test]
fn bodies_that_may_be_calls_are_buffered() {
    let policy = policy(LARGE);
    let is_buffered = |head: &Parts| policy.request_buffering(head, &mut exchange()).is_some();
    let json = [("content-type", "application/json")];
    for path in [CREATE, "/shop.v1.orders/create", "/shop.v1.Orders/Create/", "//shop.v1.Orders/Create"] {
        assert!(is_buffered(&call(path)) && is_buffered(&call_with(path, &json)), "{path}");
    }
    for path in ["/", "/shop.v1.Orders/Cancel", "/shop.v1.Orders/Create/x"] {
        assert!(!is_buffered(&call(path)) && !is_buffered(&call_with(path, &json)), "{path}");
    }
}

/// Bodies that are almost right, from a fixed seed: nothing that a server reads as a large order goes on.
#[test]
fn damaged_bodies_pass_no_large_order() {
    let policy = policy(LARGE);
    let mut random = fastrand::Rng::with_seed(7);
    let sound = [order(&json!({"total": 5000, "customer": "ada"})), order(&json!({"total": 5})), frame(1, &gzip(&[]))];
    let (mut passed, mut refused) = (0, 0);
    for _ in 0..3_000 {
        let mut body: Vec<u8> =
            (0..random.usize(1..3)).flat_map(|_| sound[random.usize(..sound.len())].clone()).collect();
        for _ in 0..random.usize(..3) {
            let at = random.usize(..body.len());
            match random.u8(..3) {
                0 => body[at] = random.u8(..),
                1 => drop(body.remove(at)),
                _ => body.insert(at, random.u8(..)),
            }
            if body.is_empty() {
                body.push(0);
            }
        }
        if code(&policy, &call(CREATE), &body).is_empty() {
            passed += 1;
            let length = u32::from_be_bytes(body[1..5].try_into().unwrap()) as usize;
            assert!(body[0] == 0 && length + 5 == body.len(), "{body:?}");
            let (types, mut total) = (Descriptors::from_bytes(ORDERS).unwrap(), 0);
            let field = types.message("shop.v1.Order").unwrap().field("total").unwrap();
            let ty = types.message("shop.v1.Order").unwrap();
            if let Ok(found) = types.find(ty, field, &body[5..]) {
                let shown = format!("{found:?}");
                total = shown.split("Int(").nth(1).map_or(0, |rest| rest.split(')').next().unwrap().parse().unwrap());
            }
            assert!(total <= 1000, "{body:?}");
        } else {
            refused += 1;
        }
    }
    assert!(passed > 100 && refused > 1000, "{passed} {refused}");
}
