//! The helpers with operands that only generated code makes: addresses of prepared constants, of builders, of operands.
//!
//! Safety: each is called by native code alone, with the frame of the running evaluation and operands as its row in
//! `celero_ir::for_each_helper` says; an address named for a thing is that of a live thing of that type. Those that take a
//! whole [`Frame`] are called by code that gets one alone: see [`builds`](super::builds).

use super::frame::{Base, Frame, Pair};
use super::pool::{IntSet, PreparedSearcher, StrSet};
use super::shims::{attempt, failure, guarded, pack};
use crate::arena::{ArenaVec, EvalResult};
use crate::library;
use crate::lower::Callee;
use crate::value::{List, MapBuilder, Value};
use celero_ir::ErrorKind;

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
    // What is there but can't be read is there.
    guarded(frame, || u64::from(!matches!(host_field(frame, index), Ok(None))), 0)
}

#[cfg(feature = "http")]
pub(super) unsafe extern "C" fn header_get(
    frame: *const Base<'_>,
    map: *const http::HeaderMap,
    name: *const http::HeaderName,
) -> Pair {
    let frame = frame!(frame);
    // SAFETY: `map` is the address of a header map of the host, `name` that of a prepared name.
    let (map, name) = unsafe { (&*map, &*name) };
    let body = || match crate::context::headers::joined(map, name, frame.cx.arena()) {
        Ok(Some(text)) => Pair(text.as_ptr() as u64, text.len() as u64),
        Ok(None) => Pair(0, 0),
        Err(kind) => Pair(0, kind as u64),
    };
    guarded(frame, body, Pair(0, ErrorKind::Host as u64))
}

#[cfg(feature = "http")]
pub(super) unsafe extern "C" fn headers_get(
    frame: *const Base<'_>,
    map: *const http::HeaderMap,
    table: *const super::header_table::HeaderTable,
    answers: *mut [u64; 2],
) -> u64 {
    let frame = frame!(frame);
    // SAFETY: `map` is the address of a header map of the host, `table` that of a prepared table.
    let (map, table) = unsafe { (&*map, &*table) };
    // SAFETY: the native function's own room for two words for each name of the table, initialised or not: all are written
    // before any is read.
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
pub(super) unsafe extern "C" fn header_get(_: *const Frame<'_>, _: u64, _: u64) -> Pair {
    Pair(0, ErrorKind::Host as u64)
}

fn bytes<'x>(p: *const u8, n: usize) -> &'x [u8] {
    // SAFETY: the two words of a node that is text or bytes; they outlive the evaluation, of which this is a part.
    unsafe { std::slice::from_raw_parts(p, n) }
}

pub(super) unsafe extern "C" fn searcher_find(
    frame: *const Base<'_>,
    searcher: *const PreparedSearcher,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared searcher.
    let searcher = unsafe { &*searcher };
    let frame = frame!(frame);
    attempt(frame, || frame.cx.charge_bytes(n).map(|()| searcher.is_in(bytes(p, n))))
}

/// [`searcher_find`] on processors that have what [`has_avx2`](celero_matching::search::has_avx2) asks for.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) unsafe extern "C" fn searcher_find_wide(
    frame: *const Base<'_>,
    searcher: *const PreparedSearcher,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared searcher.
    let searcher = unsafe { &*searcher };
    let frame = frame!(frame);
    match frame.cx.charge_bytes(n) {
        // SAFETY: the processor has what it takes, or this were not called. Nothing of it panics.
        Ok(()) => Pair(0, u64::from(unsafe { searcher.is_in_avx2(bytes(p, n)) })),
        Err(kind) => failure(kind),
    }
}

pub(super) unsafe extern "C" fn regex_find(
    frame: *const Base<'_>,
    matcher: *const celero_matching::Matcher,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of a prepared matcher; the words of a `str` node, which is valid UTF-8.
    let (matcher, text) = unsafe { (&*matcher, std::str::from_utf8_unchecked(bytes(p, n))) };
    let frame = frame!(frame);
    attempt(frame, || library::regex_found(&frame.cx, matcher, text))
}

pub(super) unsafe extern "C" fn str_set_has(frame: *const Base<'_>, set: *const StrSet, p: *const u8, n: usize) -> u64 {
    // SAFETY: the address of a prepared set.
    let set = unsafe { &*set };
    let frame = frame!(frame);
    frame.cx.spend_bytes(n);
    guarded(frame, || u64::from(set.contains(bytes(p, n))), 0)
}

