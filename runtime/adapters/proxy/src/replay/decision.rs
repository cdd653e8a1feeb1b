//! What a configuration does with a recorded request: its routes and the phase `request` of its
//! policy, without a network.

use super::recorded_request::RecordedRequest;
use crate::clients::identify;
use crate::config::{Config, Target};
use crate::error::Error;
use crate::lists::copies::ListCopies;
use crate::upstreams::routing;
use crate::upstreams::upstream::Keys;
use celero_pingora::PingoraRequestHead;
use celero_policy::{
    Exchange, Outcome, Policy, RemoteAnswer, RemoteLimits, RemoteQuestion, RemoteReply, TlsConnection,
};
use http::{HeaderName, HeaderValue};
use pingora::http::RequestHeader;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Headers that are other ones for each request.
const OF_THE_REQUEST: [&str; 3] = ["x-request-id", "traceparent", "tracestate"];

/// A configuration that requests are tried with.
pub(super) struct Candidate {
    config: Config,
    pub(super) policy: Policy,
}

/// What a configuration does with a request.
pub(super) struct ReplayedRequest {
    /// The rule, the route or the reason.
    pub(super) by: String,
    /// What becomes of the request: a status, or an upstream.
    pub(super) effect: String,
    /// What the server gets.
    sent: Option<RequestHeader>,
}

impl ReplayedRequest {
    fn answer(by: String, status: u16) -> Self {
        Self { by, effect: status.to_string(), sent: None }
    }

    /// The same after a delay.
    fn after(self, delay: Duration) -> Self {
        Self { effect: format!("{} after {delay:?}", self.effect), ..self }
    }

    /// Returns the decision in a line.
    pub(super) fn text(&self) -> String {
        format!("{}: {}", self.by, self.effect)
    }

    /// Returns the parts of the request in which servers would get another one: `method`, `target`,
    /// or the name of a header.
    pub(super) fn differs_in(&self, other: &Self) -> BTreeSet<String> {
        let (Some(first), Some(second)) = (&self.sent, &other.sent) else { return BTreeSet::new() };
        let mut found = BTreeSet::new();
        for (what, same) in [("method", first.method == second.method), ("target", first.uri == second.uri)] {
            if !same {
                found.insert(what.to_owned());
            }
        }
        let names = first.headers.keys().chain(second.headers.keys());
        for name in names.filter(|name| !OF_THE_REQUEST.contains(&name.as_str())) {
            let values = |head: &RequestHeader, name: &HeaderName| -> Vec<HeaderValue> {
                head.headers.get_all(name).iter().cloned().collect()
            };
            if values(first, name) != values(second, name) {
                found.insert(name.as_str().to_owned());
            }
        }
        found
    }
}

impl Candidate {
    /// Loads a configuration and its policy. Lists have what copies on the disk hold of their documents at URLs.
    pub(super) fn load(file: &Path) -> Result<Self, Error> {
        let config = Config::load(file)?;
        let mut policy = config.load_policy()?;
        policy.set_remote_limits(Arc::new(AlwaysWithin));
        let copies = ListCopies::of(&config);
        policy.restore_lists(|source| copies.as_ref()?.read(source))?;
        Ok(Self { config, policy })
    }

    /// Returns whether lists may be changed while the proxy runs.
    pub(super) fn changes_lists(&self) -> bool {
        self.config.admin.is_some() && self.policy.lists().is_some()
    }

    /// Returns what becomes of a request that arrives at this time since the first one. What is
    /// decided by chance depends on `seed` alone.
    pub(super) fn decide(&self, request: &RecordedRequest, time: Duration, seed: u64) -> ReplayedRequest {
        let mut head = request.head.clone();
        let connection = &request.connection;
        let Ok(client) = identify(&mut head, connection, &self.config) else {
            return ReplayedRequest::answer("headers of a trusted proxy that can't be read".to_owned(), 400);
        };
        let mut exchange = Exchange::new(Some(connection.peer), connection.local);
        exchange.set_time(time);
        exchange.set_client(client.address, client.via);
        exchange.set_scheme(client.scheme);
        if let Some(version) = request.tls.as_deref().filter(|_| client.is_peer()) {
            exchange.set_tls(TlsConnection::new(version, ""));
        }
        // `sample` and `random()` draw from it: without a seed a configuration would differ from itself.
        fastrand::seed(seed);
        let decision = self.policy.request(&mut PingoraRequestHead(&mut head), &mut exchange);
        let replayed = self.routed(decision.outcome, head, &exchange, client.address.ip());
        match decision.delay {
            Some(delay) => replayed.after(delay.time()),
            None => replayed,
        }
    }

    /// Returns what becomes of a request after its policy.
    fn routed(
        &self,
        outcome: Outcome,
        mut head: RequestHeader,
        exchange: &Exchange,
        client: IpAddr,
    ) -> ReplayedRequest {
        match outcome {
            Outcome::Respond(answer) => {
                let by = match exchange.refusal() {
                    Some(refusal) => format!("no canonical form ({})", refusal.word()),
                    None => format!("rule {}", answer.rule),
                };
                return ReplayedRequest::answer(by, answer.status.as_u16());
            }
            Outcome::Continue => exchange.edits().apply_to_request(&mut PingoraRequestHead(&mut head)),
        }
        let routes = &self.config.routes;
        let found = routing::choose(routes, &head, |name| exchange.label(name)).and_then(|index| routes.get(index));
        let Some(route) = found else { return ReplayedRequest::answer("no route".to_owned(), 404) };
        let by = format!("route {}", route.name());
        let keys = Keys { head: &head, client: Some(client), exchange };
        let upstream = match &route.target {
            Target::Answer(answer) => return ReplayedRequest::answer(by, answer.status.as_u16()),
            Target::Upstream(index) => Some(*index),
            Target::Split(split) => keys.with(&split.by, |key| routing::part_of(split, key)),
        };
        match upstream.and_then(|index| self.config.upstreams.get(index)) {
            Some(upstream) => {
                let effect = format!("upstream {}", upstream.name);
                ReplayedRequest { by, effect, sent: Some(head) }
            }
            None => ReplayedRequest::answer(by, 404),
        }
    }
}

/// Stands for the services that count limits, which are not asked.
#[derive(Debug)]
struct AlwaysWithin;

impl RemoteLimits for AlwaysWithin {
    fn ask(&self, _: RemoteQuestion) -> RemoteReply {
        Box::pin(async { Ok(RemoteAnswer { is_within: true, ..RemoteAnswer::default() }) })
    }
}
