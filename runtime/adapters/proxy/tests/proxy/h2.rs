//! HTTP/2 without TLS.

use crate::raw_h2::{END_HEADERS, END_STREAM, HEADERS, RawH2, fields, literal, status};
use crate::running::Running;
use bytes::Bytes;
use http::{Request, Response};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// Sends requests over one connection, all at once, and gives the responses in their order.
pub(crate) fn exchange(address: SocketAddr, requests: Vec<Request<Vec<u8>>>) -> Vec<Response<Vec<u8>>> {
    run(async {
        let socket = tokio::net::TcpStream::connect(address).await.unwrap();
        exchange_over(socket, requests).await
    })
}

/// The same over TLS.
pub(crate) fn over_tls(
    address: SocketAddr,
    name: &str,
    config: Arc<rustls::ClientConfig>,
    requests: Vec<Request<Vec<u8>>>,
) -> Vec<Response<Vec<u8>>> {
    let name = rustls::pki_types::ServerName::try_from(name.to_owned()).unwrap();
    run(async {
        let socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let socket = tokio_rustls::TlsConnector::from(config).connect(name, socket).await.unwrap();
        exchange_over(socket, requests).await
    })
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn exchange_over(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    requests: Vec<Request<Vec<u8>>>,
) -> Vec<Response<Vec<u8>>> {
    let (sender, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let mut pending = Vec::new();
    for request in requests {
        let mut sender = sender.clone().ready().await.unwrap();
        let (head, body) = request.into_parts();
        let (response, mut stream) = sender.send_request(Request::from_parts(head, ()), body.is_empty()).unwrap();
        pending.push(tokio::spawn(async move {
            let mut body = Bytes::from(body);
            while !body.is_empty() {
                stream.reserve_capacity(body.len());
                let Some(Ok(room)) = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await else { break };
                let piece = body.split_to(room);
                if stream.send_data(piece, body.is_empty()).is_err() {
                    break;
                }
            }
            let (head, mut stream) = response.await.unwrap().into_parts();
            let mut body = Vec::new();
            while let Some(piece) = stream.data().await {
                let piece = piece.unwrap();
                stream.flow_control().release_capacity(piece.len()).unwrap();
                body.extend_from_slice(&piece);
            }
            Response::from_parts(head, body)
        }));
    }
    let mut responses = Vec::new();
    for response in pending {
        responses.push(response.await.unwrap());
    }
    responses
}

/// A response that is read piece by piece.
pub(crate) struct Stream {
    runtime: tokio::runtime::Runtime,
    response: Option<h2::client::ResponseFuture>,
    body: Option<h2::RecvStream>,
}

impl Stream {
    pub(crate) fn open(address: SocketAddr, request: Request<()>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let response = runtime.block_on(async {
            let socket = tokio::net::TcpStream::connect(address).await.unwrap();
            let (sender, connection) = h2::client::handshake(socket).await.unwrap();
            tokio::spawn(connection);
            Some(sender.ready().await.unwrap().send_request(request, true).unwrap().0)
        });
        Self { runtime, response, body: None }
    }

    pub(crate) fn head(&mut self) -> Response<()> {
        let response = self.response.take().unwrap();
        let (head, body) = self.runtime.block_on(response).unwrap().into_parts();
        self.body = Some(body);
        Response::from_parts(head, ())
    }

    pub(crate) fn data(&mut self) -> Vec<u8> {
        let data = self.body.as_mut().unwrap().data();
        self.runtime.block_on(data).unwrap().unwrap().to_vec()
    }
}

pub(crate) fn request(method: &str, path: &str, body: &[u8]) -> Request<Vec<u8>> {
    let uri = format!("http://test.example{path}");
    let mut request = Request::builder().method(method).uri(uri).version(http::Version::HTTP_2);
    if !body.is_empty() {
        request = request.header("content-length", body.len());
    }
    request.body(body.to_vec()).unwrap()
}

const POLICY: &str = r#"
request:
  - { name: no, when: 'request.path == "/no" && request.host == "test.example"', deny: { status: 403, body: no } }
requestBody:
  limit: 200KiB
  rules:
    - { name: evil, when: 'string(request.body).contains("evil")', deny: 400 }
response:
  - { name: mark, setHeaders: { x-served-by: celero } }
  - { name: hide, when: response.code == 500, respond: { status: 503, body: later } }
"#;

#[test]
fn all_phases_work() {
    let proxy = Running::demo(POLICY);
    let mut requests = vec![
        request("GET", "/", b""),
        request("GET", "/no", b""),
        request("POST", "/x", b"some evil"),
        request("POST", "/x", &vec![b'x'; 150_000]),
        request("GET", "/status/500", b""),
    ];
    let mut unsized_body = request("POST", "/x", &vec![b'x'; 10_000]);
    unsized_body.headers_mut().remove("content-length");
    requests.push(unsized_body);
    let responses = exchange(proxy.address, requests);
    let statuses: Vec<_> = responses.iter().map(|response| response.status().as_u16()).collect();
    assert_eq!(statuses, [200, 403, 400, 200, 503, 200]);
    assert_eq!(responses[0].headers()["x-served-by"], "celero");
    assert_eq!(responses[1].body(), b"no");
    assert_eq!(responses[4].body(), b"later");
    let length = |body: &[u8]| serde_json::from_slice::<serde_json::Value>(body).unwrap()["bodyLength"].clone();
    assert_eq!(length(responses[3].body()), 150_000);
    assert_eq!(length(responses[5].body()), 10_000);
    assert!(proxy.log(6).iter().all(|line| line["protocol"] == "HTTP/2.0" && line["host"] == "test.example"));
}

#[test]
fn servers_may_speak_it() {
    let upstreams = "upstreams: [{ name: demo, demo: true, h2c: true }]\nroutes: [{ upstream: demo }]\n";
    let proxy = Running::with(upstreams, POLICY);
    let responses = exchange(
        proxy.address,
        vec![
            request("GET", "/", b""),
            request("POST", "/x", &vec![b'x'; 150_000]),
            request("POST", "/x", b"some evil"),
        ],
    );
    let statuses: Vec<_> = responses.iter().map(|response| response.status().as_u16()).collect();
    assert_eq!(statuses, [200, 200, 400]);
    let echo: serde_json::Value = serde_json::from_slice(responses[1].body()).unwrap();
    assert_eq!(echo["bodyLength"], 150_000);
    assert_eq!(crate::client::get(proxy.address, "/").status, 200);
}

#[test]
fn many_at_once_are_kept_apart() {
    let proxy = Running::demo(POLICY);
    let requests = (0..60).map(|i| request("POST", &format!("/{i}"), format!("body {i}").as_bytes())).collect();
    for (i, response) in exchange(proxy.address, requests).iter().enumerate() {
        let echo: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(echo["body"], format!("body {i}"));
    }
}

/// Clients of gRPC take a status in the head only if the head ends the stream.
#[test]
fn a_denied_call_of_grpc_ends_with_its_head() {
    let policy = r#"
request: [{ when: request.path == "/no", deny: { status: 403, body: no } }]
response: [{ when: request.path == "/status/500", deny: 503 }]
"#;
    let proxy = Running::demo(policy);
    for (path, expected, message) in [("/no", "7", "no"), ("/status/500", "14", "")] {
        let mut call = request("POST", path, b"");
        call.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
        let reply = exchange(proxy.address, vec![call]).remove(0);
        let header = |name| reply.headers().get(name).map_or("", |value| value.to_str().unwrap());
        let shown = (reply.status().as_u16(), header("grpc-status"), header("grpc-message"), &reply.body()[..]);
        assert_eq!(shown, (200, expected, message, &b""[..]), "{path}");

        let mut client = RawH2::connect(proxy.address, &[]);
        let block = [fields("POST", path), literal("content-type", "application/grpc")].concat();
        client.frame(HEADERS, END_HEADERS | END_STREAM, 1, &block);
        let head = client.find(HEADERS).unwrap();
        assert_eq!((status(&head.payload).as_str(), head.flags & END_STREAM), ("200", END_STREAM), "{path}");
    }
}
