//! The state of a request on its way through the phases.

use crate::generation::Generation;
use celero_pingora::Guard;
use std::net::SocketAddr;
use std::sync::Arc;

/// The state of a request.
pub(crate) struct RequestState {
    pub(crate) now: Arc<Generation>,
    pub(crate) guard: Guard,
    /// The index of the chosen upstream.
    pub(crate) upstream: Option<usize>,
    /// The last chosen server.
    pub(crate) server: Option<SocketAddr>,
    /// The servers to which a connection failed.
    pub(crate) failed: Vec<SocketAddr>,
}
