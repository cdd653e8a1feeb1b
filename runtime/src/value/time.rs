//! Timestamps and durations with the ranges of the language definition, and their text forms.

use crate::arena::EvalResult;
use celero_ir::{ErrorKind, TIMESTAMP_SECONDS};
use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use std::fmt;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// The period of the Gregorian calendar: 146,097 days, which are whole weeks.
const CYCLE_YEARS: i64 = 400;
const CYCLE_SECONDS: i64 = 146_097 * 86_400;

/// A duration in nanoseconds: at most about 292 years, positive or negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Duration(pub i64);

/// A point in time from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(C)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds after `seconds`, 0 to 999,999,999.
    pub nanos: i64,
}

impl Timestamp {
    /// Seconds of the earliest timestamp.
    pub const MIN_SECONDS: i64 = *TIMESTAMP_SECONDS.start();
    /// Seconds of the latest timestamp.
    pub const MAX_SECONDS: i64 = *TIMESTAMP_SECONDS.end();

    /// Returns the timestamp `seconds` and `nanos` nanoseconds after 1970-01-01T00:00:00Z. `nanos` may be any number.
    ///
    /// # Errors
    /// `overflow` outside the years 1 to 9999.
    pub fn new(seconds: i64, nanos: i64) -> EvalResult<Self> {
        let seconds = seconds.checked_add(nanos.div_euclid(NANOS_PER_SECOND)).ok_or(ErrorKind::Overflow)?;
        if !TIMESTAMP_SECONDS.contains(&seconds) {
            return Err(ErrorKind::Overflow);
        }
        Ok(Self { seconds, nanos: nanos.rem_euclid(NANOS_PER_SECOND) })
    }

    /// The same time with fields in their ranges: they are public, so they may be out of them.
    fn normalized(self) -> EvalResult<Self> {
        let is_usual = (0..NANOS_PER_SECOND).contains(&self.nanos) && TIMESTAMP_SECONDS.contains(&self.seconds);
        if is_usual { Ok(self) } else { Self::new(self.seconds, self.nanos) }
    }

    /// Parses RFC 3339 (`2009-02-13T23:31:30.5Z`, `2009-02-13T23:31:30+05:30`). Digits after nanoseconds are ignored.
    ///
    /// # Errors
    /// `invalid_argument` for other text, `overflow` outside the years 1 to 9999.
    pub fn parse(text: &str) -> EvalResult<Self> {
        let (local, nanos, offset) = rfc3339(text).ok_or(ErrorKind::InvalidArgument)?;
        let seconds = local.duration_since(EPOCH).as_secs();
        Self::new(seconds.checked_sub(offset).ok_or(ErrorKind::Overflow)?, nanos)
    }

    /// Returns the day since 1970, the second of that day and the nanosecond of that second, at an
    /// offset from UTC in seconds.
    ///
    /// # Errors
    /// `overflow` for fields out of range.
    pub(crate) fn clock(self, offset: i64) -> EvalResult<(i64, i64, i64)> {
        let Self { seconds, nanos } = self.normalized()?;
        let local = seconds.checked_add(offset).ok_or(ErrorKind::Overflow)?;
        Ok((local.div_euclid(86_400), local.rem_euclid(86_400), nanos))
    }

    /// Returns the date and time of day at an offset from UTC in seconds, which may be in the year
    /// 10,000: a date of this year or, for such a date, the one 400 years earlier, and the number
    /// of years to add. Such dates differ in nothing but the year.
    ///
    /// # Errors
    /// `overflow` for fields out of range.
    pub(crate) fn civil(self, offset: i64) -> EvalResult<(DateTime, i64)> {
        let Self { seconds, nanos } = self.normalized()?;
        let nanos = i32::try_from(nanos).map_err(|_| ErrorKind::Overflow)?;
        let seconds = seconds.checked_add(offset).ok_or(ErrorKind::Overflow)?;
        let (seconds, years) = if seconds > Self::MAX_SECONDS {
            (seconds.saturating_sub(CYCLE_SECONDS), CYCLE_YEARS)
        } else {
            (seconds, 0)
        };
        let local = EPOCH.checked_add(SignedDuration::new(seconds, nanos)).map_err(|_| ErrorKind::Overflow)?;
        Ok((local, years))
    }

