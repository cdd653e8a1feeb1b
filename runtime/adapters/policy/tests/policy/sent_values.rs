//! What rules compute is sent as they computed it, or not at all: a value that a peer would read differently fails.

use crate::support::{answer, ask, exchange, head, policy, status, wrong};
use celero_policy::canonical::Fields;
use celero_policy::{Exchange, Policy, TlsConnection, TlsHello};
use http::header::{COOKIE, HOST};

/// Texts in a query, and the values that servers get of them; `None`: the value fails.
const VALUES: &[(&str, Option<&str>)] = &[
    ("admin", Some("admin")),
    ("a%20%20b", Some("a  b")),
    ("", Some("")),
    ("a%09b", Some("a\tb")),
    ("%20admin", None),
    ("admin%20", None),
    ("%09admin", None),
    ("admin%09", None),
    ("%20", None),
    ("a%0D%0Ab", None),
    ("a%00", None),
    ("a%0A", None),
];

/// The counts of failed rules.
fn failed(policy: &Policy) -> u64 {
    policy.rules().map(|rule| rule.failed).sum()
}

fn value(query: &str) -> String {
    format!("/?user={query}")
}

const USER: &str = "${request.uri.query('user')[0]}";

#[test]
fn a_header_has_the_value_that_the_rule_computed_or_none() {
    for action in ["setHeaders", "addHeaders"] {
        let policy = policy(&format!("request:\n- {action}: {{x-user: \"{USER}\"}}\n"));
        for (index, (query, expected)) in VALUES.iter().enumerate() {
            let (mut head, mut exchange) = (head(&format!("GET {}", value(query)), &[]), exchange());
            assert_eq!(status(policy.request(&mut head, &mut exchange)), 0);
            exchange.edits().apply_to_request(&mut head);
            let sent = head.headers.get("x-user").map(|value| value.to_str().unwrap());
            assert_eq!(sent, *expected, "{action} {query}");
            let fails = VALUES[..=index].iter().filter(|(_, expected)| expected.is_none()).count();
            assert_eq!(failed(&policy), fails as u64, "{action} {query}: a failure is counted");
        }
    }
}

#[test]
fn the_same_holds_for_responses_and_answers() {
    let policy = policy(&format!(
        "request:\n- when: request.path == '/no'\n  deny: {{status: 403, headers: {{x-user: \"{USER}\"}}}}\nresponse:\n- setHeaders: {{x-user: \"{USER}\"}}\n"
    ));
    for (query, expected) in VALUES {
        let (denied, mut exchange) = (head(&format!("GET /no{}", &value(query)[1..]), &[]), exchange());
        let answer = answer(ask(&policy, &denied, &mut exchange));
        assert_eq!(answer.headers.get("x-user").map(|value| value.to_str().unwrap()), *expected, "{query}");
        let request = head(&format!("GET {}", value(query)), &[]);
        let (mut response, ()) = http::Response::new(()).into_parts();
        response.headers.insert("x-user", "server".parse().unwrap());
        assert_eq!(status(policy.response(&request, &mut response, &mut exchange)), 0);
        exchange.edits().apply_to_response(&mut response);
        assert_eq!(response.headers.get("x-user").map(|value| value.to_str().unwrap()), *expected, "{query}");
    }
}

/// A request for a host that nobody chose reaches no server.
#[test]
fn a_computed_host_is_canonical_or_the_request_is_answered() {
    let policy = policy(&format!("request:\n- name: choose\n  setHeaders: {{host: \"{USER}\"}}\n"));
    for (query, expected) in [
        ("b.example", Some("b.example")),
        ("B.Example.", Some("b.example")),
        ("b.example:080", Some("b.example:80")),
        ("[2001:DB8:0::1]", Some("[2001:db8::1]")),
        ("", None),
        ("%20b.example", None),
        ("b.example%00", None),
        ("b.example%0d%0ax:y", None),
        ("b%20c", None),
        ("user@b.example", None),
        ("b.example:x", None),
        ("b.example/c", None),
    ] {
        for version in [http::Version::HTTP_11, http::Version::HTTP_2] {
            let uri = if version == http::Version::HTTP_2 { "http://localhost" } else { "" };
            let (mut head, mut exchange) = (head(&format!("GET {uri}{}", value(query)), &[]), exchange());
            head.version = version;
            let outcome = policy.request(&mut head, &mut exchange);
            let Some(expected) = expected else {
                let answer = answer(outcome);
                assert_eq!((answer.status.as_u16(), &*answer.rule), (500, "choose"), "{query}");
                assert!(exchange.edits().is_empty());
                continue;
            };
            assert_eq!(status(outcome), 0, "{query}");
            exchange.edits().apply_to_request(&mut head);
            assert_eq!(head.headers[HOST], expected);
            assert!(head.uri.authority().is_none_or(|authority| authority.as_str() == expected), "{query}");
        }
    }
}

