//! [`Overlay`]: what was inserted and removed at run time, over what the sources of lists say.
//!
//! A host fills its lists from files. What others change while it runs must survive when the files are read again, and a restart if the
//! host keeps the [`Record`]s. A removal counts until the sources do not have the entry any more; an insertion counts until it expires or is removed.

use crate::entries::Entries;
use crate::entry::Entry;
use crate::error::ListsError;
use crate::expiry::Expiries;
use crate::kind::Kind;
use crate::lists::Lists;
use crate::shared::Changed;
use crate::snapshot::{ListId, Snapshot};
use crate::value_type::ListType;
use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

/// What became of an entry at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mark {
    /// It was inserted. At the time, if there is one, it leaves its list, also if a source has it.
    Inserted(Option<SystemTime>),
    /// It was removed, though a source has it.
    Removed,
}

/// A change of an [`Overlay`], for a host that keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The name of the list.
    pub list: String,
    /// What its entries are. Lists of one name and different kinds have nothing in common.
    pub kind: Kind,
    /// The entry.
    pub entry: Entry,
    /// What is known of it from now on. `None`: nothing.
    pub mark: Option<Mark>,
}

/// What was inserted and removed at run time, over what the sources of lists say. Lists whose entries carry values are no part of it.
///
/// ```
/// use celero_lists::{Entries, Kind, Limits, Lists, Overlay};
/// use std::{convert::Infallible, time::SystemTime};
///
/// let lists = Lists::new(Limits::default());
/// let ports = lists.declare("ports", Kind::Integers)?;
/// let mut overlay = Overlay::default();
/// let entries = Entries::from_texts(Kind::Integers, ["443"]).unwrap();
/// overlay.insert(&lists, "ports", &entries, |_| Ok::<(), Infallible>(()))?;
///
/// // The source is read again: it says nothing of 443.
/// let fresh = Lists::new(Limits::default());
/// fresh.declare("ports", Kind::Integers)?;
/// overlay.apply(&fresh, SystemTime::now())?;
/// lists.take_over(fresh)?;
/// assert!(lists.load().contains_integer(ports, 443));
/// # Ok::<(), celero_lists::ListsError>(())
/// ```
#[derive(Debug, Default)]
pub struct Overlay {
    /// By name. Lists of a name have few kinds, nearly always one.
    lists: BTreeMap<String, Vec<Marks>>,
}

/// What is known of the entries of one list.
#[derive(Debug)]
struct Marks {
    kind: Kind,
    by_entry: HashMap<Entry, Known>,
    expiries: Expiries,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    mark: Mark,
    /// Whether a source has the entry.
    in_source: bool,
}

impl Overlay {
    /// Takes over what a host has kept. Call [`apply`](Self::apply) afterwards.
    pub fn restore(&mut self, record: Record) {
        let known = record.mark.map(|mark| Known { mark, in_source: false });
        self.marks_mut(&record.list, record.kind).set(&record.entry, known);
    }

    /// Applies everything to lists whose entries are those of their sources, as one change. Returns what this made obsolete: removals of entries
    /// that no source has any more, and insertions that have expired.
    ///
    /// # Errors
    /// As [`Change::commit`](crate::Change::commit). Nothing has changed then, here or in the lists.
    pub fn apply(&mut self, fresh: &Lists, now: SystemTime) -> Result<Vec<Record>, ListsError> {
        let source = fresh.load();
        let mut change = fresh.change();
        let (mut updates, mut obsolete) = (Vec::new(), Vec::new());
        for (name, marks) in self.all() {
            let Some(id) = find(&source, name, marks.kind) else { continue };
            for (entry, known) in &marks.by_entry {
                let in_source = source.has_entry(id, entry);
                let mark = match known.mark {
                    Mark::Inserted(Some(time)) if time <= now => in_source.then_some(Mark::Removed),
                    Mark::Removed => in_source.then_some(Mark::Removed),
                    inserted @ Mark::Inserted(_) => Some(inserted),
                };
                match mark {
                    Some(Mark::Inserted(expires)) => change.set(id, entry.clone(), expires),
                    Some(Mark::Removed) => change.unset(id, entry.clone()),
                    None => {}
                }
                if mark != Some(known.mark) {
                    obsolete.push(Record { list: name.to_owned(), kind: marks.kind, entry: entry.clone(), mark });
                }
                if mark != Some(known.mark) || in_source != known.in_source {
                    let known = mark.map(|mark| Known { mark, in_source });
                    updates.push((name.to_owned(), marks.kind, entry.clone(), known));
                }
            }
        }
        change.commit()?;
        for (name, kind, entry, known) in updates {
            self.marks_mut(&name, kind).set(&entry, known);
        }
        Ok(obsolete)
    }

    /// Inserts entries into a list, also those that have been removed. `keep` gets what a host has to keep, before a reader sees the change;
    /// if it fails, nothing changes.
    ///
    /// # Errors
    /// As [`Change::commit`](crate::Change::commit). The inner error is that of `keep`. Nothing has changed then.
    pub fn insert<E>(
        &mut self,
        lists: &Lists,
        list: &str,
        entries: &Entries,
        keep: impl FnOnce(&[Record]) -> Result<(), E>,
    ) -> Result<Result<Changed, E>, ListsError> {
        let wanted = entries.with_expiries().map(|(entry, expires)| (entry, Mark::Inserted(expires)));
        self.change(lists, (list, entries.kind()), wanted, keep)
    }

