//! Streams of messages that are judged one at a time: what is forwarded, however they arrive.
#![expect(clippy::indexing_slicing, reason = "tests")]

use crate::grpc_calls::{call, call_with, code, frame, gzip, message, order, policy};
use crate::support::{ask, exchange, log, response};
use celero_policy::{Exchange, MessageStep, MessageStream, Outcome, Policy, RemoteAnswer, RemoteLimits};
use celero_policy::{RemoteQuestion, RemoteReply};
use http::request::Parts;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

const IMPORT: &str = "/shop.v1.Orders/Import";
const TALK: &str = "/shop.v1.Orders/Talk";

const RULES: &str = "requestBody:
- {name: large, method: shop.v1.Orders/Import, when: request.message.total > 1000, deny: 403}
- {name: names, method: shop.v1.Orders/Import, count: orders, labels: {last: '${request.message.customer}'}, logFields: {customer: '${request.message.customer}'}}
- {name: form, when: request.path == '/form' && request.body == b'x', deny: 403}
";

/// The stream of a client, after the phase `request`.
fn stream(policy: &Policy, head: &Parts, exchange: &mut Exchange) -> Option<MessageStream> {
    assert!(matches!(ask(policy, head, exchange), Outcome::Continue));
    policy.request_messages(head, exchange)
}

/// Gives a stream pieces, and the end. Returns what was forwarded, and the status of gRPC: `""` if all passes.
fn feed<'p>(
    policy: &Policy,
    stream: &mut MessageStream,
    pieces: impl Iterator<Item = &'p [u8]>,
    exchange: &mut Exchange,
) -> (Vec<u8>, String) {
    let mut passed = Vec::new();
    for piece in pieces.map(Some).chain([None]) {
        match piece {
            Some(piece) => stream.push(piece),
            None => stream.end(),
        }
        let checked = stream.check(policy, exchange);
        passed.extend_from_slice(&checked.pass);
        match checked.next {
            MessageStep::More => assert!(piece.is_some()),
            MessageStep::End => assert!(piece.is_none()),
            MessageStep::Refuse(answer) => {
                // Nothing follows, whatever comes.
                stream.push(&order(&json!({})));
                let again = stream.check(policy, exchange);
                assert!(again.pass.is_empty() && matches!(again.next, MessageStep::Refuse(_)));
                return (passed, answer.headers["grpc-status"].to_str().unwrap().to_owned());
            }
            MessageStep::Ask(_) => panic!("no service"),
        }
    }
    let again = stream.check(policy, exchange);
    assert!(again.pass.is_empty() && matches!(again.next, MessageStep::End));
    (passed, String::new())
}

fn cut<'b>(body: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let ends = cuts.iter().copied().chain([body.len()]);
    ends.scan(0, |start, end| {
        let piece = &body[*start..end];
        *start = end;
        Some(piece)
    })
    .collect()
}

fn judged(policy: &Policy, head: &Parts, pieces: &[&[u8]]) -> (Vec<u8>, String) {
    let mut exchange = exchange();
    let mut stream = stream(policy, head, &mut exchange).unwrap();
    feed(policy, &mut stream, pieces.iter().copied(), &mut exchange)
}

fn total(total: i64) -> Vec<u8> {
    order(&json!({ "total": total }))
}

/// Bodies with what is forwarded of them, and the status.
fn bodies() -> Vec<(Vec<u8>, usize, &'static str)> {
    let (small, large) = (total(5), total(5000));
    let two = small.repeat(2);
    let zipped = frame(1, &gzip(&message("Order", &json!({"total": 5}))));
    let large_zipped = frame(1, &gzip(&message("Order", &json!({"total": 5000}))));
    let bomb = frame(1, &gzip(&vec![0; 70_000]));
    let with = |rest: &[u8]| ([&two[..], rest].concat(), two.len());
    let refused = |rest: &[u8], code| (with(rest).0, with(rest).1, code);
    let passes = |rest: &[u8]| (with(rest).0, with(rest).0.len(), "");
    vec![
        passes(&[]),
        passes(&[&zipped[..], &frame(0, b""), &zipped].concat()),
        refused(&[&large[..], &small].concat(), "7"),
        refused(&[&large_zipped[..], &small].concat(), "7"),
        // Malformed: a field that ends too early. The rule fails, and a guard that fails denies.
        refused(&frame(0, &[0x10]), "7"),
        refused(&[2, 0, 0, 0, 0], "3"),
        refused(&[0xff], "3"),
        refused(&small[..small.len() - 1], "3"),
        refused(&small[..3], "3"),
        refused(&[0, 0, 1, 0, 1, 9], "8"),
        refused(&[0, 0xff, 0xff, 0xff, 0xff], "8"),
        refused(&bomb, "8"),
        refused(&frame(1, b"x"), "3"),
        (Vec::new(), 0, "7"),
    ]
}

