//! The functions of protovalidate as functions of an environment.

use crate::formats::{host, ip, uri};
use celero::values::{Arena, List};
use celero::{Context, Env, Value};
use std::collections::HashSet;

/// Declares the functions of protovalidate: `isNan`, `isInf`, `isHostname`, `isEmail`, `isIp`, `isIpPrefix`, `isUri`,
/// `isUriRef`, `isHostAndPort`, `unique`, and `contains`, `startsWith` and `endsWith` of bytes.
///
/// `getField` is not among them, because it is of one type of message. [`Validator`](crate::Validator) declares it, and
/// `this`, `rules`, `rule` and `now`, for the rules of a file.
#[must_use]
pub fn functions<C: Context>(env: Env<C>) -> Env<C> {
    env.pure_method("isNan", |number: f64| number.is_nan())
        .pure_method("isInf", |number: f64| number.is_infinite())
        .pure_method("isInf", |number: f64, sign: i64| {
            number.is_infinite() && (sign == 0 || (sign > 0) == number.is_sign_positive())
        })
        .pure_method("isHostname", host::is_hostname)
        .pure_method("isEmail", host::is_email)
        .pure_method("isHostAndPort", host::is_host_and_port)
        .pure_method("isIp", |text: &str| ip::is_ip(text, 0))
        .pure_method("isIp", ip::is_ip)
        .pure_method("isIpPrefix", |text: &str| ip::is_prefix(text, 0, false))
        .pure_method("isIpPrefix", |text: &str, version: i64| ip::is_prefix(text, version, false))
        .pure_method("isIpPrefix", |text: &str, strict: bool| ip::is_prefix(text, 0, strict))
        .pure_method("isIpPrefix", ip::is_prefix)
        .pure_method("isUri", uri::is_uri)
        .pure_method("isUriRef", uri::is_reference)
        .pure_method("startsWith", |bytes: &[u8], part: &[u8]| bytes.starts_with(part))
        .pure_method("endsWith", |bytes: &[u8], part: &[u8]| bytes.ends_with(part))
        .pure_method("contains", |bytes: &[u8], part: &[u8]| memchr::memmem::find(bytes, part).is_some())
        .pure_method("unique", unique)
}

/// Whether the elements of a list of scalars differ from one another.
fn unique(list: List<'_>) -> Result<bool, String> {
    let arena = Arena::new(MEMORY);
    let mut seen = HashSet::new();
    for index in 0..list.len() {
        let element = list.get(index, &arena).map_err(|error| error.to_string())?;
        let element = match element {
            None => continue,
            Some(Value::Bool(value)) => Scalar::Bool(value),
            Some(Value::Int(value)) => Scalar::Int(value),
            Some(Value::Uint(value)) => Scalar::Uint(value),
            // NaN differs from all.
            Some(Value::Double(value)) if value.is_nan() => continue,
            Some(Value::Double(value)) => Scalar::Double(if value == 0.0 { 0 } else { value.to_bits() }),
            Some(Value::String(text)) => Scalar::Text(text),
            Some(Value::Bytes(bytes)) => Scalar::Bytes(bytes),
            Some(other) => return Err(format!("`unique` takes lists of scalars, not of `{}`", other.type_name())),
        };
        if !seen.insert(element) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Most bytes of elements that a list makes when they are read.
const MEMORY: usize = 16 << 20;

#[derive(PartialEq, Eq, Hash)]
enum Scalar<'a> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(u64),
    Text(&'a str),
    Bytes(&'a [u8]),
}
