//! [`Overlay`]: what was inserted and removed at run time, over what the sources of lists say.
//!
//! A host fills its lists from files. What others change while it runs must survive when the files
//! are read again, and a restart if the host keeps the [`Record`]s. A removal counts until the
//! sources do not have the entry any more; an insertion counts until it expires or is removed.
//!
//! Invariant: the lists of a host with an overlay depend on their sources and the overlay only, not on the order of
//! reads and changes. Test: `runtime/lists/tests/overlay.rs::the_last_word_counts`.
//!
//! Invariant: a refused change alters neither the lists nor the overlay. Test:
//! `runtime/lists/tests/overlay.rs::what_is_refused_changes_nothing`.
//!
//! Invariant: a document that is not fetched yet does not cancel removals. Test:
//! `runtime/lists/tests/overlay.rs::what_a_missing_source_may_have_stays_removed`.

use super::Lists;
use super::change::Change;
use super::shared::Changed;
use super::snapshot::{ListId, Snapshot};
use crate::entry::Entry;
use crate::error::ListsError;
use crate::list::Entries;
use crate::value::{Cells, ListType, Scalar, is_value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

/// What became of an entry at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mark {
    /// It was inserted.
    Inserted {
        /// When it leaves its list, also if a source has it.
        expires: Option<SystemTime>,
        /// Its value, whatever a source says: of each field of the list's
        /// [`ValueType`](crate::ValueType). Empty in lists without values.
        value: Arc<[Option<Scalar>]>,
    },
    /// It was removed, though a source has it.
    Removed,
}

impl Mark {
    /// Returns the mark of an entry without a value that was inserted.
    #[must_use]
    pub fn inserted(expires: Option<SystemTime>) -> Self {
        Self::Inserted { expires, value: Arc::default() }
    }
}

/// A change of an [`Overlay`], for a host that keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The name of the list.
    pub list: Arc<str>,
    /// What its entries are and carry. Lists of one name and different types have nothing in common.
    pub ty: ListType,
    /// The entry.
    pub entry: Entry,
    /// What is known of it from now on. `None`: nothing.
    pub mark: Option<Mark>,
}

/// The records of a change, each made when it is asked for: a host writes them one by one, and a
/// large change takes no memory for all of them.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    list: &'a Arc<str>,
    ty: &'a ListType,
    wanted: &'a Wanted<'a>,
    steps: std::slice::Iter<'a, Step>,
}

impl Iterator for Records<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let step = self.steps.by_ref().find(|step| step.is_new)?;
        let (entry, mark) = self.wanted.get(step.number)?;
        let mark = step.keeps(&mark).then_some(mark);
        Some(Record { list: Arc::clone(self.list), ty: self.ty.clone(), entry: entry.clone(), mark })
    }
}

/// What a change wants of its entries, by their numbers.
#[derive(Debug)]
struct Wanted<'e> {
    entries: &'e Entries,
    /// By the number of a value; `None` if entries are removed.
    inserts: Option<Vec<Cells>>,
}

impl<'e> Wanted<'e> {
    fn get(&self, number: usize) -> Option<(&'e Entry, Mark)> {
        let (entry, expires) = self.entries.numbered(number)?;
        let Some(values) = &self.inserts else { return Some((entry, Mark::Removed)) };
        let value = self.entries.value_number(number).and_then(|value| values.get(value as usize));
        Some((entry, Mark::Inserted { expires, value: value.cloned().unwrap_or_default() }))
    }
}

/// What a change does to one entry. The rest is computed where it is needed: a change may have a million of them.
#[derive(Debug)]
struct Step {
    /// The number of the entry.
    number: usize,
    in_source: bool,
    /// Whether the mark of the entry changes.
    is_new: bool,
}

impl Step {
    /// Whether the overlay keeps this mark. A removal of what no source has says nothing.
    fn keeps(&self, mark: &Mark) -> bool {
        self.in_source || *mark != Mark::Removed
    }
}

