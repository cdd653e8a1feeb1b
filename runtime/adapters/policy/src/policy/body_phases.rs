//! The phases that read bodies: `requestBody` and `responseBody`.

use crate::auth::block_on;
use crate::bodies::settings::BodyView;
use crate::bodies::unchangeable::Unchangeable;
use crate::grpc::call::{BodyRead, CallRefusal, RuledBody, accepted_codings, answered, called, messages};
use crate::grpc::methods::{Malformed, PathOf};
use crate::host::body_edit::names_of_body;
use crate::host::edits::{Edit, Edits};
use crate::host::outcome::{Decision, Outcome, PolicyAnswer};
use crate::limits::request::PendingQuestion;
use crate::phases::context::{BodyData, CommonData, ResponseBodyData, ResponseHead};
use crate::phases::exchange::Exchange;
use crate::phases::phase::NotReady;
use crate::policy::Policy;
use crate::rules::body_change::{Message, MessageBody};
use celero::http::Request;
use celero::values::Arena;
use http::{HeaderMap, Method, StatusCode, header, request, response};

/// Memory for what stands for a message of `google.protobuf`, in bytes.
const MESSAGE_ARENA: usize = 16 << 20;

impl Policy {
    /// Runs the phase `requestBody`, like [`request_body_async`](Self::request_body_async), but
    /// blocks the thread while a service is asked. For hosts that are not asynchronous. It does not
    /// wait for a delay.
    pub fn request_body(&self, head: &request::Parts, body: &[u8], exchange: &mut Exchange) -> Decision {
        let body = match self.body_for_rules(head, body, exchange) {
            Ok(body) => body,
            Err(outcome) => return outcome.into(),
        };
        let mut answer = None;
        for read in body.reads() {
            answer = match self.try_request_body(head, read, exchange) {
                Ok(answer) => answer,
                Err(question) => block_on(self.finish_request_body(question, head, read, exchange)),
            };
            if answer.is_some() {
                break;
            }
        }
        self.end_request_body(head, answer, exchange)
    }

    /// Runs the phase `requestBody`. Call it when [`request_buffering`](Self::request_buffering) is
    /// ready with what was buffered. A body with a content coding is decoded for the rules if the
    /// policy says so, and refused otherwise. So is a call of gRPC whose messages rules read, if its
    /// body is no sequence of messages; the rules run for each message. If the edits have a
    /// [`body`](crate::Edits::body), it is sent instead of the one that was buffered.
    ///
    /// It returns at once, unless a rule asks a service that counts limits of many machines
    /// ([`set_remote_limits`](Self::set_remote_limits)): then it waits for the answer, and needs no
    /// particular runtime beyond the service's.
    pub async fn request_body_async(&self, head: &request::Parts, body: &[u8], exchange: &mut Exchange) -> Decision {
        let body = match self.body_for_rules(head, body, exchange) {
            Ok(body) => body,
            Err(outcome) => return outcome.into(),
        };
        let mut answer = None;
        for read in body.reads() {
            answer = match self.try_request_body(head, read, exchange) {
                Ok(answer) => answer,
                Err(question) => self.finish_request_body(question, head, read, exchange).await,
            };
            if answer.is_some() {
                break;
            }
        }
        self.end_request_body(head, answer, exchange)
    }

    /// Ends the phase, after all messages: each was read with the labels that were there when the phase began.
    fn end_request_body(
        &self,
        head: &request::Parts,
        answer: Option<PolicyAnswer>,
        exchange: &mut Exchange,
    ) -> Decision {
        exchange.end_phase();
        self.decide(head, answer, exchange)
    }

