//! Background tasks that belong to a generation of the configuration: they end when the next one is in force.

use crate::generation::Generation;
use crate::state::State;
use async_trait::async_trait;
use pingora::server::ShutdownWatch;
use pingora::services::background::BackgroundService;
use std::sync::Arc;
use tokio::task::JoinSet;

/// A service that starts such tasks.
pub(crate) struct GenerationTasks<F> {
    state: Arc<State>,
    start: F,
}

impl<F: Fn(&Arc<State>, &Arc<Generation>, &mut JoinSet<()>)> GenerationTasks<F> {
    /// `start` starts the tasks of a generation.
    pub(crate) fn new(state: Arc<State>, start: F) -> Self {
        Self { state, start }
    }

    async fn run(&self) {
        let mut changes = self.state.changes();
        loop {
            // Dropping the set ends its tasks.
            let mut tasks = JoinSet::new();
            (self.start)(&self.state, &self.state.current(), &mut tasks);
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}

#[async_trait]
impl<F: Fn(&Arc<State>, &Arc<Generation>, &mut JoinSet<()>) + Send + Sync + 'static> BackgroundService
    for GenerationTasks<F>
{
    async fn start(&self, mut shutdown: ShutdownWatch) {
        tokio::select! {
            () = self.run() => {}
            _ = shutdown.changed() => {}
        }
    }
}
