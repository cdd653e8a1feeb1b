//! The helpers with operands or results that only generated code has: addresses of prepared
//! constants, of builders, of lists of operands. The table `celero_ir::for_each_helper` calls such
//! an operand `word`.
//!
//! # Safety
//!
//! Only native code calls these functions. It passes the frame of the running evaluation, and
//! operands of the kinds that the helper's row in the table names; the address of a thing is that
//! of a live thing of that type. Functions that take a whole [`Frame`] are called only by code that
//! gets a whole frame: [`EntryAbi::choose`](super::entry_abi::EntryAbi::choose) decides that.

pub(super) use super::entry_calls::{entry_of_number, entry_of_text, entry_value};
use super::frame::{BaseFrame, Frame, Pair};
use super::helper_result::{attempt, failure, guarded, pack};
use super::pool::{IntSet, PreparedSearcher, StrSet};
use crate::accessors::text::MakeText;
use crate::arena::{Arena, ArenaVec, EvalResult};
use crate::library;
use crate::library::helper_functions::text_decode;
use crate::lower::Callee;
use crate::value::{Duration, List, MapBuilder, Timestamp, Value};
use celero_ir::ErrorKind;
use celero_ir::layout::literals::INCOMPLETE;
use celero_matching::FewLiterals;

fn host_field<'a>(frame: &Frame<'a>, index: u64) -> EvalResult<Option<Value<'a>>> {
    frame.host.field(u32::try_from(index).unwrap_or(u32::MAX), frame.cx.arena())
}

macro_rules! frame {
    ($frame:ident) => {
        // SAFETY: native code passes on the frame that it was called with.
        unsafe { &*$frame }
    };
}

pub(super) unsafe extern "C" fn field_get(frame: *const Frame<'_>, index: u64) -> Pair {
    let frame = frame!(frame);
    attempt(frame, || host_field(frame, index).and_then(|value| value.ok_or(ErrorKind::NoSuchKey)))
}

pub(super) unsafe extern "C" fn field_has(frame: *const Frame<'_>, index: u64) -> u64 {
    let frame = frame!(frame);
    // A field that exists but can't be read is present.
    guarded(frame, || u64::from(!matches!(host_field(frame, index), Ok(None))), 0)
}

pub(super) unsafe extern "C" fn text_made(frame: *const BaseFrame<'_>, make: usize, source: *const u8) -> Pair {
    let frame = frame!(frame);
    // SAFETY: native code passes the second function of an `Access::MostlyText`, whose type this
    // is: the types of hosts make texts in an arena. Its address was exposed when it became a
    // number. `source` is the address that the field's path leads to in the host's data, which is
    // borrowed for the whole evaluation.
    attempt(frame, || unsafe {
        let make = std::mem::transmute::<*const (), MakeText<Arena>>(std::ptr::with_exposed_provenance(make));
        make(source, frame.cx.arena())
    })
}

#[cfg(feature = "http")]
pub(super) unsafe extern "C" fn header_get(
    frame: *const BaseFrame<'_>,
    map: *const http::HeaderMap,
    name: *const http::HeaderName,
) -> Pair {
    let frame = frame!(frame);
    // SAFETY: as native code passes them.
    found(frame, || unsafe { header_line(frame, map, name) })
}

#[cfg(feature = "http")]
pub(super) unsafe extern "C" fn header_text(
    frame: *const BaseFrame<'_>,
    map: *const http::HeaderMap,
    name: *const http::HeaderName,
) -> Pair {
    let frame = frame!(frame);
    // SAFETY: as native code passes them.
    found(frame, || match unsafe { header_line(frame, map, name) }? {
        Some(line) => text_decode(&frame.cx, line).map(|text| Some(text.as_bytes())),
        None => Ok(None),
    })
}

/// The value of a header, charged to the budget.
///
/// # Safety
/// `map` is the address of a header map of the host, `name` that of a prepared name.
#[cfg(feature = "http")]
#[inline(always)]
unsafe fn header_line<'a>(
    frame: &BaseFrame<'a>,
    map: *const http::HeaderMap,
    name: *const http::HeaderName,
) -> EvalResult<Option<&'a [u8]>> {
    // SAFETY: the contract; both are there during the evaluation.
    let (map, name) = unsafe { (&*map, &*name) };
    crate::context::headers::joined_charged(map, name, &frame.cx)
}

