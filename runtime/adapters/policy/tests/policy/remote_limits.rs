//! Limits that a service counts: what is asked and when, what follows from its answers, and mistakes in the file.

use crate::support::{Folder, answer, ask, edits, exchange, head, log, policy, response, status, wrong};
use celero_policy::{
    Exchange, LimitInfo, LivePolicy, Outcome, Policy, RemoteAnswer, RemoteLimits, RemoteQuestion, RemoteReply,
    Unavailable,
};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

/// A service that remembers what it was asked.
#[derive(Debug)]
struct Service {
    asked: Mutex<Vec<String>>,
    answer: fn(&RemoteQuestion) -> Result<RemoteAnswer, Unavailable>,
}

impl RemoteLimits for Service {
    fn ask(&self, question: RemoteQuestion) -> RemoteReply {
        let descriptor = |entries: &Vec<(Arc<str>, String)>| {
            entries.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
        };
        let descriptors: Vec<_> = question.descriptors.iter().map(descriptor).collect();
        self.asked.lock().unwrap().push(format!("{}: {} x{}", question.service, descriptors.join("; "), question.hits));
        let answer = (self.answer)(&question);
        Box::pin(async move { answer })
    }
}

const WITHIN: fn(&RemoteQuestion) -> Result<RemoteAnswer, Unavailable> = |_| {
    Ok(RemoteAnswer {
        is_within: true,
        quota: Some((100, Duration::from_secs(60))),
        remaining: 41,
        reset: Some(Duration::from_secs(9)),
    })
};
const ABOVE: fn(&RemoteQuestion) -> Result<RemoteAnswer, Unavailable> = |_| {
    Ok(RemoteAnswer {
        is_within: false,
        quota: Some((100, Duration::from_secs(60))),
        remaining: 0,
        reset: Some(Duration::from_millis(8500)),
    })
};
const SILENT: fn(&RemoteQuestion) -> Result<RemoteAnswer, Unavailable> = |_| Err(Unavailable);

/// The policy in both tiers, with such a service.
fn both(text: &str, answer: fn(&RemoteQuestion) -> Result<RemoteAnswer, Unavailable>) -> [(Policy, Arc<Service>); 2] {
    [Policy::parse, Policy::check].map(|read| {
        let mut policy = read("policy.yaml", text, Path::new(".")).unwrap_or_else(|error| panic!("{error}"));
        let service = Arc::new(Service { asked: Mutex::default(), answer });
        policy.set_remote_limits(Arc::<Service>::clone(&service));
        (policy, service)
    })
}

fn asked(service: &Service) -> Vec<String> {
    std::mem::take(&mut *service.asked.lock().unwrap())
}

fn info(policy: &Policy) -> LimitInfo {
    policy.limits().last().unwrap()
}

#[test]
fn descriptors_and_hits_are_computed_and_asked_once() {
    let text = "
request:
- name: shared
  when: request.path != '/free'
  limit:
    remote: counter
    descriptors: [{client: '${source.address}', path: '${request.path}'}, {all: x}]
    hits: '${size(request.path)}'
    headers: always
- {name: later, setHeaders: {x-later: a}}
";
    for (policy, service) in both(text, WITHIN) {
        assert_eq!(policy.remote_services().collect::<Vec<_>>(), [("shared", "counter")]);
        let mut exchange = exchange();
        assert_eq!(status(ask(&policy, &head("GET /abc", &[]), &mut exchange)), 0);
        assert_eq!(asked(&service), ["counter: client=192.0.2.7,path=/abc; all=x x4"]);
        assert_eq!(exchange.edits().iter().count(), 1);
        // The response tells what is left.
        let mut response = response(200, &[]);
        assert!(matches!(policy.response(&head("GET /abc", &[]), &mut response, &mut exchange), Outcome::Continue));
        exchange.edits().apply_to_response(&mut response);
        assert_eq!(response.headers["ratelimit"], "\"shared\";r=41;t=9");
        assert_eq!(response.headers["ratelimit-policy"], "\"shared\";q=100;w=60");
        assert_eq!(status(ask(&policy, &head("GET /free", &[]), &mut self::exchange())), 0);
        assert_eq!(asked(&service), [""; 0]);
        // The first run of the phase has no effect: each rule has counted once.
        let counts: Vec<_> = policy.rules().map(|rule| (rule.evaluated, rule.matched)).collect();
        assert_eq!(counts, [(2, 1), (2, 2)]);
        assert_eq!(info(&policy).admitted, 1);
    }
}

