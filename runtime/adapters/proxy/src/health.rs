//! Runs what the current generation needs from time to time: the health checks of its upstreams, and the expiry of entries of its lists.

use crate::state::State;
use async_trait::async_trait;
use pingora::server::ShutdownWatch;
use pingora::services::background::BackgroundService;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// The time between two looks for expired entries of lists.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);

/// The service that runs health checks and removes expired entries from lists.
pub(crate) struct HealthService {
    state: Arc<State>,
}

impl HealthService {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Self { state }
    }

    async fn run(&self) {
        let mut changes = self.state.changes();
        loop {
            // Dropping the set ends its tasks when the next generation arrives.
            let mut checks = JoinSet::new();
            let now = self.state.current();
            for upstream in &now.upstreams {
                let upstream = Arc::clone(upstream);
                checks.spawn(async move { upstream.check().await });
            }
            if now.policy.lists().is_some() {
                checks.spawn(expire_entries(Arc::clone(&self.state)));
            }
            drop(now);
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}

#[async_trait]
impl BackgroundService for HealthService {
    async fn start(&self, mut shutdown: ShutdownWatch) {
        tokio::select! {
            () = self.run() => {}
            _ = shutdown.changed() => {}
        }
    }
}

/// Removes entries from the lists of the current policy when they expire. Never returns.
async fn expire_entries(state: Arc<State>) {
    let mut failing = false;
    loop {
        tokio::time::sleep(EXPIRY_INTERVAL).await;
        let state = Arc::clone(&state);
        // Changes that are written to a disk may hold its lock.
        let expired = tokio::task::spawn_blocking(move || state.lists.expire(&state.current().policy)).await;
        match expired.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(0) => failing = false,
            Ok(removed) => {
                failing = false;
                log::debug!("{removed} entries of lists have expired");
            }
            // It is tried again each second, but logged once.
            Err(error) if !failing => {
                failing = true;
                log::error!("expired entries stay in their lists: {error}");
            }
            Err(_) => {}
        }
    }
}
