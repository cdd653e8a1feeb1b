//! One canonical request: what rules, routes, logs and the server see of requests spelled in odd
//! ways, over real sockets.

use crate::client::{Client, Reply};
use crate::raw_h2::{DATA, END_HEADERS, END_STREAM, HEADERS, RawH2, fields, literal, status};
use crate::recorder::Recorder;
use crate::running::Running;
use std::net::SocketAddr;

const GUARD: &str = r#"
request:
  - { name: admin, when: 'request.path.startsWith("/admin")', deny: 403 }
  - { name: host, when: 'request.host == "admin.example"', deny: 403 }
  - { name: mark, setHeaders: { x-user: policy, x-host: "${request.host}", x-raw: "${request.rawPath}" }, removeHeaders: [x-restricted] }
response:
  - { setHeaders: { x-served-by: celero } }
"#;

/// Sends a head as it is, on a connection of its own.
fn send(address: SocketAddr, head: &str) -> Reply {
    Client::connect(address).send(head).reply()
}

fn get(address: SocketAddr, target: &str) -> Reply {
    send(address, &format!("GET {target} HTTP/1.1\r\nhost: a.example\r\n\r\n"))
}

#[test]
fn other_spellings_of_a_path_do_not_pass_a_guard() {
    let proxy = Running::demo(GUARD);
    for target in [
        "/admin",
        "//admin",
        "/./admin",
        "/x/../admin",
        "/%61dmin",
        "/%61%64min/x",
        "/x/%2e%2e/admin",
        "///admin/",
        "/admin#x",
        "http://a.example/admin",
        "http://a.example//x/../admin",
    ] {
        assert_eq!(get(proxy.address, target).status, 403, "{target}");
    }
    for (target, reason) in [
        ("admin", "target-form"),
        ("x:admin", "target-form"),
        ("*", "target-form"),
        ("/x%2fadmin", "path-encoded-slash"),
        ("/x\\admin", "path-backslash"),
        ("/a%zz", "path-percent"),
        ("/a%00", "path-encoded-control"),
        ("/x/..;/admin", "path-dot-segment"),
    ] {
        assert_eq!(get(proxy.address, target).status, 400, "{target}");
        assert!(proxy.metric(&format!("celero_requests_refused_total{{reason=\"{reason}\"}}")) > 0.0, "{target}");
    }
    let lines = proxy.log(19);
    assert!(lines.iter().any(|line| line["refused"] == "target-form" && line["rule"] == "normalize"), "{lines:?}");
    assert!(
        lines
            .iter()
            .filter(|line| line["status"] == 403)
            .all(|line| line["path"].as_str().unwrap().starts_with("/admin"))
    );
}

#[test]
fn the_server_gets_what_the_rules_read() {
    let proxy = Running::demo(GUARD);
    let echo = get(proxy.address, "//x/./%7Ea?q=//../%7e").echo();
    assert_eq!(echo.0["target"], "/x/~a?q=//../%7e");
    assert_eq!(echo.header("x-raw"), ["//x/./%7Ea?q=//../%7e"]);
    let proxy = Running::demo(&format!("normalize: {{ forwardRaw: true }}\n{GUARD}"));
    assert_eq!(get(proxy.address, "//x/./%7Ea?q").echo().0["target"], "//x/./%7Ea?q");
    assert_eq!(get(proxy.address, "//admin").status, 403);
}

#[test]
fn the_server_gets_the_target_that_rules_set() {
    for forwarded in ["", "normalize: { forwardRaw: true }\n"] {
        let policy = r#"
request:
  - when: request.path.startsWith("/old/")
    setPath: "/new${request.path.substring(4)}"
    removeQuery: [debug]
    setQuery: { user: "${request.headers['x-user']}" }
response:
  - { when: response.code == 200, setStatus: 503 }
"#;
        let proxy = Running::demo(&format!("{forwarded}{policy}"));
        let ask = |target: &str, user: &str| {
            send(proxy.address, &format!("GET {target} HTTP/1.1\r\nhost: a\r\nx-user: {user}\r\n\r\n"))
        };
        let reply = ask("//x/../old/%7Ea?%64ebug=1&a=%62&user=root", "a&debug=1");
        assert_eq!(reply.status, 503);
        assert_eq!(reply.echo().0["target"], "/new/~a?a=%62&user=a%26debug%3D1");
        let reply = ask("http://a/old/x", "b");
        assert_eq!(reply.echo().0["target"], "/new/x?user=b");
        let log = proxy.log(2);
        assert_eq!(log[0]["status"], 503);
    }
}

/// The target over HTTP/2 is `:path`.
#[test]
fn the_target_that_rules_set_is_that_of_http2_too() {
    let proxy = Running::demo("request:\n- { setPath: /new, removeQuery: [a] }\n");
    let mut client = RawH2::connect(proxy.address, &[]);
    client.request("GET", "/./old?%61=1&b", END_HEADERS | END_STREAM, 1);
    let body = client.find(DATA).expect("a body").payload;
    assert!(String::from_utf8_lossy(&body).contains("\"/new?b\""), "{}", String::from_utf8_lossy(&body));
}

