//! Costs that are reserved and settled later, and open requests.

use celero_limits::{Concurrency, Limiter, Quota, Time};
use std::sync::Arc;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

fn at(seconds: u64) -> Time {
    Time::from_nanos(seconds * SECOND)
}

fn limiters(count: u64) -> [Arc<Limiter>; 2] {
    let quota = Quota::new(count, Duration::from_secs(60)).unwrap();
    [Arc::new(Limiter::token_bucket(quota).build()), Arc::new(Limiter::sliding_window(quota).build())]
}

#[test]
fn what_is_settled_counts_and_what_is_given_back_does_not() {
    for limiter in limiters(5) {
        let key = limiter.key(b"login");
        // A thousand good logins are not counted.
        for second in 0..1000 {
            let (reserved, decision) = limiter.reserve(key, 1, at(second)).unwrap();
            assert_eq!(decision.remaining(), 4);
            reserved.settle(0, at(second));
        }
        // Five bad ones are.
        for _ in 0..5 {
            limiter.reserve(key, 1, at(1000)).unwrap().0.settle(1, at(1000));
        }
        let decision = limiter.reserve(key, 1, at(1000)).unwrap_err();
        assert!(!decision.is_admitted() && decision.retry_after() > Some(Duration::ZERO));
    }
}

#[test]
fn requests_at_once_do_not_exceed_the_limit_together() {
    for limiter in limiters(5) {
        let key = limiter.key(b"login");
        let open: Vec<_> = (0..100).filter_map(|_| limiter.reserve(key, 1, at(0)).ok()).collect();
        assert_eq!(open.len(), 5);
        // However long they take: nothing comes back before they are settled.
        assert!(limiter.reserve(key, 1, at(600)).is_err());
        for (reserved, _) in open {
            reserved.settle(1, at(600));
        }
        assert!(limiter.reserve(key, 1, at(600)).is_err());
        assert!(limiter.reserve(key, 1, at(600 + 90)).is_ok());
    }
}

#[test]
fn a_request_that_is_broken_off_counts() {
    for limiter in limiters(3) {
        let key = limiter.key(b"login");
        (0..3).for_each(|_| drop(limiter.reserve(key, 1, at(0)).unwrap()));
        assert!(limiter.reserve(key, 1, at(0)).is_err());
    }
}

#[test]
fn a_real_cost_above_the_limit_is_owed() {
    for limiter in limiters(10) {
        let key = limiter.key(b"tokens");
        limiter.reserve(key, 1, at(0)).unwrap().0.settle(25, at(0));
        assert!(!limiter.check(key, 0, at(0)).is_admitted());
        assert_eq!(limiter.peek(key, 1, at(0)).remaining(), 0);
        assert!(
            !limiter.check(key, 1, at(60)).is_admitted() || limiter.stats(at(60)).capacity == 0 || is_window(&limiter)
        );
        assert!(limiter.check(key, 1, at(160)).is_admitted());
        // A release of more than is reserved does no harm.
        limiter.charge(key, 0, at(160));
    }
}

/// A window forgets what is older; a bucket pays back at its rate.
fn is_window(limiter: &Limiter) -> bool {
    limiter.peek(limiter.key(b"x"), 1, at(0)).reset() != Duration::from_secs(6)
}

#[test]
fn open_requests_are_limited_and_forgotten() {
    let limit = Arc::new(Concurrency::new(3));
    let open: Vec<_> = (0..10).filter_map(|_| limit.enter(b"a")).collect();
    assert_eq!(open.iter().map(celero_limits::Permit::open).collect::<Vec<_>>(), [1, 2, 3]);
    let other = limit.enter(b"b").unwrap();
    assert_eq!(limit.keys(), 2);
    drop(open);
    assert!(limit.enter(b"a").is_some());
    drop(other);
    assert_eq!((limit.keys(), limit.counts()), (0, (5, 7)));
    assert!(Arc::new(Concurrency::new(0)).enter(b"a").is_none());
}

#[test]
fn a_permit_ends_when_its_thread_panics() {
    let limit = Arc::new(Concurrency::new(1));
    let shared = Arc::clone(&limit);
    std::thread::spawn(move || {
        let _permit = shared.enter(b"a").unwrap();
        std::panic::resume_unwind(Box::new(()));
    })
    .join()
    .unwrap_err();
    assert!(limit.enter(b"a").is_some());
}
