//! Bodies that rules replace or change, as servers and clients get them.

use crate::client::Client;
use crate::h2::exchange;
use crate::running::Running;
use crate::scripted::Scripted;
use http::{Request, Version};

const REQUESTS: &str = r#"
requestBody:
  limit: 1MiB
  encoded: decode
  rules:
    - { when: 'request.path == "/text"', setBody: "new: ${request.body.size()}" }
    - { when: 'request.path == "/empty"', setBody: "" }
    - { when: 'request.path == "/same"', setBody: "${request.body}" }
    - { when: 'request.path == "/merge"', patchBody: { user: "${request.headers['x-user']}", role: null } }
    - { when: 'request.path == "/large"', setBody: "${string(request.body) + string(request.body)}" }
    - { when: 'request.path == "/smuggle"', setBody: "GET /admin HTTP/1.1\r\nhost: a\r\n\r\n" }
"#;

const RESPONSES: &str = r#"
responseBody:
  limit: 100KiB
  rules:
    - { when: 'request.path.startsWith("/text")', setBody: "new: ${response.body.size()}" }
    - { when: 'request.path.startsWith("/empty")', setBody: "" }
    - { when: 'request.path.startsWith("/merge")', patchBody: { headers: null, seen: "${response.code}" } }
    - { when: 'request.path.startsWith("/large")', setBody: "${string(response.body) + string(response.body)}" }
"#;

fn over_http2(line: &str, headers: &[(&str, &str)], body: &[u8]) -> Request<Vec<u8>> {
    let (method, path) = line.split_once(' ').unwrap();
    let request = Request::builder().method(method).uri(format!("http://a{path}")).version(Version::HTTP_2);
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).body(body.to_vec()).unwrap()
}

#[test]
fn a_server_gets_the_new_body_and_its_length() {
    for upstream in ["demo: true", "demo: true, h2c: true"] {
        let rest = format!("upstreams: [{{ name: demo, {upstream} }}]\nroutes: [{{ upstream: demo }}]\n");
        let proxy = Running::with(&rest, REQUESTS);
        let mut client = Client::connect(proxy.address);
        let long = vec![b'x'; 300_000];
        for (path, body, expected) in [
            ("/text", &b"old body"[..], "new: 8"),
            ("/text", b"", "new: 0"),
            ("/text", &long, "new: 300000"),
            ("/empty", b"old", ""),
            ("/empty", b"", ""),
            ("/same", b"old", "old"),
            ("/merge", br#"{"role":"admin","n":1.0}"#, r#"{"n":1.0,"user":"ada"}"#),
            ("/other", b"old", "old"),
        ] {
            let echo = client.request(&format!("POST {path}"), &["x-user: ada"], body).kept().echo();
            assert_eq!(echo.0["body"], expected, "{upstream} {path}");
            let lengths = echo.header("content-length");
            assert!(
                lengths.is_empty() && expected.is_empty() || lengths == [expected.len().to_string()],
                "{lengths:?}"
            );
            // The same with a body whose length the head does not say.
            let chunks = format!("{:x}\r\n{}\r\n0\r\n\r\n", body.len(), String::from_utf8_lossy(body));
            let chunks = if body.is_empty() { "0\r\n\r\n".to_owned() } else { chunks };
            let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\nx-user: ada\r\ntransfer-encoding: chunked\r\n\r\n");
            let echo = client.send(head + &chunks).kept().echo();
            assert_eq!(echo.0["body"], expected, "{upstream} {path}, chunked");
            if path != "/other" {
                assert!(echo.header("transfer-encoding").is_empty(), "{upstream} {path}: {:?}", echo.0);
            }
            let replies =
                exchange(proxy.address, vec![over_http2(&format!("POST {path}"), &[("x-user", "ada")], body)]);
            let echo: serde_json::Value = serde_json::from_slice(replies[0].body()).unwrap();
            assert_eq!(echo["body"], expected, "{upstream} {path}, over HTTP/2");
        }
        let large = client.request("POST /large", &[], &vec![b'x'; 400_000]).kept().echo();
        assert_eq!(large.0["bodyLength"], 800_000);
        assert_eq!(client.request("POST /large", &[], &vec![b'x'; 600_000]).kept().status, 500, "above the limit");
        assert_eq!(client.request("POST /merge", &["x-user: a"], b"no JSON").kept().status, 500);
        assert_eq!(client.request("GET /text", &[], b"").kept().status, 500, "a GET without a body gets none");
    }
}

#[test]
fn what_follows_a_new_body_is_the_next_request() {
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), REQUESTS);
    let mut client = Client::connect(proxy.address);
    // The client announces less or more than the server gets, and sends the next requests at once.
    let first = "POST /smuggle HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-encoding: identity\r\ncontent-md5: x\r\n\r\nx";
    let second = "POST /empty HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nGET \r\n0\r\n\r\n";
    let third = "GET /third HTTP/1.1\r\nhost: a\r\n\r\n";
    client.send([first, second, third].concat());
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let seen = server.until("HTTP/1.1\r\nhost: a\r\n\r\n").to_lowercase();
    assert!(seen.starts_with("post /smuggle") && seen.contains("content-length: 32\r\n"), "{seen:?}");
    assert!(!seen.contains("content-encoding") && !seen.contains("content-md5"), "{seen:?}");
    server.say(ok);
    assert_eq!(client.reply().status, 200);
    let seen = server.until("\r\n\r\n").to_lowercase();
    assert!(
        seen.starts_with("post /empty") && seen.contains("content-length: 0\r\n") && seen.ends_with("\r\n\r\n"),
        "{seen:?}"
    );
    assert!(!seen.contains("transfer-encoding"), "{seen:?}");
    server.say(ok);
    assert_eq!(client.reply().status, 200);
    let seen = server.until("\r\n\r\n");
    assert!(seen.starts_with("GET /third"), "{seen:?}");
    server.say(ok);
    assert_eq!(client.reply().status, 200);
    assert!(server.is_idle());
}

