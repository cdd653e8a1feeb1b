//! [`Lists`]: named lists that change while threads ask them.

mod change;
mod expiry;
mod following;
mod lookups;
mod overlay;
mod reader;
mod shared;
mod snapshot;
mod view;

pub use change::Change;
pub use overlay::{Applied, Mark, Overlay, Record, Records};
pub use reader::Reader;
pub use shared::Changed;
pub use snapshot::{EntryId, ListId, ListInfo, Snapshot};
pub use view::View;

use crate::clock::PinnedClock;
use crate::entry::Entry;
use crate::error::{ListsError, MAX_NAME_BYTES};
use crate::limits::Limits;
use crate::list::{AnyList, Keyed};
use crate::lookup_counter::LookupCounter;
use crate::value::{ListType, RowsBuilder};
use arc_swap::Guard;
use expiry::Expiries;
use shared::Shared;
use snapshot::NamedList;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// Named lists of addresses, host names, texts and integers that change while threads ask them.
/// Clones are the same lists.
///
/// Readers [load](Self::load) a [`Snapshot`]: all lists of one generation, without a lock and
/// without waiting. Writers make a [`Change`], which is published as a whole.
///
/// ```
/// use celero_lists::{Kind, Limits, Lists};
///
/// let lists = Lists::new(Limits::default());
/// let blocked = lists.declare("blocked", Kind::Addresses)?;
/// lists.change().insert("blocked", "192.0.2.0/24").insert("blocked", "2001:db8::7").commit()?;
///
/// let snapshot = lists.load();
/// assert!(snapshot.contains_address(blocked, "192.0.2.7".parse().unwrap()));
/// assert!(!snapshot.contains_address(blocked, "198.51.100.7".parse().unwrap()));
/// # Ok::<(), celero_lists::ListsError>(())
/// ```
#[derive(Clone)]
pub struct Lists {
    shared: Arc<Shared>,
}

