//! What is known of a request from phase to phase.

use crate::auth::Findings;
use crate::context::Labels;
use crate::edits::Edits;
use serde_json::Value as Json;
use std::net::SocketAddr;
use std::sync::Arc;

/// Everything of one request that outlives a phase: its addresses, verified claims, labels, and the edits of the phase that ran
/// last. It may be used again for another request after [`reset`](Self::reset), and keeps its memory then.
#[derive(Debug, Default)]
pub struct Exchange {
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) findings: Findings,
    pub(crate) labels: Labels,
    pub(crate) effects: Effects,
}

/// What the rules of a phase do to a request.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) edits: Edits,
    /// Labels of the phase that runs; the later ones read them.
    pub(crate) labels: Vec<(Arc<str>, String)>,
    /// Fields of the log entry, of all phases so far.
    pub(crate) fields: Vec<(Arc<str>, Json)>,
}

impl Effects {
    /// Sets a field of the log entry, in place of one of the name.
    pub(crate) fn log(&mut self, name: &Arc<str>, value: Json) {
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.fields.push((Arc::clone(name), value)),
        }
    }
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
        self.findings = Findings::default();
        // Emptying a map costs something even if it is empty.
        if !self.labels.is_empty() {
            self.labels.clear();
        }
        self.effects.edits.clear();
        self.effects.labels.clear();
        self.effects.fields.clear();
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

    /// The changes of headers that the phase that ran last asks for: of the request's after
    /// [`Policy::request`](crate::Policy::request) and [`Policy::request_body`](crate::Policy::request_body), of the
    /// response's after [`Policy::response`](crate::Policy::response). None after one that ended with an answer.
    #[must_use]
    pub fn edits(&self) -> &Edits {
        &self.effects.edits
    }

    /// The value of a label that the host or a rule gave the request.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str)
    }

    /// All labels, by name.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Makes the labels of a phase known to the next ones.
    pub(crate) fn end_phase(&mut self) {
        self.labels.extend(self.effects.labels.drain(..));
    }

    /// Gives the request a label, for rules to read: `labels.listener`.
    pub fn set_label(&mut self, name: &str, value: &str) {
        self.labels.insert(name.into(), value.to_owned());
    }
}
