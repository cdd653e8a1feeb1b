//! TLS to clients and to servers.

use crate::certificates::{Authority, TlsClient, shown};
use crate::client::get;
use crate::h2;
use crate::http1::flood;
use crate::running::{Folder, Running, eventually};
use celero_proxy::config::Config;
use rustls::version::{TLS12, TLS13};
use rustls::{HandshakeKind, SupportedProtocolVersion};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

pub(crate) const OLD: &[&SupportedProtocolVersion] = &[&TLS12];
pub(crate) const NEW: &[&SupportedProtocolVersion] = &[&TLS13];

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

/// A proxy with TLS, whose files `prepare` writes. `more` is the rest of `tls`, `rest` that of the configuration.
fn with_tls(more: &str, rest: &str, policy: &str, prepare: impl FnOnce(&Folder)) -> Running {
    let tls = format!(
        "tls: {{ certificates: [{{ chain: one.pem, key: one.key }}, {{ chain: two.pem, key: two.key }}]{more} }}"
    );
    Running::with_listener(&tls, rest, policy, prepare)
}

/// The same with certificates of this authority.
fn usual(authority: &Authority, more: &str, policy: &str) -> Running {
    with_tls(more, DEMO, policy, |folder| {
        authority.server(&["one.example"]).write(folder, "one");
        authority.server(&["two.example", "*.two.example"]).write(folder, "two");
    })
}

#[test]
fn clients_get_the_certificate_for_their_name() {
    let authority = Authority::new("tests");
    let (one, two) = (authority.server(&["one.example"]), authority.server(&["two.example", "*.Two.example"]));
    let proxy = with_tls("", DEMO, "", |folder| {
        one.write(folder, "one");
        two.write(folder, "two");
    });
    for (name, expected) in
        [("one.example", &one), ("two.example", &two), ("TWO.example", &two), ("a.two.example", &two)]
    {
        let connection = authority.trust().connect(proxy.address, name).unwrap();
        assert_eq!(shown(&connection), expected.der(), "{name}");
        assert!(authority.trust().get(proxy.address, name, "/", "").unwrap().starts_with("HTTP/1.1 200 "), "{name}");
    }
    // One label is behind a wildcard, not two; other names get the first certificate, which is not theirs.
    for name in ["a.b.two.example", "other.example", "example"] {
        let error = authority.trust().connect(proxy.address, name).unwrap_err().to_string();
        assert!(error.contains("one.example"), "{name}: {error}");
    }
    assert!(proxy.log(4).iter().all(|line| line["tls"] == "TLSv1.3"), "the version is logged");
}

