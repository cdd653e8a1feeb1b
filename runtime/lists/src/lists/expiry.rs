//! Which entries of a list are removed when. Only writers know this order; lookups compare the time of the entry that
//! they find.
//!
//! Invariant: only `Lists::expire`, with the time as its argument, removes expired entries. Test:
//! `runtime/lists/tests/model.rs::random_changes_agree_with_a_plain_set`.

use crate::entry::Entry;
use std::collections::BTreeSet;
use std::time::SystemTime;

/// The entries of one list that expire.
#[derive(Debug, Default)]
pub(crate) struct Expiries {
    by_time: BTreeSet<(SystemTime, Entry)>,
}

impl Expiries {
    /// Adds an entry that expires at a time.
    pub(crate) fn insert(&mut self, time: SystemTime, entry: Entry) {
        self.by_time.insert((time, entry));
    }

    /// Forgets an entry that does not expire at this time.
    pub(crate) fn remove(&mut self, ended: &(SystemTime, Entry)) {
        self.by_time.remove(ended);
    }

    /// When the next entry expires.
    pub(crate) fn next(&self) -> Option<SystemTime> {
        self.by_time.first().map(|(time, _)| *time)
    }

    /// The entries that have expired at this time.
    pub(crate) fn expired(&self, now: SystemTime) -> impl Iterator<Item = &Entry> {
        self.by_time.iter().take_while(move |(time, _)| *time <= now).map(|(_, entry)| entry)
    }
}
