//! Work on many items by several threads. The results are taken in the order of the items, so that
//! they do not depend on the threads.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, ScopedJoinHandle, available_parallelism, scope};

/// Number of items that a thread does at once.
pub(crate) const CHUNK: usize = 16;

/// Number of chunks that are worked on ahead of the results that were taken. With as many that were
/// taken and are not dropped yet, this bounds memory.
pub(crate) const MAX_AHEAD: usize = 128;

/// Most threads that are used without being asked for.
const MAX_THREADS: usize = 8;

/// Stack of a thread, in bytes: enough to check a rule of a kilobyte without allocating more. Only
/// pages that are used take memory.
const STACK_BYTES: usize = 8 << 20;

/// Most threads that are used, whatever is asked for.
const MAX_ASKED: usize = 64;

/// Number of the thread that takes results. The others are counted from 1.
const THIS: usize = 0;

/// The number of processors that this process may use, at most 8.
pub(crate) fn default_threads() -> usize {
    available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// Calls `map` for each item, on this thread and at most `threads - 1` others, and `take` for each
/// result, on this thread, in the order of the items. Ends when `take` breaks. There are at most 64
/// threads, and not more than chunks. A thread that cannot be started is left out. A panic on
/// another thread goes on on this one.
///
/// What `take` leaves of a result is dropped by the thread that made it: an allocator frees fastest
/// there, and does not make that thread wait.
pub(crate) fn map_in_order<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    map: &(dyn Fn(&T) -> R + Sync),
    mut take: impl FnMut(&mut R) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let queue = Queue::new(items);
    let most = threads.min(queue.chunks.len()).min(MAX_ASKED);
    let work = |thread: usize| {
        let _end = EndOnPanic(&queue);
        loop {
            match queue.wait_for_work(thread) {
                Work::Drop(results) => drop(results),
                Work::Chunk(number, chunk) => queue.put(thread, number, chunk.iter().map(map).collect()),
                Work::End => break,
            }
        }
    };
    scope(|scope| {
        let _end = EndOnPanic(&queue);
        let work = &work;
        let start = |thread| builder(format!("celero-compile-{thread}")).spawn_scoped(scope, move || work(thread)).ok();
        let others: Vec<ScopedJoinHandle<'_, ()>> = (1..most).map_while(start).collect();
        let ended = loop {
            match queue.next() {
                Next::Results(thread, mut results) => {
                    if results.iter_mut().try_for_each(&mut take).is_break() {
                        break ControlFlow::Break(());
                    }
                    if thread != THIS {
                        queue.give_back(thread, results);
                    }
                }
                Next::Chunk(number, chunk) => queue.put(THIS, number, chunk.iter().map(map).collect()),
                Next::End => break ControlFlow::Continue(()),
            }
        };
        queue.end();
        if let Some(panic) = others.into_iter().find_map(|other| other.join().err()) {
            resume_unwind(panic);
        }
        ended
    })
}

/// Returns the results of two functions, which run at the same time if `threads` is more than 1 and
/// a thread can be started for the first.
pub(crate) fn both<A: Send, B>(threads: usize, first: impl Fn() -> A + Sync, second: impl FnOnce() -> B) -> (A, B) {
    scope(|scope| {
        let start = || builder("celero-compile".into()).spawn_scoped(scope, &first).ok();
        let other = (threads > 1).then(start).flatten();
        let second = second();
        let first = match other {
            Some(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => first(),
        };
        (first, second)
    })
}

fn builder(name: String) -> Builder {
    Builder::new().name(name).stack_size(STACK_BYTES)
}

/// Chunks of items that threads share, and their results.
struct Queue<'q, T, R> {
    chunks: Vec<&'q [T]>,
    state: Mutex<State<R>>,
    /// Notified when `state` changes.
    changed: Condvar,
}

struct State<R> {
    /// Number of the first chunk that no thread has.
    next: usize,
    /// Number of the first chunk whose results have not been taken.
    taken: usize,
    /// By chunk: the thread that made them, and the results.
    results: HashMap<usize, (usize, Vec<R>)>,
    /// By thread: the results that were taken since the thread last asked for work.
    given_back: HashMap<usize, Vec<Vec<R>>>,
    /// Whether no chunk is wanted any more.
    ended: bool,
}

