//! [`Change`]: what is inserted, removed and replaced in lists, published as a whole.

use crate::address_range::parse_all;
use crate::any_list::AnyList;
use crate::entries::Entries;
use crate::entry::Entry;
use crate::error::{ListsError, TooLarge, WrongEntries};
use crate::expiry::Expiries;
use crate::shared::{Changed, Shared};
use crate::snapshot::{ListId, NamedList, Snapshot};
use std::collections::BTreeMap;
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
    steps: Vec<(ListId, Step)>,
    wrong: WrongEntries,
    /// The first other mistake.
    error: Option<ListsError>,
}

enum Step {
    Insert(Entry, Option<SystemTime>),
    Remove(Entry),
    /// Removes the entry if it has expired at this time.
    Expire(Entry, SystemTime),
    Replace(AnyList, Vec<(Entry, SystemTime)>),
}

impl<'l> Change<'l> {
    pub(crate) fn new(shared: &'l Arc<Shared>) -> Self {
        let known = shared.current.load_full();
        Self { shared, known, steps: Vec::new(), wrong: WrongEntries::default(), error: None }
    }

    /// Inserts an entry, which never expires; also if it would have before.
    pub fn insert(self, list: &str, entry: &str) -> Self {
        self.parsed(list, entry, |entry| Step::Insert(entry, None))
    }

    /// Inserts an entry that expires at a time: [`Lists::expire`](crate::Lists::expire) removes it then.
    pub fn insert_until(self, list: &str, entry: &str, expires: SystemTime) -> Self {
        self.parsed(list, entry, |entry| Step::Insert(entry, Some(expires)))
    }

    /// Removes an entry: this very one, not what is part of a larger network or range. Nothing happens if it is not there.
    pub fn remove(self, list: &str, entry: &str) -> Self {
        self.parsed(list, entry, Step::Remove)
    }

    /// Replaces all entries of a list.
    pub fn replace(mut self, list: &str, entries: Entries) -> Self {
        let Some((id, kind)) = self.find(list) else { return self };
        if kind != entries.kind() {
            self.error.get_or_insert(ListsError::Kind { name: list.to_owned(), kind, wanted: entries.kind() });
            return self;
        }
        // Here, where no other change waits for it.
        let (entries, expiries) = entries.into_parts();
        let wanted = entries.len();
        match AnyList::new(kind, entries) {
            Ok(new) => self.steps.push((id, Step::Replace(new, expiries))),
            Err(TooLarge) => {
                let limit = self.shared.limits.entries;
                self.error.get_or_insert(ListsError::Limit { what: "entries", wanted, limit });
            }
        }
        self
    }

    pub(crate) fn remove_if_expired(&mut self, list: ListId, entry: Entry, now: SystemTime) {
        self.steps.push((list, Step::Expire(entry, now)));
    }

    fn parsed(mut self, list: &str, entry: &str, step: impl Fn(Entry) -> Step) -> Self {
        let Some((id, kind)) = self.find(list) else { return self };
        match parse_all(kind, entry) {
            Ok(entries) => self.steps.extend(entries.into_iter().map(|entry| (id, step(entry)))),
            Err(reason) => self.wrong.add(Some(list), None, entry, reason),
        }
        self
    }

    fn find(&mut self, list: &str) -> Option<(ListId, crate::Kind)> {
        let found = self.known.find(list);
        if found.is_none() {
            let known = self.known.names();
            self.error.get_or_insert(ListsError::UnknownList { name: list.to_owned(), known });
        }
        found
    }

