//! Streams of gRPC whose messages are judged one at a time, over HTTP/2 and sockets.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, Response, response};
use axum::routing::any;
use axum::{Extension, Router};
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use h2::client::ResponseFuture;
use h2::{Reason, RecvStream, SendStream};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

const RULES: &str = "requestBody:
- {method: shop.v1.Orders/Talk, when: request.message.total > 1000, deny: {status: 403, body: too much}}
- {method: shop.v1.Orders/Import, when: request.message.total > 1000, deny: 403}
responseBody:
- {method: shop.v1.Orders/Talk, when: response.message.id == 'secret', deny: 401}
- {method: shop.v1.Orders/Watch, when: response.message.id == 'secret', deny: 401}
";

/// What the service has got of requests, and made of responses.
#[derive(Clone, Default)]
struct Seen {
    received: Arc<Mutex<Vec<u8>>>,
    /// Whether a body has failed.
    failed: Arc<AtomicUsize>,
    made: Arc<AtomicUsize>,
}

impl Seen {
    fn received(&self) -> Vec<u8> {
        self.received.lock().unwrap().clone()
    }
}

fn status(code: &'static str) -> HeaderMap {
    HeaderMap::from_iter([("grpc-status".parse().unwrap(), code.parse().unwrap())])
}

fn grpc(body: Body) -> Response<Body> {
    Response::builder().header("content-type", "application/grpc").body(body).unwrap()
}

/// Sends back each piece as it comes.
async fn talk(Extension(seen): Extension<Seen>, request: Request<Body>) -> Response<Body> {
    let failed = Arc::clone(&seen.failed);
    let body = request.into_body().map_frame(move |frame| {
        seen.received.lock().unwrap().extend_from_slice(frame.data_ref().unwrap());
        frame
    });
    let body = body.map_err(move |error| {
        failed.fetch_add(1, Ordering::Relaxed);
        error
    });
    grpc(Body::new(body.with_trailers(std::future::ready(Some(Ok::<_, axum::Error>(status("0")))))))
}

/// Answers when the last message has come.
async fn import(Extension(seen): Extension<Seen>, request: Request<Body>) -> Response<Body> {
    match request.into_body().collect().await {
        Ok(body) => seen.received.lock().unwrap().extend_from_slice(&body.to_bytes()),
        Err(_) => drop(seen.failed.fetch_add(1, Ordering::Relaxed)),
    }
    grpc(Body::empty())
}

/// Many messages, in pieces that are cut anywhere; the last one is denied.
struct Receipts {
    left: Bytes,
    /// How many bytes were sent.
    made: Arc<AtomicUsize>,
}

const RECEIPTS: usize = 100_000;

const RECEIPT: &[u8] = b"\0\0\0\0\x06\x0a\x04abcd";
const SECRET: &[u8] = b"\0\0\0\0\x08\x0a\x06secret";

impl http_body::Body for Receipts {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.left.len().min(1_000);
        self.made.fetch_add(length, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(self.left.split_to(length)))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

async fn watch(Extension(seen): Extension<Seen>) -> Response<Body> {
    let left = [RECEIPT.repeat(RECEIPTS - 1), SECRET.to_vec()].concat().into();
    grpc(Body::new(Receipts { left, made: Arc::clone(&seen.made) }))
}

/// A client of a service with rules.
struct Client {
    seen: Seen,
    sender: h2::client::SendRequest<Bytes>,
    // Its requests end with it.
    _connection: tokio::task::JoinHandle<Result<(), h2::Error>>,
}

async fn client(rules: &str) -> Client {
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/orders.binpb");
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("celero-tower-streams-{}-{number}.yaml", std::process::id()));
    std::fs::write(&file, format!("grpc: {{descriptors: '{}'}}\n{rules}", orders.display())).unwrap();
    let policy = Arc::new(LivePolicy::load(&file).unwrap());
    std::fs::remove_file(&file).unwrap();
    let seen = Seen::default();
    let app = Router::new()
        .route("/shop.v1.Orders/Talk", any(talk))
        .route("/shop.v1.Orders/Import", any(import))
        .route("/shop.v1.Orders/Watch", any(watch))
        .layer(Extension(seen.clone()))
        .layer(PolicyLayer::new(policy));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let (sender, connection) = h2::client::handshake(socket).await.unwrap();
    Client { seen, sender: sender.ready().await.unwrap(), _connection: tokio::spawn(connection) }
}

