//! Files that change while the proxy runs.

use crate::client::{Client, get};
use crate::running::{Running, config, eventually};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn policy(version: usize) -> String {
    format!("response:\n  - {{ name: v, setHeaders: {{ x-version: \"{version}\", x-same: \"{version}\" }} }}\n")
}

fn version(proxy: &Running) -> String {
    get(proxy.address, "/").header("x-version")
}

#[test]
fn a_changed_file_is_read_again() {
    let proxy = Running::demo(&policy(1));
    assert_eq!(version(&proxy), "1");
    proxy.folder.write("policy.yaml", &policy(2));
    eventually(|| version(&proxy) == "2", || "version 2".into());
    eventually(|| proxy.metric("celero_policy_reloads") == 1.0, || "one reload".into());
    // Written in place, as editors do, too.
    std::fs::write(proxy.folder.0.join("policy.yaml"), policy(33)).unwrap();
    eventually(|| version(&proxy) == "33", || "version 33".into());
}

#[test]
fn a_bad_file_changes_nothing() {
    let proxy = Running::demo(&policy(1));
    proxy.folder.write("policy.yaml", "response:\n  - { name: v, when: response.cod == 200, deny: true }\n");
    eventually(|| proxy.metric("celero_policy_reload_failures") == 1.0, || "a failure".into());
    assert_eq!(version(&proxy), "1");
    let error = proxy.handle.reload().unwrap_err().to_string();
    assert!(error.contains("policy.yaml:2:") && error.contains("response.code"), "{error}");
    proxy.folder.write("policy.yaml", &policy(2));
    eventually(|| version(&proxy) == "2", || "version 2".into());
}

#[test]
fn routes_change_with_the_configuration() {
    let proxy = Running::demo(&policy(1));
    assert_eq!(get(proxy.address, "/x").status, 200);
    let rest = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ path: /y, upstream: demo }]\n";
    proxy.folder.write("proxy.yaml", &config(rest));
    eventually(|| get(proxy.address, "/x").status == 404, || "no route for /x".into());
    assert_eq!(get(proxy.address, "/y").status, 200);
    proxy.folder.write("proxy.yaml", "listeners: what\n");
    eventually(|| proxy.metric("celero_policy_reload_failures") == 1.0, || "a failure".into());
    assert_eq!(get(proxy.address, "/y").status, 200);
}

/// No request fails, and each sees one generation, while the policy changes under it.
#[test]
fn no_request_fails_during_reloads() {
    let proxy = Running::demo(&policy(0));
    let (over, served) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = Client::connect(proxy.address);
                while !over.load(Ordering::SeqCst) {
                    let reply = client.request("GET /", &[], b"").reply();
                    assert_eq!(reply.status, 200);
                    assert!(!reply.header("x-version").is_empty());
                    assert_eq!(reply.header("x-version"), reply.header("x-same"));
                    served.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for round in 1..=30 {
            let before = served.load(Ordering::SeqCst);
            if round % 5 == 0 {
                proxy.folder.write("policy.yaml", "response: [{ deny: treu }]\n");
                proxy.handle.reload().unwrap_err();
            }
            proxy.folder.write("policy.yaml", &policy(round));
            proxy.handle.reload().unwrap();
            eventually(|| served.load(Ordering::SeqCst) > before + 3, || "requests to be served".into());
        }
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(version(&proxy), "30");
}
