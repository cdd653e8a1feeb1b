//! What routes do besides leading to an upstream: answers of their own, shares of the keys, copies, timeouts.

use crate::answering::{Answering, response};
use crate::backend::Backend;
use crate::client::{Client, get, get_with, post};
use crate::running::{Folder, Running, eventually};
use celero_proxy::config::Config;
use std::collections::BTreeSet;
use std::net::TcpListener;

#[test]
fn routes_answer() {
    let rest = "upstreams: [{ name: demo, demo: true }]\nroutes:\n\
                - { path: /down, answer: { status: 503, headers: { retry-after: '60', content-type: text/html }, file: down.html } }\n\
                - { path: /gone, answer: { status: 410, body: gone } }\n- { path: /none, answer: { status: 204 } }\n- { upstream: demo }\n";
    let proxy =
        Running::with_listener("h2c: true", rest, "", |folder| drop(folder.write("down.html", "<p>Back soon.")));
    let reply = get(proxy.address, "/down/x");
    assert_eq!((reply.status, reply.text().as_str()), (503, "<p>Back soon."));
    assert_eq!((reply.header("retry-after").as_str(), reply.header("content-type").as_str()), ("60", "text/html"));
    let reply = get(proxy.address, "/gone");
    assert_eq!((reply.status, reply.header("content-type").as_str()), (410, "text/plain; charset=utf-8"));
    let mut client = Client::connect(proxy.address);
    assert_eq!(client.request("GET /none", &[], b"").reply().status, 204);
    assert_eq!(client.request("HEAD /gone", &[], b"").try_reply(false).unwrap().header("content-length"), "4");
    assert_eq!(client.request("GET /gone", &[], b"").reply().text(), "gone");
    assert_eq!(get(proxy.address, "/").status, 200);
    // The file is watched as the others are.
    proxy.folder.write("down.html", "<p>Soon.");
    eventually(|| get(proxy.address, "/down").text() == "<p>Soon.", || "the new text".into());
    assert_eq!(proxy.log(1)[0]["status"], 503);
}

/// A rule that refuses counts before a route that answers.
#[test]
fn policies_come_before_answers() {
    let rest = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ answer: { status: 200, body: secret } }]\n";
    let proxy = Running::with(rest, "request: [{ name: all, deny: 403 }]\n");
    assert_eq!(get(proxy.address, "/").status, 403);
}

