//! Servers that fail: other servers are tried, within bounds, and servers that fail often get no requests for a while.

use crate::answering::{Answering, response};
use crate::client::{Client, get, get_with, post};
use crate::running::{Running, eventually};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Instant;

fn config(servers: &[&Answering], of_upstream: &str, of_route: &str) -> String {
    let servers: Vec<String> = servers.iter().map(|server| format!("\"{}\"", server.address)).collect();
    format!(
        "upstreams: [{{ name: group, servers: [{}], {of_upstream} }}]\nroutes: [{{ upstream: group, {of_route} }}]\n",
        servers.join(", ")
    )
}

#[test]
fn statuses_are_retried_as_the_route_says() {
    let (bad, good) = (Answering::always(503, "bad"), Answering::always(200, "good"));
    let proxy = Running::with(&config(&[&bad, &good], "", "retry: {}"), "");
    for _ in 0..6 {
        assert_eq!(get(proxy.address, "/").text(), "good");
    }
    let retries = bad.hits();
    assert!(retries >= 3 && good.hits() == 6, "{retries}");
    proxy.reaches("celero_upstream_retries_total", retries as f64);
    let log = proxy.log(6);
    assert_eq!(log.iter().filter(|line| line["retries"] == 1 && line["status"] == 200).count(), retries, "{log:?}");
    // Without `retry` the response is that of the server.
    let plain = Running::with(&config(&[&bad, &good], "", ""), "");
    let statuses: Vec<u16> = (0..4).map(|_| get(plain.address, "/").status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 2, "{statuses:?}");
}

/// A condition on the request and the response decides instead of the status.
#[test]
fn responses_are_retried_as_a_condition_says() {
    let busy = || {
        Answering::start(|request| {
            let reason = if request.starts_with("GET /full") { "full" } else { "maintenance" };
            Some(format!("HTTP/1.1 503 X\r\nx-reason: {reason}\r\ncontent-length: 4\r\n\r\nbusy"))
        })
    };
    let (bad, good) = (busy(), Answering::always(200, "good"));
    let when = "'response.code == 503 && response.headers[\"x-reason\"] == \"full\" && request.headers[?\"x-once\"].orValue(\"\") != \"1\"'";
    let retry = format!("retry: {{ when: {when} }}");
    let proxy = Running::with(&config(&[&bad, &good], "", &retry), "");
    let statuses = |path: &str, headers: &[&str]| {
        let mut found = [0; 6].map(|_: u8| get_with(proxy.address, path, headers).status);
        found.sort_unstable();
        found
    };
    assert_eq!(statuses("/full", &[]), [200; 6]);
    assert!(bad.hits() >= 3);
    let retried = proxy.metric("celero_upstream_retries_total");
    assert_eq!(retried, bad.hits() as f64);
    // Another reason, and a client that asks for one attempt.
    for (path, headers) in [("/other", &[][..]), ("/full", &["x-once: 1"][..])] {
        assert_eq!(statuses(path, headers), [200, 200, 200, 503, 503, 503], "{path}");
    }
    // A condition that fails is none: these responses have no such header.
    let (plain, other) = (Answering::always(503, "plain"), Answering::always(503, "other"));
    let proxy = Running::with(&config(&[&plain, &other], "", &retry), "");
    assert_eq!((get(proxy.address, "/full").status, plain.hits() + other.hits()), (503, 1));
    // Requests that are not idempotent are sent once, whatever the condition says.
    let (bad, good) = (busy(), Answering::always(200, "good"));
    let proxy = Running::with(&config(&[&bad, &good], "", "retry: { when: response.code == 503 }"), "");
    let posted: Vec<u16> = (0..4).map(|_| post(proxy.address, "/full", b"x").status).collect();
    assert_eq!((posted.iter().filter(|status| **status == 503).count(), bad.hits() + good.hits()), (2, 4));
}

/// How many retries a budget of 0.1 allows for 200 requests: ten at first, one for each ten requests, and one a second.
fn most_retries(begun: Instant) -> usize {
    let seconds: usize = begun.elapsed().as_secs().try_into().unwrap();
    10 + 20 + seconds + 5
}

/// A client that makes the condition true for each response costs no more than the attempts and the budget allow.
#[test]
fn conditions_have_the_bounds_of_retries() {
    let servers: Vec<Answering> = (0..4).map(|_| Answering::always(200, "fine")).collect();
    let all: Vec<&Answering> = servers.iter().collect();
    let retry = "retry: { attempts: 2, budget: 0.1, when: '\"x-again\" in request.headers' }";
    let proxy = Running::with(&config(&all, "", retry), "");
    let begun = Instant::now();
    let hits = || servers.iter().map(Answering::hits).sum::<usize>();
    assert_eq!((get_with(proxy.address, "/", &["x-again: 1"]).text(), hits()), ("fine".into(), 3));
    let mut client = Client::connect(proxy.address);
    for _ in 0..200 {
        assert_eq!(client.request("GET /", &["x-again: 1"], b"").reply().status, 200);
    }
    let retries = hits() - 201;
    assert!((18..=most_retries(begun)).contains(&retries), "{retries}");
    assert!(proxy.metric("celero_upstream_retries_refused_total") > 0.0);
}

