//! The threads that verify what takes long: passwords, and tokens that any of many keys may have
//! signed. They are few, started when they are needed, and end when nothing is left to do. How many
//! verifications wait for them is bounded. So are those of one client address and those for one
//! user, the closer the more wait: a place is free for others until as many addresses as half the
//! places hold one. The addresses take turns, so what waits of one address delays the others by one
//! verification each.
//!
//! Invariant: one address holds at most as many places of the queue as are free. Test:
//! `runtime/adapters/policy/src/auth/pool.rs::addresses_together_leave_places_and_take_turns`.
//!
//! Invariant: no thread of the host verifies a password. Test:
//! `runtime/adapters/policy/tests/policy/passwords.rs::forty_wrong_logins_do_not_delay_a_public_page`.

use super::Finding;
use super::job::Job;
use super::memory::Digest;
use super::turns::Turns;
use std::collections::HashMap;
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
    /// The tasks that wait, by the networks of clients.
    waiting: Turns<Option<IpAddr>, Task>,
    /// How many of them there are for each user.
    of_users: HashMap<Digest, usize>,
    /// The jobs that wait or run, by the digest of their credentials: who sends the same
    /// credentials waits for the same job.
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

    /// Starts to verify credentials, or joins those who wait for the same credentials. If everybody
    /// who waits for a job is gone before it has begun, it is dropped.
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
        queue.add(Task { digest, source, job: Arc::clone(&job), work: Box::new(work) });
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
    /// Returns whether a verification may not wait: all places are taken, or the same client or the
    /// same user has a quarter of them, or as many as are free.
    fn is_full_for(&self, source: Source, most_waiting: usize) -> bool {
        let free = most_waiting.saturating_sub(self.waiting.len());
        let share = most_waiting.div_ceil(4).min(free);
        let of_network = source.network.map(|network| self.waiting.of_client(&Some(network)));
        let of_user = source.user.map(|user| self.of_users.get(&user).copied().unwrap_or(0));
        free == 0 || of_network.max(of_user).is_some_and(|taken| taken >= share)
    }

    fn add(&mut self, task: Task) {
        self.open.insert(task.digest, Arc::downgrade(&task.job));
        if let Some(user) = task.source.user {
            let count = self.of_users.entry(user).or_default();
            *count = count.saturating_add(1);
        }
        self.waiting.push(task.source.network, task);
    }

    /// Takes the next task that somebody waits for.
    fn take(&mut self) -> Option<Task> {
        while let Some(task) = self.waiting.pop() {
            forget(&mut self.of_users, &task);
            if task.is_wanted() {
                return Some(task);
            }
            self.open.remove(&task.digest);
        }
        None
    }

    fn drop_unwanted(&mut self) {
        let Self { waiting, open, of_users, .. } = self;
        waiting.retain(|task| {
            let wanted = task.is_wanted();
            if !wanted {
                forget(of_users, task);
                open.remove(&task.digest);
            }
            wanted
        });
    }
}

/// Counts a task for its user no more.
fn forget(of_users: &mut HashMap<Digest, usize>, task: &Task) {
    if let Some(user) = task.source.user
        && let Some(count) = of_users.get_mut(&user)
    {
        *count = count.saturating_sub(1);
        if *count == 0 {
            of_users.remove(&user);
        }
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
            if let Some(task) = queue.take() {
                return Some(task);
            }
            if queue.closed {
                break;
            }
            queue.idle = queue.idle.saturating_add(1);
            let (woken, waited) = self.arrived.wait_timeout(queue, IDLE).unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            queue.idle = queue.idle.saturating_sub(1);
            if waited.timed_out() && queue.waiting.len() == 0 {
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

    /// However many addresses hold as much as they can, the next one has a place, and its turn
    /// after one of each of them.
    #[test]
    fn addresses_together_leave_places_and_take_turns() {
        const MAX: usize = 64;
        let address = |number: usize| Some(IpAddr::from([10, 0, 0, u8::try_from(number).unwrap()]));
        for attackers in 1..=MAX / 2 {
            let pool = Pool::new(1, MAX);
            let (release, wait) = mpsc::channel::<()>();
            let held = pool.start([255; 32], Source::default(), move || wait.recv().ok().and(None)).unwrap();
            while pool.counts().2 > 0 {
                std::thread::yield_now();
            }
            let (mut jobs, mut next, done) = (vec![held], 0_u16, Arc::new(AtomicU64::new(0)));
            let mut start = |client| {
                next += 1;
                let mut digest = [0; 32];
                digest[..2].copy_from_slice(&next.to_le_bytes());
                let done = Arc::clone(&done);
                let ordinal = Arc::new(AtomicU64::new(0));
                let own = Arc::clone(&ordinal);
                let work = move || {
                    own.store(done.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    None
                };
                pool.start(digest, Source::new(address(client), Some(digest)), work).map(|job| (job, ordinal))
            };
            for _ in 0..MAX / 4 {
                for attacker in 0..attackers {
                    jobs.extend(start(attacker).ok().map(|(job, _)| job));
                }
            }
            let waiting = jobs.len() - 1;
            assert!(waiting < MAX, "{attackers} addresses hold {waiting} places");
            let (other, ordinal) =
                start(attackers).unwrap_or_else(|Busy| panic!("{attackers} hold all {waiting} places"));
            release.send(()).unwrap();
            assert_eq!(block_on(other.wait()), None);
            let ordinal = usize::try_from(ordinal.load(Ordering::Relaxed)).unwrap();
            assert!(ordinal <= attackers + 1, "{attackers}: {ordinal}");
        }
    }

    /// The same user from many addresses.
    #[test]
    fn a_user_has_a_share_whatever_the_address() {
        let pool = Pool::new(1, 8);
        let (release, wait) = mpsc::channel::<()>();
        let held = pool.start([255; 32], Source::default(), move || wait.recv().ok().and(None)).unwrap();
        while pool.counts().2 > 0 {
            std::thread::yield_now();
        }
        let start = |number: u8, user| {
            let client = IpAddr::from([10, 0, 0, number]);
            pool.start([number; 32], Source::new(Some(client), Some([user; 32])), || None)
        };
        let mut jobs: Vec<_> = (0..8).filter_map(|number| start(number, 1).ok()).collect();
        assert_eq!(jobs.len(), 2);
        jobs.push(start(8, 2).unwrap());
        // Places of who is gone are free again, for the user, too.
        jobs.remove(0);
        pool.0.queue().drop_unwanted();
        jobs.push(start(9, 1).unwrap());
        assert!(start(10, 1).is_err());
        release.send(()).unwrap();
        jobs.push(held);
        jobs.iter().for_each(|job| assert_eq!(block_on(job.wait()), None));
        assert!(pool.0.queue().of_users.is_empty());
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
