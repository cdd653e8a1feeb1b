//! Heads and bodies that servers read in several ways: each is refused, or forwarded as the one request that the rules read.

use crate::client::Client;
use crate::running::Running;

const POLICY: &str = r#"
request:
  - { name: no, when: 'request.path.startsWith("/no")', deny: 403 }
"#;

/// What a client sends after `POST /x HTTP/1.1` and `Host`, with the body.
const CORPUS: [&str; 30] = [
    // CL.TE, TE.CL, both.
    "content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nG",
    "transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    // TE.TE and codings that only look like chunked.
    "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n",
    "transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding:\tchunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
    "transfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    "transfer_encoding: chunked\r\n\r\n",
    "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    // CL.0, and lengths that are no single number.
    "content-length: 5\r\ncontent-length: 5\r\n\r\nGET /",
    "content-length: 5\r\ncontent-length: 6\r\n\r\nGET / ",
    "content-length: 5, 5\r\n\r\nGET /",
    "content-length: +5\r\n\r\nGET /",
    "content-length: 5 5\r\n\r\nGET /",
    "content-length: 0x5\r\n\r\nGET /",
    "content-length: -1\r\n\r\n",
    "content-length: 99999999999999999999\r\n\r\n",
    // Lines that servers end or continue in several ways.
    "x-a: 1\r\n transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    " x-a: 1\r\n\r\n",
    "x-a: 1\rtransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "x-a: 1\ntransfer-encoding: chunked\n\n0\r\n\r\n",
    "x-a: a\0b\r\n\r\n",
    "x\0a: 1\r\n\r\n",
    "x-a\r\n\r\n",
    // Chunks.
    "transfer-encoding: chunked\r\n\r\n0;x=y\r\n\r\n",
    "transfer-encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n",
    "transfer-encoding: chunked\r\n\r\n1\na\n0\n\n",
    "transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\na\r\n0\r\n\r\n",
];

#[test]
fn what_servers_read_in_several_ways_is_one_request_or_none() {
    let proxy = Running::demo(POLICY);
    for rest in CORPUS {
        let mut client = Client::connect(proxy.address);
        client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{rest}"));
        let shown = rest.escape_debug();
        // The proxy frames the request anew, with one length or one coding, and answers once.
        match client.try_reply(true) {
            Ok(reply) if reply.status == 200 => {
                let echo = reply.echo();
                assert_eq!(echo.0["target"], "/x", "{shown}");
                let framing = echo.header("content-length").len() + echo.header("transfer-encoding").len();
                assert!(framing <= 1, "{shown}: {:?}", echo.0);
            }
            Ok(reply) => assert!((400..=501).contains(&reply.status), "{shown}: {}", reply.status),
            Err(_) => {}
        }
        assert!(client.try_reply(true).is_err(), "one request, one answer: {shown}");
    }
}

#[test]
fn a_request_hidden_in_a_body_reaches_no_server() {
    let proxy = Running::demo(POLICY);
    let hidden = "GET /no HTTP/1.1\r\nhost: a\r\n\r\n";
    for head in [
        format!("content-length: {}\r\n\r\n", hidden.len()),
        "content-length: 0\r\n\r\n".to_owned(),
        format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n", hidden.len()),
    ] {
        let end = if head.contains("chunked") { "\r\n0\r\n\r\n" } else { "" };
        let mut client = Client::connect(proxy.address);
        client.send(format!("POST /x HTTP/1.1\r\nhost: a\r\n{head}{hidden}{end}"));
        assert_eq!(client.reply().echo().0["target"], "/x");
        if head.contains(": 0") {
            assert_eq!(client.reply().status, 403, "the rule reads it as a request");
        }
    }
}