impl Client {
    fn call(&mut self, method: &str) -> (ResponseFuture, SendStream<Bytes>) {
        let request = Request::post(format!("http://a/shop.v1.Orders/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .unwrap();
        self.sender.send_request(request, false).unwrap()
    }
}

/// The frame of an order with this total, which is its field 2, and this customer, its field 1.
fn order(total: u16, customer: &str) -> Bytes {
    let [high, low] = [(total >> 7).to_le_bytes()[0], (total & 0x7f).to_le_bytes()[0] | 0x80];
    let length = u8::try_from(customer.len()).unwrap();
    let message = [&[0x0a, length][..], customer.as_bytes(), &[0x10, low, high]].concat();
    [&[0, 0, 0, 0, u8::try_from(message.len()).unwrap()][..], &message].concat().into()
}

fn send(stream: &mut SendStream<Bytes>, message: &Bytes) {
    stream.send_data(message.clone(), false).unwrap();
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.unwrap()
}

async fn head(response: ResponseFuture) -> (response::Parts, RecvStream) {
    in_time(response).await.unwrap().into_parts()
}

/// The next `length` bytes of a body.
async fn take(body: &mut RecvStream, length: usize) -> Vec<u8> {
    let mut read = Vec::new();
    while read.len() < length {
        let piece = in_time(body.data()).await.unwrap().unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        read.extend_from_slice(&piece);
    }
    read
}

/// The rest of a body, and the status of gRPC in its trailers.
async fn rest(body: &mut RecvStream) -> (Vec<u8>, String) {
    let mut read = Vec::new();
    while let Some(piece) = in_time(body.data()).await {
        let piece = piece.unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        read.extend_from_slice(&piece);
    }
    let trailers = in_time(body.trailers()).await.unwrap().unwrap_or_default();
    (read, trailers.get("grpc-status").map_or("", |code| code.to_str().unwrap()).to_owned())
}

#[tokio::test]
async fn messages_alternate() {
    let mut client = client(RULES).await;
    let (response, mut sent) = client.call("Talk");
    // The head of the response does not wait for a message.
    let (_, mut body) = head(response).await;
    for customer in ["ada", "bob", "eve"] {
        let message = order(5, customer);
        // Byte by byte: nothing goes on before the last one.
        for at in 0..message.len() {
            send(&mut sent, &message.slice(at..=at));
        }
        assert_eq!(take(&mut body, message.len()).await, message);
    }
    sent.send_data(Bytes::new(), true).unwrap();
    assert_eq!(rest(&mut body).await, (Vec::new(), "0".to_owned()));
}

#[tokio::test]
async fn a_denied_message_ends_the_call_in_both_directions() {
    let mut client = client(RULES).await;
    let (response, mut sent) = client.call("Talk");
    let (_, mut body) = head(response).await;
    let passed = [order(5, "ada"), order(6, "bob")].concat();
    send(&mut sent, &passed.clone().into());
    assert_eq!(take(&mut body, passed.len()).await, passed);
    send(&mut sent, &[order(7, "ida"), order(5000, "eve"), order(8, "joe")].concat().into());
    let (read, code) = rest(&mut body).await;
    assert_eq!(code, "7");
    // The message before the denied one may have come back before the end.
    assert!(read.is_empty() || read == order(7, "ida"), "{read:?}");
    let received = client.seen.received();
    assert!(received == passed || received == [passed, order(7, "ida").to_vec()].concat(), "{received:?}");

    // The service, whose body fails with its request, reads the denied message alone.
    let (response, mut sent) = client.call("Talk");
    let (_, mut body) = head(response).await;
    send(&mut sent, &order(5, "ada"));
    assert_eq!(take(&mut body, order(5, "ada").len()).await, order(5, "ada"));
    send(&mut sent, &order(5000, "eve"));
    assert_eq!(rest(&mut body).await, (Vec::new(), "7".to_owned()));

    // What the server says.
    let (response, mut sent) = client.call("Talk");
    let (_, mut body) = head(response).await;
    send(&mut sent, &[order(5, "ada"), order(5, "secret"), order(5, "bob")].concat().into());
    assert_eq!(rest(&mut body).await, (order(5, "ada").to_vec(), "16".to_owned()));
}

#[tokio::test]
async fn before_the_head_of_a_response_the_answer_is_one_head() {
    let mut client = client(RULES).await;
    for body in [
        vec![order(5, "ada"), order(5000, "eve")],
        vec![Bytes::from_static(&[0, 0, 1, 0, 1, 0])],
        vec![order(5, "ada"), Bytes::from_static(&[9])],
        vec![],
    ] {
        let code = if body.len() == 1 {
            "8"
        } else if body.len() == 2 && body[1].len() == 1 {
            "3"
        } else {
            "7"
        };
        let (response, mut sent) = client.call("Import");
        for message in &body {
            send(&mut sent, message);
        }
        if body.is_empty() {
            sent.send_data(Bytes::new(), true).unwrap();
        }
        let (head, mut got) = head(response).await;
        assert_eq!((head.headers["grpc-status"].to_str().unwrap(), head.status.as_u16()), (code, 200), "{body:?}");
        assert_eq!(rest(&mut got).await, (Vec::new(), String::new()));
    }
    // Of a message that has not ended the service gets nothing, and no end either.
    let (response, mut sent) = client.call("Import");
    send(&mut sent, &order(5, "ada").slice(..8));
    sent.send_data(Bytes::new(), true).unwrap();
    assert_eq!(head(response).await.0.headers["grpc-status"], "3");
    assert_eq!(client.seen.received(), b"");
    // A whole one.
    let (response, mut sent) = client.call("Import");
    sent.send_data(order(5, "ada"), true).unwrap();
    assert!(head(response).await.0.headers.get("grpc-status").is_none());
    assert_eq!(client.seen.received(), order(5, "ada"));
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_call() {
    let mut client = client(RULES).await;
    let (response, mut sent) = client.call("Talk");
    let (_, mut body) = head(response).await;
    let first = order(5, "ada");
    send(&mut sent, &[&first[..], &first[..9]].concat().into());
    assert_eq!(take(&mut body, first.len()).await, first);
    sent.send_reset(Reason::CANCEL);
    // The next call shows that the reset has come.
    let (response, mut sent) = client.call("Import");
    sent.send_data(order(5, "bob"), true).unwrap();
    let _ = head(response).await;
    in_time(async {
        while client.seen.received() != [&first[..], &order(5, "bob")].concat() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// A client that does not read holds the service back: memory is what the windows of HTTP/2 are, not the stream.
#[tokio::test]
async fn a_long_stream_of_a_server_takes_no_memory() {
    let mut client = client(RULES).await;
    let (response, mut sent) = client.call("Watch");
    sent.send_data(Bytes::from_static(&[0, 0, 0, 0, 0]), true).unwrap();
    let (_, mut body) = head(response).await;
    let mut read = 0;
    let code = loop {
        let Some(piece) = in_time(body.data()).await else {
            let trailers = in_time(body.trailers()).await.unwrap().unwrap();
            break trailers["grpc-status"].clone();
        };
        let piece = piece.unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        read += piece.len();
        let ahead = client.seen.made.load(Ordering::Relaxed) - read;
        // The windows of hyper and of this client, and what hyper keeps to be written.
        assert!(ahead < 600_000, "{ahead} bytes");
    };
    // All but the last message.
    assert_eq!((read, code.to_str().unwrap()), ((RECEIPTS - 1) * RECEIPT.len(), "16"));
}
