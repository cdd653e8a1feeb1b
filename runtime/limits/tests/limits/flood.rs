//! A flood of new keys frees nobody.

use celero_limits::{Limiter, Quota, Time};
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_flood_of_new_keys_does_not_free_a_limited_one() {
    let quota = Quota::new(10, Duration::from_secs(60)).unwrap();
    for builder in [Limiter::token_bucket(quota), Limiter::sliding_window(quota)] {
        let limiter = builder.with_keys(1024).build();
        let attackers: Vec<_> = (0..50_u64).map(|number| limiter.key(&number.to_le_bytes())).collect();
        for key in &attackers {
            assert_eq!((0..20).filter(|_| limiter.check(*key, 1, Time::from_nanos(0)).is_admitted()).count(), 10);
        }
        // A hundred times as many keys as fit, each with one request.
        let mut served = 0_u32;
        for number in 1000..101_000_u64 {
            let now = Time::from_nanos(number * 10_000);
            served += u32::from(limiter.check(limiter.key(&number.to_le_bytes()), 1, now).is_admitted());
        }
        let now = Time::from_nanos(2 * SECOND);
        assert!(attackers.iter().all(|key| !limiter.check(*key, 1, now).is_admitted()));
        let stats = limiter.stats(now);
        assert!(stats.merged > 0 && stats.keys <= stats.capacity && stats.capacity == 1024, "{stats:?}");
        // The flood itself is limited once the table is full: together the keys get about what as
        // many keys as fit would get.
        assert!(served <= 1024 * 10 + 1024, "{served}");
        // When the window has passed, everybody begins anew.
        let later = Time::from_nanos(300 * SECOND);
        assert!(attackers.iter().all(|key| limiter.check(*key, 1, later).is_admitted()));
        assert!(limiter.check(limiter.key(b"new"), 10, later).is_admitted());
    }
}

#[test]
fn a_penalty_outlives_a_flood() {
    let quota = Quota::new(10, Duration::from_secs(1)).unwrap();
    let limiter = Limiter::token_bucket(quota).with_keys(256).with_penalty(Duration::from_secs(600)).build();
    let bad = limiter.key(b"bad");
    assert!(!(0..11).all(|_| limiter.check(bad, 1, Time::from_nanos(0)).is_admitted()));
    for number in 0..100_000_u64 {
        // Slow enough that each of the keys is free again long before the next one of its set.
        let _ = limiter.check(limiter.key(&number.to_le_bytes()), 1, Time::from_nanos(number * 5_000_000));
    }
    let now = Time::from_nanos(599 * SECOND);
    assert!(!limiter.peek(bad, 1, now).is_admitted());
    // Nobody else was hurt: what was replaced had used nothing any more.
    assert_eq!(limiter.stats(now).merged, 0);
    assert!(limiter.peek(limiter.key(b"good"), 10, now).is_admitted());
    assert!(limiter.peek(bad, 1, Time::from_nanos(601 * SECOND)).is_admitted());
}

#[test]
fn memory_is_bounded() {
    let quota = Quota::new(10, Duration::from_secs(1)).unwrap();
    for (builder, bytes) in [(Limiter::token_bucket(quota), 48), (Limiter::sliding_window(quota), 136)] {
        let stats = builder.with_keys(1 << 16).build().stats(Time::from_nanos(0));
        assert_eq!(stats.capacity, 1 << 16);
        assert!(stats.bytes / stats.capacity <= bytes, "{} bytes a key", stats.bytes / stats.capacity);
    }
}

#[test]
fn refused_and_free_requests_of_new_keys_replace_nobody() {
    let quota = Quota::new(3, Duration::from_secs(60)).unwrap();
    let limiter = Limiter::token_bucket(quota).with_keys(8).build();
    let now = Time::from_nanos(0);
    for number in 0..8_u64 {
        assert!(limiter.check(limiter.key(&number.to_le_bytes()), 2, now).is_admitted());
    }
    for number in 8..10_000_u64 {
        let key = limiter.key(&number.to_le_bytes());
        assert!(limiter.check(key, 0, now).is_admitted() && !limiter.check(key, 4, now).is_admitted());
    }
    assert_eq!(limiter.stats(now).merged, 0);
}

#[test]
fn keys_that_owe_much_do_not_shut_out_others() {
    let quota = Quota::new(10, Duration::from_secs(1)).unwrap();
    for builder in [Limiter::token_bucket(quota), Limiter::sliding_window(quota)] {
        // One set: eight keys that owe more than ever comes back, and then all others.
        let limiter = builder.with_keys(8).build();
        let now = Time::from_nanos(0);
        for number in 0..8_u64 {
            limiter.charge(limiter.key(&number.to_le_bytes()), u64::MAX, now);
        }
        let admitted =
            (8..100_u64).filter(|number| limiter.check(limiter.key(&number.to_le_bytes()), 1, now).is_admitted());
        assert_eq!(admitted.count(), 10, "the others share what one of them may use");
        assert!((0..8_u64).all(|number| !limiter.check(limiter.key(&number.to_le_bytes()), 1, now).is_admitted()));
        let later = Time::from_nanos(2 * SECOND);
        assert!(limiter.check(limiter.key(b"new"), 10, later).is_admitted());
    }
}

#[test]
fn a_debt_ends() {
    let quota = Quota::new(10, Duration::from_secs(1)).unwrap();
    let limiter = Limiter::token_bucket(quota).build();
    let key = limiter.key(b"key");
    limiter.charge(key, u64::MAX, Time::from_nanos(0));
    assert!(!limiter.check(key, 1, Time::from_nanos(86_399 * SECOND)).is_admitted());
    assert!(limiter.check(key, 10, Time::from_nanos(86_401 * SECOND)).is_admitted());
}
