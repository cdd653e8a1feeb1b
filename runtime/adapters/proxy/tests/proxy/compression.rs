//! Compressed responses, as clients get them.

use crate::client::{Client, Reply};
use crate::h2::exchange;
use crate::running::{Running, eventually};
use crate::scripted::Scripted;
use flate2::read::GzDecoder;
use http::{Request, Version};
use std::io::Read;

const ALL: &str = "compression: { minSize: 0, types: [\"text/*\", application/json] }\n";
const GZIP: &str = "accept-encoding: gzip";

/// What a client can read of a body that may not have ended.
fn decoded(coding: &str, body: &[u8]) -> String {
    let mut text = Vec::new();
    let _ = match coding {
        "br" => brotli::Decompressor::new(body, 4096).read_to_end(&mut text),
        "zstd" => zstd::stream::read::Decoder::new(body).unwrap().read_to_end(&mut text),
        _ => GzDecoder::new(body).read_to_end(&mut text),
    };
    String::from_utf8(text).unwrap()
}

fn plain(body: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(body).read_to_string(&mut text).expect("gzip");
    text
}

/// The text of a compressed response.
fn unzipped(reply: &Reply) -> String {
    assert_eq!((reply.header("content-encoding").as_str(), reply.header("vary").as_str()), ("gzip", "accept-encoding"));
    assert_eq!(reply.header("content-length"), "");
    plain(&reply.body)
}

/// What a client gets that sends these headers, if the server answers with these pieces.
fn served(config: &str, policy: &str, line: &str, headers: &[&str], pieces: &[&str]) -> Reply {
    let server = Scripted::start();
    let proxy = Running::with(&(server.config() + config), policy);
    let mut client = Client::connect(proxy.address);
    client.request(line, headers, b"");
    server.until("\r\n\r\n");
    for piece in pieces {
        server.say(piece);
    }
    drop(server.send);
    client.try_reply(!line.starts_with("HEAD")).unwrap()
}