#[test]
fn a_new_body_is_sent_to_the_next_server_too() {
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Scripted::start();
    let rest = format!(
        "upstreams: [{{ name: two, servers: [\"{dead}\", \"{}\"] }}]\nroutes: [{{ upstream: two }}]\n",
        server.address
    );
    let proxy = Running::with(&rest, REQUESTS);
    let mut client = Client::connect(proxy.address);
    client.request("POST /text", &[], b"old");
    let seen = server.until("new: 3");
    assert!(seen.contains("\r\ncontent-length: 6\r\n") || seen.contains("\r\nContent-Length: 6\r\n"), "{seen}");
    server.say("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(client.reply().status, 200);
}

#[test]
fn a_client_gets_the_new_body_and_its_length() {
    for upstream in ["demo: true", "demo: true, h2c: true"] {
        let rest = format!("upstreams: [{{ name: demo, {upstream} }}]\nroutes: [{{ upstream: demo }}]\n");
        let proxy = Running::with(&rest, RESPONSES);
        let mut client = Client::connect(proxy.address);
        for _ in 0..2 {
            let text = client.request("GET /text", &[], b"").kept();
            assert!(text.text().starts_with("new: ") && text.header("content-length") == text.body.len().to_string());
            let empty = client.request("GET /empty", &[], b"").kept();
            assert_eq!((empty.text().as_str(), empty.header("content-length").as_str()), ("", "0"));
            let merged = client.request("GET /merge", &[], b"").kept();
            assert!(
                merged.text().contains(r#","seen":200}"#) && !merged.text().contains("headers"),
                "{}",
                merged.text()
            );
            assert_eq!(client.request("POST /large", &[], &vec![b'x'; 1 << 10]).kept().status, 200);
        }
        let head = client.request("HEAD /text", &[], b"").try_reply(false).unwrap();
        assert_eq!((head.status, head.header("content-length").as_str()), (200, ""), "the length of GET is not known");
        assert_eq!(client.request("GET /empty", &[], b"").kept().status, 200, "the connection goes on");
        let requests = ["GET /text", "GET /empty", "GET /merge", "HEAD /text", "GET /other"];
        let replies = exchange(proxy.address, requests.map(|line| over_http2(line, &[], b"")).into());
        let starts = ["new: ", "", "{", "", "{"];
        for (reply, start) in replies.iter().zip(starts) {
            assert!(reply.status() == 200 && reply.body().starts_with(start.as_bytes()), "{reply:?}");
            if let Some(length) = reply.headers().get("content-length") {
                assert_eq!(*length, reply.body().len().to_string());
            }
        }
    }
}

/// What a client gets if the server answers a request for this path with these bytes.
fn served(path: &str, bytes: &str) -> (u16, String, Vec<(String, Vec<u8>)>) {
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), RESPONSES);
    let mut client = Client::connect(proxy.address);
    client.request(&format!("GET {path}"), &[], b"");
    server.until("\r\n\r\n");
    server.say(bytes);
    drop(server.send);
    let reply = client.reply();
    (reply.status, reply.text(), reply.headers)
}

#[test]
fn every_framing_of_a_response_gives_way() {
    let fields = "etag: \"a\"\r\ndigest: sha-256=x\r\naccept-ranges: bytes\r\nx-kept: 1\r\n";
    for rest in [
        "content-length: 3\r\n\r\nold",
        "transfer-encoding: chunked\r\n\r\n3\r\nold\r\n0\r\n\r\n",
        "transfer-encoding: chunked\r\ntrailer: digest\r\n\r\n1\r\no\r\n2\r\nld\r\n0\r\ndigest: y\r\n\r\n",
        "\r\nold",
    ] {
        let (status, text, headers) = served("/text", &format!("HTTP/1.1 200 OK\r\n{fields}{rest}"));
        assert_eq!((status, text.as_str()), (200, "new: 3"), "{rest:?}");
        let has = |name: &str| headers.iter().any(|(known, _)| known == name);
        assert!(has("x-kept") && has("content-length"), "{headers:?}");
        for gone in ["etag", "digest", "accept-ranges", "transfer-encoding", "trailer"] {
            assert!(!has(gone), "{gone}: {headers:?}");
        }
        let (status, text, _) = served("/empty", &format!("HTTP/1.1 200 OK\r\n{fields}{rest}"));
        assert_eq!((status, text.as_str()), (200, ""), "{rest:?}");
    }
    let long = "x".repeat(60_000);
    let sized = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{long}", long.len());
    assert_eq!(served("/large", &sized).0, 500, "twice the body is above the limit");
    assert_eq!(served("/merge", "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nold").0, 500);
    let part = "HTTP/1.1 206 Partial Content\r\ncontent-range: bytes 0-2/9\r\ncontent-length: 3\r\n\r\nold";
    assert_eq!(served("/text", part).0, 500);
}
