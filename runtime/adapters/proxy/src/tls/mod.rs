//! TLS to clients and to servers: certificates, and what is accepted of the other side.
//!
//! Handshakes, records and verification are rustls'. Each reload reads all files again, and each
//! connection uses what is current when it begins.

mod certificates;
mod client_certificate;
mod hello;
mod pem;
mod servers;
mod services;
mod to_clients;

pub(crate) use certificates::describe as describe_certificate;
pub(crate) use hello::read_hello;
pub(crate) use servers::ServerTrust;
pub(crate) use services::client_of;
pub(crate) use to_clients::{ClientTls, accept};