/// What the service is asked depends on the body, and nothing of the phases before it is lost while it is asked.
#[test]
fn bodies_decide_what_is_asked() {
    let text = "
request:
- {labels: {of: head}, logFields: {head: 'seen', both: 'head'}}
requestBody:
- {sample: 0.999999999, logFields: {both: 'body'}, setHeaders: {x-before: a}, patchBody: {seen: true}, count: before}
- name: model
  when: request.method == 'POST'
  limit:
    remote: counter
    descriptors: {model: '${json(request.body).model}', of: '${labels.of}'}
    hits: '${json(request.body).tokens}'
    headers: always
- {setHeaders: {x-after: b}, count: after}
";
    for (policy, service) in both(text, WITHIN) {
        assert_eq!(policy.remote_services().collect::<Vec<_>>(), [("model", "counter")]);
        let post = |body: &str, exchange: &mut Exchange| {
            let mut head = head("POST /", &[]);
            assert_eq!(status(policy.request(&mut head, exchange)), 0);
            policy.request_body(&head, body.as_bytes(), exchange)
        };
        let mut exchange = exchange();
        assert_eq!(status(post(r#"{"model":"big","tokens":7}"#, &mut exchange)), 0);
        assert_eq!(asked(&service), ["counter: model=big,of=head x7"]);
        let sent = exchange.edits().body().map(|body| String::from_utf8_lossy(body).into_owned());
        assert_eq!(sent.as_deref(), Some(r#"{"model":"big","tokens":7,"seen":true}"#));
        assert_eq!(edits(&exchange), ["x-before = a", "x-after = b"]);
        let fields = log(&policy, &head("POST /", &[]), Some(&response(200, &[])), &mut exchange);
        assert_eq!(fields.to_string(), r#"{"head":"seen","both":"body"}"#);
        assert_eq!(policy.counters().collect::<Vec<_>>(), [("before", 1), ("after", 1)], "each rule acts once");
        // Hits of 0 ask nothing; what fails is above the limit, and a body that is no JSON can't be changed.
        assert_eq!(status(post(r#"{"model":"big","tokens":0}"#, &mut self::exchange())), 0);
        assert_eq!(status(post(r#"{"model":"big"}"#, &mut self::exchange())), 429);
        assert_eq!(status(post("big", &mut self::exchange())), 500);
        assert_eq!((asked(&service).len(), info(&policy).admitted, info(&policy).failed), (0, 1, 1));
    }
    for (answers, expected) in [(ABOVE, 429), (SILENT, 503)] {
        for (policy, service) in both(&text.replace("seen: true", "seen: 1"), answers) {
            let (mut head, mut exchange) = (head("POST /", &[]), exchange());
            assert_eq!(status(policy.request(&mut head, &mut exchange)), 0);
            let decision = policy.request_body(&head, br#"{"model":"big","tokens":7}"#, &mut exchange);
            assert_eq!((status(decision), asked(&service).len()), (expected, 1));
            assert!(exchange.edits().is_empty());
        }
    }
}

/// A client that is gone gives up the question; until then other requests are served.
#[test]
fn a_host_need_not_block_for_an_answer_about_a_body() {
    #[derive(Debug)]
    struct Silent;
    impl RemoteLimits for Silent {
        fn ask(&self, _: RemoteQuestion) -> RemoteReply {
            Box::pin(std::future::pending())
        }
    }
    let mut policy = policy(
        "requestBody: [{when: 'request.body == b\"a\"', delay: 2s, limit: {concurrent: 1}}, {when: 'request.body == b\"a\"', limit: {name: b, remote: c, descriptors: {d: e}}}]",
    );
    policy.set_remote_limits(Arc::new(Silent));
    let (head, mut first) = (head("POST /", &[]), exchange());
    let mut asking = Box::pin(policy.request_body_async(&head, b"a", &mut first));
    let waits = asking.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
    assert!(waits && policy.delays().waiting == 0, "the phase has no outcome yet");
    assert_eq!(status(policy.request_body(&head, b"b", &mut exchange())), 0);
    assert_eq!(status(policy.request_body(&head, b"a", &mut exchange())), 429, "the first one is open");
    drop(asking);
    drop(first);
    let mut next = exchange();
    let mut asking = Box::pin(policy.request_body_async(&head, b"a", &mut next));
    assert!(asking.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[test]
fn above_the_limit_the_answer_says_when_to_come_again() {
    let text = "request: [{name: shared, limit: {remote: counter, descriptors: {a: b}}}, {name: next, deny: 418}]";
    for (policy, service) in both(text, ABOVE) {
        let answer = answer(ask(&policy, &head("GET /", &[]), &mut exchange()));
        assert_eq!((answer.status.as_u16(), &*answer.rule), (429, "shared"));
        assert_eq!(answer.headers["retry-after"], "9");
        assert_eq!(answer.headers["ratelimit"], "\"shared\";r=0;t=9");
        assert_eq!((asked(&service).len(), info(&policy).limited), (1, 1));
    }
    let text = "request: [{name: shared, limit: {remote: counter, descriptors: {a: b}, onLimit: {redirect: 'https://a.example/'}, headers: never}}]";
    for (policy, _) in both(text, ABOVE) {
        let answer = answer(ask(&policy, &head("GET /", &[]), &mut exchange()));
        assert_eq!(answer.status, 302);
        assert!(answer.headers.get("ratelimit").is_none());
    }
    let text = "request: [{name: tried, limit: {remote: counter, descriptors: {a: b}, dryRun: true}}]";
    for (policy, _) in both(text, ABOVE) {
        let mut exchange = exchange();
        assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange)), 0);
        assert!(policy.has_log_fields());
        let fields = log(&policy, &head("GET /", &[]), Some(&response(200, &[])), &mut exchange);
        assert_eq!(fields.to_string(), "{\"aboveLimit\":\"tried\"}");
        assert_eq!((info(&policy).tolerated, info(&policy).limited), (1, 0));
    }
}

#[test]
fn above_the_limit_a_request_waits_if_the_file_says_so() {
    let text = |more: &str| {
        format!(
            "request: [{{name: shared, limit: {{remote: counter, descriptors: {{user: '${{request.headers[\"x-user\"]}}'}}, onLimit: {{delay: 2s{more}}}}}}}, {{setHeaders: {{x-a: b}}}}]"
        )
    };
    for (more, above, failed) in [("", (2, 429), (2, 429)), (", pass: true", (2, 0), (2, 429))] {
        for (headers, expected) in [(&[("x-user", "ada")][..], above), (&[][..], failed)] {
            for (policy, _) in both(&text(more), ABOVE) {
                let decision = policy.request(&mut head("GET /", headers), &mut exchange());
                let waits = decision.delay.as_ref().map_or(0, |delay| delay.time().as_secs());
                assert_eq!((waits, status(decision)), expected, "{more} {headers:?}");
            }
        }
    }
}

#[test]
fn without_an_answer_requests_pass_only_if_the_file_says_so() {
    let text =
        |more: &str| format!("request: [{{name: shared, limit: {{remote: counter, descriptors: {{a: b}}{more}}}}}]");
    for (policy, _) in both(&text(""), SILENT) {
        let answer = answer(ask(&policy, &head("GET /", &[]), &mut exchange()));
        assert_eq!((answer.status.as_u16(), &*answer.rule), (503, "shared"));
        assert_eq!(answer.headers["retry-after"], "1");
        assert_eq!((info(&policy).unavailable, info(&policy).limited), (1, 0));
    }
    for more in [", onUnavailable: pass", ", dryRun: true"] {
        for (policy, _) in both(&text(more), SILENT) {
            assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange())), 0, "{more}");
        }
    }
    // Nobody to ask: the same.
    assert_eq!(status(ask(&policy(&text("")), &head("GET /", &[]), &mut exchange())), 503);
}

#[test]
fn a_descriptor_that_fails_passes_only_if_the_file_says_so() {
    let text = |more: &str| {
        format!(
            "request:\n- {{name: shared, limit: {{remote: counter, descriptors: {{user: '${{request.headers[\"x-user\"]}}'}}{more}}}}}\n- {{name: second, limit: {{remote: counter, descriptors: {{a: b}}}}}}\n"
        )
    };
    let long = "x".repeat(1025);
    for headers in [&[][..], &[("x-user", long.as_str())]] {
        for (policy, service) in both(&text(""), WITHIN) {
            assert_eq!(status(ask(&policy, &head("GET /", headers), &mut exchange())), 429);
            assert_eq!((asked(&service).len(), policy.limits().next().unwrap().failed), (0, 1));
        }
        for (policy, service) in both(&text(", onError: pass"), WITHIN) {
            assert_eq!(status(ask(&policy, &head("GET /", headers), &mut exchange())), 0);
            // The failure counts once, although the phase has run twice.
            let rule = policy.rules().next().unwrap();
            assert_eq!((asked(&service).len(), policy.limits().next().unwrap().failed, rule.failed), (1, 1, 1));
        }
    }
    for (policy, service) in both(&text(""), WITHIN) {
        assert_eq!(status(ask(&policy, &head("GET /", &[("x-user", &long[..1024])]), &mut exchange())), 0);
        assert_eq!(asked(&service).len(), 2);
    }
}

#[test]
fn a_local_limit_before_it_spares_the_service() {
    let text = "request:\n- {name: here, limit: {key: '${source.address}', rate: 2/h}}\n- {name: there, limit: {remote: counter, descriptors: {client: '${source.address}'}}}\n";
    for (policy, service) in both(text, WITHIN) {
        let of_one = || {
            let mut exchange = Exchange::new(Some("192.0.2.1:1".parse().unwrap()), None);
            exchange.set_time(Duration::ZERO);
            status(ask(&policy, &head("GET /", &[]), &mut exchange))
        };
        assert_eq!([of_one(), of_one(), of_one()], [0, 0, 429]);
        // The phase has run twice for each, but the local limit was asked once.
        assert_eq!((asked(&service).len(), policy.limits().next().unwrap().admitted), (2, 2));
    }
}

#[test]
fn addresses_are_sent_as_their_networks() {
    let text = |more: &str| {
        format!(
            "request: [{{name: shared, limit: {{remote: counter, descriptors: {{client: '${{source.address}}', named: '${{request.path.substring(1)}}', fixed: '2001:db8::1'}}{more}}}}}]"
        )
    };
    let sent = |more: &str, client: &str, path: &str| {
        both(&text(more), WITHIN).map(|(policy, service)| {
            let mut exchange = Exchange::new(Some(client.parse().unwrap()), None);
            assert_eq!(status(ask(&policy, &head(&format!("GET /{path}"), &[]), &mut exchange)), 0);
            asked(&service).concat()
        })
    };
    for (more, client, path, expected) in [
        ("", "[2001:db8::1]:1", "a", "client=2001:db8::,named=a,fixed=2001:db8::1"),
        ("", "[2001:db8::ffff:0:0:2]:1", "a", "client=2001:db8::,named=a,fixed=2001:db8::1"),
        ("", "192.0.2.7:1", "::ffff:192.0.2.9", "client=192.0.2.7,named=192.0.2.9,fixed=2001:db8::1"),
        (
            ", groupV4: 24, groupV6: 128",
            "192.0.2.7:1",
            "2001:DB8:0::7",
            "client=192.0.2.0,named=2001:db8::7,fixed=2001:db8::1",
        ),
        (", groupV4: 0, groupV6: 0", "192.0.2.7:1", "2001:db8::7", "client=0.0.0.0,named=::,fixed=2001:db8::1"),
    ] {
        for question in sent(more, client, path) {
            assert_eq!(question, format!("counter: {expected} x1"), "{more} {client} {path}");
        }
    }
}

#[test]
fn every_question_about_a_sampled_request_is_acted_on() {
    let text = "request: [{name: some, sample: 0.5, limit: {remote: counter, descriptors: {a: b}}}]";
    for (policy, service) in both(text, ABOVE) {
        let mut exchange = exchange();
        let mut of_one = || {
            exchange.reset(None, None);
            status(ask(&policy, &head("GET /", &[]), &mut exchange))
        };
        let limited = (0..300).filter(|_| of_one() == 429).count();
        assert_eq!(asked(&service).len(), limited);
        assert!((1..300).contains(&limited), "each request is drawn anew");
    }
}

#[test]
fn a_reload_keeps_the_service_and_the_counters() {
    let folder = Folder::new("remote-limits");
    let text = "request: [{name: shared, limit: {remote: counter, descriptors: {a: b}}}]\n";
    let file = folder.write("policy.yaml", text);
    let service = Arc::new(Service { asked: Mutex::default(), answer: WITHIN });
    let live = LivePolicy::load_with_remote_limits(&file, Arc::<Service>::clone(&service)).unwrap();
    assert_eq!(status(ask(&live.current(), &head("GET /", &[]), &mut exchange())), 0);
    folder.write("policy.yaml", format!("{text}response: [{{setHeaders: {{a: b}}}}]\n"));
    live.reload().unwrap();
    assert_eq!(status(ask(&live.current(), &head("GET /", &[]), &mut exchange())), 0);
    assert_eq!((asked(&service).len(), info(&live.current()).admitted), (2, 2));
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (limit, message) in [
        ("{remote: a, descriptors: {a: b}, rate: 1/s}", "`rate` is for limits that are counted here"),
        ("{remote: a, descriptors: {a: b}, key: x}", "`key` is for limits that are counted here"),
        ("{remote: a, descriptors: {a: b}, countWhen: 'true'}", "`countWhen` is for limits"),
        ("{remote: a}", "needs `descriptors`"),
        ("{remote: a, descriptors: {}}", "1 to 16 descriptors"),
        ("{remote: a, descriptors: {a: b}, onError: shared}", "`onError: shared`"),
        ("{remote: a, descriptors: {a: '${nothing}'}}", "nothing"),
        ("{remote: a, descriptors: {a: b}, hits: '${request.path}'}", "a cost is a number"),
        ("{rate: 1/s, descriptors: {a: b}}", "`descriptors` is for limits that a service counts"),
        ("{rate: 1/s, onUnavailable: pass}", "`onUnavailable` is for limits"),
    ] {
        let problem = wrong(&format!("request: [{{limit: {limit}}}]\n"));
        assert!(problem.contains(message), "{limit}\n{problem}");
    }
    for value in ["x".repeat(1025), format!("$${{{}", "x".repeat(1023))] {
        let problem = wrong(&format!("request: [{{limit: {{remote: a, descriptors: {{a: '{value}'}}}}}}]\n"));
        assert!(problem.contains("an entry of a descriptor is too long"), "{problem}");
    }
    drop(policy(&format!("request: [{{limit: {{remote: a, descriptors: {{a: '$${{{}'}}}}}}]\n", "x".repeat(1022))));
    let late = wrong("response: [{limit: {remote: a, descriptors: {a: b}}}]\n");
    assert!(late.contains("the phase `response` does not wait for a service"), "{late}");
    let twice = wrong(
        "request: [{limit: {name: a, remote: a, descriptors: {a: b}}}]\nrequestBody: [{limit: {name: a, remote: a, descriptors: {a: b}}}]\n",
    );
    assert!(twice.contains("another limit is called `a`"), "{twice}");
    let settled = wrong("request: [{name: a, limit: {remote: a, descriptors: {a: b}}}]\nlog: [{settle: {a: 1}}]\n");
    assert!(settled.contains("no limit is called `a`"), "{settled}");
}
