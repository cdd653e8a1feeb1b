//! Evaluations run on threads of their own, few at once; the others wait, and not many.

use crate::limits;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The evaluations that run or wait.
pub(crate) struct Queue {
    admitted: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Too many wait.
    Busy,
    /// It took too long.
    Late,
    /// The evaluation panicked: a defect.
    Defect,
}

impl Queue {
    pub(crate) fn new() -> Self {
        let admitted = limits::WAITING.saturating_add(limits::EVALUATIONS);
        Self { admitted: Arc::new(Semaphore::new(admitted)), running: Arc::new(Semaphore::new(limits::EVALUATIONS)) }
    }

    /// Runs a function on a thread for evaluations. If the caller is gone or the time is over, a function that runs is not stopped, but
    /// counts until it ends.
    ///
    /// # Errors
    /// Too many functions wait, it took too long, or it panicked.
    pub(crate) async fn run<R: Send + 'static>(&self, work: impl FnOnce() -> R + Send + 'static) -> Result<R, Refused> {
        let admitted = Arc::clone(&self.admitted).try_acquire_owned().map_err(|_| Refused::Busy)?;
        let running = Arc::clone(&self.running);
        let result = tokio::time::timeout(limits::EVALUATION_TIME, async move {
            let turn = running.acquire_owned().await;
            let thread = tokio::task::spawn_blocking(move || {
                let result = work();
                drop((turn, admitted));
                result
            });
            thread.await.map_err(|_| Refused::Defect)
        });
        result.await.unwrap_or(Err(Refused::Late))
    }
}
