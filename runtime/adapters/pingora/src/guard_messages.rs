//! The filters of a [`Guard`] that judge the messages of a call one at a time.
//!
//! A denial ends the call in both directions: Pingora resets the request to the server because a
//! filter, or the session with the client, fails; [`Guard::fail_to_proxy`] sends the answer, as
//! trailers if the head of a response was sent.

use crate::guard::Guard;
use crate::messages::append;
use crate::write_answer::write_answer;
use bytes::Bytes;
use celero_policy::{CheckedMessages, Exchange, MessageStep};
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

impl Guard {
    /// Says that the host calls [`request_body_filter`](Self::request_body_filter),
    /// [`response_body_filter`](Self::response_body_filter) and
    /// [`response_trailer_filter`](Self::response_trailer_filter). Then the messages of streams of
    /// gRPC are judged one at a time, where the policy allows it. Default: streams are buffered
    /// whole. A host that says so and does not call them forwards messages that no rule has read.
    #[must_use]
    pub fn with_message_streams(mut self) -> Self {
        self.messages.enabled = true;
        self
    }

    /// Begins to judge the messages of a client. `None`: they are not judged one at a time. Returns
    /// whether the policy has answered: the call has no message, and rules deny that.
    pub(crate) async fn begin_request_messages(&mut self, session: &mut Session) -> Result<Option<bool>> {
        if !self.messages.enabled {
            return Ok(None);
        }
        self.messages.request = self.policy.request_messages(session.req_header(), &mut self.exchange);
        if self.messages.request.is_none() {
            return Ok(None);
        }
        // A rule may deny the call whatever its messages are; Pingora has no body to filter if there are none.
        let is_empty = session.is_body_empty();
        let mut nothing = Some(Bytes::new()).filter(|_| !is_empty);
        if let Err(error) = self.request_body_filter(&mut nothing, is_empty).await {
            write_answer(session, self.answer.as_deref().ok_or(error)?).await?;
            return Ok(Some(true));
        }
        Ok(Some(false))
    }

    /// Judges a piece of the body of a request, and leaves in `body` what may be forwarded: at most
    /// one message is held back. Does nothing for a body that is no stream of messages. Call it
    /// from `request_body_filter`, before anything else reads the piece.
    ///
    /// # Errors
    /// Returns an error if the policy refuses the call. Return it from the filter, and send the
    /// answer in [`fail_to_proxy`](Self::fail_to_proxy).
    pub async fn request_body_filter(&mut self, body: &mut Option<Bytes>, end: bool) -> Result<()> {
        let Self { messages, exchange, lent, policy, .. } = self;
        let Some(stream) = &mut messages.request else { return Ok(()) };
        let end = end || body.is_none();
        body.take().iter().for_each(|piece| stream.push(piece));
        if end {
            stream.end();
        }
        let mut passed = Bytes::new();
        loop {
            let mut with = |exchange: &mut Exchange| stream.check(policy, exchange);
            let CheckedMessages { pass, next } = match lent {
                Some(lent) => with(&mut lent.lock()),
                None => with(exchange),
            };
            passed = append(passed, pass);
            match next {
                MessageStep::More | MessageStep::End => break,
                MessageStep::Ask(question) => {
                    let reply = question.ask(policy).await;
                    match lent {
                        Some(lent) => lent.lock().note_limit(reply),
                        None => exchange.note_limit(reply),
                    }
                }
                MessageStep::Refuse(answer) => {
                    messages.refused.set();
                    let status = answer.status.as_u16();
                    self.answer = Some(answer);
                    let error = Error::explain(ErrorType::HTTPStatus(status), "the policy refuses a message");
                    // Pingora goes on after other errors of this filter.
                    return Err(error.into_down());
                }
            }
        }
        *body = (!end || !passed.is_empty()).then_some(passed);
        Ok(())
    }

    /// Judges a piece of the body of a response, as [`request_body_filter`](Self::request_body_filter). Call it from
    /// `response_body_filter`.
    pub fn response_body_filter(&mut self, body: &mut Option<Bytes>, end: bool) {
        let piece = body.take();
        if self.messages.refused.is_set() {
            return;
        }
        self.messages.response_ended |= end;
        let Some(stream) = &mut self.messages.response else {
            *body = piece;
            return;
        };
        piece.iter().for_each(|piece| stream.push(piece));
        if end {
            stream.end();
        }
        *body = Some(self.check_response()).filter(|pass| !pass.is_empty());
    }

    /// Notes that the response ends, with trailers.
    pub(crate) fn end_response_messages(&mut self) {
        if self.messages.refused.is_set() {
            return;
        }
        self.messages.response_ended = true;
        if let Some(stream) = &mut self.messages.response {
            stream.end();
            self.check_response();
        }
    }

    fn check_response(&mut self) -> Bytes {
        let Self { messages, exchange, policy, .. } = self;
        let Some(stream) = &mut messages.response else { return Bytes::new() };
        // A response that is not held back leaves the exchange here.
        let CheckedMessages { pass, next } = stream.check(policy, exchange);
        if let MessageStep::Refuse(answer) = next {
            messages.refused.set();
            messages.response_ended = false;
            self.answer = Some(answer);
        }
        pass
    }
}
