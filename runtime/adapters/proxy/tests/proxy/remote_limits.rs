//! Limits that a service counts, over sockets: what it is asked, and what a slow, failing or wrong service costs.

use crate::certificates::Authority;
use crate::client::{Client, get, get_with, post};
use crate::rate_limit_server::{Behaviour, Question, RateLimitServer, within};
use crate::running::{Folder, LONG, Running, config, eventually};
use celero_proxy::config::Config;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

const SHARED: &str = "request: [{ name: shared, limit: { remote: counter, descriptors: { client: '${source.address}', path: '${request.path}' }, headers: always } }]\n";

/// A proxy that asks the service at this address, with more keys of the service.
fn asking(address: SocketAddr, more: &str, policy: &str) -> Running {
    Running::with(&rest(address, more), policy)
}

fn rest(address: SocketAddr, more: &str) -> String {
    let service = format!("{{ name: counter, address: \"{address}\", domain: tests, timeout: 10s{more} }}");
    format!("{DEMO}rateLimitServices: [{service}]\n")
}

fn calls(proxy: &Running, result: &str) -> f64 {
    proxy.metric(&format!("celero_rate_limit_calls_total{{service=\"counter\",result=\"{result}\"}}"))
}

#[test]
fn the_service_is_asked_and_its_answer_is_told() {
    let server = RateLimitServer::start(within(true, 41, 9));
    let proxy = asking(server.address, "", SHARED);
    let reply = get(proxy.address, "/a");
    assert_eq!((reply.status, reply.header("ratelimit")), (200, "\"shared\";r=41;t=9".to_owned()));
    assert_eq!(reply.header("ratelimit-policy"), "\"shared\";q=100;w=60");
    let [question] = &server.questions()[..] else { panic!("one question") };
    let entries: Vec<_> = question.descriptors[0].entries.iter().map(|e| (&*e.key, &*e.value)).collect();
    assert_eq!((&*question.domain, question.hits), ("tests", 1));
    assert_eq!(entries, [("client", "127.0.0.1"), ("path", "/a")]);
    server.behave(within(false, 0, 30));
    let reply = get(proxy.address, "/b");
    assert_eq!((reply.status, reply.header("retry-after")), (429, "30".to_owned()));
    let line = proxy.log(2).pop().unwrap();
    assert_eq!((&line["rule"], &line["status"]), (&"shared".into(), &429.into()));
    // One connection for all calls.
    for _ in 0..20 {
        assert_eq!(get(proxy.address, "/c").status, 429);
    }
    assert_eq!(server.connections(), 1);
    assert_eq!((calls(&proxy, "within"), calls(&proxy, "above")), (1.0, 21.0));
    proxy.reaches("celero_limit_decisions_total{limit=\"shared\",decision=\"limited\"}", 21.0);
    // A reload keeps the connection of a service that stays.
    proxy.folder.write("policy.yaml", &format!("{SHARED}response: [{{ setHeaders: {{ x-new: yes }} }}]\n"));
    proxy.handle.reload().unwrap();
    server.behave(within(true, 1, 1));
    assert_eq!(get(proxy.address, "/d").header("x-new"), "yes");
    assert_eq!(server.connections(), 1);
}

#[test]
fn wrong_answers_and_errors_are_no_answers() {
    let server = RateLimitServer::start(Behaviour::Status(14));
    let open = SHARED.replace("headers: always", "onUnavailable: pass");
    for (policy, status) in [(SHARED, 503), (&open, 200)] {
        let proxy = asking(server.address, ", failures: 1000", policy);
        let wrong = [
            Behaviour::Status(14),
            Behaviour::Status(12),
            Behaviour::Bytes(b"\xff\xff\xff".to_vec()),
            Behaviour::Bytes(vec![8, 0]),
            Behaviour::Bytes(vec![8, 99]),
            Behaviour::Bytes(Vec::new()),
            Behaviour::Bytes([&[18, 128, 128, 64][..], &vec![0; 1 << 20]].concat()),
            Behaviour::Break,
        ];
        for behaviour in wrong {
            let shown = format!("{behaviour:?}").chars().take(50).collect::<String>();
            server.behave(behaviour);
            let reply = get(proxy.address, "/");
            assert_eq!(reply.status, status, "{shown}");
            assert_eq!(reply.header("retry-after"), if status == 503 { "1" } else { "" });
        }
        assert_eq!(calls(&proxy, "failed"), 8.0);
        proxy.reaches("celero_limit_decisions_total{limit=\"shared\",decision=\"unavailable\"}", 8.0);
        server.behave(within(true, 1, 1));
        eventually(|| get(proxy.address, "/").status == 200, || "a new connection".into());
    }
}

#[test]
fn connections_that_break_are_opened_again() {
    let server = RateLimitServer::start(within(true, 1, 1));
    let proxy = asking(server.address, ", failures: 1000", SHARED);
    for round in 1..4 {
        eventually(|| get(proxy.address, "/").status == 200, || "an answer".into());
        assert!(server.connections() >= round, "{round}");
        server.kill_connections();
        eventually(
            || get(proxy.address, "/").status == 200 && server.connections() > round,
            || "an answer over another connection".into(),
        );
    }
}

