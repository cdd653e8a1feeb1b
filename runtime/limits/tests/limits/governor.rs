//! The same events have the same decisions as with the crate `governor`.

use celero_limits::{Bucket, Limiter, Quota, Time};
use governor::RateLimiter;
use governor::clock::FakeRelativeClock;
use std::num::NonZeroU32;
use std::time::Duration;

/// Governor counts units that come back after a whole number of nanoseconds, as this crate does if
/// the count divides the period.
fn governor_quota(quota: Quota) -> governor::Quota {
    let unit = quota.period() / u32::try_from(quota.count()).unwrap();
    let burst = NonZeroU32::new(u32::try_from(quota.burst()).unwrap()).unwrap();
    governor::Quota::with_period(unit).unwrap().allow_burst(burst)
}

/// Returns how many events were admitted and how many were not.
fn compare(quota: Quota, events: usize, keys: u64, seed: u64) -> (usize, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let clock = FakeRelativeClock::default();
    let theirs = RateLimiter::dashmap_with_clock(governor_quota(quota), clock.clone());
    let theirs_direct = RateLimiter::direct_with_clock(governor_quota(quota), clock.clone());
    let ours = Limiter::token_bucket(quota).with_keys(8192).build();
    let ours_direct = Bucket::new(quota);
    let mean = u64::try_from(quota.period().as_nanos()).unwrap() / quota.count();
    let (mut now, mut admitted, mut refused) = (0, 0, 0);
    for event in 0..events {
        // Mostly about as fast as the limit, sometimes at once, sometimes after a pause.
        let step = match random.u32(..500) {
            0 => random.u64(..mean * quota.burst()),
            1..200 => 0,
            _ => random.u64(..=mean * 2 / keys),
        };
        clock.advance(Duration::from_nanos(step));
        now += step;
        let time = Time::from_nanos(now);
        let key = random.u64(..keys);
        let cost = if random.u32(..10) == 0 { random.u32(1..=u32::try_from(quota.burst()).unwrap() + 1) } else { 1 };
        let count = NonZeroU32::new(cost).unwrap();
        let right = theirs.check_key_n(&key, count).is_ok_and(|result| result.is_ok());
        let decision = ours.check(ours.key(&key.to_le_bytes()), cost.into(), time);
        assert_eq!(decision.is_admitted(), right, "event {event} at {now}: cost {cost} of {key}, {quota:?}");
        let right = theirs_direct.check_n(count).is_ok_and(|result| result.is_ok());
        assert_eq!(ours_direct.check(cost.into(), time).is_admitted(), right, "event {event} at {now}: cost {cost}");
        if decision.is_admitted() { admitted += 1 } else { refused += 1 }
    }
    assert_eq!(ours.stats(Time::from_nanos(now)).merged, 0);
    (admitted, refused)
}

#[test]
fn a_million_events_are_decided_as_by_governor() {
    let quota =
        |count, period, burst| Quota::new(count, Duration::from_millis(period)).unwrap().with_burst(burst).unwrap();
    let quotas = [
        (quota(100, 1000, 20), 1),
        (quota(100, 1000, 20), 50),
        (quota(5, 60_000, 5), 3),
        (quota(1, 1000, 1), 7),
        (quota(1_000_000, 1000, 1000), 200),
    ];
    for (seed, (quota, keys)) in (0..).zip(quotas) {
        let (admitted, refused) = compare(quota, 200_000, keys, seed);
        assert!(admitted > 3_000 && refused > 3_000, "{quota:?}: {admitted} {refused}");
    }
}
