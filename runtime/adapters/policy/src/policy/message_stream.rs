//! Streams of messages of gRPC, judged one message at a time.
//!
//! Invariant: no byte of a message that the rules deny, and none of what follows it, is given back,
//! however the body is cut. Test:
//! `runtime/adapters/policy/tests/policy/grpc_streams.rs::every_cut_of_a_body_gives_the_same`.

use crate::auth::block_on;
use crate::bodies::buffering::BodyBuffering;
use crate::grpc::call::{BodyRead, CallRefusal, answered, called};
use crate::grpc::held::HeldMessages;
use crate::grpc::methods::RuledMethod;
use crate::host::outcome::{Outcome, PolicyAnswer};
use crate::limits::remote::{RemoteState, RemoteVerdict};
use crate::limits::request::PendingQuestion;
use crate::phases::context::{BodyData, CommonData, ResponseBodyData, ResponseHead};
use crate::phases::exchange::{Direction, Drawn, Exchange};
use crate::policy::Policy;
use crate::rules::body_change::Message;
use bytes::Bytes;
use celero::http::Request;
use http::{request, response};
use std::sync::Arc;

/// The messages of one direction of a call, on their way: a host gives it the pieces of a body, and
/// forwards what it gives back. It holds at most one message.
///
/// After each [`push`](Self::push), and after [`end`](Self::end), call [`check`](Self::check).
#[derive(Debug)]
pub struct MessageStream {
    head: Box<request::Parts>,
    /// Of a stream of the server: the head of its response.
    response: Option<Box<response::Parts>>,
    method: RuledMethod,
    held: HeldMessages,
    /// Which rules with `sample` act on the call.
    drawn: Drawn,
    /// Whether a piece, or the end, has come.
    begun: bool,
    /// Whether the phase has run.
    ran: bool,
    refused: Option<Box<PolicyAnswer>>,
}

/// What follows from the pieces of a body that have come.
#[derive(Debug)]
pub struct CheckedMessages {
    /// What may be forwarded, in any case; may be empty.
    pub pass: Bytes,
    /// What the host does then.
    pub next: MessageStep,
}

/// What a host does with the rest of a stream of messages.
#[derive(Debug)]
pub enum MessageStep {
    /// Wait for the next piece.
    More,
    /// Wait for [`LimitQuestion::ask`], give the reply to [`Exchange::note_limit`], and check again.
    Ask(Box<LimitQuestion>),
    /// The stream has ended, and all of it passes.
    End,
    /// Nothing more of the stream is forwarded. Reset the call, and send this answer; after a part
    /// of a response was sent, send [`PolicyAnswer::trailers`].
    Refuse(Box<PolicyAnswer>),
}

/// What a service that counts a limit is to be asked.
#[derive(Debug)]
pub struct LimitQuestion(PendingQuestion);

/// What a service says about a limit.
#[derive(Debug)]
pub struct LimitReply {
    state: Arc<RemoteState>,
    verdict: RemoteVerdict,
    tells_always: bool,
    dry_run: bool,
}

impl LimitQuestion {
    /// Asks the service, and waits for its answer.
    pub async fn ask(self: Box<Self>, policy: &Policy) -> LimitReply {
        let PendingQuestion { question, state, tells_always, dry_run } = self.0;
        let verdict = policy.ask_service(question).await;
        LimitReply { state, verdict, tells_always, dry_run }
    }
}

impl Exchange {
    /// Notes what a service says about a limit.
    pub fn note_limit(&mut self, reply: LimitReply) {
        let LimitReply { state, verdict, tells_always, dry_run } = reply;
        self.effects.limits.record(state, verdict, tells_always, dry_run);
    }
}

