//! The lists of the policy while the proxy runs: what operators insert and remove, kept over
//! reloads and, if wanted, over restarts.
//!
//! One lock orders everything that writes lists.
//!
//! Invariant: a change of a list falls before or after a reload, never between the old and the new lists. Test:
//! `runtime/adapters/proxy/tests/proxy/lists.rs::changes_and_reloads_do_not_lose_each_other`.
//!
//! Invariant: a change is written to the disk before a request sees it, and acknowledged afterwards. Test:
//! `runtime/adapters/proxy/tests/proxy/list_kills.rs::what_was_acknowledged_survives_kills`.

mod store;
mod token;

pub(crate) use token::AdminToken;

use crate::error::Error;
use celero_lists::{
    Changed, Entries, FilePattern, ListId, ListInfo, ListType, Lists, ListsError, Overlay, Record, Records,
};
use celero_policy::{ListDocument, ListSource, Policy, PolicyError};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use store::Store;

/// Most bytes of the bodies of all changes that are read or parsed at a time: parsed entries are
/// many times as large as their text.
pub(crate) const MAX_BODIES: usize = 8 << 20;

/// What operators do to lists.
#[derive(Default)]
pub(crate) struct ListControl {
    inner: Mutex<Inner>,
    counts: Counts,
    /// What is reported about the lists without waiting for a change that is being written. Its
    /// lock is never held for long.
    reported: Mutex<Reported>,
}

#[derive(Default)]
struct Inner {
    overlay: Overlay,
    store: Option<Store>,
    file: Option<PathBuf>,
    /// Whether another process has the file: no change can be kept.
    closed: bool,
}

/// What is reported about the lists.
#[derive(Default)]
struct Reported {
    /// How many entries of each list were inserted and removed at run time.
    changes: HashMap<Arc<str>, usize>,
    /// When the oldest file of each list was modified, as it was read.
    sources: Vec<(String, SystemTime)>,
}

/// What has happened since the start.
#[derive(Default)]
struct Counts {
    inserted: AtomicU64,
    removed: AtomicU64,
    updated: AtomicU64,
    refused: AtomicU64,
    reads: AtomicU64,
    read_failures: AtomicU64,
}

/// The same, as numbers.
pub(crate) struct ListCounts {
    /// Entries that operators have inserted, removed, and given other values.
    pub(crate) inserted: u64,
    pub(crate) removed: u64,
    pub(crate) updated: u64,
    /// Requests without the token.
    pub(crate) refused: u64,
    /// How often files of lists were read again without the policy, and how often that failed.
    pub(crate) reads: u64,
    pub(crate) read_failures: u64,
}

/// A list, for operators.
pub(crate) struct ListState {
    pub(crate) name: Arc<str>,
    pub(crate) ty: ListType,
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
    /// How often it was searched for a value.
    pub(crate) lookups: u64,
    /// How many entries were inserted and removed at run time.
    pub(crate) changes: usize,
    /// How long ago its oldest file was modified, if it has files.
    pub(crate) age: Option<Duration>,
}

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListAction {
    Insert,
    Remove,
}

/// Why a change was refused. Nothing has changed.
#[derive(Debug)]
pub(crate) enum ChangeError {
    Lists(ListsError),
    /// The change can't be written to the disk.
    Store(String),
    /// Another process takes over, and has the file in which changes are kept.
    HandedOver,
}

impl ListControl {
    /// Opens the file in which changes are kept, and reads them.
    ///
    /// # Errors
    /// The file can't be opened, is none of these, or another process has it open.
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, Error> {
        let control = Self::default();
        if let Some(file) = file {
            let store = Store::open(file).map_err(|why| wrong_file(file, &why))?;
            let mut inner = control.lock();
            for record in store.records().map_err(|why| wrong_file(file, &why))? {
                inner.overlay.restore(record).map_err(|why| wrong_file(file, &why))?;
            }
            inner.store = Some(store);
            inner.file = Some(file.to_owned());
        }
        Ok(control)
    }

