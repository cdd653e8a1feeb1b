//! Timestamps and durations: their texts, and the parts of a date and a time of day in a time zone.
//!
//! A time zone is a name of the IANA database, which is compiled in, or an offset from UTC:
//! `+05:30`, `-08:00`, `02:00`.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::recent_cache::RecentCache;
use crate::library::standard::conversions::FORMAT_STEPS;
use crate::value::{Duration, Timestamp};
use celero_ir::ErrorKind;
use jiff::tz::TimeZone;

/// Steps charged for the offset of a zone at a time.
const OFFSET_STEPS: usize = 4;
/// Steps charged for finding a zone that the thread does not keep.
const LOOKUP_STEPS: usize = 40;

/// The day of the week of 1970-01-01: a Thursday.
const FIRST_WEEKDAY: i64 = 4;

thread_local! {
    static ZONES: RecentCache<TimeZone> = const { RecentCache::new() };
}

/// Returns the text of a timestamp (RFC 3339).
pub(crate) fn timestamp_text<'a>(cx: &Cx<'a>, time: Timestamp) -> EvalResult<&'a str> {
    cx.charge(FORMAT_STEPS)?;
    cx.arena().format(format_args!("{time}"))
}

/// Returns the text of a duration, in seconds.
pub(crate) fn duration_text<'a>(cx: &Cx<'a>, duration: Duration) -> EvalResult<&'a str> {
    cx.charge(FORMAT_STEPS)?;
    cx.arena().format(format_args!("{duration}"))
}

/// A part of a timestamp. Months, days of a month and days of a year count from 0; Sunday is day 0 of a week.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Year,
    Month,
    DayOfYear,
    DayOfMonth,
    /// The day of the month, from 1.
    Date,
    DayOfWeek,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

/// Returns a part of the date and time in UTC.
pub(crate) fn part(time: Timestamp, part: Part) -> EvalResult<i64> {
    part_at(time, part, 0)
}

/// Returns a part of the date and time in a zone. An unknown zone is `invalid_argument`. The local date may be in the
/// year 0 or 10,000, as in cel-go.
pub(crate) fn part_in(cx: &Cx<'_>, time: Timestamp, part: Part, zone: &str) -> EvalResult<i64> {
    cx.charge(1)?;
    cx.charge_bytes(zone.len())?;
    let offset = match fixed_offset(zone) {
        Some(offset) => offset?,
        None => named_offset(cx, time, zone)?,
    };
    part_at(time, part, offset)
}

fn part_at(time: Timestamp, part: Part, offset: i64) -> EvalResult<i64> {
    let date = || time.civil(offset);
    let (day, second, nanos) = time.clock(offset)?;
    Ok(match part {
        Part::Year => date().map(|(date, more_years)| i64::from(date.year()).saturating_add(more_years))?,
        Part::Month => i64::from(date()?.0.month()).saturating_sub(1),
        Part::DayOfYear => i64::from(date()?.0.day_of_year()).saturating_sub(1),
        Part::DayOfMonth => i64::from(date()?.0.day()).saturating_sub(1),
        Part::Date => date()?.0.day().into(),
        Part::DayOfWeek => day.saturating_add(FIRST_WEEKDAY).rem_euclid(7),
        Part::Hours => second / 3_600,
        Part::Minutes => second / 60 % 60,
        Part::Seconds => second % 60,
        Part::Milliseconds => nanos / 1_000_000,
    })
}

/// Parses an offset `[+-]hh:mm` to seconds; `None` if there is no colon, because then the zone is a name.
fn fixed_offset(zone: &str) -> Option<EvalResult<i64>> {
    let (hours, minutes) = zone.split_once(':')?;
    let (negative, hours) = match hours.strip_prefix('-') {
        Some(hours) => (true, hours),
        None => (false, hours.strip_prefix('+').unwrap_or(hours)),
    };
    let number = |text: &str, end: i64| {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<i64>().ok().filter(|n| digits && *n < end)
    };
    let seconds = number(hours, 24)
        .zip(number(minutes, 60))
        .map(|(h, m)| h.saturating_mul(3600).saturating_add(m.saturating_mul(60)))
        .map(|s| if negative { s.saturating_neg() } else { s });
    Some(seconds.ok_or(ErrorKind::InvalidArgument))
}

