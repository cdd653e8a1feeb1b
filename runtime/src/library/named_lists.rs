//! Whether a named list contains a value: `value in lists.NAME`, and `value in $name` in the filter
//! language. Which value it has for a key: `lists.NAME[key]`.
//!
//! An evaluation asks the lists of one generation at one time, which [`Cx`] has. Lists are known by
//! their numbers, entries by their numbers in this generation.
//!
//! Invariant: the text of a list's value is not copied. It lives as long as the snapshot, which outlives every value of
//! an evaluation: `Cx` borrows both for one lifetime. A program's value borrows the `Scratch` that keeps the snapshot;
//! sets and tests return no values. Test: `runtime/tests/it/list_values.rs::text_outlives_the_lists_it_is_from`.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::Value;
use celero_frontend::ListAccess;
use celero_ir::ErrorKind;
use celero_lists::{EntryId, Kind, ListId, ScalarRef, View};
use std::net::IpAddr;

/// The lists, and the list of a number. Whether it exists is asked of the snapshot.
#[inline]
fn numbered<'a>(cx: &Cx<'a>, list: i64) -> EvalResult<(&'a View, ListId)> {
    let id = u32::try_from(list).map(ListId::from_number).map_err(|_| ErrorKind::Host)?;
    Ok((cx.lists()?, id))
}

/// The list of a number, and its kind.
///
/// # Errors
/// `host` if there is no such list.
#[inline]
fn asked<'a>(cx: &Cx<'a>, list: i64) -> EvalResult<(&'a View, ListId, Kind)> {
    let (lists, id) = numbered(cx, list)?;
    Ok((lists, id, lists.snapshot().kind(id).ok_or(ErrorKind::Host)?))
}

/// The error of a list that can't be asked for a value: it is of another kind, or does not exist.
#[cold]
fn unsuited(lists: &View, list: ListId) -> ErrorKind {
    lists.snapshot().kind(list).map_or(ErrorKind::Host, |_| ErrorKind::NoSuchOverload)
}

