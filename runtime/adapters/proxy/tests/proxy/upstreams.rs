//! Where requests go, and what happens when servers die.

use crate::backend::Backend;
use crate::client::{Client, get, get_with};
use crate::running::{Running, eventually};
use std::collections::BTreeSet;

fn two(a: &Backend, b: &Backend, more: &str) -> String {
    let (a, b) = (a.address, b.address);
    format!("upstreams: [{{ name: pair, servers: [\"{a}\", \"{b}\"], {more} }}]\nroutes: [{{ upstream: pair }}]\n")
}

#[test]
fn servers_take_turns() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let proxy = Running::with(&two(&a, &b, "balance: roundRobin"), "");
    for _ in 0..10 {
        assert_eq!(get(proxy.address, "/").status, 200);
    }
    assert_eq!((a.hits(), b.hits()), (5, 5));
}

#[test]
fn chance_finds_all_servers() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let proxy = Running::with(&two(&a, &b, "balance: random"), "");
    let seen: BTreeSet<String> = (0..40).map(|_| get(proxy.address, "/").text()).collect();
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_key_leads_to_one_server() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let proxy = Running::with(&two(&a, &b, "balance: consistent, by: header x-user"), "");
    let server = |user: usize| get_with(proxy.address, "/", &[&format!("x-user: {user}"), "connection: close"]).text();
    let first: Vec<String> = (0..16).map(server).collect();
    assert_eq!(first, (0..16).map(server).collect::<Vec<_>>());
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 2, "one server has all keys");
}

#[test]
fn a_text_of_the_policy_leads_to_one_server() {
    let mut servers = vec![Backend::start("a"), Backend::start("b"), Backend::start("c")];
    let addresses: Vec<_> = servers.iter().map(|server| format!("\"{}\"", server.address)).collect();
    let config = format!(
        "upstreams: [{{ name: three, balance: consistent, by: label session, servers: [{}] }}]\nroutes: [{{ upstream: three }}]\n",
        addresses.join(", ")
    );
    let policy = "request:\n- labels: { session: \"${request.headers['x-user'].lowerAscii()}\" }\n";
    let proxy = Running::with(&config, policy);
    let server = |user: &str| get_with(proxy.address, "/", &[&format!("x-user: {user}"), "connection: close"]).text();
    let users: Vec<String> = (0..24).map(|user| format!("User-{user}")).collect();
    let first: Vec<String> = users.iter().map(|user| server(user)).collect();
    assert_eq!(first, users.iter().map(|user| server(&user.to_lowercase())).collect::<Vec<_>>());
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 3);
    // Only the keys of a server that is gone move.
    servers.remove(0);
    for (user, before) in users.iter().zip(&first) {
        let now = server(user);
        assert!(if before == "a" { now != "a" } else { now == *before }, "{user}: {before}, then {now}");
    }
    // A request without the label has the client's address as its key.
    let without: BTreeSet<String> = (0..4).map(|_| get(proxy.address, "/").text()).collect();
    assert_eq!(without.len(), 1);
}

#[test]
fn a_dead_server_costs_no_request() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let proxy = Running::with(&two(&a, &b, "balance: roundRobin"), "");
    drop(a);
    for _ in 0..10 {
        assert_eq!(get(proxy.address, "/").text(), "b");
    }
    assert!(proxy.metric("celero_upstream_connect_failures_total") >= 1.0);
    drop(b);
    let reply = get(proxy.address, "/");
    assert_eq!(reply.status, 502);
    assert!(proxy.log(11)[10]["error"].is_string());
}

#[test]
fn health_checks_take_servers_out_and_back() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let health = "health: { path: /health, interval: 50ms, timeout: 1s, unhealthyAfter: 1 }";
    let proxy = Running::with(&two(&a, &b, health), "");
    let healthy = |wanted: f64| {
        let now = || proxy.metric(r#"celero_upstream_servers_healthy{upstream="pair"}"#);
        eventually(|| now() == wanted, || format!("{wanted} servers, not {}", now()));
    };
    healthy(2.0);
    let address = a.address;
    drop(a);
    healthy(1.0);
    let failed = proxy.metric("celero_upstream_connect_failures_total");
    for _ in 0..4 {
        assert_eq!(get(proxy.address, "/").text(), "b");
    }
    assert_eq!(proxy.metric("celero_upstream_connect_failures_total"), failed, "a dead server was asked");
    let _a = Backend::at(address, "a");
    healthy(2.0);
}

#[test]
fn routes_go_by_host_path_and_label() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let config = format!(
        "upstreams:\n- {{ name: a, servers: [\"{}\"] }}\n- {{ name: b, servers: [\"{}\"] }}\n- {{ name: demo, demo: true }}\n\
         routes:\n- {{ label: tier=canary, upstream: b }}\n- {{ host: localhost, path: /a, upstream: a }}\n\
         - {{ host: \"*.example\", path: /demo, upstream: demo }}\n",
        a.address, b.address
    );
    let policy = "request:\n  - { name: canary, when: '\"x-canary\" in request.headers', labels: { tier: canary } }\n";
    let proxy = Running::with(&config, policy);
    assert_eq!(get(proxy.address, "/a/x").text(), "a");
    assert_eq!(get_with(proxy.address, "/a/x", &["x-canary: 1"]).text(), "b");
    let head = "GET /demo HTTP/1.1\r\nhost: test.example\r\nconnection: close\r\n\r\n";
    assert_eq!(Client::connect(proxy.address).send(head).reply().echo().0["target"], "/demo");
    let lost = get(proxy.address, "/elsewhere");
    assert_eq!((lost.status, lost.text().as_str()), (404, "no route leads to an upstream\n"));
}
