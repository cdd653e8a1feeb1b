//! What one request carries through Pingora's phases.

use crate::body::{Gathered, gather};
use crate::{answer, edits};
use bytes::{Bytes, BytesMut};
use celero_policy::{Answer, Ended, Exchange, LogFields, Outcome, Policy};
use pingora::http::ResponseHeader;
use pingora::proxy::{FailToProxy, Session};
use pingora::{Error, ErrorType, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The policy of one request, and what its phases found out so far. See the [crate's documentation](crate) for what to call when.
pub struct Guard {
    policy: Arc<Policy>,
    exchange: Exchange,
    /// The body that the requestBody phase read, for the server.
    held: Held,
    answer: Option<Box<Answer>>,
    patience: Duration,
    started: SystemTime,
    clock: Instant,
}

/// What was read of the body before a server was chosen.
enum Held {
    Nothing,
    /// All of it.
    Whole(Bytes),
    /// Its beginning, which was not sent yet.
    Beginning(Bytes),
    /// Its beginning, which was sent.
    Sent,
}

impl Guard {
    /// For a request that has just come. `policy` decides in all its phases.
    #[must_use]
    pub fn new(policy: Arc<Policy>) -> Self {
        Self {
            policy,
            exchange: Exchange::new(None, None),
            held: Held::Nothing,
            answer: None,
            patience: Duration::from_secs(60),
            started: SystemTime::now(),
            clock: Instant::now(),
        }
    }

    /// How long to wait for the next piece of a body that the requestBody phase is to see; 60 seconds if nothing is said.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// What the phases so far know: labels above all.
    #[must_use]
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// The policy's own answer, if it gave one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        self.answer.as_deref()
    }

    /// How long the request has been here.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    /// When the request came.
    #[must_use]
    pub fn started(&self) -> SystemTime {
        self.started
    }

    /// Whether another server may be tried when one failed after a connection to it was made: not if a part of the body is gone.
    #[must_use]
    pub fn may_retry(&self) -> bool {
        !matches!(self.held, Held::Sent)
    }

    /// The request and requestBody phases. Both are over before a server is chosen, so what they do to headers and labels can decide which.
    /// `true`: the policy answered, and the answer was sent.
    ///
    /// # Errors
    /// When the client is gone, or too slow in sending a body that the policy wants to see.
    pub async fn request_filter(&mut self, session: &mut Session) -> Result<bool> {
        self.exchange.reset(inet(session.client_addr()), inet(session.server_addr()));
        let outcome = self.policy.request(session.req_header(), &mut self.exchange);
        if self.settle(session, outcome).await? {
            return Ok(true);
        }
        let Some(limit) = self.policy.body_limit() else { return Ok(false) };
        let outcome = if session.is_upgrade_req() {
            self.policy.request_body(session.req_header(), b"", &mut self.exchange)
        } else {
            match gather(session, limit, self.patience).await? {
                Gathered::Whole(body) => {
                    let outcome = self.policy.request_body(session.req_header(), &body, &mut self.exchange);
                    self.held = if body.is_empty() { Held::Nothing } else { Held::Whole(body) };
                    outcome
                }
                Gathered::TooLarge(beginning) => {
                    self.held = if beginning.is_empty() { Held::Nothing } else { Held::Beginning(beginning) };
                    self.policy.request_body_too_large(&mut self.exchange)
                }
            }
        };
        self.settle(session, outcome).await
    }

    /// Does what a phase of the request asks for.
    async fn settle(&mut self, session: &mut Session, outcome: Outcome) -> Result<bool> {
        match outcome {
            Outcome::Continue => {
                edits::to_request(self.exchange.edits(), session.req_header_mut())?;
                Ok(false)
            }
            Outcome::Respond(given) => {
                answer::write(session, self.answer.insert(given)).await?;
                Ok(true)
            }
        }
    }

    /// Puts the body that the requestBody phase read in the place of what Pingora kept of it.
    pub fn request_body_filter(&mut self, body: &mut Option<Bytes>) {
        match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Nothing => {}
            Held::Sent => self.held = Held::Sent,
            Held::Whole(whole) => {
                *body = Some(whole.clone());
                // It stays, for another server if this one fails.
                self.held = Held::Whole(whole);
            }
            Held::Beginning(beginning) => {
                let rest = body.take().unwrap_or_default();
                let mut joined = BytesMut::from(beginning);
                joined.extend_from_slice(&rest);
                *body = Some(joined.freeze());
                self.held = Held::Sent;
            }
        }
    }

    /// The response phase, on the head of a server's final response.
    ///
    /// # Errors
    /// When the policy answers in the server's place: let the error through, and send the answer in
    /// [`fail_to_proxy`](Self::fail_to_proxy).
    pub fn response_filter(&mut self, session: &Session, response: &mut ResponseHeader) -> Result<()> {
        let interim = response.status.is_informational() && response.status.as_u16() != 101;
        if interim || !self.policy.has_response_rules() {
            return Ok(());
        }
        match self.policy.response(session.req_header(), response, &mut self.exchange) {
            Outcome::Continue => edits::to_response(self.exchange.edits(), response),
            Outcome::Respond(given) => {
                let status = given.status.as_u16();
                self.answer = Some(given);
                Error::e_explain(ErrorType::HTTPStatus(status), "the policy answers in the server's place")
            }
        }
    }

    /// Sends the answer that the response phase gave. `None`: there is none, the failure is another one.
    pub async fn fail_to_proxy(&mut self, session: &mut Session) -> Option<FailToProxy> {
        let given = self.answer.as_deref()?;
        if session.response_written().is_none() {
            // What is left of the exchange between server and client is not known here: the connection ends with this answer.
            session.set_keepalive(None);
            if let Err(error) = answer::write(session, given).await {
                log::debug!("the answer of {} could not be sent: {error}", given.rule);
            }
        }
        Some(FailToProxy { error_code: given.status.as_u16(), can_reuse_downstream: false })
    }

    /// The log phase: what the policy wants to be logged of this request. To be called once, at its end.
    pub fn log(&mut self, session: &Session) -> LogFields {
        if !self.policy.has_log_fields() {
            return LogFields::default();
        }
        let end = Ended {
            started: self.started,
            duration: self.clock.elapsed(),
            bytes_sent: u64::try_from(session.body_bytes_sent()).unwrap_or(u64::MAX),
        };
        let response = session.response_written().map(|head| &**head);
        self.policy.log(session.req_header(), response, &end, &mut self.exchange)
    }
}

fn inet(address: Option<&pingora::protocols::l4::socket::SocketAddr>) -> Option<SocketAddr> {
    address.and_then(|address| address.as_inet()).copied()
}
