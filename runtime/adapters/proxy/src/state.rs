//! The state that all services of the proxy share.

use crate::config::{Config, Listener};
use crate::error::Error;
use crate::generation::Generation;
use crate::generation::file_stamps::{FileStamps, check_end_markers};
use crate::lists::control::{ListControl, MAX_BODIES};
use crate::logs::brief_entry;
use crate::logs::event_history::EventHistory;
use crate::logs::line_log::LineLog;
use crate::metrics::counters::{Event, Metrics};
use crate::mirror::Mirrors;
use crate::process::file_limit;
use crate::process::hand_over::{Listening, Predecessor};
use crate::process::service_manager;
use arc_swap::ArcSwap;
use celero_lists::FilePattern;
use celero_policy::{ListDocument, ListSource, Policy};
use http::StatusCode;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::sync::{Notify, Semaphore, watch};

/// The state that all services share.
pub(crate) struct State {
    file: PathBuf,
    demo: SocketAddr,
    current: ArcSwap<Generation>,
    /// Incremented for each new generation.
    changed: watch::Sender<u64>,
    /// Held during a reload: one at a time.
    reloading: Mutex<()>,
    /// Held while a document of a list is read and put in force, one at a time. Taken before `reloading`.
    reading_documents: Mutex<()>,
    /// Whether the proxy is about to stop.
    draining: AtomicBool,
    /// Whether no connection is accepted any more, and who waits for that.
    stopping: AtomicBool,
    stops: Notify,
    /// Copies of the sockets of the listeners, for a process that takes over; none when the proxy is about to stop.
    sockets: Mutex<Vec<Listening>>,
    /// The process that waits until this one serves.
    predecessor: Mutex<Option<Predecessor>>,
    /// How many connections of clients are open.
    pub(crate) connections: Arc<AtomicUsize>,
    /// When the process began to count.
    pub(crate) started: SystemTime,
    pub(crate) metrics: Metrics,
    pub(crate) mirrors: Mirrors,
    pub(crate) history: EventHistory,
    pub(crate) lists: ListControl,
    /// The bytes of bodies of changes of lists that may be read and parsed at a time.
    pub(crate) list_bodies: Arc<Semaphore>,
    pub(crate) log: Option<LineLog>,
}

impl State {
    pub(crate) fn new(
        file: PathBuf,
        demo: SocketAddr,
        first: Generation,
        lists: ListControl,
        log: Option<LineLog>,
    ) -> Self {
        Self {
            file,
            demo,
            current: ArcSwap::from_pointee(first),
            changed: watch::Sender::new(0),
            reloading: Mutex::new(()),
            reading_documents: Mutex::new(()),
            draining: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            stops: Notify::new(),
            sockets: Mutex::default(),
            predecessor: Mutex::default(),
            connections: Arc::default(),
            started: SystemTime::now(),
            metrics: Metrics::default(),
            mirrors: Mirrors::default(),
            history: EventHistory::default(),
            lists,
            list_bodies: Arc::new(Semaphore::new(MAX_BODIES)),
            log,
        }
    }

    /// Returns the current generation, without a lock.
    pub(crate) fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// Returns a receiver that is notified of each new generation.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Makes `/ready` say that the proxy is about to stop.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Returns whether the proxy is about to stop.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Keeps the sockets for a process that takes over, and who waits until this one serves.
    pub(crate) fn opened(&self, sockets: Vec<Listening>, predecessor: Option<Predecessor>) {
        *lock(&self.sockets) = sockets;
        *lock(&self.predecessor) = predecessor;
    }

    /// Returns copies of the sockets.
    pub(crate) fn sockets(&self) -> std::io::Result<Vec<Listening>> {
        lock(&self.sockets).iter().map(|(address, socket)| Ok((*address, socket.try_clone()?))).collect()
    }

