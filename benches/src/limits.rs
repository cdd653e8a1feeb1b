//! Limits by key against `governor` and `pingora-limits`. Decisions are compared with governor's
//! before anything is timed; pingora-limits estimates how often a key came, so its numbers are
//! compared for one key only.
//!
//! All take the time from the caller or from a clock that stands still: reading a clock costs more
//! than a decision, and the same for all.

use crate::measure::allocated;
use celero_limits::{Bucket, Limiter, Quota, Time};
use governor::clock::FakeRelativeClock;
use governor::{Quota as GovernorQuota, RateLimiter};
use serde_json::{Value, json};
use std::any::Any;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// The number of keys of the large workloads.
const KEYS: u64 = 1_000_000;

/// Decides about a request of a key; returns whether it is admitted.
type Ask<'l> = Box<dyn Fn(u64) -> bool + Send + Sync + 'l>;

/// A contender: its name, and how it decides.
type Contender<'l> = (&'static str, Ask<'l>);

/// Measures all contenders. Returns a row for each workload. Compares a million decisions first.
///
/// # Errors
/// A decision that differs from governor's.
pub fn compare_limits(rounds: usize) -> Result<Vec<Value>, String> {
    same_decisions(1_000_000)?;
    let mut rows = Vec::new();
    let now = Time::from_nanos(0);
    // Nothing is refused: the burst is larger than the number of requests that are measured.
    let burst = 4_000_000_000;
    let quota = Quota::new(1_000_000_000, Duration::from_secs(1)).and_then(|quota| quota.with_burst(burst));
    let quota = quota.map_err(|error| error.to_string())?;
    let theirs = governor_quota(1, u32::try_from(burst).unwrap_or(u32::MAX))?;
    let clock = FakeRelativeClock::default;
    let (bucket, direct) = (Bucket::new(quota), RateLimiter::direct_with_clock(theirs, clock()));
    let one: Vec<Contender<'_>> = vec![
        ("celero", Box::new(|_| bucket.check(1, now).is_admitted())),
        ("governor", Box::new(|_| direct.check().is_ok())),
    ];
    rows.push(row("one thing without keys", &one, &[0], rounds));
    let limiter = Limiter::token_bucket(quota).with_keys(2 << 20).build();
    let [first, second] = [(); 2].map(|()| Limiter::token_bucket(quota).with_keys(1 << 20).build());
    let keyed = RateLimiter::dashmap_with_clock(theirs, clock());
    let rate = pingora_limits::rate::Rate::new(Duration::from_secs(3600));
    let memory = memory(quota, theirs);
    let mut by_key: Vec<Contender<'_>> = vec![
        ("celero", Box::new(|key| limiter.check(limiter.key(&key.to_le_bytes()), 1, now).is_admitted())),
        ("governor", Box::new(|key| keyed.check_key(&key).is_ok())),
        ("pingora-limits", Box::new(|key| rate.observe(&key, 1) < isize::MAX)),
    ];
    rows.push(row("one key", &by_key, &[7], rounds));
    let mut random = Random(1);
    let many: Vec<u64> = (0..KEYS).map(|_| random.next() % KEYS).collect();
    rows.push(row("a million keys", &by_key, &many, rounds.min(31)));
    // Of threads that share nothing: no contender can be much faster on this machine.
    by_key.push((
        "celero, nothing shared",
        Box::new(|key| {
            let limiter = if key >> 32 == 1 { &first } else { &second };
            limiter.check(limiter.key(&key.to_le_bytes()), 1, now).is_admitted()
        }),
    ));
    for (name, keys) in [("one key of its own", 1), ("100,000 keys of its own", 100_000)] {
        rows.push(threads(name, &by_key, keys, rounds.min(31)));
    }
    rows.push(memory);
    Ok(rows)
}

/// Bytes that a million keys take which came once each. pingora-limits has no keys, but counters of a fixed number.
fn memory(quota: Quota, theirs: GovernorQuota) -> Value {
    let kept = |build: &dyn Fn() -> Box<dyn Any>| {
        let before = allocated();
        let kept = build();
        let bytes = allocated().wrapping_sub(before);
        drop(kept);
        (bytes as f64 / KEYS as f64).round()
    };
    let own = kept(&|| {
        // The least number of slots that has twice as many as keys, as the documentation of the builder advises.
        let limiter = Limiter::token_bucket(quota).with_keys(2 << 20).build();
        (0..KEYS).for_each(|key| _ = limiter.check(limiter.key(&key.to_le_bytes()), 1, Time::from_nanos(0)));
        Box::new(limiter)
    });
    let governor = kept(&|| {
        let keyed = RateLimiter::dashmap_with_clock(theirs, FakeRelativeClock::default());
        (0..KEYS).for_each(|key| _ = keyed.check_key(&key).is_ok());
        Box::new(keyed)
    });
    json!({ "workload": "memory of a million keys", "bytes_per_key": { "celero": own, "governor": governor } })
}

