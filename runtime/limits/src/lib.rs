//! Rate limits by key, local to a process, in bounded memory.
//!
//! | type | limits |
//! |---|---|
//! | [`Limiter`] | the rate of each of many keys, by a token bucket or a sliding window |
//! | [`Bucket`] | the rate of one thing, in a single atomic |
//! | [`Concurrency`] | how many requests of a key are open at once |
//!
//! ```
//! use celero_limits::{Limiter, Quota, Time};
//! use std::time::Duration;
//!
//! let quota = Quota::new(100, Duration::from_secs(1))?.with_burst(20)?;
//! let limiter = Limiter::token_bucket(quota).with_keys(10_000).build();
//! let key = limiter.key(b"192.0.2.7");
//! let now = Time::from_nanos(0);
//! assert!((0..20).all(|_| limiter.check(key, 1, now).is_admitted()));
//! let decision = limiter.check(key, 1, now);
//! assert!(!decision.is_admitted());
//! assert_eq!(decision.retry_after(), Some(Duration::from_millis(10)));
//! # Ok::<(), celero_limits::QuotaError>(())
//! ```
//!
//! # Time
//!
//! Every decision takes the time as an argument: [`Clock`] measures it, and tests choose it. A time
//! that is before an earlier one is no error; it admits less, never more.
//!
//! # Memory
//!
//! A [`Limiter`] never allocates after it was built. Its keys are in sets of eight. A new key takes
//! the place of the key of its set that has used least, and what the replaced key had used is
//! merged into the *floor* of the set. A key that is not in the table starts from the floor of its
//! set, not from nothing. So a key that was replaced never gets more than if it had stayed: **no
//! number of other keys can free a limited one.** The price is paid by new keys of a table that is
//! too small: they start with something used, and are limited earlier than they should be. What is
//! replaced when all that it had used has come back (which holds for most keys at most times)
//! leaves the floor as it is. [`Stats::merged`] counts the others.
//!
//! Keys are hashed with SipHash and a secret of the limiter, so nobody can choose keys for one set.
//! Two keys with the same 64-bit hash share a limit: with a million keys, the chance of one such
//! pair is below one in ten million.
//!
//! # Threads
//!
//! Each set has a lock of its own. Two threads wait for each other only for keys of one set, of
//! which there is one for every eight keys of the table, and for a few nanoseconds.
//!
//! A decision about one of many keys mostly waits for memory. A host that knows the key earlier
//! calls [`Limiter::prefetch`] and does other work meanwhile.
#![deny(unsafe_code)]

mod bucket;
mod concurrency;
mod decision;
mod limiter;
mod prefetch;
mod quota;
mod reservation;
mod sliding_window;
mod table;
mod time;
mod token_bucket;

pub use bucket::Bucket;
pub use concurrency::{Concurrency, Permit};
pub use decision::Decision;
pub use limiter::{Key, Limiter, LimiterBuilder, Stats};
pub use quota::{Quota, QuotaError};
pub use reservation::Reservation;
pub use time::{Clock, Time};