    /// Returns the timestamp `span` later.
    ///
    /// # Errors
    /// `overflow` outside the years 1 to 9999.
    pub fn checked_add(self, span: Duration) -> EvalResult<Self> {
        let (seconds, nanos) = span.parts();
        let seconds = self.seconds.checked_add(seconds).ok_or(ErrorKind::Overflow)?;
        Self::new(seconds, self.nanos.checked_add(nanos).ok_or(ErrorKind::Overflow)?)
    }

    /// Returns the timestamp `span` earlier.
    ///
    /// # Errors
    /// `overflow` outside the years 1 to 9999.
    pub fn checked_sub(self, span: Duration) -> EvalResult<Self> {
        let (seconds, nanos) = span.parts();
        let seconds = self.seconds.checked_sub(seconds).ok_or(ErrorKind::Overflow)?;
        Self::new(seconds, self.nanos.checked_sub(nanos).ok_or(ErrorKind::Overflow)?)
    }

    /// Returns the duration from `earlier` to this timestamp.
    ///
    /// # Errors
    /// `overflow` beyond the range of a duration.
    pub fn since(self, earlier: Self) -> EvalResult<Duration> {
        let all = |t: Self| i128::from(t.seconds).checked_mul(NANOS_PER_SECOND.into())?.checked_add(t.nanos.into());
        let nanos = all(self).zip(all(earlier)).and_then(|(a, b)| a.checked_sub(b));
        nanos.and_then(|n| i64::try_from(n).ok()).map(Duration).ok_or(ErrorKind::Overflow)
    }
}

impl fmt::Display for Timestamp {
    /// Writes RFC 3339 in UTC. The fraction of the second has no trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok((t, _)) = self.civil(0) else {
            return write!(f, "{} seconds and {} nanoseconds after 1970-01-01T00:00:00Z", self.seconds, self.nanos);
        };
        let (year, month, day) = (t.year(), t.month(), t.day());
        write!(f, "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", t.hour(), t.minute(), t.second())?;
        fraction(f, self.nanos.rem_euclid(NANOS_PER_SECOND).unsigned_abs())?;
        f.write_str("Z")
    }
}

impl Duration {
    /// Parses text such as `1h2m3.5s`: numbers with the units `h m s ms us ns` after an optional
    /// sign; `0` needs no unit.
    ///
    /// # Errors
    /// `invalid_argument` for other text, `overflow` if the nanoseconds do not fit into 64 bits.
    pub fn parse(text: &str) -> EvalResult<Self> {
        let (negative, text) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            all => (false, all),
        };
        if text == b"0" {
            return Ok(Self(0));
        }
        let mut rest = text;
        let mut sum: i128 = 0;
        loop {
            let (nanos, after) = quantity(rest)?;
            sum = nanos.and_then(|n| sum.checked_add(n)).ok_or(ErrorKind::Overflow)?;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        let sum = if negative { sum.checked_neg() } else { Some(sum) };
        sum.and_then(|n| i64::try_from(n).ok()).map(Self).ok_or(ErrorKind::Overflow)
    }

    /// Returns the sum.
    ///
    /// # Errors
    /// `overflow` if the nanoseconds do not fit into 64 bits.
    pub fn checked_add(self, other: Self) -> EvalResult<Self> {
        self.0.checked_add(other.0).map(Self).ok_or(ErrorKind::Overflow)
    }

    /// Returns the difference.
    ///
    /// # Errors
    /// `overflow` if the nanoseconds do not fit into 64 bits.
    pub fn checked_sub(self, other: Self) -> EvalResult<Self> {
        self.0.checked_sub(other.0).map(Self).ok_or(ErrorKind::Overflow)
    }

    /// Returns the duration in a unit of `unit` nanoseconds, rounded toward zero.
    pub(crate) fn whole(self, unit: i64) -> i64 {
        self.0.checked_div(unit).unwrap_or(0)
    }

    /// Returns the milliseconds of the last, incomplete second, with the sign of the duration. The
    /// language definition defines `getMilliseconds` as this component (0 to 999), unlike
    /// `getHours`, `getMinutes` and `getSeconds`.
    pub(crate) fn milliseconds(self) -> i64 {
        self.whole(1_000_000).checked_rem(1_000).unwrap_or(0)
    }

