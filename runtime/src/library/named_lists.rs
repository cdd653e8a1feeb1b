//! Whether a named list contains a value: `value in lists.NAME`, and `value in $name` in the filter language.
//!
//! An evaluation asks the lists of one generation, which [`Cx`] has. Lists are known by their numbers.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::Value;
use celero_ir::ErrorKind;
use celero_lists::{Kind, ListId, Snapshot};
use std::net::IpAddr;

/// The list of a number, and its kind.
///
/// # Errors
/// `host` if there is no such list.
#[inline]
fn asked<'a>(cx: &Cx<'a>, list: i64) -> EvalResult<(&'a Snapshot, ListId, Kind)> {
    let lists = cx.lists()?;
    let id = u32::try_from(list).map(ListId::from_number).map_err(|_| ErrorKind::Host)?;
    Ok((lists, id, lists.kind(id).ok_or(ErrorKind::Host)?))
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
#[inline]
pub(crate) fn list_has_address(cx: &Cx<'_>, list: i64, address: IpAddr) -> EvalResult<bool> {
    match asked(cx, list)? {
        (lists, id, Kind::Addresses) => Ok(lists.contains_address(id, address)),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// Whether a list of texts or hosts contains a text, or a list of addresses the address that a text holds.
///
/// # Errors
/// `invalid_argument` if the list is one of addresses and the text no address.
#[inline]
pub(crate) fn list_has_text(cx: &Cx<'_>, list: i64, text: &str) -> EvalResult<bool> {
    match asked(cx, list)? {
        (_, _, Kind::Addresses) => {
            cx.charge_each_byte(text.len())?;
            let address: IpAddr = text.parse().map_err(|_| ErrorKind::InvalidArgument)?;
            list_has_address(cx, list, address)
        }
        _ => list_has_bytes(cx, list, text.as_bytes()),
    }
}

/// Whether a list of texts or hosts contains a text that may not be UTF-8.
#[inline]
pub(crate) fn list_has_bytes(cx: &Cx<'_>, list: i64, bytes: &[u8]) -> EvalResult<bool> {
    match asked(cx, list)? {
        (_, _, Kind::Addresses | Kind::Integers) => Err(ErrorKind::NoSuchOverload),
        (lists, id, _) => {
            cx.charge_each_byte(bytes.len())?;
            Ok(lists.contains_text(id, bytes))
        }
    }
}

/// Whether a list of integers contains a number.
#[inline]
pub(crate) fn list_has_integer(cx: &Cx<'_>, list: i64, number: i64) -> EvalResult<bool> {
    match asked(cx, list)? {
        (lists, id, Kind::Integers) => Ok(lists.contains_integer(id, number)),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}
