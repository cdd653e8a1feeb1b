//! Times and spans of the standard library as fields, within the ranges of CEL.

use crate::value::{Duration, Timestamp};
use celero_ir::TIMESTAMP_SECONDS;
use std::time::SystemTime;

pub(crate) const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The timestamp of a system time, if CEL can hold it.
pub(crate) fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let parts = |span: std::time::Duration| Some((i64::try_from(span.as_secs()).ok()?, i64::from(span.subsec_nanos())));
    let (seconds, nanos) = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => parts(after)?,
        Err(before) => match parts(before.duration())? {
            (seconds, 0) => (seconds.checked_neg()?, 0),
            (seconds, nanos) => (seconds.checked_neg()?.checked_sub(1)?, NANOS_PER_SECOND.checked_sub(nanos)?),
        },
    };
    TIMESTAMP_SECONDS.contains(&seconds).then_some(Timestamp { seconds, nanos })
}

/// The timestamp, if CEL can hold it.
pub(crate) fn in_range(time: Timestamp) -> Option<Timestamp> {
    (TIMESTAMP_SECONDS.contains(&time.seconds) && (0..NANOS_PER_SECOND).contains(&time.nanos)).then_some(time)
}

/// The span, if CEL can hold it.
pub(crate) fn duration(span: std::time::Duration) -> Option<Duration> {
    i64::try_from(span.as_nanos()).ok().map(Duration)
}

/// A timestamp or a duration in words.
pub(crate) trait Moment {
    fn words(self) -> [u64; 2];
}

impl Moment for Timestamp {
    fn words(self) -> [u64; 2] {
        [self.seconds.cast_unsigned(), self.nanos.cast_unsigned()]
    }
}

impl Moment for Duration {
    fn words(self) -> [u64; 2] {
        [self.0.cast_unsigned(), 0]
    }
}

/// Types that are converted to timestamps or durations; `overflow` where CEL cannot hold one.
macro_rules! moments {
    ($([$($generics:tt)*] $rust:ty: $cel:ident, $convert:expr;)*) => {$(
        impl<$($generics)*> $crate::accessors::scalar::ScalarView for $rust {
            type Source = Self;
            const TY: celero_ir::Ty = celero_ir::Ty::$cel;
            const FAILS: bool = true;

            fn words(source: &Self) -> Result<[u64; 2], celero_ir::ErrorKind> {
                let convert: fn(&$rust) -> Option<$cel> = $convert;
                convert(source).map($crate::context::Moment::words).ok_or(celero_ir::ErrorKind::Overflow)
            }
        }

        // SAFETY: the view shows the moment that `value` gives, and fails where it does.
        unsafe impl<$($generics)*> $crate::context::FieldType for $rust {
            fn ty() -> celero_frontend::Type {
                celero_frontend::Type::$cel
            }

            fn layout() -> celero_ir::layout::Field {
                $crate::accessors::scalar::scalar::<Self>()
            }

            fn optional_layout() -> celero_ir::layout::Field {
                $crate::accessors::scalar::optional_scalar::<Self>()
            }

            fn value<'s>(
                &'s self,
                _: &'s $crate::arena::Arena,
            ) -> $crate::arena::EvalResult<Option<$crate::value::Value<'s>>> {
                let convert: fn(&$rust) -> Option<$cel> = $convert;
                let moment = convert(self).ok_or(celero_ir::ErrorKind::Overflow)?;
                Ok(Some($crate::value::Value::$cel(moment)))
            }
        }

        impl<$($generics)*> $crate::context::Element for $rust {}
    )*};
}

#[cfg(any(feature = "chrono", feature = "jiff"))]
pub(crate) use moments;

moments! {
    [] SystemTime: Timestamp, |time| timestamp(*time);
    [] Timestamp: Timestamp, |time| in_range(*time);
    [] std::time::Duration: Duration, |span| duration(*span);
    [] Duration: Duration, |span| Some(*span);
}
