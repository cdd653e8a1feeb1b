//! The state of one request between its phases.

use crate::auth::{ClientCertificate, Verification, VerifiedCredentials};
use crate::host::edits::Edits;
use crate::host::grpc::answer_to_call;
use crate::host::outcome::{Outcome, PolicyAnswer};
use crate::limits::headers::tells_limit;
use crate::limits::request::RequestLimits;
use crate::phases::context::{Arrival, Attributes, Labels, Origin};
use crate::phases::tls_connection::TlsConnection;
use crate::phases::watch::{RuleReasons, RuleWatch};
use celero::Context;
use celero::host::Extension;
use celero_canonical::Refusal;
use celero_limits::Time;
use http::{StatusCode, request};
use serde_json::Value as Json;
use smallvec::SmallVec;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The state of one request between its phases: addresses, verified credentials, labels, log
/// fields, and the edits of the last phase. Reuse it for another request on the same connection
/// with [`reset`](Self::reset), which keeps its memory.
#[derive(Debug, Default)]
pub struct Exchange {
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) local: Option<SocketAddr>,
    /// Who sent the request, and how the host knows. `None`: the peer.
    pub(crate) client: Option<(SocketAddr, &'static str)>,
    pub(crate) findings: VerifiedCredentials,
    /// The verifications that only the phase `log` needs, which never waits for them.
    pub(crate) background: Verification,
    /// The labels, and the host's own variables.
    pub(crate) attributes: Attributes,
    /// What the labels were that the phase `response` has set.
    labels_before_response: Vec<(Arc<str>, Option<String>)>,
    pub(crate) effects: Effects,
    /// The labels that messages of a call have set so far, of the client and of the server.
    message_labels: [Labels; 2],
    /// When the request arrived.
    pub(crate) started: Option<SystemTime>,
    pub(crate) arrival: Arrival,
    /// Whether a rule says what the target is, also if it is that already: then the received one is not sent.
    pub(crate) has_new_target: bool,
    pub(crate) refusal: Option<Refusal>,
    /// Whether the request is a call of gRPC.
    pub(crate) is_grpc: bool,
    /// Whether no rule that may match reads the body of the request, and of the response: then no rule gets bytes of
    /// it, whatever has arrived.
    pub(crate) is_unread: [bool; 2],
    pub(crate) certificate: Option<ClientCertificate>,
    /// How long the request was delayed by earlier phases.
    pub(crate) delayed: Duration,
    /// The connection of the client, if it has TLS.
    pub(crate) tls: Option<TlsConnection>,
}

/// Which rules with `sample` act, by their indices in the phase.
pub(crate) type Drawn = SmallVec<[(usize, bool); 2]>;

/// Whose messages of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Direction {
    Request,
    Response,
}

/// What the rules of a phase change.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) edits: Edits,
    /// The labels that the current phase sets. Later phases read them.
    pub(crate) labels: Vec<(Arc<str>, String)>,
    /// The limits that were asked. A phase that runs again finds what they have decided.
    pub(crate) limits: RequestLimits,
    /// The longest delay that the rules of the current phase ask for.
    pub(crate) delay: Duration,
    /// The fields of the log entry that all phases so far added.
    pub(crate) fields: Vec<(Arc<str>, Json)>,
    /// Which rules with `sample` act, by their indices in the phase that may run again.
    pub(crate) drawn: Drawn,
    /// What a case or a tool asks about rules; `None` in hosts.
    pub(crate) watch: Option<Box<RuleWatch>>,
}

impl Effects {
    /// Clears edits, labels, log fields and the delay of a phase that will run again. The caller
    /// restores log fields of earlier phases.
    pub(crate) fn discard(&mut self) {
        self.edits.clear();
        self.labels.clear();
        self.fields.clear();
        self.delay = Duration::ZERO;
    }

    /// Returns whether a rule acts on this request, of which it acts on this share. A phase that
    /// runs again finds what was drawn: else a rule would ask a service about a request, and then
    /// not act on the answer.
    pub(crate) fn draw(&mut self, rule: usize, share: f64) -> bool {
        if let Some((_, acts)) = self.drawn.iter().find(|(known, _)| *known == rule) {
            return *acts;
        }
        let acts = fastrand::f64() < share;
        self.drawn.push((rule, acts));
        acts
    }

    /// Notes how long the request waits. The longest delay counts.
    pub(crate) fn delay(&mut self, time: Duration) {
        self.delay = self.delay.max(time);
    }

    /// Sets a field of the log entry.
    pub(crate) fn log(&mut self, name: &Arc<str>, value: Json) {
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.fields.push((Arc::clone(name), value)),
        }
    }
}

impl Exchange {
    /// Returns the state of a request from the client `peer`, received at the address `local`.
    #[must_use]
    pub fn new(peer: Option<SocketAddr>, local: Option<SocketAddr>) -> Self {
        Self { peer, local, ..Self::default() }
    }

