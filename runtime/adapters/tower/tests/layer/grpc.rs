//! Calls of gRPC whose messages rules read, over HTTP/2 and sockets.

use axum::Router;
use axum::body::Bytes;
use axum::routing::any;
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// Starts a server with rules on `examples/orders.proto`, which answers with the bodies that it gets.
async fn server(rules: &str) -> SocketAddr {
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/orders.binpb");
    let file = std::env::temp_dir().join(format!("celero-tower-grpc-{}.yaml", std::process::id()));
    std::fs::write(&file, format!("grpc: {{descriptors: '{}'}}\n{rules}", orders.display())).unwrap();
    let policy = Arc::new(LivePolicy::load(&file).unwrap());
    std::fs::remove_file(&file).unwrap();
    let echo = any(|body: Bytes| async move { ([("content-type", "application/grpc"), ("grpc-status", "0")], body) });
    let app = Router::new().route("/shop.v1.Orders/{method}", echo).layer(PolicyLayer::new(policy));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// The frame of an order with this total, which is its field 2.
fn order(total: u16) -> Vec<u8> {
    let [high, low] = [(total >> 7).to_le_bytes()[0], (total & 0x7f).to_le_bytes()[0] | 0x80];
    [&[0, 0, 0, 0, 3][..], &[0x10, low, high]].concat()
}

/// Calls a method with a body in pieces of this length. Returns the status of gRPC and the body.
async fn call(address: SocketAddr, method: &str, body: &[u8], piece: usize) -> (String, Vec<u8>) {
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let (sender, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let request = axum::http::Request::post(format!("http://a/shop.v1.Orders/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap();
    let (response, mut stream) = sender.ready().await.unwrap().send_request(request, false).unwrap();
    for piece in body.chunks(piece) {
        stream.send_data(Bytes::copy_from_slice(piece), false).unwrap();
    }
    stream.send_data(Bytes::new(), true).unwrap();
    let (head, mut stream) = response.await.unwrap().into_parts();
    let header = |name| head.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    assert_eq!((head.status.as_u16(), &*header("content-type")), (200, "application/grpc"));
    let status = header("grpc-status");
    let mut read = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece.unwrap();
        stream.flow_control().release_capacity(piece.len()).unwrap();
        read.extend_from_slice(&piece);
    }
    (status, read)
}

#[tokio::test]
async fn messages_are_judged_before_the_service_gets_them() {
    let rules = "requestBody:
- {method: shop.v1.Orders/Create, when: request.message.total > 1000, deny: 403}
- {method: shop.v1.Orders/Import, when: request.message.total > 1000, deny: 403}
";
    let address = server(rules).await;
    let (small, large) = (order(5), order(5000));
    let denied = ("7".to_owned(), Vec::new());
    for piece in [1, 4, 1000] {
        assert_eq!(call(address, "Create", &small, piece).await, ("0".to_owned(), small.clone()));
        assert_eq!(call(address, "Create", &large, piece).await, denied);
        assert_eq!(call(address, "Cancel", &large, piece).await, ("0".to_owned(), large.clone()));
        assert_eq!(call(address, "Create", &small[..small.len() - 1], piece).await.0, "3");
        assert_eq!(call(address, "Create", &small.repeat(2), piece).await.0, "3");
        assert_eq!(call(address, "Create", &[0, 0, 1, 0, 1, 8, 1], piece).await.0, "8");
        assert_eq!(call(address, "create", &large, piece).await.0, "12");
        assert_eq!(call(address, "Import", &small.repeat(3), piece).await, ("0".to_owned(), small.repeat(3)));
        assert_eq!(call(address, "Import", &[small.repeat(2), large.clone()].concat(), piece).await, denied);
    }
    assert_eq!(call(address, "Create", &vec![0; 70_000], 10_000).await.0, "8");
}
