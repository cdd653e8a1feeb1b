//! Lines about failing rules, for the log of a host.
//!
//! A client can make rules fail as often as it sends requests. So a rule is reported when it fails
//! for the first time, and then whenever its failures have doubled. Only failing rules of policies
//! that have a log are counted here, and only their reports cost anything.

use crate::host::outcome::Phase;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What takes the lines.
pub(crate) type FailureSink = Arc<dyn Fn(&str) + Send + Sync>;

/// The failures of the rules of a phase, and who is told.
pub(crate) struct FailureLog {
    phase: Phase,
    /// Indexed by rule.
    failures: Box<[AtomicU64]>,
    sink: FailureSink,
}

impl FailureLog {
    pub(crate) fn new(phase: Phase, rules: usize, sink: FailureSink) -> Self {
        Self { phase, failures: (0..rules).map(|_| AtomicU64::new(0)).collect(), sink }
    }

    /// Counts a failure of a rule, and writes the lines about it if they are due. They may hold no text of the request.
    #[cold]
    pub(crate) fn failed<L: IntoIterator<Item = String>>(&self, rule: usize, describe: impl FnOnce() -> L) {
        let Some(failures) = self.failures.get(rule) else { return };
        let failures = failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if failures.is_power_of_two() {
            for line in describe() {
                (self.sink)(&format!("phase {}: {line} [failure {failures}]", self.phase.name()));
            }
        }
    }
}

impl fmt::Debug for FailureLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailureLog").field("phase", &self.phase).finish_non_exhaustive()
    }
}