#[test]
fn keys_decide_between_upstreams() {
    let (old, new) = (Backend::start("old"), Backend::start("new"));
    let rest = format!(
        "upstreams: [{{ name: old, servers: [\"{}\"] }}, {{ name: new, servers: [\"{}\"] }}]\n\
         routes: [{{ split: [{{ upstream: new, weight: 30 }}, {{ upstream: old, weight: 70 }}], by: header x-user }}]\n",
        old.address, new.address
    );
    let proxy = Running::with(&rest, "");
    let asked = |user: usize| get_with(proxy.address, "/", &[&format!("x-user: {user}"), "connection: close"]).text();
    let first: Vec<String> = (0..40).map(asked).collect();
    assert_eq!(first, (0..40).map(asked).collect::<Vec<_>>());
    let canaries = first.iter().filter(|name| *name == "new").count();
    assert!((4..=22).contains(&canaries), "{canaries}");
    // Without the header the address decides, which is one.
    assert_eq!((0..10).map(|_| get(proxy.address, "/").text()).collect::<BTreeSet<_>>().len(), 1);
    for upstream in ["old", "new"] {
        let line = format!(r#"celero_request_duration_seconds_count{{route="*",upstream="{upstream}",status="2xx"}}"#);
        assert!(proxy.metric(&line) > 0.0);
    }
}

fn mirrored(main: &str, copies: &str) -> String {
    format!(
        "upstreams: [{{ name: main, {main} }}, {{ name: shadow, {copies} }}]\n\
         routes: [{{ upstream: main, mirror: {{ upstream: shadow }} }}]\n"
    )
}

#[test]
fn copies_are_whole_requests() {
    let (main, shadow) = (Answering::always(200, "main"), Answering::always(500, "shadow"));
    let servers = |server: &Answering| format!("servers: [\"{}\"]", server.address);
    let policy = "request: [{ name: add, setHeaders: { x-added: 'yes' } }]\n";
    let proxy = Running::with(&mirrored(&servers(&main), &servers(&shadow)), policy);
    assert_eq!(get(proxy.address, "/a?b=c").text(), "main");
    assert_eq!(post(proxy.address, "/p", b"the body").text(), "main");
    let chunked = "POST /c HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    assert_eq!(Client::connect(proxy.address).send(chunked).reply().text(), "main");
    eventually(|| shadow.hits() == 3, || format!("three copies: {:?}", shadow.seen()));
    let seen = shadow.seen();
    for (line, end) in
        [("GET /a?b=c HTTP/1.1\r\n", "\r\n\r\n"), ("POST /p ", "\r\n\r\nthe body"), ("POST /c ", "\r\n\r\nabc")]
    {
        let copy = seen.iter().find(|request| request.starts_with(line)).unwrap();
        assert!(copy.ends_with(end) && copy.to_lowercase().contains("x-added: yes\r\n"), "{copy}");
        assert!(!copy.to_lowercase().contains("transfer-encoding"), "{copy}");
    }
    eventually(
        || proxy.metric(r#"celero_mirrored_requests_total{result="answered"}"#) == 3.0,
        || "three answers".into(),
    );
    // Refused requests are not copied, and neither are large bodies.
    assert_eq!(post(proxy.address, "/l", &vec![b'x'; 100 << 10]).text(), "main");
    proxy.reaches(r#"celero_mirrored_requests_total{result="skipped"}"#, 1.0);
    assert_eq!(shadow.hits(), 3);
}

/// Interim responses come before the response, but not without end.
#[test]
fn interim_responses_to_copies_are_passed_over_up_to_a_bound() {
    for (count, result) in [(2, "answered"), (100, "answered"), (101, "failed")] {
        let main = Answering::always(200, "main");
        let interim = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(count);
        let shadow = Answering::start(move |_| Some(format!("{interim}{}", response(200, "shadow"))));
        let servers = |server: &Answering| format!("servers: [\"{}\"]", server.address);
        let proxy = Running::with(&mirrored(&servers(&main), &servers(&shadow)), "");
        assert_eq!(get(proxy.address, "/").text(), "main");
        let line = |result| format!("celero_mirrored_requests_total{{result=\"{result}\"}}");
        let sum = || proxy.metric(&line("answered")) + proxy.metric(&line("failed"));
        eventually(|| sum() == 1.0, || "an end of the copy".into());
        proxy.reaches(&line(result), 1.0);
    }
}

/// An upstream for copies that is dead, or never answers, costs the clients nothing.
#[test]
fn nobody_waits_for_copies() {
    let main = Answering::always(200, "main");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let shadow = format!("servers: [\"{}\"]", silent.local_addr().unwrap());
    let proxy = Running::with(&mirrored(&format!("servers: [\"{}\"]", main.address), &shadow), "");
    let mut client = Client::connect(proxy.address);
    // More than there may be copies at a time.
    for _ in 0..400 {
        assert_eq!(client.request("GET /", &[], b"").reply().text(), "main");
    }
    assert!(proxy.metric(r#"celero_mirrored_requests_total{result="skipped"}"#) >= 100.0);
    proxy.reaches("celero_requests_open", 0.0);
}

/// A copy is one of the open requests of its upstream, and is skipped if there is no place for it.
#[test]
fn copies_have_places_in_their_upstream() {
    let main = Answering::always(200, "main");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let shadow = format!("servers: [\"{}\"], requests: 1", silent.local_addr().unwrap());
    let proxy = Running::with(&mirrored(&format!("servers: [\"{}\"]", main.address), &shadow), "");
    let mut client = Client::connect(proxy.address);
    for _ in 0..4 {
        assert_eq!(client.request("GET /", &[], b"").reply().text(), "main");
    }
    proxy.reaches(r#"celero_mirrored_requests_total{result="skipped"}"#, 3.0);
    assert_eq!(proxy.metric(r#"celero_upstream_requests_refused_total{upstream="shadow"}"#), 0.0);
}

#[test]
fn timeouts_of_a_route_replace_those_of_the_file() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let rest = format!(
        "upstreams: [{{ name: silent, servers: [\"{}\"] }}]\nroutes: [{{ upstream: silent, timeouts: {{ read: 100ms }} }}]\n",
        silent.local_addr().unwrap()
    );
    let proxy = Running::with(&rest, "");
    assert_eq!(get(proxy.address, "/").status, 504);
}

#[test]
fn mistakes_are_reported() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    folder.write("large.html", &"x".repeat((1 << 20) + 1));
    for (route, expected) in [
        ("path: /", "a route needs the key `upstream`, `split` or `answer`"),
        ("upstream: a, answer: { status: 200 }", "a route has one of `upstream`, `split` and `answer`, not several"),
        ("answer: { status: 200 }, retry: {}", "`retry` has no meaning for a route with `answer`"),
        ("answer: { status: 200, body: a, file: b }", "either `body` or `file`"),
        ("answer: { status: 204, body: a }", "has no body"),
        ("answer: { status: 200, file: missing.html }", "missing.html can't be read"),
        ("answer: { status: 200, file: large.html }", "larger than 1 MiB"),
        ("answer: { status: 200, headers: { content-length: '5' } }", "`content-length` can't be a header here"),
        ("answer: { status: 200, headers: { x-a: \"a\\r\\nb: c\" } }", "characters that a header can't have"),
        ("answer: { status: 101 }", "a number from 200 to 599"),
        ("upstream: a, by: path", "`by` of a route has a meaning for `split` only"),
        ("split: [{ upstream: a, weight: 0 }]", "needs a weight above 0"),
        ("split: [{ upstream: b, weight: 1 }]", "there is no upstream `b`"),
        ("upstream: a, mirror: { upstream: h }", "copies are sent in HTTP/1.1"),
        ("upstream: a, retry: { methods: [get] }", "methods are written in capital letters"),
        ("upstream: a, retry: { statuses: [200] }", "a number from 400 to 599"),
        ("upstream: a, retry: { when: response.code }", "a condition is `bool`"),
        ("upstream: a, retry: { when: 'labels.a == \"b\"' }", "labels"),
        ("upstream: a, retry: { when: 'true', statuses: [503] }", "`retry` has either `when` or `statuses`, not both"),
    ] {
        let file = folder.write(
            "proxy.yaml",
            &format!(
                "listeners: [{{ address: 127.0.0.1:0 }}]\npolicy: policy.yaml\n\
                 upstreams: [{{ name: a, demo: true }}, {{ name: h, demo: true, h2c: true }}]\nroutes: [{{ {route} }}]\n"
            ),
        );
        let error = Config::check(&file).expect_err(route).to_string();
        assert!(error.contains(expected), "{route}: {error}");
    }
}