fn named_offset(cx: &Cx<'_>, time: Timestamp, zone: &str) -> EvalResult<i64> {
    cx.charge(OFFSET_STEPS)?;
    let lookup = || {
        cx.charge(LOOKUP_STEPS)?;
        TimeZone::get(zone).map_err(|_| ErrorKind::InvalidArgument)
    };
    // The crate `jiff` does not accept the last two days of the year 9999; no zone changes its offset then.
    let seconds = time.seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    let instant = jiff::Timestamp::from_second(seconds).map_err(|_| ErrorKind::Overflow)?;
    // While the thread ends, its thread-local data may be dropped already.
    ZONES
        .try_with(|zones| zones.with(zone, lookup, |zone| i64::from(zone.to_offset(instant).seconds())))
        .unwrap_or(Err(ErrorKind::OutOfBudget))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    const ALL: [Part; 10] = [
        Part::Year,
        Part::Month,
        Part::DayOfYear,
        Part::DayOfMonth,
        Part::Date,
        Part::DayOfWeek,
        Part::Hours,
        Part::Minutes,
        Part::Seconds,
        Part::Milliseconds,
    ];

    #[test]
    fn parts() {
        let arena = Arena::new(0);
        let cx = Cx::new(1_000_000, &arena);
        let cases = [
            ("2009-02-13T23:31:30.123456789Z", "UTC", [2009, 1, 43, 12, 13, 5, 23, 31, 30, 123]),
            ("2009-02-13T23:31:30Z", "Australia/Sydney", [2009, 1, 44, 13, 14, 6, 10, 31, 30, 0]),
            ("2009-02-13T23:31:30Z", "America/New_York", [2009, 1, 43, 12, 13, 5, 18, 31, 30, 0]),
            ("2009-07-13T23:31:30Z", "America/New_York", [2009, 6, 193, 12, 13, 1, 19, 31, 30, 0]),
            ("2009-02-13T23:31:30Z", "US/Central", [2009, 1, 43, 12, 13, 5, 17, 31, 30, 0]),
            ("2009-02-13T23:31:30Z", "Asia/Kathmandu", [2009, 1, 44, 13, 14, 6, 5, 16, 30, 0]),
            ("2009-02-13T23:31:30Z", "+05:30", [2009, 1, 44, 13, 14, 6, 5, 1, 30, 0]),
            ("2009-02-13T23:31:30Z", "-08:00", [2009, 1, 43, 12, 13, 5, 15, 31, 30, 0]),
            ("2009-02-13T23:31:30Z", "-00:00", [2009, 1, 43, 12, 13, 5, 23, 31, 30, 0]),
            ("2009-02-13T23:31:30Z", "02:00", [2009, 1, 44, 13, 14, 6, 1, 31, 30, 0]),
            ("1969-12-31T23:59:59.999Z", "UTC", [1969, 11, 364, 30, 31, 3, 23, 59, 59, 999]),
            ("2000-12-31T00:00:00Z", "UTC", [2000, 11, 365, 30, 31, 0, 0, 0, 0, 0]),
            ("0001-01-01T00:00:00Z", "-01:00", [0, 11, 365, 30, 31, 0, 23, 0, 0, 0]),
            ("9999-12-31T23:59:59Z", "America/New_York", [9999, 11, 364, 30, 31, 5, 18, 59, 59, 0]),
        ];
        for (time, zone, want) in cases {
            let time = Timestamp::parse(time).unwrap();
            assert_eq!(ALL.map(|p| part_in(&cx, time, p, zone)), want.map(Ok), "{time} {zone}");
            if zone == "UTC" {
                assert_eq!(ALL.map(|p| part(time, p)), want.map(Ok), "{time}");
            }
        }
        // The year 10,000 is a leap year whose first day is a Saturday.
        let last = Timestamp::parse("9999-12-31T23:59:59.5Z").unwrap();
        let tomorrow = [10_000, 0, 0, 0, 1, 6, 23, 58, 59, 500];
        assert_eq!(ALL.map(|p| part_in(&cx, last, p, "23:59")), tomorrow.map(Ok));
    }

    #[test]
    fn no_zone() {
        let arena = Arena::new(0);
        let cx = Cx::new(1_000_000, &arena);
        for zone in ["", "Nowhere/Else", "+5", ":", "+:30", "24:00", "-24:00", "01:60", "+-1:00", "001:00", "+05:30x"] {
            assert_eq!(part_in(&cx, Timestamp::default(), Part::Year, zone), Err(ErrorKind::InvalidArgument), "{zone}");
        }
    }
}