    /// Closes the file in which changes are kept, for a process that takes over. What was
    /// acknowledged is in it; further changes are refused.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        if let Err(why) = inner.mend() {
            log::warn!("a refused change of lists may be in their file: {why}");
        }
        inner.closed |= inner.store.take().is_some();
    }

    /// Opens the file that was closed: no process takes over.
    ///
    /// # Errors
    /// The file can't be opened. Changes are still refused.
    pub(crate) fn open_again(&self) -> Result<(), Error> {
        let mut inner = self.lock();
        let Inner { store, file, closed, .. } = &mut *inner;
        if let Some(file) = file.as_deref().filter(|_| *closed) {
            *store = Some(Store::open(file).map_err(|why| wrong_file(file, &why))?);
            *closed = false;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the changes to the lists of a policy that was loaded, then calls `publish`, which
    /// puts the policy in force. No change comes between.
    ///
    /// # Errors
    /// The lists would exceed their bounds. Nothing has changed then.
    pub(crate) fn replace_policy(&self, policy: &Policy, publish: impl FnOnce()) -> Result<(), Error> {
        let mut inner = self.lock();
        if let Some(lists) = policy.lists() {
            let applied = inner.overlay.apply(lists, SystemTime::now(), is_complete(policy, None));
            let applied = applied
                .map_err(|error| Error::new(format!("error: with the changes of operators, the lists hold {error}")))?;
            let obsolete = inner.overlay.confirm(applied);
            inner.forget(&obsolete);
        }
        publish();
        self.report(&inner, policy, Some(sources(policy)));
        Ok(())
    }

    /// Reads the files of the lists of a policy again, and applies the changes to them. `is_same`
    /// says whether the files are still what they were before. Returns a sentence for the log.
    ///
    /// # Errors
    /// Files can't be read or have errors, or the lists would exceed their bounds. Nothing has changed then.
    pub(crate) fn read_again(&self, policy: &Policy, is_same: impl FnOnce() -> bool) -> Result<String, Error> {
        let result = self.try_read_again(policy, is_same);
        let count = if result.is_ok() { &self.counts.reads } else { &self.counts.read_failures };
        count.fetch_add(1, Ordering::Relaxed);
        result
    }

    fn try_read_again(&self, policy: &Policy, is_same: impl FnOnce() -> bool) -> Result<String, Error> {
        let began = Instant::now();
        let sources = sources(policy);
        let (Some(running), Some(fresh)) = (policy.lists(), policy.read_lists()?) else {
            return Ok("the policy has no lists".to_owned());
        };
        if !is_same() {
            return Err(Error::new("error: a file of a list changed while it was read"));
        }
        let changed = self.put((policy, None), running, fresh, Some(sources), Lists::take_over)?;
        let entries = running.load().infos().map(|info| info.entries).fold(0, usize::saturating_add);
        let (generation, took) = (changed.generation, began.elapsed());
        Ok(format!("the lists were read again in {took:.1?}: {entries} entries in generation {generation}"))
    }

    /// Reads the list of a source with a new document, for [`put_document`](Self::put_document).
    /// Changes nothing, and waits for no change.
    ///
    /// # Errors
    /// The document or files of the list have errors.
    pub(crate) fn read_document(policy: &Policy, source: &ListSource, document: &ListDocument) -> Result<Lists, Error> {
        let read = policy.read_list_with(source, document).map_err(messages)?;
        read.ok_or_else(|| Error::new("error: the policy has no lists"))
    }

    /// Applies the changes to a list that was [read](Self::read_document) with a new document, and
    /// puts it in force. Returns a sentence for the log.
    ///
    /// # Errors
    /// The lists would exceed their bounds. Nothing has changed then.
    pub(crate) fn put_document(&self, policy: &Policy, source: &ListSource, fresh: Lists) -> Result<String, Error> {
        let Some(running) = policy.lists() else { return Ok("the policy has no lists".to_owned()) };
        let list = source.list();
        let entries = fresh.load().infos().map(|info| info.entries).fold(0, usize::saturating_add);
        let changed = self.put((policy, Some(source)), running, fresh, None, Lists::take_over_some)?;
        Ok(format!("the list {list} has {entries} entries in generation {}", changed.generation))
    }

    /// Applies the changes to lists that were read, with a new document of the source `offered`,
    /// and puts them in force.
    fn put(
        &self,
        (policy, offered): (&Policy, Option<&ListSource>),
        running: &Lists,
        fresh: Lists,
        sources: Option<Vec<(String, SystemTime)>>,
        take_over: impl FnOnce(&Lists, Lists) -> Result<Changed, ListsError>,
    ) -> Result<Changed, Error> {
        let mut inner = self.lock();
        let refused =
            |error: ListsError| Error::new(format!("error: with the changes of operators, the lists hold {error}"));
        let applied = inner.overlay.apply(&fresh, SystemTime::now(), is_complete(policy, offered)).map_err(refused)?;
        let changed = take_over(running, fresh).map_err(refused)?;
        let obsolete = inner.overlay.confirm(applied);
        inner.forget(&obsolete);
        self.report(&inner, policy, sources);
        Ok(changed)
    }

    /// Inserts entries into a list or removes them, in the lists of the policy that `policy`
    /// returns: the one in force. Returns when every request that begins afterwards sees the
    /// change, and a restart keeps it.
    ///
    /// # Errors
    /// The list is unknown or of another kind, the bounds of the lists would be exceeded, the disk
    /// refuses the change, or another process takes over. Nothing has changed then.
    pub(crate) fn change(
        &self,
        policy: impl FnOnce() -> Arc<Policy>,
        (action, list): (ListAction, &str),
        entries: &Entries,
    ) -> Result<Changed, ChangeError> {
        let mut inner = self.lock();
        if inner.closed {
            return Err(ChangeError::HandedOver);
        }
        inner.mend().map_err(ChangeError::Store)?;
        let Inner { overlay, store, .. } = &mut *inner;
        let policy = policy();
        let none = || ChangeError::Lists(ListsError::UnknownList { name: list.to_owned(), known: Vec::new() });
        let lists = policy.lists().ok_or_else(none)?;
        let keep = |records: Records<'_>| store.as_mut().map_or(Ok(()), |store| store.keep(records));
        let done = match action {
            ListAction::Insert => overlay.insert(lists, list, entries, keep),
            ListAction::Remove => overlay.remove(lists, list, entries, keep),
        };
        let changed = done.map_err(ChangeError::Lists)?.map_err(ChangeError::Store)?;
        self.report(&inner, &policy, None);
        drop(inner);
        let Counts { inserted, removed, updated, .. } = &self.counts;
        for (counter, count) in [(inserted, changed.inserted), (removed, changed.removed), (updated, changed.updated)] {
            counter.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
        Ok(changed)
    }

    /// Removes the entries that have expired. Returns how many.
    ///
    /// # Errors
    /// A sentence: the lists can't be changed.
    pub(crate) fn expire(&self, policy: &Policy) -> Result<usize, String> {
        let (Some(lists), now) = (policy.lists(), SystemTime::now()) else { return Ok(0) };
        if lists.next_expiry().is_none_or(|next| next > now) {
            return Ok(0);
        }
        let mut inner = self.lock();
        let (changed, records) = inner.overlay.expire(lists, now).map_err(|error| error.to_string())?;
        inner.forget(&records);
        self.report(&inner, policy, None);
        Ok(changed.removed)
    }

    /// Updates what is reported.
    fn report(&self, inner: &Inner, policy: &Policy, sources: Option<Vec<(String, SystemTime)>>) {
        let infos: Vec<_> = policy.lists().map(|lists| lists.load().infos().collect()).unwrap_or_default();
        let changes =
            infos.iter().map(|info| (Arc::clone(&info.name), inner.overlay.len_of(&info.name, &list_type(info))));
        let changes = changes.collect();
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.changes = changes;
        if let Some(sources) = sources {
            reported.sources = sources;
        }
    }

    /// Counts a request without the token.
    pub(crate) fn refused(&self) {
        self.counts.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> ListCounts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counts { inserted, removed, updated, refused, reads, read_failures } = &self.counts;
        ListCounts {
            inserted: get(inserted),
            removed: get(removed),
            updated: get(updated),
            refused: get(refused),
            reads: get(reads),
            read_failures: get(read_failures),
        }
    }

    /// Returns the generation of the lists of a policy, and each list. Does not wait for changes.
    pub(crate) fn states(&self, policy: &Policy) -> (u64, Vec<ListState>) {
        let Some(lists) = policy.lists() else { return (0, Vec::new()) };
        let snapshot = lists.load();
        // Before the lock is held: many threads have many counts.
        let infos: Vec<_> = (0..)
            .zip(snapshot.infos())
            .map(|(number, info)| (info, snapshot.lookups(ListId::from_number(number))))
            .collect();
        let (reported, now) = (self.reported.lock().unwrap_or_else(PoisonError::into_inner), SystemTime::now());
        let states = infos.into_iter().map(|(info, lookups)| {
            let source = reported.sources.iter().find(|(name, _)| **name == *info.name);
            ListState {
                changes: reported.changes.get(&info.name).copied().unwrap_or_default(),
                age: source.map(|(_, modified)| now.duration_since(*modified).unwrap_or_default()),
                ty: list_type(&info),
                name: info.name,
                entries: info.entries,
                bytes: info.bytes,
                lookups,
            }
        });
        (snapshot.generation(), states.collect())
    }
}

impl Inner {
    /// Makes sure that the store takes writes. What counts of the entries of a write that failed is
    /// what the overlay says.
    fn mend(&mut self) -> Result<(), String> {
        let Self { overlay, store, .. } = self;
        let mark = |record: &Record| overlay.mark(&record.list, &record.ty, &record.entry).cloned();
        store.as_mut().map_or(Ok(()), |store| store.mend(mark))
    }

    /// Keeps what has become obsolete. If that fails, the next start finds it out again.
    fn forget(&mut self, records: &[Record]) {
        if records.is_empty() {
            return;
        }
        let mended = self.mend();
        let kept =
            self.store.as_mut().map_or(Ok(()), |store| mended.and_then(|()| store.keep(records.iter().cloned())));
        if let Err(why) = kept {
            log::warn!("obsolete changes of lists stay in their file: {why}");
        }
    }
}

fn list_type(info: &ListInfo) -> ListType {
    ListType::new(info.kind, info.values.clone())
}

/// Whether each source of a list at a URL has a document. That of `offered` is about to be accepted.
fn is_complete<'p>(policy: &'p Policy, offered: Option<&'p ListSource>) -> impl Fn(&str) -> bool + 'p {
    let is_there = move |source: &ListSource| {
        offered.is_some_and(|offered| std::ptr::eq(offered, source)) || source.document().is_some()
    };
    move |list| policy.list_sources().filter(|source| source.list() == list).all(|source| is_there(source))
}

/// What is wrong with a document, without the lines of the policy: those have the URL, in whose
/// query there may be a secret.
fn messages(error: PolicyError) -> Error {
    let text = error.diagnostics().map(|(_, found)| found.message).collect::<Vec<_>>().join("\n");
    Error::from(error).with_text(text)
}

fn wrong_file(file: &Path, why: &str) -> Error {
    Error::new(format!("error: {}, for changes of lists: {why}", file.display()))
}

/// Returns when the oldest file of each list with files was modified.
fn sources(policy: &Policy) -> Vec<(String, SystemTime)> {
    let found = |path: &PathBuf| match FilePattern::of_path(path) {
        Some(pattern) => pattern.files().unwrap_or_default(),
        None => vec![path.clone()],
    };
    let modified = |file: PathBuf| std::fs::metadata(file).and_then(|about| about.modified()).ok();
    let oldest = |files: &[PathBuf]| files.iter().flat_map(found).filter_map(modified).min();
    policy.list_files().filter_map(|(name, files)| Some((name, oldest(&files)?))).collect()
}
