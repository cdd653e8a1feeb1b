//! Threads together are never admitted more than the limit, and never less.

use celero_limits::{Bucket, Concurrency, Decision, Limiter, Quota, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const THREADS: u64 = 4;

/// Runs `ask` on several threads, and returns how many units were admitted.
fn admitted(ask: impl Fn(u64, u64) -> u64 + Sync) -> u64 {
    let sum = AtomicU64::new(0);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (ask, sum) = (&ask, &sum);
            scope.spawn(move || {
                let units = (0..20_000).map(|round| ask(number, round)).sum();
                sum.fetch_add(units, Ordering::Relaxed);
            });
        }
    });
    sum.into_inner()
}

fn units(decision: Decision, cost: u64) -> u64 {
    if decision.is_admitted() { cost } else { 0 }
}

#[test]
fn one_key_at_one_time_gets_exactly_its_burst() {
    let quota = Quota::new(5000, Duration::from_secs(1)).unwrap();
    let now = Time::from_nanos(7);
    for builder in [Limiter::token_bucket(quota), Limiter::sliding_window(quota)] {
        let limiter = builder.with_keys(8).build();
        assert_eq!(admitted(|_, _| units(limiter.check(limiter.key(b"a"), 1, now), 1)), 5000);
        let stats = limiter.stats(now);
        assert_eq!((stats.admitted, stats.admitted + stats.refused), (5000, THREADS * 20_000));
    }
    let bucket = Bucket::new(quota);
    assert_eq!(admitted(|_, round| units(bucket.check(round % 3, now), round % 3)), 5000);
}

#[test]
fn while_time_passes_no_more_is_admitted_than_comes_back() {
    let quota = Quota::new(1000, Duration::from_secs(1)).unwrap().with_burst(50).unwrap();
    let limiter = Limiter::token_bucket(quota).with_keys(64).build();
    let bucket = Bucket::new(quota);
    let clock = AtomicU64::new(0);
    let step = 10_000;
    let one = |ask: &(dyn Fn(Time) -> Decision + Sync)| {
        clock.store(0, Ordering::Relaxed);
        let units = admitted(|_, _| units(ask(Time::from_nanos(clock.fetch_add(step, Ordering::Relaxed))), 1));
        let passed = clock.load(Ordering::Relaxed);
        let most = 50 + passed / 1_000_000 + 1;
        // Threads that are late ask at a time that has passed, which admits less.
        assert!(units <= most && units > most / 2, "{units} of {most}");
    };
    one(&|now| limiter.check(limiter.key(b"a"), 1, now));
    one(&|now| bucket.check(1, now));
}

#[test]
fn many_keys_in_a_small_table_get_no_more_than_their_limits() {
    let quota = Quota::new(10, Duration::from_secs(60)).unwrap();
    let limiter = Limiter::token_bucket(quota).with_keys(64).build();
    let used: Vec<AtomicU32> = (0..500).map(|_| AtomicU32::new(0)).collect();
    admitted(|thread, round| {
        let key = (round * 7 + thread * 13) % 500;
        if limiter.check(limiter.key(&key.to_le_bytes()), 1, Time::from_nanos(0)).is_admitted() {
            used[usize::try_from(key).unwrap()].fetch_add(1, Ordering::Relaxed);
        }
        0
    });
    assert!(used.iter().all(|used| used.load(Ordering::Relaxed) <= 10));
    assert!(used.iter().map(|used| used.load(Ordering::Relaxed)).sum::<u32>() >= 64);
}

#[test]
fn reservations_and_permits_of_threads_add_up() {
    let quota = Quota::new(100, Duration::from_secs(60)).unwrap();
    let limiter = Arc::new(Limiter::token_bucket(quota).build());
    let key = limiter.key(b"a");
    let now = Time::from_nanos(0);
    let counted = admitted(|_, round| {
        let Ok((reserved, _)) = limiter.reserve(key, 1, now) else { return 0 };
        let used = round % 2;
        reserved.settle(used, now);
        used
    });
    assert_eq!(counted, 100);
    let limit = Arc::new(Concurrency::new(3));
    let (open, most) = (AtomicU32::new(0), AtomicU32::new(0));
    admitted(|_, _| {
        let Some(permit) = limit.enter(b"a") else { return 0 };
        most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        open.fetch_sub(1, Ordering::SeqCst);
        drop(permit);
        1
    });
    assert!(most.into_inner() <= 3 && limit.keys() == 0);
}
