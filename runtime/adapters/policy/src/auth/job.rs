//! Results that another thread delivers, without a runtime: a future for asynchronous hosts, and a blocking wait for the others.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// A result that is there later. Any number of tasks may wait for it.
#[derive(Debug)]
pub(crate) struct Job<T> {
    state: Mutex<JobState<T>>,
}

#[derive(Debug)]
enum JobState<T> {
    Open(Vec<Waker>),
    Done(T),
}

impl<T: Clone> Job<T> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(JobState::Open(Vec::new())) })
    }

    /// Sets the result, and wakes who waits. Only the first result counts.
    pub(crate) fn finish(&self, result: T) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let JobState::Open(waiting) = &mut *state else { return };
        let waiting = std::mem::take(waiting);
        *state = JobState::Done(result);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Returns the result, if it is there.
    pub(crate) fn result(&self) -> Option<T> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            JobState::Done(result) => Some(result.clone()),
            JobState::Open(_) => None,
        }
    }

    /// Waits for the result.
    pub(crate) fn wait(self: &Arc<Self>) -> WaitFor<T> {
        WaitFor(Arc::clone(self))
    }
}

/// A future that is ready when a job is done.
#[derive(Debug)]
pub(crate) struct WaitFor<T>(Arc<Job<T>>);

impl<T: Clone> Future for WaitFor<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match &mut *self.0.state.lock().unwrap_or_else(PoisonError::into_inner) {
            JobState::Done(result) => Poll::Ready(result.clone()),
            JobState::Open(waiting) => {
                if !waiting.iter().any(|known| known.will_wake(context.waker())) {
                    waiting.push(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

/// Waits for a future on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
        std::thread::park();
    }
}
