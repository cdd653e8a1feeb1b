//! The context of a trace (W3C Trace Context, section 3.2): `traceparent`.

use ring::rand::{SecureRandom, SystemRandom};

/// A trace, and where in it a request stands.
pub(super) struct Trace {
    /// The trace ID.
    pub(super) id: String,
    /// The ID of the span that this request belongs to. Of a trace that begins here: the span of the request itself.
    parent: u64,
    /// Whether it is recorded.
    sampled: bool,
    begins: bool,
}

/// The IDs of the span of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanIds {
    pub(crate) id: u64,
    /// 0: none.
    pub(crate) parent: u64,
    /// Whether the trace is recorded, as servers are told.
    pub(crate) sampled: bool,
}

impl Trace {
    /// Reads a value of `traceparent`. Returns `None` if it is not valid. Versions after 00 may have more at their end.
    pub(super) fn read(value: &[u8]) -> Option<Self> {
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
            && trace.bytes().any(|byte| byte != b'0');
        let parent = u64::from_str_radix(parent, 16).ok().filter(|parent| valid && *parent != 0)?;
        let sampled = u8::from_str_radix(flags, 16).ok()? & 1 == 1;
        Some(Self { id: trace.to_owned(), parent, sampled, begins: false })
    }

    /// Starts a trace, of which a share is to be recorded. Its trace ID and parent ID are random,
    /// so clients cannot guess those of other requests. Returns `None` if the system has no random
    /// numbers.
    pub(super) fn start(share: f64) -> Option<Self> {
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).ok()?;
        let (ids, chance) = bytes.split_first_chunk::<24>()?;
        let (id, parent) = ids.split_first_chunk::<16>()?;
        // From 0 to 1.
        let chance = u64::from_be_bytes(*chance.first_chunk()?) as f64 / u64::MAX as f64;
        // A trace ID or parent ID of zeros alone is not valid.
        let (id, parent) = (u128::from_be_bytes(*id).max(1), u64::from_be_bytes(*parent.first_chunk()?).max(1));
        Some(Self { id: format!("{id:032x}"), parent, sampled: chance < share, begins: true })
    }

    /// Returns the value of `traceparent`.
    pub(super) fn header(&self) -> String {
        format!("00-{}-{:016x}-{:02x}", self.id, self.parent, u8::from(self.sampled))
    }

    /// Adds the span of this request. Whoever gets `traceparent` then belongs to that span, if the
    /// trace is recorded; otherwise, nobody looks for the parent, and that of the request is passed
    /// on.
    pub(super) fn with_span(mut self) -> (Self, SpanIds) {
        let sampled = self.sampled;
        if self.begins {
            let id = self.parent;
            return (self, SpanIds { id, parent: 0, sampled });
        }
        let (id, parent) = (fastrand::u64(1..), self.parent);
        if sampled {
            self.parent = id;
        }
        (self, SpanIds { id, parent, sampled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace_of(value: &str) -> Option<String> {
        Some(Trace::read(value.as_bytes())?.id)
    }

    #[test]
    fn started_traces_are_valid_and_sampled_by_chance() {
        let count = |share| (0..1000).filter(|_| Trace::start(share).unwrap().header().ends_with("-01")).count();
        let (none, some, all) = (count(0.0), count(0.3), count(1.0));
        assert!(none == 0 && (200..400).contains(&some) && all >= 999, "{none} {some} {all}");
        let (a, b) = (Trace::start(1.0).unwrap(), Trace::start(1.0).unwrap());
        assert_eq!(trace_of(&a.header()).as_deref(), Some(&*a.id));
        assert_ne!(a.id, b.id);
    }

    #[test]
    fn only_valid_values_name_a_trace() {
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let valid = format!("00-{trace}-{parent}-01");
        assert_eq!(trace_of(&valid).as_deref(), Some(trace));
        assert_eq!(trace_of(&format!("cc-{trace}-{parent}-01-more")).as_deref(), Some(trace));
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
            assert_eq!(trace_of(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_span_comes_between_parent_and_server() {
        let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
        let (trace, span) = Trace::read(format!("{given}-01").as_bytes()).unwrap().with_span();
        assert_eq!(
            (span.parent, span.sampled, trace.parent, &*trace.id),
            (0x00f0_67aa_0ba9_02b7, true, span.id, "4bf92f3577b34da6a3ce929d0e0e4736")
        );
        assert!(trace.header().ends_with(&format!("-{:016x}-01", span.id)) && span.id != 0);
        let (kept, span) = Trace::read(format!("{given}-00").as_bytes()).unwrap().with_span();
        assert_eq!((kept.header(), span.sampled, span.parent), (format!("{given}-00"), false, 0x00f0_67aa_0ba9_02b7));
        for share in [0.0, 1.0] {
            let (begun, span) = Trace::start(share).unwrap().with_span();
            assert_eq!((span.id, span.parent, span.sampled), (begun.parent, 0, share > 0.0));
        }
    }
}
