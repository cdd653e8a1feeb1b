//! [`View`]: the lists as one evaluation sees them.

use super::snapshot::{EntryId, ListId, Snapshot, mapped};
use crate::clock::PinnedClock;
use crate::list::KeyType;
use crate::sets::{Meter, Unmetered};
use arc_swap::Guard;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

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
    snapshot: Guard<Arc<Snapshot>>,
    clock: PinnedClock,
}

impl View {
    #[inline]
    pub(crate) fn new(snapshot: Guard<Arc<Snapshot>>) -> Self {
        Self { snapshot, clock: PinnedClock::default() }
    }

    pub(crate) fn at(snapshot: Guard<Arc<Snapshot>>, time: SystemTime) -> Self {
        Self { snapshot, clock: PinnedClock::at(time) }
    }

    /// Returns the generation. Its own lookups read the clock each time that they find an entry which expires.
    #[must_use]
    #[inline]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// As [`Snapshot::has_address`].
    #[must_use]
    #[inline(always)]
    pub fn has_address(&self, list: ListId, address: IpAddr) -> Option<bool> {
        self.snapshot.asked(list, KeyType::Address)?.has_address(mapped(address), &self.clock)
    }

    /// As [`Snapshot::has_text`].
    #[must_use]
    #[inline]
    pub fn has_text(&self, list: ListId, text: &[u8]) -> Option<bool> {
        let Ok(has) = self.has_text_metered(list, text, &Unmetered);
        has
    }

    /// As [`Snapshot::has_text_metered`].
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    #[inline]
    pub fn has_text_metered<M: Meter>(&self, list: ListId, text: &[u8], meter: &M) -> Result<Option<bool>, M::Error> {
        self.snapshot.asked(list, KeyType::Text).map_or(Ok(None), |list| list.has_text(text, meter, &self.clock))
    }

    /// As [`Snapshot::has_integer`].
    #[must_use]
    #[inline]
    pub fn has_integer(&self, list: ListId, number: i64) -> Option<bool> {
        self.snapshot.asked(list, KeyType::Integer)?.has_integer(number, &self.clock)
    }

    /// As [`Snapshot::find_address`].
    #[must_use]
    #[inline(always)]
    pub fn find_address(&self, list: ListId, address: IpAddr) -> Option<EntryId> {
        self.snapshot.asked(list, KeyType::Address)?.find_address(mapped(address), &self.clock).map(EntryId)
    }

    /// As [`Snapshot::find_text_metered`].
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    #[inline]
    pub fn find_text_metered<M: Meter>(
        &self,
        list: ListId,
        text: &[u8],
        meter: &M,
    ) -> Result<Option<EntryId>, M::Error> {
        let Some(list) = self.snapshot.asked(list, KeyType::Text) else { return Ok(None) };
        Ok(list.find_text(text, meter, &self.clock)?.map(EntryId))
    }

    /// As [`Snapshot::find_integer`].
    #[must_use]
    #[inline]
    pub fn find_integer(&self, list: ListId, number: i64) -> Option<EntryId> {
        self.snapshot.asked(list, KeyType::Integer)?.find_integer(number, &self.clock).map(EntryId)
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("View").field(&**self.snapshot).finish()
    }
}
