//! The crate `chrono`: times of any zone are timestamps, differences of times are durations.

use crate::context::time::{NANOS_PER_SECOND, in_range, moments};
use crate::value::{Duration, Timestamp};
use chrono::{DateTime, TimeDelta, TimeZone};

moments! {
    [Z: TimeZone] DateTime<Z>: Timestamp, |time| {
        // In a leap second chrono counts on; CEL has no leap seconds, as POSIX time has none.
        let nanos = i64::from(time.timestamp_subsec_nanos()).min(NANOS_PER_SECOND.saturating_sub(1));
        in_range(Timestamp { seconds: time.timestamp(), nanos })
    };
    [] TimeDelta: Duration, |span| span.num_nanoseconds().map(Duration);
}