    /// Notes from now on what becomes of the rules that end a phase, and of those with a name: see
    /// [`rule_reasons`](Self::rule_reasons). Their conditions are evaluated once more, which takes
    /// longer, so this is for tools, and not for hosts.
    pub fn watch_rules(&mut self, name: Option<&str>) {
        self.effects.watch = Some(RuleWatch::of_tool(name));
    }

    /// Returns what became of the rules that are [watched](Self::watch_rules), phase by phase.
    pub fn rule_reasons(&self) -> impl Iterator<Item = RuleReasons> {
        self.effects.watch.iter().flat_map(|watch| watch.reasons())
    }

    /// Ends what the request holds of limits: it is no open request any more, and costs that were
    /// not settled count. The phase `log` is the last that may settle them.
    pub fn release_limits(&mut self) {
        self.effects.limits.clear();
    }

    /// Clears the state for the next request.
    pub fn reset(&mut self, peer: Option<SocketAddr>, local: Option<SocketAddr>) {
        (self.peer, self.local, self.client) = (peer, local, None);
        self.arrival = Arrival::default();
        (self.refusal, self.certificate, self.tls) = (None, None, None);
        self.started = None;
        (self.has_new_target, self.delayed) = (false, Duration::ZERO);
        self.is_unread = [false; 2];
        self.findings = VerifiedCredentials::default();
        self.background = Verification::default();
        // Clearing an empty map is slower than this test.
        if !self.attributes.labels.is_empty() {
            self.attributes.labels.clear();
        }
        self.attributes.variables = Extension::default();
        self.message_labels = Default::default();
        self.labels_before_response.clear();
        self.effects.discard();
        self.effects.drawn.clear();
        self.effects.limits.clear();
    }

    /// Sets the time that limits read, since an origin of the host's choice that all its requests
    /// share; the default is a monotonic clock of the process. Tests choose the time, and a host
    /// that measures it anyway saves a reading of the clock. [`reset`](Self::reset) forgets it.
    pub fn set_time(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.effects.limits.time = Some(Time::from_nanos(nanos));
    }

    /// Sets when the request arrived: rules read it as `request.startTime`. The phase `log` reads
    /// [`RequestSummary::started`] instead. Call it before the phase `request`, which else takes
    /// the time of its start; [`reset`](Self::reset) forgets it.
    ///
    /// [`RequestSummary::started`]: crate::RequestSummary::started
    pub fn set_start_time(&mut self, time: SystemTime) {
        self.started = Some(time);
    }

    /// Returns when the request arrived.
    pub(crate) fn start_time(&self) -> SystemTime {
        self.started.unwrap_or_else(SystemTime::now)
    }

    /// Sets who sent the request, if a trusted proxy in front has said so: rules read `address` as
    /// `source.address` and `source.port` (0: unknown), and `via`, how the host knows it, as
    /// `source.via`. Who may send `x-forwarded-client-cert` is still decided by the
    /// [`peer`](Self::peer). Call it before the phase `request`; [`reset`](Self::reset) forgets it.
    pub fn set_client(&mut self, address: SocketAddr, via: &'static str) {
        self.client = Some((address, via));
    }

    /// Returns who sent the request, and how that is known: the peer, unless
    /// [`set_client`](Self::set_client) named another.
    pub(crate) fn source(&self) -> Origin {
        match self.client {
            Some((address, via)) => Origin { address: Some(address), via },
            None => Origin { address: self.peer, via: "connection" },
        }
    }

    /// Returns the address of the peer, the other end of the connection.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Returns the address at which the request was received.
    #[must_use]
    pub fn local(&self) -> Option<SocketAddr> {
        self.local
    }

    /// Sets the certificate that the client has shown in the TLS connection that the host
    /// terminates. The host has verified it. Rules read it as `clientCert` if the policy has that
    /// section, unless the peer is one of its `trusted`: then the header of the peer says who the
    /// client is. Call it before the phase `request`; [`reset`](Self::reset) forgets it.
    pub fn set_client_certificate(&mut self, certificate: ClientCertificate) {
        self.certificate = Some(certificate);
    }

    /// Sets the TLS connection of the client, which the host terminates: rules read it as
    /// `source.tls`, and its certificate as `clientCert` too. Don't call it if a proxy in front has
    /// named the client ([`set_client`](Self::set_client)): the connection is then that proxy's.
    /// Call it before the phase `request`; [`reset`](Self::reset) forgets it.
    pub fn set_tls(&mut self, tls: TlsConnection) {
        self.tls = Some(tls);
        self.set_scheme("https");
    }

    /// Sets the scheme of the connection over which the request came: `https` if the host ends its
    /// TLS, else `http`. Rules read it as `request.scheme`, whatever a client of HTTP/2 says, and
    /// in `request.fullUri`. Without it they read what the target says, which in HTTP/1.1 is
    /// nothing. Call it before the phase `request`; [`reset`](Self::reset) forgets it.
    pub fn set_scheme(&mut self, scheme: &'static str) {
        self.arrival.scheme = Some(scheme);
    }

    /// Returns why the request has no canonical form, if it was refused for that.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// Returns path and query of the request as they were received, if their canonical form is another.
    #[must_use]
    pub fn received_target(&self) -> Option<&[u8]> {
        self.arrival.target.as_deref()
    }