/// What was inserted and removed at run time, over what the sources of lists say.
///
/// ```
/// use celero_lists::{Entries, Kind, Limits, Lists, Overlay};
/// use std::{convert::Infallible, time::SystemTime};
///
/// let lists = Lists::new(Limits::default());
/// let ports = lists.declare("ports", Kind::Integers)?;
/// let mut overlay = Overlay::default();
/// let entries = Entries::from_texts(Kind::Integers, ["443"]).unwrap();
/// overlay.insert(&lists, "ports", &entries, |_records| Ok::<(), Infallible>(()))?;
///
/// // The source is read again: it says nothing of 443.
/// let fresh = Lists::new(Limits::default());
/// fresh.declare("ports", Kind::Integers)?;
/// let applied = overlay.apply(&fresh, SystemTime::now(), |_| true)?;
/// lists.take_over(fresh)?;
/// overlay.confirm(applied);
/// assert!(lists.load().contains_integer(ports, 443));
/// # Ok::<(), celero_lists::ListsError>(())
/// ```
#[derive(Debug, Default)]
pub struct Overlay {
    /// By name. Lists of a name have few types, nearly always one.
    lists: BTreeMap<Arc<str>, Vec<Marks>>,
    /// The lists of which a source is missing.
    incomplete: BTreeSet<String>,
}

/// What [`Overlay::apply`] has found out.
#[derive(Debug)]
#[must_use = "`Overlay::confirm` takes it when the lists are in force"]
pub struct Applied {
    updates: Vec<Update>,
    obsolete: Vec<Record>,
    /// Each list, and whether all of its sources are there.
    lists: Vec<(Arc<str>, bool)>,
}

/// What is known of an entry from now on.
#[derive(Debug)]
struct Update {
    list: Arc<str>,
    ty: ListType,
    entry: Entry,
    known: Option<Known>,
}

/// What is known of the entries of one list.
#[derive(Debug)]
struct Marks {
    ty: ListType,
    by_entry: HashMap<Entry, Known>,
}

#[derive(Clone, Debug)]
struct Known {
    mark: Mark,
    /// Whether a source has the entry, or may have it: a source of the list is missing.
    in_source: bool,
}

impl Overlay {
    /// Takes over what a host has kept. Call [`apply`](Self::apply) afterwards.
    ///
    /// # Errors
    /// A sentence: the value of an inserted entry is none of its list's type. Nothing has changed then.
    pub fn restore(&mut self, record: Record) -> Result<(), String> {
        if let Some(Mark::Inserted { value, .. }) = &record.mark
            && !is_value(&record.ty, value)
        {
            return Err(format!("the value of {} is none of a list of {}", record.entry, record.ty));
        }
        let known = record.mark.map(|mark| Known { mark, in_source: false });
        self.marks_mut(&record.list, &record.ty).set(record.entry, known);
        Ok(())
    }

    /// Applies everything to lists whose entries are those of their sources, as one change.
    /// `is_complete` says of a list whether all of its sources are there: of one that lacks some,
    /// all removals stay. Give the result to [`confirm`](Self::confirm) when these lists are in
    /// force; change the overlay only afterwards.
    ///
    /// # Errors
    /// As [`Change::commit`](crate::Change::commit). Nothing has changed then in the lists.
    pub fn apply(
        &self,
        fresh: &Lists,
        now: SystemTime,
        is_complete: impl Fn(&str) -> bool,
    ) -> Result<Applied, ListsError> {
        let source = fresh.load();
        let mut change = fresh.change();
        let (mut updates, mut obsolete) = (Vec::new(), Vec::new());
        let lists: Vec<_> = source.infos().map(|info| (Arc::clone(&info.name), is_complete(&info.name))).collect();
        for (name, marks) in self.all() {
            // Entries of what follows are those of its source.
            let Some(id) = find(&source, name, &marks.ty).filter(|_| !fresh.is_followed(name)) else { continue };
            let may_have = lists.iter().any(|(list, complete)| *list == *name && !complete);
            for (entry, known) in &marks.by_entry {
                let in_source = may_have || source.holds(id, entry);
                let gone = match &known.mark {
                    Mark::Inserted { expires, .. } => expires.is_some_and(|time| time <= now),
                    Mark::Removed => true,
                };
                let mark = if gone { in_source.then_some(Mark::Removed) } else { Some(known.mark.clone()) };
                if let Some(mark) = &mark {
                    mark.add_to(&mut change, id, entry);
                }
                let is_same = mark.as_ref() == Some(&known.mark);
                if !is_same {
                    let (ty, mark) = (marks.ty.clone(), mark.clone());
                    obsolete.push(Record { list: Arc::clone(name), ty, entry: entry.clone(), mark });
                }
                if !is_same || in_source != known.in_source {
                    let known = mark.map(|mark| Known { mark, in_source });
                    updates.push(Update { list: Arc::clone(name), ty: marks.ty.clone(), entry: entry.clone(), known });
                }
            }
        }
        change.commit()?;
        Ok(Applied { updates, obsolete, lists })
    }

