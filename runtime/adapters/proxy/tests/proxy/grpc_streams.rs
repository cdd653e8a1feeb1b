//! Streams of gRPC whose messages are judged one at a time, between a client and a server of HTTP/2.

use crate::running::{LONG, Running, eventually};
use ::h2::client::ResponseFuture;
use ::h2::server::SendResponse;
use ::h2::{Reason, RecvStream, SendStream, client, server};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, response};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::time::timeout;

/// What a server has got and made.
#[derive(Clone, Default)]
struct Seen {
    received: Arc<Mutex<Vec<u8>>>,
    /// How each body ended: `end`, or the reason of a reset.
    ends: Arc<Mutex<Vec<String>>>,
    /// How many bytes it has sent of a long stream.
    made: Arc<AtomicUsize>,
}

impl Seen {
    fn received(&self) -> Vec<u8> {
        self.received.lock().unwrap().clone()
    }

    fn ends(&self) -> Vec<String> {
        self.ends.lock().unwrap().clone()
    }

    /// The next piece of a request's body.
    async fn piece(&self, body: &mut RecvStream) -> Option<Bytes> {
        let end = match body.data().await {
            Some(Ok(piece)) => {
                let _ = body.flow_control().release_capacity(piece.len());
                self.received.lock().unwrap().extend_from_slice(&piece);
                return Some(piece);
            }
            Some(Err(error)) => format!("{:?}", error.reason()),
            None => "end".to_owned(),
        };
        self.ends.lock().unwrap().push(end);
        None
    }
}

/// The bytes of a receipt, with an `id` of 200 bytes.
fn receipt() -> Vec<u8> {
    [&[0, 0, 0, 0, 203, 0x0a, 0xc8, 1][..], &[b'a'; 200]].concat()
}

const SECRET: &[u8] = b"\0\0\0\0\x08\x0a\x06secret";
const RECEIPTS: usize = 100_000;

fn trailers(code: u16) -> HeaderMap {
    HeaderMap::from_iter([("grpc-status".parse().unwrap(), code.into())])
}

fn answer(respond: &mut SendResponse<Bytes>) -> SendStream<Bytes> {
    let head = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    respond.send_response(head, false).unwrap()
}

/// Sends back each piece; of `Import` when all have come, and for `Watch` many receipts.
async fn serve(request: Request<RecvStream>, mut respond: SendResponse<Bytes>, seen: Seen) {
    let (head, mut body) = request.into_parts();
    if head.uri.path().ends_with("/Import") {
        while seen.piece(&mut body).await.is_some() {}
        if seen.ends().last().is_some_and(|end| end == "end") {
            let _ = answer(&mut respond).send_trailers(trailers(0));
        }
        return;
    }
    let mut stream = answer(&mut respond);
    if head.uri.path().ends_with("/Watch") {
        // In pieces that are cut anywhere.
        for piece in [receipt().repeat(RECEIPTS - 1), SECRET.to_vec()].concat().chunks(10_000) {
            stream.reserve_capacity(piece.len());
            while stream.capacity() < piece.len() {
                let Some(Ok(_)) = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await else { return };
            }
            let _ = stream.send_data(Bytes::copy_from_slice(piece), false);
            seen.made.fetch_add(piece.len(), Ordering::Relaxed);
        }
        let _ = stream.send_trailers(trailers(0));
        return;
    }
    while let Some(piece) = seen.piece(&mut body).await {
        let _ = stream.send_data(piece, false);
    }
    if seen.ends().last().is_some_and(|end| end == "end") {
        let _ = stream.send_trailers(trailers(0));
    }
}

fn server() -> (SocketAddr, Seen) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let seen = Seen::default();
    let own = seen.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((socket, _)) = listener.accept().await {
                let seen = own.clone();
                tokio::spawn(async move {
                    let mut connection = server::handshake(socket).await.unwrap();
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        tokio::spawn(serve(request, respond, seen.clone()));
                    }
                });
            }
        });
    });
    (address, seen)
}

const RULES: &str = "requestBody:
- {name: much, method: shop.v1.Orders/Talk, when: request.message.total > 1000, deny: {status: 403, body: too much}}
- {name: many, method: shop.v1.Orders/Import, when: request.message.total > 1000, deny: 403}
responseBody:
- {name: secret, method: shop.v1.Orders/Talk, when: response.message.id == 'secret', deny: 401}
- {name: last, method: shop.v1.Orders/Watch, when: response.message.id == 'secret', deny: 401}
";