impl Policy {
    /// Returns what judges the messages of a client one at a time, if the request is a call whose
    /// client sends a stream, and the rules of `requestBody` that may match it read nothing but its
    /// messages, each for itself. Then the phase is run by this stream, and
    /// [`request_buffering`](Self::request_buffering) is not called. Call it once, when the edits
    /// of the phase `request` have been applied, unless the host can't forward a body while it
    /// arrives: then all of it is buffered. [Check](MessageStream::check) it before the head is
    /// forwarded: a rule may deny the call whatever its messages are.
    #[must_use]
    pub fn request_messages(&self, head: &request::Parts, exchange: &mut Exchange) -> Option<MessageStream> {
        let Ok(Some(method)) = called(&self.methods.of_requests, head) else { return None };
        if !method.streams || self.body_settings.too_large().is_none() {
            return None;
        }
        let (started, origin) = (exchange.start_time(), exchange.source());
        let Exchange { findings, attributes, effects, local, tls, arrival, .. } = &mut *exchange;
        let proofs = self.auth.lazy(&head.headers, findings);
        let context = BodyData {
            request: Request::from(arrival.head(head)),
            body_prefix: None,
            grpc_method: &method.name,
            message: None,
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        if !self.body.reads_messages_only(&context) {
            return None;
        }
        let mut stream = MessageStream::new(head, None, method, self.body_settings.buffering());
        // Tools ask why each rule does what it does, which only the whole phase says.
        if effects.watch.is_none()
            && let Some(answer) = self.body.answer_by_head(&context, Message::head(&head.headers), effects)
        {
            exchange.end_phase();
            if let Outcome::Respond(answer) = self.conclude(head, Some(answer), exchange) {
                stream.refuse(answer);
            }
        }
        Some(stream)
    }

    /// As [`request_messages`](Self::request_messages), for the messages of a server and the rules
    /// of `responseBody`. Call it when the edits of the phase `response` have been applied; if it
    /// returns a stream, the head of the response is sent at once, and
    /// [`response_buffering`](Self::response_buffering) is not called.
    #[must_use]
    pub fn response_messages(
        &self,
        head: &request::Parts,
        response: &response::Parts,
        exchange: &mut Exchange,
    ) -> Option<MessageStream> {
        if !self.may_read_response(head, response) || self.response_settings.too_large().is_none() {
            return None;
        }
        let method = answered(&self.methods.of_responses, head, response).ok()?.filter(|method| method.streams)?;
        let (started, origin) = (exchange.start_time(), exchange.source());
        let Exchange { findings, attributes, local, tls, arrival, .. } = &*exchange;
        let proofs = self.auth.lazy(&head.headers, findings);
        let context = ResponseBodyData {
            request: arrival.head(head),
            response: ResponseHead { code: Some(response.status), headers: &response.headers },
            body: None,
            body_prefix: None,
            grpc_method: &method.name,
            message: None,
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        if !self.response_body.reads_messages_only(&context) {
            return None;
        }
        exchange.effects.limits.apply_verdicts();
        Some(MessageStream::new(head, Some(response), method, self.response_settings.buffering()))
    }

    /// Runs the phase of a stream on a message, or on the end of a stream without any. Returns the
    /// answer of the policy, if it gives one.
    ///
    /// # Errors
    /// Returns what a service is to be asked first. The phase had no effect then.
    fn judge(
        &self,
        head: &request::Parts,
        response: Option<&response::Parts>,
        (method, message): (&RuledMethod, Option<&[u8]>),
        exchange: &mut Exchange,
    ) -> Result<Option<PolicyAnswer>, Box<PendingQuestion>> {
        let read = BodyRead { body: &[], call: Some((method, message)) };
        match response {
            None => self.try_request_body(head, read, exchange),
            Some(response) => Ok(self.run_response_body(head, response, read, exchange)),
        }
    }
}

impl MessageStream {
    fn new(
        head: &request::Parts,
        response: Option<&response::Parts>,
        method: &RuledMethod,
        buffering: BodyBuffering,
    ) -> Self {
        Self {
            head: Box::new(head.clone()),
            response: response.map(|response| Box::new(response.clone())),
            method: method.clone(),
            held: HeldMessages::new(buffering.limit()),
            drawn: Drawn::default(),
            begun: false,
            ran: false,
            refused: None,
        }
    }

    fn refuse(&mut self, answer: Box<PolicyAnswer>) {
        self.held.refuse();
        self.refused = Some(answer);
    }

    /// Takes the next piece of the body. What comes after the end, or after a refusal, is dropped.
    pub fn push(&mut self, piece: &[u8]) {
        self.begun |= !piece.is_empty();
        self.held.push(piece);
    }

    /// Notes that the body has ended.
    pub fn end(&mut self) {
        self.begun = true;
        self.held.end();
    }

    /// Returns whether a piece of the body, or its end, has come: the call can't be sent again then.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Returns whether the end of the body has come, or nothing more is wanted of it.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.held.is_ended()
    }

    /// Runs the phase on the messages that have come and were not judged, one after the other, until one is denied.
    /// `policy` is the one that gave the stream. A second call without anything new gives nothing new.
    pub fn check(&mut self, policy: &Policy, exchange: &mut Exchange) -> CheckedMessages {
        let next = match self.refused.clone() {
            Some(answer) => MessageStep::Refuse(answer),
            None => self.run(policy, exchange),
        };
        CheckedMessages { pass: self.held.take_passed(), next }
    }

    /// Judges a body that is there as a whole, as its messages are judged on their way. Blocks the
    /// thread while a service is asked.
    pub fn whole(mut self, policy: &Policy, body: &[u8], exchange: &mut Exchange) -> Outcome {
        self.push(body);
        self.end();
        loop {
            match self.check(policy, exchange).next {
                MessageStep::More | MessageStep::End => return Outcome::Continue,
                MessageStep::Refuse(answer) => return Outcome::Respond(answer),
                MessageStep::Ask(question) => block_on(policy.answer_question(question.0, exchange)),
            }
        }
    }

    fn run(&mut self, policy: &Policy, exchange: &mut Exchange) -> MessageStep {
        let direction = if self.response.is_some() { Direction::Response } else { Direction::Request };
        // The other direction of the call has rules of its own.
        std::mem::swap(&mut exchange.effects.drawn, &mut self.drawn);
        let answer = self.judge_held(policy, exchange);
        std::mem::swap(&mut exchange.effects.drawn, &mut self.drawn);
        exchange.effects.edits.clear();
        exchange.keep_message_labels(direction);
        match answer {
            Err(question) => MessageStep::Ask(Box::new(LimitQuestion(*question))),
            Ok(None) if !self.held.is_ended() => MessageStep::More,
            Ok(answer) => {
                exchange.end_messages(direction);
                let outcome = match (answer, &self.response) {
                    (answer, None) => policy.conclude(&self.head, answer, exchange),
                    (answer, Some(_)) => exchange.outcome(answer),
                };
                let Outcome::Respond(answer) = outcome else { return MessageStep::End };
                self.refuse(answer.clone());
                MessageStep::Refuse(answer)
            }
        }
    }

    /// Runs the phase on each message that has come. Returns the answer of the policy, if it gives one.
    fn judge_held(
        &mut self,
        policy: &Policy,
        exchange: &mut Exchange,
    ) -> Result<Option<PolicyAnswer>, Box<PendingQuestion>> {
        let Self { head, response, method, held, ran, .. } = self;
        let (head, response) = (&**head, response.as_deref());
        let headers = response.map_or(&head.headers, |response| &response.headers);
        let refused = |refusal: &CallRefusal, exchange: &mut Exchange| match response {
            None => policy.refusal_of_call(head, refusal, exchange),
            Some(_) => refusal.answer_of_response(exchange.is_grpc),
        };
        let ended = held.is_ended();
        loop {
            let frame = match held.next(headers) {
                Ok(Some(message)) => {
                    let call = (&*method, Some(&*message.bytes));
                    match policy.judge(head, response, call, exchange)? {
                        Some(answer) => return Ok(Some(answer)),
                        None => message.frame,
                    }
                }
                // A stream of the client without messages is a call too; one of the server has nothing to be read.
                Ok(None) if ended && !*ran && response.is_none() => {
                    let answer = policy.judge(head, response, (&*method, None), exchange)?;
                    *ran = true;
                    return Ok(answer);
                }
                Ok(None) => return Ok(None),
                Err(refusal) => return Ok(Some(refused(&refusal, exchange))),
            };
            exchange.keep_message_labels(if response.is_some() { Direction::Response } else { Direction::Request });
            *ran = true;
            held.pass(frame);
        }
    }
}