#[test]
fn other_spellings_of_a_host_do_not_pass_a_guard() {
    let proxy = Running::demo(GUARD);
    for host in ["admin.example", "Admin.Example", "admin.example:80", "admin.example.", "ADMIN.example.:0080"] {
        assert_eq!(send(proxy.address, &format!("GET /x HTTP/1.1\r\nHost: {host}\r\n\r\n")).status, 403, "{host}");
    }
    let echo = send(proxy.address, "GET /x HTTP/1.1\r\nHost: B.Example.:8080\r\n\r\n").echo();
    assert_eq!((echo.header("host"), echo.header("x-host")), (vec!["b.example:8080"], vec!["b.example"]));
    for head in [
        "GET /x HTTP/1.1\r\n\r\n",
        "GET http://admin.example/x HTTP/1.1\r\n\r\n",
        "GET http://admin.example/x HTTP/1.1\r\nhost: a.example\r\n\r\n",
        "GET /x HTTP/1.1\r\nhost: a.example\r\nhost: admin.example\r\n\r\n",
        "GET /x HTTP/1.1\r\nhost: admin.example, a.example\r\n\r\n",
        "GET /x HTTP/1.1\r\nhost: u@admin.example\r\n\r\n",
        "GET /x HTTP/1.1\r\nhost: 127.1\r\n\r\n",
        "GET /x HTTP/1.1\r\nhost:\r\n\r\n",
    ] {
        assert_eq!(send(proxy.address, head).status, 400, "{head}");
    }
}

#[test]
fn edits_are_final_whatever_a_client_names() {
    let proxy = Running::demo(GUARD);
    let ask = |fields: &str| send(proxy.address, &format!("GET /x HTTP/1.1\r\nhost: a\r\n{fields}\r\n\r\n"));
    let echo = ask("connection: close, x-user, x-restricted\r\nx-user: client\r\nx-restricted: client").echo();
    assert_eq!((echo.header("x-user"), echo.header("x-restricted").len()), (vec!["policy"], 0));
    let echo = ask("connection: keep-alive, X-Private\r\nx-private: 1\r\nx-other: 2").echo();
    assert_eq!((echo.header("x-private").len(), echo.header("x-other")), (0, vec!["2"]));
    for refused in [
        "connection: host",
        "connection: x-forwarded-for",
        "connection: transfer-encoding",
        "x_user: client",
        "X.User: client",
        "x_restricted: client",
        "content_length: 5",
        "content-length: 0\r\ncontent-length: 0",
    ] {
        assert_eq!(ask(refused).status, 400, "{refused}");
    }
    assert_eq!(ask("x_other: 1").echo().header("x_other"), ["1"]);
    let echo = ask("cookie: a=1\r\ncookie: b=2").echo();
    assert_eq!(echo.header("cookie"), ["a=1; b=2"]);
    assert_eq!(ask("x-a: 1").header("x-served-by"), "celero");
}

#[test]
fn other_spellings_of_a_method_do_not_pass_a_guard() {
    let server = Recorder::start();
    let policy = "request: [{ when: 'request.method == \"DELETE\"', deny: 403 }]";
    let proxy = Running::with(&server.config(), policy);
    for (method, status) in [("DELETE", 403), ("delete", 400), ("DELETe", 400), ("PURGE", 200)] {
        let head = format!("{method} /x HTTP/1.1\r\nhost: a\r\n\r\n");
        assert_eq!(send(proxy.address, &head).status, status, "{method}");
        assert_eq!(server.seen().requests, usize::from(status == 200), "{method}");
    }
}

/// HTTP/2 frames a value with its spaces, which a server of HTTP/1.1 takes for no part of it.
#[test]
fn spaces_around_a_value_do_not_pass_a_guard() {
    let server = Recorder::start();
    let policy = "request: [{ when: 'request.headers[\"x-role\"] == \"admin\"', deny: 403 }]";
    let proxy = Running::with(&server.config(), policy);
    for (value, expected) in
        [("admin", "403"), (" admin", "400"), ("admin ", "400"), ("\tadmin", "400"), ("a b", "200")]
    {
        let mut client = RawH2::connect(proxy.address, &[]);
        client.frame(HEADERS, END_HEADERS | END_STREAM, 1, &[fields("GET", "/x"), literal("x-role", value)].concat());
        let answer = client.find(HEADERS).expect("an answer");
        assert_eq!(status(&answer.payload), expected, "{value:?}");
        assert_eq!(server.seen().requests, usize::from(expected == "200"), "{value:?}");
        // The lines of HTTP/1.1 are read without them.
        if expected == "400" {
            assert_eq!(
                send(proxy.address, &format!("GET /x HTTP/1.1\r\nhost: a\r\nx-role:{value}\r\n\r\n")).status,
                403
            );
        }
    }
}