#[test]
fn every_cut_of_a_body_gives_the_same() {
    let policy = policy(RULES);
    let head = call_with(IMPORT, &[("grpc-encoding", "gzip")]);
    let mut random = fastrand::Rng::with_seed(5);
    for (body, passed, code) in bodies() {
        let expected = (body[..passed].to_vec(), code.to_owned());
        assert_eq!(judged(&policy, &head, &[&body]), expected, "{body:?}");
        for at in 0..=body.len() {
            assert_eq!(judged(&policy, &head, &cut(&body, &[at])), expected, "{body:?} at {at}");
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(judged(&policy, &head, &bytes), expected);
        for _ in 0..100 {
            let mut cuts: Vec<usize> = (0..random.usize(..6)).map(|_| random.usize(..=body.len())).collect();
            cuts.sort_unstable();
            assert_eq!(judged(&policy, &head, &cut(&body, &cuts)), expected, "{body:?} at {cuts:?}");
        }
        // A whole body is judged alike, where it has one verdict.
        assert_eq!(crate::grpc_calls::code(&policy, &head, &body), code, "{body:?}");
    }
}

/// Damaged bodies, from a fixed seed: what is forwarded is whole messages that a whole body of them would pass.
#[test]
fn damaged_streams_pass_only_what_was_judged() {
    let policy = policy(RULES);
    let head = call_with(IMPORT, &[("grpc-encoding", "gzip")]);
    let mut random = fastrand::Rng::with_seed(9);
    let sound = [total(5), total(5000), frame(1, &gzip(&[])), frame(0, b"")];
    let mut refused = 0;
    for _ in 0..1_500 {
        let mut body: Vec<u8> =
            (0..random.usize(1..5)).flat_map(|_| sound[random.usize(..sound.len())].clone()).collect();
        for _ in 0..random.usize(..3) {
            let at = random.usize(..body.len());
            body[at] = random.u8(..);
        }
        let pieces: Vec<&[u8]> = body.chunks(random.usize(1..8)).collect();
        let (passed, verdict) = judged(&policy, &head, &pieces);
        assert!(body.starts_with(&passed));
        assert_eq!(verdict.is_empty(), passed == body, "{body:?}");
        assert_eq!(code(&policy, &head, &body).is_empty(), verdict.is_empty(), "{body:?}");
        if !passed.is_empty() {
            assert_eq!(code(&policy, &head, &passed), "", "{body:?}");
        }
        refused += usize::from(!verdict.is_empty());
    }
    assert!(refused > 300 && refused < 1_400, "{refused}");
}

#[test]
fn memory_is_one_message() {
    let policy = policy(RULES);
    let (mut exchange, small) = (exchange(), total(5));
    let mut stream = stream(&policy, &call(IMPORT), &mut exchange).unwrap();
    // More than a whole body may have, in number and in bytes.
    for _ in 0..20_000 {
        stream.push(&small);
        let checked = stream.check(&policy, &mut exchange);
        assert_eq!((&checked.pass[..], matches!(checked.next, MessageStep::More)), (&small[..], true));
    }
    // A message that has not ended is held; what is too large is refused before it has come.
    stream.push(&[&small[..], &small[..4]].concat());
    assert_eq!(stream.check(&policy, &mut exchange).pass, small);
    stream.push(&small[4..6]);
    assert!(stream.check(&policy, &mut exchange).pass.is_empty());
    stream.push(&[&small[6..], &[0, 0, 1, 0, 1]].concat());
    let checked = stream.check(&policy, &mut exchange);
    let MessageStep::Refuse(answer) = checked.next else { panic!("{checked:?}") };
    assert_eq!((&checked.pass[..], &answer.headers["grpc-status"]), (&small[..], &"8".parse().unwrap()));
    assert_eq!(&*answer.rule, "requestBody.grpc");
    assert_eq!(policy.counters().collect::<Vec<_>>(), [("orders", 20_002)]);
}

#[test]
fn which_calls_are_judged_by_message() {
    let method = |rest: &str| format!("requestBody:\n- {{method: shop.v1.Orders/Import{rest}}}\n");
    let form = "- {when: request.path == '/form' && request.body == b'x', deny: 403}\n";
    for (rules, by_message) in [
        (method(", deny: 403"), true),
        (format!("{}{form}", method(", deny: 403")), true),
        (format!("{}- {{when: request.body == b'x', deny: 403}}\n", method(", deny: 403")), false),
        (format!("{}- {{setHeaders: {{x-a: b}}}}\n", method(", deny: 403")), false),
        (format!("{}- {{when: request.method == 'POST', setHeaders: {{x-a: b}}}}\n", method(", deny: 403")), false),
        (method(", when: request.body.size() > 5, deny: 403"), false),
        (method(", when: 'has(request.body)', deny: 403"), false),
        (method(", labels: {size: '${request.body.size()}'}"), false),
        (method(", delay: 1s"), false),
        (method(", limit: {rate: 1/s}"), true),
        ("requestBody:\n  tooLarge: skip\n  rules: [{method: shop.v1.Orders/Import, deny: 403}]\n".into(), false),
        ("requestBody: [{method: shop.v1.Orders/Create, deny: 403}]".into(), false),
    ] {
        let policy = policy(&rules);
        let notes: Vec<String> = policy.buffering_notes().collect();
        let found = stream(&policy, &call(IMPORT), &mut exchange());
        assert_eq!(found.is_some(), by_message, "{rules}");
        if by_message {
            assert!(notes[1].starts_with("messages of shop.v1.Orders/Import are checked one at a time"), "{notes:?}");
            assert!(!found.unwrap().has_begun());
        }
        // Nothing else than a call of the method.
        for head in [
            call("/shop.v1.Orders/Create"),
            call("/shop.v1.Orders/import"),
            call_with(IMPORT, &[("content-type", "application/json")]),
            call_with(IMPORT, &[("content-type", "application/grpc"), ("content-encoding", "gzip")]),
        ] {
            assert!(stream(&policy, &head, &mut exchange()).is_none(), "{rules} {head:?}");
        }
    }
    let notes = |rules: &str| policy(rules).buffering_notes().collect::<Vec<_>>();
    let told = notes(&format!("{}{form}", method(", deny: 403")));
    assert_eq!(
        told[1],
        "messages of shop.v1.Orders/Import are checked one at a time, up to 65536 bytes each, \
         unless a rule without `method` may match the call"
    );
    assert_eq!(notes(&method(", delay: 1s")).len(), 1);
}

/// Streams that are buffered although somebody may wait for their first message.
#[test]
fn a_warning_tells_of_streams_that_are_buffered() {
    let warns = |rules: &str| policy(rules).render_warnings(false);
    let talk = "requestBody: [{method: shop.v1.Orders/Talk, deny: 403}";
    assert_eq!(warns(&format!("{talk}]")), "");
    let told = warns(&format!("{talk}, {{when: request.body == b'x', deny: 403}}]"));
    assert!(told.contains("the server gets nothing before the client has sent its last message"), "{told}");
    let watch = "responseBody: [{method: shop.v1.Orders/Watch, when: response.message.id == 'x', deny: 403}";
    assert_eq!(warns(&format!("{watch}]")), "");
    let told = warns(&format!("{watch}, {{when: response.body == b'x', deny: 403}}]"));
    assert!(told.contains("the client gets nothing before the server has sent its last message"), "{told}");
}

#[test]
fn labels_and_fields_are_those_of_all_messages() {
    let policy = policy(&format!("{RULES}log:\n- {{logFields: {{last: '${{labels.last}}'}}}}\n"));
    let named = |name: &str| order(&json!({ "customer": name }));
    for ends in [true, false] {
        let mut exchange = exchange();
        let head = call(IMPORT);
        let mut stream = stream(&policy, &head, &mut exchange).unwrap();
        for name in ["ada", "bob"] {
            stream.push(&named(name));
            assert!(matches!(stream.check(&policy, &mut exchange).next, MessageStep::More));
            assert_eq!(exchange.label("last"), None, "messages are read with the labels of earlier phases");
        }
        if ends {
            stream.end();
            assert!(matches!(stream.check(&policy, &mut exchange).next, MessageStep::End));
            assert_eq!(exchange.label("last"), Some("bob"));
        }
        let fields = log(&policy, &head, Some(&response(200, &[])), &mut exchange);
        assert_eq!(fields.to_string(), r#"{"customer":"bob","last":"bob"}"#);
    }
}

/// Both directions of a call at once, each with what its own rules have drawn.
#[test]
fn the_messages_of_a_server_are_judged_too() {
    let policy = policy(
        "requestBody:
- {name: some, method: shop.v1.Orders/Talk, sample: 0.5, labels: {drawn: 'yes'}, count: requests}
responseBody:
- {name: others, method: shop.v1.Orders/Talk, sample: 0.5, labels: {also: 'yes'}, count: responses}
- {name: secret, method: shop.v1.Orders/Talk, when: response.message.id == 'secret', deny: {status: 403, body: no}}
",
    );
    let receipt = |id: &str| frame(0, &message("Receipt", &json!({ "id": id })));
    let mut drawn = Vec::new();
    for _ in 0..64 {
        let (mut exchange, head) = (exchange(), call(TALK));
        let mut sent = stream(&policy, &head, &mut exchange).unwrap();
        let answer = response(200, &[("content-type", "application/grpc")]);
        assert!(matches!(policy.response(&head, &mut answer.clone(), &mut exchange), Outcome::Continue));
        let mut got = policy.response_messages(&head, &answer, &mut exchange).unwrap();
        for id in ["a", "b", "c"] {
            sent.push(&total(1));
            assert_eq!(sent.check(&policy, &mut exchange).pass, total(1));
            got.push(&receipt(id));
            assert_eq!(got.check(&policy, &mut exchange).pass, receipt(id));
        }
        got.push(&[receipt("d"), receipt("secret"), receipt("e")].concat());
        let checked = got.check(&policy, &mut exchange);
        let MessageStep::Refuse(answer) = checked.next else { panic!("{checked:?}") };
        assert_eq!((&checked.pass[..], &*answer.rule), (&receipt("d")[..], "secret"));
        let trailers = answer.trailers();
        assert_eq!((trailers.len(), trailers["grpc-status"].as_bytes()), (2, &b"7"[..]));
        assert_eq!(trailers["grpc-message"], "no");
        sent.end();
        let _ = sent.check(&policy, &mut exchange);
        drawn.push([exchange.label("drawn").is_some(), exchange.label("also").is_some()]);
    }
    for both in [[true, true], [true, false], [false, true], [false, false]] {
        assert!(drawn.contains(&both), "{drawn:?}");
    }
    // A rule acts on all messages of a call, or on none.
    for (counter, direction, messages) in [("requests", 0, 3), ("responses", 1, 5)] {
        let calls = drawn.iter().filter(|drawn| drawn[direction]).count() as u64;
        let counted = policy.counters().find(|(name, _)| *name == counter).unwrap().1;
        assert_eq!(counted, calls * messages, "{counter}");
    }
    // Without messages there is nothing to read.
    let (mut exchange, head) = (exchange(), call(TALK));
    assert!(stream(&policy, &head, &mut exchange).is_some());
    let answer = response(200, &[("content-type", "application/grpc"), ("grpc-status", "5")]);
    let mut got = policy.response_messages(&head, &answer, &mut exchange).unwrap();
    assert_eq!(feed(&policy, &mut got, std::iter::empty(), &mut exchange), (Vec::new(), String::new()));
    let mut got = policy.response_messages(&head, &answer, &mut exchange).unwrap();
    assert_eq!(feed(&policy, &mut got, [&receipt("a")[..3]].into_iter(), &mut exchange), (Vec::new(), "13".into()));
    let other = response(200, &[("content-type", "text/html")]);
    assert!(policy.response_messages(&head, &other, &mut exchange).is_none());
}

/// A service is asked once for a call, when the first message has come.
#[test]
fn a_service_that_counts_is_asked_once() {
    #[derive(Debug)]
    struct Service(AtomicUsize);
    impl RemoteLimits for Service {
        fn ask(&self, _: RemoteQuestion) -> RemoteReply {
            let is_within = self.0.fetch_add(1, Ordering::Relaxed) == 0;
            Box::pin(async move { Ok(RemoteAnswer { is_within, ..RemoteAnswer::default() }) })
        }
    }
    let mut policy = policy(
        "requestBody:
- {method: shop.v1.Orders/Import, count: messages, limit: {remote: a, descriptors: {b: c}}}
",
    );
    let service = Arc::new(Service(AtomicUsize::new(0)));
    policy.set_remote_limits(Arc::clone(&service) as Arc<dyn RemoteLimits>);
    for expected in ["", "14"] {
        let mut exchange = exchange();
        let mut stream = stream(&policy, &call(IMPORT), &mut exchange).unwrap();
        stream.push(&total(1).repeat(3));
        let checked = stream.check(&policy, &mut exchange);
        let MessageStep::Ask(question) = checked.next else { panic!("{checked:?}") };
        assert!(checked.pass.is_empty());
        let mut asking = Box::pin(question.ask(&policy));
        let Poll::Ready(reply) = asking.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!("waits") };
        drop(asking);
        exchange.note_limit(reply);
        assert_eq!(feed(&policy, &mut stream, std::iter::empty(), &mut exchange).1, expected);
    }
    assert_eq!(service.0.load(Ordering::Relaxed), 2);
}

/// The server does not see the head of a call that is denied whatever its messages are.
#[test]
fn a_rule_that_reads_no_message_denies_the_head() {
    let text = |first: &str| {
        format!(
            "requestBody:
- {{name: first, method: shop.v1.Orders/Import, when: request.message.total > 1000, {first}}}
- {{name: head, method: shop.v1.Orders/Import, when: \"request.headers['x-who'] == 'eve'\", deny: 401, labels: {{by: head}}}}
- {{name: other, method: shop.v1.Orders/Talk, deny: 403}}
"
        )
    };
    let by_head = |policy: &Policy, head: &Parts| {
        let mut exchange = exchange();
        let mut stream = stream(policy, head, &mut exchange).unwrap();
        let MessageStep::Refuse(answer) = stream.check(policy, &mut exchange).next else { return None };
        assert!(!stream.has_begun());
        Some((answer.rule.to_string(), exchange.label("by").map(str::to_owned)))
    };
    let [ada, eve] = ["ada", "eve"].map(|who| call_with(IMPORT, &[("x-who", who)]));
    let deny = policy(&text("deny: 403"));
    assert_eq!(by_head(&deny, &eve), Some(("head".into(), Some("head".into()))));
    assert_eq!(deny.rules().map(|rule| rule.matched).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(by_head(&deny, &ada), None);
    assert_eq!(by_head(&deny, &call(TALK)).unwrap().0, "other");
    // A condition that fails is none that is true: it is evaluated with the first message, and denies then.
    assert_eq!(by_head(&deny, &call(IMPORT)), None);
    assert_eq!(judged(&deny, &call(IMPORT), &[&total(5)]), (Vec::new(), "16".into()));
    // A message may be allowed before.
    let allow = policy(&text("allow: true"));
    assert_eq!(by_head(&allow, &eve), None);
    assert_eq!(judged(&allow, &eve, &[&total(5000)]).1, "");
    assert_eq!(judged(&allow, &eve, &[&total(5000), &total(5)]), (total(5000), "16".into()));
}

#[test]
fn an_answer_that_is_no_error_ends_a_begun_response_with_a_status() {
    let policy = policy("requestBody: [{method: shop.v1.Orders/Import, respond: {status: 200, body: x}}]");
    let mut exchange = exchange();
    let mut stream = stream(&policy, &call(IMPORT), &mut exchange).unwrap();
    stream.push(&total(1));
    let MessageStep::Refuse(answer) = stream.check(&policy, &mut exchange).next else { panic!("it passes") };
    assert_eq!(answer.trailers()["grpc-status"], "2");
}