    /// Returns the whole seconds, rounded toward zero, and the remaining nanoseconds, which have the same sign.
    fn parts(self) -> (i64, i64) {
        (self.whole(NANOS_PER_SECOND), self.0.checked_rem(NANOS_PER_SECOND).unwrap_or(0))
    }
}

impl fmt::Display for Duration {
    /// Writes seconds without trailing zeros: `60.001s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = self.parts();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        write!(f, "{}", seconds.unsigned_abs())?;
        fraction(f, nanos.unsigned_abs())?;
        f.write_str("s")
    }
}

/// Writes `.` and nine digits without trailing zeros; nothing for 0.
fn fraction(f: &mut fmt::Formatter<'_>, nanos: u64) -> fmt::Result {
    let (mut digits, mut width) = (nanos, 9_usize);
    if digits == 0 {
        return Ok(());
    }
    while digits.is_multiple_of(10) {
        (digits, width) = (digits / 10, width.saturating_sub(1));
    }
    write!(f, ".{digits:0width$}")
}

/// Splits the text after its leading digits.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, &[]))
}

/// Returns the number of decimal digits, `None` if it is larger than any duration in nanoseconds.
fn number(digits: &[u8]) -> Option<i128> {
    digits.iter().try_fold(0_i128, |n, d| {
        let n = n.checked_mul(10)?.checked_add(d.saturating_sub(b'0').into())?;
        (n <= i128::from(u64::MAX)).then_some(n)
    })
}

/// Returns the digits of a fraction of a second as nanoseconds. Digits after the ninth are ignored.
fn nanoseconds(digits: &[u8]) -> i64 {
    let padded = digits.iter().chain(std::iter::repeat(&b'0')).take(9);
    padded.fold(0_i64, |n, d| n.saturating_mul(10).saturating_add(d.saturating_sub(b'0').into()))
}

/// Parses one number with its unit; returns the nanoseconds (`None` if too large) and the remaining text.
fn quantity(text: &[u8]) -> EvalResult<(Option<i128>, &[u8])> {
    let (whole, rest) = digits(text);
    let (part, rest) = match rest {
        [b'.', rest @ ..] => digits(rest),
        rest => (&[][..], rest),
    };
    if whole.is_empty() && part.is_empty() {
        return Err(ErrorKind::InvalidArgument);
    }
    let (unit, rest): (i128, _) = match rest {
        [b'n', b's', rest @ ..] => (1, rest),
        // Besides `us`: the micro sign and the Greek letter.
        [b'u', b's', rest @ ..] | [0xc2, 0xb5, b's', rest @ ..] | [0xce, 0xbc, b's', rest @ ..] => (1_000, rest),
        [b'm', b's', rest @ ..] => (1_000_000, rest),
        [b's', rest @ ..] => (1_000_000_000, rest),
        [b'm', rest @ ..] => (60_000_000_000, rest),
        [b'h', rest @ ..] => (3_600_000_000_000, rest),
        _ => return Err(ErrorKind::InvalidArgument),
    };
    // Fifteen digits resolve a nanosecond of an hour; the product stays far inside 128 bit.
    let part = part.iter().take(15);
    let (part, scale) = part.fold((0_i128, 1_i128), |(n, scale), d| {
        (n.saturating_mul(10).saturating_add(d.saturating_sub(b'0').into()), scale.saturating_mul(10))
    });
    let part = part.checked_mul(unit).and_then(|n| n.checked_div(scale));
    let nanos = number(whole).and_then(|n| n.checked_mul(unit)).zip(part).and_then(|(a, b)| a.checked_add(b));
    Ok((nanos, rest))
}