/// Whether a list contains a value.
///
/// # Errors
/// `no_such_overload` for a value of a type that the list can't be asked for; those of [`list_has_text`].
pub(crate) fn list_has<'a>(cx: &Cx<'a>, list: i64, value: Value<'a>) -> EvalResult<bool> {
    match value {
        Value::String(text) => list_has_text(cx, list, text),
        Value::Ip(address) => list_has_address(cx, list, address),
        Value::Int(number) => list_has_integer(cx, list, number),
        Value::Uint(number) => match (asked(cx, list)?.2, i64::try_from(number)) {
            (Kind::Integers, Ok(number)) => list_has_integer(cx, list, number),
            (Kind::Integers, Err(_)) => Ok(false),
            _ => Err(ErrorKind::NoSuchOverload),
        },
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// Whether a list of addresses contains an address.
// Inlined, so that the address stays in registers: an `IpAddr` is written to memory in parts, and
// reading it as a whole waits for all of them.
#[inline(always)]
pub(crate) fn list_has_address(cx: &Cx<'_>, list: i64, address: IpAddr) -> EvalResult<bool> {
    let (lists, id) = numbered(cx, list)?;
    lists.has_address(id, address).ok_or_else(|| unsuited(lists, id))
}

/// Whether a list contains a text, or a list of addresses the address that a text holds. Charges
/// what searching for patterns costs.
///
/// # Errors
/// `invalid_argument` if the list is one of addresses and the text no address.
#[inline]
pub(crate) fn list_has_text(cx: &Cx<'_>, list: i64, text: &str) -> EvalResult<bool> {
    cx.charge_each_byte(text.len())?;
    let (lists, id) = numbered(cx, list)?;
    match lists.has_text_metered(id, text.as_bytes(), cx)? {
        Some(has) => Ok(has),
        None => list_has_address_in_text(cx, list, text),
    }
}

/// Whether a list of addresses contains the address that a text holds.
// Not inlined: texts would save the registers that reading an address needs.
#[cold]
#[inline(never)]
fn list_has_address_in_text(cx: &Cx<'_>, list: i64, text: &str) -> EvalResult<bool> {
    let (lists, id) = numbered(cx, list)?;
    if lists.snapshot().kind(id) != Some(Kind::Addresses) {
        return Err(unsuited(lists, id));
    }
    list_has_address(cx, list, text.parse().map_err(|_| ErrorKind::InvalidArgument)?)
}

/// Whether a list contains a text that may not be UTF-8.
#[inline]
pub(crate) fn list_has_bytes(cx: &Cx<'_>, list: i64, bytes: &[u8]) -> EvalResult<bool> {
    cx.charge_each_byte(bytes.len())?;
    let (lists, id) = numbered(cx, list)?;
    lists.has_text_metered(id, bytes, cx)?.ok_or_else(|| unsuited(lists, id))
}

/// Whether a list of integers contains a number.
#[inline]
pub(crate) fn list_has_integer(cx: &Cx<'_>, list: i64, number: i64) -> EvalResult<bool> {
    let (lists, id) = numbered(cx, list)?;
    lists.has_integer(id, number).ok_or_else(|| unsuited(lists, id))
}

/// The number of no entry.
const NO_ENTRY: i64 = -1;

fn entry_number(found: Option<EntryId>) -> i64 {
    found.map_or(NO_ENTRY, EntryId::number)
}

/// The entry that a list has for a key, as a number; -1 if there is none.
///
/// # Errors
/// `no_such_overload` for a key of a type that the list can't be asked for; those of [`list_find_text`].
pub(crate) fn list_find<'a>(cx: &Cx<'a>, list: i64, key: Value<'a>) -> EvalResult<i64> {
    match key {
        Value::String(text) => list_find_text(cx, list, text),
        Value::Ip(address) => list_find_address(cx, list, address),
        Value::Int(number) => list_find_integer(cx, list, number),
        Value::Uint(number) => match (asked(cx, list)?.2, i64::try_from(number)) {
            (Kind::Integers, Ok(number)) => list_find_integer(cx, list, number),
            (Kind::Integers, Err(_)) => Ok(NO_ENTRY),
            _ => Err(ErrorKind::NoSuchOverload),
        },
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// The entry of an address in a list of addresses.
// Inlined as `list_has_address` is.
#[inline(always)]
pub(crate) fn list_find_address(cx: &Cx<'_>, list: i64, address: IpAddr) -> EvalResult<i64> {
    let (lists, id) = numbered(cx, list)?;
    match lists.find_address(id, address) {
        None if lists.snapshot().kind(id) != Some(Kind::Addresses) => Err(unsuited(lists, id)),
        found => Ok(entry_number(found)),
    }
}

/// The entry that a list has for a text; in a list of addresses, that of the address that the text holds.
///
/// # Errors
/// `invalid_argument` if the list is one of addresses and the text no address.
#[inline]
pub(crate) fn list_find_text(cx: &Cx<'_>, list: i64, text: &str) -> EvalResult<i64> {
    match asked(cx, list)? {
        (_, _, Kind::Integers) => Err(ErrorKind::NoSuchOverload),
        (lists, id, kind) => {
            cx.charge_each_byte(text.len())?;
            if kind == Kind::Addresses {
                let address: IpAddr = text.parse().map_err(|_| ErrorKind::InvalidArgument)?;
                return list_find_address(cx, list, address);
            }
            Ok(entry_number(lists.find_text_metered(id, text.as_bytes(), cx)?))
        }
    }
}

/// The entry of a number in a list of integers.
#[inline]
pub(crate) fn list_find_integer(cx: &Cx<'_>, list: i64, number: i64) -> EvalResult<i64> {
    let (lists, id) = numbered(cx, list)?;
    match lists.find_integer(id, number) {
        None if lists.snapshot().kind(id) != Some(Kind::Integers) => Err(unsuited(lists, id)),
        found => Ok(entry_number(found)),
    }
}

/// The entry itself.
///
/// # Errors
/// `no_such_key` if it is none.
#[inline]
pub(crate) fn list_entry(_: &Cx<'_>, entry: i64) -> EvalResult<i64> {
    if entry == NO_ENTRY { Err(ErrorKind::NoSuchKey) } else { Ok(entry) }
}

/// A field of the value of an entry; `None` if there is no entry, or it leaves the field out.
#[inline]
fn value_of<'a>(cx: &Cx<'a>, list: i64, field: i64, entry: i64) -> EvalResult<Option<ScalarRef<'a>>> {
    let (lists, id) = numbered(cx, list)?;
    let field = u32::try_from(field).map_err(|_| ErrorKind::Host)?;
    Ok(EntryId::from_number(entry).and_then(|entry| lists.snapshot().value(id, entry, field)))
}

