//! The crate `jiff`: points in time are timestamps, absolute durations are durations.

use crate::context::time::{NANOS_PER_SECOND, in_range, moments};
use crate::value::{Duration, Timestamp};
use jiff::{SignedDuration, Zoned};

/// The timestamp of a point in time. Before 1970 jiff's parts are both negative.
fn timestamp(time: jiff::Timestamp) -> Option<Timestamp> {
    let (seconds, nanos) = (time.as_second(), i64::from(time.subsec_nanosecond()));
    in_range(match nanos {
        ..0 => Timestamp { seconds: seconds.checked_sub(1)?, nanos: nanos.checked_add(NANOS_PER_SECOND)? },
        _ => Timestamp { seconds, nanos },
    })
}

moments! {
    [] jiff::Timestamp: Timestamp, |time| timestamp(*time);
    [] Zoned: Timestamp, |time| timestamp(time.timestamp());
    [] SignedDuration: Duration, |span| i64::try_from(span.as_nanos()).ok().map(Duration);
}