pub(super) unsafe extern "C" fn int_set_has(frame: *const Base<'_>, set: *const IntSet, number: i64) -> u64 {
    // SAFETY: the address of a prepared set.
    let set = unsafe { &*set };
    guarded(frame!(frame), || u64::from(set.contains(&number)), 0)
}

pub(super) unsafe extern "C" fn json_project(
    frame: *const Base<'_>,
    parts: *const library::Parts,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of prepared parts.
    let parts = unsafe { &*parts };
    let frame = frame!(frame);
    attempt(frame, || library::project(&frame.cx, bytes(p, n), parts))
}

pub(super) unsafe extern "C" fn json_find(
    frame: *const Base<'_>,
    parts: *const library::Parts,
    p: *const u8,
    n: usize,
) -> Pair {
    // SAFETY: the address of prepared parts.
    let parts = unsafe { &*parts };
    let frame = frame!(frame);
    let body = || match library::find(&frame.cx, bytes(p, n), parts) {
        Ok(library::End::At(value)) => pack(frame, Ok(value)),
        Ok(library::End::Failed(step, kind)) => {
            Pair(0, celero_ir::layout::found::failed(u32::try_from(step).unwrap_or(u32::MAX), kind))
        }
        Err(kind) => failure(kind),
    };
    guarded(frame, body, failure(ErrorKind::Host))
}

pub(super) unsafe extern "C" fn value_new(frame: *const Base<'_>, tag: u64, first: u64, second: u64) -> Pair {
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
        t::BYTES => Value::Bytes(bytes(first as *const u8, usize::try_from(second).unwrap_or(0))),
        t::DURATION => Value::Duration(crate::value::Duration(first.cast_signed())),
        t::TIMESTAMP => {
            Value::Timestamp(crate::value::Timestamp { seconds: first.cast_signed(), nanos: second.cast_signed() })
        }
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

pub(super) unsafe extern "C" fn list_at(frame: *const Base<'_>, value: *const Value<'_>, index: u64) -> Pair {
    let frame = frame!(frame);
    // SAFETY: the address of a value.
    let value = unsafe { *value };
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    let body = || match list(value) {
        // Where it lies it outlives the evaluation.
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

pub(super) unsafe extern "C" fn list_begin(frame: *const Base<'_>, capacity: u64) -> Pair {
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
    frame: *const Base<'a>,
    builder: *mut ListBuilder<'a>,
    element: *const Value<'a>,
) -> Pair {
    // SAFETY: the builder that `list_begin` made in this evaluation, which nothing else refers to; a value.
    let (builder, element) = unsafe { (&mut *builder, *element) };
    let body = || builder.push(element).map_or_else(failure, |()| Pair(0, 0));
    guarded(frame!(frame), body, failure(ErrorKind::Host))
}

pub(super) unsafe extern "C" fn list_finish<'a>(frame: *const Base<'a>, builder: *mut ListBuilder<'a>) -> Pair {
    let frame = frame!(frame);
    // SAFETY: as in `list_push`; native code does not use the builder again.
    let builder = unsafe { &mut *builder };
    let body = || {
        let elements = std::mem::replace(builder, frame.cx.arena().vec()).finish();
        Ok(Value::List(List::Slice(elements)))
    };
    attempt(frame, body)
}

pub(super) unsafe extern "C" fn map_begin(frame: *const Base<'_>, capacity: u64) -> Pair {
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
    frame: *const Base<'a>,
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
    frame: *const Base<'a>,
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

pub(super) unsafe extern "C" fn map_finish<'a>(frame: *const Base<'a>, builder: *mut MapBuilder<'a>) -> Pair {
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
        // SAFETY: as said, each is the address of a value.
        let args: smallvec::SmallVec<[Value<'a>; 8]> = addresses.iter().map(|&value| unsafe { *value }).collect();
        let callee = frame.callees.get(usize::try_from(function).unwrap_or(usize::MAX));
        run_callee(frame, callee, &args)
    };
    attempt(frame, body)
}

fn run_callee<'a>(frame: &Frame<'a>, callee: Option<&Callee>, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
    callee.ok_or(ErrorKind::Host)?.call(&frame.cx, frame.functions, args)
}
