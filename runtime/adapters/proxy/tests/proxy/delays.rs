//! Delays over sockets, as an attacker tries them: floods of requests that wait, clients that
//! leave, streams that are reset, requests behind one that waits.

use crate::certificates::Authority;
use crate::client::{Client, get, post};
use crate::process::{DEMO, Process};
use crate::raw_h2::{DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, RawH2, SETTINGS, fields, frame, status};
use crate::running::{Folder, Running, config, eventually};
use celero_proxy::config::Config;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

/// Longer than what a test waits for.
const LONG: &str = "delays: { longest: 1m, waiting: 5 }
request:
  - { name: tarpit, when: 'request.path.startsWith(\"/wait\")', delay: 1m }
  - { when: 'request.path == \"/wait/denied\"', deny: 403 }
";

fn waits(proxy: &Running, count: usize) {
    eventually(
        || proxy.metric("celero_delayed_requests") == count as f64,
        || format!("{count} requests that wait, not {}", proxy.metric("celero_delayed_requests")),
    );
}

/// Nobody waits, no request is open, and others are served.
#[track_caller]
fn is_free(proxy: &Running) {
    waits(proxy, 0);
    proxy.reaches("celero_requests_open", 0.0);
    assert_eq!(get(proxy.address, "/").status, 200);
}

#[test]
fn answers_and_requests_wait_and_nobody_else_does() {
    let proxy = Running::demo(
        "delays: { longest: 1m }\nrequest:\n- { when: 'request.path != \"/free\"', delay: 400ms }\n- { when: 'request.path == \"/long\"', delay: 1m }\n- { name: closed, when: 'request.path == \"/no\"', deny: 403 }\n",
    );
    let mut long = Client::connect(proxy.address);
    long.request("GET /long", &[], b"");
    waits(&proxy, 1);
    // On the thread on which the other request waits.
    assert_eq!(get(proxy.address, "/free").status, 200);
    waits(&proxy, 1);
    drop(long);
    waits(&proxy, 0);
    let start = Instant::now();
    assert_eq!(get(proxy.address, "/").status, 200);
    assert!(start.elapsed() >= Duration::from_millis(400));
    let start = Instant::now();
    assert_eq!(get(proxy.address, "/no").status, 403);
    assert!(start.elapsed() >= Duration::from_millis(400));
    proxy.reaches("celero_delays_total{result=\"delayed\"}", 3.0);
    let line = proxy.log(4).pop().unwrap();
    assert_eq!((&line["status"], &line["rule"]), (&403.into(), &"closed".into()));
    assert!(line["durationMs"].as_f64().unwrap() >= 400.0, "{line}");
    is_free(&proxy);
}

/// A client that floods fills the places and gains nothing: what is above the limit does not pass at once.
#[test]
fn requests_above_a_limit_wait_and_a_flood_of_them_does_not_pass() {
    for (pass, when_full) in [("", 429), (", pass: true", 503)] {
        let proxy = Running::demo(&format!(
            "delays: {{ longest: 1m, waiting: 2 }}\nrequest:\n- {{ when: 'request.path == \"/api\"', limit: {{ rate: 1/h, onLimit: {{ delay: 1m{pass} }} }} }}\n"
        ));
        assert_eq!(get(proxy.address, "/api").status, 200);
        let clients = [(); 2].map(|()| {
            let mut client = Client::connect(proxy.address);
            client.request("GET /api", &[], b"");
            client
        });
        waits(&proxy, 2);
        for _ in 0..3 {
            assert_eq!(get(proxy.address, "/api").status, when_full);
        }
        assert_eq!(get(proxy.address, "/").status, 200);
        drop(clients);
        is_free(&proxy);
    }
}

/// The second request has arrived before the first has its answer, and waits for that only.
#[test]
fn requests_behind_one_that_waits_are_answered_in_their_order() {
    let proxy = Running::demo(
        "request:\n- { when: 'request.path == \"/a\"', delay: 300ms }\n- { when: 'request.path == \"/b\"', respond: { status: 202 } }\nrequestBody: [{ when: 'request.body == b\"body\"', respond: { status: 203 } }]\n",
    );
    for _ in 0..3 {
        let mut client = Client::connect(proxy.address);
        client.send(
            "GET /a HTTP/1.1\r\nhost: a\r\n\r\nGET /b HTTP/1.1\r\nhost: a\r\n\r\nPOST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbodyGET /b HTTP/1.1\r\nhost: a\r\n\r\n",
        );
        let statuses = [(); 4].map(|()| client.reply().status);
        assert_eq!(statuses, [200, 202, 203, 202]);
    }
    is_free(&proxy);
}

