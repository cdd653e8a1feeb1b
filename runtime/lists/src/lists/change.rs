//! [`Change`]: what is inserted, removed and replaced in lists, published as a whole.
//!
//! Invariant: a change is applied as a whole or refused. A refused change alters nothing, expiries included. Test:
//! `runtime/lists/tests/lists.rs::a_refused_change_changes_nothing`.

use super::expiry::Expiries;
use super::shared::{Changed, Shared};
use super::snapshot::{ListId, Snapshot};
use crate::entry::pattern_text::{MAX_CASE_STEPS, case_steps, too_many_cases};
use crate::entry::{Entry, MAX_ENTRY_BYTES, parse_all};
use crate::error::{ListsError, TooLarge, WrongEntries};
use crate::kind::Kind;
use crate::list::{AnyList, Counts, Entries};
use crate::value::{Cells, EntryValue, ListType};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::SystemTime;

/// A change of any number of lists. Readers see all of it or nothing.
///
/// Later steps win over earlier ones. Mistakes are reported by [`commit`](Self::commit), all of them.
///
/// ```
/// # use celero_lists::{Kind, Limits, Lists};
/// let lists = Lists::new(Limits::default());
/// lists.declare("ports", Kind::Integers)?;
/// let error = lists.change().insert("ports", "80").insert("ports", "90-100").insert("port", "1").commit().unwrap_err();
/// assert_eq!(error.to_string(), "no list `port`; there are ports");
/// # Ok::<(), celero_lists::ListsError>(())
/// ```
#[must_use = "a change does nothing until it is committed"]
pub struct Change<'l> {
    shared: &'l Arc<Shared>,
    /// The lists when the change began; lists are never removed.
    known: Arc<Snapshot>,
    /// By the number of the list.
    plans: BTreeMap<u32, Plan>,
    wrong: WrongEntries,
    /// Steps that one parsing of the patterns takes for letter cases.
    case_steps: usize,
    /// The first other mistake.
    error: Option<ListsError>,
}

impl<'l> Change<'l> {
    pub(crate) fn new(shared: &'l Arc<Shared>) -> Self {
        let known = Arc::clone(&shared.load());
        Self { shared, known, plans: BTreeMap::new(), wrong: WrongEntries::default(), case_steps: 0, error: None }
    }

    /// Inserts an entry without a value, which never expires; also if it would have before.
    pub fn insert(self, list: &str, entry: &str) -> Self {
        self.inserted(list, entry, EntryValue::default(), None)
    }

    /// Inserts an entry that expires at a time: lookups from then on do not find it, and
    /// [`Lists::expire`](crate::Lists::expire) removes it.
    pub fn insert_until(self, list: &str, entry: &str, expires: SystemTime) -> Self {
        self.inserted(list, entry, EntryValue::default(), Some(expires))
    }

