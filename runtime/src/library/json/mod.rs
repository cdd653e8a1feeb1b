//! The JSON library: parsing documents or only parts of them, writing values, reading the claims of tokens.
//!
//! A document is validated to its last byte, even if a rule reads only a part. Of equal keys, the
//! last one counts, on every level. Otherwise a rule and the server behind the proxy could read
//! different values from the same document.

mod find;
mod parse;
mod project;
mod scan;
mod token;
mod tree;
mod write;

pub(crate) use self::find::Selected;
pub(super) use self::parse::{parse, parse_as, timestamp_of};
pub(crate) use self::project::{ProjectionPlan, find, project};
#[cfg(feature = "yaml")]
pub(super) use self::write::number_text;

use self::find::KeyPath;
use self::token::Numbers;
use self::write::Mapping;

use super::encoders::{BASE64_TOKEN, base64_decode};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{Map, Value};
use celero_ir::ErrorKind::InvalidArgument;

/// `json(bytes)`: parses a document.
///
/// # Errors
/// `invalid_argument` if it is not JSON, nests deeper than 128 or has a number beyond the range of
/// a double; `out_of_budget` when the evaluation's budget is spent.
pub(crate) fn json_parse<'a>(cx: &Cx<'a>, json: &'a [u8]) -> EvalResult<Value<'a>> {
    tree::parse(cx, json)
}

/// `toJson(value)`: writes a value as JSON.
pub(super) fn to_json<'a>(cx: &Cx<'a>, value: &Value<'a>) -> EvalResult<&'a str> {
    write::write(cx, value, Mapping::Whole)
}

/// `json.encode(value)`: writes a value as JSON, as cel-go does.
pub(in crate::library) fn encode<'a>(cx: &Cx<'a>, value: &Value<'a>) -> EvalResult<&'a str> {
    write::write(cx, value, Mapping::Interoperable)
}

/// Returns the value of a key of an object, `None` if it has no such key. Numbers are doubles.
pub(in crate::library) fn member_with_doubles<'a>(
    cx: &Cx<'a>,
    json: &'a [u8],
    key: &str,
) -> EvalResult<Option<Value<'a>>> {
    Ok(match find::find_with(cx, json, &KeyPath::of_key(key), Numbers::Doubles)? {
        Selected::Value(value) => Some(value),
        Selected::Failed(..) => None,
    })
}

/// Parses an object whose numbers are all doubles.
pub(in crate::library) fn object_of_doubles<'a>(cx: &Cx<'a>, json: &'a [u8]) -> EvalResult<Map<'a>> {
    match tree::parse_with(cx, json, Numbers::Doubles)? {
        Value::Map(map) => Ok(map),
        _ => Err(InvalidArgument),
    }
}

/// `unvalidatedJwtPayload(token)`: the object in the second of the token's three parts. The other
/// parts are not read, and the signature is not verified.
pub(super) fn jwt_payload<'a>(cx: &Cx<'a>, token: &str) -> EvalResult<Map<'a>> {
    cx.charge_bytes(token.len())?;
    let mut parts = token.split('.');
    let (Some(_), Some(payload), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(InvalidArgument);
    };
    match tree::parse(cx, base64_decode(cx, &BASE64_TOKEN, payload)?)? {
        Value::Map(claims) => Ok(claims),
        _ => Err(InvalidArgument),
    }
}

#[cfg(test)]
mod tests;