#[test]
fn clients_that_leave_free_their_places() {
    let proxy = Running::with(DEMO, LONG);
    let requests = [
        "GET /wait HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /wait/denied HTTP/1.1\r\nhost: a\r\n\r\n",
        // With a body that nobody reads meanwhile, and half of one.
        "POST /wait HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody",
        "POST /wait HTTP/1.1\r\nhost: a\r\ncontent-length: 400\r\n\r\nhalf",
        // With the next request behind it.
        "GET /wait HTTP/1.1\r\nhost: a\r\n\r\nGET /wait HTTP/1.1\r\nhost: a\r\n\r\n",
    ];
    for request in requests {
        let mut client = Client::connect(proxy.address);
        client.send(request);
        waits(&proxy, 1);
        drop(client);
        is_free(&proxy);
    }
    // All at once, several times as many as there are places.
    for _ in 0..4 {
        let clients: Vec<Client> = (0..5)
            .map(|_| {
                let mut client = Client::connect(proxy.address);
                client.send(requests[3]);
                client
            })
            .collect();
        waits(&proxy, 5);
        drop(clients);
        is_free(&proxy);
    }
    let log = proxy.log(34);
    let left = log.iter().filter(|line| line["path"] == "/wait" && line["status"].is_null()).count();
    assert_eq!(left, 24, "{log:?}");
}

/// Who waits in the body phase has sent its body already.
#[test]
fn clients_that_leave_after_their_body_free_their_places() {
    let proxy = Running::with(
        DEMO,
        "delays: { longest: 1m }\nrequestBody: [{ when: 'request.body == b\"wait\"', delay: 1m }]\n",
    );
    assert_eq!(post(proxy.address, "/", b"free").status, 200);
    let mut client = Client::connect(proxy.address);
    client.request("POST /", &[], b"wait");
    waits(&proxy, 1);
    drop(client);
    is_free(&proxy);
}

/// The end of the connection is seen below TLS, and behind a load balancer that names another one.
#[test]
fn clients_are_missed_over_tls_and_behind_a_balancer() {
    let authority = Authority::new("tests");
    let tls = "tls: { certificates: [{ chain: one.pem, key: one.key }] }";
    let proxy = Running::with_listener(tls, DEMO, LONG, |folder| {
        authority.server(&["one.example"]).write(folder, "one");
    });
    let http1 = b"POST /wait HTTP/1.1\r\nhost: one.example\r\ncontent-length: 9\r\n\r\nhalf".to_vec();
    let mut fields = fields("GET", "/wait");
    // The scheme `https`.
    fields[0] = 0x87;
    let head = frame(HEADERS, END_HEADERS | END_STREAM, 1, &fields);
    let http2 = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(SETTINGS, 0, 0, &[]), head].concat();
    for (protocol, request) in [("http/1.1", http1), ("h2", http2)] {
        let mut client = authority.trust().protocols(&[protocol]).connect(proxy.address, "one.example").unwrap();
        client.write_all(&request).unwrap();
        waits(&proxy, 1);
        drop(client);
        waits(&proxy, 0);
        proxy.reaches("celero_requests_open", 0.0);
    }
    let proxy = Running::with_listener("proxyProtocol: [\"127.0.0.0/8\"]", DEMO, LONG, |_| {});
    let mut client = Client::connect(proxy.address);
    client.send("PROXY TCP4 198.51.100.7 198.51.100.2 4711 443\r\nGET /wait HTTP/1.1\r\nhost: a\r\n\r\n");
    waits(&proxy, 1);
    drop(client);
    waits(&proxy, 0);
    assert_eq!(proxy.log(1)[0]["client"], "198.51.100.7:4711");
}

#[test]
fn beyond_the_bound_requests_are_refused_and_others_served() {
    let proxy = Running::with(DEMO, LONG);
    let mut waiting: Vec<Client> = Vec::new();
    for _ in 0..5 {
        let mut client = Client::connect(proxy.address);
        client.request("GET /wait", &[], b"");
        waiting.push(client);
    }
    waits(&proxy, 5);
    for _ in 0..20 {
        let reply = get(proxy.address, "/wait");
        assert_eq!((reply.status, reply.header("retry-after")), (503, "1".into()));
        assert_eq!(get(proxy.address, "/wait/denied").status, 403);
        assert_eq!(get(proxy.address, "/").status, 200);
    }
    proxy.reaches("celero_delays_total{result=\"full\"}", 40.0);
    let line = proxy.log(60).into_iter().find(|line| line["status"] == 503).unwrap();
    assert_eq!(line["rule"], "delay.busy");
    // A reload with a shorter delay counts for new requests, and those that wait count on.
    proxy.folder.write("policy.yaml", &LONG.replace("delay: 1m", "delay: 10ms"));
    proxy.handle.reload().unwrap();
    assert_eq!(get(proxy.address, "/wait").status, 503);
    waiting.truncate(4);
    waits(&proxy, 4);
    assert_eq!(get(proxy.address, "/wait").status, 200);
    drop(waiting);
    is_free(&proxy);
}