    /// Inserts an entry with its value, or gives it another value. It never expires, or at the time that is given.
    ///
    /// ```
    /// # use celero_lists::{Kind, Limits, ListType, Lists, ScalarRef};
    /// let lists = Lists::new(Limits::default());
    /// let geo = lists.declare("geo", "addresses:{country: string, asn: int}".parse::<ListType>()?)?;
    /// let germany = [("country", "DE".into()), ("asn", 3320.into())];
    /// lists.change().insert_value("geo", "198.51.100.0/24", germany, None).commit()?;
    ///
    /// let snapshot = lists.load();
    /// let entry = snapshot.find_address(geo, "198.51.100.7".parse()?).ok_or("not found")?;
    /// assert_eq!(snapshot.value(geo, entry, 0), Some(ScalarRef::Text("DE")));
    ///
    /// let error = lists.change().insert_value("geo", "::/0", [("city", "Bonn".into())], None).commit().unwrap_err();
    /// assert_eq!(error.to_string(), "list `geo`: \"::/0\": there is no field `city`; there are country, asn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_value(
        self,
        list: &str,
        entry: &str,
        value: impl Into<EntryValue>,
        expires: Option<SystemTime>,
    ) -> Self {
        self.inserted(list, entry, value.into(), expires)
    }

    /// Removes an entry: this very one, not what is part of a larger network or range. Nothing
    /// happens if it is not there.
    pub fn remove(mut self, list: &str, entry: &str) -> Self {
        let Some((id, ty)) = self.find(list) else { return self };
        self.parsed(list, id, ty.kind(), entry, Plan::remove)
    }

    /// Replaces all entries of a list.
    pub fn replace(mut self, list: &str, entries: Entries) -> Self {
        let Some((id, own)) = self.find(list) else { return self };
        if own != *entries.list_type() {
            let wanted = entries.list_type().clone();
            self.error.get_or_insert(ListsError::Type { name: list.to_owned(), own, wanted });
            return self;
        }
        // Here, where no other change waits for it.
        let wanted = entries.len();
        match entries.into_list() {
            Ok(new) => self.plan(id).replace(new),
            Err(too_large) => {
                self.error.get_or_insert(too_large.error(wanted, self.shared.limits.entries));
            }
        }
        self
    }

    /// What happens to a list.
    fn plan(&mut self, list: ListId) -> &mut Plan {
        self.plans.entry(list.0).or_default()
    }

    /// Makes place for many entries at once: growing step by step takes up to three times as much for a while.
    pub(crate) fn reserve(&mut self, list: ListId, entries: usize) {
        self.plan(list).entries.reserve_exact(entries);
    }

    pub(crate) fn remove_if_expired(&mut self, list: ListId, entry: Entry, now: SystemTime) {
        self.plan(list).expiring.push((entry, now));
    }

    /// Inserts an entry with a value of the list's type.
    pub(crate) fn set(&mut self, list: ListId, entry: Entry, cells: Cells, expires: Option<SystemTime>) {
        self.plan(list).insert(entry, cells, expires);
    }

    pub(crate) fn unset(&mut self, list: ListId, entry: Entry) {
        self.plan(list).remove(entry);
    }

    fn inserted(mut self, list: &str, entry: &str, value: EntryValue, expires: Option<SystemTime>) -> Self {
        let Some((id, ty)) = self.find(list) else { return self };
        match value.typed(ty.values()) {
            Ok(cells) => {
                self.parsed(list, id, ty.kind(), entry, |plan, entry| plan.insert(entry, cells.clone(), expires))
            }
            Err(wrong) => {
                self.wrong.add(Some(list), None, entry, wrong);
                self
            }
        }
    }

    fn parsed(mut self, list: &str, id: ListId, kind: Kind, entry: &str, step: impl Fn(&mut Plan, Entry)) -> Self {
        if kind == Kind::Patterns && entry.len() <= MAX_ENTRY_BYTES {
            let before = self.case_steps;
            self.case_steps = before.saturating_add(case_steps(entry));
            if self.case_steps > MAX_CASE_STEPS {
                // Said once. What exceeds is not read.
                if before <= MAX_CASE_STEPS {
                    self.wrong.add(Some(list), None, entry, too_many_cases());
                }
                return self;
            }
        }
        match parse_all(kind, entry) {
            Ok(entries) => {
                let plan = self.plan(id);
                entries.into_iter().for_each(|entry| step(plan, entry));
            }
            Err(reason) => self.wrong.add(Some(list), None, entry, reason),
        }
        self
    }

    fn find(&mut self, list: &str) -> Option<(ListId, ListType)> {
        let found = self.known.find(list).and_then(|(id, _)| Some((id, self.known.list_type(id)?)));
        if found.is_none() {
            let known = self.known.names();
            self.error.get_or_insert(ListsError::UnknownList { name: list.to_owned(), known });
        }
        found
    }

    /// Publishes the change: every [`load`](crate::Lists::load) that begins after it returned sees
    /// it. Other changes wait meanwhile; readers never do. Takes time linear in the size of the
    /// change, plus a lookup for each entry; for a list that is replaced, a lookup for each of its
    /// new entries.
    ///
    /// # Errors
    /// An unknown list, one that [follows](crate::Lists::following) another, entries that are wrong, or a limit that
    /// would be exceeded. Nothing has changed then.
    pub fn commit(self) -> Result<Changed, ListsError> {
        match self.commit_if(|_| Ok::<(), Infallible>(()))? {
            Ok(changed) => Ok(changed),
            Err(never) => match never {},
        }
    }

    /// As [`commit`](Self::commit), but calls `keep` when nothing can refuse the change any more
    /// and before a reader sees it; if that fails, nothing changes. A host writes the change to a
    /// disk there. Other changes wait meanwhile; readers never do. It must not change these lists, nor those that they
    /// [follow](crate::Lists::following) or that follow them: that would wait for itself.
    ///
    /// # Errors
    /// As [`commit`](Self::commit). The inner error is that of `keep`.
    pub fn commit_if<E>(self, keep: impl FnOnce(&Changed) -> Result<(), E>) -> Result<Result<Changed, E>, ListsError> {
        let Self { shared, known: _, mut plans, wrong, case_steps: _, error } = self;
        if let Some(error) = error {
            return Err(error);
        }
        if !wrong.is_empty() {
            return Err(ListsError::Entries(wrong));
        }
        let limits = shared.limits;
        let mut writer = shared.lock();
        let mut snapshot = Snapshot::clone(&shared.load());
        let mut changed = Changed { generation: snapshot.generation, ..Changed::default() };
        let mut renewed = 0_usize;
        let too_large = |why: TooLarge| why.error(usize::MAX, limits.entries);

        for (&list, plan) in &mut plans {
            let Some(place) = snapshot.lists.get_mut(list as usize) else { continue };
            if (list as usize) < shared.followed() {
                return Err(ListsError::Followed(place.name.to_string()));
            }
            plan.sort(&place.list);
            let mut list = place.list.clone();
            if let Some(new) = plan.replaced.take() {
                let (mut kept, mut updated, mut expiries) = (0_usize, 0_usize, Expiries::default());
                for (entry, row, expires) in new.entries() {
                    if let Some((row_before, expires_before)) = list.get(&entry) {
                        kept = kept.saturating_add(1);
                        updated = updated.saturating_add((row_before != row).into());
                        renewed = renewed.saturating_add((expires_before != expires).into());
                    }
                    if let Some(time) = expires {
                        expiries.insert(time, entry);
                    }
                }
                let (inserted, removed) = (new.len().saturating_sub(kept), list.len().saturating_sub(kept));
                changed.add(Counts { inserted, removed, updated, renewed: 0 });
                plan.expiries_of_all = Some(expiries);
                list = new;
            }
            let (list, effects) = list.changed(std::mem::take(&mut plan.entries), &plan.expiries).map_err(too_large)?;
            changed.add(effects.counts);
            renewed = renewed.saturating_add(effects.counts.renewed);
            plan.ended = effects.ended;
            *place = Arc::new(place.with(list));
        }
        // What only removes may need more bytes for a while: what is removed is remembered until levels are merged.
        let adds = changed.inserted > 0 || changed.updated > 0;
        if adds {
            shared.check_size(&snapshot)?;
        }

        let is_different = adds || changed.removed > 0 || renewed > 0;
        if is_different {
            snapshot.generation = snapshot.generation.saturating_add(1);
            changed.generation = snapshot.generation;
        }
        if let Err(error) = keep(&changed) {
            return Ok(Err(error));
        }

        // From here on nothing fails.
        for (list, plan) in plans {
            if let Some(expiries) = writer.expiries.get_mut(list as usize) {
                if let Some(of_all) = plan.expiries_of_all {
                    *expiries = of_all;
                }
                plan.ended.into_iter().for_each(|ended| expiries.remove(&ended));
                plan.expiries.into_iter().for_each(|(entry, time)| expiries.insert(time, entry));
            }
        }
        if is_different {
            shared.publish(&mut writer, snapshot);
        }
        drop(writer);
        shared.merge_in_background();
        Ok(Ok(changed))
    }
}

