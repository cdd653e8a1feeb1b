//! The phase `connection`: what its rules read, what they do when something fails, its limits, and
//! mistakes in the file.

use crate::support::{Folder, ask, exchange, head, policy, status, wrong};
use celero_policy::{ClientConnection, ConnectionOutcome, LivePolicy, Policy, TlsHello};
use std::path::Path;
use std::time::Duration;

/// The policy in both tiers.
fn both(text: &str) -> [Policy; 2] {
    [Policy::parse, Policy::check]
        .map(|read| read("policy.yaml", text, Path::new(".")).unwrap_or_else(|error| panic!("{error}")))
}

fn from(client: &str) -> ClientConnection {
    let mut connection = ClientConnection::new(Some(client.parse().unwrap()), Some("10.0.0.1:443".parse().unwrap()));
    connection.set_time(Duration::ZERO);
    connection
}

/// The rule that closes a connection, "" if none does.
fn closed_by(policy: &Policy, connection: &mut ClientConnection) -> String {
    match policy.connection(connection) {
        ConnectionOutcome::Accept => String::new(),
        ConnectionOutcome::Close { rule } => rule.to_string(),
    }
}

#[test]
fn rules_read_both_ends_lists_and_the_hello() {
    let text = r#"
lists: {blocked: {kind: addresses, entries: [192.0.2.0/24, "2001:db8::/32"]}}
connection:
- {name: admin, when: destination.port == 8443, allow: true}
- {name: blocked, when: source.address in lists.blocked, deny: true}
- {name: low, when: 'source.port < 1024 && source.via == "proxy-protocol"', deny: true, count: low}
- {name: filter, language: filter, when: 'ip.src eq 203.0.113.9', deny: true}
- {name: name, when: 'has(source.tls.sni) && source.tls.sni.endsWith(".invalid")', deny: true}
- {name: old, when: 'has(source.tls.alpn) && !("h2" in source.tls.alpn)', deny: true}
"#;
    let hello = |name: &str, alpn: &'static [u8]| TlsHello::new().with_sni(name).with_alpn([alpn]);
    for policy in both(text) {
        assert!(policy.has_connection_rules() && policy.reads_tls_hello());
        assert!(!policy.reads_client(), "requests do not need the address");
        for (mut connection, rule) in [
            (from("198.51.100.1:4711"), ""),
            (from("192.0.2.1:4711"), "blocked"),
            (from("[2001:db8::1]:4711"), "blocked"),
            (from("198.51.100.1:80"), ""),
            (from("198.51.100.1:80").with_via("proxy-protocol"), "low"),
            (from("203.0.113.9:4711"), "filter"),
            (from("198.51.100.1:4711").with_hello(hello("a.invalid", b"h2")), "name"),
            (from("198.51.100.1:4711").with_hello(hello("a.example", b"h2")), ""),
            (from("198.51.100.1:4711").with_hello(hello("a.example", b"\xff")), "old"),
            (from("198.51.100.1:4711").with_hello(TlsHello::new()), "old"),
            (ClientConnection::new(Some("192.0.2.1:1".parse().unwrap()), Some("10.0.0.1:8443".parse().unwrap())), ""),
        ] {
            assert_eq!(closed_by(&policy, &mut connection), rule, "{connection:?}");
        }
        let counts: Vec<_> = policy.rules().map(|rule| (rule.name.to_string(), rule.matched)).collect();
        assert_eq!(counts[1], ("blocked".to_owned(), 2));
        assert_eq!(policy.counters().collect::<Vec<_>>(), [("low", 1)]);
        assert_eq!(
            policy.phases().map(|info| (info.phase.name(), info.evaluated)).collect::<Vec<_>>(),
            [("connection", 11)]
        );
    }
    assert!(!policy("connection: [{when: source.port == 1, deny: true}]").reads_tls_hello());
    assert!(!policy("request: [{deny: true}]").has_connection_rules());
}

#[test]
fn a_guard_that_fails_closes_the_connection() {
    // Without TLS there is no name.
    let text = |rest: &str| {
        format!("connection:\n{rest}  rules: [{{name: a, when: 'source.tls.sni == \"x\"', deny: true}}]\n")
    };
    for (settings, rule) in
        [("", "a"), ("  onError: noMatch\n", ""), ("  onError: stop\n", "a"), ("  onError: match\n", "a")]
    {
        for policy in both(&text(settings)) {
            assert_eq!(closed_by(&policy, &mut from("192.0.2.1:1")), rule, "{settings}");
            assert_eq!(policy.rules().next().unwrap().failed, 1);
        }
    }
    for policy in both("connection: [{name: named, require: 'source.tls.sni.endsWith(\".example\")'}]") {
        assert_eq!(closed_by(&policy, &mut from("192.0.2.1:1")), "named");
        let hello = TlsHello::new().with_sni("a.example");
        assert_eq!(closed_by(&policy, &mut from("192.0.2.1:1").with_hello(hello)), "");
    }
    // Nobody knows the address: a rule that admits by it admits nobody.
    for policy in
        both("connection:\n- {when: source.address == '192.0.2.1', allow: true}\n- {name: others, deny: true}")
    {
        assert_eq!(closed_by(&policy, &mut ClientConnection::new(None, None)), "others");
    }
}

