//! Loads the files again when they change, and on SIGHUP. On SIGUSR1 only the access log is reopened.
//!
//! Folders are watched, not files, because editors and Kubernetes replace files. An event only
//! triggers a look at the files, which is taken from time to time without an event, too; their
//! stamps say whether one changed. A file that was replaced, as the system reports, is loaded soon.
//! A file that was written in place, or of whose folder the system reports nothing, is loaded when
//! no program has it open for writing, as far as the system reports that, and it has been unchanged
//! for a while.

use crate::generation::file_stamps::FileStamps;
use crate::process::signals::registered;
use crate::state::State;
use async_trait::async_trait;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecursiveMode, Watcher};
use pingora::server::ShutdownWatch;
use pingora::services::background::BackgroundService;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Mutex as AsyncMutex, Notify};

/// How long replaced files must stay unchanged before they are loaded: several files are often
/// replaced one after another.
const QUIET: Duration = Duration::from_millis(100);
/// The polling interval if the system can't report changes.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The polling interval if it can: it reports nothing of files on other machines, and of those that links lead to.
const REPORTED_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// How long a file may be open for writing until the log says that it is awaited.
const LONG: Duration = Duration::from_secs(10);

/// The service that loads changed files.
pub(crate) struct WatchService {
    state: Arc<State>,
    /// The stamps that the files had when they were loaded first, as far as that is known.
    first: FileStamps,
    signals: AsyncMutex<Signals>,
}

impl WatchService {
    /// Creates the service. Changes of the files are noticed from `loading` on, when they were
    /// about to be loaded, signals from this call on.
    ///
    /// # Errors
    /// The system refuses to let the process await the signals, which would end it.
    pub(crate) fn new(state: Arc<State>, loading: SystemTime) -> std::io::Result<Self> {
        let mut first = FileStamps::of(state.files());
        first.forget_changed_after(loading);
        Ok(Self { state, first, signals: AsyncMutex::new(Signals::new()?) })
    }

    async fn run(&self) {
        let reports = Arc::new(Reports::default());
        let mut watcher = Folders::new(Arc::clone(&reports));
        let Signals { hangup, user } = &mut *self.signals.lock().await;
        let mut seen = self.first.clone();
        // Files may have changed while they were loaded, and before their folders were watched.
        let mut at_once = true;
        loop {
            let reported = watcher.watch(&seen);
            let at_once = std::mem::take(&mut at_once);
            let looked = async {
                let touched = tokio::select! {
                    () = std::future::ready(()), if at_once => false,
                    () = reports.touched.notified() => true,
                    () = tokio::time::sleep(if reported { REPORTED_POLL_INTERVAL } else { POLL_INTERVAL }) => false,
                };
                // A change that the system did not report may be the first part of a file.
                self.settled(&seen, &reports, reported && touched).await
            };
            let now = tokio::select! {
                now = looked => Some(now),
                _ = hangup.recv() => None,
                _ = user.recv() => {
                    self.reopen_log();
                    log::info!("SIGUSR1: the access log is reopened");
                    continue;
                }
            };
            let cause = match &now {
                None => {
                    self.reopen_log();
                    "SIGHUP".to_owned()
                }
                Some(now) => {
                    let changed = now.changed(&seen);
                    if changed.is_empty() {
                        continue;
                    }
                    let changed: Vec<_> = changed.iter().map(|file| file.display().to_string()).collect();
                    format!("{} changed", changed.join(", "))
                }
            };
            let only_lists = now.as_ref().is_some_and(|now| self.state.are_list_files(&now.changed(&seen)));
            let now = now.unwrap_or_else(|| seen.again());
            if only_lists {
                self.state.reload_lists(&cause);
            } else {
                // An error is logged and counted in `reload`.
                let _ = self.state.reload(&cause);
            }
            // Files that are watched from now on start with their current stamps.
            seen = FileStamps::of(self.state.files());
            seen.take_over(&now);
        }
    }

    fn reopen_log(&self) {
        if let Some(log) = &self.state.log {
            log.reopen();
        }
    }

    /// Waits until the files are complete, and returns their stamps.
    async fn settled(&self, before: &FileStamps, reports: &Reports, reported: bool) -> FileStamps {
        let settle = self.state.current().config.reload.settle;
        let (mut seen, mut told) = (Looks::new(before.clone()), false);
        loop {
            // This also limits how often events of other files in these folders are handled.
            tokio::time::sleep(QUIET).await;
            let Some(unchanged) = seen.look(|| before.again()) else { continue };
            let now = &seen.stamps;
            let changed = now.changed(before);
            if let Some(file) = changed.iter().find(|file| reports.is_written(file)) {
                if unchanged >= LONG && !std::mem::replace(&mut told, true) {
                    log::warn!(
                        "{} changed, but a program has it open for writing: it is loaded when it is closed",
                        file.display()
                    );
                }
                continue;
            }
            let replaced = reported && changed.iter().all(|file| now.was_replaced(before, file));
            if replaced || unchanged >= settle {
                return seen.stamps;
            }
        }
    }
}

/// What files were when they were looked at, and since when they are so.
struct Looks {
    stamps: FileStamps,
    since: Instant,
}

impl Looks {
    fn new(stamps: FileStamps) -> Self {
        Self { stamps, since: Instant::now() }
    }

