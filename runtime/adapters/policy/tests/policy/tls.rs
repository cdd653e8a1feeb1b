//! `source.tls`: the TLS connection of a client, and its certificate.

use crate::support::{answer, ask, exchange, head, status, wrong};
use celero_policy::{ClientCertificate, Exchange, Policy, TlsConnection};
use std::net::IpAddr;
use std::path::Path;

/// The policy in both tiers.
fn both(text: &str) -> [Policy; 2] {
    [Policy::parse, Policy::check]
        .map(|read| read("policy.yaml", text, Path::new(".")).unwrap_or_else(|error| panic!("{error}")))
}

fn certificate() -> ClientCertificate {
    let ip: [IpAddr; 2] = ["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
    ClientCertificate::new("CN=ada", "00ff", &["spiffe://example/ada"], &["a.example"])
        .with_issuer("CN=authority")
        .with_addresses(&["ada@example.com"], &ip)
}

fn with(tls: TlsConnection) -> Exchange {
    let mut exchange = exchange();
    exchange.set_tls(tls);
    exchange
}

/// What a rule answers with this text.
fn said(policy: &Policy, exchange: &mut Exchange) -> String {
    String::from_utf8(answer(ask(policy, &head("GET /", &[]), exchange)).body.to_vec()).unwrap()
}

#[test]
fn rules_read_the_connection() {
    let text = r#"
request:
  - respond: {body: "${source.tls.version} ${source.tls.cipher} ${source.tls.sni} ${source.tls.subject} ${source.tls.issuer} ${source.tls.sans.join(' ')} ${source.tls.spiffeId} ${source.tls.fingerprint}"}
"#;
    for policy in both(text) {
        let tls = TlsConnection::new("TLSv1.3", "TLS_AES_128_GCM_SHA256").with_sni("a.example");
        let expected = "TLSv1.3 TLS_AES_128_GCM_SHA256 a.example CN=ada CN=authority URI:spiffe://example/ada DNS:a.example \
                        email:ada@example.com IP:192.0.2.1 IP:2001:db8::1 spiffe://example/ada 00ff";
        assert_eq!(said(&policy, &mut with(tls.with_certificate(certificate()))), expected);
    }
}

/// Which members there are, in all phases: the rules of `log` see the same.
const PRESENT: &str = r#"
clientCert: {}
request:
  - respond:
      body: "${has(source.tls.version)} ${has(source.tls.cipher)} ${has(source.tls.sni)} ${has(source.tls.subject)} ${has(source.tls.issuer)} ${has(source.tls.sans)} ${has(source.tls.spiffeId)} ${has(source.tls.fingerprint)} ${has(clientCert.subject)}"
"#;

#[test]
fn what_is_not_known_is_absent() {
    let plain = || TlsConnection::new("TLSv1.2", "x");
    let without_issuer = ClientCertificate::new("CN=a", "00", &["spiffe://a/b", "spiffe://a/c"], &[]);
    let cases = [
        (exchange(), [0, 0, 0, 0, 0, 0, 0, 0, 0]),
        (with(plain()), [1, 1, 0, 0, 0, 0, 0, 0, 0]),
        (with(plain().with_sni("a")), [1, 1, 1, 0, 0, 0, 0, 0, 0]),
        (with(plain().with_certificate(certificate())), [1, 1, 0, 1, 1, 1, 1, 1, 1]),
        (with(plain().with_certificate(without_issuer)), [1, 1, 0, 1, 0, 1, 0, 1, 1]),
    ];
    let policies = both(PRESENT);
    for (mut exchange, expected) in cases {
        let expected = expected.map(|there| (there == 1).to_string()).join(" ");
        for policy in &policies {
            assert_eq!(said(policy, &mut exchange), expected);
        }
    }
}

/// A rule that reads what is absent fails, so one that denies does so.
#[test]
fn reading_what_is_absent_is_an_error() {
    for policy in both("request: [{name: a, when: 'source.tls.spiffeId != \"spiffe://a/b\"', deny: 403}]") {
        assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange())), 403);
        assert_eq!(policy.rules().next().unwrap().failed, 1);
    }
}

/// A name of one kind is none of another: `URI:a.example` does not say that `DNS:a.example` was verified.
#[test]
fn kinds_of_names_are_kept_apart() {
    let forged = ClientCertificate::new("CN=a", "00", &["DNS:a.example", "a.example"], &["spiffe://example/ada"]);
    for policy in both("request: [{respond: {body: \"${source.tls.sans.join(' ')} ${has(source.tls.spiffeId)}\"}}]") {
        let tls = TlsConnection::new("a", "b").with_certificate(forged.clone());
        assert_eq!(said(&policy, &mut with(tls)), "URI:DNS:a.example URI:a.example DNS:spiffe://example/ada false");
    }
}

#[test]
fn a_connection_is_of_one_request() {
    for policy in both(PRESENT) {
        let mut exchange = with(TlsConnection::new("a", "b").with_certificate(certificate()));
        assert!(said(&policy, &mut exchange).starts_with("true true false true"));
        exchange.reset(None, None);
        assert!(!said(&policy, &mut exchange).contains("true"));
    }
}

/// A peer that ends the TLS of its clients is not the client, whatever its own connection is.
#[test]
fn the_connection_of_a_trusted_peer_is_not_the_clients() {
    for (trusted, expected) in [("192.0.2.0/24", "false"), ("198.51.100.0/24", "true")] {
        let section = format!("clientCert: {{trusted: [{trusted}]}}");
        for policy in both(&PRESENT.replace("clientCert: {}", &section)) {
            let mut exchange = with(TlsConnection::new("a", "b").with_certificate(certificate()));
            assert!(said(&policy, &mut exchange).starts_with(expected), "{trusted}");
        }
    }
}

#[test]
fn cases_set_it() {
    let text = "request: [{name: ada, when: \"source.tls.spiffeId == 'spiffe://a/b' && 'DNS:a' in source.tls.sans && source.tls.version == 'TLSv1.3'\", allow: true}, {deny: 403}]\n";
    let cases = "- name: ada\n  request: {tls: {version: TLSv1.3, sans: ['DNS:a'], spiffeId: 'spiffe://a/b'}}\n  expect: {status: 200}\n- name: nobody\n  expect: {status: 403}\n";
    for policy in both(text) {
        let report = policy.test("cases.yaml", cases).unwrap();
        assert!(report.passed(), "{}", report.render(false));
        let error = policy.test("cases.yaml", "- name: a\n  request: {tls: {cypher: a}}\n  expect: {}").unwrap_err();
        assert!(error.to_string().contains("did you mean `cipher`?"), "{error}");
    }
}

#[test]
fn names_are_checked() {
    let error = wrong("request: [{when: source.tls.cypher == 'a', deny: 403}]");
    assert!(error.contains("cypher"), "{error}");
}
