//! What all services of the proxy share.

use crate::access_log::AccessLog;
use crate::config::Config;
use crate::error::Error;
use crate::generation::Generation;
use crate::metrics::Metrics;
use arc_swap::ArcSwap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// What all services share.
pub(crate) struct State {
    file: PathBuf,
    demo: SocketAddr,
    current: ArcSwap<Generation>,
    /// Told of each new generation.
    changed: watch::Sender<u64>,
    /// One reload at a time.
    reloading: Mutex<()>,
    pub(crate) metrics: Metrics,
    pub(crate) log: Option<AccessLog>,
}

impl State {
    pub(crate) fn new(file: PathBuf, demo: SocketAddr, first: Generation, log: Option<AccessLog>) -> Self {
        Self {
            file,
            demo,
            current: ArcSwap::from_pointee(first),
            changed: watch::Sender::new(0),
            reloading: Mutex::new(()),
            metrics: Metrics::default(),
            log,
        }
    }

    /// The generation of now.
    pub(crate) fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// Hears of new generations.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// All files that the generation of now was read from.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = self.current().files();
        files.push(self.file.clone());
        files
    }

    /// Reads all files again. What is wrong with them is logged, and changes nothing.
    pub(crate) fn reload(&self) -> Result<(), Error> {
        let _one = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.read();
        self.metrics.reloaded(next.is_ok());
        match next {
            Ok(next) => {
                self.current.store(Arc::new(next));
                self.changed.send_modify(|number| *number = number.wrapping_add(1));
                log::info!("the files were read again and are in force");
                Ok(())
            }
            Err(error) => {
                log::error!("the change was not taken over, what was in force stays in force:\n{error}");
                Err(error)
            }
        }
    }

    fn read(&self) -> Result<Generation, Error> {
        let config = Config::load(&self.file)?;
        let before = self.current();
        for (name, same) in [
            ("listeners", config.listeners == before.config.listeners),
            ("metrics", config.metrics == before.config.metrics),
            ("accessLog", config.access_log == before.config.access_log),
            ("threads", config.threads == before.config.threads),
            ("grace", config.grace == before.config.grace),
        ] {
            if !same {
                log::warn!("`{name}` has changed, which has no effect until the proxy is started again");
            }
        }
        Generation::new(config, self.demo, Some(&before))
    }
}
