//! The table of builtins with the function behind each row. A row that is missing here does not compile.

use super::rows::rows;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::network::{cidr_contains, cidr_from_string, cidr_text, ip_from_string, ip_text};
use crate::library::standard::arithmetic::*;
use crate::library::standard::containers::{in_list, in_map, list_add, list_index, map_index};
use crate::library::standard::conversions::*;
use crate::library::standard::matches::string_matches;
use crate::library::standard::text::*;
use crate::library::standard::time::{Part, duration_text, part, part_in, timestamp_text};
use crate::library::{
    encoders, gateway, hmac, http, json, jwt, lists, math, network, optionals, regex, sets, strings, wildcard, yaml,
};
use crate::value::message;
use crate::value::order::{int_double, int_uint, uint_double};
use crate::value::{Duration, Timestamp, Value as V, canonical_network};
use celero_frontend::stdlib::Builtin;
use celero_ir::{CallForm, ErrorKind};
use std::cmp::Ordering;

/// The function of a row, as a type, so that native code can have an entry point for each.
pub(crate) trait Function {
    /// What a call with arguments of the row's types needs, and how it can end.
    const FORM: CallForm;

    /// Calls it.
    ///
    /// # Errors
    /// As [`invoke`].
    fn call<'a>(cx: &Cx<'a>, args: &[V<'a>]) -> EvalResult<V<'a>>;

    /// Calls it without an evaluation.
    ///
    /// # Errors
    /// As [`invoke`]; `host` if it needs the evaluation.
    #[inline(always)]
    fn call_leaf<'a>(_: &[V<'a>]) -> EvalResult<V<'a>> {
        Err(ErrorKind::Host)
    }
}