/// The policy sees the last response only: no label, no header, no cost is left of one that was dropped.
#[test]
fn a_response_that_a_condition_drops_leaves_nothing() {
    let asked = Arc::new(AtomicUsize::new(0));
    let server = || {
        let asked = Arc::clone(&asked);
        Answering::start(move |_| {
            Some(match asked.fetch_add(1, Ordering::SeqCst) % 2 {
                0 => response(401, "again"),
                _ => response(200, "good"),
            })
        })
    };
    let (a, b) = (server(), server());
    let policy = r#"
request: [{ name: logins, limit: { rate: 1/h, countWhen: response.code == 401 } }]
response:
- { when: response.code == 401, labels: { of: dropped }, setHeaders: { x-dropped: a }, logFields: { dropped: a }, count: dropped }
responseBody: [{ when: '"of" in labels && size(response.body) > 0', respond: { status: 500, body: seen } }]
"#;
    let proxy = Running::with(&config(&[&a, &b], "", "retry: { when: response.code == 401 }"), policy);
    for _ in 0..3 {
        let reply = get(proxy.address, "/");
        assert_eq!((reply.status, reply.text(), reply.header("x-dropped")), (200, "good".into(), String::new()));
    }
    assert_eq!((a.hits() + b.hits(), proxy.metric("celero_policy_counter_total{name=\"dropped\"}")), (6, 0.0));
    assert!(proxy.log(3).iter().all(|line| line["retries"] == 1 && line.get("dropped").is_none()));
}

#[test]
fn requests_that_are_not_idempotent_are_sent_once() {
    let (bad, good) = (Answering::always(503, "bad"), Answering::always(200, "good"));
    let proxy = Running::with(&config(&[&bad, &good], "", "retry: { attempts: 3 }"), "");
    let statuses: Vec<u16> = (0..6).map(|_| post(proxy.address, "/", b"x").status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 3, "{statuses:?}");
    assert_eq!(bad.hits() + good.hits(), 6);
    // Unless the route says that they may be sent twice; then with the same body.
    let proxy = Running::with(&config(&[&bad, &good], "", "retry: { methods: [POST] }"), "");
    for _ in 0..4 {
        assert_eq!(post(proxy.address, "/", b"the body").text(), "good");
    }
    assert!(good.seen()[good.hits() - 4..].iter().all(|request| request.ends_with("\r\n\r\nthe body")));
    // GET is not among these methods.
    let statuses: Vec<u16> = (0..4).map(|_| get(proxy.address, "/").status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 2, "{statuses:?}");
}

#[test]
fn bodies_beyond_the_bound_are_sent_once() {
    let (bad, good) = (Answering::always(503, "bad"), Answering::always(200, "good"));
    let proxy = Running::with(&config(&[&bad, &good], "", "retry: { methods: [POST] }"), "");
    let large = vec![b'x'; 200 << 10];
    let statuses: Vec<u16> = (0..4).map(|_| post(proxy.address, "/", &large).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 2, "{statuses:?}");
    assert_eq!(bad.hits() + good.hits(), 4);
}

/// A server that closes the connection without an answer, and one whose answer breaks off.
#[test]
fn broken_connections_are_retried_only_before_the_client_has_got_anything() {
    let (bad, good) = (Answering::start(|_| None), Answering::always(200, "good"));
    let proxy = Running::with(&config(&[&bad, &good], "", "retry: {}"), "");
    for _ in 0..4 {
        assert_eq!(get(proxy.address, "/").text(), "good");
    }
    assert!(bad.hits() >= 2);
    let half =
        Answering::start(|_| Some("HTTP/1.1 200 X\r\ncontent-length: 10\r\nconnection: close\r\n\r\nhalf".into()));
    let other =
        Answering::start(|_| Some("HTTP/1.1 200 X\r\ncontent-length: 10\r\nconnection: close\r\n\r\nhalf".into()));
    let proxy = Running::with(&config(&[&half, &other], "", "retry: {}"), "");
    let mut client = Client::connect(proxy.address);
    client.request("GET /", &[], b"");
    assert!(client.try_reply(true).is_err(), "the response is not whole");
    assert_eq!(half.hits() + other.hits(), 1);
}

