//! Lists that follow those of another `Lists`: what a host keeps once, and many collections of lists have.
//!
//! Invariant: what is followed has the entries of its source when a change of the source returns. Test:
//! `runtime/lists/tests/following.rs::a_change_is_seen_when_it_returns`.

use super::Lists;
use super::shared::Shared;
use super::snapshot::Snapshot;
use crate::limits::Limits;
use std::sync::Arc;

impl Lists {
    /// Returns lists that begin with those of `source` and follow them: a change of `source` is seen here when it
    /// returns, in one generation as there. More lists can be declared here; they have these limits, to which those
    /// that follow do not count. A list that `source` declares later is not followed.
    ///
    /// What follows can be changed in `source` only, counts lookups together with it, and costs neither memory for
    /// entries nor time for lookups. A change of `source` copies a pointer for each list here, and waits for a change
    /// here that is being made.
    ///
    /// ```
    /// use celero_lists::{Kind, Limits, Lists};
    ///
    /// let of_host = Lists::new(Limits::default());
    /// let blocked = of_host.declare("blocked", Kind::Integers)?;
    /// let lists = Lists::following(&of_host, Limits::default());
    /// of_host.change().insert("blocked", "7").commit()?;
    /// assert!(lists.load().contains_integer(blocked, 7));
    ///
    /// let refused = lists.change().insert("blocked", "8").commit().unwrap_err();
    /// assert_eq!(refused.to_string(), "list `blocked` follows a list of another `Lists`: change it there");
    /// # Ok::<(), celero_lists::ListsError>(())
    /// ```
    #[must_use]
    pub fn following(source: &Self, limits: Limits) -> Self {
        // No change comes between the copy and the place among the followers.
        let mut writer = source.shared.lock();
        let source = Some(&source.shared).filter(|source| !source.load().lists.is_empty());
        let shared = Arc::new(Shared::new(limits, source));
        if source.is_some() {
            writer.followers.retain(|follower| follower.strong_count() > 0);
            writer.followers.push(Arc::downgrade(&shared));
        }
        Self { shared }
    }

    /// Returns whether a list follows that of another `Lists`; false if there is none of this name.
    #[must_use]
    pub fn is_followed(&self, name: &str) -> bool {
        self.load().lists.iter().take(self.shared.followed()).any(|list| *list.name == *name)
    }
}

impl Shared {
    /// Publishes the lists of the source that are followed, while a change of the source holds its
    /// lock. No thread waits for the lock of a source while it holds that of a follower.
    pub(super) fn follow(&self, source: &Snapshot) {
        let mut writer = self.lock();
        let mut snapshot = Snapshot::clone(&self.load());
        let followed = || snapshot.lists.iter().zip(&source.lists).take(self.followed());
        if followed().all(|(own, of_source)| Arc::ptr_eq(own, of_source)) {
            return;
        }
        for (own, of_source) in snapshot.lists.iter_mut().zip(&source.lists).take(self.followed()) {
            own.clone_from(of_source);
        }
        snapshot.generation = snapshot.generation.saturating_add(1);
        self.publish(&mut writer, snapshot);
    }
}
