//! Compile-time proof that this crate's types have the layout that `celero_ir::layout` describes.

use super::frame::{BaseFrame, Frame, GroupSlot};
use crate::library::Cx;
use crate::value::{Timestamp, Value};
use celero_ir::layout::{frame, group, value};
use std::mem::{align_of, offset_of, size_of};

const _: () = {
    assert!(offset_of!(Frame<'_>, base) == 0);
    assert!(offset_of!(BaseFrame<'_>, cx) + Cx::FUEL_OFFSET == frame::FUEL as usize);
    assert!(offset_of!(BaseFrame<'_>, out) == frame::OUT as usize);
    assert!(offset_of!(BaseFrame<'_>, panicked) == frame::PANICKED as usize);
    assert!(offset_of!(Frame<'_>, result) == frame::RESULT as usize);

    assert!(offset_of!(GroupSlot, matched) == (group::MATCHED - frame::RESULT) as usize);
    assert!(offset_of!(GroupSlot, failed) == (group::FAILED - frame::RESULT) as usize);
    assert!(offset_of!(GroupSlot, errors) == (group::ERRORS - frame::RESULT) as usize);
    assert!(offset_of!(GroupSlot, stop_on_match) == (group::STOP_ON_MATCH - frame::RESULT) as usize);
    assert!(offset_of!(GroupSlot, stop_on_error) == (group::STOP_ON_ERROR - frame::RESULT) as usize);

    assert!(size_of::<Value<'_>>() == value::SIZE as usize);
    assert!(align_of::<Value<'_>>() == 8);
    assert!(offset_of!(Timestamp, seconds) == 0);
    assert!(offset_of!(Timestamp, nanos) == 8);
    // A boxed timestamp's second word is the payload's second word.
    assert!(value::SECOND - value::FIRST == 8);
};

// The tags and payloads of the variants that native code boxes and unboxes itself. `Value` is
// `repr(C, u8)`: a tag byte, then a union of the payloads, which starts at the offset of its
// alignment.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Duration;
    use celero_ir::{Ty, layout::value::tag};

    /// The words of a value as native code sees them.
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Words {
        tag: u8,
        first: u64,
        second: u64,
    }

    fn words(v: &Value<'_>) -> Words {
        // SAFETY: `v` is valid for 32 bytes (asserted above), of which `Words` has 24; for each
        // variant tested here tag, first and, where it is read, second word are initialised.
        unsafe { std::ptr::from_ref(v).cast::<Words>().read() }
    }

    #[test]
    fn variants_have_the_layout_of_the_table() {
        assert_eq!(words(&Value::Null).tag, tag::NULL);
        let v = Value::Bool(true);
        assert_eq!((words(&v).tag, words(&v).first & 0xff), (tag::BOOL, 1));
        let v = Value::Int(-2);
        assert_eq!((words(&v).tag, words(&v).first), (tag::INT, (-2i64).cast_unsigned()));
        let v = Value::Uint(3);
        assert_eq!((words(&v).tag, words(&v).first), (tag::UINT, 3));
        let v = Value::Double(1.5);
        assert_eq!((words(&v).tag, words(&v).first), (tag::DOUBLE, 1.5f64.to_bits()));
        let text = "abc";
        let v = Value::String(text);
        assert_eq!((words(&v).tag, words(&v).first, words(&v).second), (tag::STRING, text.as_ptr() as u64, 3));
        let v = Value::Bytes(text.as_bytes());
        assert_eq!((words(&v).tag, words(&v).first, words(&v).second), (tag::BYTES, text.as_ptr() as u64, 3));
        let v = Value::Duration(Duration(-7));
        assert_eq!((words(&v).tag, words(&v).first), (tag::DURATION, (-7i64).cast_unsigned()));
        let v = Value::Timestamp(Timestamp { seconds: -1, nanos: 9 });
        assert_eq!((words(&v).tag, words(&v).first, words(&v).second), (tag::TIMESTAMP, u64::MAX, 9));
        assert_eq!(celero_ir::layout::value::tag_of(Ty::Str), Some(tag::STRING));
    }
}