#[test]
fn a_slow_service_costs_at_most_its_timeout_and_its_calls_are_bounded() {
    let server = RateLimitServer::start(Behaviour::Silence);
    let proxy = asking(server.address, "", SHARED);
    let config = |more: &str| {
        proxy.folder.write("proxy.yaml", &config(&rest(server.address, more).replace("timeout: 10s", "timeout: 1s")));
        proxy.handle.reload().unwrap();
    };
    config(", failures: 1000, concurrent: 2");
    let ask = || {
        let address = proxy.address;
        std::thread::spawn(move || get(address, "/").status)
    };
    let waiting = [ask(), ask()];
    eventually(|| server.questions().len() + server.connections() > 0, || "questions".into());
    proxy.reaches("celero_requests_open", 2.0);
    // The third has its answer before the others have theirs.
    eventually(|| get(proxy.address, "/").status == 503 && calls(&proxy, "refused") > 0.0, || "refused".into());
    for thread in waiting {
        assert_eq!(thread.join().unwrap(), 503);
    }
    assert!(calls(&proxy, "timeout") >= 2.0);
    // Clients that give up free the places of their calls.
    config(", failures: 1000, concurrent: 1");
    server.behave(within(true, 1, 1));
    eventually(|| get(proxy.address, "/").status == 200, || "a place".into());
}

#[test]
fn a_service_that_keeps_failing_is_left_alone_for_a_while() {
    let server = RateLimitServer::start(Behaviour::Status(14));
    let proxy = asking(server.address, ", failures: 3, pause: 2s", SHARED);
    for _ in 0..3 {
        assert_eq!(get(proxy.address, "/").status, 503);
    }
    let opened = Instant::now();
    server.behave(within(true, 1, 1));
    let (mut skipped, mut asked) = (0, server.questions().len());
    while get(proxy.address, "/").status != 200 {
        skipped += 1;
        std::thread::sleep(Duration::from_millis(20));
        asked += server.questions().len();
        assert!(opened.elapsed() < LONG);
    }
    // Unless the test was stopped for so long that the pause was over before the first request.
    assert!(skipped > 0 || opened.elapsed() >= Duration::from_secs(2), "{skipped}");
    assert!(asked == 3 && opened.elapsed() >= Duration::from_secs(1), "{skipped} {asked}");
    assert_eq!(calls(&proxy, "skipped"), f64::from(skipped));
    assert_eq!(proxy.metric("celero_rate_limit_skipped{service=\"counter\"}"), 0.0);
}

#[test]
fn errors_about_a_question_do_not_stop_the_questions() {
    let server = RateLimitServer::start(Behaviour::Status(3));
    let proxy = asking(server.address, ", failures: 2, pause: 10m", SHARED);
    // Invalid argument, not found, already exists, failed precondition, out of range.
    for status in [3, 5, 6, 9, 11] {
        server.behave(Behaviour::Status(status));
        for _ in 0..2 {
            assert_eq!(get(proxy.address, "/").status, 503);
        }
    }
    server.behave(within(true, 1, 1));
    assert_eq!(get(proxy.address, "/").status, 200);
    assert_eq!((calls(&proxy, "failed"), calls(&proxy, "skipped")), (10.0, 0.0));
}