#[test]
fn certificates_are_replaced_without_a_lost_connection() {
    let authority = Authority::new("tests");
    let proxy = usual(&authority, "", "");
    let mut open = authority.trust().connect(proxy.address, "one.example").unwrap();
    let new = authority.server(&["one.example"]);
    new.write(&proxy.folder, "one");
    proxy.handle.reload().unwrap();
    assert_eq!(shown(&authority.trust().connect(proxy.address, "one.example").unwrap()), new.der());

    // A key that is not the certificate's changes nothing.
    proxy.folder.write("one.key", &authority.server(&["one.example"]).key);
    let error = proxy.handle.reload().unwrap_err().to_string();
    assert!(error.contains("one.pem: it can't be used with the key in") && error.contains("one.key"), "{error}");
    assert_eq!(shown(&authority.trust().connect(proxy.address, "one.example").unwrap()), new.der());

    write!(open, "GET / HTTP/1.1\r\nhost: one.example\r\nconnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    open.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
}

/// The watcher of files knows those of TLS, too.
#[test]
fn new_certificates_are_found() {
    let authority = Authority::new("tests");
    let proxy = usual(&authority, "", "");
    let new = authority.server(&["one.example"]);
    // The files can't be replaced at once, so that a reload between them fails, and the next one does not.
    new.write(&proxy.folder, "one");
    let seen = || shown(&authority.trust().connect(proxy.address, "one.example").unwrap()) == new.der();
    eventually(seen, || "the new certificate".into());
}

const WHO: &str = r#"
clientCert: {}
request:
  - { when: 'has(clientCert.subject)', respond: { body: "${clientCert.subject} ${clientCert.uris[0]} ${clientCert.dnsNames[0]} ${size(clientCert.hash)}" } }
  - { respond: { body: "nobody ${size(clientCert)}" } }
"#;

#[test]
fn rules_read_the_certificate_of_the_client() {
    let authority = Authority::new("tests");
    let client = authority.client("a, \"b\"", "spiffe://example/a");
    for (required, nobody) in [("false", true), ("true", false)] {
        let more = format!(", clients: {{ authorities: authority.pem, required: {required} }}");
        let proxy = with_tls(&more, DEMO, WHO, |folder| {
            authority.server(&["one.example"]).write(folder, "one");
            authority.server(&["two.example"]).write(folder, "two");
            folder.write("authority.pem", &authority.pem());
        });
        let ask = |client: TlsClient, headers: &str| client.get(proxy.address, "one.example", "/", headers);
        let forged = "x-forwarded-client-cert: Subject=\"CN=admin\";Hash=00\r\n";
        for headers in ["", forged] {
            let response = ask(authority.trust().with(&client), headers).unwrap();
            let expected = "\r\n\r\nO=Example\\, Inc.,CN=a\\, \\\"b\\\" spiffe://example/a client.example 64";
            assert!(response.ends_with(expected), "{response}");
        }
        // In TLS 1.3 a client learns that it is refused when it reads.
        match ask(authority.trust(), forged) {
            Ok(response) => assert!(nobody && response.ends_with("nobody 0"), "{response}"),
            Err(error) => assert!(!nobody, "{error}"),
        }
        let other = Authority::new("others").client("a", "spiffe://example/a");
        for versions in [OLD, NEW] {
            let answer = ask(authority.trust().with(&other).versions(versions), "");
            assert!(answer.is_err(), "{answer:?}");
        }
        // A certificate of a server does not say who a client is.
        let answer = ask(authority.trust().with(&authority.server(&["one.example"])), "");
        assert!(answer.is_err(), "{answer:?}");
        eventually(|| proxy.metric("celero_tls_handshakes_failed_total") >= 3.0, || "failed handshakes".into());
    }
}

#[test]
fn http2_is_agreed_on() {
    let authority = Authority::new("tests");
    let cases = [("", "h2"), (", http2: true", "h2"), (", http2: false", "http/1.1")];
    for (more, expected) in cases {
        let proxy = usual(&authority, more, "request: [{ when: request.path == '/no', deny: true }]");
        let client = authority.trust().protocols(&["h2", "http/1.1"]);
        let connection = client.connect(proxy.address, "one.example").unwrap();
        assert_eq!(connection.conn.alpn_protocol(), Some(expected.as_bytes()));
        if expected == "h2" {
            let requests = ["/", "/no"].map(|path| h2::request("GET", path, b"")).to_vec();
            let replies = h2::over_tls(proxy.address, "one.example", Arc::new(client.config()), requests);
            let statuses: Vec<_> = replies.iter().map(|reply| reply.status().as_u16()).collect();
            assert_eq!(statuses, [200, 403]);
        } else {
            let refused = authority.trust().protocols(&["h2"]).connect(proxy.address, "one.example");
            assert!(refused.unwrap_err().to_string().contains("NoApplicationProtocol"));
        }
        // Without an agreement it is HTTP/1, and a preface of HTTP/2 is a malformed request.
        let mut connection = authority.trust().connect(proxy.address, "one.example").unwrap();
        connection.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        let mut response = Vec::new();
        let _ = connection.read_to_end(&mut response);
        assert!(response.starts_with(b"HTTP/1.1 400 "), "{}", String::from_utf8_lossy(&response));
    }
}

#[test]
fn old_versions_are_refused() {
    let authority = Authority::new("tests");
    for (more, accepted) in [("", true), (", minVersion: \"1.2\"", true), (", minVersion: \"1.3\"", false)] {
        let proxy = usual(&authority, more, "");
        let old = authority.trust().versions(OLD).get(proxy.address, "one.example", "/", "");
        assert_eq!(old.is_ok(), accepted, "{more}");
        let new = authority.trust().versions(NEW).get(proxy.address, "one.example", "/", "");
        assert!(new.unwrap().starts_with("HTTP/1.1 200 "));
    }
}

#[test]
fn what_is_no_handshake_is_cut_off() {
    let authority = Authority::new("tests");
    let rest = format!("{DEMO}timeouts: {{ head: 300ms }}\nlimits: {{ connections: 4 }}\n");
    let proxy = with_tls("", &rest, "", |folder| {
        authority.server(&["one.example"]).write(folder, "one");
        authority.server(&["two.example"]).write(folder, "two");
    });
    // Plain HTTP, nothing, the beginning of a record, a record that is too large.
    for sent in [&b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"[..], b"", b"\x16\x03\x01", b"\x16\x03\x01\xff\xff\x00"] {
        let mut socket = TcpStream::connect(proxy.address).unwrap();
        socket.write_all(sent).unwrap();
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
    }
    let failed = || proxy.metric("celero_tls_handshakes_failed_total");
    eventually(|| failed() == 4.0, || format!("4 failed handshakes, not {}", failed()));
    // Connections count while they are in the handshake, which is not long.
    let refused = || {
        let silent: Vec<_> = (0..4).map(|_| TcpStream::connect(proxy.address).unwrap()).collect();
        let refused = authority.trust().connect(proxy.address, "one.example").is_err();
        drop(silent);
        refused && proxy.metric("celero_connections_refused_total") > 0.0
    };
    eventually(refused, || "a refused connection".into());
    eventually(|| authority.trust().connect(proxy.address, "one.example").is_ok(), || "capacity".into());
}

/// A proxy before another one that speaks TLS.
fn before(behind: &Running, tls: &str, authority: &Authority) -> Running {
    let rest = format!(
        "upstreams: [{{ name: a, servers: [\"{}\"], tls: {{ {tls} }} }}]\nroutes: [{{ upstream: a }}]\n",
        behind.address
    );
    Running::with_listener("h2c: true", &rest, "", |folder| drop(folder.write("authority.pem", &authority.pem())))
}

#[test]
fn servers_are_verified() {
    let authority = Authority::new("tests");
    let behind = usual(&authority, "", "");
    for (tls, expected) in [
        ("serverName: one.example, authorities: authority.pem", 200),
        ("serverName: two.example, authorities: authority.pem, http2: true", 200),
        ("serverName: other.example, authorities: authority.pem", 502),
        // The authorities of the system don't know it.
        ("serverName: one.example", 502),
    ] {
        let proxy = before(&behind, tls, &authority);
        let reply = get(proxy.address, "/echo");
        assert_eq!(reply.status, expected, "{tls}: {}", reply.text());
    }
    let protocols: Vec<_> = behind.log(2).iter().map(|line| line["protocol"].clone()).collect();
    assert_eq!(protocols, ["HTTP/1.1", "HTTP/2.0"]);
}

#[test]
fn servers_get_the_certificate_of_the_proxy() {
    let authority = Authority::new("tests");
    let behind = with_tls(", clients: { authorities: authority.pem }", DEMO, WHO, |folder| {
        authority.server(&["one.example"]).write(folder, "one");
        authority.server(&["two.example"]).write(folder, "two");
        folder.write("authority.pem", &authority.pem());
    });
    let own = authority.client("proxy", "spiffe://example/proxy");
    let front = |tls: &str| {
        let rest = format!(
            "upstreams: [{{ name: a, servers: [\"{}\"], tls: {{ serverName: one.example, authorities: authority.pem{tls} }} }}]\n\
             routes: [{{ upstream: a }}]\n",
            behind.address
        );
        Running::with_listener("h2c: true", &rest, "", |folder| {
            folder.write("authority.pem", &authority.pem());
            own.write(folder, "own");
        })
    };
    let proxy = front(", certificate: { chain: own.pem, key: own.key }");
    let reply = get(proxy.address, "/");
    assert!(reply.status == 200 && reply.text().contains("spiffe://example/proxy"), "{reply:?}");
    // Another certificate counts from the reload on, for kept connections too.
    authority.client("next", "spiffe://example/next").write(&proxy.folder, "own");
    proxy.handle.reload().unwrap();
    assert!(get(proxy.address, "/").text().contains("spiffe://example/next"));
    proxy.folder.write("own.key", &Authority::new("others").client("a", "spiffe://a").key);
    let error = proxy.handle.reload().unwrap_err().to_string();
    assert!(error.contains("own.pem: it can't be used with the key in"), "{error}");
    assert_eq!(get(front("").address, "/").status, 502);
}

/// Connections that wait to be used again were verified with what was in force when they were made.
#[test]
fn connections_of_other_authorities_are_not_used_again() {
    let authority = Authority::new("tests");
    let behind = usual(&authority, "", "");
    let proxy = before(&behind, "serverName: one.example, authorities: authority.pem", &authority);
    assert_eq!(get(proxy.address, "/echo").status, 200);
    assert_eq!(get(proxy.address, "/echo").status, 200);
    proxy.folder.write("authority.pem", &Authority::new("others").pem());
    proxy.handle.reload().unwrap();
    assert_eq!(get(proxy.address, "/echo").status, 502);
    proxy.folder.write("authority.pem", &authority.pem());
    proxy.handle.reload().unwrap();
    assert_eq!(get(proxy.address, "/echo").status, 200);
}

#[test]
fn servers_learn_that_the_client_uses_tls() {
    let authority = Authority::new("tests");
    let proxy = usual(&authority, "", "");
    let response = authority.trust().get(proxy.address, "one.example", "/echo", "x-forwarded-proto: http\r\n").unwrap();
    assert!(response.contains(r#"["x-forwarded-proto","https"]"#), "{response}");
}

#[test]
fn mistakes_are_named() {
    let authority = Authority::new("tests");
    let folder = Folder::new();
    authority.server(&["one.example"]).write(&folder, "one");
    authority.server(&["two.example"]).write(&folder, "two");
    folder.write("empty.pem", "nothing\n");
    folder.write("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    folder.write("policy.yaml", "empty: allowed\n");
    let listener = |tls: &str| format!("[{{ address: 127.0.0.1:0, {tls} }}]");
    let upstream = |tls: &str| format!("[{{ name: demo, servers: [\"127.0.0.1:1\"], {tls} }}]");
    let (plain, demo) = (listener("h2c: true"), upstream("h2c: true"));
    for (listeners, upstreams, expected) in [
        (
            listener("tls: { certificates: [{ chain: one.pem, key: two.key }] }"),
            &demo,
            "one.pem: it can't be used with the key in",
        ),
        (listener("tls: { certificates: [{ chain: no.pem, key: one.key }] }"), &demo, "no.pem: "),
        (
            listener("tls: { certificates: [{ chain: empty.pem, key: one.key }] }"),
            &demo,
            "empty.pem: there is no certificate in it",
        ),
        (listener("tls: { certificates: [{ chain: broken.pem, key: one.key }] }"), &demo, "broken.pem: "),
        (
            listener("tls: { certificates: [{ chain: one.pem, key: one.pem }] }"),
            &demo,
            "one.pem: there is no private key in it",
        ),
        (listener("tls: { certificates: [{ chain: one.pem, key: one.key, ocsp: no.ocsp }] }"), &demo, "no.ocsp: "),
        (listener("tls: { certificates: [] }"), &demo, "`certificates` must not be empty"),
        (listener("tls: { certificates: [{ chain: one.pem }] }"), &demo, "a certificate needs the key `key`"),
        (
            listener("tls: { certificates: [{ chain: one.pem, key: one.key }], minVersion: \"1.1\" }"),
            &demo,
            "`minVersion` is one of `1.2`, `1.3`",
        ),
        (
            listener("tls: { certificates: [{ chain: one.pem, key: one.key }], clients: { authorities: empty.pem } }"),
            &demo,
            "empty.pem: ",
        ),
        (
            listener("h2c: true, tls: { certificates: [{ chain: one.pem, key: one.key }] }"),
            &demo,
            "`h2c` is HTTP/2 without TLS",
        ),
        (plain.clone(), &upstream("tls: {}"), "needs the key `serverName`"),
        (plain.clone(), &upstream("tls: { serverName: \"\" }"), "`serverName` can't be ``"),
        (plain.clone(), &upstream("tls: { serverName: my_api.example }"), "`serverName` can't be `my_api.example`"),
        (plain.clone(), &upstream("tls: { serverName: \"a b\" }"), "`serverName` can't be `a b`"),
        (plain.clone(), &upstream("tls: { serverName: a, authorities: broken.pem }"), "broken.pem: "),
        (plain.clone(), &upstream("h2c: true, tls: { serverName: a }"), "`h2c` is HTTP/2 without TLS"),
    ] {
        let text = format!(
            "listeners: {listeners}\nupstreams: {upstreams}\npolicy: policy.yaml\nroutes: [{{ upstream: demo }}]\n"
        );
        let file = folder.write("proxy.yaml", &text);
        let error = Config::check(&file).expect_err(&text).to_string();
        assert!(error.contains(expected), "{text}{error}");
    }
}

#[test]
fn clients_that_read_nothing_are_cut_off() {
    let authority = Authority::new("tests");
    let rest = format!("{DEMO}timeouts: {{ send: 500ms }}\n");
    let proxy = with_tls("", &rest, "request: [{ deny: 403 }]", |folder| {
        authority.server(&["one.example"]).write(folder, "one");
        authority.server(&["two.example"]).write(folder, "two");
    });
    let mut connection = authority.trust().connect(proxy.address, "one.example").unwrap();
    connection.sock.set_write_timeout(Some(std::time::Duration::from_secs(8))).unwrap();
    let ended = flood(&mut connection);
    assert!(matches!(ended, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{ended}");
    proxy.reaches("celero_requests_open", 0.0);
}

/// A listener that is new needs a restart; what is new of the others does not.
#[test]
fn certificates_change_beside_listeners() {
    let authority = Authority::new("tests");
    let proxy = usual(&authority, "", "");
    let file = proxy.folder.0.join("proxy.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let listener =
        text.split_once("listeners: [").and_then(|(_, rest)| rest.split_once("]\nmetrics")).unwrap().0.to_owned();
    let strict = listener.replace(" }] }", " }], clients: { authorities: authority.pem } }");
    assert_ne!(strict, listener);
    proxy.folder.write("authority.pem", &authority.pem());
    proxy.folder.write("proxy.yaml", &text.replace(&listener, &format!("{{ address: 127.0.0.1:1 }}, {strict}")));
    proxy.handle.reload().unwrap();
    let answer = authority.trust().get(proxy.address, "one.example", "/", "");
    assert!(answer.is_err(), "{answer:?}");
}

/// A session that is resumed would keep a certificate that has expired since.
#[test]
fn sessions_with_certificates_are_not_resumed() {
    let authority = Authority::new("tests");
    for (more, resumed) in [("", true), (", clients: { authorities: authority.pem, required: false }", false)] {
        let proxy = with_tls(more, DEMO, "", |folder| {
            authority.server(&["one.example"]).write(folder, "one");
            authority.server(&["two.example"]).write(folder, "two");
            folder.write("authority.pem", &authority.pem());
        });
        for versions in [OLD, NEW] {
            let kinds = authority.trust().versions(versions).handshakes(proxy.address, "one.example");
            assert_eq!(
                kinds,
                [HandshakeKind::Full, if resumed { HandshakeKind::Resumed } else { HandshakeKind::Full }]
            );
        }
    }
}
