//! A policy around a tonic server: the health service of gRPC, one method of which needs a header.
//!
//! ```console
//! $ cargo run -p celero-examples --bin tonic_server
//! ```
//!
//! It starts on a free port, sends itself three calls, and ends.

use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tonic::transport::server::{TcpConnectInfo, TcpIncoming};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("grpc-policy.yaml");
    let layer = PolicyLayer::new(Arc::new(LivePolicy::load(&file)?))
        // tonic records the client's address in a type of its own.
        .peer(|head| head.extensions.get::<TcpConnectInfo>()?.remote_addr());

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (_, health) = tonic_health::server::health_reporter();
    let server = Server::builder().layer(layer).add_service(health);
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));

    let channel = Endpoint::from_shared(format!("http://{address}"))?.connect().await?;
    let mut client = HealthClient::new(channel);

    let answer = client.check(HealthCheckRequest::default()).await?;
    println!("Check: {:?}", answer.get_ref().status());

    let denied = watch(&mut client, Request::new(HealthCheckRequest::default()))
        .await
        .err()
        .ok_or("a call without a team was admitted")?;
    println!("Watch: {denied}");
    assert_eq!(denied.code(), Code::PermissionDenied);

    let mut call = Request::new(HealthCheckRequest::default());
    call.metadata_mut().insert("x-team", "search".parse()?);
    println!("Watch by a team: {:?}", watch(&mut client, call).await?);
    Ok(())
}

/// Returns the first status that the server streams.
async fn watch(client: &mut HealthClient<Channel>, call: Request<HealthCheckRequest>) -> Result<ServingStatus, Status> {
    let mut stream = client.watch(call).await?.into_inner();
    let first = stream.message().await?.ok_or_else(|| Status::unavailable("the stream has no message"))?;
    Ok(first.status())
}
