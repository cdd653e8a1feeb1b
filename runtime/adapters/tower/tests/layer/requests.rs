//! The layer around axum, over sockets and without.

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use axum::routing::{get, post};
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tower::ServiceExt;
use tower_layer::Layer;

/// A policy in a file of its own.
struct Policy(PathBuf, Arc<LivePolicy>);

impl Policy {
    fn new(text: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let file = std::env::temp_dir().join(format!("celero-tower-{}-{number}.yaml", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let policy = Arc::new(LivePolicy::load(&file).unwrap());
        Self(file, policy)
    }

    /// Returns a layer with the policy. Most requests of these tests come over no connection.
    fn layer(&self) -> PolicyLayer {
        PolicyLayer::new(Arc::clone(&self.1)).without_peer()
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn app(layer: PolicyLayer) -> Router {
    let routes = Router::new()
        .route("/headers", get(|headers: HeaderMap| async move { format!("{headers:?}") }))
        .route("/fail", get(|| async { StatusCode::INTERNAL_SERVER_ERROR }))
        .route("/echo", post(|body: Bytes| async move { body }));
    // Around the router, so that it routes the canonical request.
    Router::new().fallback_service(layer.layer(routes))
}

async fn ask(app: Router, request: Request<Body>) -> (Response<()>, String) {
    let (head, body) = app.oneshot(request).await.unwrap().into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (Response::from_parts(head, ()), String::from_utf8(body.to_vec()).unwrap())
}

fn request(method: &str, path: &str, body: impl Into<Body>) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("x-old", "1")
        .body(body.into())
        .unwrap()
}

const POLICY: &str = r#"
request:
  - { name: no, when: 'request.path == "/no"', deny: { status: 403, body: no, headers: { x-why: policy } } }
  - { name: from, when: 'has(source.address)', setHeaders: { x-from: "${source.address}" } }
  - { name: edit, setHeaders: { x-new: "2" }, removeHeaders: [x-old] }
requestBody:
  limit: 1KiB
  rules:
    - { name: evil, when: 'string(request.body).contains("evil")', deny: 400 }
response:
  - { name: mark, setHeaders: { x-served-by: celero } }
  - { name: hide, when: response.code == 500, respond: { status: 503, body: later } }
log:
  - logFields: { path: "${request.path}", code: "${response.code}", sent: "${response.bytesSent}" }
"#;

#[tokio::test]
async fn all_phases_work() {
    let policy = Policy::new(POLICY);
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&lines);
    let app = app(policy.layer().on_log(move |fields| sink.lock().unwrap().push(fields.to_string())));

    let (response, text) = ask(app.clone(), request("GET", "/headers", "")).await;
    assert_eq!((response.status(), &response.headers()["x-served-by"]), (StatusCode::OK, &"celero".parse().unwrap()));
    assert!(text.contains("x-new") && !text.contains("x-old"), "{text}");

    let (response, text) = ask(app.clone(), request("GET", "/no", "")).await;
    assert_eq!((response.status().as_u16(), text.as_str()), (403, "no"));
    assert_eq!(response.headers()["x-why"], "policy");
    assert!(!response.headers().contains_key("x-served-by"), "answers of the policy are no responses of the service");

    assert_eq!(ask(app.clone(), request("POST", "/echo", "good")).await.1, "good");
    assert_eq!(ask(app.clone(), request("POST", "/echo", "some evil")).await.0.status(), 400);
    assert_eq!(ask(app.clone(), request("POST", "/echo", "x".repeat(1024))).await.1.len(), 1024);
    assert_eq!(ask(app.clone(), request("POST", "/echo", "x".repeat(1025))).await.0.status(), 413);

    let (response, text) = ask(app.clone(), request("GET", "/fail", "")).await;
    assert_eq!((response.status().as_u16(), text.as_str()), (503, "later"));

    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 7);
    let second: Vec<&str> = lines.iter().map(String::as_str).skip(1).take(2).collect();
    assert_eq!(second, [r#"{"path":"/no","code":403,"sent":2}"#, r#"{"path":"/echo","code":200,"sent":4}"#]);
}

/// The service gets the target that the rules of both phases set, and the client the status.
#[tokio::test]
async fn targets_and_statuses_are_rewritten() {
    let policy = Policy::new(
        r#"
normalize: {forwardRaw: true}
request:
  - { setPath: "/api${request.path}", removeQuery: [debug] }
requestBody:
  - { setQuery: { size: "${string(request.body.size())}", path: "${request.path}" } }
response:
  - { when: 'response.code == 200', setStatus: 203 }
"#,
    );
    let routes = Router::new().route("/api/a", post(|uri: axum::http::Uri| async move { uri.to_string() }));
    let app = Router::new().fallback_service(policy.layer().layer(routes));
    let (response, text) = ask(app, request("POST", "/x/../a?%64ebug&b", "hello")).await;
    assert_eq!((response.status().as_u16(), text.as_str()), (203, "/api/a?b&size=5&path=%2Fapi%2Fa"));
}

#[tokio::test]
async fn larger_bodies_pass_if_the_policy_says_so() {
    let policy = Policy::new(&POLICY.replace("limit: 1KiB", "limit: 1KiB\n  tooLarge: skip"));
    let stream = Body::new(http_body_util::StreamBody::new(Pieces(50)));
    let (response, text) = ask(app(policy.layer()), request("POST", "/echo", stream)).await;
    assert_eq!((response.status().as_u16(), text.len()), (200, 5000));
}

/// A body of unknown length.
struct Pieces(usize);

impl futures_core::Stream for Pieces {
    type Item = Result<http_body::Frame<Bytes>, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or_default();
        std::task::Poll::Ready(left.map(|_| Ok(http_body::Frame::data(Bytes::from(vec![b'x'; 100])))))
    }
}

#[tokio::test]
async fn it_serves_over_sockets_and_reloads() {
    let policy = Policy::new(POLICY);
    let layer = policy.layer().peer(|head| head.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = app(layer).into_make_service_with_connect_info::<SocketAddr>();
    let server = tokio::spawn(async move { axum::serve(listener, service).await });
    let ask = async || {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /headers HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    };
    let before = ask().await;
    assert!(before.starts_with("HTTP/1.1 200") && before.contains("x-served-by: celero"), "{before}");
    assert!(before.contains("\"x-from\": \"127.0.0.1"), "{before}");
    std::fs::write(&policy.0, "request: [{ deny: [] }]").unwrap();
    policy.1.reload().unwrap_err();
    assert!(ask().await.starts_with("HTTP/1.1 200"));
    // The policy before had rules in other phases too.
    std::fs::write(&policy.0, "empty: allowed\nrequest: [{ deny: true }]").unwrap();
    policy.1.reload().unwrap();
    assert!(ask().await.starts_with("HTTP/1.1 403"));
    server.abort();
}

#[tokio::test]
async fn one_request_is_seen_whatever_its_spelling() {
    let policy = Policy::new(
        "request:\n- {when: 'request.path.startsWith(\"/headers/\") || request.host == \"admin.example\"', deny: true}\n\
         - {setHeaders: {x-new: '2'}}\n",
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = app(policy.layer());
    let server = tokio::spawn(async move { axum::serve(listener, service).await });
    for (head, expected) in [
        ("GET //x/../headers HTTP/1.1\r\nhost: a\r\nconnection: x-new", "200"),
        ("GET http://A.:80/%68eaders HTTP/1.1\r\nhost: A.:80", "200"),
        ("GET //headers//x HTTP/1.1\r\nhost: a", "403"),
        ("GET /headers HTTP/1.1\r\nhost: Admin.Example.:80", "403"),
        ("GET http://admin.example/headers HTTP/1.1\r\nhost: a", "400"),
        ("GET /headers HTTP/1.1", "400"),
        ("GET headers HTTP/1.1\r\nhost: a", "400"),
        ("GET /headers%2fx HTTP/1.1\r\nhost: a", "400"),
        ("GET /headers HTTP/1.1\r\nhost: a\r\nx_new: 1", "400"),
        ("GET /headers HTTP/1.1\r\nhost: a\r\nconnection: host", "400"),
    ] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("{head}\r\nconnection: close\r\n\r\n").as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert!(text.starts_with(&format!("HTTP/1.1 {expected}")), "{head}: {text}");
        assert_eq!(text.contains("x-new"), expected == "200", "{head}: {text}");
    }
    server.abort();
}

#[tokio::test]
async fn trailers_carry_nothing_that_the_policy_decides() {
    use http_body_util::BodyExt;
    let policy = Policy::new("response: [{removeHeaders: [x-internal]}]");
    let trailers = async || {
        let mut trailers = HeaderMap::new();
        trailers.insert("x-internal", "1".parse().unwrap());
        trailers.insert("x-checksum", "2".parse().unwrap());
        let body = http_body_util::Full::new(Bytes::from_static(b"a"));
        Body::new(body.with_trailers(async move { Some(Ok(trailers)) }))
    };
    let app = Router::new().route("/", get(async move || Response::new(trailers().await))).layer(policy.layer());
    let response = app.oneshot(request("GET", "/", "")).await.unwrap();
    let collected = response.into_body().collect().await.unwrap();
    let left: Vec<_> = collected.trailers().unwrap().keys().map(|name| name.as_str().to_owned()).collect();
    assert_eq!(left, ["x-checksum"]);
}