    /// Returns the changes of the last phase, to be applied by the host: to the request
    /// ([`Edits::apply_to_request`]) after [`Policy::request`](crate::Policy::request) and
    /// [`Policy::request_body`](crate::Policy::request_body), to the response
    /// ([`Edits::apply_to_response`]) after [`Policy::response`](crate::Policy::response). There
    /// are none after a phase that ended with an answer.
    #[must_use]
    pub fn edits(&self) -> &Edits {
        &self.effects.edits
    }

    /// Returns the value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.attributes.labels.get(name).map(String::as_str)
    }

    /// Returns all labels, sorted by name.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.labels.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the outcome of a phase that ended with this answer, or with none.
    pub(crate) fn outcome(&self, answer: Option<PolicyAnswer>) -> Outcome {
        let answer = answer.map(|mut answer| {
            if !tells_limit(&answer.headers) {
                self.effects.limits.tell(|name, value| {
                    answer.headers.append(name, value);
                });
            }
            answer
        });
        let in_its_protocol = |answer| if self.is_grpc { answer_to_call(answer) } else { answer };
        answer.map_or(Outcome::Continue, |answer| Outcome::Respond(Box::new(in_its_protocol(answer))))
    }

    /// Finds the target that the rules of a phase give a request with this head. Returns the answer
    /// to a request whose target would be too long.
    pub(crate) fn find_target(&mut self, head: &request::Parts, error_status: StatusCode) -> Option<PolicyAnswer> {
        match self.effects.edits.find_target(&head.uri) {
            Ok(()) => {
                self.has_new_target |= !self.effects.edits.target.is_empty();
                None
            }
            Err(rule) => {
                self.effects.edits.clear();
                Some(PolicyAnswer::empty(error_status, &rule))
            }
        }
    }

    /// Makes the labels of a phase visible to the next one.
    pub(crate) fn end_phase(&mut self) {
        self.attributes.labels.extend(self.effects.labels.drain(..));
    }

    /// Keeps the labels that a message has set, until the last one was read: each is read with those of earlier phases.
    pub(crate) fn keep_message_labels(&mut self, direction: Direction) {
        let [of_requests, of_responses] = &mut self.message_labels;
        let labels = match direction {
            Direction::Request => of_requests,
            Direction::Response => of_responses,
        };
        labels.extend(self.effects.labels.drain(..));
    }

    /// Makes the labels visible that the messages of a stream have set, when it has ended.
    pub(crate) fn end_messages(&mut self, direction: Direction) {
        let [of_requests, of_responses] = &mut self.message_labels;
        let labels = match direction {
            Direction::Request => of_requests,
            Direction::Response => of_responses,
        };
        self.attributes.labels.append(labels);
    }

    /// Ends the phase `response`, so that [`forget_response`](Self::forget_response) can undo it.
    pub(crate) fn end_response_phase(&mut self) {
        let Self { attributes: Attributes { labels, .. }, effects, labels_before_response, .. } = self;
        let before = |(name, _): &(Arc<str>, String)| (Arc::clone(name), labels.get(name).cloned());
        labels_before_response.clear();
        labels_before_response.extend(effects.labels.iter().map(before));
        self.end_phase();
    }

    /// Forgets a response whose phase `responseBody` has not run: its labels, and what `countWhen`
    /// of limits said about it. Call it if a host that held the response back drops it and asks
    /// another server. Costs that a rule of `response` has settled, and fields of the log entry,
    /// stay.
    pub fn forget_response(&mut self) {
        for (name, before) in self.labels_before_response.drain(..) {
            match before {
                Some(value) => self.attributes.labels.insert(name, value),
                None => self.attributes.labels.remove(&name),
            };
        }
        self.effects.limits.forget_verdicts();
    }

    /// Sets a label of the request, which rules read as `labels.NAME`. Call it before a phase.
    pub fn set_label(&mut self, name: &str, value: &str) {
        self.attributes.labels.insert(name.into(), value.to_owned());
    }

    /// Sets the values of the host's own variables, for a policy that was loaded with
    /// [`Loader::variables`](crate::Loader::variables) of this type. Call it before the phase
    /// `request`; a later phase may get other values. [`reset`](Self::reset) forgets them.
    ///
    /// If the policy was loaded for another type, or no values are set, the phase `request` answers
    /// with 500: [`Policy::has_variables_of`](crate::Policy::has_variables_of) tells before. If a
    /// later phase gets values of another type, all its rules fail.
    pub fn set_variables<E: Context + Send + Sync + 'static>(&mut self, variables: Arc<E>) {
        self.attributes.variables = Extension::new(variables);
    }

    /// As [`set_variables`](Self::set_variables), for a policy whose loader is
    /// [of a file](crate::Loader::of_declarations): [`Extension::of_declared`] has values for its
    /// [variables](crate::Loader::host_variables).
    pub fn set_declared_variables(&mut self, variables: &Extension) {
        self.attributes.variables = variables.clone();
    }
}
