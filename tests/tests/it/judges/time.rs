//! Times: `chrono` for the calendar, and a reading of durations and of three time zones from their rules.

use super::{Judged, No, value};
use celero_frontend::stdlib::Builtin::{self as B};
use celero_tests::generate::Owned::{self, *};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeDelta, Timelike, Utc, Weekday};

const SECOND: i128 = 1_000_000_000;

/// All nanoseconds of a timestamp.
fn nanos(seconds: i64, nanos: i64) -> i128 {
    i128::from(seconds) * SECOND + i128::from(nanos)
}

fn timestamp(nanos: i128) -> Judged {
    let seconds = i64::try_from(nanos.div_euclid(SECOND)).map_err(|_| No::Fails)?;
    // From 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.
    let year = DateTime::from_timestamp(seconds, 0).ok_or(No::Fails)?.year();
    if !(1..=9999).contains(&year) {
        return Err(No::Fails);
    }
    value(Timestamp(seconds, nanos.rem_euclid(SECOND) as i64))
}

fn duration(nanos: i128) -> Judged {
    i64::try_from(nanos).map(Duration).map_err(|_| No::Fails)
}

pub(super) fn judge(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    Some(match (b, args) {
        (AddDurations, [Duration(x), Duration(y)]) => duration(i128::from(*x) + i128::from(*y)),
        (SubDurations, [Duration(x), Duration(y)]) => duration(i128::from(*x) - i128::from(*y)),
        (AddTimestampDuration, [Timestamp(s, n), Duration(d)])
        | (AddDurationTimestamp, [Duration(d), Timestamp(s, n)]) => timestamp(nanos(*s, *n) + i128::from(*d)),
        (SubTimestampDuration, [Timestamp(s, n), Duration(d)]) => timestamp(nanos(*s, *n) - i128::from(*d)),
        (SubTimestamps, [Timestamp(a, b), Timestamp(c, d)]) => duration(nanos(*a, *b) - nanos(*c, *d)),
        (IntFromTimestamp, [Timestamp(s, _)]) => value(Int(*s)),
        (TimestampFromInt, [Int(s)]) => timestamp(i128::from(*s) * SECOND),
        (TimestampFromString, [String(s)]) => read_timestamp(s),
        (DurationFromString, [String(s)]) => read_duration(s).map_or(Err(No::Fails), duration),
        (StringFromTimestamp, [Timestamp(s, n)]) => {
            let time = DateTime::<Utc>::from_timestamp(*s, 0).unwrap().naive_utc();
            value(String(format!("{}{}Z", time.format("%Y-%m-%dT%H:%M:%S"), fraction((*n).unsigned_abs()))))
        }
        (StringFromDuration, [Duration(d)]) => {
            let (sign, all) = (if *d < 0 { "-" } else { "" }, d.unsigned_abs());
            value(String(format!("{sign}{}{}s", all / 1_000_000_000, fraction(all % 1_000_000_000))))
        }
        (HoursOfDuration, [Duration(d)]) => value(Int(d / 3_600_000_000_000)),
        (MinutesOfDuration, [Duration(d)]) => value(Int(d / 60_000_000_000)),
        (SecondsOfDuration, [Duration(d)]) => value(Int(d / 1_000_000_000)),
        (MillisecondsOfDuration, [Duration(d)]) => value(Int(d % 1_000_000_000 / 1_000_000)),
        (_, [Timestamp(s, n)]) => part(b, DateTime::from_timestamp(*s, *n as u32)?.naive_utc())?,
        (_, [Timestamp(s, n), String(zone)]) => {
            let utc = DateTime::from_timestamp(*s, *n as u32)?.naive_utc();
            match offset(zone, utc) {
                Ok(seconds) => part(b, utc + TimeDelta::seconds(seconds))?,
                Err(no) => Err(no),
            }
        }
        _ => return None,
    })
}