/// Runs the body of a helper that may find nothing, and returns its result in words: see the row `header_get`.
#[cfg(feature = "http")]
#[inline(always)]
fn found<'a>(frame: &BaseFrame<'a>, body: impl FnOnce() -> EvalResult<Option<&'a [u8]>>) -> Pair {
    let words = || match body() {
        Ok(Some(text)) => Pair(text.as_ptr() as u64, text.len() as u64),
        Ok(None) => Pair(0, 0),
        Err(kind) => Pair(0, kind as u64),
    };
    guarded(frame, words, Pair(0, ErrorKind::Host as u64))
}

#[cfg(feature = "http")]
pub(super) unsafe extern "C" fn headers_get(
    frame: *const BaseFrame<'_>,
    map: *const http::HeaderMap,
    table: *const super::header_table::HeaderTable,
    answers: *mut [u64; 2],
) -> u64 {
    let frame = frame!(frame);
    // SAFETY: `map` is the address of a header map of the host, `table` that of a prepared table.
    let (map, table) = unsafe { (&*map, &*table) };
    // SAFETY: the native function's own stack slot, with two words for each name of the table. They
    // may be uninitialised: all are written here before any is read.
    let answers = unsafe {
        answers.write_bytes(0, table.len());
        std::slice::from_raw_parts_mut(answers, table.len())
    };
    guarded(frame, || table.look_up(map, frame.cx.arena(), answers), ());
    0
}

#[cfg(not(feature = "http"))]
pub(super) unsafe extern "C" fn headers_get(_: *const Frame<'_>, _: u64, _: u64, _: u64) -> u64 {
    0
}

#[cfg(not(feature = "http"))]
pub(super) unsafe extern "C" fn header_text(_: *const Frame<'_>, _: u64, _: u64) -> Pair {
    Pair(0, ErrorKind::Host as u64)
}

#[cfg(not(feature = "http"))]
pub(super) unsafe extern "C" fn header_get(_: *const Frame<'_>, _: u64, _: u64) -> Pair {
    Pair(0, ErrorKind::Host as u64)
}

/// The bytes that the two words of an operand describe.
///
/// # Safety
/// The words are those of a node that is text or bytes, and `'x` ends before the evaluation does.
unsafe fn bytes<'x>(p: *const u8, n: usize) -> &'x [u8] {
    // SAFETY: the contract: the content of such a node outlives the evaluation.
    unsafe { std::slice::from_raw_parts(p, n) }
}

pub(super) unsafe extern "C" fn searcher_find(
    frame: *const BaseFrame<'_>,
    searcher: *const PreparedSearcher,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared searcher; the words of a node that is text or bytes.
    let (searcher, text) = unsafe { (&*searcher, bytes(p, n)) };
    let frame = frame!(frame);
    attempt(frame, || frame.cx.charge_bytes(n).map(|()| searcher.is_in(text)))
}

/// [`searcher_find`] for processors on which [`has_avx2`](celero_matching::search::has_avx2) is true.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) unsafe extern "C" fn searcher_find_wide(
    frame: *const BaseFrame<'_>,
    searcher: *const PreparedSearcher,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared searcher; the words of a node that is text or bytes.
    let (searcher, text) = unsafe { (&*searcher, bytes(p, n)) };
    let frame = frame!(frame);
    match frame.cx.charge_bytes(n) {
        // SAFETY: `addresses` chooses this function only on processors with these features. The search does not panic.
        Ok(()) => Pair(0, u64::from(unsafe { searcher.is_in_avx2(text) })),
        Err(kind) => failure(kind),
    }
}

