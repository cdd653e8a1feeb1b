//! Random events against models that keep every event.

use celero_limits::{Decision, Limiter, Quota, Time};
use std::collections::HashMap;
use std::time::Duration;

/// One of several values.
macro_rules! pick {
    ($random:expr; $($option:expr),+) => {{
        let options = [$($option),+];
        options[$random.usize(..options.len())]
    }};
}

/// A token bucket that keeps its tokens as a number of nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct Tokens {
    unit: u128,
    capacity: u128,
    left: u128,
    at: u64,
}

impl Tokens {
    pub(crate) fn full(quota: Quota) -> Self {
        let unit = quota.period().as_nanos().div_ceil(quota.count().into());
        let capacity = unit * u128::from(quota.burst());
        Self { unit, capacity, left: capacity, at: 0 }
    }

    pub(crate) fn take(&mut self, cost: u64, now: u64) -> bool {
        self.left = (self.left + u128::from(now.saturating_sub(self.at))).min(self.capacity);
        self.at = self.at.max(now);
        let price = self.unit * u128::from(cost);
        let fits = price <= self.left;
        self.left -= if fits { price } else { 0 };
        fits
    }
}

fn quotas(random: &mut fastrand::Rng) -> Quota {
    let longest = 10_u64.pow(random.u32(4..=12));
    let period = Duration::from_nanos(random.u64(1000..=longest));
    let most = pick!(random; 1, 10, 1000);
    let count = random.u64(1..=most);
    Quota::new(count, period).unwrap().with_burst(random.u64(1..=50)).unwrap()
}

#[test]
fn token_buckets_are_as_the_model() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..300 {
        let quota = quotas(&mut random);
        let limiter = Limiter::token_bucket(quota).build();
        let (mut model, mut now) = (Tokens::full(quota), 0);
        let unit = u64::try_from(quota.period().as_nanos()).unwrap() / quota.count();
        for _ in 0..300 {
            now += pick!(random; 0, 0, 1, random.u64(..=unit), random.u64(..=unit * quota.burst()));
            let most = pick!(random; 1, 3, quota.burst() + 1);
            let cost = random.u64(0..=most);
            let before = model;
            let fits = model.take(cost, now);
            let decision = limiter.check(limiter.key(b"a"), cost, Time::from_nanos(now));
            assert_eq!(decision.is_admitted(), fits, "{quota:?} {cost} at {now}");
            assert_eq!(u128::from(decision.remaining()), model.left / model.unit);
            assert_eq!(decision.reset().as_nanos(), model.capacity - model.left);
            assert_eq!(decision.is_impossible(), cost > quota.burst());
            if let Some(wait) = decision.retry_after() {
                // After that time the same cost fits, and a nanosecond earlier it does not.
                let at = now + u64::try_from(wait.as_nanos()).unwrap();
                assert!(before.clone().take(cost, at) && !before.clone().take(cost, at - 1));
            }
        }
    }
}

