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
}

/// What a file looks like from outside.
type Look = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

impl WatchService {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Self { state }
    }

    fn look(&self) -> Look {
        let of = |file: &Path| {
            let about = std::fs::metadata(file).ok()?;
            Some((about.modified().ok()?, about.len()))
        };
        self.state
            .files()
            .into_iter()
            .map(|file| {
                let about = of(&file);
                (file, about)
            })
            .collect()
    }

    async fn run(&self) {
        let touched = Arc::new(Notify::new());
        let mut watcher = Folders::new(Arc::clone(&touched));
        let mut hangup = signal(SignalKind::hangup()).ok();
        let mut seen = self.look();
        loop {
            let told = watcher.watch(&seen);
            let asked = tokio::select! {
                () = touched.notified() => false,
                () = tokio::time::sleep(POLL), if !told => false,
                () = next(&mut hangup) => true,
            };
            let now = if asked { self.look() } else { self.settled(&seen).await };
            if asked && let Some(log) = &self.state.log {
                log.reopen();
            }
            if asked || now != seen {
                // Whatever is wrong was logged and counted.
                let _ = self.state.reload();
                seen = self.look();
            }
        }
    }

    /// What the files look like once they are left alone.
    async fn settled(&self, before: &Look) -> Look {
        let mut now = before.clone();
        loop {
            // Also the pace at which events of other files in these folders are looked into.
            tokio::time::sleep(QUIET).await;
            let later = self.look();
            if later == now {
                return now;
            }
            now = later;
        }
    }
}

async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// The folders that are watched.
struct Folders {
    watcher: Option<notify::RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
}

impl Folders {
    fn new(touched: Arc<Notify>) -> Self {
        let watcher = notify::recommended_watcher(move |_| touched.notify_one());
        if let Err(error) = &watcher {
            log::warn!("the system does not tell of changed files ({error}): they are looked at every {POLL:?}");
        }
        Self { watcher: watcher.ok(), folders: BTreeSet::new() }
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
