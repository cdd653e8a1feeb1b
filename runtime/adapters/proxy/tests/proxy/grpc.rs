//! Calls of gRPC pass through: messages as they come, in both directions, and the trailers that end a call.

use crate::h2;
use crate::running::{LONG, Running, eventually};
use ::h2::{RecvStream, client, server};
use bytes::Bytes;
use http::{HeaderMap, Response};
use std::net::SocketAddr;
use tokio::time::timeout;

/// A server that sends back each piece, and ends with a status of gRPC.
fn echo() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut connection = server::handshake(socket).await.unwrap();
                    while let Some(Ok((request, mut respond))) = connection.accept().await {
                        let (head, mut body) = request.into_parts();
                        assert_eq!(head.headers["te"], "trailers");
                        let response = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
                        let mut stream = respond.send_response(response, false).unwrap();
                        tokio::spawn(async move {
                            while let Some(Ok(piece)) = body.data().await {
                                let _ = body.flow_control().release_capacity(piece.len());
                                let _ = stream.send_data(piece, false);
                            }
                            let mut trailers = HeaderMap::new();
                            trailers.insert("grpc-status", 5.into());
                            trailers.insert("grpc-message", "gone".parse().unwrap());
                            let _ = stream.send_trailers(trailers);
                        });
                    }
                });
            }
        });
    });
    address
}

async fn piece(body: &mut RecvStream) -> Bytes {
    let piece = timeout(LONG, body.data()).await.expect("a piece in time").unwrap().unwrap();
    body.flow_control().release_capacity(piece.len()).unwrap();
    piece
}

#[test]
fn messages_and_the_status_pass_through() {
    let rest = format!(
        "upstreams: [{{ name: echo, servers: [\"{}\"], h2c: true }}]\nroutes: [{{ upstream: echo }}]\n",
        echo()
    );
    let proxy = Running::with(&rest, "");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(proxy.address).await.unwrap();
        let (sender, connection) = client::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        let mut request = h2::request("POST", "/a.Service/Method", b"").map(|_| ());
        for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let (response, mut sent) = sender.ready().await.unwrap().send_request(request, false).unwrap();
        // The second message is sent when the answer to the first is there.
        sent.send_data(Bytes::from_static(b"first"), false).unwrap();
        let response = timeout(LONG, response).await.expect("a head in time").unwrap();
        assert_eq!(response.headers()["content-type"], "application/grpc");
        let mut body = response.into_body();
        assert_eq!(piece(&mut body).await, "first");
        sent.send_data(Bytes::from_static(b"second"), false).unwrap();
        assert_eq!(piece(&mut body).await, "second");
        sent.send_data(Bytes::new(), true).unwrap();
        assert!(timeout(LONG, body.data()).await.unwrap().is_none());
        let trailers = body.trailers().await.unwrap().expect("trailers");
        assert_eq!(
            (&trailers["grpc-status"], &trailers["grpc-message"]),
            (&"5".parse().unwrap(), &"gone".parse().unwrap())
        );
    });
    eventually(
        || proxy.metric("celero_grpc_responses_total{code=\"5\"}") == 1.0,
        || "a call that is counted by its status".into(),
    );
}

/// The frame of an order of `examples/orders.proto` with this total.
fn order(total: u16) -> Vec<u8> {
    let [high, low] = [(total >> 7).to_le_bytes()[0], (total & 0x7f).to_le_bytes()[0] | 0x80];
    [&[0, 0, 0, 0, 3][..], &[0x10, low, high]].concat()
}

#[test]
fn rules_read_messages_before_a_server_gets_them() {
    let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/orders.binpb");
    let policy = format!(
        "grpc: {{descriptors: '{orders}'}}
requestBody:
- {{name: large, method: shop.v1.Orders/Create, when: request.message.total > 1000, deny: 403}}
- {{name: any, method: shop.v1.Orders/Import, when: request.message.total > 1000, deny: 403}}
"
    );
    let rest = format!(
        "upstreams: [{{ name: echo, servers: [\"{}\"], h2c: true }}]\nroutes: [{{ upstream: echo }}]\n",
        echo()
    );
    let proxy = Running::with(&rest, &policy);
    let call = |path: &str, body: &[u8]| {
        let mut call = h2::request("POST", path, body);
        for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
            call.headers_mut().insert(name, value.parse().unwrap());
        }
        let reply = h2::exchange(proxy.address, vec![call]).remove(0);
        let status = reply.headers().get("grpc-status").map_or("", |value| value.to_str().unwrap()).to_owned();
        (status, reply.into_body())
    };
    let (small, large) = (order(5), order(5000));
    // The server's own status is in the trailers.
    let (passed, denied) = (|body: &[u8]| (String::new(), body.to_vec()), ("7".to_owned(), Vec::new()));
    assert_eq!(call("/shop.v1.Orders/Create", &small), passed(&small));
    assert_eq!(call("/shop.v1.Orders/Create", &large), denied);
    assert_eq!(call("/shop.v1.Orders/Watch", &large), passed(&large));
    assert_eq!(call("/shop.v1.Orders/Create", &small.repeat(2)).0, "3");
    assert_eq!(call("/shop.v1.Orders/Create", &small[..4]).0, "3");
    assert_eq!(call("/shop.v1.Orders/create", &large).0, "12");
    assert_eq!(call("/shop.v1.Orders/Create", &vec![0; 70_000]).0, "8");
    assert_eq!(call("/shop.v1.Orders/Import", &small.repeat(3)), passed(&small.repeat(3)));
    assert_eq!(call("/shop.v1.Orders/Import", &[small.repeat(3), large].concat()), denied);
}
