//! The helpers that find entries of maps and sets of the host, by functions of the host's types.
//!
//! # Safety
//!
//! As for the helpers of [`libcalls`](super::libcalls).

use super::frame::{BaseFrame, Pair};
use super::helper_result::{attempt, failure, guarded};
use crate::accessors::entries::{EntryKey, FindEntry, FoundEntry};
use crate::arena::{Arena, EvalResult};
use crate::function::contained;
use crate::value::{Value, charge_comparisons};
use celero_ir::ErrorKind;
use celero_ir::layout::ScalarAccessor;
use celero_ir::layout::value::tag;

pub(super) unsafe extern "C" fn entry_of_text(
    frame: *const BaseFrame<'_>,
    find: usize,
    map: *const u8,
    address: *const u8,
    length: usize,
) -> Pair {
    // SAFETY: native code passes on the frame that it was called with, or 0.
    let frame = unsafe { frame.as_ref() };
    // SAFETY: native code passes the words of a text.
    let key = unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(address, length)) };
    // SAFETY: native code passes the function of the map's type.
    unsafe { entry(frame, find, map, EntryKey::Text(key), &Value::String(key)) }
}

pub(super) unsafe extern "C" fn entry_of_number(
    frame: *const BaseFrame<'_>,
    find: usize,
    map: *const u8,
    tag: u64,
    word: u64,
) -> Pair {
    // SAFETY: native code passes on the frame that it was called with, or 0.
    let frame = unsafe { frame.as_ref() };
    let key = match u8::try_from(tag) {
        Ok(tag::UINT) => EntryKey::Uint(word),
        Ok(tag::BOOL) => EntryKey::Bool(word != 0),
        _ => EntryKey::Int(word.cast_signed()),
    };
    // SAFETY: as in `entry_of_text`. All numbers cost the same.
    unsafe { entry(frame, find, map, key, &Value::Uint(word)) }
}

/// Looks up a key, which a rule has as `value`.
///
/// # Safety
/// `find` is that of [`Entries`](celero_ir::layout::Entries) of the type of the map at `map`.
#[inline(always)]
unsafe fn entry(
    frame: Option<&BaseFrame<'_>>,
    find: usize,
    map: *const u8,
    key: EntryKey<'_>,
    value: &Value<'_>,
) -> Pair {
    let found = || {
        // SAFETY: the contract; the function's address was exposed when it became a number. The map
        // is in the host's data, which is borrowed for the whole evaluation.
        let found =
            unsafe { std::mem::transmute::<*const (), FindEntry>(std::ptr::with_exposed_provenance(find))(map, key) };
        if found.count == FoundEntry::ABSENT {
            return failure(ErrorKind::NoSuchKey);
        }
        match frame.map_or(Ok(()), |frame| charge_comparisons(value, found.count, &frame.cx)) {
            Ok(()) => Pair(0, found.value.expose_provenance() as u64),
            Err(kind) => failure(kind),
        }
    };
    match frame {
        Some(frame) => guarded(frame, found, failure(ErrorKind::Host)),
        None => contained(found).unwrap_or(Pair(ScalarAccessor::PANICKED, 0)),
    }
}

pub(super) unsafe extern "C" fn entry_value(frame: *const BaseFrame<'_>, make: usize, value: *const u8) -> Pair {
    type MakeValue = for<'s> unsafe fn(*const u8, &'s Arena) -> EvalResult<Value<'s>>;
    // SAFETY: native code passes on the frame that it was called with.
    let frame = unsafe { &*frame };
    // SAFETY: native code passes the function of an `EntryValue`, whose type this is: maps of hosts
    // make values in an arena. Its address was exposed when it became a number. `value` is what the
    // map's own function found.
    attempt(frame, || unsafe {
        let make = std::mem::transmute::<*const (), MakeValue>(std::ptr::with_exposed_provenance(make));
        make(value, frame.cx.arena())
    })
}
