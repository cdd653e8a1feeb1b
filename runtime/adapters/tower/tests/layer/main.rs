//! The layer around axum and other services, over sockets and without.
#![expect(clippy::unwrap_used, reason = "tests")]

mod bodies;
mod delays;
mod grpc;
mod grpc_streams;
mod host_data;
mod limits;
mod passwords;
mod peer;
mod requests;
