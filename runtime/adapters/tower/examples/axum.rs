//! An axum server with a policy around it.
//!
//! ```console
//! $ cargo run -p celero-tower --example axum -- examples/proxy-policy.yaml
//! $ curl -i http://127.0.0.1:3000/
//! ```

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tower_layer::Layer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: axum POLICY")?;
    let policy = Arc::new(LivePolicy::load(Path::new(&file))?);
    let layer = PolicyLayer::new(policy)
        .peer(|head| head.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0))
        .on_log(|fields| drop(writeln!(std::io::stdout(), "{fields}")));
    let routes = Router::new().route("/", get(|| async { "hello\n" }));
    // Around the router, not `routes.layer(layer)`: axum chooses the route before such a layer runs, by the path as it was received.
    let app = Router::new().fallback_service(layer.layer(routes));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
