//! A body is looked at whatever the head of its request says: the layer around axum, over sockets.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{any, get, post};
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use http_body_util::BodyExt;
use std::io::Write;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

const RULES: &str = r#"
requestBody:
  limit: 1MiB
  rules:
    - { name: injection, when: 'string(request.body).contains("DROP TABLE")', deny: 403 }
"#;

/// Starts a server with a policy, which answers with the bodies that it gets.
async fn server(rules: &str) -> SocketAddr {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("celero-tower-bodies-{}-{number}.yaml", std::process::id()));
    std::fs::write(&file, rules).unwrap();
    let policy = Arc::new(LivePolicy::load(&file).unwrap());
    std::fs::remove_file(&file).unwrap();
    let app = Router::new().route("/x", any(|body: Bytes| async move { body })).route("/trailers", post(trailers));
    let app = app.route("/gzip", post(gzip)).route("/events", get(events)).route("/first/{*path}", post(first));
    let app = app.layer(PolicyLayer::new(policy));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// Answers with the trailers of a request.
async fn trailers(body: Body) -> String {
    let collected = body.collect().await.unwrap();
    format!("trailers: {:?}, body: {:?}", collected.trailers().cloned(), collected.to_bytes())
}

/// Answers with the first piece of the body, as soon as that is here.
async fn first(mut body: Body) -> Bytes {
    body.frame().await.unwrap().unwrap().into_data().unwrap()
}

/// Answers with the body, compressed.
async fn gzip(body: Bytes) -> ([(&'static str, &'static str); 1], Vec<u8>) {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&body).unwrap();
    ([("content-encoding", "gzip")], encoder.finish().unwrap())
}

/// Sends an event, and the next one when the test says so.
async fn events() -> ([(&'static str, &'static str); 1], Body) {
    let pieces = Events(Some("data: one\n\n"), Box::pin(NEXT_EVENT.notified()));
    ([("content-type", "text/event-stream")], Body::new(http_body_util::StreamBody::new(pieces)))
}

static NEXT_EVENT: Notify = Notify::const_new();

struct Events(Option<&'static str>, Pin<Box<dyn std::future::Future<Output = ()> + Send>>);

impl futures_core::Stream for Events {
    type Item = Result<http_body::Frame<Bytes>, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let frame =
            |text: &'static str| Poll::Ready(Some(Ok(http_body::Frame::data(Bytes::from_static(text.as_bytes())))));
        if let Some(first) = self.0.take() {
            return frame(first);
        }
        match self.1.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                self.1 = Box::pin(std::future::pending());
                frame("data: a SECRET\n\n")
            }
        }
    }
}

/// Sends a POST over HTTP/2, with a body in pieces of 10,000 bytes and perhaps trailers. Returns
/// the status and the body.
async fn ask_h2(address: SocketAddr, path: &str, body: &[u8], trailers: bool) -> (u16, Vec<u8>) {
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let (sender, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let request = axum::http::Request::post(format!("http://a{path}")).body(()).unwrap();
    let (response, mut stream) = sender.ready().await.unwrap().send_request(request, false).unwrap();
    for piece in body.chunks(10_000) {
        stream.send_data(Bytes::copy_from_slice(piece), false).unwrap();
    }
    if trailers {
        let role = [("x-role".parse().unwrap(), "admin".parse().unwrap())];
        stream.send_trailers(role.into_iter().collect()).unwrap();
    } else {
        stream.send_data(Bytes::new(), true).unwrap();
    }
    let (head, mut stream) = response.await.unwrap().into_parts();
    let mut read = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece.unwrap();
        stream.flow_control().release_capacity(piece.len()).unwrap();
        read.extend_from_slice(&piece);
    }
    (head.status.as_u16(), read)
}

