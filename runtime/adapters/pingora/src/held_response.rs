//! A response that is held back until the phase `responseBody` has decided.

use crate::head::OfResponse;
use crate::messages::SharedExchange;
use bytes::{Bytes, BytesMut};
use celero_policy::{BodyBuffering, BufferState, Outcome, Policy, PolicyAnswer};
use pingora::Result;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::http::HttpTask;
use std::sync::Arc;
use std::time::Instant;

/// A response that is held back, and what the phase needs to decide.
pub(crate) struct HeldResponse {
    policy: Arc<Policy>,
    exchange: SharedExchange,
    /// The answer of the policy, if it gave one.
    answer: Option<Box<PolicyAnswer>>,
    buffering: BodyBuffering,
    body: BytesMut,
    tasks: Vec<HttpTask>,
    /// When the first piece of the body arrived.
    begun: Option<Instant>,
    decided: bool,
}

/// What happens to the tasks of a response.
pub(crate) enum Decision {
    /// They are held back.
    Wait,
    /// These are sent.
    Pass(Vec<HttpTask>),
    /// The policy answers instead, with this status.
    Answer(u16),
}

impl HeldResponse {
    pub(crate) fn new(policy: Arc<Policy>, exchange: SharedExchange, buffering: BodyBuffering) -> Self {
        let (body, tasks) = (BytesMut::new(), Vec::new());
        Self { policy, exchange, answer: None, buffering, body, tasks, begun: None, decided: false }
    }

    /// Takes the next tasks of the response to a request with this head, and says what happens to those taken so far.
    pub(crate) fn hold(&mut self, request: &RequestHeader, tasks: Vec<HttpTask>) -> Result<Decision> {
        if self.decided {
            return Ok(Decision::Pass(tasks));
        }
        let mut ended = false;
        for task in tasks {
            if let HttpTask::Body(Some(piece), _) = &task {
                self.body.extend_from_slice(piece);
                self.begun.get_or_insert_with(Instant::now);
            }
            ended |= task.is_end();
            if let HttpTask::Failed(error) = task {
                return Err(error);
            }
            self.tasks.push(task);
        }
        let Some(head) = self.tasks.iter().find_map(final_head) else { return Ok(Decision::Wait) };
        let state = self.buffering.state(self.body.len(), ended);
        let too_large = state == BufferState::TooLarge || self.buffering.refuses(length_of(head));
        if !too_large && state == BufferState::More && self.deadline().is_none_or(|deadline| Instant::now() < deadline)
        {
            return Ok(Decision::Wait);
        }
        Ok(self.decide(request, too_large))
    }

    /// Returns the answer of the policy, if it gave one. What a response did that was not decided
    /// about is undone: another server may be asked.
    pub(crate) fn into_answer(self) -> Option<Box<PolicyAnswer>> {
        if !self.decided {
            self.exchange.lock().forget_response();
        }
        self.answer
    }

    /// Returns when to [`decide`](Self::decide) with what has arrived.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.begun.filter(|_| !self.decided)?.checked_add(self.buffering.longest_wait()?)
    }

    /// Runs the phase on what has arrived of the response to a request with this head.
    pub(crate) fn decide(&mut self, request: &RequestHeader, too_large: bool) -> Decision {
        let Some(head) = self.tasks.iter().find_map(final_head) else {
            self.begun = None;
            return Decision::Wait;
        };
        let exchange = &mut *self.exchange.lock();
        let outcome = if too_large {
            self.policy.response_body_too_large(exchange)
        } else {
            self.policy.response_body(request, head, &self.body, exchange)
        };
        self.decided = true;
        self.body = BytesMut::new();
        let mut tasks = std::mem::take(&mut self.tasks);
        match outcome {
            Outcome::Continue => {
                let edits = exchange.edits();
                for task in &mut tasks {
                    if let HttpTask::Header(head, ended) = task
                        && !is_interim(head)
                    {
                        edits.apply_to_response(&mut OfResponse(head));
                        *ended = edits.body().map_or(*ended, Bytes::is_empty);
                    }
                }
                if let Some(body) = edits.body() {
                    // What follows the head is the old body, which has ended, and its trailers.
                    tasks.retain(|task| matches!(task, HttpTask::Header(..)));
                    if !body.is_empty() {
                        tasks.push(HttpTask::Body(Some(body.clone()), true));
                    }
                }
                Decision::Pass(tasks)
            }
            Outcome::Respond(answer) => {
                let status = answer.status.as_u16();
                self.answer = Some(answer);
                Decision::Answer(status)
            }
        }
    }
}

/// Returns the head of the final response (RFC 9110, section 15).
fn final_head(task: &HttpTask) -> Option<&ResponseHeader> {
    match task {
        HttpTask::Header(head, _) if !is_interim(head) => Some(head),
        _ => None,
    }
}

fn is_interim(head: &ResponseHeader) -> bool {
    head.status.is_informational() && head.status.as_u16() != 101
}

/// Returns the length of the body that a head announces, 0 if it announces none.
fn length_of(head: &ResponseHeader) -> u64 {
    let length = head.headers.get(http::header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse().ok()).unwrap_or_default()
}