    /// Says to others that requests are handled: to the process before this one, or to the service
    /// manager, which knows already if there is one.
    ///
    /// # Errors
    /// The process before this one is gone.
    pub(crate) fn serves(&self) -> Result<(), Error> {
        match lock(&self.predecessor).take() {
            Some(predecessor) => predecessor.replaced(),
            None => {
                service_manager::ready("requests are handled");
                Ok(())
            }
        }
    }

    /// Notes that no connection is accepted any more: the sockets are closed as soon as their services have ended.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.stops.notify_waiters();
        lock(&self.sockets).clear();
    }

    /// Returns whether no connection is accepted any more.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Waits until no connection is accepted any more.
    pub(crate) async fn stopped(&self) {
        // Awaited from here on, so it is not missed if it comes now.
        let stops = self.stops.notified();
        if !self.is_stopping() {
            stops.await;
        }
    }

    /// Returns how many requests and connections are open.
    pub(crate) fn open(&self) -> (i64, usize) {
        (self.metrics.open(), self.connections.load(Ordering::Relaxed))
    }

    /// Returns all files of the current generation.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = self.current().files();
        files.push(self.file.clone());
        files
    }

    /// Counts and logs a request that was refused because of its head, before it could be handled.
    pub(crate) fn refused_head(&self, client: Option<IpAddr>, status: StatusCode) {
        self.metrics.head_refused(status);
        if let Some(log) = &self.log {
            log.line(brief_entry::refused(client, status));
        }
    }

    /// Loads all files again. Files with errors change nothing; the errors are logged and returned.
    /// `cause` says why, for the log.
    pub(crate) fn reload(&self, cause: &str) -> Result<(), Error> {
        let _one = lock(&self.reloading);
        service_manager::reloading();
        let before = self.current();
        // No change of a list falls between the old and the new lists.
        let next = self.read().and_then(|next| {
            let next = Arc::new(next);
            self.lists.replace_policy(&next.policy, || self.current.store(Arc::clone(&next)))?;
            Ok(next)
        });
        self.metrics.count(if next.is_ok() { Event::Reloaded } else { Event::ReloadFailed });
        match next {
            Ok(next) => {
                next.take_servers();
                // Once for each need: the system's answer stays the same.
                if file_limit::needed_by(&next.config) != file_limit::needed_by(&before.config) {
                    file_limit::raise(&next.config);
                }
                let changes = next.changes_since(&before);
                self.changed.send_modify(|number| *number = number.wrapping_add(1));
                log::info!("{cause}; now in force: {changes}");
                self.history.reloaded(cause, Ok(&changes));
                service_manager::ready("the files in force are the current ones");
                Ok(())
            }
            Err(error) => {
                self.note_refusal(&error);
                self.history.reloaded(cause, Err(&error.to_string()));
                log::error!("{cause}, but nothing changes because of errors in the files:\n{error}");
                service_manager::ready("the last reload was refused because of errors in the files; the log has them");
                Err(error)
            }
        }
    }

    /// Returns whether all of these are files of lists or patterns of them, which can be read again
    /// without compiling the policy.
    pub(crate) fn are_list_files(&self, files: &[&Path]) -> bool {
        let known = self.list_files();
        let is = |known: &PathBuf, file: &Path| {
            known == file || FilePattern::of_path(known).is_some_and(|pattern| pattern.matches(file))
        };
        files.iter().all(|file| known.iter().any(|known| is(known, file)))
    }

    /// Puts the entries of a new document in force, and accepts it for its source. Returns a
    /// sentence for the log; `None` if the policy was replaced meanwhile, whose sources fetch their
    /// documents themselves.
    ///
    /// # Errors
    /// The document can't be used. Nothing has changed then.
    pub(crate) fn take_list_document(
        &self,
        source: &Arc<ListSource>,
        document: &ListDocument,
    ) -> Result<Option<String>, Error> {
        // Otherwise another document of the same list could be lost.
        let _one = lock(&self.reading_documents);
        let now = self.current();
        let is_known = |policy: &Policy| policy.list_sources().any(|known| Arc::ptr_eq(known, source));
        if !is_known(&now.policy) {
            return Ok(None);
        }
        let files = now.policy.list_files().filter(|(list, _)| list == source.list()).flat_map(|(_, files)| files);
        let stamps = FileStamps::of(files.collect());
        // Reading a large document takes seconds, which no reload waits for.
        let refused = |error: Error| {
            self.note_refusal(&error);
            error
        };
        let mut read = ListControl::read_document(&now.policy, source, document).map_err(refused)?;
        let _alone = lock(&self.reloading);
        if !is_known(&self.current().policy) {
            return Ok(None);
        }
        let then = stamps.again();
        if then != stamps {
            // Files of the list were replaced, and may be in force.
            read = ListControl::read_document(&now.policy, source, document)?;
            if then.again() != then {
                return Err(Error::new("error: a file of the list changed while it was read"));
            }
        }
        let said = self.lists.put_document(&now.policy, source, read)?;
        source.accept(document.clone());
        Ok(Some(said))
    }

    fn list_files(&self) -> Vec<PathBuf> {
        self.current().policy.list_files().flat_map(|(_, files)| files).collect()
    }

    /// Reads the files of lists again, and nothing else. Files with errors change nothing; the errors are logged.
    pub(crate) fn reload_lists(&self, cause: &str) {
        let _one = lock(&self.reloading);
        let (now, stamps) = (self.current(), FileStamps::of(self.list_files()));
        match self.lists.read_again(&now.policy, || stamps.again() == stamps) {
            Ok(result) => {
                log::info!("{cause}; {result}");
                self.history.reloaded(cause, Ok(&result));
            }
            Err(error) => {
                self.note_refusal(&error);
                self.history.reloaded(cause, Err(&error.to_string()));
                log::error!("{cause}, but nothing changes because of errors in the files:\n{error}");
            }
        }
    }

    /// Counts why files were refused.
    fn note_refusal(&self, error: &Error) {
        if error.is_emptiness() {
            self.metrics.count(Event::EmptinessRefused);
        }
    }

    fn read(&self) -> Result<Generation, Error> {
        let stamps = FileStamps::of(self.files());
        let next = self.read_once()?;
        let before = self.current();
        // A part of the configuration may lack the key, so the one in force counts too.
        if next.config.reload.end_marker || before.config.reload.end_marker {
            let files = next.policy.files();
            let files = files.iter().chain(next.config.included_files());
            check_end_markers(files.map(PathBuf::as_path).chain([&*self.file]))?;
        }
        if stamps.again() != stamps {
            return Err(Error::new("error: a file changed while it was loaded"));
        }
        Ok(next)
    }

    fn read_once(&self) -> Result<Generation, Error> {
        let mut config = Config::load(&self.file)?;
        let before = self.current();
        // Certificates may change, sockets may not: then the listeners are those that run.
        let same_sockets =
            config.listeners.iter().map(Listener::socket).eq(before.config.listeners.iter().map(Listener::socket));
        if !same_sockets {
            let wanted = std::mem::replace(&mut config.listeners, before.config.listeners.clone());
            for running in &mut config.listeners {
                if let Some(wanted) = wanted.iter().find(|wanted| wanted.socket() == running.socket()) {
                    running.tls.clone_from(&wanted.tls);
                    running.proxy_protocol.clone_from(&wanted.proxy_protocol);
                }
            }
        }
        for (name, same) in [
            ("listeners", same_sockets),
            ("metrics", config.metrics == before.config.metrics),
            ("admin.listChanges", config.list_changes() == before.config.list_changes()),
            ("limits.idleConnections", config.limits.idle_connections == before.config.limits.idle_connections),
            ("accessLog", config.access_log == before.config.access_log),
            ("threads", config.threads == before.config.threads),
            ("grace", config.grace == before.config.grace),
            ("drainDelay", config.drain_delay == before.config.drain_delay),
        ] {
            if !same {
                log::warn!("`{name}` has changed; this takes effect when the proxy is restarted");
            }
        }
        Generation::new(config, self.demo, Some(&before))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
