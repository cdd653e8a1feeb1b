//! Limits over real sockets, as an attacker tries them: pipelined requests, other spellings of a
//! header, no key at all, broken connections.

use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use axum::routing::get;
use celero_policy::{LivePolicy, Policy};
use celero_tower::PolicyLayer;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower_layer::Layer;

/// Serves with a policy until the test ends. Returns the address and the policy.
async fn serve(name: &str, text: &str) -> (SocketAddr, Arc<LivePolicy>) {
    let file = std::env::temp_dir().join(format!("celero-tower-limits-{}-{name}.yaml", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let policy = Arc::new(LivePolicy::load(&file).unwrap());
    std::fs::remove_file(&file).unwrap();
    let endless = || async { Body::from_stream(Endless) };
    let routes = Router::new()
        .route("/", get(|| async { "fine" }))
        .route("/login", get(|| async { StatusCode::UNAUTHORIZED }))
        .route("/endless", get(endless));
    let service = Router::new().fallback_service(PolicyLayer::new(Arc::clone(&policy)).layer(routes));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = service.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    (address, policy)
}

/// A body without an end.
struct Endless;

impl futures_core::Stream for Endless {
    type Item = Result<axum::body::Bytes, std::io::Error>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(Some(Ok(axum::body::Bytes::from_static(&[b'.'; 4096]))))
    }
}

/// Sends bytes on a connection of their own, and returns the statuses of all answers.
async fn statuses(address: SocketAddr, bytes: String) -> Vec<u16> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text.split("HTTP/1.1 ").skip(1).map(|answer| answer.get(..3).unwrap().parse().unwrap()).collect()
}

fn request(path: &str, headers: &str, last: bool) -> String {
    let close = if last { "connection: close\r\n" } else { "" };
    format!("GET {path} HTTP/1.1\r\nhost: a\r\n{headers}{close}\r\n")
}

fn pipelined(path: &str, headers: &str, number: usize) -> String {
    (1..=number).map(|at| request(path, headers, at == number)).collect()
}

#[tokio::test]
async fn pipelined_requests_count_one_by_one() {
    let (address, policy) =
        serve("pipelined", "request:\n- {name: a, limit: {key: '${source.address}', rate: 5/h}}").await;
    assert_eq!(statuses(address, pipelined("/", "", 8)).await, [200, 200, 200, 200, 200, 429, 429, 429]);
    // Another connection, with another port, is the same client.
    assert_eq!(statuses(address, pipelined("/", "", 2)).await, [429, 429]);
    let limit = policy.current().limits().next().unwrap();
    assert_eq!((limit.admitted, limit.limited, limit.keys), (5, 5, 1));
}

#[tokio::test]
async fn spellings_and_absence_of_a_key_do_not_help() {
    let text = "request:\n- {name: a, limit: {key: '${request.headers[\"x-key\"]}', rate: 2/h}}";
    let (address, _) = serve("spellings", text).await;
    let mut seen = Vec::new();
    for header in ["x-key: k\r\n", "X-KEY:k\r\n", "X-Key:   k  \r\n", "x-Key: k\r\n", "", "x-key : k\r\n"] {
        seen.extend(statuses(address, request("/", header, true)).await);
    }
    assert_eq!(seen, [200, 200, 429, 429, 429, 400]);
}

#[tokio::test]
async fn failed_logins_count_also_if_the_client_does_not_wait() {
    let text = "request:\n- {name: a, limit: {key: '${source.address}', rate: 4/h, countWhen: response.code == 401}}";
    let (address, policy) = serve("logins", text).await;
    assert!(statuses(address, pipelined("/", "", 20)).await.iter().all(|status| *status == 200));
    assert_eq!(statuses(address, pipelined("/login", "", 6)).await, [401, 401, 401, 401, 429, 429]);
    assert_eq!(statuses(address, request("/", "", true)).await, [429]);
    policy.current().clear_limits();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request("/login", "", false).as_bytes()).await.unwrap();
    }
    let limited = || async { statuses(address, request("/", "", true)).await == [429] };
    for _ in 0..10_000 {
        if limited().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("requests whose clients were gone did not count");
}

#[tokio::test]
async fn a_request_is_open_until_its_body_ends_or_the_client_is_gone() {
    let text = "request:\n- {name: a, limit: {key: '${source.address}', concurrent: 1, onLimit: {deny: 503}}}";
    let (address, policy) = serve("open", text).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request("/endless", "", false).as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    assert_eq!(statuses(address, request("/", "", true)).await, [503]);
    drop(stream);
    let open = |policy: &Policy| policy.limits().next().unwrap().keys;
    for _ in 0..10_000 {
        if open(&policy.current()) == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(statuses(address, request("/", "", true)).await, [200]);
    // A request that was answered is over at once.
    assert_eq!(statuses(address, pipelined("/", "", 5)).await, [200; 5]);
}