    /// Publishes the change: every [`load`](crate::Lists::load) that begins after it returned sees it. Other changes wait meanwhile; readers
    /// never do. Takes time linear in the size of the change, plus a lookup for each entry; for a list that is replaced, a lookup for each of its
    /// new entries.
    ///
    /// # Errors
    /// An unknown list, entries that are wrong, or a limit that would be exceeded. Nothing has changed then.
    pub fn commit(self) -> Result<Changed, ListsError> {
        let Self { shared, known: _, steps, wrong, error } = self;
        if let Some(error) = error {
            return Err(error);
        }
        if !wrong.is_empty() {
            return Err(ListsError::Entries(wrong));
        }
        let limits = shared.limits;
        let mut writer = shared.lock();
        let mut snapshot = Snapshot::clone(&shared.current.load());
        let mut changed = Changed { generation: snapshot.generation, ..Changed::default() };
        let too_large = |TooLarge| ListsError::Limit { what: "entries", wanted: usize::MAX, limit: limits.entries };

        let mut plans: BTreeMap<u32, Plan> = BTreeMap::new();
        for (list, step) in steps {
            let plan = plans.entry(list.0).or_default();
            plan.add(step, writer.expiries.get(list.0 as usize));
        }
        for (&list, plan) in &mut plans {
            let Some(place) = snapshot.lists.get_mut(list as usize) else { continue };
            let mut list = place.list.clone();
            if let Some(new) = plan.replaced.take() {
                let kept = new.entries().filter(|entry| list.has(entry)).count();
                changed.removed = changed.removed.saturating_add(list.len().saturating_sub(kept));
                changed.inserted = changed.inserted.saturating_add(new.len().saturating_sub(kept));
                list = new;
            }
            let (list, (inserted, removed)) = list.changed(std::mem::take(&mut plan.entries)).map_err(too_large)?;
            changed.inserted = changed.inserted.saturating_add(inserted);
            changed.removed = changed.removed.saturating_add(removed);
            *place = Arc::new(NamedList { name: place.name.clone(), list });
        }
        for (what, wanted, limit) in
            [("entries", snapshot.entry_count(), limits.entries), ("bytes", snapshot.heap_bytes(), limits.bytes)]
        {
            if wanted > limit {
                return Err(ListsError::Limit { what, wanted, limit });
            }
        }

        // From here on nothing fails.
        for (list, plan) in plans {
            if let Some(expiries) = writer.expiries.get_mut(list as usize) {
                if plan.replaces {
                    expiries.clear();
                }
                for (entry, expires) in plan.expiries {
                    expiries.set(&entry, expires);
                }
            }
        }
        if changed.inserted > 0 || changed.removed > 0 {
            snapshot.generation = snapshot.generation.saturating_add(1);
            changed.generation = snapshot.generation;
            shared.current.store(Arc::new(snapshot));
        }
        drop(writer);
        shared.merge_in_background();
        Ok(changed)
    }
}

/// What happens to one list.
#[derive(Default)]
struct Plan {
    replaces: bool,
    /// What takes its place.
    replaced: Option<AnyList>,
    /// Then these are inserted (`true`) and removed.
    entries: BTreeMap<Entry, bool>,
    /// When entries expire.
    expiries: BTreeMap<Entry, Option<SystemTime>>,
}

impl Plan {
    /// Adds a step. `before` is when entries expire before the change.
    fn add(&mut self, step: Step, before: Option<&Expiries>) {
        match step {
            Step::Insert(entry, expires) => {
                self.expiries.insert(entry.clone(), expires);
                self.entries.insert(entry, true);
            }
            Step::Remove(entry) => {
                self.expiries.insert(entry.clone(), None);
                self.entries.insert(entry, false);
            }
            // It may have been inserted again, after the steps were collected.
            Step::Expire(entry, now) => {
                if before.is_some_and(|before| before.has_expired(&entry, now)) {
                    self.add(Step::Remove(entry), None);
                }
            }
            Step::Replace(list, expiries) => {
                *self = Self {
                    replaces: true,
                    replaced: Some(list),
                    entries: BTreeMap::new(),
                    expiries: expiries.into_iter().map(|(entry, expires)| (entry, Some(expires))).collect(),
                };
            }
        }
    }
}