/// What another thread does next.
enum Work<'q, T, R> {
    /// Drops results that it made and that were taken.
    Drop(Vec<Vec<R>>),
    /// Works on a chunk.
    Chunk(usize, &'q [T]),
    /// Nothing.
    End,
}

/// What the thread that takes results does next.
enum Next<'q, T, R> {
    /// Takes these, which a thread has made.
    Results(usize, Vec<R>),
    /// Works on a chunk, because the results that come next are not there yet.
    Chunk(usize, &'q [T]),
    /// Nothing.
    End,
}

impl<'q, T, R> Queue<'q, T, R> {
    fn new(items: &'q [T]) -> Self {
        let state = State { next: 0, taken: 0, results: HashMap::new(), given_back: HashMap::new(), ended: false };
        Self { chunks: items.chunks(CHUNK).collect(), state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<R>>) -> MutexGuard<'s, State<R>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next chunk, unless it is too far ahead of the results that were taken.
    fn chunk(&self, state: &mut State<R>) -> Option<(usize, &'q [T])> {
        let number = state.next;
        let chunk = self.chunks.get(number).copied().filter(|_| number < state.taken.saturating_add(MAX_AHEAD))?;
        state.next = number.saturating_add(1);
        Some((number, chunk))
    }

    /// What another thread does next; waits until there is something.
    fn wait_for_work(&self, thread: usize) -> Work<'q, T, R> {
        let mut state = self.lock();
        while !state.ended && state.taken < self.chunks.len() {
            if let Some(results) = state.given_back.remove(&thread) {
                return Work::Drop(results);
            }
            if let Some((number, chunk)) = self.chunk(&mut state) {
                return Work::Chunk(number, chunk);
            }
            state = self.wait(state);
        }
        Work::End
    }

    fn put(&self, thread: usize, number: usize, results: Vec<R>) {
        self.lock().results.insert(number, (thread, results));
        self.changed.notify_all();
    }

    /// Keeps results that were taken until the thread that made them asks for work.
    fn give_back(&self, thread: usize, results: Vec<R>) {
        self.lock().given_back.entry(thread).or_default().push(results);
    }

    /// What the thread that takes results does next; waits until there is something.
    fn next(&self) -> Next<'q, T, R> {
        let mut state = self.lock();
        loop {
            let taken = state.taken;
            if state.ended || taken == self.chunks.len() {
                return Next::End;
            }
            if let Some((thread, results)) = state.results.remove(&taken) {
                state.taken = taken.saturating_add(1);
                drop(state);
                self.changed.notify_all();
                return Next::Results(thread, results);
            }
            if let Some((number, chunk)) = self.chunk(&mut state) {
                return Next::Chunk(number, chunk);
            }
            state = self.wait(state);
        }
    }

    /// Leaves no chunk to be worked on.
    fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }
}

/// Ends a queue if the thread panics, so that no other thread waits for it.
struct EndOnPanic<'e, 'q, T, R>(&'e Queue<'q, T, R>);

