//! [`ListSource`]: entries of a list at a URL. A policy does no I/O: its host fetches the document,
//! and hands it over. What is here decides when to fetch, and keeps the last document that was
//! accepted.

use crate::lists::entry_format::EntryFormat;
use crate::lists::fetch_url::{backoff, without_query};
use crate::problems::FileSpan;
use celero::lists::ListType;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The time after the first failure; it doubles with each further one.
const RETRY: Duration = Duration::from_secs(10);
/// How much earlier or later than `refresh` a fetch may be: proxies that were started together do not fetch together.
const JITTER: f64 = 0.1;

/// The settings of a source, as the policy has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListSourceSettings {
    pub(crate) list: String,
    pub(crate) ty: ListType,
    pub(crate) url: String,
    pub(crate) format: EntryFormat,
    /// The time between two fetches.
    pub(crate) refresh: Duration,
    /// The longest time of a fetch.
    pub(crate) timeout: Duration,
    /// The largest document, in bytes.
    pub(crate) largest: usize,
    /// Whether a document may have no entries.
    pub(crate) may_be_empty: bool,
}

/// A document with entries, as a host fetched it.
#[derive(Clone, Debug)]
pub struct ListDocument {
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// The header `etag` of the answer.
    pub etag: Option<String>,
    /// The header `last-modified` of the answer.
    pub last_modified: Option<String>,
    /// When the server last said that this is the current one.
    pub at: SystemTime,
}

/// Entries of a list at a URL ([`Policy::list_sources`](crate::Policy::list_sources)). A host gives each source a task:
///
/// 1. wait for [`pause`](Self::pause);
/// 2. send `GET` to [`url`](Self::url) with [`timeout`](Self::timeout) as its deadline and without
///    following redirects; with `if-none-match` and `if-modified-since` if there is a
///    [`document`](Self::document) that has `etag` or `last_modified`; and read at most
///    [`largest`](Self::largest) bytes;
/// 3. of a new document, get the lists from
///    [`Policy::read_list_with`](crate::Policy::read_list_with) and put them in force with
///    [`Lists::take_over_some`](celero::lists::Lists::take_over_some); then call
///    [`accept`](Self::accept). If the answer is 304 (Not Modified), call
///    [`is_current`](Self::is_current); otherwise [`failed`](Self::failed). Go on with 1.
///
/// Until there is a document, its entries are missing in the list. A document that can't be used changes nothing.
pub struct ListSource {
    settings: ListSourceSettings,
    /// Where the policy names it.
    pub(crate) place: FileSpan,
    number: usize,
    state: Mutex<State>,
}

#[derive(Clone, Debug, Default)]
struct State {
    document: Option<Arc<ListDocument>>,
    /// The end of the last fetch.
    last: Option<Instant>,
    /// The pause after it.
    pause: Duration,
    /// The failures since the last answer that could be used.
    failures: u32,
    info: ListSourceInfo,
}

/// Results of the fetches of a source, for logs and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListSourceInfo {
    /// How many documents were accepted.
    pub accepted: u64,
    /// How often the document had not changed.
    pub unchanged: u64,
    /// How many fetches failed, documents that could not be used among them.
    pub failed: u64,
    /// Why the last fetch failed; `None` if it did not.
    pub error: Option<String>,
}

impl ListSource {
    pub(crate) fn new(settings: ListSourceSettings, place: FileSpan, number: usize) -> Self {
        Self { settings, place, number, state: Mutex::default() }
    }

    /// Returns the name of the list.
    #[must_use]
    pub fn list(&self) -> &str {
        &self.settings.list
    }

    /// Returns the type of the list.
    #[must_use]
    pub fn list_type(&self) -> &ListType {
        &self.settings.ty
    }

