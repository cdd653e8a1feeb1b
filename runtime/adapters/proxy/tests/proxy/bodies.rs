//! A body is looked at whatever the head of its request says.

use crate::client::{Client, Reply};
use crate::running::Running;

const RULES: &str = r#"
requestBody:
  limit: 1MiB
  rules:
    - { name: injection, when: 'string(request.body).contains("DROP TABLE")', deny: 403 }
"#;

fn proxy() -> Running {
    Running::demo(RULES)
}

/// A body that the rule denies, in this framing.
fn framed(chunked: bool) -> String {
    let body = "x; DROP TABLE users";
    if chunked {
        "transfer-encoding: chunked\r\n\r\n5\r\nx; DR\r\ne\r\nOP TABLE users\r\n0\r\n\r\n".to_owned()
    } else {
        format!("content-length: {}\r\n\r\n{body}", body.len())
    }
}

fn ask(proxy: &Running, head: &str, chunked: bool) -> Reply {
    let mut client = Client::connect(proxy.address);
    client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\n{head}{}", framed(chunked))).reply()
}

#[test]
fn a_head_cannot_hide_a_body() {
    let proxy = proxy();
    for chunked in [false, true] {
        for head in ["", "connection: close\r\n", "connection: keep-alive, x\r\n", "connection: upgrade\r\n"] {
            assert_eq!(ask(&proxy, head, chunked).status, 403, "{head:?} {chunked}");
        }
        for head in [
            "upgrade: x\r\n",
            "Upgrade:\r\n",
            "upgrade: websocket\r\n",
            "upgrade: x\r\nconnection: close\r\n",
            "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
            "connection: upgrade, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
        ] {
            assert_eq!(ask(&proxy, head, chunked).status, 400, "{head:?} {chunked}");
        }
    }
    let log = proxy.log(20);
    assert_eq!(log.iter().filter(|line| line["rule"] == "request.upgrade").count(), 12);
    assert!(log.iter().all(|line| line.get("server").is_none()), "the server was asked");
}

#[test]
fn an_upgrade_without_a_body_passes() {
    let proxy = proxy();
    let mut client = Client::connect(proxy.address);
    for head in
        ["upgrade: x\r\n", "connection: upgrade\r\nupgrade: websocket\r\n", "upgrade: x\r\ncontent-length: 0\r\n"]
    {
        assert_eq!(client.send(format!("GET /x HTTP/1.1\r\nhost: a\r\n{head}\r\n")).reply().status, 200, "{head:?}");
    }
}

#[test]
fn expectations_have_no_case() {
    let proxy = proxy();
    for expect in ["100-continue", "100-Continue", "100-CONTINUE"] {
        let mut client = Client::connect(proxy.address);
        client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: {expect}\r\n\r\n"));
        assert_eq!(client.reply().status, 100);
        let echo = client.send("body").reply().echo();
        assert_eq!(echo.0["body"], "body");
        assert!(echo.header("expect").is_empty());
    }
}

#[test]
fn unknown_expectations_are_refused() {
    let proxy = proxy();
    for expect in ["200-ok", "100-continue, magic", "magic=1;q", "100-continue\r\nexpect: magic"] {
        let mut client = Client::connect(proxy.address);
        client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: {expect}\r\n\r\nbody"));
        assert_eq!(client.reply().status, 417, "{expect:?}");
    }
    assert!(proxy.log(4).iter().all(|line| line["rule"] == "request.expect" && line.get("server").is_none()));
}

#[test]
fn transfer_codings_are_refused() {
    let proxy = proxy();
    for coding in [
        "gzip, chunked",
        "identity, chunked",
        "chunked\r\ntransfer-encoding: chunked",
        "x\r\ntransfer-encoding: chunked",
    ] {
        let mut client = Client::connect(proxy.address);
        client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: {coding}\r\n\r\n2\r\nab\r\n0\r\n\r\n"));
        assert!([400, 501].contains(&client.reply().status), "{coding:?}");
    }
}