fn text(fields: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n{fields}content-length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn both_protocols_get_compressed_bodies() {
    for upstream in ["demo: true", "demo: true, h2c: true"] {
        let rest = format!("upstreams: [{{ name: demo, {upstream} }}]\nroutes: [{{ upstream: demo }}]\n{ALL}");
        let proxy = Running::with(&rest, "");
        let mut client = Client::connect(proxy.address);
        let long = vec![b'x'; 200_000];
        for body in [&b""[..], b"short", &long] {
            for _ in 0..2 {
                let reply = client.request("POST /x", &[GZIP], body).kept();
                assert_eq!(reply.header("transfer-encoding"), "chunked");
                let echo: serde_json::Value = serde_json::from_str(&unzipped(&reply)).unwrap();
                assert_eq!(echo["bodyLength"], body.len());
            }
            let as_it_is = client.request("POST /x", &[], body).kept();
            assert_eq!(as_it_is.echo().0["bodyLength"], body.len());
            assert_eq!(
                (as_it_is.header("content-encoding"), as_it_is.header("vary")),
                (String::new(), "accept-encoding".into())
            );
        }
        let head = client.request("HEAD /x", &[GZIP], b"").try_reply(false).unwrap();
        let shown = ["content-encoding", "content-length", "vary"].map(|name| head.header(name));
        assert_eq!(shown, ["", "", "accept-encoding"], "it is true of both forms of the body");
        assert_eq!(client.request("GET /", &[], b"").kept().status, 200, "the connection goes on");
        let request = |method: &str, accept: &str| {
            let request = Request::builder().method(method).uri("http://a/x").version(Version::HTTP_2);
            request.header("accept-encoding", accept).body(Vec::new()).unwrap()
        };
        let replies =
            exchange(proxy.address, vec![request("GET", "gzip"), request("HEAD", "gzip"), request("GET", "gzip;q=0")]);
        let coded = |index: usize| replies[index].headers().contains_key("content-encoding");
        assert!(coded(0) && plain(replies[0].body()).contains("bodyLength"));
        assert!(!coded(1) && replies[1].body().is_empty() && !replies[1].headers().contains_key("content-length"));
        assert!(!coded(2) && replies[2].body().starts_with(b"{"));
    }
}

#[test]
fn responses_that_must_stay_stay() {
    let body = "a body that could be compressed";
    for (line, headers, answer) in [
        ("GET /", &["accept-encoding: br;q=0, deflate, gzip;q=0"][..], text("", body)),
        ("GET /", &["accept-encoding: gzip;q=0.5, identity"], text("", body)),
        ("GET /", &[GZIP, "cache-control: no-transform"], text("", body)),
        ("GET /", &[GZIP], text("cache-control: no-transform\r\n", body)),
        ("GET /", &[GZIP], text("content-encoding: br\r\n", body)),
        ("GET /", &[GZIP], text("content-range: bytes 0-1/9\r\n", body)),
        ("GET /", &[GZIP], text("", body).replace("200 OK", "206 Partial Content")),
        ("GET /", &[GZIP], text("", body).replace("text/plain", "image/png")),
        ("GET /", &[GZIP], text("", body).replace("content-type: text/plain\r\n", "")),
    ] {
        let reply = served(ALL, "", line, headers, &[&answer]);
        assert_eq!(reply.text(), body, "{headers:?} {answer}");
        let coding = if answer.contains("content-encoding") { "br" } else { "" };
        assert_eq!(reply.header("content-encoding"), coding, "{headers:?} {answer}");
    }
    let small = served("compression: {}\n", "", "GET /", &[GZIP], &[&text("", &"x".repeat(1023))]);
    assert_eq!((small.header("content-encoding"), small.body.len()), (String::new(), 1023));
    let large = served("compression: { level: 9 }\n", "", "GET /", &[GZIP], &[&text("", &"x".repeat(1024))]);
    assert_eq!(unzipped(&large).len(), 1024);
    let bodiless = |code: &str| {
        let answer = format!("HTTP/1.1 {code}\r\ncontent-type: text/plain\r\netag: \"a\"\r\n\r\n");
        let reply = served(ALL, "", "GET /", &[GZIP], &[&answer]);
        (reply.header("content-encoding"), reply.header("etag"), reply.header("vary"))
    };
    assert_eq!(bodiless("204 No Content"), (String::new(), "\"a\"".to_owned(), String::new()));
    // It updates a response that the client has kept, which may be compressed.
    assert_eq!(bodiless("304 Not Modified"), (String::new(), "W/\"a\"".to_owned(), "accept-encoding".to_owned()));
}

#[test]
fn the_head_is_true_of_the_compressed_body() {
    let fields = "etag: \"a\"\r\naccept-ranges: bytes\r\ncontent-digest: x\r\nvary: origin\r\n";
    let reply = served(ALL, "", "GET /", &[GZIP], &[&text(fields, "some text")]);
    assert_eq!((plain(&reply.body).as_str(), reply.header("etag").as_str()), ("some text", "W/\"a\""));
    assert_eq!(reply.header("vary"), "origin, accept-encoding");
    assert!(reply.header("accept-ranges").is_empty() && reply.header("content-digest").is_empty());
}

#[test]
fn every_framing_of_a_response_is_compressed() {
    let chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n";
    let until_close = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
    for pieces in [
        &[&*text("", "some text")][..],
        &[chunked, "4\r\nsome\r\n", "5\r\n text\r\n0\r\n\r\n"],
        &[chunked, "4\r\nsome\r\n5\r\n text\r\n", "0\r\n\r\n"],
        &[until_close, "some ", "text"],
    ] {
        assert_eq!(unzipped(&served(ALL, "", "GET /", &[GZIP], pieces)), "some text", "{pieces:?}");
    }
}

#[test]
fn a_body_that_stops_for_a_while_is_not_kept_back() {
    for coding in ["gzip", "br", "zstd"] {
        let server = Scripted::start();
        let proxy = Running::with(&(server.config() + ALL), "");
        let mut client = Client::connect(proxy.address);
        client.request("GET /", &[&format!("accept-encoding: {coding}")], b"");
        server.until("\r\n\r\n");
        server.say("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n");
        assert_eq!(client.try_reply(false).unwrap().header("content-encoding"), coding);
        let mut seen = Vec::new();
        while !decoded(coding, &seen).contains("first") {
            seen.extend(client.chunk());
        }
        server.say("6\r\nsecond\r\n0\r\n\r\n");
        loop {
            let chunk = client.chunk();
            if chunk.is_empty() {
                break;
            }
            seen.extend(chunk);
        }
        assert_eq!(decoded(coding, &seen), "firstsecond");
    }
}

#[test]
fn the_client_and_then_the_configuration_choose_the_coding() {
    let body = "some text, ".repeat(10_000);
    for (config, accepts, expected) in [
        ("", "gzip, deflate, br, zstd", "br"),
        ("", "gzip, zstd", "zstd"),
        ("", "gzip;q=1, br;q=0.9", "gzip"),
        (", codings: [zstd, br]", "gzip, br, zstd", "zstd"),
        (", codings: [zstd, br]", "gzip", ""),
        (", codings: [gzip]", "br, zstd", ""),
        (", level: 9", "br", "br"),
        (", level: 1", "zstd", "zstd"),
    ] {
        let config = format!("compression: {{ minSize: 0{config} }}\n");
        let accept = format!("accept-encoding: {accepts}");
        let reply = served(&config, "", "GET /", &[&accept], &[&text("", &body)]);
        assert_eq!(
            (reply.header("content-encoding"), reply.header("vary")),
            (expected.into(), "accept-encoding".into()),
            "{accept}"
        );
        if expected.is_empty() {
            assert_eq!(reply.text(), body, "{accept}");
        } else {
            assert_eq!(decoded(expected, &reply.body), body, "{accept}");
            assert!(reply.body.len() < 2_000, "{} bytes with {expected}", reply.body.len());
        }
    }
    let rest = format!("upstreams: [{{ name: demo, demo: true }}]\nroutes: [{{ upstream: demo }}]\n{ALL}");
    let proxy = Running::with(&rest, "");
    let request = |accept: &str| {
        let request = Request::builder().uri("http://a/x").version(Version::HTTP_2);
        request.header("accept-encoding", accept).body(Vec::new()).unwrap()
    };
    for (accepts, expected) in [("br", "br"), ("br;q=0.1, zstd", "zstd")] {
        let reply = &exchange(proxy.address, vec![request(accepts)])[0];
        assert_eq!(reply.headers()["content-encoding"], expected);
        assert!(decoded(expected, reply.body()).contains("bodyLength"), "{expected}");
    }
}

#[test]
fn codings_are_named_once_and_known() {
    let folder = crate::running::Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    for (codings, expected) in
        [("[br, gzip, br]", "`br` is there twice"), ("[deflate]", "deflate"), ("[]", "must not be empty")]
    {
        let rest = format!(
            "upstreams: [{{ name: a, demo: true }}]\nroutes: [{{ upstream: a }}]\ncompression: {{ codings: {codings} }}\n"
        );
        let file = folder.write("proxy.yaml", &crate::running::config(&rest));
        let said = celero_proxy::config::Config::load(&file).expect_err(codings).to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn rules_read_and_change_the_plain_body() {
    let policy = "responseBody:\n- when: 'string(response.body).contains(\"SECRET\")'\n  deny: 502\n- patchBody: { seen: '${response.body.size()}' }\n";
    let json = |body: &str| text("", body).replace("text/plain", "application/json");
    let changed = served(ALL, policy, "GET /", &[GZIP], &[&json("{\"a\":1}")]);
    assert_eq!(unzipped(&changed), "{\"a\":1,\"seen\":7}");
    let denied = served(ALL, policy, "GET /", &[GZIP], &[&json("\"SECRET\"")]);
    assert_eq!((denied.status, denied.header("content-encoding").as_str()), (502, ""));
    // The policy may say that the server must not compress: that is no word of the client.
    let refuse = "responseBody:\n  encoded: refuse\n  rules: [{ setHeaders: { x-a: b } }]\n";
    assert_eq!(unzipped(&served(ALL, refuse, "GET /", &[GZIP], &[&text("", "some text")])), "some text");
}

#[test]
fn the_number_of_compressed_responses_is_bounded() {
    let open = Scripted::start();
    let config = format!(
        "upstreams: [{{ name: one, servers: [\"{}\"] }}, {{ name: demo, demo: true }}]\nroutes: [{{ path: /open, upstream: one }}, \
         {{ path: /off, upstream: demo, compression: false }}, {{ upstream: demo }}]\ncompression: {{ minSize: 0, streams: 1 }}\n",
        open.address
    );
    let proxy = Running::with(&config, "");
    let coding = |path: &str| {
        let reply = Client::connect(proxy.address).request(&format!("GET {path}"), &[GZIP], b"").reply();
        reply.header("content-encoding")
    };
    assert_eq!((coding("/x").as_str(), coding("/off").as_str()), ("gzip", ""));
    let mut client = Client::connect(proxy.address);
    client.request("GET /open", &[GZIP], b"");
    open.until("\r\n\r\n");
    open.say("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    assert_eq!(client.try_reply(false).unwrap().header("content-encoding"), "gzip");
    assert_eq!(coding("/x"), "", "another one is open");
    // A client that leaves ends its response.
    drop(client);
    open.say("5\r\nfirst\r\n");
    drop(open);
    eventually(|| coding("/x") == "gzip", || "a compressed response again".to_owned());
}
