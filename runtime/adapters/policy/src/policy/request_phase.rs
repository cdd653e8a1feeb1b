//! The phase `request`, which may wait for verifications of credentials and for services that count limits.

use crate::auth::{Busy, Verification, block_on};
use crate::host::expectation;
use crate::host::grpc::is_call;
use crate::host::outcome::{Decision, Outcome, PolicyAnswer};
use crate::limits::remote::{RemoteQuestion, RemoteVerdict};
use crate::limits::request::PendingQuestion;
use crate::phases::context::{CommonData, RequestData};
use crate::phases::exchange::Exchange;
use crate::phases::phase::NotReady;
use crate::policy::Policy;
use crate::rules::body_change::Message;
use celero_canonical::Head;
use http::request;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What the outcome of the phase depends on.
enum Pending {
    Verification(Verification),
    Question(Box<PendingQuestion>),
}

impl Policy {
    /// Makes a request canonical in place and runs the phase `request`, like
    /// [`request_async`](Self::request_async), but blocks the thread while a verification or a
    /// service is pending. For hosts that are not asynchronous. It does not wait for a delay.
    pub fn request(&self, head: &mut impl Head, exchange: &mut Exchange) -> Decision {
        self.prefetch_limits(exchange);
        if let Some(refused) = self.admit(head, exchange) {
            return refused.into();
        }
        // Usually nothing is to be waited for, and then nothing is prepared for it.
        match self.try_request(head.parts(), exchange) {
            Ok(decision) => decision,
            Err(pending) => block_on(self.finish_request(pending, head.parts(), exchange)),
        }
    }

    /// Makes a request canonical in place and runs the phase `request`. Call it when the head of a
    /// request has arrived, before anything else reads it. A request without a canonical form is
    /// answered with 400; [`Exchange::refusal`] says why. A request that expects anything but
    /// `100-continue` is answered with 417, and one without the values of the variables for which the
    /// policy was loaded ([`Exchange::set_variables`]) with 500. The head of a request that is canonical already costs
    /// no allocation for this.
    ///
    /// It returns at once, unless the outcome depends on credentials whose verification takes long
    /// (a password that was not verified in the last minutes): then it waits for a thread of the
    /// policy. If too many verifications wait already, the answer is 503 with `retry-after`, and
    /// its rule is called `auth.busy`. It also waits for the services that count limits of many
    /// machines ([`set_remote_limits`](Self::set_remote_limits)). The future needs no particular
    /// runtime beyond theirs. Dropping it gives up the verification.
    pub async fn request_async<H: Head + Send>(&self, head: &mut H, exchange: &mut Exchange) -> Decision {
        self.prefetch_limits(exchange);
        if let Some(refused) = self.admit(head, exchange) {
            return refused.into();
        }
        let head = head.parts();
        match self.try_request(head, exchange) {
            Ok(decision) => decision,
            Err(pending) => self.finish_request(pending, head, exchange).await,
        }
    }

    /// Makes a request canonical, or refuses it, also one with an expectation that nobody can meet,
    /// or without the values of the host's variables.
    fn admit(&self, head: &mut impl Head, exchange: &mut Exchange) -> Option<Outcome> {
        exchange.effects.edits.clear();
        exchange.effects.drawn.clear();
        exchange.effects.delay = Duration::ZERO;
        exchange.delayed = Duration::ZERO;
        exchange.is_grpc = is_call(head.parts());
        exchange.started.get_or_insert_with(SystemTime::now);
        let refused = self.normalization.admit(head, exchange).or_else(|| expectation::refusal(&head.parts().headers));
        let refused = refused.or_else(|| self.without_variables(exchange));
        if self.auth.decide_peer(head, exchange.peer) {
            // The peer ends the TLS of its clients: its own connection is none of theirs.
            exchange.tls = None;
        }
        refused.map(|refused| exchange.outcome(Some(refused)))
    }

    #[cold]
    async fn finish_request(&self, mut pending: Pending, head: &request::Parts, exchange: &mut Exchange) -> Decision {
        loop {
            match pending {
                Pending::Verification(verification) => verification.finish(&exchange.findings).await,
                Pending::Question(asked) => self.answer_question(*asked, exchange).await,
            }
            match self.try_request(head, exchange) {
                Ok(decision) => return decision,
                Err(next) => pending = next,
            }
        }
    }

    /// Runs the phase `request` on a canonical head.
    ///
    /// # Errors
    /// Returns what the outcome depends on. The phase had no effect then.
    fn try_request(&self, head: &request::Parts, exchange: &mut Exchange) -> Result<Decision, Pending> {
        let (started, origin) = (exchange.start_time(), exchange.source());
        let Exchange { findings, background, attributes, effects, peer, local, tls, arrival, certificate, .. } =
            exchange;
        effects.edits.clear();
        effects.limits.client = origin.address.map(|client| client.ip());
        let shown = certificate.as_ref().or_else(|| tls.as_ref()?.certificate());
        self.auth.client_cert(&head.headers, *peer, shown, findings);
        let proofs = self.auth.lazy(&head.headers, findings).waiting();
        let context = RequestData {
            request: arrival.head(head),
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        // Later phases may see other headers, so what they read of them is verified now.
        let ready = || self.late.is_none() || proofs.verify(self.late).is_none();
        match self.request.run_or_wait(&context, Message::head(&head.headers), effects, Some(&proofs), ready) {
            Ok(answer) => {
                if answer.is_none() && !self.logged.is_none() {
                    let slow = proofs.verify(self.logged);
                    *background = self.auth.start(slow, &head.headers, effects.limits.client).unwrap_or_default();
                }
                exchange.end_phase();
                let answer = answer.or_else(|| exchange.find_target(head, self.request.error_status));
                if answer.is_none() {
                    self.ask_for_whole_response(head, exchange);
                }
                Ok(self.decide(head, answer, exchange))
            }
            Err(NotReady) => {
                effects.discard();
                if let Some(question) = effects.limits.pending.take() {
                    return Err(Pending::Question(Box::new(question)));
                }
                match self.auth.start(proofs.slow(), &head.headers, effects.limits.client) {
                    Ok(verification) => Err(Pending::Verification(verification)),
                    Err(Busy) => {
                        let busy = PolicyAnswer::try_again(&Arc::from("auth.busy"));
                        Ok(self.conclude(head, Some(busy), exchange).into())
                    }
                }
            }
        }
    }

    /// Asks the service that counts a limit, and keeps what it says for the rest of the request.
    pub(crate) async fn answer_question(&self, asked: PendingQuestion, exchange: &mut Exchange) {
        let PendingQuestion { question, state, tells_always, dry_run } = asked;
        let verdict = match exchange.effects.limits.rehearse(&state.name) {
            Some(verdict) => verdict,
            None => self.ask_service(question).await,
        };
        exchange.effects.limits.record(state, verdict, tells_always, dry_run);
    }

    /// Asks the service that counts a limit.
    pub(crate) async fn ask_service(&self, question: RemoteQuestion) -> RemoteVerdict {
        let Some(service) = &self.remote_limits else { return RemoteVerdict::Unavailable };
        service.ask(question).await.map_or(RemoteVerdict::Unavailable, RemoteVerdict::Answered)
    }
}