#[test]
fn a_request_keeps_its_one_host() {
    for (action, wanted) in [
        ("setHeaders: {host: \"a b\"}", "this is no host"),
        ("setHeaders: {Host: \"\"}", "this is no host"),
        ("addHeaders: {host: b.example}", "a request has one `host`"),
        ("removeHeaders: [Host]", "a request has one `host`"),
    ] {
        for phase in ["request", "requestBody"] {
            let error = wrong(&format!("{phase}:\n- {action}\n"));
            assert!(error.contains(wanted), "{phase} {action}: {error}");
        }
    }
    for action in ["removePrefixes: [h]", "removeHeaderSets: [all]", "removeHeaders: [ha, hb, hc, hd, he, hf]"] {
        let policy = policy(&format!("headerSets: {{all: {{prefixes: [h], names: [host]}}}}\nrequest:\n- {action}\n"));
        let (mut head, mut exchange) = (head("GET /", &[("ha", "1")]), exchange());
        assert_eq!(status(policy.request(&mut head, &mut exchange)), 0);
        exchange.edits().apply_to_request(&mut head);
        assert_eq!((head.headers[HOST].to_str().unwrap(), head.headers.len()), ("localhost", 1), "{action}");
    }
    let fixed = policy("request:\n- setHeaders: {host: B.Example.}\n");
    let (mut head, mut exchange) = (head("GET /", &[]), exchange());
    assert_eq!(status(fixed.request(&mut head, &mut exchange)), 0);
    exchange.edits().apply_to_request(&mut head);
    assert_eq!(head.headers[HOST], "b.example");
}

/// HTTP/2 and Pingora join lines of cookies, so rules of later phases read one line too.
#[test]
fn added_cookies_join_the_line() {
    let policy = policy("request:\n- addHeaders: {cookie: b=2}\n");
    for (before, after) in [(&[][..], "b=2"), (&[("cookie", "a=1")][..], "a=1; b=2"), (&[("cookie", "")][..], "b=2")] {
        let (mut head, mut exchange) = (head("GET /", before), exchange());
        assert_eq!(status(policy.request(&mut head, &mut exchange)), 0);
        exchange.edits().apply_to_request(&mut head);
        let lines: Vec<_> = head.headers().get_all(COOKIE).iter().collect();
        assert_eq!(lines, [after]);
    }
}

/// `request.host` has no dot at its end, so a name that is compared with it has none either.
#[test]
fn names_of_tls_are_written_as_hosts_are() {
    let policy = policy(
        "connection:\n- when: source.tls.sni != 'a.example'\n  deny: true\nrequest:\n- when: source.tls.sni != request.host\n  deny: 421\n",
    );
    for name in ["a.example", "A.Example", "a.example.", "A.example."] {
        let mut connection =
            celero_policy::ClientConnection::new(None, None).with_hello(TlsHello::new().with_sni(name));
        assert_eq!(policy.connection(&mut connection), celero_policy::ConnectionOutcome::Accept, "{name}");
        let mut exchange = Exchange::new(None, None);
        exchange.set_tls(TlsConnection::new("TLSv1.3", "").with_sni(name));
        assert_eq!(status(ask(&policy, &head("GET /", &[("host", name)]), &mut exchange)), 0, "{name}");
    }
}

/// What a client of HTTP/2 says of the scheme does not count where the host knows it.
#[test]
fn the_scheme_is_that_of_the_connection() {
    let policy = policy("request:\n- when: request.scheme != 'https'\n  deny: 400\n");
    let mut claimed = head("GET https://localhost/", &[]);
    claimed.version = http::Version::HTTP_2;
    for (scheme, expected) in [(Some("http"), 400), (Some("https"), 0), (None, 0)] {
        let mut exchange = exchange();
        scheme.into_iter().for_each(|scheme| exchange.set_scheme(scheme));
        assert_eq!(status(ask(&policy, &claimed, &mut exchange)), expected, "{scheme:?}");
    }
    let mut exchange = exchange();
    exchange.set_tls(TlsConnection::new("TLSv1.3", ""));
    assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange)), 0, "HTTP/1.1 with TLS");
    exchange.reset(None, None);
    assert_eq!(status(ask(&policy, &claimed, &mut exchange)), 0, "forgotten with the request");
}
