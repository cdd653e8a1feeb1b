//! [`Shared`]: what readers and writers of lists share, and the merging of levels.

use super::expiry::Expiries;
use super::snapshot::Snapshot;
use crate::error::ListsError;
use crate::limits::Limits;
use crate::list::{AnyList, Counts};
use arc_swap::{ArcSwap, Guard};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub(crate) struct Shared {
    current: ArcSwap<Snapshot>,
    /// The stamp of the current snapshot, or of one that is about to be published.
    stamp: AtomicU64,
    /// The stamp of the first snapshot.
    pub(super) owner: u64,
    writer: Mutex<Writer>,
    pub(crate) limits: Limits,
    /// What is followed.
    followed: Option<Followed>,
    /// Whether a thread merges.
    merging: AtomicBool,
}

/// What some lists follow.
struct Followed {
    /// The number of these lists: the first ones, which have the same numbers in the source.
    lists: usize,
    /// The source, which would tell nobody of its own changes otherwise if it follows another one.
    _source: Arc<Shared>,
}

/// What only writers need. Its lock is held while a change is made and published.
pub(crate) struct Writer {
    /// Indexed by list.
    pub(crate) expiries: Vec<Expiries>,
    /// What follows these lists.
    pub(super) followers: Vec<Weak<Shared>>,
}

/// What a change did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changed {
    /// The generation in which the change is visible.
    pub generation: u64,
    /// Number of entries that were not in their lists before.
    pub inserted: usize,
    /// Number of entries that were in their lists before, and are not now.
    pub removed: usize,
    /// Number of entries that were in their lists before with another value.
    pub updated: usize,
}

impl Changed {
    pub(crate) fn add(&mut self, counts: Counts) {
        self.inserted = self.inserted.saturating_add(counts.inserted);
        self.removed = self.removed.saturating_add(counts.removed);
        self.updated = self.updated.saturating_add(counts.updated);
    }
}

/// A number that no snapshot of the process has.
fn new_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Shared {
    /// No lists, or those of a source, which they follow.
    pub(super) fn new(limits: Limits, source: Option<&Arc<Self>>) -> Self {
        let owner = new_stamp();
        let lists = source.map_or_else(Vec::new, |source| source.load().lists.clone());
        let followed = source.map(|source| Followed { lists: lists.len(), _source: Arc::clone(source) });
        // Their entries expire where they are kept.
        let expiries = lists.iter().map(|_| Expiries::default()).collect();
        let current = ArcSwap::from_pointee(Snapshot { generation: 0, stamp: owner, owner, lists });
        let (stamp, merging) = (AtomicU64::new(owner), AtomicBool::new(false));
        let writer = Mutex::new(Writer { expiries, followers: Vec::new() });
        Self { current, stamp, owner, writer, limits, followed, merging }
    }

    /// The number of lists that follow those of another `Lists`: the first ones.
    #[inline]
    pub(super) fn followed(&self) -> usize {
        self.followed.as_ref().map_or(0, |followed| followed.lists)
    }

    /// The current snapshot.
    #[inline]
    pub(crate) fn load(&self) -> Guard<Arc<Snapshot>> {
        self.current.load()
    }

    /// A snapshot with another stamp is not the current one.
    #[inline]
    pub(super) fn stamp(&self) -> u64 {
        self.stamp.load(Ordering::Acquire)
    }

    /// Publishes a snapshot, here and where these lists are followed. Who has the lock calls it.
    pub(crate) fn publish(&self, writer: &mut Writer, mut snapshot: Snapshot) {
        snapshot.stamp = new_stamp();
        // First: a reader that still finds the old stamp comes before everything that follows from the new snapshot.
        self.stamp.store(snapshot.stamp, Ordering::Release);
        let snapshot = Arc::new(snapshot);
        self.current.store(Arc::clone(&snapshot));
        writer.followers.retain(|follower| {
            follower.upgrade().is_some_and(|follower| {
                follower.follow(&snapshot);
                true
            })
        });
    }

    /// Checks that all own lists together hold no more than the limits allow.
    pub(crate) fn check_size(&self, snapshot: &Snapshot) -> Result<(), ListsError> {
        let own = || snapshot.lists.iter().skip(self.followed());
        let total = |of: fn(&AnyList) -> usize| own().map(|list| of(&list.list)).fold(0, usize::saturating_add);
        for (what, wanted, limit) in [
            ("entries", total(AnyList::len), self.limits.entries),
            ("bytes", total(AnyList::heap_bytes), self.limits.bytes),
        ] {
            if wanted > limit {
                return Err(ListsError::Limit { what, wanted, limit });
            }
        }
        Ok(())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Merges the lists that are wanted.
    pub(crate) fn merge(&self, wanted: impl Fn(&AnyList) -> bool) {
        let before = self.current.load_full();
        for (index, old) in before.lists.iter().enumerate().skip(self.followed()).filter(|(_, old)| wanted(&old.list)) {
            // A list that is too large to merge keeps its levels.
            let Ok(merged) = old.list.merged() else { continue };
            let mut writer = self.lock();
            let mut snapshot = Snapshot::clone(&self.load());
            if let Some(place) = snapshot.lists.get_mut(index)
                && let Some(list) = place.list.with_merged(&old.list, &merged)
            {
                *place = Arc::new(place.with(list));
                snapshot.generation = snapshot.generation.saturating_add(1);
                self.publish(&mut writer, snapshot);
            }
            drop(writer);
        }
    }

    /// Lets a thread merge what should be, unless one does already.
    pub(crate) fn merge_in_background(self: &Arc<Self>) {
        let wanted = self.load().lists.iter().skip(self.followed()).any(|list| list.list.wants_merge());
        if !wanted || self.merging.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = self.clone();
        let started = std::thread::Builder::new().name("celero-lists".to_owned()).spawn(move || {
            shared.merge(AnyList::wants_merge);
            shared.merging.store(false, Ordering::Release);
        });
        // Without a thread the lists are right, only slower; the next change tries again.
        if started.is_err() {
            self.merging.store(false, Ordering::Release);
        }
    }
}
