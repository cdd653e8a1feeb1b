//! The entries of the access log about connections that a rule denied: bounded in number, because
//! denying costs an attacker nothing.

use crate::logs::brief_entry;
use crate::state::State;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

/// How many entries there are in a [`PERIOD`] at most.
const MAX_ENTRIES: u32 = 10;
const PERIOD: Duration = Duration::from_secs(1);

/// Decides which denied connections have an entry.
#[derive(Debug, Default)]
pub(super) struct DenialLog {
    period: Mutex<Period>,
    /// How many connections were denied without an entry since the last one.
    left_out: AtomicU64,
}

#[derive(Debug, Default)]
struct Period {
    began: Option<Instant>,
    entries: u32,
}

impl DenialLog {
    /// Writes an entry about a connection that a rule denied, unless there were too many in the last second.
    pub(super) fn denied(&self, state: &State, client: Option<IpAddr>, rule: &str) {
        let Some(log) = &state.log else { return };
        if let Some(left_out) = self.admit(Instant::now()) {
            log.line(brief_entry::denied(client, rule, left_out));
        }
    }

    /// Returns how many entries were left out before this one, or `None` if it is to be left out itself.
    fn admit(&self, now: Instant) -> Option<u64> {
        let is_within = match self.period.try_lock() {
            Ok(mut period) => period.admit(now),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().admit(now),
            // Another thread writes one.
            Err(TryLockError::WouldBlock) => false,
        };
        if is_within {
            return Some(self.left_out.swap(0, Ordering::Relaxed));
        }
        self.left_out.fetch_add(1, Ordering::Relaxed);
        None
    }
}

impl Period {
    fn admit(&mut self, now: Instant) -> bool {
        if self.began.is_none_or(|began| now.saturating_duration_since(began) >= PERIOD) {
            *self = Self { began: Some(now), entries: 0 };
        }
        let is_within = self.entries < MAX_ENTRIES;
        self.entries = self.entries.saturating_add(u32::from(is_within));
        is_within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_has_few_entries_which_say_what_was_left_out() {
        let (log, start) = (DenialLog::default(), Instant::now());
        let at = |millis| log.admit(start + Duration::from_millis(millis));
        assert_eq!((0..1000).filter_map(at).collect::<Vec<_>>(), [0; 10]);
        assert_eq!([at(1000), at(1001)], [Some(990), Some(0)]);
    }
}
