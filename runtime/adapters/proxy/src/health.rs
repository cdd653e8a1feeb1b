//! Runs the health checks of all upstreams of the current generation.

use crate::state::State;
use async_trait::async_trait;
use pingora::server::ShutdownWatch;
use pingora::services::background::BackgroundService;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The service that runs health checks.
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
            for upstream in &self.state.current().upstreams {
                let upstream = Arc::clone(upstream);
                checks.spawn(async move { upstream.check().await });
            }
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