/// Rules of `responseBody` hold a response back. What the phase `response` and `countWhen` made of
/// one that breaks off does not stay.
#[test]
fn a_response_that_breaks_off_decides_nothing() {
    let asked = Arc::new(AtomicUsize::new(0));
    let server = || {
        let asked = Arc::clone(&asked);
        Answering::start(move |_| {
            Some(match asked.fetch_add(1, Ordering::SeqCst) {
                0 => "HTTP/1.1 200 X\r\ncontent-length: 10\r\n\r\nhalf".into(),
                _ => response(401, "whole"),
            })
        })
    };
    let (a, b) = (server(), server());
    let policy = r#"
request: [{ name: logins, limit: { rate: 1/m, countWhen: response.code == 401 } }]
response: [{ when: response.code == 200, labels: { of: broken } }]
responseBody: [{ when: '"of" in labels && size(response.body) > 0', respond: { status: 500, body: seen } }]
"#;
    let proxy = Running::with(&config(&[&a, &b], "", "retry: {}, timeouts: { read: 2s }"), policy);
    assert_eq!(get(proxy.address, "/").status, 401);
    assert_eq!(a.hits() + b.hits(), 2);
    assert_eq!(get(proxy.address, "/").status, 429);
}

#[test]
fn the_last_answer_is_that_of_the_server() {
    let (a, b, c) = (Answering::always(503, "a"), Answering::always(502, "b"), Answering::always(504, "c"));
    let proxy = Running::with(&config(&[&a, &b, &c], "", "retry: { attempts: 1 }"), "");
    let reply = get(proxy.address, "/");
    assert!(["a", "b", "c"].contains(&reply.text().as_str()) && reply.status >= 502, "{reply:?}");
    assert_eq!(a.hits() + b.hits() + c.hits(), 2);
    let proxy = Running::with(&config(&[&a, &b, &c], "", "retry: { attempts: 9 }"), "");
    assert!(get(proxy.address, "/").status >= 502);
    assert_eq!(a.hits() + b.hits() + c.hits(), 5);
}

/// When all servers fail, retries are a share of the requests: they do not double the load.
#[test]
fn retries_have_a_budget() {
    let (a, b) = (Answering::always(503, "a"), Answering::always(503, "b"));
    let proxy = Running::with(&config(&[&a, &b], "", "retry: { budget: 0.1 }"), "");
    let begun = Instant::now();
    let mut client = Client::connect(proxy.address);
    for _ in 0..200 {
        assert_eq!(client.request("GET /", &[], b"").reply().status, 503);
    }
    let retries = a.hits() + b.hits() - 200;
    let refused = proxy.metric("celero_upstream_retries_refused_total");
    assert_eq!(retries as f64 + refused, 200.0);
    assert!((30..=most_retries(begun)).contains(&retries), "{retries}");
}

#[test]
fn a_policy_that_answers_is_not_retried() {
    let (a, b) = (Answering::always(200, "a"), Answering::always(200, "b"));
    let policy = "response: [{ name: never, respond: { status: 503, body: policy } }]\n";
    let proxy = Running::with(&config(&[&a, &b], "", "retry: {}"), policy);
    assert_eq!(get(proxy.address, "/").text(), "policy");
    assert_eq!(a.hits() + b.hits(), 1);
}

#[test]
fn servers_that_fail_are_ejected_and_come_back() {
    let works = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&works);
    let a = Answering::start(move |_| {
        Some(if state.load(Ordering::SeqCst) { response(200, "a") } else { response(503, "bad") })
    });
    let b = Answering::always(200, "b");
    let proxy = Running::with(&config(&[&a, &b], "ejection: { failures: 3, time: 3s }", ""), "");
    let ejected = r#"celero_upstream_servers_ejected{upstream="group"}"#;
    eventually(
        || {
            get(proxy.address, "/");
            proxy.metric(ejected) == 1.0
        },
        || "an ejection".into(),
    );
    let hits = a.hits();
    assert_eq!(hits, 3);
    for _ in 0..5 {
        assert_eq!(get(proxy.address, "/").text(), "b");
    }
    assert_eq!(a.hits(), hits, "an ejected server was asked");
    works.store(true, Ordering::SeqCst);
    eventually(|| get(proxy.address, "/").text() == "a", || "the server back".into());
    assert_eq!(proxy.metric(ejected), 0.0);
    proxy.reaches(r#"celero_upstream_ejections_total{upstream="group"}"#, 1.0);
}

