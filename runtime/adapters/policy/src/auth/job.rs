//! Results that another thread delivers, without a runtime: a future for asynchronous hosts, and a
//! blocking wait for the others.

use std::collections::BTreeMap;
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
    /// Who waits, by number, and the next number.
    Open(BTreeMap<u64, Waker>, u64),
    Done(T),
}

impl<T: Clone> Job<T> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(JobState::Open(BTreeMap::new(), 0)) })
    }

    /// Sets the result, and wakes who waits. Only the first result counts.
    pub(crate) fn finish(&self, result: T) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let JobState::Open(waiting, _) = &mut *state else { return };
        let waiting = std::mem::take(waiting);
        *state = JobState::Done(result);
        drop(state);
        waiting.into_values().for_each(Waker::wake);
    }

    /// Returns the result, if it is there.
    pub(crate) fn result(&self) -> Option<T> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            JobState::Done(result) => Some(result.clone()),
            JobState::Open(..) => None,
        }
    }

    /// Waits for the result.
    pub(crate) fn wait(self: &Arc<Self>) -> WaitFor<T> {
        WaitFor { job: Arc::clone(self), number: None }
    }
}

/// A future that is ready when a job is done. Dropping it leaves nothing behind: a waker keeps the memory of its task.
#[derive(Debug)]
pub(crate) struct WaitFor<T> {
    job: Arc<Job<T>>,
    number: Option<u64>,
}

impl<T> Drop for WaitFor<T> {
    fn drop(&mut self) {
        let mut state = self.job.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let (JobState::Open(waiting, _), Some(number)) = (&mut *state, self.number) {
            waiting.remove(&number);
        }
    }
}

impl<T: Clone> Future for WaitFor<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Self { job, number } = self.get_mut();
        match &mut *job.state.lock().unwrap_or_else(PoisonError::into_inner) {
            JobState::Done(result) => Poll::Ready(result.clone()),
            JobState::Open(waiting, next) => {
                let number = number.get_or_insert_with(|| {
                    *next = next.wrapping_add(1);
                    *next
                });
                waiting.insert(*number, context.waker().clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Counted(std::sync::atomic::AtomicUsize);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn who_gives_up_leaves_nothing_behind() {
        let (job, woken) = (Job::<u8>::new(), Arc::new(Counted(0.into())));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut poll = |wait: &mut WaitFor<u8>| Pin::new(wait).poll(&mut context);
        let mut stays = [job.wait(), job.wait()];
        for _ in 0..100 {
            assert!(stays.iter_mut().all(|wait| poll(wait).is_pending()));
            let mut leaves = job.wait();
            assert!(poll(&mut leaves).is_pending() && poll(&mut leaves).is_pending());
        }
        // Those here, that of the context, and those of the two who wait.
        assert_eq!(Arc::strong_count(&woken), 4);
        job.finish(7);
        assert_eq!(woken.0.load(std::sync::atomic::Ordering::Relaxed), 2);
        assert!(stays.iter_mut().all(|wait| poll(wait) == Poll::Ready(7)));
    }
}
