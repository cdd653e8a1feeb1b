//! Times and spans of the standard library as fields, within the ranges of CEL.

use super::FieldType;
use super::describe::read_by_call;
use super::field_type::Element;
use crate::arena::{Arena, EvalResult};
use crate::value::{Duration, Timestamp, Value};
use celero_frontend::Type;
use celero_ir::ErrorKind;
use celero_ir::layout::Field as Layout;
use std::time::SystemTime;

/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds since 1970.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The timestamp of a system time, if CEL can hold it.
fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let parts = |span: std::time::Duration| Some((i64::try_from(span.as_secs()).ok()?, i64::from(span.subsec_nanos())));
    let (seconds, nanos) = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => parts(after)?,
        Err(before) => match parts(before.duration())? {
            (seconds, 0) => (seconds.checked_neg()?, 0),
            (seconds, nanos) => (seconds.checked_neg()?.checked_sub(1)?, NANOS_PER_SECOND.checked_sub(nanos)?),
        },
    };
    SECONDS.contains(&seconds).then_some(Timestamp { seconds, nanos })
}

macro_rules! times {
    ($($rust:ty: $cel:ident, $convert:expr;)*) => {$(
        // SAFETY: only `value` reads it.
        unsafe impl FieldType for $rust {
            fn ty() -> Type {
                Type::$cel
            }

            fn layout() -> Layout {
                read_by_call(false)
            }

            fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let convert: fn($rust) -> Option<$cel> = $convert;
                convert(*self).map(|time| Some(Value::$cel(time))).ok_or(ErrorKind::Overflow)
            }
        }

        impl Element for $rust {}
    )*};
}

times! {
    SystemTime: Timestamp, timestamp;
    Timestamp: Timestamp, |time| (SECONDS.contains(&time.seconds) && (0..NANOS_PER_SECOND).contains(&time.nanos)).then_some(time);
    std::time::Duration: Duration, |span| i64::try_from(span.as_nanos()).ok().map(Duration);
    Duration: Duration, Some;
}
