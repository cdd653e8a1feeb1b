//! The context of a trace (W3C Trace Context, section 3.2): `traceparent`.

/// Returns the trace id, if a value of `traceparent` is valid. Versions after 00 may have more at their end.
pub(super) fn trace_of(value: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(value).ok()?;
    let mut parts = text.split('-');
    let [version, trace, parent, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    let is_hex = |text: &str, length| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let valid = is_hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && is_hex(trace, 32)
        && is_hex(parent, 16)
        && is_hex(flags, 2)
        && [trace, parent].iter().all(|id| id.bytes().any(|byte| byte != b'0'));
    valid.then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_values_name_a_trace() {
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let valid = format!("00-{trace}-{parent}-01");
        assert_eq!(trace_of(valid.as_bytes()), Some(trace));
        assert_eq!(trace_of(format!("cc-{trace}-{parent}-01-more").as_bytes()), Some(trace));
        for wrong in [
            String::new(),
            format!("{valid}-more"),
            format!("ff-{trace}-{parent}-01"),
            format!("00-{}-{parent}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            valid.to_uppercase(),
            valid.replace("4bf", "4b"),
            valid.replace("-01", "-1"),
            valid.replace("4bf", "4bg"),
            format!(" {valid}"),
        ] {
            assert_eq!(trace_of(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