pub(super) unsafe extern "C" fn literals_find(
    frame: *const BaseFrame<'_>,
    set: *const FewLiterals,
    p: *const u8,
    n: usize,
) -> u64 {
    if p.is_null() {
        return 0;
    }
    // SAFETY: the address of a prepared set; the words of a node that is text or bytes, or may be.
    let (set, text) = unsafe { (&*set, bytes(p, n)) };
    let frame = frame!(frame);
    let body = || match frame.cx.charge_bytes(n).map(|()| set.find_in_one_pass(text)) {
        Ok((found, true)) => found,
        Ok((found, false)) => found | INCOMPLETE,
        Err(_) => INCOMPLETE,
    };
    guarded(frame, body, INCOMPLETE)
}

pub(super) unsafe extern "C" fn regex_find(
    frame: *const BaseFrame<'_>,
    matcher: *const celero_matching::Matcher,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared matcher; the words of a `str` node, which is valid UTF-8.
    let (matcher, text) = unsafe { (&*matcher, std::str::from_utf8_unchecked(bytes(p, n))) };
    let frame = frame!(frame);
    attempt(frame, || library::regex_found(&frame.cx, matcher, text))
}

pub(super) unsafe extern "C" fn byte_regex_find(
    frame: *const BaseFrame<'_>,
    matcher: *const celero_matching::pattern::ByteMatcher,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared matcher; the words of a node that is text or bytes.
    let (matcher, text) = unsafe { (&*matcher, bytes(p, n)) };
    let frame = frame!(frame);
    attempt(frame, || library::byte_regex_found(&frame.cx, matcher, text))
}

pub(super) unsafe extern "C" fn wildcard_matches(
    frame: *const BaseFrame<'_>,
    wildcard: *const celero_matching::Wildcard,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared pattern; the words of a node that is text or bytes.
    let (wildcard, text) = unsafe { (&*wildcard, bytes(p, n)) };
    let frame = frame!(frame);
    attempt(frame, || library::wildcard_found(&frame.cx, wildcard, text))
}

pub(super) unsafe extern "C" fn str_set_has(
    frame: *const BaseFrame<'_>,
    set: *const StrSet,
    p: *const u8,
    n: usize,
) -> u64 {
    // SAFETY: the address of a prepared set; the words of a node that is text or bytes.
    let (set, text) = unsafe { (&*set, bytes(p, n)) };
    // SAFETY: native code passes on the frame that it was called with, or 0.
    if let Some(frame) = unsafe { frame.as_ref() } {
        frame.cx.spend_bytes(n);
    }
    u64::from(set.contains(text))
}

pub(super) unsafe extern "C" fn int_set_has(_: *const BaseFrame<'_>, set: *const IntSet, number: i64) -> u64 {
    // SAFETY: the address of a prepared set.
    let set = unsafe { &*set };
    u64::from(set.contains(&number))
}

pub(super) unsafe extern "C" fn json_project(
    frame: *const BaseFrame<'_>,
    plan: *const library::ProjectionPlan,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared plan; the words of a node that is text or bytes.
    let (plan, document) = unsafe { (&*plan, bytes(p, n)) };
    let frame = frame!(frame);
    attempt(frame, || library::project(&frame.cx, document, plan))
}

pub(super) unsafe extern "C" fn json_find(
    frame: *const BaseFrame<'_>,
    plan: *const library::ProjectionPlan,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared plan; the words of a node that is text or bytes.
    let (plan, document) = unsafe { (&*plan, bytes(p, n)) };
    let frame = frame!(frame);
    let body = || match library::find(&frame.cx, document, plan) {
        Ok(library::Selected::Value(value)) => pack(frame, Ok(value)),
        Ok(library::Selected::Failed(step, kind)) => {
            Pair(0, celero_ir::layout::found::failed(u32::try_from(step).unwrap_or(u32::MAX), kind))
        }
        Err(kind) => failure(kind),
    };
    guarded(frame, body, failure(ErrorKind::Host))
}

