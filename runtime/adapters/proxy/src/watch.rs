//! Reads the files again when they change, or when the process gets SIGHUP.
//!
//! Folders are watched, not files: editors and Kubernetes put new files in the place of old ones. An event only says that it is time
//! to look; whether anything changed is seen from the files themselves.

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

/// How long files must be left alone before they are read: most are written in several steps.
const QUIET: Duration = Duration::from_millis(100);
/// How often files are looked at where the system can't tell of changes.
const POLL: Duration = Duration::from_secs(2);

/// The service that reads files again.
pub(crate) struct WatchService {
    state: Arc<State>,
    /// What the files looked like when they were read.
    first: Look,
}

/// What a file looks like from outside.
type Look = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

impl WatchService {
    /// To be made as soon as the files were read: only what changes later is noticed.
    pub(crate) fn new(state: Arc<State>) -> Self {
        let first = look(&state);
        Self { state, first }
    }

    async fn run(&self) {
        let touched = Arc::new(Notify::new());
        let mut watcher = Folders::new(Arc::clone(&touched));
        let mut hangup = signal(SignalKind::hangup()).ok();
        let mut seen = self.first.clone();
        loop {
            let told = watcher.watch(&seen);
            let asked = tokio::select! {
                () = touched.notified() => false,
                () = tokio::time::sleep(POLL), if !told => false,
                () = next(&mut hangup) => true,
            };
            let now = if asked { look(&self.state) } else { self.settled(&seen).await };
            if asked && let Some(log) = &self.state.log {
                log.reopen();
            }
            if asked || now != seen {
                // Whatever is wrong was logged and counted.
                let _ = self.state.reload();
                // Files that are new among those to be watched are taken as they look now.
                seen = look(&self.state);
                for (file, about) in &mut seen {
                    if let Some((_, before)) = now.iter().find(|(known, _)| known == file) {
                        *about = *before;
                    }
                }
            }
        }
    }

    /// What the files look like once they are left alone.
    async fn settled(&self, before: &Look) -> Look {
        let mut now = before.clone();
        loop {
            // Also the pace at which events of other files in these folders are looked into.
            tokio::time::sleep(QUIET).await;
            let later = look(&self.state);
            if later == now {
                return now;
            }
            now = later;
        }
    }
}

/// What the files look like.
fn look(state: &State) -> Look {
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
        let told = Arc::clone(&touched);
        let watcher = notify::recommended_watcher(move |_| told.notify_one());
        if let Err(error) = &watcher {
            log::warn!("the system does not tell of changed files ({error}): they are looked at every {POLL:?}");
        }
        Self { touched, watcher: watcher.ok(), folders: BTreeSet::new() }
    }

    /// Watches the folders of these files too. Whether the system will tell of all changes.
    fn watch(&mut self, files: &Look) -> bool {
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
                log::warn!("{} can't be watched ({error}): files are looked at every {POLL:?}", folder.display());
                return false;
            }
            self.folders.insert(folder.to_owned());
            // What changed before this folder was watched is looked for too.
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
