//! Delays of requests: how long a host waits before it does what a phase has decided, and how many
//! requests wait at a time.
//!
//! Invariant: this crate does not wait: a delay is a part of the `Decision`. A `Delay` holds one of the policy's places
//! until it is dropped. Test:
//! `runtime/adapters/policy/src/host/delay.rs::permits_are_free_again_when_delays_are_dropped`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a host waits before it does what [`Decision::outcome`](crate::Decision::outcome) says.
///
/// It has one of the policy's permits for requests that wait, until it is dropped. So wait for
/// [`time`](Self::time), and drop it when the time is over, the client is gone, or the host ends.
#[derive(Debug)]
#[must_use = "the request is not delayed unless the host waits"]
pub struct Delay {
    time: Duration,
    _permit: DelayPermit,
}

impl Delay {
    /// Returns how long to wait.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.time
    }
}

/// The delays of a policy, for operators.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DelayInfo {
    /// How many requests wait now.
    pub waiting: usize,
    /// How many may wait at a time.
    pub limit: usize,
    /// How many requests were delayed.
    pub delayed: u64,
    /// How many were not delayed because as many waited as may: they were answered, or passed, as the policy says.
    pub rejected: u64,
}

/// What the section `delays` says, and who waits.
#[derive(Debug)]
pub(crate) struct Delays {
    /// The longest delay.
    pub(crate) longest: Duration,
    /// How many requests wait at a time.
    pub(crate) most: usize,
    pub(crate) on_full: OnFull,
    waiting: Arc<Waiting>,
}

/// What becomes of a request that is to be delayed while as many wait as may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnFull {
    /// It is answered with 503.
    #[default]
    Deny,
    /// It goes on at once.
    Pass,
}

/// The requests that wait. Policies that replace each other share it.
#[derive(Debug, Default)]
struct Waiting {
    now: AtomicUsize,
    delayed: AtomicU64,
    full: AtomicU64,
}

/// The permit of a request that waits.
#[derive(Debug)]
struct DelayPermit(Arc<Waiting>);

impl Delays {
    pub(crate) fn new(longest: Duration, most: usize, on_full: OnFull) -> Self {
        Self { longest, most, on_full, waiting: Arc::default() }
    }

    /// Returns the delay of a request. `None`: as many wait as may.
    pub(crate) fn begin(&self, time: Duration) -> Option<Delay> {
        let one_more = |now: usize| if now < self.most { now.checked_add(1) } else { None };
        let taken = self.waiting.now.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        let counter = if taken.is_ok() { &self.waiting.delayed } else { &self.waiting.full };
        counter.fetch_add(1, Ordering::Relaxed);
        taken.ok().map(|_| Delay { time, _permit: DelayPermit(Arc::clone(&self.waiting)) })
    }

    /// Counts the requests that wait under an earlier policy too.
    pub(crate) fn take_over(&mut self, before: &Self) {
        self.waiting = Arc::clone(&before.waiting);
    }

    pub(crate) fn info(&self) -> DelayInfo {
        let Waiting { now, delayed, full } = &*self.waiting;
        DelayInfo {
            waiting: now.load(Ordering::Relaxed),
            limit: self.most,
            delayed: delayed.load(Ordering::Relaxed),
            rejected: full.load(Ordering::Relaxed),
        }
    }
}

impl Drop for DelayPermit {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_free_again_when_delays_are_dropped() {
        let time = Duration::from_secs(1);
        let delays = Delays::new(time, 2, OnFull::Deny);
        let (first, second) = (delays.begin(time), delays.begin(time));
        assert!(first.is_some() && second.is_some() && delays.begin(time).is_none());
        let DelayInfo { waiting, limit, delayed, rejected } = delays.info();
        assert_eq!((waiting, limit, delayed, rejected), (2, 2, 2, 1));
        // Requests of the policy before count, also beyond a bound that became smaller.
        let mut next = Delays::new(time, 1, OnFull::Deny);
        next.take_over(&delays);
        drop(first);
        assert!(next.begin(time).is_none());
        drop(second);
        assert!(next.begin(time).is_some() && delays.info().waiting == 0);
    }
}