pub(super) unsafe extern "C" fn value_new(frame: *const BaseFrame<'_>, tag: u64, first: u64, second: u64) -> Pair {
    use celero_ir::layout::value::tag as t;
    let frame = frame!(frame);
    let value = match u8::try_from(tag).unwrap_or(u8::MAX) {
        t::NULL => Value::Null,
        t::BOOL => Value::Bool(first & 0xff != 0),
        t::INT => Value::Int(first.cast_signed()),
        t::UINT => Value::Uint(first),
        t::DOUBLE => Value::Double(f64::from_bits(first)),
        // SAFETY: with this tag the words are those of a `str` node.
        t::STRING => Value::String(unsafe {
            std::str::from_utf8_unchecked(bytes(first as *const u8, usize::try_from(second).unwrap_or(0)))
        }),
        // SAFETY: with this tag the words are those of a node that is bytes.
        t::BYTES => Value::Bytes(unsafe { bytes(first as *const u8, usize::try_from(second).unwrap_or(0)) }),
        t::DURATION => Value::Duration(Duration(first.cast_signed())),
        t::TIMESTAMP => Value::Timestamp(Timestamp { seconds: first.cast_signed(), nanos: second.cast_signed() }),
        _ => return failure(ErrorKind::Host),
    };
    pack(frame, Ok(value))
}

fn list<'a>(value: Value<'a>) -> List<'a> {
    match value {
        Value::List(list) => list,
        _ => List::Slice(&[]),
    }
}

pub(super) unsafe extern "C" fn list_first(_: *const BaseFrame<'_>, value: *const Value<'_>) -> u64 {
    // SAFETY: the address of a value.
    match unsafe { &*value } {
        Value::List(List::Slice(items)) => items.as_ptr() as u64,
        _ => 0,
    }
}

pub(super) unsafe extern "C" fn list_at(frame: *const BaseFrame<'_>, value: *const Value<'_>, index: u64) -> Pair {
    let frame = frame!(frame);
    // SAFETY: the address of a value.
    let value = unsafe { *value };
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    let body = || match list(value) {
        // The item's own address, without a copy: the list outlives the evaluation.
        List::Slice(items) => match items.get(index) {
            Some(item) => Pair(0, std::ptr::from_ref(item) as u64),
            None => failure(ErrorKind::InvalidArgument),
        },
        List::Host(host) => {
            let item = host.get(index, frame.cx.arena());
            pack(frame, item.and_then(|item| item.ok_or(ErrorKind::InvalidArgument)))
        }
    };
    guarded(frame, body, failure(ErrorKind::Host))
}

type ListBuilder<'a> = ArenaVec<'a, Value<'a>>;

pub(super) unsafe extern "C" fn list_block(frame: *const BaseFrame<'_>, count: u64) -> Pair {
    let frame = frame!(frame);
    let body = || match frame.cx.arena().uninit_slice::<Value<'_>>(usize::try_from(count).unwrap_or(usize::MAX)) {
        Ok(block) => Pair(0, block.as_mut_ptr().expose_provenance() as u64),
        Err(kind) => failure(kind),
    };
    guarded(frame, body, failure(ErrorKind::Host))
}

pub(super) unsafe extern "C" fn list_of_block<'a>(
    frame: *const BaseFrame<'a>,
    block: *const Value<'a>,
    count: u64,
) -> Pair {
    let frame = frame!(frame);
    // SAFETY: memory for as many values that `list_block` gave in this evaluation. Native code has
    // written them all, and does not write again.
    let elements = unsafe { std::slice::from_raw_parts(block, usize::try_from(count).unwrap_or(0)) };
    attempt(frame, || Ok(Value::List(List::Slice(elements))))
}

pub(super) unsafe extern "C" fn list_begin(frame: *const BaseFrame<'_>, capacity: u64) -> Pair {
    let frame = frame!(frame);
    let body = || {
        let mut builder: ListBuilder<'_> = frame.cx.arena().vec();
        let begun = builder.reserve(usize::try_from(capacity).unwrap_or(usize::MAX));
        match begun.and_then(|()| frame.cx.arena().keep(builder)) {
            Ok(builder) => Pair(0, std::ptr::from_mut(builder) as u64),
            Err(kind) => failure(kind),
        }
    };
    guarded(frame, body, failure(ErrorKind::Host))
}

pub(super) unsafe extern "C" fn list_push<'a>(
    frame: *const BaseFrame<'a>,
    builder: *mut ListBuilder<'a>,
    element: *const Value<'a>,
) -> Pair {
    // SAFETY: the builder that `list_begin` made in this evaluation, which nothing else refers to; a value.
    let (builder, element) = unsafe { (&mut *builder, *element) };
    let body = || builder.push(element).map_or_else(failure, |()| Pair(0, 0));
    guarded(frame!(frame), body, failure(ErrorKind::Host))
}

