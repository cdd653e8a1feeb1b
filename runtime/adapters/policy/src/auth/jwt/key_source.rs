//! Keys at a URL. A policy does no I/O: its host fetches the document, and hands it over. What is
//! here decides when to fetch, which documents are accepted, and how long keys stay valid without a
//! new document.

use super::key_file::parse_key_set;
use super::key_source_settings::KeySourceSettings;
use super::keys::KeySet;
use super::token::Token;
use crate::auth::job::Job;
use crate::auth::pool::Busy;
use crate::lists::fetch_url::{backoff, without_query};
use arc_swap::ArcSwapOption;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// The largest document, in bytes.
const LARGEST: usize = 1 << 20;

/// The largest number of requests that wait for one document.
const MAX_WAITING: usize = 1_024;

/// A JSON Web Key Set at a URL ([`Policy::key_sources`](crate::Policy::key_sources)). A host gives
/// each source a task that fetches the document:
///
/// 1. get a [`KeyFetcher`], once per source;
/// 2. wait for [`KeyFetcher::pause`], or until [`KeyFetcher::wanted`] is ready;
/// 3. call [`KeyFetcher::begin`], send `GET` to [`url`](Self::url) with [`timeout`](Self::timeout)
///    as its deadline and without following redirects, read at most [`largest`](Self::largest)
///    bytes, call [`KeyFetch::finish`], and go on with 2.
///
/// Without a fetcher, no token is verified with keys of the source.
pub struct KeySource {
    settings: KeySourceSettings,
    loaded: ArcSwapOption<LoadedKeys>,
    state: Mutex<FetchState>,
}

/// The keys of the last accepted document.
struct LoadedKeys {
    keys: Arc<KeySet>,
    document: Box<[u8]>,
    /// Incremented when the document changes, or arrives again after it was too old.
    version: u64,
    at: Instant,
}

#[derive(Default)]
struct FetchState {
    fetchers: usize,
    fetching: bool,
    /// A token names an unknown key.
    wanted: bool,
    fetcher: Option<Waker>,
    /// The end of the last fetch.
    last: Option<Instant>,
    /// The failures since the last document, all failures, and all documents.
    failures: u32,
    failed: u64,
    fetched: u64,
    /// What requests wait for: the end of the next fetch.
    next: Option<Arc<Job<()>>>,
}

/// The state of a source, for logs and metrics.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeySourceInfo {
    /// The number of keys that count now. 0 before the first document, and when the last one is too old.
    pub keys: usize,
    /// The age of the keys. `None`: there was no document yet.
    pub age: Option<Duration>,
    /// Number of accepted documents.
    pub fetched: u64,
    /// How many fetches failed.
    pub failed: u64,
}

impl KeySource {
    pub(crate) fn new(settings: KeySourceSettings) -> Arc<Self> {
        Arc::new(Self { settings, loaded: ArcSwapOption::empty(), state: Mutex::default() })
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

    /// Returns the largest number of bytes of the document. A larger one counts as a failure.
    #[must_use]
    pub fn largest(&self) -> usize {
        LARGEST
    }

    /// Returns the longest time of a fetch, from the resolution of the name to the last byte.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.settings.timeout
    }

    /// Returns what fetches the document for this source.
    #[must_use]
    pub fn fetcher(self: &Arc<Self>) -> KeyFetcher {
        let mut state = self.state();
        state.fetchers = state.fetchers.saturating_add(1);
        drop(state);
        KeyFetcher { source: Arc::clone(self) }
    }

    /// Returns the state of the source.
    #[must_use]
    pub fn info(&self) -> KeySourceInfo {
        let age = self.loaded.load().as_ref().map(|loaded| loaded.at.elapsed());
        let keys = self.keys().map_or(0, |keys| keys.len());
        let state = self.state();
        KeySourceInfo { keys, age, fetched: state.fetched, failed: state.failed }
    }

    pub(crate) fn settings(&self) -> &KeySourceSettings {
        &self.settings
    }

    /// Returns the keys, unless they are too old.
    pub(super) fn keys(&self) -> Option<Arc<KeySet>> {
        let loaded = self.loaded.load();
        let loaded = loaded.as_ref().filter(|loaded| !self.is_stale(loaded))?;
        Some(Arc::clone(&loaded.keys))
    }

    /// Returns a number that grows when the keys that count change.
    pub(super) fn version(&self) -> u64 {
        self.loaded
            .load()
            .as_ref()
            .map_or(0, |loaded| loaded.version.saturating_mul(2).saturating_add(self.is_stale(loaded).into()))
    }

    fn is_stale(&self, loaded: &LoadedKeys) -> bool {
        loaded.at.elapsed() > self.settings.max_stale
    }

    /// Returns whether a fetch may find the key of a token that no key has verified: its id is
    /// unknown, or there are no keys.
    pub(super) fn may_help(&self, token: &Token<'_>, id_is_known: bool) -> bool {
        let unknown = token.key_id.is_some() && !id_is_known;
        (unknown || self.keys().is_none()) && self.may_wait(&self.state())
    }

