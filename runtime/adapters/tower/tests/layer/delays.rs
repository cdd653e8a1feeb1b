//! Delays in the layer: whose timer it is, and what a client that leaves frees.

use axum::Router;
use axum::routing::any;
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower_layer::Layer;

const POLICY: &str = "delays: {longest: 1m, waiting: 1}
request:
- {when: 'request.path == \"/short\"', delay: 200ms}
- {when: 'request.path == \"/denied\"', delay: 200ms, deny: 403}
- {when: 'request.path == \"/long\"', delay: 1m}
requestBody: [{when: 'request.body == b\"slow\"', delay: 200ms}]
";

fn policy(name: &str) -> Arc<LivePolicy> {
    let file = std::env::temp_dir().join(format!("celero-tower-delays-{}-{name}.yaml", std::process::id()));
    std::fs::write(&file, POLICY).unwrap();
    let policy = Arc::new(LivePolicy::load(&file).unwrap());
    std::fs::remove_file(&file).unwrap();
    policy
}

async fn serve(layer: PolicyLayer) -> SocketAddr {
    let service = Router::new().fallback_service(layer.layer(Router::new().fallback(any(|| async { "fine" }))));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, service).await });
    address
}

async fn send(address: SocketAddr, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request =
        format!("POST {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn ask(address: SocketAddr, path: &str, body: &str) -> String {
    let mut text = String::new();
    send(address, path, body).await.read_to_string(&mut text).await.unwrap();
    text
}

/// Waits until `count` requests wait.
async fn waits(policy: &LivePolicy, count: usize) {
    let start = Instant::now();
    while policy.current().delays().waiting != count {
        assert!(start.elapsed() < Duration::from_secs(120), "{:?}", policy.current().delays());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_layer_without_a_timer_says_so() {
    let address = serve(PolicyLayer::new(policy("none"))).await;
    let response = ask(address, "/", "").await;
    assert!(response.starts_with("HTTP/1.1 500") && response.contains("PolicyLayer::timer"), "{response}");
}

#[tokio::test]
async fn requests_and_answers_wait() {
    let policy = policy("waits");
    let address = serve(PolicyLayer::new(Arc::clone(&policy)).timer(tokio::time::sleep)).await;
    for (path, body, expected) in
        [("/short", "", "HTTP/1.1 200"), ("/denied", "", "HTTP/1.1 403"), ("/", "slow", "HTTP/1.1 200")]
    {
        let start = Instant::now();
        let response = ask(address, path, body).await;
        assert!(response.starts_with(expected) && start.elapsed() >= Duration::from_millis(200), "{response}");
    }
    assert!(ask(address, "/", "").await.starts_with("HTTP/1.1 200"));
    assert_eq!((policy.current().delays().delayed, policy.current().delays().waiting), (3, 0));
}

#[tokio::test]
async fn a_client_that_leaves_frees_its_place() {
    let policy = policy("leaves");
    let address = serve(PolicyLayer::new(Arc::clone(&policy)).timer(tokio::time::sleep)).await;
    for _ in 0..3 {
        let waiting = send(address, "/long", "").await;
        waits(&policy, 1).await;
        assert!(ask(address, "/short", "").await.starts_with("HTTP/1.1 503"));
        assert!(ask(address, "/", "").await.starts_with("HTTP/1.1 200"));
        drop(waiting);
        waits(&policy, 0).await;
    }
}

/// A server that shuts down ends the delays with its timer.
#[tokio::test]
async fn a_timer_may_end_early() {
    let policy = policy("early");
    let stop = Arc::new(tokio::sync::Notify::new());
    let timer = {
        let stop = Arc::clone(&stop);
        move |time| {
            let stop = Arc::clone(&stop);
            async move {
                tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = stop.notified() => {}
                }
            }
        }
    };
    let address = serve(PolicyLayer::new(Arc::clone(&policy)).timer(timer)).await;
    let mut waiting = send(address, "/long", "").await;
    waits(&policy, 1).await;
    stop.notify_one();
    let mut text = String::new();
    waiting.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    waits(&policy, 0).await;
}
