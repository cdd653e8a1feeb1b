//! Which entries are removed when. Only writers know; readers never look at a clock.
//!
//! Invariant: only `Lists::expire`, with the time as its argument, removes expired entries. Test:
//! `runtime/lists/tests/model.rs::random_changes_agree_with_a_plain_set`.

use crate::entry::Entry;
use std::collections::{BTreeSet, HashMap};
use std::time::SystemTime;

/// The entries of one list that expire.
#[derive(Debug, Default)]
pub(crate) struct Expiries {
    by_entry: HashMap<Entry, SystemTime>,
    by_time: BTreeSet<(SystemTime, Entry)>,
}

impl Expiries {
    /// Sets when an entry expires; `None` for never.
    pub(crate) fn set(&mut self, entry: Entry, expires: Option<SystemTime>) {
        let before = match expires {
            Some(time) => self.by_entry.insert(entry.clone(), time),
            None => self.by_entry.remove(&entry),
        };
        if let Some(before) = before {
            self.by_time.remove(&(before, entry.clone()));
        }
        if let Some(time) = expires {
            self.by_time.insert((time, entry));
        }
    }

    /// Whether an entry expires.
    pub(crate) fn has(&self, entry: &Entry) -> bool {
        self.by_entry.contains_key(entry)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// When the next entry expires.
    pub(crate) fn next(&self) -> Option<SystemTime> {
        self.by_time.first().map(|(time, _)| *time)
    }

    /// Whether an entry has expired at this time.
    pub(crate) fn has_expired(&self, entry: &Entry, now: SystemTime) -> bool {
        self.by_entry.get(entry).is_some_and(|time| *time <= now)
    }

    /// The entries that have expired at this time.
    pub(crate) fn expired(&self, now: SystemTime) -> impl Iterator<Item = &Entry> {
        self.by_time.iter().take_while(move |(time, _)| *time <= now).map(|(_, entry)| entry)
    }
}