/// Sends bytes on a connection of their own, and returns the whole answer.
async fn ask(address: SocketAddr, bytes: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut reply = String::new();
    while !is_whole(&reply, bytes.starts_with("HEAD ")) {
        let mut piece = vec![0; 1 << 16];
        let read = tokio::time::timeout(Duration::from_secs(120), stream.read(&mut piece)).await.unwrap().unwrap();
        piece.truncate(read);
        reply.push_str(std::str::from_utf8(&piece).unwrap());
        if read == 0 {
            break;
        }
    }
    reply
}

fn is_whole(reply: &str, without_body: bool) -> bool {
    let Some((head, body)) = reply.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    match length {
        _ if without_body => true,
        Some(length) => body.len() >= length.parse().unwrap(),
        None => !head.contains("transfer-encoding: chunked") || body.ends_with("0\r\n\r\n"),
    }
}

#[tokio::test]
async fn a_head_cannot_hide_a_body() {
    let address = server(RULES).await;
    let sized = "content-length: 19\r\n\r\nx; DROP TABLE users";
    let chunked = "transfer-encoding: chunked\r\n\r\n5\r\nx; DR\r\ne\r\nOP TABLE users\r\n0\r\n\r\n";
    for body in [sized, chunked] {
        for (head, status) in [
            ("", "403"),
            ("connection: upgrade\r\n", "403"),
            ("upgrade: x\r\n", "400"),
            ("connection: upgrade\r\nupgrade: websocket\r\n", "400"),
            ("expect: magic\r\n", "417"),
        ] {
            let reply = ask(address, &format!("POST /x HTTP/1.1\r\nhost: a\r\n{head}{body}")).await;
            assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{head:?}: {reply}");
        }
    }
    let reply = ask(address, "POST /x HTTP/1.1\r\nhost: a\r\nupgrade: x\r\n\r\n").await;
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
}

#[tokio::test]
async fn transfer_codings_are_refused() {
    let address = server(RULES).await;
    let reply =
        ask(address, "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
            .await;
    assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
}

#[tokio::test]
async fn a_client_that_waits_is_told_to_go_on() {
    let address = server(RULES).await;
    let head = "POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-Continue\r\n\r\n";
    let reply = ask(address, head).await;
    assert!(reply.starts_with("HTTP/1.1 100 "), "{reply}");
}

#[tokio::test]
async fn trailers_do_not_reach_the_service() {
    for rules in ["request: [{ removeHeaders: [x-role] }]\n", RULES] {
        let address = server(rules).await;
        let head = "POST /trailers HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntrailer: x-role\r\n\r\n";
        let reply = ask(address, &format!("{head}2\r\nab\r\n0\r\nx-role: admin\r\n\r\n")).await;
        assert!(reply.ends_with("trailers: None, body: b\"ab\""), "{reply}");
    }
}

#[tokio::test]
async fn http2_has_the_same_limits() {
    let address = server(&RULES.replace("1MiB", "100KiB")).await;
    let marked = |length: usize| [vec![b'x'; length - 10], b"DROP TABLE".to_vec()].concat();
    assert_eq!(ask_h2(address, "/x", &marked(100 << 10), false).await.0, 403);
    assert_eq!(ask_h2(address, "/x", &vec![b'x'; 100 << 10], false).await, (200, vec![b'x'; 100 << 10]));
    assert_eq!(ask_h2(address, "/x", &vec![b'x'; (100 << 10) + 1], false).await.0, 413);
    let (status, body) = ask_h2(address, "/trailers", b"ab", true).await;
    assert_eq!((status, body), (200, b"trailers: None, body: b\"ab\"".to_vec()));
    let skip = server(&RULES.replace("1MiB", "10KiB\n  tooLarge: skip")).await;
    assert_eq!(ask_h2(skip, "/x", &marked(100 << 10), false).await, (200, marked(100 << 10)));
}

const RESPONSES: &str = r#"
responseBody:
  limit: 1KiB
  rules:
    - { name: secret, when: 'string(response.body).contains("SECRET")', deny: { status: 502, body: hidden } }
    - { name: mark, setHeaders: { x-size: "${size(response.body)}" } }
"#;

#[tokio::test]
async fn responses_are_read_before_they_are_sent() {
    let address = server(RESPONSES).await;
    let post = |path: &str, body: &str| {
        format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    };
    let fine = ask(address, &post("/x", "fine")).await;
    assert!(fine.contains("x-size: 4") && fine.ends_with("\r\n\r\nfine"), "{fine}");
    for path in ["/x", "/gzip"] {
        let hidden = ask(address, &post(path, "a SECRET")).await;
        assert!(hidden.starts_with("HTTP/1.1 502 ") && hidden.ends_with("hidden"), "{hidden}");
    }
    let large = "x".repeat(1025);
    assert!(ask(address, &post("/x", &large)).await.starts_with("HTTP/1.1 502 "));
    assert!(ask(address, &post("/gzip", &large)).await.starts_with("HTTP/1.1 502 "));
    assert_eq!(ask_h2(address, "/x", b"a SECRET", false).await, (502, b"hidden".to_vec()));
    assert_eq!(ask_h2(address, "/x", b"fine", false).await, (200, b"fine".to_vec()));
    let skip = server(&RESPONSES.replace("limit: 1KiB", "limit: 1KiB\n  tooLarge: skip")).await;
    assert!(ask(skip, &post("/x", &large)).await.ends_with(&large));
    let head = ask(address, "HEAD /x HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200 ") && !head.contains("x-size"), "{head}");
}

