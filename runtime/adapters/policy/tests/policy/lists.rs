//! The section `lists`: entries in the policy and in files, reloads, and mistakes.

use crate::support::{Folder, answer, ask, ask_response, exchange, head, policy, response, status, wrong};
use celero::lists::Lists;
use celero_policy::{LivePolicy, Policy};
use std::path::Path;
use std::sync::{Arc, OnceLock};

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
    assert!(policy("empty: allowed").lists().is_none());
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
fn rules_read_values_of_entries() {
    let text = "
lists:
  geo:
    kind: addresses
    values: {country: string, asn: int, vpn: bool}
    entries: [{entry: 192.0.2.0/24, country: DE, asn: 3320}, {entry: '2001:db8::/32', country: 49, vpn: true}, 10.0.0.0/8]
    files: [geo.csv, geo.jsonl]
  tier: {kind: hosts, values: string, entries: [{entry: '*.example.com', value: gold}]}
variables:
  country: lists.geo[?source.address].country.orValue('ZZ')
request:
- {when: 'variables.country == \"DE\" && lists.geo[source.address].asn == 3320', deny: 403}
- {when: 'variables.country == \"FR\"', deny: 404}
- {when: 'variables.country == \"AT\"', deny: 405}
- {when: 'lists.tier[?request.host].orValue(\"free\") == \"gold\"', deny: 406}
- {when: 'default(lists.geo[source.address].vpn, false)', deny: 407}
";
    let folder = Folder::new("list-values");
    let file = folder.write("policy.yaml", text);
    folder.write("geo.csv", "entry,country,asn,vpn\n198.51.100.0/24,FR,,false\n");
    folder.write("geo.jsonl", "{\"entry\": \"192.0.2.7\", \"country\": \"AT\"}\n");
    let live = LivePolicy::load(&file).unwrap();
    // A longer prefix in a file decides, not the entry in the policy.
    assert_eq!(asked(&live.current(), "h"), 405);
    folder.write("geo.jsonl", "{\"entry\": \"192.0.2.8\", \"country\": \"AT\"}\n");
    live.reload().unwrap();
    assert_eq!(asked(&live.current(), "h"), 403);
    let policy = live.current();
    policy
        .lists()
        .unwrap()
        .change()
        .insert_value("geo", "192.0.2.7", [("country", "FR".into())], None)
        .commit()
        .unwrap();
    assert_eq!(asked(&policy, "h"), 404);
    policy.lists().unwrap().change().insert_value("geo", "192.0.2.7", [("vpn", true.into())], None).commit().unwrap();
    assert_eq!([asked(&policy, "a.example.com"), asked(&policy, "h")], [406, 407]);
    folder.write("geo.csv", "entry,country,asn\n198.51.100.0/24,FR,x\n");
    let error = live.reload().unwrap_err().to_string();
    assert!(error.contains("geo.csv: line 1: ") && error.contains("no column `vpn`"), "{error}");
    folder.write("geo.csv", "entry,country,asn,vpn\n198.51.100.0/24,FR,x,\n");
    let error = live.reload().unwrap_err().to_string();
    assert!(error.contains("geo.csv: line 2: \"x\": `asn`: not an integer of 64 bits"), "{error}");
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
            &["there is no list `blokced`", "did you mean `lists.blocked`?"],
        ),
        (
            "lists: {ports: {kind: integers}}\nrequest: [{when: request.host in lists.ports, deny: true}]",
            &["an `int` or a `uint`"],
        ),
        (
            "request: [{language: filter, when: ip.src in $blocked, deny: true}]",
            &["unknown list `$blocked`", "there are no lists of type Ip"],
        ),
        (
            "lists: {blocked: {kind: addresses}}\nrequest: [{when: source.address in $blocked, deny: true}]",
            &["`$` is not CEL", "did you mean `lists.blocked`?"],
        ),
        ("request: [{when: source.address in lists.blocked, deny: true}]", &["no named list is declared"]),
        ("lists: {a: {kind: texts, values: text}}", &["`string`"]),
        ("lists: {a: {kind: texts, values: {x: {y: int}}}}", &["`string`"]),
        ("lists: {a: {kind: texts, values: {entry: int}}}", &["a column of its own"]),
        ("lists: {a: {kind: texts, values: {}}}", &["at least one field"]),
        ("lists: {a: {kind: texts, values: int, entries: [x]}}", &["`x` is no entry of a list of texts:int: no value"]),
        (
            "lists: {a: {kind: texts, values: {n: int}, entries: [{entry: x, n: y}, {entry: x, m: 1}, {n: 1}, {entry: x, n: []}]}}",
            &[
                "policy.yaml:1:65",
                "`y`: not an integer of 64 bits",
                "no field `m`; there are n",
                "has the key `entry`",
                "is no int",
            ],
        ),
        ("lists: {a: {kind: texts, entries: [{entry: x, n: 1}]}}", &["carry no values: `values` declares them"]),
        (
            "lists: {a: {kind: texts, values: {n: int}}}\nrequest: [{when: 'lists.a[request.host].m == 1', deny: true}]",
            &["the values of `lists.a` have no field `m`", "there are the fields n"],
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

#[test]
fn lookups_are_counted_over_reloads() {
    let folder = Folder::new("lookups");
    let text = "lists: {blocked: {kind: addresses, entries: [198.51.100.0/24]}, old: {kind: texts}}
request: [{when: source.address in lists.blocked, deny: 403}, {when: request.path in lists.old, deny: 404}]";
    let file = folder.write("policy.yaml", text);
    let live = LivePolicy::load(&file).unwrap();
    let lookups = |list: &str| {
        let policy = live.current();
        let lists = policy.lists().unwrap();
        lists.load().find(list).map(|(id, _)| lists.lookups(id))
    };
    assert_eq!((lookups("blocked"), lookups("old"), lookups("new")), (Some(0), Some(0), None));
    let before = live.current();
    (0..100).for_each(|_| assert_eq!(asked(&before, "h"), 0));
    assert_eq!((lookups("blocked"), lookups("old")), (Some(100), Some(100)));
    // What is refused changes nothing.
    folder.write("policy.yaml", text.replace("198.51.100.0/24", "198.51.100.0/99"));
    assert!(live.reload().is_err());
    assert_eq!(asked(&live.current(), "h"), 0);
    assert_eq!(lookups("blocked"), Some(101));
    // Another order, and another list. A request that has the policy before still counts.
    folder.write(
        "policy.yaml",
        "lists: {new: {kind: integers}, blocked: {kind: addresses, empty: allowed}}
request: [{when: source.address in lists.blocked && source.port in lists.new, deny: 403}]",
    );
    live.reload().unwrap();
    assert_eq!((lookups("blocked"), lookups("old"), lookups("new")), (Some(101), None, Some(0)));
    assert_eq!((asked(&before, "h"), asked(&live.current(), "h")), (0, 0));
    assert_eq!((lookups("blocked"), lookups("new")), (Some(103), Some(0)));
    // A list that was gone begins again.
    folder.write("policy.yaml", text);
    live.reload().unwrap();
    assert_eq!((lookups("blocked"), lookups("old")), (Some(103), Some(0)));
}

/// A function of the host changes a list between a condition and what its rule computes.
#[test]
fn a_phase_asks_one_generation() {
    let text = "
lists: {geo: {kind: addresses, values: {country: string}, entries: [{entry: 192.0.2.0/24, country: DE}]}}
request:
- name: german
  when: lists.geo[source.address].country == 'DE' && moves()
  deny: {status: 403, body: '${lists.geo[source.address].country}'}
response:
- name: french
  when: lists.geo[source.address].country == 'FR'
  deny: 502
";
    for read in [celero_policy::Loader::parse, celero_policy::Loader::check] {
        let lists = Arc::new(OnceLock::<Lists>::new());
        let moved = Arc::clone(&lists);
        let moves = move || {
            let change = moved.get().unwrap().change();
            change.insert_value("geo", "192.0.2.0/24", [("country", "FR".into())], None).commit().is_ok()
        };
        let policy = read(&Policy::loader().function("moves", moves), "policy.yaml", text, Path::new(".")).unwrap();
        lists.set(policy.lists().unwrap().clone()).unwrap();
        let (head, mut exchange) = (head("GET /", &[]), exchange());
        exchange.watch_rules(None);
        let denied = answer(ask(&policy, &head, &mut exchange));
        assert_eq!((denied.status.as_u16(), &*denied.body), (403, &b"DE"[..]));
        let reasons: Vec<String> = exchange.rule_reasons().flat_map(|reasons| reasons.lines).collect();
        assert!(reasons.concat().contains("== 'DE' is true"), "{reasons:?}");
        let refused = answer(ask_response(&policy, &head, &response(200, &[]), &mut exchange));
        assert_eq!(refused.status.as_u16(), 502, "the next phase asks the newest generation");
    }
}