#[test]
fn sliding_windows_never_admit_more_and_rarely_less() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut refused = 0;
    for _ in 0..200 {
        let quota = quotas(&mut random);
        let period = u64::try_from(quota.period().as_nanos()).unwrap();
        let limiter = Limiter::sliding_window(quota).build();
        let (mut events, mut now) = (Vec::<(u64, u64)>::new(), 0);
        for _ in 0..300 {
            now += pick!(random; 0, 1, random.u64(..=period / 5), random.u64(..=period * 2 / quota.count() + 1));
            let most = pick!(random; 1, quota.count() + 1);
            let cost = random.u64(0..=most);
            let used = |since: u64| events.iter().filter(|(at, _)| *at >= since).map(|(_, cost)| cost).sum::<u64>();
            let decision = limiter.check(limiter.key(b"a"), cost, Time::from_nanos(now));
            if decision.is_admitted() {
                // In the period that ends now, this event included.
                assert!(used((now + 1).saturating_sub(period)) + cost <= quota.count(), "{quota:?} {cost} at {now}");
                events.push((now, cost));
            } else {
                refused += 1;
                // Steps are rounded up to a nanosecond.
                let longest = period.div_ceil(7) * 8;
                assert!(used(now.saturating_sub(longest)) + cost > quota.count(), "{quota:?} {cost} at {now}");
            }
            if let Some(wait) = decision.retry_after() {
                let later = now + u64::try_from(wait.as_nanos()).unwrap();
                assert!(limiter.peek(limiter.key(b"a"), cost, Time::from_nanos(later)).is_admitted());
                assert!(!limiter.peek(limiter.key(b"b"), quota.count() + 1, Time::from_nanos(later)).is_admitted());
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

/// Whatever the table forgets, no key gets more than alone.
#[test]
fn keys_of_a_full_table_get_at_most_their_limit() {
    let mut random = fastrand::Rng::with_seed(3);
    let (mut merged, mut admitted) = (0, 0);
    for round in 0..200 {
        let quota = quotas(&mut random);
        let period = u64::try_from(quota.period().as_nanos()).unwrap();
        let (unit, is_window) = (period / quota.count(), round % 2 == 0);
        let builder = if is_window { Limiter::sliding_window(quota) } else { Limiter::token_bucket(quota) };
        let limiter = builder.with_keys(16).build();
        let mut models: HashMap<u64, (Tokens, Vec<(u64, u64)>)> = HashMap::new();
        let mut now = 0;
        for _ in 0..1000 {
            now += pick!(random; 0, 0, random.u64(..=unit), random.u64(..=unit / 8));
            let key = pick!(random; random.u64(..4), random.u64(..100));
            let cost = random.u64(1..=3);
            let decision = limiter.check(limiter.key(&key.to_le_bytes()), cost, Time::from_nanos(now));
            if !decision.is_admitted() {
                continue;
            }
            admitted += 1;
            let (tokens, events) = models.entry(key).or_insert_with(|| (Tokens::full(quota), Vec::new()));
            if is_window {
                events.push((now, cost));
                let recent = events.iter().filter(|(at, _)| *at >= (now + 1).saturating_sub(period));
                assert!(recent.map(|(_, cost)| cost).sum::<u64>() <= quota.count(), "{quota:?} {key} at {now}");
            } else {
                assert!(tokens.take(cost, now), "{quota:?} {key} at {now}");
            }
        }
        merged += limiter.stats(Time::from_nanos(now)).merged;
    }
    assert!(merged > 1000 && admitted > 10_000, "{merged} {admitted}");
}

#[test]
fn no_numbers_overflow() {
    let mut random = fastrand::Rng::with_seed(4);
    let extreme = |random: &mut fastrand::Rng| {
        let near = pick!(random; 0, 1 << 32, 1 << 60, 1 << 63, u64::MAX);
        pick!(random; near, near.saturating_add(random.u64(..9)), near.saturating_sub(random.u64(..9)), random.u64(..))
    };
    for round in 0..2000 {
        let (count, period) = (extreme(&mut random), Duration::from_nanos(extreme(&mut random)));
        let Ok(quota) = Quota::new(count, period) else { continue };
        let Ok(quota) = quota.with_burst(extreme(&mut random)) else { continue };
        let builder = if round % 2 == 0 { Limiter::sliding_window(quota) } else { Limiter::token_bucket(quota) };
        let limiter =
            std::sync::Arc::new(builder.with_keys(8).with_penalty(Duration::from_nanos(extreme(&mut random))).build());
        let most = if round % 2 == 0 { quota.count() } else { quota.burst() };
        let mut total = 0_u128;
        for _ in 0..50 {
            // The time goes forwards and backwards, so nothing that was used ever surely comes
            // back: only one instant is counted.
            let now = Time::from_nanos(extreme(&mut random));
            let key = limiter.key(&random.u64(..12).to_le_bytes());
            let cost = extreme(&mut random);
            let decision = limiter.check(key, cost, now);
            assert!(!decision.is_admitted() || cost <= most, "{quota:?} {cost}");
            assert!(decision.remaining() <= most);
            total += u128::from(decision.is_admitted());
            limiter.charge(key, extreme(&mut random), now);
            limiter.block(key, now.after(Duration::from_nanos(extreme(&mut random))), now);
            drop(limiter.reserve(key, extreme(&mut random), now));
            if let Ok((reserved, _)) = limiter.reserve(key, 1, now) {
                reserved.settle(extreme(&mut random), Time::from_nanos(extreme(&mut random)));
            }
        }
        assert!(total <= 50);
    }
}

#[test]
fn quotas_have_bounds() {
    let second = Duration::from_secs(1);
    for wrong in [Quota::new(0, second), Quota::new(1, Duration::ZERO), Quota::new(2, Duration::from_nanos(1))] {
        wrong.unwrap_err();
    }
    Quota::new(1, Duration::from_secs(40 * 366 * 86_400)).unwrap_err();
    Quota::new(1, second).unwrap().with_burst(0).unwrap_err();
    Quota::new(1, second).unwrap().with_burst(1 << 40).unwrap_err();
    assert_eq!(Quota::new(7, second).unwrap().burst(), 7);
}

#[test]
fn times_that_go_back_admit_nothing_more() {
    let quota = Quota::new(10, Duration::from_secs(1)).unwrap();
    for builder in [Limiter::token_bucket(quota), Limiter::sliding_window(quota)] {
        let limiter = builder.build();
        let key = limiter.key(b"a");
        let ask = |at: u64| limiter.check(key, 1, Time::from_nanos(at)).is_admitted();
        assert!((0..10).all(|_| ask(5_000_000_000)));
        assert!((0..50).all(|at| !ask(at * 100_000_000)));
    }
}

#[test]
fn penalties_keep_a_key_out_for_a_time() {
    let quota = Quota::new(2, Duration::from_secs(1)).unwrap();
    for builder in [Limiter::token_bucket(quota), Limiter::sliding_window(quota)] {
        let limiter = builder.with_penalty(Duration::from_secs(60)).build();
        let ask = |key: &[u8], at: u64| -> Decision {
            limiter.check(limiter.key(key), 1, Time::from_nanos(at * 1_000_000_000))
        };
        assert!(ask(b"a", 0).is_admitted() && ask(b"a", 0).is_admitted());
        assert_eq!(ask(b"a", 0).retry_after(), Some(Duration::from_secs(60)));
        // Asking again does not prolong it, and other keys are free.
        assert_eq!(ask(b"a", 50).retry_after(), Some(Duration::from_secs(10)));
        assert!(ask(b"b", 50).is_admitted());
        assert!(!ask(b"a", 59).is_admitted());
        assert!(ask(b"a", 60).is_admitted());
        limiter.block(limiter.key(b"c"), Time::from_nanos(100_000_000_000), Time::from_nanos(60_000_000_000));
        assert!(!ask(b"c", 99).is_admitted());
        limiter.unblock(limiter.key(b"c"), Time::from_nanos(99_000_000_000));
        assert!(ask(b"c", 99).is_admitted());
    }
}

/// Random decisions with and without the hint: it counts nothing, and takes no place in the table.
#[test]
fn loading_a_key_early_changes_nothing() {
    let quota = Quota::new(3, Duration::from_secs(1)).unwrap();
    for builder in [Limiter::token_bucket(quota), Limiter::sliding_window(quota)] {
        let limiter = builder.with_keys(16).with_penalty(Duration::from_millis(5)).build();
        let mut random = fastrand::Rng::with_seed(7);
        for round in 0..10_000_u64 {
            let now = Time::from_nanos(round * 1_000_000);
            let key = limiter.key(&[random.u8(..40)]);
            let before = (limiter.stats(now), limiter.peek(key, 1, now));
            limiter.prefetch(key);
            limiter.prefetch(limiter.key(&[random.u8(..)]));
            assert_eq!((limiter.stats(now), limiter.peek(key, 1, now)), before);
            assert_eq!(limiter.check(key, 1, now).is_admitted(), before.1.is_admitted());
        }
    }
}