    /// Returns the URL of the document.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.settings.url
    }

    /// Returns the URL without its query, which may hold a secret: for logs and metrics.
    #[must_use]
    pub fn shown_url(&self) -> &str {
        without_query(&self.settings.url)
    }

    /// Returns the place of the URL among those of the list, from 1: URLs may differ in their
    /// queries only, which are not shown.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the largest number of bytes of the document. A larger one counts as a failure.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.settings.largest
    }

    /// Returns the longest time of a fetch, from the resolution of the name to the last byte.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.settings.timeout
    }

    pub(crate) fn format(&self) -> &EntryFormat {
        &self.settings.format
    }

    /// Checks the entries of a document.
    ///
    /// # Errors
    /// What is wrong with them, or that there are none, unless the list may be empty.
    pub fn check(&self, document: &ListDocument) -> Result<(), String> {
        let entries = self.format().parse(&self.settings.ty, &document.bytes).map_err(|wrong| wrong.join("\n"))?;
        if entries.is_empty() && !self.settings.may_be_empty {
            return Err("it has no entries, and the list has no `empty: allowed`".to_owned());
        }
        Ok(())
    }

    /// Returns the last document that was accepted.
    #[must_use]
    pub fn document(&self) -> Option<Arc<ListDocument>> {
        self.state().document.clone()
    }

    /// Returns what became of the fetches.
    #[must_use]
    pub fn info(&self) -> ListSourceInfo {
        self.state().info.clone()
    }

    /// Returns how long ago the server last said that the document is the current one. `None`: there is none yet.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        let at = self.state().document.as_ref()?.at;
        Some(SystemTime::now().duration_since(at).unwrap_or_default())
    }

    /// Returns the time until the next fetch: zero at first, then `refresh`, by up to a tenth
    /// shorter or longer; after a failure 10 seconds, and twice as long after each further one, but
    /// never longer than `refresh`.
    #[must_use]
    pub fn pause(&self) -> Duration {
        let state = self.state();
        state.last.map_or(Duration::ZERO, |last| state.pause.saturating_sub(last.elapsed()))
    }

    /// Takes a new document, whose entries are in force.
    pub fn accept(&self, document: ListDocument) {
        self.end(|state| {
            state.document = Some(Arc::new(document));
            state.info.accepted = state.info.accepted.saturating_add(1);
        });
    }

    /// Notes that the server says that the document is still the current one. Without a document this is a failure.
    pub fn is_current(&self, now: SystemTime) {
        if self.document().is_none() {
            return self.failed("the server says that the document has not changed, but there is none".to_owned());
        }
        self.end(|state| {
            state.document = state.document.take().map(|known| Arc::new(ListDocument { at: now, ..(*known).clone() }));
            state.info.unchanged = state.info.unchanged.saturating_add(1);
        });
    }

    /// Notes that a fetch failed, or that its document can't be used.
    pub fn failed(&self, why: String) {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        state.pause = jittered(backoff(RETRY, state.failures, self.settings.refresh));
        state.last = Some(Instant::now());
        state.info.failed = state.info.failed.saturating_add(1);
        state.info.error = Some(why);
    }

    fn end(&self, done: impl FnOnce(&mut State)) {
        let mut state = self.state();
        done(&mut state);
        state.pause = jittered(self.settings.refresh);
        state.failures = 0;
        state.last = Some(Instant::now());
        state.info.error = None;
    }

    /// Begins with a document that a host has kept. It is fetched again at once.
    pub(crate) fn restore(&self, document: ListDocument) {
        self.state().document.get_or_insert(Arc::new(document));
    }

    /// Takes over what the source of the policy before knows, if it has the same entries and its
    /// document is not larger than this one allows.
    pub(crate) fn take_over(&self, before: &Self) -> bool {
        let (own, other) = (&self.settings, &before.settings);
        let mut known = before.state().clone();
        let may_be_empty = own.may_be_empty || !other.may_be_empty;
        let fits = known.document.as_ref().is_none_or(|document| {
            document.bytes.len() <= own.largest && (may_be_empty || self.check(document).is_ok())
        });
        let is_same =
            (&own.list, &own.ty, &own.url, &own.format) == (&other.list, &other.ty, &other.url, &other.format) && fits;
        if is_same {
            known.pause = known.pause.min(own.refresh);
            *self.state() = known;
        }
        is_same
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn jittered(time: Duration) -> Duration {
    let share = 1.0 - JITTER + 2.0 * JITTER * fastrand::f64();
    Duration::try_from_secs_f64(time.as_secs_f64() * share).unwrap_or(time)
}

impl fmt::Debug for ListSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListSource").field("settings", &self.settings).field("info", &self.info()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero::lists::Kind;
    use celero_lists::Format;

    fn source(url: &str, refresh: u64, timeout: u64, largest: usize) -> ListSource {
        let settings = ListSourceSettings {
            list: "a".to_owned(),
            ty: Kind::Texts.into(),
            url: url.to_owned(),
            format: EntryFormat::Text(Format::Lines),
            refresh: Duration::from_secs(refresh),
            timeout: Duration::from_secs(timeout),
            largest,
            may_be_empty: false,
        };
        ListSource::new(settings, FileSpan { file: 0, start: 0, end: 0 }, 1)
    }

    #[test]
    fn a_document_stays_when_only_its_fetches_change() {
        let before = source("https://a.example/b", 3_600, 30, 100);
        let bytes: Arc<[u8]> = b"x\ny\n".as_slice().into();
        before.accept(ListDocument { bytes, etag: None, last_modified: None, at: SystemTime::now() });
        for (refresh, timeout, largest) in [(60, 30, 100), (3_600, 5, 100), (3_600, 30, 4), (60, 5, 1_000)] {
            let next = source("https://a.example/b", refresh, timeout, largest);
            assert!(next.take_over(&before));
            assert!(next.document().is_some() && next.pause() <= Duration::from_secs(refresh).mul_f64(1.0 + JITTER));
        }
        let (smaller, other) =
            (source("https://a.example/b", 3_600, 30, 3), source("https://a.example/c", 3_600, 30, 100));
        assert!(!smaller.take_over(&before) && !other.take_over(&before));
        assert!(smaller.document().is_none() && other.document().is_none());
    }
}
