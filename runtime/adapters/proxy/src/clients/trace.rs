//! The context of a trace (W3C Trace Context, section 3.2): `traceparent`.

use ring::rand::{SecureRandom, SystemRandom};

/// Returns the trace ID, if a value of `traceparent` is valid. Versions after 00 may have more at their end.
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

/// A trace that begins here.
pub(super) struct Started {
    /// The value of `traceparent`.
    pub(super) parent: String,
    /// The trace ID.
    pub(super) id: String,
}

/// Starts a trace, of which a share is to be recorded. Its trace ID and parent ID are random, so clients cannot guess those of other
/// requests. Returns `None` if the system has no random numbers.
pub(super) fn start(sampled: f64) -> Option<Started> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).ok()?;
    let (ids, chance) = bytes.split_first_chunk::<24>()?;
    let (id, parent) = ids.split_first_chunk::<16>()?;
    // From 0 to 1.
    let chance = u64::from_be_bytes(*chance.first_chunk()?) as f64 / u64::MAX as f64;
    let flags = u8::from(chance < sampled);
    // A trace ID or parent ID of zeros alone is not valid.
    let (id, parent) = (u128::from_be_bytes(*id).max(1), u64::from_be_bytes(*parent.first_chunk()?).max(1));
    let id = format!("{id:032x}");
    Some(Started { parent: format!("00-{id}-{parent:016x}-{flags:02x}"), id })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn started_traces_are_valid_and_sampled_by_chance() {
        let count = |share| (0..1000).filter(|_| start(share).unwrap().parent.ends_with("-01")).count();
        let (none, some, all) = (count(0.0), count(0.3), count(1.0));
        assert!(none == 0 && (200..400).contains(&some) && all >= 999, "{none} {some} {all}");
        let (a, b) = (start(1.0).unwrap(), start(1.0).unwrap());
        assert_eq!(trace_of(a.parent.as_bytes()), Some(&*a.id));
        assert_ne!(a.id, b.id);
    }

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