/// A field that is a text.
///
/// # Errors
/// `no_such_key` if there is no entry, or it leaves the field out.
#[inline]
pub(crate) fn list_value_text<'a>(cx: &Cx<'a>, list: i64, field: i64, entry: i64) -> EvalResult<&'a str> {
    match value_of(cx, list, field, entry)? {
        Some(ScalarRef::Text(text)) => Ok(text),
        None => Err(ErrorKind::NoSuchKey),
        Some(_) => Err(ErrorKind::Host),
    }
}

/// A field that is an integer. Errors as those of [`list_value_text`].
#[inline]
pub(crate) fn list_value_int(cx: &Cx<'_>, list: i64, field: i64, entry: i64) -> EvalResult<i64> {
    match value_of(cx, list, field, entry)? {
        Some(ScalarRef::Int(number)) => Ok(number),
        None => Err(ErrorKind::NoSuchKey),
        Some(_) => Err(ErrorKind::Host),
    }
}

/// A field that is a boolean. Errors as those of [`list_value_text`].
#[inline]
pub(crate) fn list_value_bool(cx: &Cx<'_>, list: i64, field: i64, entry: i64) -> EvalResult<bool> {
    match value_of(cx, list, field, entry)? {
        Some(ScalarRef::Bool(truth)) => Ok(truth),
        None => Err(ErrorKind::NoSuchKey),
        Some(_) => Err(ErrorKind::Host),
    }
}

/// Whether there is an entry, and it has the field.
#[inline]
pub(crate) fn list_value_has(cx: &Cx<'_>, list: i64, field: i64, entry: i64) -> EvalResult<bool> {
    Ok(value_of(cx, list, field, entry)?.is_some())
}

/// The field as an optional: without a value if there is no entry, or it leaves the field out.
pub(crate) fn list_value_optional<'a>(cx: &Cx<'a>, list: i64, field: i64, entry: i64) -> EvalResult<Value<'a>> {
    let value = value_of(cx, list, field, entry)?.map(|value| cx.arena().alloc(value_from(value))).transpose()?;
    Ok(Value::Optional(value))
}

/// What an expression reads of a list, for the tier that knows no types.
///
/// # Errors
/// `no_such_key`, as [`ListAccess`] says.
pub(crate) fn list_value<'a>(cx: &Cx<'a>, access: ListAccess, key: Value<'a>) -> EvalResult<Value<'a>> {
    let (list, field) = (access.list.into(), access.field.into());
    let mut entry = list_find(cx, list, key)?;
    if !access.optional_key {
        entry = list_entry(cx, entry)?;
    }
    if access.test {
        return list_value_has(cx, list, field, entry).map(Value::Bool);
    }
    if access.optional_key || access.optional_field {
        return list_value_optional(cx, list, field, entry);
    }
    value_of(cx, list, field, entry)?.map(value_from).ok_or(ErrorKind::NoSuchKey)
}

fn value_from(value: ScalarRef<'_>) -> Value<'_> {
    match value {
        ScalarRef::Text(text) => Value::String(text),
        ScalarRef::Int(number) => Value::Int(number),
        ScalarRef::Bool(truth) => Value::Bool(truth),
        // No list has values of a type that was not declared for it.
        _ => Value::Null,
    }
}