rows! { cx:
    Not(V::Bool(a)) total !a;
    Equal(ref a, ref b) tries a.equals(b, cx);
    NotEqual(ref a, ref b) tries a.equals(b, cx).map(|equal| !equal);

    AddInt(V::Int(a), V::Int(b)) partial add_int(a, b);
    AddUint(V::Uint(a), V::Uint(b)) partial add_uint(a, b);
    AddDouble(V::Double(a), V::Double(b)) total a + b;
    AddString(V::String(a), V::String(b)) tries string_add(cx, a, b);
    AddBytes(V::Bytes(a), V::Bytes(b)) tries bytes_add(cx, a, b);
    AddList(V::List(a), V::List(b)) tries list_add(cx, a, b);
    AddDurations(V::Duration(a), V::Duration(b)) partial a.checked_add(b);
    AddTimestampDuration(V::Timestamp(t), V::Duration(d)) partial t.checked_add(d);
    AddDurationTimestamp(V::Duration(d), V::Timestamp(t)) partial t.checked_add(d);
    SubInt(V::Int(a), V::Int(b)) partial sub_int(a, b);
    SubUint(V::Uint(a), V::Uint(b)) partial sub_uint(a, b);
    SubDouble(V::Double(a), V::Double(b)) total a - b;
    SubDurations(V::Duration(a), V::Duration(b)) partial a.checked_sub(b);
    SubTimestampDuration(V::Timestamp(t), V::Duration(d)) partial t.checked_sub(d);
    SubTimestamps(V::Timestamp(a), V::Timestamp(b)) partial a.since(b);
    MulInt(V::Int(a), V::Int(b)) partial mul_int(a, b);
    MulUint(V::Uint(a), V::Uint(b)) partial mul_uint(a, b);
    MulDouble(V::Double(a), V::Double(b)) total a * b;
    DivInt(V::Int(a), V::Int(b)) partial div_int(a, b);
    DivUint(V::Uint(a), V::Uint(b)) partial div_uint(a, b);
    DivDouble(V::Double(a), V::Double(b)) total a / b;
    RemInt(V::Int(a), V::Int(b)) partial rem_int(a, b);
    RemUint(V::Uint(a), V::Uint(b)) partial rem_uint(a, b);
    NegInt(V::Int(a)) partial neg_int(a);
    NegDouble(V::Double(a)) total -a;

    LessBool(V::Bool(a), V::Bool(b)) total a.cmp(&b).is_lt();
    LessInt(V::Int(a), V::Int(b)) total a < b;
    LessUint(V::Uint(a), V::Uint(b)) total a < b;
    LessDouble(V::Double(a), V::Double(b)) total a < b;
    LessString(V::String(a), V::String(b)) gives bytes_compare(Some(cx), a.as_bytes(), b.as_bytes()) < 0;
    LessBytes(V::Bytes(a), V::Bytes(b)) gives bytes_compare(Some(cx), a, b) < 0;
    LessTimestamp(V::Timestamp(a), V::Timestamp(b)) total a < b;
    LessDuration(V::Duration(a), V::Duration(b)) total a < b;
    LessIntUint(V::Int(a), V::Uint(b)) total int_uint(a, b).is_lt();
    LessIntDouble(V::Int(a), V::Double(b)) total int_double(a, b).is_some_and(Ordering::is_lt);
    LessUintInt(V::Uint(a), V::Int(b)) total int_uint(b, a).is_gt();
    LessUintDouble(V::Uint(a), V::Double(b)) total uint_double(a, b).is_some_and(Ordering::is_lt);
    LessDoubleInt(V::Double(a), V::Int(b)) total int_double(b, a).is_some_and(Ordering::is_gt);
    LessDoubleUint(V::Double(a), V::Uint(b)) total uint_double(b, a).is_some_and(Ordering::is_gt);

    LessEqualBool(V::Bool(a), V::Bool(b)) total a.cmp(&b).is_le();
    LessEqualInt(V::Int(a), V::Int(b)) total a <= b;
    LessEqualUint(V::Uint(a), V::Uint(b)) total a <= b;
    LessEqualDouble(V::Double(a), V::Double(b)) total a <= b;
    LessEqualString(V::String(a), V::String(b)) gives bytes_compare(Some(cx), a.as_bytes(), b.as_bytes()) <= 0;
    LessEqualBytes(V::Bytes(a), V::Bytes(b)) gives bytes_compare(Some(cx), a, b) <= 0;
    LessEqualTimestamp(V::Timestamp(a), V::Timestamp(b)) total a <= b;
    LessEqualDuration(V::Duration(a), V::Duration(b)) total a <= b;
    LessEqualIntUint(V::Int(a), V::Uint(b)) total int_uint(a, b).is_le();
    LessEqualIntDouble(V::Int(a), V::Double(b)) total int_double(a, b).is_some_and(Ordering::is_le);
    LessEqualUintInt(V::Uint(a), V::Int(b)) total int_uint(b, a).is_ge();
    LessEqualUintDouble(V::Uint(a), V::Double(b)) total uint_double(a, b).is_some_and(Ordering::is_le);
    LessEqualDoubleInt(V::Double(a), V::Int(b)) total int_double(b, a).is_some_and(Ordering::is_ge);
    LessEqualDoubleUint(V::Double(a), V::Uint(b)) total uint_double(b, a).is_some_and(Ordering::is_ge);

    GreaterBool(V::Bool(a), V::Bool(b)) total a.cmp(&b).is_gt();
    GreaterInt(V::Int(a), V::Int(b)) total a > b;
    GreaterUint(V::Uint(a), V::Uint(b)) total a > b;
    GreaterDouble(V::Double(a), V::Double(b)) total a > b;
    GreaterString(V::String(a), V::String(b)) gives bytes_compare(Some(cx), a.as_bytes(), b.as_bytes()) > 0;
    GreaterBytes(V::Bytes(a), V::Bytes(b)) gives bytes_compare(Some(cx), a, b) > 0;
    GreaterTimestamp(V::Timestamp(a), V::Timestamp(b)) total a > b;
    GreaterDuration(V::Duration(a), V::Duration(b)) total a > b;
    GreaterIntUint(V::Int(a), V::Uint(b)) total int_uint(a, b).is_gt();
    GreaterIntDouble(V::Int(a), V::Double(b)) total int_double(a, b).is_some_and(Ordering::is_gt);
    GreaterUintInt(V::Uint(a), V::Int(b)) total int_uint(b, a).is_lt();
    GreaterUintDouble(V::Uint(a), V::Double(b)) total uint_double(a, b).is_some_and(Ordering::is_gt);
    GreaterDoubleInt(V::Double(a), V::Int(b)) total int_double(b, a).is_some_and(Ordering::is_lt);
    GreaterDoubleUint(V::Double(a), V::Uint(b)) total uint_double(b, a).is_some_and(Ordering::is_lt);

    GreaterEqualBool(V::Bool(a), V::Bool(b)) total a.cmp(&b).is_ge();
    GreaterEqualInt(V::Int(a), V::Int(b)) total a >= b;
    GreaterEqualUint(V::Uint(a), V::Uint(b)) total a >= b;
    GreaterEqualDouble(V::Double(a), V::Double(b)) total a >= b;
    GreaterEqualString(V::String(a), V::String(b)) gives bytes_compare(Some(cx), a.as_bytes(), b.as_bytes()) >= 0;
    GreaterEqualBytes(V::Bytes(a), V::Bytes(b)) gives bytes_compare(Some(cx), a, b) >= 0;
    GreaterEqualTimestamp(V::Timestamp(a), V::Timestamp(b)) total a >= b;
    GreaterEqualDuration(V::Duration(a), V::Duration(b)) total a >= b;
    GreaterEqualIntUint(V::Int(a), V::Uint(b)) total int_uint(a, b).is_ge();
    GreaterEqualIntDouble(V::Int(a), V::Double(b)) total int_double(a, b).is_some_and(Ordering::is_ge);
    GreaterEqualUintInt(V::Uint(a), V::Int(b)) total int_uint(b, a).is_le();
    GreaterEqualUintDouble(V::Uint(a), V::Double(b)) total uint_double(a, b).is_some_and(Ordering::is_ge);
    GreaterEqualDoubleInt(V::Double(a), V::Int(b)) total int_double(b, a).is_some_and(Ordering::is_le);
    GreaterEqualDoubleUint(V::Double(a), V::Uint(b)) total uint_double(b, a).is_some_and(Ordering::is_le);

    IndexList(V::List(list), index) tries list_index(cx, list, index);
    IndexMap(V::Map(ref map), ref key) tries map_index(cx, map, key);
    InList(element, V::List(list)) tries in_list(cx, element, list);
    InMap(key, V::Map(map)) tries in_map(cx, key, map);
    SizeString(V::String(text)) tries string_size(cx, text);
    SizeBytes(V::Bytes(bytes)) gives bytes_size(cx, bytes);
    SizeList(V::List(list)) gives length(list.len());
    SizeMap(V::Map(map)) gives length(map.len());

    Contains(V::String(text), V::String(needle)) tries string_contains(cx, text, needle);
    StartsWith(V::String(text), V::String(prefix)) gives bytes_starts_with(Some(cx), text.as_bytes(), prefix.as_bytes());
    EndsWith(V::String(text), V::String(suffix)) gives bytes_ends_with(Some(cx), text.as_bytes(), suffix.as_bytes());
    Matches(V::String(text), V::String(pattern)) tries string_matches(cx, text, pattern);

    BoolFromBool(V::Bool(b)) total b;
    BoolFromString(V::String(text)) partial bool_from_string(text);
    BytesFromBytes(V::Bytes(bytes)) total bytes;
    BytesFromString(V::String(text)) total text.as_bytes();
    DoubleFromDouble(V::Double(d)) total d;
    DoubleFromInt(V::Int(n)) total n as f64;
    DoubleFromUint(V::Uint(n)) total n as f64;
    DoubleFromString(V::String(text)) tries charge_number(cx, text.len()).and_then(|()| double_from_string(scanned(cx, text)?));
    DurationFromDuration(V::Duration(d)) total d;
    DurationFromString(V::String(text)) tries scanned(cx, text).and_then(Duration::parse);
    IntFromInt(V::Int(n)) total n;
    IntFromUint(V::Uint(n)) partial int_from_uint(n);
    IntFromDouble(V::Double(d)) partial int_from_double(d);
    IntFromString(V::String(text)) tries scanned(cx, text).and_then(int_from_string);
    IntFromTimestamp(V::Timestamp(t)) total t.seconds;
    StringFromString(V::String(text)) total text;
    StringFromBool(V::Bool(b)) total if b { "true" } else { "false" };
    StringFromInt(V::Int(n)) tries string_from_int(cx, n);
    StringFromUint(V::Uint(n)) tries string_from_uint(cx, n);
    StringFromDouble(V::Double(d)) tries string_from_double(cx, d);
    StringFromBytes(V::Bytes(bytes)) tries string_from_bytes(cx, bytes);
    StringFromTimestamp(V::Timestamp(t)) tries timestamp_text(cx, t);
    StringFromDuration(V::Duration(d)) tries duration_text(cx, d);
    StringFromIp(V::Ip(address)) tries ip_text(cx, address);
    StringFromCidr(V::Cidr(address, prefix)) tries cidr_text(cx, address, prefix);
    TimestampFromTimestamp(V::Timestamp(t)) total t;
    TimestampFromString(V::String(text)) tries scanned(cx, text).and_then(Timestamp::parse);
    TimestampFromInt(V::Int(seconds)) partial timestamp_from_int(seconds);
    UintFromUint(V::Uint(n)) total n;
    UintFromInt(V::Int(n)) partial uint_from_int(n);
    UintFromDouble(V::Double(d)) partial uint_from_double(d);
    UintFromString(V::String(text)) tries scanned(cx, text).and_then(uint_from_string);
    ToDyn(value) total value;
    TypeOf(value) total V::Type(value.type_name());

    FullYear(V::Timestamp(t)) partial part(t, Part::Year);
    FullYearIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::Year, zone);
    Month(V::Timestamp(t)) partial part(t, Part::Month);
    MonthIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::Month, zone);
    DayOfYear(V::Timestamp(t)) partial part(t, Part::DayOfYear);
    DayOfYearIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::DayOfYear, zone);
    DayOfMonth(V::Timestamp(t)) partial part(t, Part::DayOfMonth);
    DayOfMonthIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::DayOfMonth, zone);
    Date(V::Timestamp(t)) partial part(t, Part::Date);
    DateIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::Date, zone);
    DayOfWeek(V::Timestamp(t)) partial part(t, Part::DayOfWeek);
    DayOfWeekIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::DayOfWeek, zone);
    Hours(V::Timestamp(t)) partial part(t, Part::Hours);
    HoursIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::Hours, zone);
    Minutes(V::Timestamp(t)) partial part(t, Part::Minutes);
    MinutesIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::Minutes, zone);
    Seconds(V::Timestamp(t)) partial part(t, Part::Seconds);
    SecondsIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::Seconds, zone);
    Milliseconds(V::Timestamp(t)) partial part(t, Part::Milliseconds);
    MillisecondsIn(V::Timestamp(t), V::String(zone)) tries part_in(cx, t, Part::Milliseconds, zone);
    HoursOfDuration(V::Duration(d)) total d.whole(3_600_000_000_000);
    MinutesOfDuration(V::Duration(d)) total d.whole(60_000_000_000);
    SecondsOfDuration(V::Duration(d)) total d.whole(1_000_000_000);
    MillisecondsOfDuration(V::Duration(d)) total d.milliseconds();

    OptionalOf(value) tries optionals::of(cx, value);
    OptionalOfNonZero(value) tries optionals::of_non_zero(cx, value);
    OptionalNone() total None;
    OptionalHasValue(V::Optional(optional)) total optional.is_some();
    OptionalHasEqual(V::Optional(optional), ref other) tries optional.map_or(Ok(false), |value| value.equals(other, cx));
    OptionalValue(V::Optional(optional)) partial optionals::value(optional);
    OptionalOr(V::Optional(optional), V::Optional(other)) total optional.or(other);
    OptionalOrValue(V::Optional(optional), other) total optional.copied().unwrap_or(other);
    OptionalSelectMap(map @ V::Map(_), V::String(field)) tries optionals::index(cx, &map, V::String(field));
    OptionalSelectMessage(V::Message(message), V::String(field)) tries message::select_optional(cx, message, field);
    OptionalSelectOptional(V::Optional(optional), V::String(field)) tries optionals::select(cx, optional, field);
    OptionalIndexList(list @ V::List(_), index) tries optionals::index(cx, &list, index);
    OptionalIndexMap(map @ V::Map(_), key) tries optionals::index(cx, &map, key);
    // The checker cannot see what an optional holds, so the functions look at the value.
    OptionalIndexOptionalList(V::Optional(optional), index) tries optionals::index_optional(cx, optional, index);
    OptionalIndexOptionalMap(V::Optional(optional), key) tries optionals::index_optional(cx, optional, key);
    IndexOptionalList(V::Optional(optional), index) tries optionals::index_optional(cx, optional, index);
    IndexOptionalMap(V::Optional(optional), key) tries optionals::index_optional(cx, optional, key);
    OptionalUnwrap(V::List(list)) tries optionals::unwrap(cx, list);
    OptionalUnwrapMember(V::List(list)) tries optionals::unwrap(cx, list);

    IpFromString(V::String(text)) tries network::charged(cx, text).and_then(ip_from_string);
    CidrFromString(V::String(text)) tries network::charged(cx, text).and_then(cidr_from_string).map(|(ip, prefix)| V::Cidr(ip, prefix));
    CidrContainsIp(V::Cidr(network, prefix), V::Ip(ip)) total cidr_contains(network, prefix, ip);
    CidrContainsIpString(V::Cidr(network, prefix), V::String(ip)) tries network::charged(cx, ip)
        .and_then(|ip| network::cidr_contains_string(network, prefix, ip));
    CidrContainsCidr(V::Cidr(network, prefix), V::Cidr(other, length)) total
        network::cidr_contains_cidr((network, prefix), (other, length));
    CidrContainsCidrString(V::Cidr(network, prefix), V::String(other)) tries network::charged(cx, other)
        .and_then(cidr_from_string)
        .map(|other| network::cidr_contains_cidr((network, prefix), other));
    CidrIp(V::Cidr(address, _)) total address.to_canonical();
    CidrMasked(V::Cidr(address, prefix)) partial network::masked(address, prefix).map(|address| V::Cidr(address, prefix));
    CidrIsMask(V::Cidr(address, prefix)) partial network::masked(address, prefix).map(|masked| V::Bool(masked == address));
    CidrPrefixLength(V::Cidr(address, prefix)) total i64::from(canonical_network(address, prefix).1);
    IsIp(V::String(text)) tries network::charged(cx, text).map(|text| ip_from_string(text).is_ok());
    IsCidr(V::String(text)) tries network::charged(cx, text).map(|text| cidr_from_string(text).is_ok());
    IpIsCanonical(V::String(text)) tries network::is_canonical(cx, text);
    IpFamily(V::Ip(ip)) total network::family(ip);
    IpIsUnspecified(V::Ip(ip)) total ip.to_canonical().is_unspecified();
    IpIsLoopback(V::Ip(ip)) total ip.to_canonical().is_loopback();
    IpIsGlobalUnicast(V::Ip(ip)) total network::is_global_unicast(ip);
    IpIsLinkLocalMulticast(V::Ip(ip)) total network::is_link_local_multicast(ip);
    IpIsLinkLocalUnicast(V::Ip(ip)) total network::is_link_local_unicast(ip);

    CharAt(V::String(text), V::Int(at)) tries strings::char_at(cx, text, at);
    IndexOf(V::String(text), V::String(needle)) tries strings::index_of(cx, text, needle, 0);
    IndexOfFrom(V::String(text), V::String(needle), V::Int(from)) tries strings::index_of(cx, text, needle, from);
    LastIndexOf(V::String(text), V::String(needle)) tries strings::last_index_of(cx, text, needle, None);
    LastIndexOfFrom(V::String(text), V::String(needle), V::Int(to)) tries
        strings::last_index_of(cx, text, needle, Some(to));
    Join(V::List(list)) tries strings::join(cx, list, "");
    JoinWith(V::List(list), V::String(separator)) tries strings::join(cx, list, separator);
    LowerAscii(V::String(text)) tries strings::map_bytes(cx, text, |b| b.to_ascii_lowercase());
    UpperAscii(V::String(text)) tries strings::map_bytes(cx, text, |b| b.to_ascii_uppercase());
    Replace(V::String(text), V::String(from), V::String(to)) tries strings::replace(cx, text, from, to, -1);
    ReplaceFirst(V::String(text), V::String(from), V::String(to), V::Int(most)) tries
        strings::replace(cx, text, from, to, most);
    Split(V::String(text), V::String(separator)) tries strings::split(cx, text, separator, -1);
    SplitFirst(V::String(text), V::String(separator), V::Int(most)) tries strings::split(cx, text, separator, most);
    Substring(V::String(text), V::Int(start)) tries strings::substring(cx, text, start, None);
    SubstringTo(V::String(text), V::Int(start), V::Int(end)) tries strings::substring(cx, text, start, Some(end));
    Trim(V::String(text)) tries cx.charge_each_byte(text.len()).map(|()| text.trim());
    ReverseString(V::String(text)) tries strings::reverse(cx, text);
    Quote(V::String(text)) tries strings::quote(cx, text);
    Format(V::String(text), V::List(args)) tries strings::format(cx, text, args);

    GreatestInt(V::Int(n)) total n;
    GreatestUint(V::Uint(n)) total n;
    GreatestDouble(V::Double(n)) total n;
    GreatestInts(V::Int(a), V::Int(b)) total a.max(b);
    GreatestIntUint(a @ V::Int(_), b @ V::Uint(_)) partial math::greatest(&a, &b);
    GreatestIntDouble(a @ V::Int(_), b @ V::Double(_)) partial math::greatest(&a, &b);
    GreatestUintInt(a @ V::Uint(_), b @ V::Int(_)) partial math::greatest(&a, &b);
    GreatestUints(V::Uint(a), V::Uint(b)) total a.max(b);
    GreatestUintDouble(a @ V::Uint(_), b @ V::Double(_)) partial math::greatest(&a, &b);
    GreatestDoubleInt(a @ V::Double(_), b @ V::Int(_)) partial math::greatest(&a, &b);
    GreatestDoubleUint(a @ V::Double(_), b @ V::Uint(_)) partial math::greatest(&a, &b);
    GreatestDoubles(a @ V::Double(_), b @ V::Double(_)) partial math::greatest(&a, &b);
    GreatestIntList(V::List(list)) tries math::of_list(cx, list, math::greatest);
    GreatestUintList(V::List(list)) tries math::of_list(cx, list, math::greatest);
    GreatestDoubleList(V::List(list)) tries math::of_list(cx, list, math::greatest);
    LeastInt(V::Int(n)) total n;
    LeastUint(V::Uint(n)) total n;
    LeastDouble(V::Double(n)) total n;
    LeastInts(V::Int(a), V::Int(b)) total a.min(b);
    LeastIntUint(a @ V::Int(_), b @ V::Uint(_)) partial math::least(&a, &b);
    LeastIntDouble(a @ V::Int(_), b @ V::Double(_)) partial math::least(&a, &b);
    LeastUintInt(a @ V::Uint(_), b @ V::Int(_)) partial math::least(&a, &b);
    LeastUints(V::Uint(a), V::Uint(b)) total a.min(b);
    LeastUintDouble(a @ V::Uint(_), b @ V::Double(_)) partial math::least(&a, &b);
    LeastDoubleInt(a @ V::Double(_), b @ V::Int(_)) partial math::least(&a, &b);
    LeastDoubleUint(a @ V::Double(_), b @ V::Uint(_)) partial math::least(&a, &b);
    LeastDoubles(a @ V::Double(_), b @ V::Double(_)) partial math::least(&a, &b);
    LeastIntList(V::List(list)) tries math::of_list(cx, list, math::least);
    LeastUintList(V::List(list)) tries math::of_list(cx, list, math::least);
    LeastDoubleList(V::List(list)) tries math::of_list(cx, list, math::least);
    Ceil(V::Double(d)) total d.ceil();
    Floor(V::Double(d)) total d.floor();
    Round(V::Double(d)) total d.round();
    Trunc(V::Double(d)) total d.trunc();
    AbsInt(V::Int(n)) partial math::abs_int(n);
    AbsUint(V::Uint(n)) total n;
    AbsDouble(V::Double(d)) total d.abs();
    SignInt(V::Int(n)) total n.signum();
    SignUint(V::Uint(n)) total n.min(1);
    SignDouble(V::Double(d)) total math::sign(d);
    SqrtDouble(V::Double(d)) total d.sqrt();
    SqrtInt(V::Int(n)) total (n as f64).sqrt();
    SqrtUint(V::Uint(n)) total (n as f64).sqrt();
    IsNan(V::Double(d)) total d.is_nan();
    IsInf(V::Double(d)) total d.is_infinite();
    IsFinite(V::Double(d)) total d.is_finite();
    BitAndInt(V::Int(a), V::Int(b)) total a & b;
    BitAndUint(V::Uint(a), V::Uint(b)) total a & b;
    BitOrInt(V::Int(a), V::Int(b)) total a | b;
    BitOrUint(V::Uint(a), V::Uint(b)) total a | b;
    BitXorInt(V::Int(a), V::Int(b)) total a ^ b;
    BitXorUint(V::Uint(a), V::Uint(b)) total a ^ b;
    BitNotInt(V::Int(n)) total !n;
    BitNotUint(V::Uint(n)) total !n;
    BitShiftLeftInt(V::Int(n), V::Int(by)) partial math::shift_left(n.cast_unsigned(), by).map(u64::cast_signed);
    BitShiftLeftUint(V::Uint(n), V::Int(by)) partial math::shift_left(n, by);
    BitShiftRightInt(V::Int(n), V::Int(by)) partial math::shift_right(n.cast_unsigned(), by).map(u64::cast_signed);
    BitShiftRightUint(V::Uint(n), V::Int(by)) partial math::shift_right(n, by);

    Base64Encode(V::Bytes(bytes)) tries encoders::base64_encode(cx, &encoders::BASE64, bytes);
    Base64Decode(V::String(text)) tries encoders::base64_decode(cx, &encoders::BASE64, text);
    Base64EncodeUrl(V::Bytes(bytes)) tries encoders::base64_encode(cx, &encoders::BASE64_URL, bytes);
    Base64DecodeUrl(V::String(text)) tries encoders::base64_decode(cx, &encoders::BASE64_URL, text);
    HexEncode(V::Bytes(bytes)) tries encoders::hex_encode(cx, bytes, false);
    HexDecode(V::String(text)) tries encoders::hex_decode(cx, text);
    UrlEncode(V::String(text)) tries encoders::url_encode(cx, text);
    UrlDecode(V::String(text)) tries encoders::url_decode(cx, text);
    FormEncode(V::Map(map)) tries encoders::form_encode(cx, map);
    FormDecode(V::String(text)) tries encoders::form_decode(cx, text);

    Slice(V::List(list), V::Int(start), V::Int(end)) tries lists::slice(cx, list, start, end);
    Flatten(V::List(list)) tries lists::flatten(cx, list, 1);
    FlattenDepth(V::List(list), V::Int(depth)) tries lists::flatten(cx, list, depth);
    SortInt(V::List(list)) tries lists::sort(cx, list, list);
    SortUint(V::List(list)) tries lists::sort(cx, list, list);
    SortDouble(V::List(list)) tries lists::sort(cx, list, list);
    SortBool(V::List(list)) tries lists::sort(cx, list, list);
    SortDuration(V::List(list)) tries lists::sort(cx, list, list);
    SortTimestamp(V::List(list)) tries lists::sort(cx, list, list);
    SortString(V::List(list)) tries lists::sort(cx, list, list);
    SortBytes(V::List(list)) tries lists::sort(cx, list, list);
    SortByInt(V::List(list), V::List(keys)) tries lists::sort(cx, list, keys);
    SortByUint(V::List(list), V::List(keys)) tries lists::sort(cx, list, keys);
    SortByDouble(V::List(list), V::List(keys)) tries lists::sort(cx, list, keys);
    SortByBool(V::List(list), V::List(keys)) tries lists::sort(cx, list, keys);
    SortByDuration(V::List(list), V::List(keys)) tries lists::sort(cx, list, keys);
    SortByTimestamp(V::List(list), V::List(keys)) tries lists::sort(cx, list, keys);
    SortByString(V::List(list), V::List(keys)) tries lists::sort(cx, list, keys);
    SortByBytes(V::List(list), V::List(keys)) tries lists::sort(cx, list, keys);
    Distinct(V::List(list)) tries lists::distinct(cx, list);
    Range(V::Int(end)) tries lists::range(cx, end);
    ReverseList(V::List(list)) tries lists::reverse(cx, list);
    First(V::List(list)) tries lists::element(cx, list, 0);
    Last(V::List(list)) tries lists::element(cx, list, list.len().wrapping_sub(1));

    HasAll(V::List(a), V::List(b)) tries sets::contains_all(cx, a, b);
    HasAny(V::List(a), V::List(b)) tries sets::intersects(cx, a, b);
    HasOnly(V::List(a), V::List(b)) tries sets::contains_all(cx, b, a);
    HasExactly(V::List(a), V::List(b)) tries sets::equivalent(cx, a, b);
    SetsContains(V::List(a), V::List(b)) tries sets::contains_all(cx, a, b);
    SetsEquivalent(V::List(a), V::List(b)) tries sets::equivalent(cx, a, b);
    SetsIntersects(V::List(a), V::List(b)) tries sets::intersects(cx, a, b);

    RegexExtract(V::String(text), V::String(pattern)) tries regex::extract(cx, text, pattern);
    RegexExtractAll(V::String(text), V::String(pattern)) tries regex::extract_all(cx, text, pattern);
    RegexReplace(V::String(text), V::String(pattern), V::String(by)) tries
        regex::replace(cx, text, pattern, by, -1);
    RegexReplaceFirst(V::String(text), V::String(pattern), V::String(by), V::Int(most)) tries
        regex::replace(cx, text, pattern, by, most);

    JsonFromString(V::String(text)) tries json::json_parse(cx, text.as_bytes());
    JsonFromBytes(V::Bytes(bytes)) tries json::json_parse(cx, bytes);
    ToJson(value) tries json::to_json(cx, &value);
    UnvalidatedJwtPayload(V::String(token)) tries json::jwt_payload(cx, token);
    Fail(V::String(text)) partial gateway::fail(text);
    Merge(V::Map(a), V::Map(b)) tries gateway::merge(cx, a, b);
    RegexReplaceOnce(V::String(text), V::String(pattern), V::String(by)) tries
        gateway::regex_replace(cx, text, pattern, by);
    Wildcard(V::String(text), V::String(pattern)) tries wildcard::string_wildcard(cx, text, pattern, false);
    StrictWildcard(V::String(text), V::String(pattern)) tries wildcard::string_wildcard(cx, text, pattern, true);
    StripPrefix(V::String(text), V::String(prefix)) tries gateway::strip_prefix(cx, text, prefix);
    StripSuffix(V::String(text), V::String(suffix)) tries gateway::strip_suffix(cx, text, suffix);
    Sha1String(V::String(text)) tries gateway::digest::<sha1::Sha1>(cx, text.as_bytes());
    Sha1Bytes(V::Bytes(bytes)) tries gateway::digest::<sha1::Sha1>(cx, bytes);
    Sha256String(V::String(text)) tries gateway::digest::<sha2::Sha256>(cx, text.as_bytes());
    Sha256Bytes(V::Bytes(bytes)) tries gateway::digest::<sha2::Sha256>(cx, bytes);
    Md5String(V::String(text)) tries gateway::digest::<md5::Md5>(cx, text.as_bytes());
    Md5Bytes(V::Bytes(bytes)) tries gateway::digest::<md5::Md5>(cx, bytes);
    HmacVerifyString(V::String(m), V::String(c), V::String(k), V::String(a)) tries hmac::verify_text(cx, m, c, k, a);
    HmacVerifyBytes(V::Bytes(m), V::Bytes(c), V::Bytes(k), V::String(a)) tries hmac::verify(cx, m, c, k, a);
    HmacComputeString(V::String(m), V::String(k), V::String(a)) tries hmac::compute(cx, m.as_bytes(), k.as_bytes(), a);
    HmacComputeBytes(V::Bytes(m), V::Bytes(k), V::String(a)) tries hmac::compute(cx, m, k, a);
    JsonEncode(value) tries json::encode(cx, &value);
    JsonParse(V::String(text)) tries json::parse(cx, text);
    JsonParseAs(V::String(text), V::Type(ty)) tries json::parse_as(cx, text, ty);
    YamlEncode(value) tries yaml::encode(cx, &value);
    YamlParse(V::String(text)) tries yaml::parse(cx, text);
    YamlParseAs(V::String(text), V::Type(ty)) tries yaml::parse_as(cx, text, ty);
    JwtParse(V::String(text)) tries jwt::parse(cx, text);
    JwtClaim(V::Message(token), V::String(name)) tries jwt::claim(cx, token, name);
    JwtClaimOfOptional(V::Optional(token), V::String(name)) tries jwt::claim_of_optional(cx, token, name);
    JwtPresentedBy(V::Message(token), V::String(issuer), V::String(presenter)) tries
        jwt::presented_by(cx, token, issuer, presenter);
    JwtPresentedByOfOptional(V::Optional(token), V::String(issuer), V::String(presenter)) tries
        jwt::presented_by_of_optional(cx, token, issuer, presenter);
    RawMap(V::Map(map)) tries http::raw(cx, map);
    RawLists(V::Map(map)) tries http::raw(cx, map);
    JoinMap(V::Map(map)) tries http::join(cx, map);
    JoinLists(V::Map(map)) tries http::join(cx, map);
    SplitMap(V::Map(map)) tries http::split(cx, map);
    SplitLists(V::Map(map)) tries http::split(cx, map);
    RedactedMap(V::Map(map)) tries http::redacted(cx, map);
    RedactedLists(V::Map(map)) tries http::redacted(cx, map);
    CookieOfMap(V::Map(map), V::String(name)) tries http::cookie(cx, map, name);
    CookieOfLists(V::Map(map), V::String(name)) tries http::cookie(cx, map, name);
    Query(V::String(text), V::String(name)) tries http::query(cx, text, name);
    Uuid() tries gateway::uuid(cx);
    Random() total gateway::random();
}
