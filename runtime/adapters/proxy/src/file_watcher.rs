//! Loads the files again when they change, and on SIGHUP.
//!
//! Folders are watched, not files, because editors and Kubernetes replace files. An event only triggers a look at the files; size and
//! modification time say whether one changed.

use crate::state::State;
use async_trait::async_trait;
use notify::{RecursiveMode, Watcher};
use pingora::server::ShutdownWatch;
use pingora::services::background::BackgroundService;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

/// How long files must stay unchanged before they are loaded: many writers write a file in several steps.
const QUIET: Duration = Duration::from_millis(100);
/// The polling interval if the system can't report changes.
const POLL: Duration = Duration::from_secs(2);

/// The service that loads changed files.
pub(crate) struct WatchService {
    state: Arc<State>,
    /// The files' stamps when they were loaded first.
    first: FileStamps,
}

/// Modification time and size of each file; `None` if it can't be read.
type FileStamps = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

impl WatchService {
    /// Creates the service. Call it right after the files were loaded: only later changes are noticed.
    pub(crate) fn new(state: Arc<State>) -> Self {
        let first = stamps(&state);
        Self { state, first }
    }

    async fn run(&self) {
        let touched = Arc::new(Notify::new());
        let mut watcher = Folders::new(Arc::clone(&touched));
        let mut hangup = signal(SignalKind::hangup()).ok();
        let mut seen = self.first.clone();
        loop {
            let reported = watcher.watch(&seen);
            let hung_up = tokio::select! {
                () = touched.notified() => false,
                () = tokio::time::sleep(POLL), if !reported => false,
                () = next(&mut hangup) => true,
            };
            let now = if hung_up { stamps(&self.state) } else { self.settled(&seen).await };
            if hung_up && let Some(log) = &self.state.log {
                log.reopen();
            }
            if hung_up || now != seen {
                // An error is logged and counted in `reload`.
                let _ = self.state.reload();
                // Files that are watched from now on start with their current stamps.
                seen = stamps(&self.state);
                for (file, about) in &mut seen {
                    if let Some((_, before)) = now.iter().find(|(known, _)| known == file) {
                        *about = *before;
                    }
                }
            }
        }
    }

    /// Waits until the files stay unchanged, and returns their stamps.
    async fn settled(&self, before: &FileStamps) -> FileStamps {
        let mut now = before.clone();
        loop {
            // This also limits how often events of other files in these folders are handled.
            tokio::time::sleep(QUIET).await;
            let later = stamps(&self.state);
            if later == now {
                return now;
            }
            now = later;
        }
    }
}

/// Returns the current stamps of the files.
fn stamps(state: &State) -> FileStamps {
    let of = |file: &Path| {
        let about = std::fs::metadata(file).ok()?;
        Some((about.modified().ok()?, about.len()))
    };
    let look = |file: PathBuf| {
        let about = of(&file);
        (file, about)
    };
    state.files().into_iter().map(look).collect()
}

async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// The folders that are watched.
struct Folders {
    touched: Arc<Notify>,
    watcher: Option<notify::RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
}

impl Folders {
    fn new(touched: Arc<Notify>) -> Self {
        let changed = Arc::clone(&touched);
        let watcher = notify::recommended_watcher(move |_| changed.notify_one());
        if let Err(error) = &watcher {
            log::warn!("the system can't report changed files ({error}): they are polled every {POLL:?}");
        }
        Self { touched, watcher: watcher.ok(), folders: BTreeSet::new() }
    }

    /// Watches the folders of these files too. Returns whether the system reports changes in all of them.
    fn watch(&mut self, files: &FileStamps) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        for (file, _) in files {
            let folder = match file.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            if self.folders.contains(folder) {
                continue;
            }
            if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) {
                log::warn!("{} can't be watched ({error}): files are polled every {POLL:?}", folder.display());
                return false;
            }
            self.folders.insert(folder.to_owned());
            // A change before this folder was watched is found by one more look.
            self.touched.notify_one();
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
