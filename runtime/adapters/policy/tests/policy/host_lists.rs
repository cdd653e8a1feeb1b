//! Lists that the host keeps, beside those of a policy.

use crate::support::{Folder, ask, exchange, head, status};
use celero::lists::{Kind, Limits, ListType, Lists};
use celero_policy::{LivePolicy, Loader, Policy};
use std::path::Path;

const POLICY: &str = r#"
lists:
  own: {kind: texts, files: [own.txt]}
request:
- {name: posts, language: filter, when: 'http.request.method eq "POST" and http.request.uri.path in $banned', deny: 410}
- {name: banned, when: request.path in lists.banned, deny: 403}
- {name: own, when: request.path in lists.own, deny: 418}
- {name: plan, when: "default(lists.tenants[request.host].plan, '') == 'free'", deny: 402}
response:
- {when: request.path in lists.banned, setHeaders: {x-banned: late}}
"#;

fn of_host() -> Lists {
    let lists = Lists::new(Limits::default());
    lists.declare("banned", Kind::Texts).unwrap();
    lists.declare("tenants", "hosts:{plan: string, seats: int}".parse::<ListType>().unwrap()).unwrap();
    lists
}

fn asked(policy: &Policy, target: &str) -> u16 {
    status(ask(policy, &head(target, &[("host", "a.example")]), &mut exchange()))
}

/// A folder with the policy and the file of its own list.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("own.txt", "/mine\n");
    folder.write("policy.yaml", POLICY);
    folder
}

#[test]
fn every_change_counts_in_all_policies_of_the_loader() {
    let (lists, folder) = (of_host(), folder("host_lists"));
    let loader = Policy::loader().lists(&lists);
    let live = LivePolicy::load_with(folder.path("policy.yaml"), loader.clone()).unwrap();
    let first = live.current();
    let checked = loader.check("p.yaml", "request: [{when: request.path in lists.banned, deny: 403}]", Path::new("."));
    let checked = checked.unwrap();
    let all = |target: &str| [asked(&first, target), asked(&live.current(), target), asked(&checked, target)];
    assert_eq!(all("GET /eve"), [0; 3]);
    lists.change().insert("banned", "/eve").commit().unwrap();
    assert_eq!((all("GET /eve"), all("POST /eve"), all("GET /mine")), ([403; 3], [410, 410, 403], [418, 418, 0]));

    // It is loaded again: the lists of the host are as they were, and go on.
    live.reload().unwrap();
    assert_eq!(all("GET /eve"), [403; 3]);
    lists.change().remove("banned", "/eve").insert("banned", "/mallory").commit().unwrap();
    assert_eq!((all("GET /eve"), all("GET /mallory")), ([0; 3], [403; 3]));
    lists.change().insert_value("tenants", "a.example", [("plan", "free".into())], None).commit().unwrap();
    assert_eq!(asked(&first, "GET /"), 402);
    lists.change().remove("tenants", "a.example").commit().unwrap();

    // Its own lists are read again alone.
    folder.write("own.txt", "/theirs\n");
    let running = first.lists().unwrap();
    running.take_over(first.read_lists().unwrap().unwrap()).unwrap();
    assert_eq!(
        (asked(&first, "GET /theirs"), asked(&first, "GET /mallory"), asked(&first, "GET /mine")),
        (418, 403, 0)
    );
    assert_eq!(running.load().names(), ["banned", "own", "tenants"]);
    let refused = running.change().insert("banned", "x").commit().unwrap_err().to_string();
    assert_eq!(refused, "list `banned` follows a list of another `Lists`: change it there");

    // A file that is wrong changes nothing, and a list that was declared later is known from the next time on.
    folder.write("policy.yaml", "empty: allowed\nrequest: [{when: request.path in lists.later, deny: 409}]");
    let unknown = live.reload().unwrap_err().to_string();
    assert!(unknown.contains("later"), "{unknown}");
    assert_eq!(asked(&live.current(), "GET /mallory"), 403);
    lists.declare("later", Kind::Texts).unwrap();
    live.reload().unwrap();
    lists.change().insert("later", "/now").commit().unwrap();
    assert_eq!((asked(&live.current(), "GET /now"), asked(&first, "GET /mallory")), (409, 403));
}