#[test]
fn limits_count_new_and_open_connections() {
    let rate = "connection: [{name: new, limit: {key: '${source.address}', rate: 3/m}}]";
    for policy in both(rate) {
        let all: Vec<_> = (1..=5).map(|port| closed_by(&policy, &mut from(&format!("192.0.2.1:{port}")))).collect();
        assert_eq!(all, ["", "", "", "new", "new"]);
        assert_eq!(closed_by(&policy, &mut from("192.0.2.2:1")), "");
        let mut later = from("192.0.2.1:6");
        later.set_time(Duration::from_secs(20));
        assert_eq!(closed_by(&policy, &mut later), "");
        let info = policy.limits().next().unwrap();
        assert_eq!((info.admitted, info.limited), (5, 2));
        assert!(!policy.lasts_until_end() && !policy.has_log_fields(), "requests have no part in it");
    }
    for policy in both("connection: [{name: open, limit: {key: '${source.address}', concurrent: 2}}]") {
        let [mut first, mut second] = [from("192.0.2.1:1"), from("192.0.2.1:2")];
        assert_eq!([closed_by(&policy, &mut first), closed_by(&policy, &mut second)], ["", ""]);
        assert_eq!(closed_by(&policy, &mut from("192.0.2.1:3")), "open");
        drop(first);
        assert_eq!(closed_by(&policy, &mut from("192.0.2.1:4")), "");
    }
    // A key that fails passes only if the file says so.
    for (on_error, rule) in [("", "named"), (", onError: pass", "")] {
        let text = format!("connection: [{{name: named, limit: {{key: '${{source.tls.sni}}', rate: 9/m{on_error}}}}}]");
        for policy in both(&text) {
            assert_eq!(closed_by(&policy, &mut from("192.0.2.1:1")), rule);
        }
    }
    for policy in both("connection: [{name: tried, limit: {rate: 1/d, dryRun: true}}]") {
        assert_eq!([1, 2].map(|_| closed_by(&policy, &mut from("192.0.2.1:1"))), ["", ""]);
        assert_eq!(policy.limits().next().unwrap().tolerated, 1);
    }
}

#[test]
fn a_reload_keeps_what_was_counted() {
    let folder = Folder::new("connections");
    let text = "connection: [{name: new, limit: {key: '${source.address}', rate: 1/d}}]\n";
    let file = folder.write("policy.yaml", text);
    let live = LivePolicy::load(&file).unwrap();
    assert_eq!(closed_by(&live.current(), &mut from("192.0.2.1:1")), "");
    folder.write("policy.yaml", format!("{text}request: [{{setHeaders: {{a: b}}}}]\n"));
    live.reload().unwrap();
    assert_eq!(closed_by(&live.current(), &mut from("192.0.2.1:1")), "new");
}

#[test]
fn levels_and_the_answer_of_defaults() {
    let folder = Folder::new("connection-levels");
    folder.write("team.yaml", "connection: [{name: team, when: source.port == 2, deny: true}]\n");
    let main = "levels: [team.yaml]\ndefaults: {deny: {body: '${request.path}'}}\nconnection: [{when: source.port < 9, allow: true}, {name: others, deny: true}]\nrequest: [{deny: true}]\n";
    let policy = Policy::load(folder.write("policy.yaml", main)).unwrap();
    let of = |port: u16| closed_by(&policy, &mut from(&format!("192.0.2.1:{port}")));
    assert_eq!([of(1), of(2), of(9)], ["", "team", "others"]);
    assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange())), 403);
}

#[test]
fn what_a_connection_does_not_have_is_refused() {
    for (rule, message) in [
        ("{when: 'request.path == \"/\"', deny: true}", "`request.path` exists in the phases `request`, `requestBody`"),
        (
            "{when: 'source.tls.version == \"TLSv1.3\"', deny: true}",
            "`source.tls.version` exists in the phases `request`",
        ),
        ("{when: 'jwt.sub == \"a\"', deny: true}", "not in `connection`"),
        ("{when: source.port == 1, deny: 403}", "deny"),
        ("{when: source.port == 1, respond: {body: a}}", "respond"),
        ("{when: source.port == 1, setHeaders: {a: b}}", "setHeaders"),
        ("{limit: {rate: 1/s, countWhen: 'true'}}", "countWhen"),
        ("{limit: {rate: 1/s, onLimit: {deny: 429}}}", "onLimit"),
        ("{limit: {rate: 1/s, headers: always}}", "headers"),
        ("{when: source.port == 1, deny: true, allow: true}", "already has"),
    ] {
        let problem = wrong(&format!("connection: [{rule}]\n"));
        assert!(problem.contains(message), "{rule}\n{problem}");
    }
    let settled = "connection: [{name: new, limit: {rate: 9/s}}]\nresponse: [{settle: {new: 1}}]\n";
    assert!(wrong(settled).contains("no limit is called `new`"), "{}", wrong(settled));
    let twice = "connection: [{name: a, limit: {rate: 9/s}}]\nrequest: [{name: a, limit: {rate: 9/s}}]\n";
    assert!(wrong(twice).contains("another limit is called `a`"));
    let name = wrong("request: [{when: 'source.tls.alpn == []', deny: 403}]");
    assert!(name.contains("`source.tls.alpn` exists in the phase `connection`"), "{name}");
}