/// Requests that wait are open requests: if all of these may wait, all others can be refused.
#[test]
fn a_warning_compares_the_bounds_of_requests_that_wait_and_of_open_ones() {
    let folder = Folder::new();
    folder.write("policy.yaml", LONG);
    let limits = |requests: u32| config(&format!("{DEMO}limits: {{ requests: {requests} }}\n"));
    let file = folder.write("proxy.yaml", &limits(6));
    let summary = || Config::summary(&file).unwrap_or_else(|error| panic!("{error}"));
    assert!(!summary().contains("warning: "), "{}", summary());
    let process = Process::spawn(Command::new(env!("CARGO_BIN_EXE_celero-proxy")).arg("--config").arg(&file));
    assert_eq!(get(process.address, "/").status, 200);
    folder.write("proxy.yaml", &limits(5));
    let warning = "`waiting` of `delays` is 5 and `limits.requests` is 5: ";
    assert!(summary().contains(&format!("warning: {warning}")), "{}", summary());
    eventually(|| process.said().contains(&format!("WARN  {warning}")), || process.said());
}

/// They are open requests for the bound of the proxy and for limits of the policy.
#[test]
fn requests_that_wait_are_open_requests() {
    let one = "request:\n  - { name: one, when: 'request.path == \"/wait/one\"', limit: { concurrent: 1 } }\n";
    let policy = LONG.replace("request:\n", one);
    let proxy = Running::with(&format!("{DEMO}limits: {{ requests: 2 }}\n"), &policy);
    let mut first = Client::connect(proxy.address);
    first.request("GET /wait/one", &[], b"");
    waits(&proxy, 1);
    assert_eq!(get(proxy.address, "/wait/one").status, 429);
    let mut second = Client::connect(proxy.address);
    second.request("GET /wait/denied", &[], b"");
    waits(&proxy, 2);
    assert_eq!(get(proxy.address, "/").status, 503);
    drop((first, second));
    is_free(&proxy);
}

#[test]
fn streams_that_are_reset_free_their_places() {
    let proxy = Running::with(DEMO, LONG);
    for flags in [END_HEADERS | END_STREAM, END_HEADERS] {
        // One after the other, each while it waits.
        let mut client = RawH2::connect(proxy.address, &[]);
        for stream in [1, 3, 5] {
            client.request("POST", "/wait", flags, stream);
            waits(&proxy, 1);
            client.frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]);
            waits(&proxy, 0);
        }
        // Other streams of the connection are served meanwhile.
        client.request("POST", "/wait", flags, 7);
        client.request("GET", "/", END_HEADERS | END_STREAM, 9);
        let answered = client.find(HEADERS).unwrap();
        assert_eq!((answered.stream, status(&answered.payload)), (9, "200".into()));
        waits(&proxy, 1);
        // The connection ends with streams that wait, one of them with a part of its body.
        client.request("POST", "/wait", END_HEADERS, 11);
        client.frame(DATA, 0, 11, b"half");
        waits(&proxy, 2);
        drop(client);
        is_free(&proxy);
    }
}

#[test]
fn a_flood_of_resets_leaves_nobody_waiting() {
    let proxy = Running::with(&format!("{DEMO}limits: {{ controlFrames: 100 }}\n"), LONG);
    for _ in 0..3 {
        let mut client = RawH2::connect(proxy.address, &[]);
        for stream in (1..4_000).step_by(2) {
            let sent = client.request("GET", "/wait", END_HEADERS | END_STREAM, stream)
                && client.frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]);
            if !sent {
                break;
            }
        }
        assert!(client.closed(), "too many resets end the connection");
        is_free(&proxy);
    }
    // The places are there.
    let mut client = Client::connect(proxy.address);
    client.request("GET /wait", &[], b"");
    waits(&proxy, 1);
    drop(client);
    is_free(&proxy);
}

/// A termination ends delays, not the requests: those that were to go on are answered by their servers.
#[test]
fn a_termination_waits_for_no_delay() {
    let folder = Folder::new();
    folder.write("policy.yaml", LONG);
    let file = folder.write("proxy.yaml", &config(DEMO));
    let mut process = Process::spawn(Command::new(env!("CARGO_BIN_EXE_celero-proxy")).arg("--config").arg(file));
    let mut clients = ["GET /wait", "GET /wait/denied"].map(|line| {
        let mut client = Client::connect(process.address);
        client.request(line, &[], b"");
        client
    });
    let waiting = || get(process.metrics, "/metrics").text().contains("\ncelero_delayed_requests 2\n");
    eventually(waiting, || "two requests that wait".into());
    process.signal("TERM");
    assert_eq!(clients.each_mut().map(|client| client.reply().status), [200, 403]);
    assert!(process.end().success());
}