impl Lists {
    /// Returns an empty collection of lists with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { shared: Arc::new(Shared::new(limits, None)) }
    }

    /// Adds an empty list and returns its number; that of the list with this name and type, if
    /// there is one. A [`Kind`](crate::Kind) is the type of a list whose entries carry no values.
    ///
    /// # Errors
    /// The name is not valid, a list of this name has another type, or there are too many lists.
    pub fn declare(&self, name: &str, ty: impl Into<ListType>) -> Result<ListId, ListsError> {
        let ty = ty.into();
        let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !name.split('.').all(is_part) || name.len() > MAX_NAME_BYTES {
            return Err(ListsError::Name(name.to_owned()));
        }
        let mut writer = self.shared.lock();
        let mut snapshot = Snapshot::clone(&self.load());
        if let Some((id, own)) = snapshot.find(name).and_then(|(id, _)| Some((id, snapshot.list_type(id)?))) {
            return if own == ty { Ok(id) } else { Err(ListsError::Type { name: name.to_owned(), own, wanted: ty }) };
        }
        let wanted = snapshot.lists.len().saturating_sub(self.shared.followed()).saturating_add(1);
        let too_many = ListsError::Limit { what: "lists", wanted, limit: self.shared.limits.lists };
        let id = u32::try_from(snapshot.lists.len()).map_err(|_| too_many.clone())?;
        if wanted > self.shared.limits.lists {
            return Err(too_many);
        }
        let rows = ty.values().map(RowsBuilder::new);
        let list = AnyList::new(ty.kind(), Keyed::new(rows)).map_err(|_| too_many)?;
        let lookups = Arc::new(LookupCounter::default());
        snapshot.lists.push(Arc::new(NamedList { name: name.into(), values: ty.values().cloned(), list, lookups }));
        snapshot.generation = snapshot.generation.saturating_add(1);
        writer.expiries.push(Expiries::default());
        self.shared.publish(&mut writer, snapshot);
        Ok(ListId(id))
    }

    /// Returns the lists of the current generation. Never waits. Load it for each request, and drop
    /// it afterwards: it keeps its entries in memory.
    #[must_use]
    #[inline]
    pub fn load(&self) -> Guard<Arc<Snapshot>> {
        self.shared.load()
    }

    /// Returns the lists of the current generation for one evaluation. Never waits, as [`load`](Self::load).
    #[must_use]
    pub fn view(&self) -> View {
        View::new(Guard::into_inner(self.load()), PinnedClock::default())
    }

    /// Calls `f` with the lists of the current generation for one evaluation. Never waits. Faster than
    /// [`view`](Self::view): the thread has a [`Reader`], which keeps the generation in memory until the thread calls
    /// this again after a change, or ends.
    #[inline]
    pub fn with_view<R>(&self, f: impl FnOnce(&View) -> R) -> R {
        reader::with_view(self, f)
    }

    /// Calls `f`, and lets all evaluations that this thread makes meanwhile, one after the other, ask these lists in
    /// one generation at one time: for what belongs together, such as a decision and its explanation. Concerns
    /// [`with_view`](Self::with_view) and [`Reader`]s, through which rules ask; not what a function of the host asks
    /// during an evaluation.
    ///
    /// ```
    /// use celero_lists::{Kind, Limits, Lists};
    ///
    /// let lists = Lists::new(Limits::default());
    /// let ports = lists.declare("ports", Kind::Integers)?;
    /// let has = || lists.with_view(|view| view.contains_integer(ports, 443));
    /// lists.pin(|| {
    ///     lists.change().insert("ports", "443").commit()?;
    ///     assert!(!has());
    ///     Ok::<(), celero_lists::ListsError>(())
    /// })?;
    /// assert!(has());
    /// # Ok::<(), celero_lists::ListsError>(())
    /// ```
    pub fn pin<R>(&self, f: impl FnOnce() -> R) -> R {
        reader::pin(self, f)
    }

    /// As [`view`](Self::view), with this time instead of that of the system's clock: for tests, and for what was
    /// recorded.
    #[must_use]
    pub fn view_at(&self, time: SystemTime) -> View {
        View::new(Guard::into_inner(self.load()), PinnedClock::at(time))
    }

    /// Begins a change. Nothing happens until it is [committed](Change::commit).
    pub fn change(&self) -> Change<'_> {
        Change::new(&self.shared)
    }

    /// Removes the entries that have expired at this time, in one change. Lookups do not find them any more
    /// since then, but they take memory and count as entries of their list: call it from a timer.
    ///
    /// # Errors
    /// As [`Change::commit`].
    pub fn expire(&self, now: SystemTime) -> Result<Changed, ListsError> {
        let mut change = self.change();
        for (list, entry) in self.expired(now) {
            change.remove_if_expired(list, entry, now);
        }
        change.commit()
    }

    /// The entries that have expired at this time.
    pub(crate) fn expired(&self, now: SystemTime) -> Vec<(ListId, Entry)> {
        let writer = self.shared.lock();
        let lists = (0..).map(ListId).zip(&writer.expiries);
        lists.flat_map(|(list, expiries)| expiries.expired(now).map(move |entry| (list, entry.clone()))).collect()
    }

    /// Returns when the next entry expires.
    #[must_use]
    pub fn next_expiry(&self) -> Option<SystemTime> {
        self.shared.lock().expiries.iter().filter_map(Expiries::next).min()
    }

    /// Takes over the entries of `fresh`, which has lists of the same names and types, all of them
    /// at once. Meant for lists that were read anew: rules that know these lists need not be
    /// compiled again. Lists that [follow](Self::following) others stay as they are.
    ///
    /// # Errors
    /// A list is missing on one side, has another type, or follows another. Nothing has changed then.
    pub fn take_over(&self, fresh: Self) -> Result<Changed, ListsError> {
        self.take(fresh, true)
    }

    /// Takes over the entries of the lists that `fresh` has, all of them at once; the others stay as they are.
    ///
    /// # Errors
    /// A list of `fresh` is missing here, has another type or follows another, or all lists together
    /// would exceed the limits. Nothing has changed then.
    pub fn take_over_some(&self, fresh: Self) -> Result<Changed, ListsError> {
        self.take(fresh, false)
    }

    fn take(&self, fresh: Self, all: bool) -> Result<Changed, ListsError> {
        if self.is_same(&fresh) {
            return Ok(Changed { generation: self.load().generation, ..Changed::default() });
        }
        let new = fresh.load();
        let mut writer = self.shared.lock();
        let mut snapshot = Snapshot::clone(&self.load());
        if let Some(info) = new.infos().find(|info| snapshot.find(&info.name).is_none()) {
            return Err(ListsError::UnknownList { name: info.name.to_string(), known: snapshot.names() });
        }
        // What follows can be changed at its source only, and has no expiries of its own.
        if let Some(info) = new.infos().find(|info| self.is_followed(&info.name) || fresh.is_followed(&info.name)) {
            return Err(ListsError::Followed(info.name.to_string()));
        }
        // The numbers of each list here and in `fresh`.
        let mut numbers = Vec::with_capacity(new.lists.len());
        for (own_number, place) in snapshot.lists.iter_mut().enumerate().skip(self.shared.followed()) {
            let Some((id, _)) = new.find(&place.name) else {
                if all {
                    return Err(ListsError::UnknownList { name: place.name.to_string(), known: new.names() });
                }
                continue;
            };
            let Some(other) = new.lists.get(id.0 as usize).cloned() else { continue };
            let (own, wanted) = (place.list_type(), other.list_type());
            if own != wanted {
                return Err(ListsError::Type { name: place.name.to_string(), own, wanted });
            }
            *place = Arc::new(place.with(other.list.clone()));
            numbers.push((own_number, id.0 as usize));
        }
        // All lists of another `Lists` were checked there, together.
        if !all {
            self.shared.check_size(&snapshot)?;
        }
        let mut expiries = std::mem::take(&mut fresh.shared.lock().expiries);
        for (own, number) in numbers {
            if let (Some(own), Some(new)) = (writer.expiries.get_mut(own), expiries.get_mut(number)) {
                *own = std::mem::take(new);
            }
        }
        snapshot.generation = snapshot.generation.saturating_add(1);
        let generation = snapshot.generation;
        self.shared.publish(&mut writer, snapshot);
        Ok(Changed { generation, ..Changed::default() })
    }

    /// Returns whether these are the same lists, not only equal ones.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns how often a list was searched for a value, by all threads and in all generations; 0
    /// if it was not declared. Each call of a [`Snapshot`]'s `contains_..`, `has_..` or `find_..`
    /// that suits the kind of the list is one lookup, whatever it finds. Reading the value of an
    /// entry that was found is none, nor is what changes, merges and tools do with entries.
    ///
    /// Each thread counts in memory of its own; here the counts are added up. The time is linear in
    /// the largest number of threads that were alive at the same time after they had asked any
    /// list, and so is the memory, which is kept as long as the list: 0.5 KiB for each list, and
    /// for one that was asked at most 1 KiB and 256 bytes for each of these threads.
    /// [`ListInfo::bytes`](crate::ListInfo) leaves it out. All lookups of threads that have been
    /// joined are counted; those that other threads make now may not be counted yet.
    ///
    /// Counts stay when entries are changed, replaced or [taken over](Self::take_over), and with
    /// [`take_over_lookups`](Self::take_over_lookups) when the lists are.
    ///
    /// ```
    /// use celero_lists::{Kind, Limits, Lists};
    ///
    /// let lists = Lists::new(Limits::default());
    /// let ports = lists.declare("ports", Kind::Integers)?;
    /// assert!(!lists.load().contains_integer(ports, 443));
    /// lists.change().insert("ports", "443").commit()?;
    /// assert!(lists.load().contains_integer(ports, 443));
    /// assert_eq!(lists.lookups(ports), 2);
    /// # Ok::<(), celero_lists::ListsError>(())
    /// ```
    #[must_use]
    pub fn lookups(&self, list: ListId) -> u64 {
        self.load().lookups(list)
    }

    /// Counts lookups in lists of the same names together with `before`, also those that `before`
    /// counted so far and counts later: for lists that replace others while these may still be
    /// asked. Call it before these lists are asked: what they counted so far is forgotten. Lists that
    /// [follow](Self::following) others count with these.
    pub fn take_over_lookups(&self, before: &Self) {
        let mut writer = self.shared.lock();
        let (before, mut snapshot) = (before.load(), Snapshot::clone(&self.load()));
        for place in snapshot.lists.iter_mut().skip(self.shared.followed()) {
            if let Some(known) = before.lists.iter().find(|known| known.name == place.name) {
                *place = Arc::new(NamedList { lookups: known.lookups.clone(), ..NamedList::clone(place) });
            }
        }
        self.shared.publish(&mut writer, snapshot);
    }

    /// Merges the levels of all lists, as the background does from time to time. Answers stay the
    /// same. Takes time linear in the size of the lists that have changed; changes meanwhile do not
    /// wait for it.
    pub fn merge(&self) {
        self.shared.merge(|list| list.levels() > 1);
    }
}

impl fmt::Debug for Lists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lists").field(&*self.load()).finish()
    }
}
