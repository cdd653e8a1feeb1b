//! JSON: documents as values, values as documents, parts of documents, and the claims of tokens.
//!
//! A document is validated to its last byte whatever is read of it, and of equal keys the last counts, on every level: a
//! rule must not read less than, or other than, what the receiver behind the proxy reads.

mod find;
mod project;
mod scan;
mod token;
mod tree;
mod write;

pub(crate) use self::find::End;
pub(crate) use self::project::{Parts, find, project};

use super::encoders::{BASE64_TOKEN, base64_decode};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{Map, Value};
use celero_ir::ErrorKind::InvalidArgument;

/// `json(bytes)`: the value of a document.
///
/// # Errors
/// `invalid_argument` if it is not JSON, nests deeper than 128 or has a number beyond the range of a double; `out_of_budget`
/// when the evaluation's budget is spent.
pub(crate) fn json_parse<'a>(cx: &Cx<'a>, json: &'a [u8]) -> EvalResult<Value<'a>> {
    tree::parse(cx, json)
}

/// `toJson(value)`
pub(super) fn to_json<'a>(cx: &Cx<'a>, value: &Value<'a>) -> EvalResult<&'a str> {
    write::write(cx, value)
}

/// `unvalidatedJwtPayload(token)`: the object in the middle of three parts. The other two are not looked at.
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
