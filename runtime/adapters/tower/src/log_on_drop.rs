//! Runs the phase `log` of a request when its response was sent, or dropped before its end.

use crate::messages::SharedExchange;
use celero_policy::{LogFields, Policy, RequestSummary};
use http::{request, response};
use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// Receives the log fields of a request.
pub(crate) type LogSink = Arc<dyn Fn(&LogFields) + Send + Sync>;

/// The input of the phase `log`, which runs when this is dropped.
pub(crate) struct LogOnDrop {
    pub(crate) policy: Arc<Policy>,
    pub(crate) head: request::Parts,
    pub(crate) response: response::Parts,
    pub(crate) exchange: SharedExchange,
    pub(crate) started: SystemTime,
    pub(crate) clock: Instant,
    pub(crate) bytes_sent: u64,
    pub(crate) sink: Option<LogSink>,
}

impl LogOnDrop {
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.bytes_sent = self.bytes_sent.saturating_add(bytes);
    }
}

impl Drop for LogOnDrop {
    fn drop(&mut self) {
        let end = RequestSummary { started: self.started, duration: self.clock.elapsed(), bytes_sent: self.bytes_sent };
        let fields = self.policy.log(&self.head, Some(&self.response), &end, &mut self.exchange.lock());
        if let Some(sink) = &self.sink {
            sink(&fields);
        }
    }
}

impl fmt::Debug for LogOnDrop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogOnDrop").field("bytes_sent", &self.bytes_sent).finish_non_exhaustive()
    }
}