/// Date and time of day, nanoseconds, and the offset from UTC in seconds.
fn rfc3339(text: &str) -> Option<(DateTime, i64, i64)> {
    fn two(tens: u8, ones: u8) -> Option<i8> {
        (tens.is_ascii_digit() && ones.is_ascii_digit())
            .then(|| tens.saturating_sub(b'0').saturating_mul(10).saturating_add(ones.saturating_sub(b'0')))
            .and_then(|n| i8::try_from(n).ok())
    }
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', rest @ ..] = text.as_bytes() else { return None };
    let [h1, h2, b':', n1, n2, b':', s1, s2, rest @ ..] = rest else { return None };
    let century = i16::from(two(*y1, *y2)?);
    let year = century.saturating_mul(100).saturating_add(two(*y3, *y4)?.into());
    let date = Date::new(year, two(*m1, *m2)?, two(*d1, *d2)?).ok()?;
    let second = two(*s1, *s2)?;
    let date_time =
        DateTime::new(date.year(), date.month(), date.day(), two(*h1, *h2)?, two(*n1, *n2)?, second, 0).ok()?;
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => {
            let (fraction, rest) = digits(rest);
            if fraction.is_empty() {
                return None;
            }
            (fraction, rest)
        }
        rest => (&[][..], rest),
    };
    let offset = match rest {
        [b'Z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (two(*h1, *h2)?, two(*m1, *m2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = i64::from(hours).saturating_mul(3600).saturating_add(i64::from(minutes).saturating_mul(60));
            if *sign == b'-' { seconds.saturating_neg() } else { seconds }
        }
        _ => return None,
    };
    Some((date_time, nanoseconds(fraction), offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ErrorKind::{InvalidArgument, Overflow};

    #[test]
    fn timestamps_read_and_write() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0, 0, ""),
            ("2009-02-13T23:31:30Z", 1_234_567_890, 0, ""),
            ("2009-02-13T23:31:30.5Z", 1_234_567_890, 500_000_000, ""),
            ("2009-02-13T23:31:30.000000001Z", 1_234_567_890, 1, ""),
            ("2009-02-13T23:31:30.1234567899Z", 1_234_567_890, 123_456_789, "2009-02-13T23:31:30.123456789Z"),
            ("2009-02-14T05:01:30+05:30", 1_234_567_890, 0, "2009-02-13T23:31:30Z"),
            ("2009-02-13T23:31:30-00:00", 1_234_567_890, 0, "2009-02-13T23:31:30Z"),
            ("2009-02-13T15:31:30-08:00", 1_234_567_890, 0, "2009-02-13T23:31:30Z"),
            ("1969-12-31T23:59:59.9Z", -1, 900_000_000, ""),
            ("2000-02-29T00:00:00Z", 951_782_400, 0, ""),
            ("0001-01-01T00:00:00Z", Timestamp::MIN_SECONDS, 0, ""),
            ("9999-12-31T23:59:59.999999999Z", Timestamp::MAX_SECONDS, 999_999_999, ""),
        ];
        for (text, seconds, nanos, written) in cases {
            let got = Timestamp::parse(text);
            assert_eq!(got, Ok(Timestamp { seconds, nanos }), "{text}");
            assert_eq!(got.unwrap().to_string(), if written.is_empty() { text } else { written });
        }
    }

    #[test]
    fn timestamps_refuse() {
        let malformed = [
            "",
            "2009",
            "2009-02-13",
            "2009-02-13T23:31:30",
            "2009-02-13 23:31:30Z",
            "2009-02-13t23:31:30Z",
            "2009-02-13T23:31:30z",
            "2009-02-13T23:31:30.Z",
            "2009-02-13T23:31:30,5Z",
            "2009-02-13T23:31:60Z",
            "2009-02-13T24:00:00Z",
            "2009-02-13T23:60:00Z",
            "2009-02-30T00:00:00Z",
            "2009-00-01T00:00:00Z",
            "2009-13-01T00:00:00Z",
            "2001-02-29T00:00:00Z",
            "2009-02-13T23:31:30+0530",
            "2009-02-13T23:31:30+24:00",
            "2009-02-13T23:31:30+05:60",
            "2009-02-13T23:31:30Zx",
            " 2009-02-13T23:31:30Z",
            "+009-02-13T23:31:30Z",
            "٢٠٠٩-02-13T23:31:30Z",
        ];
        for text in malformed {
            assert_eq!(Timestamp::parse(text), Err(InvalidArgument), "{text}");
        }
        for text in ["0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"] {
            assert_eq!(Timestamp::parse(text), Err(Overflow), "{text}");
        }
    }

    #[test]
    fn durations_read_and_write() {
        let cases = [
            ("0", 0, "0s"),
            ("-0", 0, "0s"),
            ("+5s", 5_000_000_000, "5s"),
            ("1h2m3.5s", 3_723_500_000_000, "3723.5s"),
            ("-1h2m", -3_720_000_000_000, "-3720s"),
            ("60s1ms", 60_001_000_000, "60.001s"),
            ("1.5h", 5_400_000_000_000, "5400s"),
            (".5s", 500_000_000, "0.5s"),
            ("-.5s", -500_000_000, "-0.5s"),
            ("1.s", 1_000_000_000, "1s"),
            ("7us", 7_000, "0.000007s"),
            ("7µs", 7_000, "0.000007s"),
            ("7μs", 7_000, "0.000007s"),
            ("1ns", 1, "0.000000001s"),
            ("1.9ns", 1, "0.000000001s"),
            ("0.000000000000000000000001s", 0, "0s"),
            ("00000000000000000000000000000000000000000000001s", 1_000_000_000, "1s"),
            ("9223372036854775807ns", i64::MAX, "9223372036.854775807s"),
            ("-9223372036854775808ns", i64::MIN, "-9223372036.854775808s"),
            ("200000000s", 200_000_000_000_000_000, "200000000s"),
        ];
        for (text, nanos, written) in cases {
            assert_eq!(Duration::parse(text), Ok(Duration(nanos)), "{text}");
            assert_eq!(Duration(nanos).to_string(), written);
        }
    }

    #[test]
    fn durations_refuse() {
        for text in ["", "-", "1", "00", "s", ".s", "1x", "1d", "1s2", "1 s", "--1s", "1s-1s", "1e3s", "1S", "٣s"] {
            assert_eq!(Duration::parse(text), Err(InvalidArgument), "{text}");
        }
        for text in ["9223372036854775808ns", "-9223372036854775809ns", "320000000000s", "9999999999999999999999999h"] {
            assert_eq!(Duration::parse(text), Err(Overflow), "{text}");
        }
        let long = format!("{}h", "9".repeat(10_000));
        assert_eq!(Duration::parse(&long), Err(Overflow));
    }

    #[test]
    fn fields_out_of_range_are_no_panic() {
        for seconds in [i64::MIN, 0, i64::MAX] {
            for nanos in [i64::MIN, -1, 1_000_000_000, i64::MAX] {
                let odd = Timestamp { seconds, nanos };
                assert!(odd.to_string().contains(if seconds == 0 { "T" } else { "after" }));
                assert_eq!(odd.civil(0).is_ok(), seconds == 0);
                for span in [Duration(i64::MIN), Duration(i64::MAX)] {
                    let _ = (odd.checked_add(span), odd.checked_sub(span), odd.since(Timestamp::default()));
                }
            }
        }
    }

    #[test]
    fn arithmetic() {
        let at = |text| Timestamp::parse(text).unwrap();
        let span = |text| Duration::parse(text).unwrap();
        let cases = [
            ("2009-02-13T23:01:00Z", "120s", "2009-02-13T23:03:00Z"),
            ("0001-01-01T00:00:01.000000001Z", "-999999999ns", "0001-01-01T00:00:00.000000002Z"),
            ("0001-01-01T00:00:01.999999999Z", "999999999ns", "0001-01-01T00:00:02.999999998Z"),
        ];
        for (start, by, end) in cases {
            assert_eq!(at(start).checked_add(span(by)), Ok(at(end)));
            assert_eq!(at(end).checked_sub(span(by)), Ok(at(start)));
            assert_eq!(at(end).since(at(start)), Ok(span(by)));
        }
        let (first, last) = (at("0001-01-01T00:00:00Z"), at("9999-12-31T23:59:59.999999999Z"));
        assert_eq!(first.checked_add(span("-1ns")), Err(Overflow));
        assert_eq!(first.checked_sub(Duration(i64::MAX)), Err(Overflow));
        assert_eq!(last.checked_add(Duration(1)), Err(Overflow));
        assert_eq!(last.checked_sub(Duration(i64::MIN)), Err(Overflow));
        assert_eq!(last.since(first), Err(Overflow));
        assert_eq!(first.since(last), Err(Overflow));
        assert_eq!(span("-200000000s").checked_add(span("-9100000000s")), Err(Overflow));
        assert_eq!(span("200000000s").checked_sub(span("-9100000000s")), Err(Overflow));
    }
}
