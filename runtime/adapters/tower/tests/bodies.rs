//! A body is looked at whatever the head of its request says: the layer around axum, over sockets.
#![expect(clippy::unwrap_used, reason = "tests")]

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::post;
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use http_body_util::BodyExt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

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
    let app = Router::new().route("/x", post(|body: Bytes| async move { body })).route("/trailers", post(trailers));
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

/// Sends bytes on a connection of their own, and returns what comes back within a moment.
async fn ask(address: SocketAddr, bytes: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut reply = vec![0; 1 << 16];
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut reply)).await.unwrap().unwrap();
    reply.truncate(read);
    String::from_utf8(reply).unwrap()
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
    assert!(reply.starts_with("HTTP/1.1 501 ") || reply.starts_with("HTTP/1.1 400 "), "{reply}");
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