#[test]
fn a_policy_has_no_list_of_the_same_name() {
    let loader = Policy::loader().lists(&of_host());
    for kind in ["texts", "addresses"] {
        let text = format!("lists: {{banned: {{kind: {kind}, entries: [x]}}}}\nrequest: [{{deny: 403}}]");
        let error = loader.parse("policy.yaml", &text, Path::new(".")).unwrap_err().to_string();
        assert!(error.contains("policy.yaml:1:9") && error.contains("the host has a list `banned`"), "{error}");
        assert!(error.contains("give this one another name"), "{error}");
        assert_eq!(error.matches("error[").count(), 1, "{error}");
    }
    let text = "request: [{when: request.path in lists.baned, deny: 403}]";
    let error = loader.parse("policy.yaml", text, Path::new(".")).unwrap_err().to_string();
    assert!(error.contains("did you mean `lists.banned`?"), "{error}");
    let text = "request: [{when: request.path in lists.banned, deny: 403}]";
    assert!(Policy::parse("policy.yaml", text, Path::new(".")).is_err());
}

const DECLARED: &str = "
lists:
  banned: {kind: texts, entries: [/eve]}
  tenants:
    kind: hosts
    values: {plan: string, seats: int}
    entries: [{entry: a.example, plan: free}]
";

#[test]
fn a_file_declares_lists_with_the_entries_of_cases() {
    let loader = Loader::of_declarations("host.yaml", DECLARED).unwrap();
    assert_eq!(loader.declarations(), Policy::loader().lists(&of_host()).declarations());
    assert_eq!(
        Loader::of_declarations("host.yaml", &loader.declarations()).unwrap().declarations(),
        loader.declarations()
    );
    let text = "
request:
- {name: banned, when: request.path in lists.banned, deny: 403}
- {name: plan, when: \"default(lists.tenants[request.host].plan, '') == 'free'\", deny: 402}
";
    let cases = "
- {name: banned, request: {uri: /eve}, expect: {rule: banned}}
- {name: free, request: {headers: {host: a.example}}, expect: {rule: plan}}
- {name: other, expect: {rule: server}}
";
    for policy in [loader.parse("p.yaml", text, Path::new(".")), loader.check("p.yaml", text, Path::new("."))] {
        let report = policy.unwrap().test("cases.yaml", cases).unwrap();
        assert!(report.passed(), "{}", report.render(false));
    }
    // In the host's own tests cases ask the lists that it keeps.
    let lists = of_host();
    let own = Policy::loader().lists(&lists).for_cases().parse("p.yaml", text, Path::new(".")).unwrap();
    assert!(!own.test("cases.yaml", cases).unwrap().passed());
    let change = lists.change().insert("banned", "/eve");
    change.insert_value("tenants", "a.example", [("plan", "free".into())], None).commit().unwrap();
    assert!(own.test("cases.yaml", cases).unwrap().passed());
}

#[test]
fn every_error_of_a_declared_list_is_at_its_place() {
    for (text, expected) in [
        ("lists: {a: {kind: text}}", "host.yaml:1:19"),
        ("lists: {a: texts}", "host.yaml:1:12"),
        ("lists: {a: {entries: [x]}}", "`kind`"),
        ("lists: {a: {kind: texts, files: [x]}}", "a list of the host has no key `files`"),
        ("lists: {'a b': {kind: texts}}", "\"a b\" is no name of a list"),
        ("lists: {a: {kind: integers, entries: [1, x]}}", "`x` is no entry of a list of integers"),
        ("lists: {a: {kind: texts, values: {b: strin}}}", "host.yaml:1:38"),
        ("lists: {a: {kind: texts, entries: [{entry: x, b: 1}]}}", "`values` declares them"),
        ("lists: {a: {kind: texts}, a: {kind: texts}}", "host.yaml:1:27"),
    ] {
        let error = Loader::of_declarations("host.yaml", text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }
}
