//! Which bodies the phases `requestBody` and `responseBody` need: their rules are tried before the body comes.

use crate::bodies::buffering::{BodyBuffering, BodyNeed};
use crate::bodies::settings::BodySettings;
use crate::grpc::call::{answered, called};
use crate::grpc::methods::RuledMethods;
use crate::phases::context::{BodyData, CommonData, ResponseBodyData, ResponseHead};
use crate::phases::early::OneByOne;
use crate::phases::exchange::Exchange;
use crate::phases::phase::PhaseRules;
use crate::policy::Policy;
use celero::Context;
use celero::http::Request;
use http::{Method, header, request, response};

/// Describes how the bodies of a phase are buffered.
fn notes<S: Context + 'static>(rules: &PhaseRules<S>, settings: &BodySettings, methods: &RuledMethods) -> Vec<String> {
    if rules.rules.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![settings.describe(rules.needs.is_some())];
    for method in methods.streams().iter().filter(|_| settings.too_large().is_some()) {
        let unless = match rules.judges_one_by_one(&method.name) {
            OneByOne::Always => "",
            OneByOne::UnlessOthersMatch => ", unless a rule without `method` may match the call",
            OneByOne::Never => continue,
        };
        let limit = settings.buffering().limit();
        notes.push(format!("messages of {} are checked one at a time, up to {limit} bytes each{unless}", method.name));
    }
    notes
}

impl Policy {
    /// Returns how much of a request's body to buffer for [`request_body`](Self::request_body).
    /// `None`: don't buffer it, and don't run the phase. Call it once, when the edits of the phase
    /// `request` have been applied: labels and variables of the host are as the phase
    /// `requestBody` shall read them.
    ///
    /// The phase needs no body if it has no rules, or if the head says of each of them that it does
    /// not match, whatever the body is. That is the phase then: it has no effect, and is counted.
    /// If no rule that may match reads the body, nothing of it is buffered: the answer is
    /// [`Ready`](crate::BufferState::Ready) at once.
    #[must_use]
    pub fn request_buffering(&self, head: &request::Parts, exchange: &mut Exchange) -> Option<BodyBuffering> {
        if self.body.rules.is_empty() {
            return None;
        }
        // What is no call of a method that rules have, and may be taken for one, is refused with its body.
        if !matches!(called(&self.methods.of_requests, head), Ok(None)) {
            return Some(self.body_settings.buffering());
        }
        let (started, origin) = (exchange.start_time(), exchange.source());
        let Exchange { findings, attributes, effects, local, tls, arrival, .. } = exchange;
        let proofs = self.auth.lazy(&head.headers, findings);
        let context = BodyData {
            request: Request::from(arrival.head(head)),
            body_prefix: None,
            grpc_method: "",
            message: None,
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        let need = self.body.body_need(&context, effects.watch.as_deref_mut());
        let [of_request, _] = &mut exchange.is_unread;
        *of_request = need == BodyNeed::NoBody;
        self.body_settings.buffering().if_needed(need)
    }

    /// Returns how much of a response's body to buffer for [`response_body`](Self::response_body)
    /// before the response is sent on. `None`: don't buffer it, and don't run the phase. Call it
    /// once, when the edits of the phase `response` have been applied.
    ///
    /// The phase needs no body if it has no rules, if the heads say of each of them that it does not
    /// match, whatever the body is, or if the response has no body (RFC 9110, section 6.4.1), or is
    /// a tunnel. If no rule that may match reads the body, nothing of it is buffered.
    ///
    /// A stream of events (`text/event-stream`) has no end and is never held back for long: a phase
    /// that reads a prefix runs on what arrives first, and for any other phase the body is too
    /// large at once.
    #[must_use]
    pub fn response_buffering(
        &self,
        head: &request::Parts,
        response: &response::Parts,
        exchange: &mut Exchange,
    ) -> Option<BodyBuffering> {
        if !self.may_read_response(head, response) {
            return None;
        }
        let (started, origin) = (exchange.start_time(), exchange.source());
        let Exchange { findings, attributes, effects, local, tls, arrival, .. } = exchange;
        let proofs = self.auth.lazy(&head.headers, findings);
        let context = ResponseBodyData {
            request: arrival.head(head),
            response: ResponseHead { code: Some(response.status), headers: &response.headers },
            body: None,
            body_prefix: None,
            grpc_method: "",
            message: None,
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        let is_call = !matches!(answered(&self.methods.of_responses, head, response), Ok(None));
        let need = match is_call {
            true => BodyNeed::Body,
            false => self.response_body.body_need(&context, effects.watch.as_deref_mut()),
        };
        let [_, of_response] = &mut exchange.is_unread;
        *of_response = need == BodyNeed::NoBody;
        let Some(buffering) = self.response_settings.buffering().if_needed(need) else {
            exchange.effects.limits.apply_verdicts();
            return None;
        };
        let kind = response.headers.get(header::CONTENT_TYPE).map(|kind| kind.as_bytes()).unwrap_or_default();
        let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        Some(if kind.eq_ignore_ascii_case(b"text/event-stream") { buffering.of_stream() } else { buffering })
    }

    /// Describes how bodies are buffered: a line for each phase that reads them, and for each stream of messages that
    /// is not buffered.
    pub fn buffering_notes(&self) -> impl Iterator<Item = String> {
        let request = notes(&self.body, &self.body_settings, &self.methods.of_requests);
        request.into_iter().chain(notes(&self.response_body, &self.response_settings, &self.methods.of_responses))
    }

    /// Returns whether the phase `responseBody` may concern a response.
    pub(crate) fn may_read_response(&self, head: &request::Parts, response: &response::Parts) -> bool {
        let bodiless = matches!(response.status.as_u16(), 100..=199 | 204 | 304) || head.method == Method::HEAD;
        let tunnel = head.method == Method::CONNECT && response.status.is_success();
        !(self.response_body.rules.is_empty() || bodiless || tunnel)
    }
}
