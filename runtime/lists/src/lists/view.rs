//! [`View`]: the lists as one evaluation sees them.

use super::shared::Shared;
use super::snapshot::{ListId, Snapshot};
use crate::clock::{Clock, PinnedClock};
use crate::list::{AnyList, KeyType};
use std::fmt;
use std::sync::Arc;

/// The lists of one generation at one time: what several lookups find fits together, also if an entry expires between
/// them. The time is that of the first lookup that finds an entry which expires; others read no clock.
///
/// For one evaluation, or one request: what expires later stays in it.
///
/// ```
/// use celero_lists::{Kind, Limits, Lists};
/// use std::time::{Duration, SystemTime};
///
/// let lists = Lists::new(Limits::default());
/// let ports = lists.declare("ports", Kind::Integers)?;
/// let end = SystemTime::now() + Duration::from_secs(60);
/// lists.change().insert_until("ports", "443", end).commit()?;
/// assert_eq!(lists.view().has_integer(ports, 443), Some(true));
/// assert_eq!(lists.view_at(end).has_integer(ports, 443), Some(false));
/// # Ok::<(), celero_lists::ListsError>(())
/// ```
pub struct View {
    snapshot: Arc<Snapshot>,
    clock: PinnedClock,
}

impl View {
    #[inline]
    pub(super) fn new(snapshot: Arc<Snapshot>, clock: PinnedClock) -> Self {
        Self { snapshot, clock }
    }

    /// The generation.
    #[inline]
    pub(super) fn into_snapshot(self) -> Arc<Snapshot> {
        self.snapshot
    }

    /// Whether a change of these lists has not replaced what this shows.
    #[inline]
    pub(super) fn is_current(&self, lists: &Shared) -> bool {
        self.snapshot.stamp == lists.stamp()
    }

    /// Whether it is one of these lists, of any generation.
    #[inline]
    pub(super) fn is_of(&self, lists: &Shared) -> bool {
        self.snapshot.owner == lists.owner
    }

    /// The same lists at the same time.
    pub(super) fn copy(&self) -> Self {
        Self { snapshot: Arc::clone(&self.snapshot), clock: PinnedClock::at(self.clock.now()) }
    }

    /// The same lists for another evaluation, at its own time.
    #[inline]
    pub(super) fn restart(&mut self) {
        self.clock = PinnedClock::default();
    }

    /// Returns the generation. Its own lookups read the clock each time that they find an entry which expires.
    #[must_use]
    #[inline]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The list, if it can be asked for a value of this type. A lookup follows, which is counted.
    #[inline(always)]
    pub(super) fn asked(&self, list: ListId, keys: KeyType) -> Option<(&AnyList, &dyn Clock)> {
        self.snapshot.asked_at(list, keys, &self.clock)
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("View").field(&*self.snapshot).finish()
    }
}
