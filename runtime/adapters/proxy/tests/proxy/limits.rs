//! Limits of a policy in the proxy, over sockets: who is counted, what counts, and what a client can do about it.

use crate::client::{Client, get, get_with};
use crate::h2;
use crate::running::{Running, eventually};

#[test]
fn a_client_is_one_key_over_connections_versions_and_reloads() {
    let policy = "request: [{ name: each, limit: { key: '${source.address}', rate: 6/h, headers: always } }]\n";
    let proxy = Running::demo(policy);
    let first = get(proxy.address, "/a");
    assert_eq!(first.status, 200);
    assert!(first.header("ratelimit").contains("r=5"), "{}", first.header("ratelimit"));
    let mut kept = Client::connect(proxy.address);
    assert_eq!(kept.request("GET /b", &[], b"").kept().status, 200);
    let over_h2 = h2::exchange(proxy.address, vec![h2::request("GET", "/c", b""), h2::request("GET", "/d", b"")]);
    assert!(over_h2.iter().all(|answer| answer.status() == 200));
    // The counters of a limit that stays outlive the policy.
    proxy.folder.write("policy.yaml", &format!("{policy}response: [{{ setHeaders: {{ x-new: yes }} }}]\n"));
    proxy.handle.reload().unwrap();
    assert_eq!(get(proxy.address, "/e").header("x-new"), "yes");
    // What a client says about itself makes no other key.
    assert_eq!(get_with(proxy.address, "/f", &["x-forwarded-for: 192.0.2.1"]).status, 200);
    let limited = get_with(proxy.address, "/g", &["x-forwarded-for: 192.0.2.2"]);
    assert_eq!(limited.status, 429);
    assert!(limited.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(kept.request("GET /h", &[], b"").reply().status, 429);
    assert_eq!(h2::exchange(proxy.address, vec![h2::request("GET", "/i", b"")])[0].status(), 429);
    let log = proxy.log(9);
    assert_eq!(log.iter().filter(|line| line["rule"] == "each" && line["status"] == 429).count(), 3);
    proxy.reaches("celero_limit_decisions_total{limit=\"each\",decision=\"limited\"}", 3.0);
}

#[test]
fn only_what_the_server_refused_counts() {
    let policy = "request: [{ name: logins, limit: { key: '${source.address}', rate: 3/h, countWhen: response.code == 401 } }]\n";
    let proxy = Running::demo(policy);
    for _ in 0..10 {
        assert_eq!(get(proxy.address, "/status/200").status, 200);
    }
    for expected in [401, 401, 401, 429, 429] {
        assert_eq!(get(proxy.address, "/status/401").status, expected);
    }
    assert_eq!(get(proxy.address, "/status/200").status, 429);
}

/// A request is open until it was answered or its client has gone.
#[test]
fn open_requests_end_with_their_clients() {
    let limit = "limit: { key: '${source.address}', concurrent: 1, onLimit: { deny: 503 } }";
    let proxy = Running::demo(&format!("request: [{{ name: open, {limit} }}]\n"));
    for ends_early in [true, false] {
        let open = |count: f64| proxy.reaches("celero_limit_keys{limit=\"open\"}", count);
        open(0.0);
        let mut waiting = Client::connect(proxy.address);
        waiting.send("POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nha");
        // Before that, a request could take the only place.
        open(1.0);
        assert_eq!(get(proxy.address, "/other").status, 503);
        if ends_early {
            drop(waiting);
        } else {
            assert_eq!(waiting.send("lf").reply().status, 200);
        }
        eventually(|| get(proxy.address, "/other").status == 200, || "no open request".into());
    }
}