pub(super) unsafe extern "C" fn list_finish<'a>(frame: *const BaseFrame<'a>, builder: *mut ListBuilder<'a>) -> Pair {
    let frame = frame!(frame);
    // SAFETY: as in `list_push`; native code does not use the builder again.
    let builder = unsafe { &mut *builder };
    let body = || {
        let elements = std::mem::replace(builder, frame.cx.arena().vec()).finish();
        Ok(Value::List(List::Slice(elements)))
    };
    attempt(frame, body)
}

pub(super) unsafe extern "C" fn map_begin(frame: *const BaseFrame<'_>, capacity: u64) -> Pair {
    let frame = frame!(frame);
    let body = || {
        let begun = MapBuilder::new(frame.cx.arena(), usize::try_from(capacity).unwrap_or(usize::MAX));
        match begun.and_then(|builder| frame.cx.arena().keep(builder)) {
            Ok(builder) => Pair(0, std::ptr::from_mut(builder) as u64),
            Err(kind) => failure(kind),
        }
    };
    guarded(frame, body, failure(ErrorKind::Host))
}

pub(super) unsafe extern "C" fn map_insert<'a>(
    frame: *const BaseFrame<'a>,
    builder: *mut MapBuilder<'a>,
    key: *const Value<'a>,
    element: *const Value<'a>,
) -> Pair {
    // SAFETY: the builder that `map_begin` made in this evaluation, which nothing else refers to; two values.
    let (builder, key, element) = unsafe { (&mut *builder, *key, *element) };
    let body = || builder.insert(key, element).map_or_else(failure, |()| Pair(0, 0));
    guarded(frame!(frame), body, failure(ErrorKind::Host))
}

pub(super) unsafe extern "C" fn map_merge<'a>(
    frame: *const BaseFrame<'a>,
    builder: *mut MapBuilder<'a>,
    entries: *const Value<'a>,
) -> Pair {
    let frame = frame!(frame);
    // SAFETY: as in `map_insert`.
    let (builder, entries) = unsafe { (&mut *builder, *entries) };
    let body = || match entries {
        Value::Map(map) => builder.merge(&map, &frame.cx).map_or_else(failure, |()| Pair(0, 0)),
        _ => failure(ErrorKind::NoSuchOverload),
    };
    guarded(frame, body, failure(ErrorKind::Host))
}

pub(super) unsafe extern "C" fn map_finish<'a>(frame: *const BaseFrame<'a>, builder: *mut MapBuilder<'a>) -> Pair {
    let frame = frame!(frame);
    // SAFETY: as in `map_insert`; native code does not use the builder again.
    let builder = unsafe { &mut *builder };
    let body = || {
        let empty = MapBuilder::new(frame.cx.arena(), 0);
        let entries = empty.and_then(|empty| std::mem::replace(builder, empty).finish(&frame.cx));
        entries.map(Value::Map)
    };
    attempt(frame, body)
}

pub(super) unsafe extern "C" fn dispatch<'a>(
    frame: *const Frame<'a>,
    function: u64,
    operands: *const *const Value<'a>,
    count: u64,
) -> Pair {
    let frame = frame!(frame);
    let body = || {
        let count = usize::try_from(count).unwrap_or(0);
        let addresses = if count == 0 {
            &[]
        } else {
            // SAFETY: native code stored the addresses of `count` values there.
            unsafe { std::slice::from_raw_parts(operands, count) }
        };
        // SAFETY: each is the address of a value (see above).
        let args: smallvec::SmallVec<[Value<'a>; 8]> = addresses.iter().map(|&value| unsafe { *value }).collect();
        let callee = frame.callees.get(usize::try_from(function).unwrap_or(usize::MAX));
        run_callee(frame, callee, &args)
    };
    attempt(frame, body)
}

fn run_callee<'a>(frame: &Frame<'a>, callee: Option<&Callee>, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
    callee.ok_or(ErrorKind::Host)?.call(&frame.cx, frame.functions, args)
}