impl<T, R> Drop for EndOnPanic<'_, '_, T, R> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::contained;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread::{ThreadId, current, yield_now};
    use std::time::{Duration, Instant};

    /// Most items worked on ahead of the results that were taken.
    const WINDOW: usize = CHUNK * MAX_AHEAD;

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        let items: Vec<usize> = (0..3 * WINDOW + CHUNK + 1).collect();
        for threads in [1, 2, 5] {
            let mut taken = Vec::new();
            let ended = map_in_order(threads, &items, &|item| item * 3, |result| {
                taken.push(*result);
                ControlFlow::Continue(())
            });
            assert_eq!(ended, ControlFlow::Continue(()));
            assert!(taken.iter().copied().eq(items.iter().map(|item| item * 3)), "{threads} threads");
        }
    }

    #[test]
    fn no_more_threads_are_started_than_there_is_work_for() {
        let mut sum = 0;
        let ended = map_in_order(usize::MAX, &[1, 2, 3], &|item: &i32| *item, |item| {
            sum += *item;
            ControlFlow::Continue(())
        });
        assert_eq!((ended, sum), (ControlFlow::Continue(()), 6));
        let items: Vec<usize> = (0..WINDOW).collect();
        let threads = Mutex::new(HashSet::new());
        let map = |_: &usize| {
            threads.lock().unwrap().insert(current().id());
        };
        assert_eq!(map_in_order(usize::MAX, &items, &map, |_| ControlFlow::Continue(())), ControlFlow::Continue(()));
        assert!(threads.into_inner().unwrap().len() <= MAX_ASKED);
    }

    #[test]
    fn nothing_is_taken_after_a_break_and_little_is_done() {
        let items: Vec<usize> = (0..20 * WINDOW).collect();
        let done = AtomicUsize::new(0);
        let map = |item: &usize| {
            done.fetch_add(1, Ordering::Relaxed);
            *item
        };
        let mut taken = 0;
        let ended = map_in_order(3, &items, &map, |item| {
            taken += 1;
            if *item < 10 {
                return ControlFlow::Continue(());
            }
            // The other threads work as far ahead as they may.
            while done.load(Ordering::Relaxed) < WINDOW {
                yield_now();
            }
            (0..10_000).for_each(|_| yield_now());
            ControlFlow::Break(())
        });
        assert_eq!((ended, taken), (ControlFlow::Break(()), 11));
        assert!(done.into_inner() <= WINDOW + CHUNK);
    }

    /// Waits, and panics if that takes minutes.
    fn wait_until(condition: impl Fn() -> bool) {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < Duration::from_secs(300), "what another thread does has not happened");
            yield_now();
        }
    }

    /// Where values of one thread were dropped.
    #[derive(Default)]
    struct Drops {
        by_maker: AtomicUsize,
        by_others: AtomicUsize,
    }

    struct Made<'d>(ThreadId, &'d Drops);

    impl Drop for Made<'_> {
        fn drop(&mut self) {
            let Drops { by_maker, by_others } = self.1;
            let drops = if current().id() == self.0 { by_maker } else { by_others };
            drops.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn results_that_were_taken_are_dropped_by_the_thread_that_made_them() {
        let items: Vec<usize> = (0..20 * WINDOW).collect();
        let (here, made) = (current().id(), AtomicBool::new(false));
        let (of_this, of_other) = (Drops::default(), Drops::default());
        let map = |item: &usize| {
            if current().id() != here {
                made.store(true, Ordering::Relaxed);
                return (*item, Made(current().id(), &of_other));
            }
            wait_until(|| made.load(Ordering::Relaxed));
            (*item, Made(here, &of_this))
        };
        let Drops { by_maker, by_others } = &of_other;
        let mut taken = None;
        let ended = map_in_order(2, &items, &map, |(item, made)| {
            match taken {
                None if made.0 != here => taken = Some(*item / CHUNK),
                // The other thread drops that chunk before it works on.
                Some(chunk) if *item / CHUNK > chunk => {
                    wait_until(|| by_maker.load(Ordering::Relaxed) >= CHUNK || by_others.load(Ordering::Relaxed) > 0);
                    assert_eq!(by_others.load(Ordering::Relaxed), 0);
                    return ControlFlow::Break(());
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
        assert_eq!(ended, ControlFlow::Break(()));
    }

    #[test]
    fn two_functions_run_once_each() {
        for threads in [1, 2] {
            let calls = AtomicUsize::new(0);
            let first = || calls.fetch_add(1, Ordering::Relaxed);
            assert_eq!(both(threads, first, || "second"), (0, "second"));
            assert_eq!(calls.into_inner(), 1);
        }
    }

    #[test]
    fn a_panic_of_another_thread_reaches_the_caller() {
        let items: Vec<usize> = (0..WINDOW).collect();
        let (here, panics) = (current().id(), AtomicBool::new(false));
        let map = |_: &usize| {
            if current().id() != here {
                panics.store(true, Ordering::Relaxed);
                panic!("planted");
            }
            wait_until(|| panics.load(Ordering::Relaxed));
        };
        let ended = contained(|| map_in_order(2, &items, &map, |_| ControlFlow::Continue(())));
        assert!(ended.is_err());
    }

    #[test]
    fn a_panic_of_this_thread_ends_the_others() {
        let items: Vec<usize> = (0..20 * WINDOW).collect();
        let ended = contained(|| map_in_order(4, &items, &|_| (), |_| panic!("planted")));
        assert!(ended.is_err());
    }
}
