//! A policy that reads the client's address, around servers that do and do not tell it, over sockets.

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const LOCAL_ONLY: &str =
    "request: [{name: local, when: '!cidr(\"127.0.0.0/8\").containsIP(source.address)', deny: 403}]";

fn layer(policy: &str) -> PolicyLayer {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("celero-tower-peer-{}-{number}.yaml", std::process::id()));
    std::fs::write(&file, policy).unwrap();
    let policy = Arc::new(LivePolicy::load(&file).unwrap());
    std::fs::remove_file(&file).unwrap();
    PolicyLayer::new(policy)
}

/// Serves with a layer, with axum's record of the client's address or without, and returns the response to a request.
async fn ask(layer: PolicyLayer, connect_info: bool) -> String {
    let app = Router::new().route("/", get(|| async { "hello" })).layer(layer);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        if connect_info {
            axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await
        } else {
            axum::serve(listener, app).await
        }
    });
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    server.abort();
    text
}

#[tokio::test]
async fn a_missing_address_is_told_and_not_taken_for_a_decision() {
    let response = ask(layer(LOCAL_ONLY), false).await;
    assert!(response.starts_with("HTTP/1.1 500"), "{response}");
    assert!(response.contains("source.address") && response.contains("PolicyLayer::peer"), "{response}");
    let blind = ask(layer(LOCAL_ONLY).peer(|_| None), true).await;
    assert!(blind.starts_with("HTTP/1.1 500"), "{blind}");
}

#[tokio::test]
async fn a_host_may_say_that_there_is_no_address() {
    let response = ask(layer(LOCAL_ONLY).without_peer(), true).await;
    assert!(response.starts_with("HTTP/1.1 403"), "{response}");
    let tested = "request: [{when: 'has(source.address) && source.address == \"10.0.0.1\"', deny: 403}]";
    assert!(ask(layer(tested).without_peer(), true).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn the_address_is_found() {
    let find = |head: &axum::http::request::Parts| head.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0);
    assert!(ask(layer(LOCAL_ONLY).peer(find), true).await.starts_with("HTTP/1.1 200"));
    // The feature `axum`, which these tests have, finds it too.
    assert!(ask(layer(LOCAL_ONLY), true).await.starts_with("HTTP/1.1 200"));
    let elsewhere = LOCAL_ONLY.replace("127.0.0.0/8", "10.0.0.0/8");
    assert!(ask(layer(&elsewhere), true).await.starts_with("HTTP/1.1 403"));
}

#[tokio::test]
async fn the_destination_is_told_or_asked_for() {
    let policy = "request: [{when: 'destination.port == 443 && destination.address == \"10.0.0.1\"', deny: 403}]";
    let response = ask(layer(policy), true).await;
    assert!(response.starts_with("HTTP/1.1 500"), "{response}");
    assert!(response.contains("destination.address") && response.contains("PolicyLayer::local"), "{response}");
    let told = |address: &str| {
        layer(policy).local({
            let address = address.parse().unwrap();
            move |_| Some(address)
        })
    };
    assert!(ask(told("10.0.0.1:443"), true).await.starts_with("HTTP/1.1 403"));
    assert!(ask(told("10.0.0.1:80"), true).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn policies_that_need_no_address_get_none() {
    for policy in
        ["request: [{when: request.path == '/x', deny: 403}]", "log: [{logFields: {client: '${source.address}'}}]"]
    {
        assert!(ask(layer(policy), false).await.starts_with("HTTP/1.1 200"), "{policy}");
    }
    for policy in [
        "request: [{setHeaders: {x-client: '${source.address}'}}]",
        "variables: {port: source.port}\nresponse: [{when: variables.port > 1, setHeaders: {a: b}}]",
        "functions: {'f() -> bool': 'source.port > 1'}\nrequestBody: [{when: f(), deny: true}]",
    ] {
        assert!(ask(layer(policy), false).await.starts_with("HTTP/1.1 500"), "{policy}");
    }
}

#[tokio::test]
async fn rules_about_connections_are_not_left_out_silently() {
    let policy = "connection: [{when: source.port == 1, deny: true}]";
    let response = ask(layer(policy), true).await;
    assert!(response.starts_with("HTTP/1.1 500") && response.contains("PolicyLayer::admits_connections"), "{response}");
    assert!(ask(layer(policy).admits_connections(), true).await.starts_with("HTTP/1.1 200"));
}
