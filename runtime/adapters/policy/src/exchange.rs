//! What is known of a request from phase to phase.

use crate::edits::Edits;
use std::net::SocketAddr;

/// Everything of one request that outlives a phase: its addresses, verified claims, labels, and the edits of the phase that ran
/// last. It may be used again for another request after [`reset`](Self::reset), and keeps its memory then.
#[derive(Debug, Default)]
pub struct Exchange {
    peer: Option<SocketAddr>,
    local: Option<SocketAddr>,
    edits: Edits,
    labels: Vec<(String, String)>,
}

impl Exchange {
    /// For a request that came from `peer` to the address `local`.
    #[must_use]
    pub fn new(peer: Option<SocketAddr>, local: Option<SocketAddr>) -> Self {
        Self { peer, local, ..Self::default() }
    }

    /// Forgets the request, for the next one.
    pub fn reset(&mut self, peer: Option<SocketAddr>, local: Option<SocketAddr>) {
        (self.peer, self.local) = (peer, local);
        self.edits.clear();
        self.labels.clear();
    }

    /// Where the request came from.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// The address that it came to.
    #[must_use]
    pub fn local(&self) -> Option<SocketAddr> {
        self.local
    }

    /// The changes of headers that the phase that ran last asks for: of the request's after [`Policy::request`](crate::Policy::request)
    /// and [`Policy::request_body`](crate::Policy::request_body), of the response's after [`Policy::response`](crate::Policy::response).
    #[must_use]
    pub fn edits(&self) -> &Edits {
        &self.edits
    }

    /// The value of a label that a rule gave the request.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// All labels.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|(name, value)| (&**name, &**value))
    }

    pub(crate) fn start(&mut self) {
        self.edits.clear();
    }
}
