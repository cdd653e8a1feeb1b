//! The functions of protovalidate as functions of an environment.

use crate::formats::{host, ip, uri};
use celero::{Context, Env};

/// Declares the functions of protovalidate: `isNan`, `isInf`, `isHostname`, `isEmail`, `isIp`, `isIpPrefix`, `isUri`,
/// `isUriRef`, `isHostAndPort`, `unique`, and `contains`, `startsWith` and `endsWith` of bytes.
///
/// `getField` is not among them, because it is of one type of message. [`Validator`](crate::Validator) declares it,
/// and
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
        .define("list(dyn).unique() -> bool", "this.distinct().size() == this.size()")
}
