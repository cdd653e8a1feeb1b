//! What the limits of a policy have decided about one request, and what it holds until it is over.
//!
//! Invariant: a request is counted at most once by a limit, however often its phase runs. Test:
//! `runtime/adapters/policy/tests/policy/limits.rs::a_phase_that_waits_for_a_password_counts_once`.

use crate::limits::remote::{RemoteAnswer, RemoteQuestion, RemoteState, RemoteVerdict};
use crate::limits::state::{CLOCK, Hold, LimitState};
use celero_limits::{Decision, Time};
use http::{HeaderName, HeaderValue};
use smallvec::SmallVec;
use std::net::IpAddr;
use std::sync::Arc;

/// The limits that were asked for one request.
#[derive(Debug, Default)]
pub(crate) struct RequestLimits {
    /// The time that limits read, if the host gives it.
    pub(crate) time: Option<Time>,
    /// The address of the client, which keys need not read as text. `None`: it is not known, or the phase does not say.
    pub(crate) client: Option<IpAddr>,
    asked: SmallVec<[AskedLimit; 1]>,
    remote: Vec<AskedRemote>,
    /// What a service is to be asked before the phase runs again.
    pub(crate) pending: Option<PendingQuestion>,
    /// In cases: what services say, by the names of the limits.
    pub(crate) rehearsed: Option<Box<[(String, RemoteVerdict)]>>,
}

/// A remote limit that was asked.
#[derive(Debug)]
struct AskedRemote {
    state: Arc<RemoteState>,
    verdict: RemoteVerdict,
    tells_always: bool,
}

/// A question to a service, and whose it is.
#[derive(Debug)]
pub(crate) struct PendingQuestion {
    pub(crate) question: RemoteQuestion,
    pub(crate) state: Arc<RemoteState>,
    pub(crate) tells_always: bool,
    pub(crate) dry_run: bool,
}

/// A limit that was asked.
#[derive(Debug)]
pub(crate) struct AskedLimit {
    pub(crate) state: Arc<LimitState>,
    pub(crate) within: bool,
    /// The key or the cost has failed, and nothing was counted.
    pub(crate) failed: bool,
    pub(crate) decision: Option<Decision>,
    pub(crate) hold: Hold,
    /// `countWhen` decides about the cost when there is a response.
    pub(crate) counts_later: bool,
    /// What `countWhen` has said about a response that may still be dropped.
    pub(crate) verdict: Option<bool>,
    /// A rule `settle` may replace the cost.
    pub(crate) settled_by_rule: bool,
    /// All responses tell the client what is left.
    pub(crate) tells_always: bool,
}

impl RequestLimits {
    /// Returns the time of decisions.
    pub(crate) fn now(&self) -> Time {
        self.time.unwrap_or_else(|| CLOCK.now())
    }

    /// Returns what a limit has decided. A phase that waits for a password runs twice, and asks only once.
    pub(crate) fn decided(&self, state: &Arc<LimitState>) -> Option<&AskedLimit> {
        self.asked.iter().find(|asked| Arc::ptr_eq(&asked.state, state))
    }

    pub(crate) fn push(&mut self, asked: AskedLimit) {
        self.asked.push(asked);
    }

    /// Returns what is known about a remote limit.
    pub(crate) fn remote_verdict(&self, state: &Arc<RemoteState>) -> Option<&RemoteVerdict> {
        self.remote.iter().find(|asked| Arc::ptr_eq(&asked.state, state)).map(|asked| &asked.verdict)
    }

    /// Returns what a service says about a limit in a case; `None`: this is no case.
    pub(crate) fn rehearse(&self, limit: &str) -> Option<RemoteVerdict> {
        let said = self.rehearsed.as_ref()?.iter().find(|(name, _)| name == limit).map(|(_, verdict)| verdict.clone());
        Some(said.unwrap_or(RemoteVerdict::Answered(RemoteAnswer { is_within: true, ..RemoteAnswer::default() })))
    }

    /// Counts a verdict about a remote limit, and keeps it for the rest of the request. A second
    /// one about the same limit has no effect.
    pub(crate) fn record(
        &mut self,
        state: Arc<RemoteState>,
        verdict: RemoteVerdict,
        tells_always: bool,
        dry_run: bool,
    ) {
        if self.remote_verdict(&state).is_none() {
            state.count(&verdict, dry_run);
            self.remote.push(AskedRemote { state, verdict, tells_always });
        }
    }

    /// Returns the limits whose cost `countWhen` has not decided about.
    pub(crate) fn counting_later(&mut self) -> impl Iterator<Item = &mut AskedLimit> {
        self.asked.iter_mut().filter(|asked| asked.counts_later && asked.verdict.is_none())
    }

    /// Counts or releases the costs that `countWhen` has decided about.
    pub(crate) fn apply_verdicts(&mut self) {
        if self.asked.iter().all(|asked| asked.verdict.is_none()) {
            return;
        }
        let now = self.now();
        for asked in self.asked.iter_mut() {
            let Some(counts) = asked.verdict.take() else { continue };
            asked.counts_later = false;
            if counts { asked.count() } else { asked.settle(0, now) }
        }
    }

    /// Forgets what `countWhen` has said, unless that was applied.
    pub(crate) fn forget_verdicts(&mut self) {
        self.asked.iter_mut().for_each(|asked| asked.verdict = None);
    }

    /// Replaces the reserved cost of a limit with the real one. Does nothing if the request did not ask the limit.
    pub(crate) fn settle(&mut self, name: &str, cost: u64) {
        let now = self.now();
        let is_meant = |asked: &&mut AskedLimit| *asked.state.name == *name && asked.verdict != Some(false);
        for asked in self.asked.iter_mut().filter(is_meant) {
            asked.settle(cost, now);
        }
    }

    /// Calls `add` with the headers of the limits that all responses tell.
    pub(crate) fn tell(&self, mut add: impl FnMut(HeaderName, HeaderValue)) {
        for asked in self.asked.iter().filter(|asked| asked.tells_always) {
            if let Some(decision) = &asked.decision {
                asked.state.report(decision).headers(&mut add);
            }
        }
        for AskedRemote { state, verdict, .. } in self.remote.iter().filter(|asked| asked.tells_always) {
            if let RemoteVerdict::Answered(answer) = verdict {
                answer.report(&state.name).headers(&mut add);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.time = None;
        self.client = None;
        self.pending = None;
        self.rehearsed = None;
        self.remote.clear();
        if !self.asked.is_empty() {
            self.asked.clear();
        }
    }
}

impl AskedLimit {
    /// Counts the reserved cost, unless a rule may still replace it.
    pub(crate) fn count(&mut self) {
        if !self.settled_by_rule {
            // A reservation that is dropped counts.
            drop(std::mem::take(&mut self.hold));
        }
    }

    /// Counts the real cost instead of the reserved one.
    pub(crate) fn settle(&mut self, cost: u64, now: Time) {
        if let Hold::Cost(reservation) = std::mem::take(&mut self.hold) {
            reservation.settle(cost, now);
        }
    }
}