fn proxy(rules: &str) -> (Running, Seen) {
    let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/orders.binpb");
    let (server, seen) = server();
    let rest = format!("upstreams: [{{ name: s, servers: [\"{server}\"], h2c: true }}]\nroutes: [{{ upstream: s }}]\n");
    (Running::with(&rest, &format!("grpc: {{descriptors: '{orders}'}}\n{rules}")), seen)
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn connect(address: SocketAddr) -> client::SendRequest<Bytes> {
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let (sender, connection) = client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    sender.ready().await.unwrap()
}

fn call(client: &mut client::SendRequest<Bytes>, method: &str, ends: bool) -> (ResponseFuture, SendStream<Bytes>) {
    let request = Request::post(format!("http://test.example/shop.v1.Orders/{method}"))
        .version(http::Version::HTTP_2)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap();
    client.send_request(request, ends).unwrap()
}

/// The frame of an order with this total, which is its field 2, and this customer, its field 1.
fn order(total: u16, customer: &str) -> Bytes {
    let [high, low] = [(total >> 7).to_le_bytes()[0], (total & 0x7f).to_le_bytes()[0] | 0x80];
    let length = u8::try_from(customer.len()).unwrap();
    let message = [&[0x0a, length][..], customer.as_bytes(), &[0x10, low, high]].concat();
    [&[0, 0, 0, 0, u8::try_from(message.len()).unwrap()][..], &message].concat().into()
}

fn send(stream: &mut SendStream<Bytes>, message: &[u8]) {
    stream.send_data(Bytes::copy_from_slice(message), false).unwrap();
}

async fn head(response: ResponseFuture) -> (response::Parts, RecvStream) {
    timeout(LONG, response).await.expect("a head in time").unwrap().into_parts()
}

async fn take(body: &mut RecvStream, length: usize) -> Vec<u8> {
    let mut read = Vec::new();
    while read.len() < length {
        let piece = timeout(LONG, body.data()).await.expect("a piece in time").expect("more bytes").unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        read.extend_from_slice(&piece);
    }
    read
}

/// The rest of a body, and the status of gRPC in its trailers.
async fn rest(body: &mut RecvStream) -> (Vec<u8>, String) {
    let mut read = Vec::new();
    while let Some(piece) = timeout(LONG, body.data()).await.expect("a piece in time") {
        let piece = piece.unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        read.extend_from_slice(&piece);
    }
    let trailers = timeout(LONG, body.trailers()).await.unwrap().unwrap().unwrap_or_default();
    (read, trailers.get("grpc-status").map_or("", |code| code.to_str().unwrap()).to_owned())
}

#[test]
fn messages_alternate() {
    let (proxy, seen) = proxy(RULES);
    run(async {
        let mut client = connect(proxy.address).await;
        let (response, mut sent) = call(&mut client, "Talk", false);
        // The head of the response does not wait for a message.
        let (_, mut body) = head(response).await;
        for customer in ["ada", "bob", "eve"] {
            let message = order(5, customer);
            for at in 0..message.len() {
                send(&mut sent, &message[at..=at]);
                tokio::task::yield_now().await;
            }
            assert_eq!(take(&mut body, message.len()).await, message);
        }
        sent.send_data(Bytes::new(), true).unwrap();
        assert_eq!(rest(&mut body).await, (Vec::new(), "0".to_owned()));
    });
    assert_eq!(seen.ends(), ["end"]);
    let line = &proxy.log(1)[0];
    assert_eq!((line["status"].as_u64(), &line["rule"]), (Some(200), &serde_json::Value::Null), "{line}");
}

#[test]
fn a_denied_message_of_the_client_ends_the_call() {
    let (proxy, seen) = proxy(RULES);
    let passed = [order(5, "ada"), order(6, "bob")].concat();
    run(async {
        let mut client = connect(proxy.address).await;
        let (response, mut sent) = call(&mut client, "Talk", false);
        let (_, mut body) = head(response).await;
        send(&mut sent, &passed);
        assert_eq!(take(&mut body, passed.len()).await, passed);
        let large = order(5000, "eve");
        send(&mut sent, &large[..6]);
        send(&mut sent, &[&large[6..], &order(7, "joe")].concat());
        assert_eq!(rest(&mut body).await, (Vec::new(), "7".to_owned()));
        // The connection goes on.
        let (response, mut sent) = call(&mut client, "Talk", false);
        let (_, mut body) = head(response).await;
        sent.send_data(Bytes::new(), true).unwrap();
        // A rule that has no message to read fails, and a guard that fails denies.
        assert_eq!(rest(&mut body).await, (Vec::new(), "7".to_owned()));
    });
    assert_eq!(seen.received(), passed);
    eventually(|| seen.ends() == ["Some(CANCEL)"; 2], || format!("resets, but there are {:?}", seen.ends()));
    let line = &proxy.log(1)[0];
    assert_eq!((line["status"].as_u64(), line["rule"].as_str()), (Some(200), Some("much")), "{line}");
    eventually(
        || proxy.metric("celero_grpc_responses_total{code=\"7\"}") == 2.0,
        || "calls that are counted by their status".into(),
    );
}

#[test]
fn a_denied_message_of_the_server_ends_the_call() {
    let (proxy, seen) = proxy(RULES);
    run(async {
        let mut client = connect(proxy.address).await;
        let (response, mut sent) = call(&mut client, "Talk", false);
        let (_, mut body) = head(response).await;
        let (first, secret) = (order(5, "ada"), order(5, "secret"));
        send(&mut sent, &first);
        assert_eq!(take(&mut body, first.len()).await, first);
        // What passes before it, in the same piece, is sent.
        send(&mut sent, &[&first[..], &secret, &first].concat());
        assert_eq!(rest(&mut body).await, (first.to_vec(), "16".to_owned()));
    });
    eventually(|| seen.ends() == ["Some(CANCEL)"], || format!("a reset, but there are {:?}", seen.ends()));
    assert_eq!(proxy.log(1)[0]["rule"], "secret");
}

#[test]
fn before_the_head_of_a_response_the_answer_is_one_head() {
    let (proxy, seen) = proxy(RULES);
    let whole = order(5, "ada");
    run(async {
        let mut client = connect(proxy.address).await;
        for (pieces, ends, code) in [
            (vec![&whole[..], &order(5000, "eve")], false, "7"),
            (vec![&[0, 0, 1, 0, 1, 0][..]], false, "8"),
            (vec![&whole[..], &[9]], false, "3"),
            (vec![&whole[..8]], true, "3"),
            (vec![], true, "7"),
        ] {
            let (response, mut sent) = call(&mut client, "Import", pieces.is_empty());
            for piece in &pieces {
                send(&mut sent, piece);
            }
            if ends && !pieces.is_empty() {
                sent.send_data(Bytes::new(), true).unwrap();
            }
            let (head, mut body) = head(response).await;
            assert_eq!(
                (head.status.as_u16(), head.headers.get("grpc-status").map(|code| code.to_str().unwrap())),
                (200, Some(code)),
                "{pieces:?}"
            );
            assert_eq!(rest(&mut body).await, (Vec::new(), String::new()));
        }
        let (response, mut sent) = call(&mut client, "Import", false);
        sent.send_data(whole.clone(), true).unwrap();
        let (_, mut body) = head(response).await;
        assert_eq!(rest(&mut body).await, (Vec::new(), "0".to_owned()));
    });
    // No end came after a denial.
    eventually(
        || seen.ends().iter().filter(|end| *end == "end").count() == 1,
        || format!("one end, but there are {:?}", seen.ends()),
    );
    let received = seen.received();
    assert!(received.chunks(whole.len()).all(|message| message == whole), "{received:?}");
}

#[test]
fn a_client_that_leaves_ends_the_call() {
    let (proxy, seen) = proxy(RULES);
    run(async {
        let mut client = connect(proxy.address).await;
        let (response, mut sent) = call(&mut client, "Talk", false);
        let (_, mut body) = head(response).await;
        let first = order(5, "ada");
        send(&mut sent, &[&first[..], &first[..9]].concat());
        assert_eq!(take(&mut body, first.len()).await, first);
        sent.send_reset(Reason::CANCEL);
        let start = std::time::Instant::now();
        while seen.ends().is_empty() && start.elapsed() < LONG {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(seen.ends(), ["Some(CANCEL)"]);
        assert_eq!(seen.received(), first);
    });
}

/// Memory is what the windows of HTTP/2 are, not the stream: a client that stops to read stops the server.
#[test]
fn a_long_stream_of_a_server_takes_no_memory() {
    let (proxy, seen) = proxy(RULES);
    run(async {
        let mut client = connect(proxy.address).await;
        let (response, mut sent) = call(&mut client, "Watch", false);
        sent.send_data(Bytes::from_static(&[0, 0, 0, 0, 0]), true).unwrap();
        let (_, mut body) = head(response).await;
        let (first, length) = (take(&mut body, receipt().len()).await, receipt().len());
        // Until the server waits.
        let mut made = 0;
        while made != seen.made.load(Ordering::Relaxed) {
            made = seen.made.load(Ordering::Relaxed);
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        // The window of the proxy for a connection to a server is 8 MiB.
        assert!(made < RECEIPTS * length / 2, "{made} bytes are on their way");
        let (read, code) = rest(&mut body).await;
        assert_eq!((first.len() + read.len(), &*code), ((RECEIPTS - 1) * length, "16"));
    });
}

/// A rule on the body of the response holds the response back while the client still sends.
#[test]
fn messages_are_judged_while_a_response_is_held_back() {
    let rules = "requestBody:
- {name: much, method: shop.v1.Orders/Talk, when: request.message.total > 1000, deny: 403}
- {method: shop.v1.Orders/Talk, labels: {who: '${request.message.customer}'}}
responseBody: [{when: response.body == b'x', deny: 401}]
log: [{logFields: {who: '${labels.who}'}}]
";
    let (proxy, _) = proxy(rules);
    run(async {
        let mut client = connect(proxy.address).await;
        let (response, mut sent) = call(&mut client, "Talk", false);
        for customer in ["ada", "bob"] {
            send(&mut sent, &order(5, customer));
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        sent.send_data(Bytes::new(), true).unwrap();
        let (_, mut body) = head(response).await;
        assert_eq!(rest(&mut body).await, ([order(5, "ada"), order(5, "bob")].concat(), "0".to_owned()));
        let (response, mut sent) = call(&mut client, "Talk", false);
        send(&mut sent, &order(5, "ada"));
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        send(&mut sent, &order(5000, "eve"));
        assert_eq!(head(response).await.0.headers["grpc-status"], "7");
    });
    let lines = proxy.log(2);
    assert_eq!([&lines[0]["who"], &lines[1]["rule"]], ["bob", "much"], "{lines:?}");
}