/// What happens to one list.
#[derive(Default)]
struct Plan {
    /// What takes its place.
    replaced: Option<AnyList>,
    /// Then these are inserted with their values, or removed (`None`), in this order.
    entries: Vec<(Entry, Option<Cells>)>,
    /// When those that expire do.
    expiries: BTreeMap<Entry, SystemTime>,
    /// Entries that are removed if they have expired at this time: they may have been inserted again meanwhile.
    expiring: Vec<(Entry, SystemTime)>,
    /// When the entries of what takes its place expire.
    expiries_of_all: Option<Expiries>,
    /// The entries that do not expire any more at these times.
    ended: Vec<(SystemTime, Entry)>,
}

impl Plan {
    fn insert(&mut self, entry: Entry, cells: Cells, expires: Option<SystemTime>) {
        match expires {
            Some(time) => drop(self.expiries.insert(entry.clone(), time)),
            None => drop(self.expiries.remove(&entry)),
        }
        self.entries.push((entry, Some(cells)));
    }

    fn remove(&mut self, entry: Entry) {
        self.expiries.remove(&entry);
        self.entries.push((entry, None));
    }

    fn replace(&mut self, list: AnyList) {
        *self = Self { replaced: Some(list), ..Self::default() };
    }

    /// Sorts the entries, of which the last of equal ones counts. `before` is the list before the change.
    fn sort(&mut self, before: &AnyList) {
        for (entry, now) in std::mem::take(&mut self.expiring) {
            let expires = before.get(&entry).and_then(|(_, expires)| expires);
            if expires.is_some_and(|time| time <= now) {
                self.remove(entry);
            }
        }
        // Otherwise sorting takes half as much memory again.
        if !self.entries.is_sorted_by(|(one, _), (other, _)| one < other) {
            self.entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            self.entries.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    std::mem::swap(later, kept);
                }
                same
            });
        }
    }
}
