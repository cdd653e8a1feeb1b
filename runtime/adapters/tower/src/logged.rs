//! The log phase of a request: runs when its response was sent, or given up.

use celero_policy::{Ended, Exchange, LogFields, Policy};
use http::{request, response};
use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// Takes what a policy wants to be logged of a request.
pub(crate) type Sink = Arc<dyn Fn(&LogFields) + Send + Sync>;

/// What the log phase needs. It runs when this is dropped.
pub(crate) struct Logged {
    pub(crate) policy: Arc<Policy>,
    pub(crate) head: request::Parts,
    pub(crate) response: response::Parts,
    pub(crate) exchange: Exchange,
    pub(crate) started: SystemTime,
    pub(crate) clock: Instant,
    pub(crate) bytes_sent: u64,
    pub(crate) sink: Option<Sink>,
}

impl Logged {
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.bytes_sent = self.bytes_sent.saturating_add(bytes);
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let end = Ended { started: self.started, duration: self.clock.elapsed(), bytes_sent: self.bytes_sent };
        let fields = self.policy.log(&self.head, Some(&self.response), &end, &mut self.exchange);
        if let Some(sink) = &self.sink {
            sink(&fields);
        }
    }
}

impl fmt::Debug for Logged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logged").field("bytes_sent", &self.bytes_sent).finish_non_exhaustive()
    }
}