    /// Removes entries from a list, also those that its sources have. Nothing happens to entries that are not there. See [`insert`](Self::insert).
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn remove<E>(
        &mut self,
        lists: &Lists,
        list: &str,
        entries: &Entries,
        keep: impl FnOnce(&[Record]) -> Result<(), E>,
    ) -> Result<Result<Changed, E>, ListsError> {
        self.change(lists, (list, entries.kind()), entries.iter().map(|entry| (entry, Mark::Removed)), keep)
    }

    fn change<'e, E>(
        &mut self,
        lists: &Lists,
        (list, kind): (&str, Kind),
        wanted: impl Iterator<Item = (&'e Entry, Mark)>,
        keep: impl FnOnce(&[Record]) -> Result<(), E>,
    ) -> Result<Result<Changed, E>, ListsError> {
        let snapshot = lists.load();
        let unknown = || ListsError::UnknownList { name: list.to_owned(), known: snapshot.names() };
        let (id, own) =
            snapshot.find(list).and_then(|(id, _)| Some((id, snapshot.list_type(id)?))).ok_or_else(unknown)?;
        if own != ListType::from(kind) {
            return Err(ListsError::Type { name: list.to_owned(), own, wanted: kind.into() });
        }
        let marks = self.marks_mut(list, kind);
        let mut change = lists.change();
        // The last of equal entries counts, as in the change.
        let mut next: BTreeMap<&Entry, Option<Known>> = BTreeMap::new();
        for (entry, mark) in wanted {
            let known = marks.by_entry.get(entry);
            // What is in the list and was not inserted at run time is in a source.
            let in_source = known.map_or_else(|| snapshot.has_entry(id, entry), |known| known.in_source);
            match mark {
                Mark::Inserted(expires) => change.set(id, entry.clone(), expires),
                Mark::Removed => change.unset(id, entry.clone()),
            }
            let keeps = in_source || mark != Mark::Removed;
            next.insert(entry, keeps.then_some(Known { mark, in_source }));
        }
        let record = |(entry, known): (&&Entry, &Option<Known>)| Record {
            list: list.to_owned(),
            kind,
            entry: Entry::clone(entry),
            mark: known.map(|known| known.mark),
        };
        let is_new = |(entry, known): &(&&Entry, &Option<Known>)| {
            marks.by_entry.get(**entry).map(|known| known.mark) != known.map(|known| known.mark)
        };
        let records: Vec<Record> = next.iter().filter(is_new).map(record).collect();
        let done = change.commit_if(|_| keep(&records))?;
        if done.is_ok() {
            for (entry, known) in next {
                marks.set(entry, known);
            }
        }
        Ok(done)
    }

    /// Removes the entries that have expired, those of sources too, from lists to which this overlay was applied. Returns what a host has to keep.
    ///
    /// # Errors
    /// As [`Change::commit`](crate::Change::commit). Nothing has changed then.
    pub fn expire(&mut self, lists: &Lists, now: SystemTime) -> Result<(Changed, Vec<Record>), ListsError> {
        let changed = lists.expire(now)?;
        let snapshot = lists.load();
        let mut records = Vec::new();
        for (name, marks) in self.all().filter(|(name, marks)| find(&snapshot, name, marks.kind).is_some()) {
            for entry in marks.expiries.expired(now) {
                // The source still has it, and would bring it back.
                let in_source = marks.by_entry.get(entry).is_some_and(|known| known.in_source);
                let mark = in_source.then_some(Mark::Removed);
                records.push(Record { list: name.to_owned(), kind: marks.kind, entry: entry.clone(), mark });
            }
        }
        for record in &records {
            let known = record.mark.map(|mark| Known { mark, in_source: true });
            self.marks_mut(&record.list, record.kind).set(&record.entry, known);
        }
        Ok((changed, records))
    }

    /// Returns what is known of an entry of a list of this kind; `None`: nothing.
    #[must_use]
    pub fn mark(&self, list: &str, kind: Kind, entry: &Entry) -> Option<Mark> {
        let marks = self.lists.get(list)?.iter().find(|marks| marks.kind == kind)?;
        marks.by_entry.get(entry).map(|known| known.mark)
    }

    /// Returns how many entries of a list were inserted and removed at run time, and still count.
    #[must_use]
    pub fn len_of(&self, list: &str, kind: Kind) -> usize {
        let marks = self.lists.get(list).and_then(|kinds| kinds.iter().find(|marks| marks.kind == kind));
        marks.map_or(0, |marks| marks.by_entry.len())
    }

    fn all(&self) -> impl Iterator<Item = (&str, &Marks)> {
        self.lists.iter().flat_map(|(name, kinds)| kinds.iter().map(|marks| (&**name, marks)))
    }

    fn marks_mut(&mut self, list: &str, kind: Kind) -> &mut Marks {
        let kinds = self.lists.entry(list.to_owned()).or_default();
        let index = kinds.iter().position(|marks| marks.kind == kind).unwrap_or(kinds.len());
        if index == kinds.len() {
            kinds.push(Marks { kind, by_entry: HashMap::new(), expiries: Expiries::default() });
        }
        #[expect(clippy::indexing_slicing, reason = "the element was found or added above")]
        &mut kinds[index]
    }
}

impl Marks {
    fn set(&mut self, entry: &Entry, known: Option<Known>) {
        let expires = match known {
            Some(Known { mark: Mark::Inserted(expires), .. }) => expires,
            _ => None,
        };
        self.expiries.set(entry, expires);
        match known {
            Some(known) => drop(self.by_entry.insert(entry.clone(), known)),
            None => drop(self.by_entry.remove(entry)),
        }
    }
}

fn find(snapshot: &Snapshot, name: &str, kind: Kind) -> Option<ListId> {
    let (id, _) = snapshot.find(name)?;
    (snapshot.list_type(id)? == ListType::from(kind)).then_some(id)
}
