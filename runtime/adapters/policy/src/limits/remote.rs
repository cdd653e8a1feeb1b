//! Limits that a service counts for many machines. The policy computes what is asked; the host asks ([`RemoteLimits`]).

use crate::limits::headers::LimitReport;
use http::HeaderValue;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What asks the services that count limits of many machines, for
/// [`Policy::set_remote_limits`](crate::Policy::set_remote_limits).
pub trait RemoteLimits: fmt::Debug + Send + Sync {
    /// Asks a service. The future must end: the request waits for it, so bound its time. It is
    /// dropped if the request is given up.
    fn ask(&self, question: RemoteQuestion) -> RemoteReply;
}

/// The answer of a service, once it is there.
pub type RemoteReply = Pin<Box<dyn Future<Output = Result<RemoteAnswer, Unavailable>> + Send>>;

/// What a limit asks a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteQuestion {
    /// The name of the service in the policy.
    pub service: Arc<str>,
    /// The descriptors, each with its keys and values in the order of the file. The request is
    /// above the limit if it is for one of them.
    pub descriptors: Vec<Vec<(Arc<str>, String)>>,
    /// How much the request uses, from 1.
    pub hits: u32,
}

/// What a service answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteAnswer {
    /// Whether the request is within the limit.
    pub is_within: bool,
    /// The limit that is nearest to being exceeded: how often in which time. `None`: the service does not say.
    pub quota: Option<(u32, Duration)>,
    /// How much of it is left.
    pub remaining: u32,
    /// The time until all of it is there again. `None`: the service does not say.
    pub reset: Option<Duration>,
}

/// The service gave no answer in time, or none that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unavailable;

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the service that counts the limit is unavailable")
    }
}

impl std::error::Error for Unavailable {}

/// A remote limit with the counters of this process.
#[derive(Debug)]
pub(crate) struct RemoteState {
    pub(crate) name: Arc<str>,
    pub(crate) service: Arc<str>,
    pub(crate) counts: RemoteCounts,
}

/// The requests of a remote limit, by what became of them.
#[derive(Debug, Default)]
pub(crate) struct RemoteCounts {
    within: AtomicU64,
    above: AtomicU64,
    tolerated: AtomicU64,
    /// Those with a descriptor or hits that failed.
    failed: AtomicU64,
    unavailable: AtomicU64,
}

/// What is known about a remote limit and one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RemoteVerdict {
    Answered(RemoteAnswer),
    Unavailable,
    /// A descriptor or the hits failed.
    Failed,
}

impl RemoteState {
    /// Counts a verdict, once for each request.
    pub(crate) fn count(&self, verdict: &RemoteVerdict, dry_run: bool) {
        let counts = &self.counts;
        let counter = match verdict {
            RemoteVerdict::Answered(RemoteAnswer { is_within: true, .. }) => &counts.within,
            RemoteVerdict::Answered(_) if dry_run => &counts.tolerated,
            RemoteVerdict::Answered(_) => &counts.above,
            RemoteVerdict::Unavailable => &counts.unavailable,
            RemoteVerdict::Failed => &counts.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the counters: within, above, tolerated, failed, unavailable.
    pub(crate) fn counts(&self) -> [u64; 5] {
        let RemoteCounts { within, above, tolerated, failed, unavailable } = &self.counts;
        [within, above, tolerated, failed, unavailable].map(|counter| counter.load(Ordering::Relaxed))
    }
}

impl RemoteAnswer {
    /// Returns what clients are told about a limit of this name.
    pub(crate) fn report(&self, name: &Arc<str>) -> LimitReport {
        let policy = self.quota.and_then(|(count, period)| {
            HeaderValue::try_from(format!("\"{name}\";q={count};w={}", period.as_secs())).ok()
        });
        LimitReport {
            name: Arc::clone(name),
            policy: policy.filter(|_| self.reset.is_some()),
            remaining: self.remaining.into(),
            reset: self.reset.unwrap_or_default(),
            retry_after: self.reset.filter(|_| !self.is_within),
        }
    }
}