#[tokio::test]
async fn events_arrive_as_they_are_sent() {
    let rules = "responseBody: {prefix: 4KiB, rules: [{ when: 'string(response.bodyPrefix).contains(\"SECRET\")', deny: true }]}";
    let address = server(rules).await;
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /events HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut seen = String::new();
    for event in ["data: one", "data: a SECRET"] {
        while !seen.contains(event) {
            let mut piece = vec![0; 4096];
            let read = tokio::time::timeout(Duration::from_secs(120), stream.read(&mut piece)).await.unwrap().unwrap();
            assert!(read > 0, "{seen}");
            seen.push_str(std::str::from_utf8(&piece[..read]).unwrap());
        }
        NEXT_EVENT.notify_one();
    }
    assert!(ask(server(RESPONSES).await, "GET /events HTTP/1.1\r\nhost: a\r\n\r\n").await.starts_with("HTTP/1.1 502 "));
}

#[tokio::test]
async fn a_body_that_no_rule_needs_is_streamed() {
    let rule = RULES.replace("when: '", "when: 'request.path.startsWith(\"/first/login\") && ").replace("1MiB", "1KiB");
    let address = server(&rule).await;
    let begin =
        |path: &str| format!("POST {path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    // The service answers before the client has sent the rest.
    let streamed = ask(address, &begin("/first/a")).await;
    assert!(streamed.starts_with("HTTP/1.1 200 ") && streamed.ends_with("first"), "{streamed}");
    for path in ["/first/login", "/first/a/../%6Cogin"] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(begin(path).as_bytes()).await.unwrap();
        let mut piece = vec![0; 4096];
        let early = tokio::time::timeout(Duration::from_millis(200), stream.read(&mut piece)).await;
        assert!(early.is_err(), "{path}: {}", String::from_utf8_lossy(&piece));
        stream.write_all(b"b\r\n DROP TABLE\r\n0\r\n\r\n").await.unwrap();
        let read = tokio::time::timeout(Duration::from_secs(120), stream.read(&mut piece)).await.unwrap().unwrap();
        assert!(piece[..read].starts_with(b"HTTP/1.1 403 "), "{path}");
    }
    let large = format!("content-length: 2048\r\ncontent-encoding: gzip\r\n\r\n{}", "x".repeat(2048));
    for (path, status) in [("/first/a", "200"), ("/first/login", "413")] {
        let reply = ask(address, &format!("POST {path} HTTP/1.1\r\nhost: a\r\n{large}")).await;
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {reply}");
    }
    let responses = RESPONSES.replace("when: '", "when: 'request.method == \"PUT\" && ");
    let responses = responses.lines().filter(|line| !line.contains("mark")).collect::<Vec<_>>().join("\n");
    let address = server(&responses).await;
    let body = format!("SECRET{}", "x".repeat(2048));
    for (method, status) in [("POST", "200"), ("PUT", "502")] {
        let reply =
            ask(address, &format!("{method} /x HTTP/1.1\r\nhost: a\r\ncontent-length: 2054\r\n\r\n{body}")).await;
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{method}: {reply}");
    }
}