    /// Returns the body as the rules of `requestBody` read it, or the outcome of a phase that does not run.
    fn body_for_rules<'s, 'b>(
        &'s self,
        head: &request::Parts,
        body: &'b [u8],
        exchange: &mut Exchange,
    ) -> Result<RuledBody<'s, 'b>, Outcome> {
        exchange.effects.edits.clear();
        exchange.effects.drawn.clear();
        let [is_unread, _] = exchange.is_unread;
        let body = if is_unread { &[] } else { body };
        let method = match called(&self.methods.of_requests, head) {
            Ok(method) => method,
            Err(refusal) => return Err(self.refuse_call(head, &refusal, exchange)),
        };
        let limit = self.body_settings.buffering().limit();
        // The body of a call is not coded.
        let call = method.map(|method| messages(method, &head.headers, body, limit).map(|messages| (method, messages)));
        let call = call.transpose().map_err(|refusal| self.refuse_call(head, &refusal, exchange))?;
        match self.body_settings.view(&head.headers, body) {
            BodyView::Bytes(body) => {
                RuledBody::of_request(body, call).map_err(|refusal| self.refuse_call(head, &refusal, exchange))
            }
            BodyView::Skip => Err(Outcome::Continue),
            BodyView::Answer(answer) => Err(self.conclude(head, Some(answer), exchange)),
        }
    }

    /// Returns the outcome of a call whose messages rules can't read.
    fn refuse_call(&self, head: &request::Parts, refusal: &CallRefusal, exchange: &mut Exchange) -> Outcome {
        let answer = self.refusal_of_call(head, refusal, exchange);
        self.conclude(head, Some(answer), exchange)
    }

    /// Returns the answer to it. `countWhen` reads its status of HTTP, as that of other answers.
    #[cold]
    pub(super) fn refusal_of_call(
        &self,
        head: &request::Parts,
        refusal: &CallRefusal,
        exchange: &mut Exchange,
    ) -> PolicyAnswer {
        exchange.effects.edits.clear();
        let answer = refusal.answer(exchange.is_grpc);
        self.count_response(head, refusal.status(), &answer.headers, exchange);
        answer
    }

    #[cold]
    async fn finish_request_body(
        &self,
        mut question: Box<PendingQuestion>,
        head: &request::Parts,
        read: BodyRead<'_>,
        exchange: &mut Exchange,
    ) -> Option<PolicyAnswer> {
        loop {
            self.answer_question(*question, exchange).await;
            match self.try_request_body(head, read, exchange) {
                Ok(answer) => return answer,
                Err(next) => question = next,
            }
        }
    }

