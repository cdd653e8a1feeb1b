//! A limit of a policy: its definition, and what was counted. It outlives a reload that leaves the definition as it is.

use crate::language::Language;
use crate::limits::headers::LimitReport;
use celero_limits::{Clock, Concurrency, Decision, Limiter, Permit, Reservation, Time};
use http::HeaderValue;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

/// The host's monotonic clock. One for the process, because limits outlive policies.
pub(crate) static CLOCK: LazyLock<Clock> = LazyLock::new(Clock::start);

/// What a limit counts, as written. Two limits with the same name and definition are one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LimitDefinition {
    /// The parts of the key as written.
    pub(crate) key: Vec<String>,
    pub(crate) language: Language,
    /// The prefix lengths of the networks that addresses of the key stand for: IPv4, IPv6.
    pub(crate) groups: (u8, u8),
    pub(crate) measure: Measure,
    pub(crate) penalty: Duration,
    pub(crate) keys: usize,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Measure {
    Bucket(celero_limits::Quota),
    Window(celero_limits::Quota),
    Open(u32),
}

/// A limit with its counters.
#[derive(Debug)]
pub(crate) struct LimitState {
    pub(crate) name: Arc<str>,
    pub(crate) definition: LimitDefinition,
    /// Made when a request first asks: checking or reloading a policy allocates no table.
    counters: OnceLock<Counters>,
    /// Requests above the limit that a dry run admitted.
    tolerated: AtomicU64,
    /// Requests whose key, cost or `countWhen` failed.
    failed: AtomicU64,
    /// The value of `RateLimit-Policy`.
    policy_header: Option<HeaderValue>,
}

#[derive(Debug)]
enum Counters {
    Rate(Arc<Limiter>),
    Open(Arc<Concurrency>),
}

/// What a request holds until it is over.
#[derive(Debug, Default)]
pub(crate) enum Hold {
    #[default]
    Nothing,
    /// A cost that may still change.
    Cost(Reservation),
    /// An open request.
    Open(#[expect(dead_code, reason = "dropped when the request is over")] Permit),
}

/// The counters of a limit since it was defined.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LimitInfo {
    /// The name of the limit.
    pub name: Arc<str>,
    /// Requests within the limit.
    pub admitted: u64,
    /// Requests above the limit that were answered.
    pub limited: u64,
    /// Requests above the limit that passed, because of `dryRun`.
    pub tolerated: u64,
    /// Requests whose key, cost or `countWhen` failed.
    pub failed: u64,
    /// Requests of a remote limit whose service gave no answer.
    pub unavailable: u64,
    /// Keys that have used something now.
    pub keys: usize,
    /// Keys that fit; 0 for a limit that no request has asked yet, and for one of open requests,
    /// which has no bound of its own.
    pub capacity: usize,
    /// Keys that left the table before what they had used came back. If this grows, `keys` is too small.
    pub merged: u64,
}

impl LimitState {
    pub(crate) fn new(name: Arc<str>, definition: LimitDefinition) -> Self {
        let policy_header = match definition.measure {
            Measure::Bucket(quota) | Measure::Window(quota) => {
                HeaderValue::try_from(format!("\"{name}\";q={};w={}", quota.count(), quota.period().as_secs())).ok()
            }
            Measure::Open(_) => None,
        };
        let [tolerated, failed] = [AtomicU64::new(0), AtomicU64::new(0)];
        Self { name, definition, counters: OnceLock::new(), tolerated, failed, policy_header }
    }

    fn counters(&self) -> &Counters {
        let LimitDefinition { measure, keys, penalty, .. } = self.definition;
        let rate = |builder: celero_limits::LimiterBuilder| {
            Counters::Rate(Arc::new(builder.with_keys(keys).with_penalty(penalty).build()))
        };
        self.counters.get_or_init(|| match measure {
            Measure::Bucket(quota) => rate(Limiter::token_bucket(quota)),
            Measure::Window(quota) => rate(Limiter::sliding_window(quota)),
            Measure::Open(most) => Counters::Open(Arc::new(Concurrency::new(most))),
        })
    }

    /// Asks the processor to load what is counted for a key. Counts nothing.
    pub(crate) fn prefetch(&self, key: &[u8]) {
        if let Some(Counters::Rate(limiter)) = self.counters.get() {
            limiter.prefetch(limiter.key(key));
        }
    }

    /// Asks for a request. `reserve`: its cost may still change. Returns whether it is within the
    /// limit, the decision about a rate, and what the request holds.
    pub(crate) fn ask(&self, key: &[u8], cost: u64, reserve: bool, now: Time) -> (bool, Option<Decision>, Hold) {
        match self.counters() {
            Counters::Rate(limiter) if reserve => match limiter.reserve(limiter.key(key), cost, now) {
                Ok((reservation, decision)) => (true, Some(decision), Hold::Cost(reservation)),
                Err(decision) => (false, Some(decision), Hold::Nothing),
            },
            Counters::Rate(limiter) => {
                let decision = limiter.check(limiter.key(key), cost, now);
                (decision.is_admitted(), Some(decision), Hold::Nothing)
            }
            Counters::Open(limit) => match limit.enter(key) {
                Some(permit) => (true, None, Hold::Open(permit)),
                None => (false, None, Hold::Nothing),
            },
        }
    }

    /// Returns what clients are told after a decision.
    pub(crate) fn report(&self, decision: &Decision) -> LimitReport {
        LimitReport {
            name: Arc::clone(&self.name),
            policy: self.policy_header.clone(),
            remaining: decision.remaining(),
            reset: decision.reset(),
            retry_after: decision.retry_after(),
        }
    }

    pub(crate) fn count_tolerated(&self) {
        self.tolerated.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Forgets what keys have used. Open requests stay open.
    pub(crate) fn clear(&self) {
        if let Some(Counters::Rate(limiter)) = self.counters.get() {
            limiter.clear();
        }
    }

    pub(crate) fn info(&self) -> LimitInfo {
        let (admitted, refused, keys, capacity, merged) = match self.counters.get() {
            None => (0, 0, 0, 0, 0),
            Some(Counters::Rate(limiter)) => {
                let stats = limiter.stats(CLOCK.now());
                (stats.admitted, stats.refused, stats.keys, stats.capacity, stats.merged)
            }
            Some(Counters::Open(limit)) => {
                let (admitted, refused) = limit.counts();
                (admitted, refused, limit.keys(), 0, 0)
            }
        };
        let tolerated = self.tolerated.load(Ordering::Relaxed);
        let (name, failed) = (Arc::clone(&self.name), self.failed.load(Ordering::Relaxed));
        LimitInfo {
            name,
            admitted,
            limited: refused.saturating_sub(tolerated),
            tolerated,
            failed,
            unavailable: 0,
            keys,
            capacity,
            merged,
        }
    }
}