    /// Looks again. Returns how long the files have been unchanged at least; `None` if they changed.
    fn look(&mut self, look: impl FnOnce() -> FileStamps) -> Option<Duration> {
        // The system may stop this thread after the look, while the files change: that time does not count.
        let begun = Instant::now();
        let stamps = look();
        if stamps == self.stamps {
            return Some(begun.saturating_duration_since(self.since));
        }
        *self = Self::new(stamps);
        None
    }
}

/// The signals that ask to load the files or to reopen the log. Those that arrive before anyone waits are kept.
struct Signals {
    hangup: Signal,
    user: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        registered(|| Ok(Self { hangup: signal(SignalKind::hangup())?, user: signal(SignalKind::user_defined1())? }))
    }
}

/// What the system reports of the watched folders.
#[derive(Default)]
struct Reports {
    touched: Notify,
    /// Files that were written and not closed yet.
    written: Mutex<BTreeSet<PathBuf>>,
}

impl Reports {
    fn take(&self, event: notify::Result<Event>) {
        // Looking at a folder opens it: that would cause the next look.
        let is_opened = |event: &Event| matches!(event.kind, EventKind::Access(AccessKind::Open(_)));
        if event.as_ref().is_ok_and(|event| is_opened(event) && !event.need_rescan()) {
            return;
        }
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Ok(event) if !event.need_rescan() => match event.kind {
                EventKind::Modify(ModifyKind::Data(_)) => written.extend(event.paths.iter().map(|path| plain(path))),
                EventKind::Access(AccessKind::Close(AccessMode::Write))
                | EventKind::Modify(ModifyKind::Name(_))
                | EventKind::Remove(_) => {
                    written.retain(|file| !event.paths.iter().any(|path| plain(path) == *file));
                }
                _ => {}
            },
            // Reports were lost.
            _ => written.clear(),
        }
        self.touched.notify_one();
    }

    fn is_written(&self, file: &Path) -> bool {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).contains(&plain(file))
    }
}

/// Returns a path without `.` in front: files of the current folder are watched as `./name`.
fn plain(path: &Path) -> PathBuf {
    path.strip_prefix(".").unwrap_or(path).to_owned()
}

/// Returns the folder of a file, and those in which the links on the way to it are: a link that is
/// replaced leads to another folder, of which the system reports nothing.
fn folders(file: &Path) -> impl Iterator<Item = &Path> {
    let is_link = |path: &&Path| std::fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink());
    let of_links = file.ancestors().skip(1).filter(is_link).filter_map(Path::parent);
    let all = file.parent().into_iter().chain(of_links);
    all.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// The folders that are watched.
struct Folders {
    reports: Arc<Reports>,
    watcher: Option<notify::RecommendedWatcher>,
    /// Which folder each path was when it was watched: the system reports of that one, also when
    /// another one has its path.
    folders: BTreeMap<PathBuf, (u64, u64)>,
}

impl Folders {
    fn new(reports: Arc<Reports>) -> Self {
        let taker = Arc::clone(&reports);
        let watcher = notify::recommended_watcher(move |event| taker.take(event));
        if let Err(error) = &watcher {
            log::warn!("the system can't report changed files ({error}): they are polled every {POLL_INTERVAL:?}");
        }
        Self { reports, watcher: watcher.ok(), folders: BTreeMap::new() }
    }

    /// Watches the folders of these files too, and those that took the place of others. Returns
    /// whether the system reports changes in all of them.
    fn watch(&mut self, files: &FileStamps) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let folders: BTreeSet<&Path> = files.files().flat_map(folders).collect();
        for folder in folders {
            let now = std::fs::metadata(folder).ok().map(|about| (about.dev(), about.ino()));
            let known = self.folders.get(folder).copied();
            if now.is_some() && now == known {
                continue;
            }
            if self.folders.remove(folder).is_some() {
                // The folder may be gone, and then it is not watched any more.
                let _ = watcher.unwatch(folder);
            }
            let Some(now) = now else {
                if known.is_some() {
                    log::warn!("{} is gone: files are polled every {POLL_INTERVAL:?}", folder.display());
                }
                return false;
            };
            if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) {
                log::warn!("{} can't be watched ({error}): files are polled every {POLL_INTERVAL:?}", folder.display());
                return false;
            }
            self.folders.insert(folder.to_owned(), now);
            // A change before this folder was watched is found by one more look.
            self.reports.touched.notify_one();
        }
        true
    }
}

#[async_trait]
impl BackgroundService for WatchService {
    async fn start(&self, mut shutdown: ShutdownWatch) {
        tokio::select! {
            () = self.run() => {}
            _ = shutdown.changed() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_after_a_look_is_no_time_in_which_files_were_unchanged() {
        let stamps = || FileStamps::of(vec![std::env::temp_dir().join("celero-no-such-file")]);
        let mut seen = Looks::new(stamps());
        let mut looked = seen.since;
        let stopped = || {
            looked = Instant::now();
            std::thread::sleep(Duration::from_millis(20));
            stamps()
        };
        let unchanged = seen.look(stopped).unwrap();
        assert!(unchanged <= looked.duration_since(seen.since), "{unchanged:?}");

        let mut looked = seen.since;
        let changed = || {
            looked = Instant::now();
            FileStamps::of(Vec::new())
        };
        assert_eq!(seen.look(changed), None);
        assert!(seen.since >= looked);
    }
}