    /// Runs the phase `requestBody` on a body as the rules read it. Returns the answer of the policy, if it gives one.
    ///
    /// # Errors
    /// Returns what a service is to be asked first. The phase had no effect then.
    pub(super) fn try_request_body(
        &self,
        head: &request::Parts,
        BodyRead { body, call }: BodyRead<'_>,
        exchange: &mut Exchange,
    ) -> Result<Option<PolicyAnswer>, Box<PendingQuestion>> {
        let arena = Arena::new(MESSAGE_ARENA);
        let message = match self.methods.of_requests.value(call, &arena) {
            Ok(message) => message,
            Err(Malformed) => return Ok(Some(self.refusal_of_call(head, &CallRefusal::malformed(), exchange))),
        };
        let (started, origin) = (exchange.start_time(), exchange.source());
        let fixed = fixed_request(head, body, exchange.is_grpc);
        let Exchange { findings, attributes, effects, local, tls, arrival, .. } = exchange;
        effects.edits.clear();
        effects.limits.client = origin.address.map(|client| client.ip());
        // Earlier phases may have set fields of the log entry, which stay if this one runs again.
        let asks_services = self.body.rules.iter().any(|rule| rule.remote.is_some());
        let fields = asks_services.then(|| effects.fields.clone());
        // An earlier message may have delayed the request, and set labels.
        let (delay, labels) = (effects.delay, effects.labels.len());
        let proofs = self.auth.lazy(&head.headers, findings);
        let prefix = self.body_settings.buffering().is_prefix();
        let request = Request::from(arrival.head(head));
        let context = BodyData {
            request: if prefix { request } else { request.with_body(body) },
            body_prefix: prefix.then_some(body),
            grpc_method: call.map_or("", |(method, _)| &method.name),
            message,
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        let changeable = MessageBody { bytes: body, most: self.body_settings.buffering().limit(), fixed };
        let message = Message { headers: &head.headers, body: Some(changeable) };
        let answer = match self.body.run_or_wait(&context, message, effects, None, || true) {
            Ok(answer) => answer,
            Err(NotReady) => {
                let mut kept = std::mem::take(&mut effects.labels);
                kept.truncate(labels);
                effects.discard();
                effects.labels = kept;
                effects.fields = fields.unwrap_or_default();
                effects.delay = delay;
                match effects.limits.pending.take() {
                    Some(question) => return Err(Box::new(question)),
                    // Nothing else is waited for. Whatever happens, the phase ends closed.
                    None => Some(self.body.stopped(0)),
                }
            }
        };
        let answer = answer.or_else(|| exchange.find_target(head, self.body.error_status));
        Ok(answer.or_else(|| self.refuse_unread_method(head, exchange)))
    }

    /// Returns the answer to a request that a rule of the phase sends to a method whose messages rules read: they have
    /// not read them.
    fn refuse_unread_method(&self, head: &request::Parts, exchange: &mut Exchange) -> Option<PolicyAnswer> {
        let edits = &mut exchange.effects.edits;
        let path = edits.uri()?.path();
        if path == head.uri.path() || matches!(self.methods.of_requests.of_path(path), PathOf::None) {
            return None;
        }
        let rule = edits.target.rule()?;
        edits.clear();
        Some(PolicyAnswer::empty(self.body.error_status, &rule))
    }

    /// Decides about a request whose body is too large. Call it instead of [`request_body`](Self::request_body). After
    /// [`Outcome::Continue`] the request is forwarded without running the phase.
    pub fn request_body_too_large(&self, head: &request::Parts, exchange: &mut Exchange) -> Decision {
        exchange.effects.edits.clear();
        self.conclude(head, self.body_settings.too_large(), exchange).into()
    }

    /// Runs the phase `responseBody`. Call it when [`response_buffering`](Self::response_buffering)
    /// is ready with what was buffered, before the head of the response is sent on. Its edits
    /// belong to that head. If they have a [`body`](crate::Edits::body), it is sent instead of the
    /// one that was buffered, and the trailers of the response are dropped.
    pub fn response_body(
        &self,
        head: &request::Parts,
        response: &response::Parts,
        body: &[u8],
        exchange: &mut Exchange,
    ) -> Outcome {
        exchange.effects.limits.apply_verdicts();
        exchange.effects.edits.clear();
        exchange.effects.drawn.clear();
        let [_, is_unread] = exchange.is_unread;
        let body = if is_unread { &[] } else { body };
        let limit = self.response_settings.buffering().limit();
        let call = answered(&self.methods.of_responses, head, response).and_then(|method| {
            method.map(|method| Ok((method, messages(method, &response.headers, body, limit)?))).transpose()
        });
        let call = match call {
            Ok(call) => call,
            Err(refusal) => return exchange.outcome(Some(refusal.answer_of_response(exchange.is_grpc))),
        };
        let body = match self.response_settings.view(&response.headers, body) {
            BodyView::Bytes(body) => RuledBody::of_response(body, call),
            BodyView::Skip => return Outcome::Continue,
            BodyView::Answer(answer) => return exchange.outcome(Some(answer)),
        };
        let mut reads = body.reads();
        let answer = reads.find_map(|read| self.run_response_body(head, response, read, exchange));
        exchange.end_phase();
        exchange.outcome(answer)
    }

    /// Runs the phase `responseBody` on a body as the rules read it. Returns the answer of the policy, if it gives one.
    pub(super) fn run_response_body(
        &self,
        head: &request::Parts,
        response: &response::Parts,
        BodyRead { body, call }: BodyRead<'_>,
        exchange: &mut Exchange,
    ) -> Option<PolicyAnswer> {
        let arena = Arena::new(MESSAGE_ARENA);
        exchange.effects.edits.clear();
        let message = match self.methods.of_responses.value(call, &arena) {
            Ok(message) => message,
            Err(Malformed) => return Some(CallRefusal::malformed().answer_of_response(exchange.is_grpc)),
        };
        let (started, origin) = (exchange.start_time(), exchange.source());
        let fixed = fixed_response(response, exchange.is_grpc);
        let Exchange { findings, attributes, effects, local, tls, arrival, .. } = exchange;
        let proofs = self.auth.lazy(&head.headers, findings);
        let prefix = self.response_settings.buffering().is_prefix();
        let context = ResponseBodyData {
            request: arrival.head(head),
            response: ResponseHead { code: Some(response.status), headers: &response.headers },
            body: (!prefix).then_some(body),
            body_prefix: prefix.then_some(body),
            grpc_method: call.map_or("", |(method, _)| &method.name),
            message,
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        let changeable = MessageBody { bytes: body, most: self.response_settings.buffering().limit(), fixed };
        let message = Message { headers: &response.headers, body: Some(changeable) };
        self.response_body.run(&context, message, effects)
    }

    /// Decides about a response whose body is too large. Call it instead of
    /// [`response_body`](Self::response_body). After [`Outcome::Continue`] the response is
    /// forwarded without running the phase.
    pub fn response_body_too_large(&self, exchange: &mut Exchange) -> Outcome {
        exchange.effects.limits.apply_verdicts();
        exchange.effects.edits.clear();
        exchange.outcome(self.response_settings.too_large())
    }

    /// Adds the edits of a response to HEAD without which its head could describe another body than
    /// the response to GET has, which a rule may change (RFC 9110, section 9.3.2).
    pub(crate) fn forget_body_of_head(&self, head: &request::Parts, edits: &mut Edits) {
        if head.method != Method::HEAD || self.response_body.rules.iter().all(|rule| rule.body.is_none()) {
            return;
        }
        for name in names_of_body(true).chain([header::CONTENT_LENGTH]) {
            edits.push(Edit::Remove { name });
        }
    }

    /// Adds the edits of a request without which rules could not read the response's body: the
    /// server must send all of it, because a client could ask for its parts one by one, in a coding
    /// that can be undone.
    pub(crate) fn ask_for_whole_response(&self, head: &request::Parts, exchange: &mut Exchange) {
        if self.response_body.rules.is_empty() {
            return;
        }
        let edits = &mut exchange.effects.edits;
        for name in [header::RANGE, header::IF_RANGE] {
            if head.headers.contains_key(&name) {
                edits.push(Edit::Remove { name });
            }
        }
        if let Some(value) = self.response_settings.accept_encoding(&head.headers) {
            edits.push(Edit::Set { name: header::ACCEPT_ENCODING, value });
        }
        if let PathOf::Method(_) = self.methods.of_responses.of_path(head.uri.path())
            && let Some(edit) = accepted_codings(&head.headers)
        {
            edits.push(edit);
        }
    }
}

/// Returns why the body of a request must stay as it is.
fn fixed_request(head: &request::Parts, body: &[u8], is_grpc: bool) -> Option<Unchangeable> {
    // Content of other methods has no meaning, and some servers read it as the next request (RFC 9110, section 9.3.1).
    let takes_content =
        [Method::POST, Method::PUT, Method::PATCH].contains(&head.method) || head.method.as_str() == "QUERY";
    if is_grpc {
        Some(Unchangeable::Grpc)
    } else if is_partial(&head.headers) {
        Some(Unchangeable::Partial)
    } else {
        (body.is_empty() && !takes_content).then_some(Unchangeable::NoContent)
    }
}

/// Returns why the body of a response must stay as it is.
fn fixed_response(response: &response::Parts, is_grpc: bool) -> Option<Unchangeable> {
    let has_fixed_body = [StatusCode::RESET_CONTENT, StatusCode::PARTIAL_CONTENT].contains(&response.status);
    if is_grpc {
        Some(Unchangeable::Grpc)
    } else {
        (has_fixed_body || is_partial(&response.headers)).then_some(Unchangeable::Partial)
    }
}

/// Returns whether a message says that its body is a part of a representation (RFC 9110, section
/// 14.4; of a request: section 14.5).
fn is_partial(headers: &HeaderMap) -> bool {
    headers.contains_key(header::CONTENT_RANGE)
}
