//! The section `lists`: entries in the policy and in files, reloads, and mistakes.

use crate::support::{Folder, ask, exchange, head, policy, status, wrong};
use celero_policy::{LivePolicy, Policy};
use std::path::Path;

const POLICY: &str = "
lists:
  blocked: {kind: addresses, entries: [192.0.2.7, '2001:db8::/32']}
  tenants: {kind: hosts, entries: ['*.example.com', example.org]}
  ports: {kind: integers, entries: [80, 8000..8999]}
variables:
  known: request.host in lists.tenants
request:
- {when: source.address in lists.blocked, deny: 403}
- {language: filter, when: 'ip.src in $blocked', deny: 418}
- {when: '!variables.known', deny: 404}
";

fn asked(policy: &Policy, host: &str) -> u16 {
    status(ask(policy, &head("GET /", &[("host", host)]), &mut exchange()))
}

#[test]
fn rules_ask_lists() {
    for read in [Policy::parse, Policy::check] {
        let blocked = read("policy.yaml", POLICY, Path::new(".")).unwrap();
        assert_eq!(asked(&blocked, "a.example.com"), 403);
        let others = read("policy.yaml", &POLICY.replace("192.0.2.7", "192.0.2.8"), Path::new(".")).unwrap();
        assert_eq!(
            [asked(&others, "a.example.com"), asked(&others, "example.org"), asked(&others, "example.com")],
            [0, 0, 404]
        );
        // A host may change the lists while the policy is used.
        let lists = others.lists().unwrap();
        lists.change().insert("blocked", "192.0.2.0/29").commit().unwrap();
        assert_eq!(asked(&others, "a.example.com"), 403);
        lists.change().remove("blocked", "192.0.2.0/29").insert("tenants", "example.com").commit().unwrap();
        assert_eq!(asked(&others, "example.com"), 0);
    }
    assert!(policy("request: []").lists().is_none());
}

#[test]
fn files_are_read_again_with_the_policy() {
    let folder = Folder::new("lists");
    let file = folder.write(
        "policy.yaml",
        "lists: {blocked: {kind: addresses, files: [lists/b.txt, lists/c.csv], entries: [198.51.100.0/24]}}
request: [{when: source.address in lists.blocked, deny: 403}]",
    );
    std::fs::create_dir_all(folder.path("lists")).unwrap();
    folder.write("lists/b.txt", "# nobody yet\n10.0.0.0/8  # inside\n");
    // The first has expired long ago.
    folder.write("lists/c.csv", "entry,expires\n192.0.2.7,1000\n192.0.2.9,\n");
    let live = LivePolicy::load(&file).unwrap();
    assert_eq!(asked(&live.current(), "h"), 0);
    let watched = live.current().files().iter().map(|file| file.file_name().unwrap().to_owned()).collect::<Vec<_>>();
    assert!(
        ["policy.yaml", "b.txt", "c.csv"].iter().all(|name| watched.iter().any(|file| file == name)),
        "{watched:?}"
    );
    folder.write("lists/b.txt", "192.0.2.0/29\n");
    live.reload().unwrap();
    assert_eq!(asked(&live.current(), "h"), 403);
    // A file with mistakes changes nothing, and all of them are reported.
    folder.write("lists/b.txt", "10.0.0.0/99\n10.0.0.1\nnobody\n");
    let error = live.reload().unwrap_err().to_string();
    assert!(error.contains("b.txt: line 1: \"10.0.0.0/99\"") && error.contains("line 3: \"nobody\""), "{error}");
    assert_eq!(asked(&live.current(), "h"), 403);
    std::fs::remove_file(folder.path("lists/b.txt")).unwrap();
    assert!(live.reload().unwrap_err().to_string().contains("b.txt can't be read"));
    assert_eq!(asked(&live.current(), "h"), 403);
}

#[test]
fn mistakes_are_reported_at_their_place() {
    for (text, says) in [
        (
            "lists: {a: {kind: addresses, entries: [10.0.0.0/8, x, 10.0.0.0/99]}}",
            &["policy.yaml:1:52", "`x` is no entry", "`10.0.0.0/99` is no entry"][..],
        ),
        ("lists: {a: {entries: [x]}}", &["`kind`"]),
        ("lists: {a: {kind: address}}", &["`addresses`"]),
        ("lists: {a b: {kind: texts}}", &["is no name of a list"]),
        ("lists: {a: {kind: texts, entry: [x]}}", &["`entries`"]),
        ("lists: {b: {kind: texts, files: [/no/such/file]}}", &["/no/such/file can't be read"]),
        (
            "lists: {blocked: {kind: addresses}}\nrequest: [{when: source.address in lists.blokced, deny: true}]",
            &["there is no list `blokced`", "did you mean `blocked`?"],
        ),
        (
            "lists: {ports: {kind: integers}}\nrequest: [{when: request.host in lists.ports, deny: true}]",
            &["an `int` or a `uint`"],
        ),
        (
            "request: [{language: filter, when: ip.src in $blocked, deny: true}]",
            &["unknown list `$blocked`", "there are no lists of type Ip"],
        ),
        ("request: [{when: source.address in lists.blocked, deny: true}]", &["undeclared reference to `lists"]),
    ] {
        let error = wrong(text);
        for part in says {
            assert!(error.contains(part), "{text}\n{error}");
        }
    }
    let many = (0..50).map(|n| format!("x{n}")).collect::<Vec<_>>().join("\n");
    let folder = Folder::new("lists-wrong");
    let file = folder.write("policy.yaml", "lists: {a: {kind: addresses, files: [a.txt]}}");
    folder.write("a.txt", &many);
    let error = Policy::load(&file).unwrap_err().to_string();
    assert!(error.contains("line 20: ") && !error.contains("line 21: ") && error.contains("and 30 more"), "{error}");
}
