//! Numbers with units, for people.

/// Returns a count as a floating-point number.
pub(crate) fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// Returns a number with `,` between groups of three digits: one decimal below 100, none above.
pub(crate) fn grouped(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value.abs() < 99.95 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        let left = digits.len().saturating_sub(at);
        if at > 0 && left.is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a count with its noun: `1 rule`, `2 rules`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns a number of bytes with its unit.
pub(crate) fn bytes(count: usize) -> String {
    if count < 1024 {
        return counted(count, "byte");
    }
    let count = number(count);
    match count {
        _ if count < 1024.0 * 1024.0 => format!("{:.1} KiB", count / 1024.0),
        _ => format!("{:.1} MiB", count / (1024.0 * 1024.0)),
    }
}

/// Returns a rate with its unit.
pub(crate) fn rate(per_second: f64) -> String {
    match per_second {
        _ if per_second >= 1e6 => format!("{:.2} million", per_second / 1e6),
        _ => grouped(per_second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(
            [3.25, 99.94, 100.0, 1234.4, 1_234_567.0].map(grouped),
            ["3.2", "99.9", "100", "1,234", "1,234,567"]
        );
        assert_eq!([1, 17, 2048, 3 << 20].map(bytes), ["1 byte", "17 bytes", "2.0 KiB", "3.0 MiB"]);
        assert_eq!([1234.0, 12_345_678.0].map(rate), ["1,234", "12.35 million"]);
    }
}
