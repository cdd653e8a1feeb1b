//! Evaluations run on threads of their own, few at once; the others wait, and not many.
//!
//! Invariant: at most `limits::EVALUATIONS` evaluations run at a time, and at most `limits::WAITING` wait. Test:
//! `runtime/tools/serve/src/work.rs::few_run_and_few_wait`.

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

    /// Runs a function on a thread for evaluations. If the caller is gone or the time is over, a
    /// function that runs is not stopped, but counts until it ends.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    #[test]
    fn few_run_and_few_wait() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let queue = Arc::new(Queue::new());
            assert_eq!(queue.run(|| 1).await, Ok(1));
            assert_eq!(queue.run(|| -> u8 { std::panic::panic_any(()) }).await, Err(Refused::Defect));
            let (release, held) = channel::<()>();
            let held = Arc::new(Mutex::new(held));
            let mut tasks = Vec::new();
            for _ in 0..limits::EVALUATIONS.saturating_add(limits::WAITING) {
                let (queue, held) = (Arc::clone(&queue), Arc::clone(&held));
                tasks.push(tokio::spawn(async move { queue.run(move || held.lock().unwrap().recv().is_err()).await }));
            }
            tokio::task::yield_now().await;
            assert_eq!(queue.run(|| 2).await, Err(Refused::Busy));
            drop(release);
            for task in tasks {
                assert_eq!(task.await.unwrap(), Ok(true));
            }
            assert_eq!(queue.run(|| 3).await, Ok(3));
        });
    }
}