    /// Notes that the lists to which [`apply`](Self::apply) applied everything are in force.
    /// Returns what this made obsolete: removals of entries that no source has any more, and
    /// insertions that have expired.
    pub fn confirm(&mut self, applied: Applied) -> Vec<Record> {
        let Applied { updates, obsolete, lists } = applied;
        for Update { list, ty, entry, known } in updates {
            self.marks_mut(&list, &ty).set(entry, known);
        }
        for (list, complete) in lists {
            if complete {
                self.incomplete.remove(&*list);
            } else {
                self.incomplete.insert(list.to_string());
            }
        }
        obsolete
    }

    /// Inserts entries into a list with their values, also those that have been removed. An entry
    /// that is there gets the new value. `keep` gets what a host has to keep, before a reader sees
    /// the change; if it fails, nothing changes.
    ///
    /// # Errors
    /// As [`Change::commit`](crate::Change::commit), and the list is of another type. The inner
    /// error is that of `keep`. Nothing has changed then.
    pub fn insert<E>(
        &mut self,
        lists: &Lists,
        list: &str,
        entries: &Entries,
        keep: impl FnOnce(Records<'_>) -> Result<(), E>,
    ) -> Result<Result<Changed, E>, ListsError> {
        let snapshot = lists.load();
        let (id, own) = known_list(&snapshot, list)?;
        if own != *entries.list_type() {
            return Err(ListsError::Type { name: list.to_owned(), own, wanted: entries.list_type().clone() });
        }
        let wanted = Wanted { entries, inserts: Some(entries.distinct_values()) };
        self.change(lists, &snapshot, (list, id, &own), &wanted, keep)
    }

    /// Removes entries from a list, also those that its sources have, whatever their values are.
    /// Nothing happens to entries that are not there. See [`insert`](Self::insert).
    ///
    /// # Errors
    /// As [`insert`](Self::insert), except that only the kind of the list counts.
    pub fn remove<E>(
        &mut self,
        lists: &Lists,
        list: &str,
        entries: &Entries,
        keep: impl FnOnce(Records<'_>) -> Result<(), E>,
    ) -> Result<Result<Changed, E>, ListsError> {
        let snapshot = lists.load();
        let (id, own) = known_list(&snapshot, list)?;
        if own.kind() != entries.kind() {
            return Err(ListsError::Type { name: list.to_owned(), own, wanted: entries.kind().into() });
        }
        let wanted = Wanted { entries, inserts: None };
        self.change(lists, &snapshot, (list, id, &own), &wanted, keep)
    }

    fn change<E>(
        &mut self,
        lists: &Lists,
        snapshot: &Snapshot,
        (list, id, ty): (&str, ListId, &ListType),
        wanted: &Wanted<'_>,
        keep: impl FnOnce(Records<'_>) -> Result<(), E>,
    ) -> Result<Result<Changed, E>, ListsError> {
        let (may_have, list) = (self.incomplete.contains(list), Arc::from(list));
        let marks = self.marks_mut(&list, ty);
        let mut change = lists.change();
        let numbers = wanted.entries.distinct();
        change.reserve(id, numbers.len());
        let step = |number: usize| {
            let (entry, mark) = wanted.get(number)?;
            let known = marks.by_entry.get(entry);
            // What is in the list and was not inserted at run time is in a source.
            let in_source = may_have || known.map_or_else(|| snapshot.holds(id, entry), |known| known.in_source);
            mark.add_to(&mut change, id, entry);
            let mut step = Step { number, in_source, is_new: false };
            step.is_new = known.map(|known| &known.mark) != step.keeps(&mark).then_some(&mark);
            Some(step)
        };
        let steps: Vec<Step> = numbers.into_iter().filter_map(step).collect();
        let records = Records { list: &list, ty, wanted, steps: steps.iter() };
        let done = change.commit_if(|_| keep(records))?;
        if done.is_ok() {
            let known = |step: Step| {
                let (entry, mark) = wanted.get(step.number)?;
                Some((entry, step.keeps(&mark).then_some(Known { mark, in_source: step.in_source })))
            };
            if wanted.inserts.is_some() {
                // Growing step by step takes half as much again for a while.
                let entries = steps.iter().filter_map(|step| wanted.entries.numbered(step.number));
                let unknown = entries.filter(|(entry, _)| !marks.by_entry.contains_key(*entry)).count();
                marks.by_entry.reserve(unknown);
            }
            for (entry, known) in steps.into_iter().filter_map(known) {
                marks.set(entry.clone(), known);
            }
        }
        Ok(done)
    }

    /// Removes the entries that have expired, those of sources too, from lists to which this
    /// overlay was applied. Returns what a host has to keep.
    ///
    /// # Errors
    /// As [`Change::commit`](crate::Change::commit). Nothing has changed then.
    pub fn expire(&mut self, lists: &Lists, now: SystemTime) -> Result<(Changed, Vec<Record>), ListsError> {
        let expired = lists.expired(now);
        let changed = lists.expire(now)?;
        let snapshot = lists.load();
        let mut records = Vec::new();
        for (id, entry) in expired {
            let Some(list) = snapshot.lists.get(id.0 as usize) else { continue };
            let (name, ty) = (&list.name, list.list_type());
            let known = self.marks(name, &ty).and_then(|marks| marks.by_entry.get(&entry));
            let Some(Known { mark: Mark::Inserted { expires: Some(time), .. }, in_source }) = known else { continue };
            if *time <= now {
                // The source still has it, and would bring it back.
                let mark = in_source.then_some(Mark::Removed);
                records.push(Record { list: Arc::clone(name), ty, entry, mark });
            }
        }
        for record in &records {
            let known = record.mark.clone().map(|mark| Known { mark, in_source: true });
            self.marks_mut(&record.list, &record.ty).set(record.entry.clone(), known);
        }
        Ok((changed, records))
    }

    /// Returns what is known of an entry of a list of this type; `None`: nothing.
    #[must_use]
    pub fn mark(&self, list: &str, ty: &ListType, entry: &Entry) -> Option<&Mark> {
        self.marks(list, ty)?.by_entry.get(entry).map(|known| &known.mark)
    }

    /// Returns how many entries of a list were inserted and removed at run time, and still count.
    #[must_use]
    pub fn len_of(&self, list: &str, ty: &ListType) -> usize {
        self.marks(list, ty).map_or(0, |marks| marks.by_entry.len())
    }

    fn marks(&self, list: &str, ty: &ListType) -> Option<&Marks> {
        self.lists.get(list)?.iter().find(|marks| marks.ty == *ty)
    }

    fn all(&self) -> impl Iterator<Item = (&Arc<str>, &Marks)> {
        self.lists.iter().flat_map(|(name, types)| types.iter().map(move |marks| (name, marks)))
    }

    fn marks_mut(&mut self, list: &Arc<str>, ty: &ListType) -> &mut Marks {
        let types = self.lists.entry(Arc::clone(list)).or_default();
        let index = types.iter().position(|marks| marks.ty == *ty).unwrap_or(types.len());
        if index == types.len() {
            types.push(Marks { ty: ty.clone(), by_entry: HashMap::new() });
        }
        #[expect(clippy::indexing_slicing, reason = "the element was found or added above")]
        &mut types[index]
    }
}

impl Mark {
    /// Makes a change do to an entry what this says of it.
    fn add_to(&self, change: &mut Change<'_>, list: ListId, entry: &Entry) {
        match self {
            Self::Inserted { expires, value } => change.set(list, entry.clone(), Arc::clone(value), *expires),
            Self::Removed => change.unset(list, entry.clone()),
        }
    }
}

impl Marks {
    fn set(&mut self, entry: Entry, known: Option<Known>) {
        match known {
            Some(known) => drop(self.by_entry.insert(entry, known)),
            None => drop(self.by_entry.remove(&entry)),
        }
    }
}

/// The list of a name and type.
fn find(snapshot: &Snapshot, name: &str, ty: &ListType) -> Option<ListId> {
    let (id, _) = snapshot.find(name)?;
    (snapshot.list_type(id)? == *ty).then_some(id)
}

/// The list of a name, and its type.
fn known_list(snapshot: &Snapshot, name: &str) -> Result<(ListId, ListType), ListsError> {
    let found = snapshot.find(name).and_then(|(id, _)| Some((id, snapshot.list_type(id)?)));
    found.ok_or_else(|| ListsError::UnknownList { name: name.to_owned(), known: snapshot.names() })
}
