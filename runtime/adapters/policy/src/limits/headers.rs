//! What clients are told about limits: `RateLimit` and `RateLimit-Policy`
//! (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4), and `Retry-After`.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use std::sync::Arc;
use std::time::Duration;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// What a client is told about a limit.
pub(crate) struct LimitReport {
    pub(crate) name: Arc<str>,
    /// The value of `RateLimit-Policy`. `None`: there are no headers but `Retry-After`.
    pub(crate) policy: Option<HeaderValue>,
    pub(crate) remaining: u64,
    /// The time until all is there again.
    pub(crate) reset: Duration,
    /// The time until the request would be within the limit, if it is above it and that is known.
    pub(crate) retry_after: Option<Duration>,
}

impl LimitReport {
    /// Adds the headers.
    pub(crate) fn headers(&self, mut add: impl FnMut(HeaderName, HeaderValue)) {
        let Some(policy) = &self.policy else { return };
        let text = format!("\"{}\";r={};t={}", self.name, self.remaining, whole_seconds(self.reset));
        if let Ok(value) = HeaderValue::try_from(text) {
            add(RATE_LIMIT_POLICY, policy.clone());
            add(RATE_LIMIT, value);
        }
    }

    /// Adds `Retry-After` (RFC 9110, section 10.2.3) if the answer has none.
    pub(crate) fn add_retry_after(&self, headers: &mut HeaderMap) {
        if let Some(wait) = self.retry_after
            && !headers.contains_key(header::RETRY_AFTER)
        {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(whole_seconds(wait).max(1)));
        }
    }
}

/// Returns whether an answer has the headers of a limit already.
pub(crate) fn tells_limit(headers: &HeaderMap) -> bool {
    headers.contains_key(RATE_LIMIT)
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}
