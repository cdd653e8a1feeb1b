//! The threads that verify what takes long: passwords, and tokens that any of many keys may have signed. They are few, started when
//! they are needed, and end when nothing is left to do. How many verifications wait for them is bounded, also those of one client address
//! and those for one user, so that no client and no attack on one user takes the places of others.

use super::Finding;
use super::job::Job;
use super::memory::Digest;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(10);

/// The threads of a policy. Dropping it ends them after their current work.
#[derive(Debug)]
pub(crate) struct Pool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most_threads: usize,
    most_waiting: usize,
    queue: Mutex<Queue>,
    arrived: Condvar,
    done: AtomicU64,
    refused: AtomicU64,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Task>,
    /// The jobs that wait or run, by the digest of their credentials: who sends the same credentials waits for the same job.
    open: HashMap<Digest, Weak<Job<Finding>>>,
    threads: usize,
    idle: usize,
    closed: bool,
}

struct Task {
    digest: Digest,
    source: Source,
    job: Arc<Job<Finding>>,
    work: Box<dyn FnOnce() -> Finding + Send>,
}

/// Whom a verification counts for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source {
    /// The client's IPv4 address, or the /64 network of its IPv6 address, all of which one client may have.
    network: Option<IpAddr>,
    /// The digest of the name of the user who is to be verified.
    user: Option<Digest>,
}

impl Source {
    pub(crate) fn new(client: Option<IpAddr>, user: Option<Digest>) -> Self {
        let network = client.map(|address| match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
            address => address,
        });
        Self { network, user }
    }
}

/// Too many verifications wait, of all clients, of this one or for this user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Busy;

impl Pool {
    pub(crate) fn new(most_threads: usize, most_waiting: usize) -> Self {
        Self(Arc::new(Shared {
            most_threads,
            most_waiting,
            queue: Mutex::default(),
            arrived: Condvar::new(),
            done: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }))
    }

    /// Starts to verify credentials, or joins those who wait for the same credentials. If everybody who waits for a job is gone before
    /// it has begun, it is dropped.
    pub(crate) fn start(
        &self,
        digest: Digest,
        source: Source,
        work: impl FnOnce() -> Finding + Send + 'static,
    ) -> Result<Arc<Job<Finding>>, Busy> {
        let mut queue = self.0.queue();
        if let Some(job) = queue.open.get(&digest).and_then(Weak::upgrade) {
            return Ok(job);
        }
        let starts_at_once = queue.idle > queue.waiting.len() || queue.threads < self.0.most_threads;
        if !starts_at_once && queue.is_full_for(source, self.0.most_waiting) {
            queue.drop_unwanted();
        }
        if !starts_at_once && queue.is_full_for(source, self.0.most_waiting) {
            self.0.refused.fetch_add(1, Ordering::Relaxed);
            return Err(Busy);
        }
        if queue.idle <= queue.waiting.len() && queue.threads < self.0.most_threads {
            let shared = Arc::clone(&self.0);
            let spawned = std::thread::Builder::new().name("celero-auth".into()).spawn(move || shared.serve());
            match spawned {
                Ok(_) => queue.threads = queue.threads.saturating_add(1),
                Err(_) if queue.threads == 0 => {
                    self.0.refused.fetch_add(1, Ordering::Relaxed);
                    return Err(Busy);
                }
                Err(_) => {}
            }
        }
        let job = Job::new();
        queue.open.insert(digest, Arc::downgrade(&job));
        queue.waiting.push_back(Task { digest, source, job: Arc::clone(&job), work: Box::new(work) });
        drop(queue);
        self.0.arrived.notify_one();
        Ok(job)
    }

    /// Returns how many verifications were carried out, how many were refused, and how many wait now.
    pub(crate) fn counts(&self) -> (u64, u64, usize) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (read(&self.0.done), read(&self.0.refused), self.0.queue().waiting.len())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.queue().closed = true;
        self.0.arrived.notify_all();
    }
}

impl Task {
    /// Returns whether somebody waits for the job: someone else holds it, too.
    fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.job) > 1
    }
}

impl Queue {
    /// Returns whether a verification may not wait: all places are taken, or a quarter of them by the same client or for the same user.
    fn is_full_for(&self, source: Source, most_waiting: usize) -> bool {
        let share = most_waiting.div_ceil(4);
        let taken = |same: &dyn Fn(&Source) -> bool| self.waiting.iter().filter(|task| same(&task.source)).count();
        self.waiting.len() >= most_waiting
            || source.network.is_some() && taken(&|other| other.network == source.network) >= share
            || source.user.is_some() && taken(&|other| other.user == source.user) >= share
    }

    fn drop_unwanted(&mut self) {
        let Self { waiting, open, .. } = self;
        waiting.retain(|task| {
            let wanted = task.is_wanted();
            if !wanted {
                open.remove(&task.digest);
            }
            wanted
        });
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out work until there is none.
    fn serve(&self) {
        while let Some(Task { digest, job, work, .. }) = self.next() {
            // A verification that panics has found nothing.
            let finding = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_default();
            self.done.fetch_add(1, Ordering::Relaxed);
            self.queue().open.remove(&digest);
            job.finish(finding);
        }
    }

    /// Returns the next task. `None`: this thread is to end.
    fn next(&self) -> Option<Task> {
        let mut queue = self.queue();
        loop {
            while let Some(task) = queue.waiting.pop_front() {
                if task.is_wanted() {
                    return Some(task);
                }
                queue.open.remove(&task.digest);
            }
            if queue.closed {
                break;
            }
            queue.idle = queue.idle.saturating_add(1);
            let (woken, waited) = self.arrived.wait_timeout(queue, IDLE).unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            queue.idle = queue.idle.saturating_sub(1);
            if waited.timed_out() && queue.waiting.is_empty() {
                break;
            }
        }
        queue.threads = queue.threads.saturating_sub(1);
        None
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("waiting", &self.waiting.len())
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::block_on;
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn the_queue_is_bounded_and_drops_what_nobody_wants() {
        let pool = Pool::new(1, 2);
        let (release, wait) = mpsc::channel::<()>();
        let first = pool.start([0; 32], Source::default(), move || wait.recv().ok().and(None)).unwrap();
        // The thread is busy before the next ones wait.
        while pool.counts().2 > 0 {
            std::thread::yield_now();
        }
        let second = pool.start([1; 32], Source::default(), || None).unwrap();
        let third = pool.start([2; 32], Source::default(), || None).unwrap();
        assert_eq!(pool.start([3; 32], Source::default(), || None).unwrap_err(), Busy);
        assert!(
            Arc::ptr_eq(&second, &pool.start([1; 32], Source::default(), || None).unwrap()),
            "the same credentials, the same job"
        );
        drop(third);
        let fourth = pool.start([4; 32], Source::default(), || None).expect("the place of a job that nobody wants");
        assert_eq!(pool.counts(), (0, 1, 2));
        release.send(()).unwrap();
        for job in [first, second, fourth] {
            assert_eq!(block_on(job.wait()), None);
        }
        assert_eq!(pool.counts(), (3, 1, 0));
    }

    #[test]
    fn a_panic_is_no_finding_and_the_thread_goes_on() {
        let pool = Pool::new(1, 2);
        let job = pool.start([0; 32], Source::default(), || panic!("on purpose")).unwrap();
        assert_eq!(block_on(job.wait()), None);
        assert_eq!(
            block_on(pool.start([0; 32], Source::default(), || Some(Arc::default())).unwrap().wait()),
            Some(Arc::default())
        );
    }
}