/// What the head decides does not wait for a body that never comes.
#[tokio::test]
async fn what_the_head_decides_waits_for_no_body() {
    let address = server(
        "requestBody:\n- {when: 'request.path == \"/x\"', deny: 403}\n- {when: 'request.path.startsWith(\"/first\")', setHeaders: {x-a: b}}\n- {when: 'request.method == \"POST\" && size(request.body) > 5000', deny: 402}\nresponseBody:\n- {when: response.code == 200, setHeaders: {x-mark: a}}\n",
    )
    .await;
    for framing in ["content-length: 5000", "transfer-encoding: chunked"] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!("POST /x HTTP/1.1\r\nhost: a\r\n{framing}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut piece = vec![0; 4096];
        let read = tokio::time::timeout(Duration::from_secs(120), stream.read(&mut piece)).await.unwrap().unwrap();
        assert!(piece[..read].starts_with(b"HTTP/1.1 403 "), "{framing}: {}", String::from_utf8_lossy(&piece));
    }
    // The router refuses the method before the body has come; of a POST a rule reads the body.
    for (method, is_held) in [("PUT", false), ("POST", true)] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!("{method} /first/a HTTP/1.1\r\nhost: a\r\ncontent-length: 5000\r\n\r\nfirst");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut piece = vec![0; 4096];
        let wait = if is_held { Duration::from_millis(200) } else { Duration::from_secs(120) };
        match tokio::time::timeout(wait, stream.read(&mut piece)).await {
            Ok(read) => assert!(!is_held && piece[..read.unwrap()].starts_with(b"HTTP/1.1 405 "), "{method}"),
            Err(_) => assert!(is_held, "{method}"),
        }
    }
}

#[tokio::test]
async fn codings_are_refused() {
    let address = server(RULES).await;
    let reply =
        ask(address, "POST /x HTTP/1.1\r\nhost: a\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nab").await;
    assert!(reply.starts_with("HTTP/1.1 415 ") && reply.contains("accept-encoding: identity"), "{reply}");
}

const CHANGES: &str = r#"
requestBody:
  rules:
    - { when: 'request.path != "/trailers"', patchBody: { n: 1 } }
    - { when: 'request.path == "/trailers"', setBody: new }
responseBody:
  rules:
    - { when: 'request.path == "/x"', setBody: "${string(response.body)}!" }
    - { when: 'request.path == "/gzip"', patchBody: { m: 2 } }
"#;

#[tokio::test]
async fn rules_change_bodies() {
    let address = server(CHANGES).await;
    let asked = async |path: &str| {
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n");
        ask(address, &format!("{head}2\r\n{{}}\r\n0\r\nx-role: admin\r\n\r\n")).await.to_lowercase()
    };
    let reply = asked("/x").await;
    assert!(reply.contains("content-length: 8\r\n") && reply.ends_with("\r\n\r\n{\"n\":1}!"), "{reply}");
    let reply = asked("/gzip").await;
    assert!(!reply.contains("content-encoding") && reply.ends_with("\r\n\r\n{\"n\":1,\"m\":2}"), "{reply}");
    let reply = asked("/trailers").await;
    assert!(reply.ends_with("trailers: none, body: b\"new\""), "{reply}");
    assert_eq!(ask_h2(address, "/x", b"{}", true).await, (200, b"{\"n\":1}!".to_vec()));
    assert_eq!(ask_h2(address, "/x", b"{", false).await.0, 500, "no JSON");
    assert_eq!(ask_h2(address, "/trailers", b"x", true).await, (200, b"trailers: None, body: b\"new\"".to_vec()));
}