/// The body is complete when the service is asked about it, and asked about once.
#[test]
fn bodies_decide_what_is_asked() {
    let server = RateLimitServer::start(within(true, 41, 9));
    let policy = "requestBody:\n  limit: 1KiB\n  rules:\n  - { name: models, limit: { remote: counter, descriptors: { model: '${json(request.body).model}' }, hits: '${json(request.body).tokens}', headers: always } }\n";
    let proxy = asking(server.address, "", policy);
    let reply = post(proxy.address, "/", br#"{"model":"big","tokens":7}"#);
    assert_eq!((reply.status, reply.header("ratelimit")), (200, "\"models\";r=41;t=9".to_owned()));
    let asked = |server: &RateLimitServer| {
        let entry = |question: &Question| {
            let entry = &question.descriptors[0].entries[0];
            (entry.key.clone(), entry.value.clone(), question.hits)
        };
        server.questions().iter().map(entry).collect::<Vec<_>>()
    };
    assert_eq!(asked(&server), [("model".to_owned(), "big".to_owned(), 7)]);
    // What is no JSON, has no model, or is too large asks nothing, and does not pass.
    let large = format!(r#"{{"model":"big","tokens":1,"more":"{}"}}"#, "x".repeat(1024));
    for (body, status) in [("big", 429), (r#"{"tokens":1}"#, 429), ("", 429), (large.as_str(), 413)] {
        assert_eq!(post(proxy.address, "/", body.as_bytes()).status, status);
    }
    // Half a body asks nothing: its client leaves.
    let mut client = Client::connect(proxy.address);
    client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 26\r\n\r\n{\"model\":\"big\"");
    proxy.reaches("celero_requests_open", 1.0);
    drop(client);
    proxy.reaches("celero_requests_open", 0.0);
    assert!(asked(&server).is_empty());
    server.behave(within(false, 0, 30));
    let reply = post(proxy.address, "/", br#"{"model":"big","tokens":7}"#);
    assert_eq!((reply.status, reply.header("retry-after")), (429, "30".to_owned()));
    server.behave(Behaviour::Status(14));
    assert_eq!(post(proxy.address, "/", br#"{"model":"big","tokens":7}"#).status, 503);
    assert_eq!(asked(&server).len(), 2);
}

#[test]
fn nobody_listens_and_the_local_limit_comes_first() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let local = "request:\n- { name: here, limit: { key: '${source.address}', rate: 2/d } }\n- { name: there, limit: { remote: counter, descriptors: { all: x }, onUnavailable: pass } }\n";
    let proxy = asking(gone, ", failures: 1000", local);
    let statuses = [0; 4].map(|_| get(proxy.address, "/").status);
    assert_eq!((statuses, calls(&proxy, "failed")), ([200, 200, 429, 429], 2.0));
    // What a client says makes no other question.
    assert_eq!(get_with(proxy.address, "/", &["x-forwarded-for: 192.0.2.1"]).status, 429);
}

/// What a service with the name `limits.example` needs for handshakes.
fn server_config(authority: &Authority) -> rustls::ServerConfig {
    let signed = authority.server(&["limits.example"]);
    let chain = CertificateDer::pem_slice_iter(signed.chain.as_bytes()).collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(signed.key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut tls = builder.with_no_client_auth().with_single_cert(chain, key).unwrap();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    tls
}

#[test]
fn tls_trusts_only_the_authorities_of_the_configuration() {
    let (authority, other) = (Authority::new("tests"), Authority::new("others"));
    let server = RateLimitServer::over(within(true, 1, 1), Some(Arc::new(server_config(&authority))));
    for (trusted, name, status) in
        [(&authority, "limits.example", 200), (&other, "limits.example", 503), (&authority, "another.example", 503)]
    {
        let more = format!(", failures: 1000, tls: {{ serverName: {name}, authorities: ca.pem }}");
        let proxy = Running::with_listener("h2c: true", &rest(server.address, &more), SHARED, |folder| {
            folder.write("ca.pem", &trusted.pem());
        });
        assert_eq!(get(proxy.address, "/").status, status, "{name}");
    }
}

/// A handshake that a server does not go on with ends, and the next call opens another connection.
#[test]
fn a_handshake_that_hangs_ends() {
    let authority = Authority::new("one");
    let server = RateLimitServer::over(within(true, 1, 1), Some(Arc::new(server_config(&authority))));
    let (front, behind) = (std::net::TcpListener::bind("127.0.0.1:0").unwrap(), server.address);
    let address = front.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut sockets = front.incoming().map_while(Result::ok);
        // It is kept, and gets no answer.
        let hangs = sockets.next();
        for client in sockets {
            let server = std::net::TcpStream::connect(behind).unwrap();
            for (mut from, mut to) in [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)] {
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            }
        }
        drop(hangs);
    });
    let more = ", failures: 1000, tls: { serverName: limits.example, authorities: ca.pem }";
    let rest = rest(address, more).replace("timeout: 10s", "timeout: 500ms");
    let proxy = Running::with_listener("h2c: true", &rest, SHARED, |folder| {
        folder.write("ca.pem", &authority.pem());
    });
    assert_eq!(get(proxy.address, "/").status, 503);
    eventually(|| get(proxy.address, "/").status == 200, || "another connection".into());
}

#[test]
fn a_configuration_without_the_service_is_refused() {
    let folder = Folder::new();
    folder.write("policy.yaml", SHARED);
    let services = |text: &str| Config::check(&folder.write("proxy.yaml", &config(&format!("{DEMO}{text}"))));
    let none = services("").unwrap_err().to_string();
    assert!(
        none.contains("the limit `shared` of the policy asks the service `counter`") && none.contains("it has none"),
        "{none}"
    );
    let other =
        services("rateLimitServices: [{ name: other, address: \"a:1\", domain: d }]\n").unwrap_err().to_string();
    assert!(other.contains("it has other"), "{other}");
    for (service, message) in [
        ("{ name: counter, address: nowhere, domain: d }", "`nowhere` is not a host with a port"),
        ("{ name: counter, address: \"a:1\" }", "domain"),
        (
            "{ name: counter, address: \"a:1\", domain: d, tls: { serverName: a.example, authorities: none.pem } }",
            "none.pem",
        ),
        (
            "{ name: counter, address: \"a:1\", domain: d }, { name: counter, address: \"a:1\", domain: d }",
            "another service is called",
        ),
    ] {
        let error = services(&format!("rateLimitServices: [{service}]\n")).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert!(services("rateLimitServices: [{ name: counter, address: \"a:1\", domain: d }]\n").is_ok());
    // A reload that adds such a limit changes nothing.
    let proxy = Running::with(DEMO, "");
    proxy.folder.write("policy.yaml", SHARED);
    assert!(proxy.handle.reload().is_err());
    assert_eq!(get(proxy.address, "/").status, 200);
}