/// Nanoseconds as the fraction of a second, without zeros at its end.
fn fraction(nanos: u64) -> std::string::String {
    let text = format!(".{nanos:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn part(b: B, t: NaiveDateTime) -> Option<Judged> {
    use B::*;
    let part = match b {
        FullYear | FullYearIn => t.year().into(),
        Month | MonthIn => t.month0().into(),
        DayOfYear | DayOfYearIn => t.ordinal0().into(),
        DayOfMonth | DayOfMonthIn => t.day0().into(),
        Date | DateIn => t.day().into(),
        DayOfWeek | DayOfWeekIn => t.weekday().num_days_from_sunday().into(),
        Hours | HoursIn => t.hour().into(),
        Minutes | MinutesIn => t.minute().into(),
        Seconds | SecondsIn => t.second().into(),
        Milliseconds | MillisecondsIn => (t.nanosecond() / 1_000_000).into(),
        _ => return None,
    };
    Some(value(Int(part)))
}

/// The seconds of local time before universal time.
fn offset(zone: &str, utc: NaiveDateTime) -> Result<i64, No> {
    let recent = (2007..2037).contains(&utc.year());
    // A Sunday of a month, counted from its start, or its last one, at an hour.
    let sunday = |month: u32, nth: Option<u8>, hour: u32| {
        let day = match nth {
            Some(nth) => NaiveDate::from_weekday_of_month_opt(utc.year(), month, Weekday::Sun, nth),
            None => {
                (4..=5).rev().find_map(|n| NaiveDate::from_weekday_of_month_opt(utc.year(), month, Weekday::Sun, n))
            }
        };
        day.unwrap().and_hms_opt(hour, 0, 0).unwrap()
    };
    let named = match zone {
        "UTC" => 0,
        "Europe/Berlin" if recent => {
            if utc >= sunday(3, None, 1) && utc < sunday(10, None, 1) {
                7_200
            } else {
                3_600
            }
        }
        "America/New_York" if recent => {
            if utc >= sunday(3, Some(2), 7) && utc < sunday(11, Some(1), 6) {
                -14_400
            } else {
                -18_000
            }
        }
        "Asia/Kolkata" if recent => 19_800,
        "Europe/Berlin" | "America/New_York" | "Asia/Kolkata" => return Err(No::Unjudged),
        text => {
            let (sign, digits) = match text.as_bytes().first() {
                Some(b'-') => (-1, &text[1..]),
                Some(b'+') => (1, &text[1..]),
                _ => (1, text),
            };
            let (hours, minutes) = digits.split_once(':').ok_or(No::Fails)?;
            let number = |text: &str, end: i64| match text.as_bytes() {
                // cel-go accepts a single digit too.
                [b'0'..=b'9'] | [b'0'..=b'9', b'0'..=b'9'] => {
                    text.parse::<i64>().ok().filter(|number| *number < end).ok_or(No::Fails)
                }
                _ => Err(No::Fails),
            };
            sign * (number(hours, 24)? * 3_600 + number(minutes, 60)? * 60)
        }
    };
    Ok(named)
}

/// RFC 3339, section 5.6.
fn read_timestamp(text: &str) -> Judged {
    let strict = text.as_bytes().get(10) == Some(&b'T') && !text.ends_with('z');
    let time = DateTime::parse_from_rfc3339(text).ok().filter(|_| strict).ok_or(No::Fails)?;
    // `chrono` shows a leap second as the second before it.
    if time.nanosecond() >= 1_000_000_000 {
        return Err(No::Fails);
    }
    timestamp(nanos(time.timestamp(), time.timestamp_subsec_nanos().into()))
}

/// The grammar of Go's `ParseDuration`: numbers with units, of which the fraction below a nanosecond is cut.
fn read_duration(text: &str) -> Option<i128> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut sum: i128 = 0;
    while {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, unit) = rest.split_at(end);
        let end = unit.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(unit.len());
        let (unit, next) = unit.split_at(end);
        let unit: i128 = match unit {
            "h" => 3_600 * SECOND,
            "m" => 60 * SECOND,
            "s" => SECOND,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1_000,
            "ns" => 1,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let mut part = whole.checked_mul(unit)?;
        let mut place = unit;
        let mut tail: i128 = 0;
        for digit in fraction.bytes() {
            // Digits are summed in units that are too small to be cut before the sum.
            tail = tail.checked_mul(10)?.checked_add((digit - b'0').into())?;
            place = place.checked_mul(10)?;
        }
        if !fraction.is_empty() {
            part += tail.checked_mul(unit)? / (place / unit);
        }
        sum = sum.checked_add(part)?;
        rest = next;
        !rest.is_empty()
    } {}
    Some(if negative { -sum } else { sum })
}
