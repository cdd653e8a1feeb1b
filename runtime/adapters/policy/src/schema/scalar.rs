//! Numbers with units, as documents write them.

use std::time::Duration;

/// Reads a share of requests: a number above 0 and at most 1.
#[must_use]
pub fn share(text: &str) -> Option<f64> {
    text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0)
}

/// Reads a number from 0 to 1.
#[must_use]
pub fn ratio(text: &str) -> Option<f64> {
    text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio))
}

/// Reads a number of bytes, up to 1 GiB. The units are `B` (also without a unit), `KiB`, `MiB` and `GiB`.
#[must_use]
pub fn size(text: &str) -> Option<usize> {
    let (number, unit) = number_and_unit(text)?;
    let unit: usize = match unit.trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(unit).filter(|bytes| *bytes <= 1 << 30)
}

/// Reads a time of whole seconds, up to a day. The units are `s` (also without a unit), `m` and `h`.
#[must_use]
pub fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let unit = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|seconds| *seconds <= 86_400)
}

/// Reads a time, up to a day. The units are `ms`, `s`, `m` and `h`; one of them is required.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let milliseconds: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let total = number.parse::<u64>().ok()?.checked_mul(milliseconds)?;
    (total <= 86_400_000).then_some(Duration::from_millis(total))
}

/// Reads a rate: a number from 1 to 10^9 in a time of a second to a day, as in `100/s`, `5/m`,
/// `1000/h`, `1/d` or `100/10s`.
#[must_use]
pub fn rate(text: &str) -> Option<(u64, Duration)> {
    let (number, time) = text.split_once('/')?;
    let is_unit = time.starts_with(|c: char| !c.is_ascii_digit());
    let (times, unit) = if is_unit { ("1", time) } else { number_and_unit(time)? };
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    let seconds = times.parse::<u64>().ok()?.checked_mul(seconds).filter(|seconds| (1..=86_400).contains(seconds))?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse::<u64>().ok().filter(|number| is_number && (1..=1_000_000_000).contains(number))?;
    Some((number, Duration::from_secs(seconds)))
}

fn number_and_unit(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shares_have_bounds() {
        assert_eq!(
            [size("5"), size("64KiB"), size("1 MiB"), size("1GiB")],
            [Some(5), Some(65_536), Some(1 << 20), Some(1 << 30)]
        );
        assert_eq!([size("2GiB"), size("1kb"), size(""), size("-1")], [None; 4]);
        assert_eq!(
            [share("0.5"), share("1"), share("0"), share("1.1"), share("NaN")],
            [Some(0.5), Some(1.0), None, None, None]
        );
        assert_eq!(
            [ratio("0"), ratio("1"), ratio("1.1"), ratio("-0.1"), ratio("NaN")],
            [Some(0.0), Some(1.0), None, None, None]
        );
    }

    #[test]
    fn rates_are_numbers_in_a_time() {
        let seconds = Duration::from_secs;
        assert_eq!(rate("100/s"), Some((100, seconds(1))));
        assert_eq!(rate("5/m"), Some((5, seconds(60))));
        assert_eq!(rate("100/10s"), Some((100, seconds(10))));
        assert_eq!([rate("1/h"), rate("1/d")], [Some((1, seconds(3600))), Some((1, seconds(86_400)))]);
        for wrong in [
            "",
            "/",
            "5",
            "5/",
            "/s",
            "0/s",
            "+5/s",
            "-5/s",
            "5/ms",
            "5/0s",
            "5/2d",
            "5 / s",
            "1000000001/s",
            "1.5/s",
            "5/99999999999999999999s",
        ] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_have_units_and_bounds() {
        let known = ["30", "30s", "5m", "24h", "86401", "25h", "1ms", "+1", "", "s"].map(seconds);
        assert_eq!(known[..4], [Some(30), Some(30), Some(300), Some(86_400)]);
        assert_eq!(known[4..], [None; 6]);
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(duration("5m"), Some(Duration::from_secs(300)));
        for wrong in ["", "5", "s", "-1s", "1.5s", "5 s", "99999999999999999999s", "25h"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
