//! A policy around an axum server, loaded again when its file changes.
//!
//! ```console
//! $ cargo run -p celero-examples --bin axum_server -- examples/proxy-policy.yaml
//! $ curl -i http://127.0.0.1:3000/
//! ```
//!
//! Without an argument it starts on a free port, sends itself two requests, and ends.

use axum::Router;
use axum::routing::get;
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower_layer::Layer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1).map(PathBuf::from);
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("proxy-policy.yaml");
    let file = argument.clone().unwrap_or(default);
    let policy = Arc::new(LivePolicy::load(&file)?);

    let layer = PolicyLayer::new(Arc::clone(&policy)).on_log(|fields| println!("log: {fields}"));
    let routes = Router::new().route("/", get(|| async { "hello\n" })).fallback(|| async { "something else\n" });
    // Around the router, not `routes.layer(layer)`: axum chooses the route before such a layer
    // runs, by the path as it was received.
    let app = Router::new().fallback_service(layer.layer(routes));
    // With the client's address, which policies may read.
    let app = app.into_make_service_with_connect_info::<SocketAddr>();

    if argument.is_none() {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async { axum::serve(listener, app).await });
        return try_it(address).await;
    }
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("listening on http://{}", listener.local_addr()?);
    tokio::spawn(reload(policy, file));
    axum::serve(listener, app).await?;
    Ok(())
}

/// Loads the policy again whenever its file has changed. A file with mistakes changes nothing.
async fn reload(policy: Arc<LivePolicy>, file: PathBuf) {
    let modified = || std::fs::metadata(&file).and_then(|data| data.modified()).ok();
    let mut last = modified();
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = modified();
        if now != last {
            last = now;
            match policy.reload() {
                Ok(()) => println!("loaded {}", file.display()),
                Err(mistakes) => println!("{mistakes}"),
            }
        }
    }
}

/// Sends a request that the policy admits and one that it denies.
async fn try_it(address: SocketAddr) -> Result<(), Box<dyn Error>> {
    for (path, status, header) in [("/", "200", "x-served-by: celero"), ("/x/..//admin", "403", "")] {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        println!("{path}\n{answer}\n");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(header));
    }
    Ok(())
}