fn governor_quota(unit: u64, burst: u32) -> Result<GovernorQuota, String> {
    let burst = NonZeroU32::new(burst).ok_or("a burst is at least 1")?;
    let quota = GovernorQuota::with_period(Duration::from_nanos(unit)).ok_or("a period is at least 1 ns")?;
    Ok(quota.allow_burst(burst))
}

/// Asks both about the same random events.
fn same_decisions(events: u64) -> Result<(), String> {
    let quota = Quota::new(100, Duration::from_secs(1)).and_then(|quota| quota.with_burst(20));
    let quota = quota.map_err(|error| error.to_string())?;
    let (clock, mut now, mut random) = (FakeRelativeClock::default(), 0_u64, Random(2));
    let ours = Limiter::token_bucket(quota).build();
    let theirs = RateLimiter::dashmap_with_clock(governor_quota(10_000_000, 20)?, clock.clone());
    let mut refused = 0_u64;
    for event in 0..events {
        let step = random.next() % 200_000;
        clock.advance(Duration::from_nanos(step));
        now = now.saturating_add(step);
        let key = random.next() % 50;
        let right = theirs.check_key(&key).is_ok();
        refused = u64::saturating_add(refused, u64::from(!right));
        if ours.check(ours.key(&key.to_le_bytes()), 1, Time::from_nanos(now)).is_admitted() != right {
            return Err(format!("event {event} at {now} ns: governor says {right}"));
        }
    }
    let rate = pingora_limits::rate::Rate::new(Duration::from_secs(3600));
    let counted = (0..1000).map(|_| rate.observe(&7_u64, 1)).last();
    let is_compared = refused > events / 10 && refused < events.saturating_sub(events / 10) && counted == Some(1000);
    if is_compared { Ok(()) } else { Err(format!("{refused} of {events} events were refused, {counted:?} counted")) }
}

/// Nanoseconds for a decision: medians of interleaved rounds.
fn row(name: &str, contenders: &[Contender<'_>], keys: &[u64], rounds: usize) -> Value {
    let runs = keys.len().max(100_000);
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds.max(1) {
        for ((_, ask), times) in contenders.iter().zip(&mut times) {
            let start = Instant::now();
            keys.iter().cycle().take(runs).for_each(|key| {
                black_box(ask(black_box(*key)));
            });
            times.push(start.elapsed().as_secs_f64() * 1e9 / runs as f64);
        }
    }
    let medians =
        contenders.iter().zip(&mut times).map(|((name, _), times)| ((*name).to_owned(), median(times).into()));
    json!({ "workload": name, "ns": Value::Object(medians.collect()) })
}

/// How many times as many decisions two threads make in a second as one: medians of interleaved rounds.
fn threads(name: &str, contenders: &[Contender<'_>], keys: u64, rounds: usize) -> Value {
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds.max(1) {
        for ((_, ask), ratios) in contenders.iter().zip(&mut ratios) {
            let (one, two) = (together(ask, 1, keys), together(ask, 2, keys));
            ratios.push(2.0 * one / two);
        }
    }
    let medians =
        contenders.iter().zip(&mut ratios).map(|((name, _), times)| ((*name).to_owned(), median(times).into()));
    json!({ "workload": format!("two threads, each with {name}"), "speed": Value::Object(medians.collect()) })
}

/// Seconds until threads have made the same number of decisions each, about keys of their own.
fn together(ask: &Ask<'_>, number: u64, keys: u64) -> f64 {
    let barrier = Barrier::new(usize::try_from(number).unwrap_or(1));
    let one = |thread: u64| {
        let first = thread.saturating_add(1) << 32;
        barrier.wait();
        let start = Instant::now();
        for round in 0..500_000_u64 {
            black_box(ask(black_box(first | round.wrapping_mul(0x9E37_79B9).checked_rem(keys).unwrap_or(0))));
        }
        start.elapsed().as_secs_f64()
    };
    thread::scope(|scope| {
        let one = &one;
        let others: Vec<_> = (1..number).map(|thread| scope.spawn(move || one(thread))).collect();
        let own = one(0);
        others.into_iter().filter_map(|thread| thread.join().ok()).fold(own, f64::max)
    })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let median = values.get(values.len() / 2).copied().unwrap_or(f64::NAN);
    (median * 100.0).round() / 100.0
}

/// A small random generator (splitmix64), so that runs are the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