    /// Asks for a fetch, and returns what ends with it. `None`: there was one just now, or nobody fetches.
    pub(super) fn want(&self) -> Result<Option<Arc<Job<()>>>, Busy> {
        let mut state = self.state();
        if !self.may_wait(&state) {
            return Ok(None);
        }
        let next = Arc::clone(state.next.get_or_insert_with(Job::new));
        if !state.fetching {
            state.wanted = true;
            if let Some(fetcher) = state.fetcher.take() {
                fetcher.wake();
            }
        }
        if Arc::strong_count(&next) > MAX_WAITING { Err(Busy) } else { Ok(Some(next)) }
    }

    fn may_wait(&self, state: &FetchState) -> bool {
        let rested = state.last.is_none_or(|last| last.elapsed() >= self.settings.cooldown);
        state.fetchers > 0 && (state.fetching || rested)
    }

    fn state(&self) -> MutexGuard<'_, FetchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySource").field("settings", &self.settings).field("info", &self.info()).finish()
    }
}

/// Says when to fetch the document of a [`KeySource`]. While there is none, no request waits for keys.
#[derive(Debug)]
pub struct KeyFetcher {
    source: Arc<KeySource>,
}

impl KeyFetcher {
    /// Returns the source.
    #[must_use]
    pub fn source(&self) -> &KeySource {
        &self.source
    }

    /// Returns the time until the next regular fetch: zero at first, then `refresh`; after failures
    /// at first `cooldown`, and twice as long after each further one.
    #[must_use]
    pub fn pause(&self) -> Duration {
        let KeySourceSettings { refresh, cooldown, .. } = self.source.settings;
        let state = self.source.state();
        let Some(last) = state.last else { return Duration::ZERO };
        let pause = match state.failures {
            0 => refresh,
            failures => backoff(cooldown, failures, refresh.max(cooldown)),
        };
        pause.saturating_sub(last.elapsed())
    }

    /// Waits until a token names an unknown key, and the last fetch was not just now.
    pub async fn wanted(&self) {
        poll_fn(|context| {
            let mut state = self.source.state();
            if state.wanted {
                return Poll::Ready(());
            }
            state.fetcher = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Begins a fetch: requests may wait for its end.
    #[must_use = "dropping it ends the fetch as a failure"]
    pub fn begin(&self) -> KeyFetch {
        let mut state = self.source.state();
        state.fetching = true;
        state.wanted = false;
        KeyFetch { source: Arc::clone(&self.source), ended: false }
    }
}

impl Drop for KeyFetcher {
    fn drop(&mut self) {
        let mut state = self.source.state();
        state.fetchers = state.fetchers.saturating_sub(1);
        let waiting = if state.fetchers == 0 { state.next.take() } else { None };
        drop(state);
        if let Some(waiting) = waiting {
            waiting.finish(());
        }
    }
}

/// A fetch that is under way. Dropping it, as a cancelled task does, ends it as a failure.
#[derive(Debug)]
pub struct KeyFetch {
    source: Arc<KeySource>,
    ended: bool,
}

impl KeyFetch {
    /// Ends the fetch with the document, or with the reason why there is none. Returns the number
    /// of keys if they differ from those before.
    ///
    /// # Errors
    /// Returns why the document is refused. The keys then stay those of the last document until it is too old.
    pub fn finish(mut self, fetched: Result<&[u8], String>) -> Result<Option<usize>, String> {
        self.ended = true;
        self.source.finish(fetched)
    }
}

impl Drop for KeyFetch {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.source.finish(Err("the fetch was given up".to_owned()));
        }
    }
}

impl KeySource {
    /// Ends a fetch, and wakes the requests that wait for it.
    fn finish(&self, fetched: Result<&[u8], String>) -> Result<Option<usize>, String> {
        let result = fetched.and_then(|document| self.take_over(document));
        let mut state = self.state();
        state.fetching = false;
        state.last = Some(Instant::now());
        match &result {
            Ok(_) => (state.failures, state.fetched) = (0, state.fetched.saturating_add(1)),
            Err(_) => {
                (state.failures, state.failed) = (state.failures.saturating_add(1), state.failed.saturating_add(1));
            }
        }
        let waiting = state.next.take();
        drop(state);
        if let Some(waiting) = waiting {
            waiting.finish(());
        }
        result
    }

    fn take_over(&self, document: &[u8]) -> Result<Option<usize>, String> {
        if document.len() > LARGEST {
            return Err(format!("the document has more than {LARGEST} bytes"));
        }
        let before = self.loaded.load_full();
        if let Some(same) = before.as_ref().filter(|before| *before.document == *document) {
            let (keys, document) = (Arc::clone(&same.keys), same.document.clone());
            let version = same.version.saturating_add(self.is_stale(same).into());
            self.loaded.store(Some(Arc::new(LoadedKeys { keys, document, at: Instant::now(), version })));
            return Ok(None);
        }
        // The document is public, so a secret in it is none.
        let keys = parse_key_set(document, false).map_err(|why| format!("the document {why}"))?;
        let count = keys.len();
        let version = before.map_or(1, |before| before.version.saturating_add(1));
        let keys = Arc::new(KeySet::new(keys));
        self.loaded.store(Some(Arc::new(LoadedKeys { keys, document: document.into(), version, at: Instant::now() })));
        Ok(Some(count))
    }
}