/// A head is no success yet.
#[test]
fn servers_whose_responses_break_off_are_ejected() {
    let half =
        || Answering::start(|_| Some("HTTP/1.1 200 X\r\ncontent-length: 10\r\nconnection: close\r\n\r\nhalf".into()));
    let (a, b) = (half(), half());
    // The servers keep their connections open, so the rest of a body times out.
    let upstream = "ejection: { failures: 3, time: 1h }";
    let proxy = Running::with(&config(&[&a, &b], upstream, "timeouts: { read: 500ms }"), "");
    for _ in 0..6 {
        let mut client = Client::connect(proxy.address);
        assert!(client.request("GET /", &[], b"").try_reply(true).is_err(), "the response is not whole");
    }
    let ejected = || proxy.metric(r#"celero_upstream_servers_ejected{upstream="group"}"#) == 1.0;
    eventually(ejected, || "an ejection".into());
}

/// A client decides how long its upgraded connection is idle.
#[test]
fn idle_upgraded_connections_eject_no_server() {
    let switch = || {
        Answering::start(|_| {
            Some("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n".into())
        })
    };
    let (a, b) = (switch(), switch());
    let upstream = "ejection: { failures: 1, time: 1h }";
    let proxy = Running::with(&config(&[&a, &b], upstream, "timeouts: { read: 1s }"), "");
    let mut client = Client::connect(proxy.address);
    client.request("GET /", &["connection: upgrade", "upgrade: websocket"], b"");
    assert_eq!(client.reply().status, 101);
    // The log has a line when the connection has ended.
    proxy.log(1);
    assert_eq!(proxy.metric(r#"celero_upstream_servers_ejected{upstream="group"}"#), 0.0);
}

/// Somebody who finds a request that every server answers with 503 can't take out the upstream.
#[test]
fn the_last_half_is_never_ejected() {
    let servers: Vec<Answering> = (0..4)
        .map(|_| {
            Answering::start(|request| {
                Some(if request.starts_with("GET /bad") { response(503, "") } else { response(200, "ok") })
            })
        })
        .collect();
    let all: Vec<&Answering> = servers.iter().collect();
    let proxy = Running::with(&config(&all, "ejection: { failures: 1, time: 1h }", ""), "");
    for _ in 0..40 {
        assert_eq!(get(proxy.address, "/bad").status, 503);
    }
    proxy.reaches(r#"celero_upstream_servers_ejected{upstream="group"}"#, 2.0);
    assert_eq!(get(proxy.address, "/").status, 200);
}

/// A client that sends half a body makes no server fail.
#[test]
fn slow_clients_eject_no_server() {
    let (a, b) = (Answering::always(200, "a"), Answering::always(200, "b"));
    let upstream = "ejection: { failures: 1, time: 1h }";
    let proxy =
        Running::with(&config(&[&a, &b], upstream, "timeouts: { read: 200ms }, retry: { methods: [POST] }"), "");
    let mut client = Client::connect(proxy.address);
    client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf");
    assert_eq!(client.reply().status, 408);
    assert_eq!(proxy.metric(r#"celero_upstream_servers_ejected{upstream="group"}"#), 0.0);
    assert_eq!(proxy.metric("celero_upstream_retries_total"), 0.0);
}

#[test]
fn weights_share_out_requests() {
    let (a, b) = (Answering::always(200, "a"), Answering::always(200, "b"));
    let config = format!(
        "upstreams: [{{ name: group, servers: [{{ address: \"{}\", weight: 3 }}, \"{}\"] }}]\nroutes: [{{ upstream: group }}]\n",
        a.address, b.address
    );
    let proxy = Running::with(&config, "");
    (0..40).for_each(|_| drop(get(proxy.address, "/")));
    assert_eq!((a.hits(), b.hits()), (30, 10));
}

#[test]
fn the_server_with_the_fewest_open_requests_is_chosen() {
    // Whoever gets the slow request answers it when the test sends something, or has ended.
    let (release, held) = mpsc::channel::<()>();
    let held = Arc::new(Mutex::new(held));
    let server = |name: &'static str| {
        let held = Arc::clone(&held);
        Answering::start(move |request| {
            if request.starts_with("GET /slow") {
                let _ = held.lock().unwrap().recv();
            }
            Some(response(200, name))
        })
    };
    let (a, b) = (server("a"), server("b"));
    let proxy = Running::with(&config(&[&a, &b], "balance: leastRequests", ""), "");
    let mut slow = Client::connect(proxy.address);
    slow.request("GET /slow", &[], b"");
    proxy.reaches("celero_requests_open", 1.0);
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..6 {
        *found.entry(get(proxy.address, "/").text()).or_default() += 1;
    }
    release.send(()).unwrap();
    let busy = slow.reply().text();
    assert_eq!(found.get(&busy), None, "{found:?}");
    // Later both are equal again.
    (0..6).for_each(|_| *found.entry(get(proxy.address, "/").text()).or_default() += 1);
    assert_eq!(found.len(), 2, "{found:?}");
}
