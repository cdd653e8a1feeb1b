//! Lookups by list in the metrics, in `GET /lists` and on the page for operators, over sockets.

use crate::client::{Client, get};
use crate::lists::{TOKEN, change, denied, json, rest};
use crate::running::{Running, eventually};

const POLICY: &str = "\
lists:
  paths: {kind: texts, entries: [/inline]}
  nets: {kind: addresses, entries: [192.0.2.0/24]}
  unused: {kind: integers}
request:
  - {name: listed, when: request.path in lists.paths, deny: 403}
  - {name: net, when: source.address in lists.nets, deny: 403}
";

fn running() -> Running {
    Running::with_listener("h2c: true", &rest(""), POLICY, |folder| {
        folder.write("admin.token", &format!("{TOKEN}\n"));
    })
}

fn lookups(proxy: &Running, list: &str) -> f64 {
    proxy.metric(&format!("celero_list_lookups_total{{list=\"{list}\"}}"))
}

#[test]
fn requests_are_counted_by_the_lists_that_they_ask() {
    let proxy = running();
    assert_eq!(["paths", "nets", "unused"].map(|list| lookups(&proxy, list)), [0.0; 3]);
    assert_eq!(denied(proxy.address, &["/inline", "/a", "/b", "/c", "/a"]), ["/inline"]);
    // Many on one connection, of which some are not canonical and never reach a rule.
    let mut client = Client::connect(proxy.address);
    for _ in 0..200 {
        assert_eq!(client.request("GET /x", &[], b"").reply().status, 200);
    }
    for _ in 0..10 {
        assert_eq!(get(proxy.address, "/%00").status, 400);
    }
    assert_eq!(["paths", "nets", "unused"].map(|list| lookups(&proxy, list)), [205.0, 205.0, 0.0]);

    // What operators do is no lookup.
    assert_eq!(change(proxy.metrics, "POST /lists/paths", "text/plain", "/a\n/b\n").status, 200);
    assert_eq!(change(proxy.metrics, "DELETE /lists/paths", "text/plain", "/b\n").status, 200);
    let token = format!("authorization: Bearer {TOKEN}");
    let listing = json(&Client::connect(proxy.metrics).request("GET /lists", &[&token], b"").reply());
    let shown = |number: usize| (listing["lists"][number]["name"].clone(), listing["lists"][number]["lookups"].clone());
    assert_eq!([0, 1, 2].map(shown), [("paths", 205), ("nets", 205), ("unused", 0)].map(|(a, b)| (a.into(), b.into())));
    let page = get(proxy.metrics, "/").text();
    assert!(page.contains("<th class=\"n\">lookups") && page.contains("<td class=\"n\">205"), "{page}");
    assert_eq!(lookups(&proxy, "paths"), 205.0);
}

/// Clients ask while the policy is replaced, several times: no lookup is lost and none counts twice.
#[test]
fn a_reload_keeps_the_counts_of_lists_that_stay() {
    const CLIENTS: u32 = 4;
    const REQUESTS: u32 = 100;
    let proxy = running();
    let others = POLICY.replace("unused", "others").replace("/inline", "/other");
    std::thread::scope(|scope| {
        let clients = [(); CLIENTS as usize].map(|()| {
            scope.spawn(|| {
                let mut client = Client::connect(proxy.address);
                for _ in 0..REQUESTS {
                    assert_eq!(client.request("GET /x", &[], b"").reply().status, 200);
                }
            })
        });
        for policy in [&*others, POLICY, &*others] {
            proxy.folder.write("policy.yaml", policy);
            proxy.handle.reload().unwrap();
        }
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
    let asked = f64::from(CLIENTS * REQUESTS);
    assert_eq!(["paths", "nets", "others"].map(|list| lookups(&proxy, list)), [asked, asked, 0.0]);
    let metrics = || get(proxy.metrics, "/metrics").text();
    assert!(!metrics().contains("list=\"unused\""), "{}", metrics());
    // A policy with errors changes nothing.
    proxy.folder.write("policy.yaml", "lists: {paths: {kind: numbers}}\n");
    assert!(proxy.handle.reload().is_err());
    assert_eq!(denied(proxy.address, &["/other", "/x"]), ["/other"]);
    eventually(|| lookups(&proxy, "paths") == asked + 2.0, metrics);
}
