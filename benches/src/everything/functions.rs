//! Each function of the standard library, on one field of its type, with constant and with variable
//! arguments; the macros that [`operations`](super::operations) has not; twenty rules as one.

use super::by_hand::*;
use super::fields::{Cell, table};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use jiff::tz::TimeZone;
use percent_encoding::percent_decode_str;
use ring::hmac;
use saphyr_parser::Parser;
use serde_json::Value as Json;
use sha2::Digest;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// `<`, `<=`, `>` and `>=` of pairs of fields, whose order a function of Rust gives.
macro_rules! orders {
    ($($left:ident $right:ident $context:ident => $order:expr;)*) => {
        [$(
            Cell::new("order", concat!(stringify!($left), " < ", stringify!($right)), |$context| Some($order?.is_lt())),
            Cell::new("order", concat!(stringify!($left), " <= ", stringify!($right)), |$context| Some($order?.is_le())),
            Cell::new("order", concat!(stringify!($left), " > ", stringify!($right)), |$context| Some($order?.is_gt())),
            Cell::new("order", concat!(stringify!($left), " >= ", stringify!($right)), |$context| Some($order?.is_ge())),
        )*]
    };
}

/// All cells that are not about a kind of field.
pub(super) fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    cells.extend(order());
    cells.extend(conversions());
    cells.extend(times());
    cells.extend(optionals());
    cells.extend(network());
    cells.extend(strings());
    cells.extend(math());
    cells.extend(encoders());
    cells.extend(lists());
    cells.extend(regex_and_json());
    cells.extend(gateway());
    cells.extend(macros());
    cells.extend(twenty_rules());
    cells
}

fn order() -> impl IntoIterator<Item = Cell> {
    orders! {
        flag off c => c.flag.partial_cmp(&c.off);
        i64 small c => c.i64.partial_cmp(&c.small);
        u64 small_uint c => c.u64.partial_cmp(&c.small_uint);
        f64 small_double c => c.f64.partial_cmp(&c.small_double);
        i64 u64 c => i128::from(c.i64).partial_cmp(&i128::from(c.u64));
        i64 f64 c => (c.i64 as f64).partial_cmp(&c.f64);
        u64 i64 c => i128::from(c.u64).partial_cmp(&i128::from(c.i64));
        u64 f64 c => (c.u64 as f64).partial_cmp(&c.f64);
        f64 i64 c => c.f64.partial_cmp(&(c.i64 as f64));
        f64 u64 c => c.f64.partial_cmp(&(c.u64 as f64));
        str word c => c.str.partial_cmp(c.word);
        slice piece c => c.slice.partial_cmp(c.piece);
        time jiff_time c => nanos(c.time).partial_cmp(&i64::try_from(c.jiff_time.as_nanosecond()).ok()?);
        span jiff_span c => c.span.0.partial_cmp(&i64::try_from(c.jiff_span.as_nanos()).ok()?);
    }
}

fn conversions() -> impl IntoIterator<Item = Cell> {
    table! { "conversions" c;
        "bool(flag)" => c.flag;
        "bool(truth_text)" => c.truth_text.parse().ok()?;
        "bytes(slice) == b'sixteen bytes ok'" => c.slice == b"sixteen bytes ok";
        "bytes(word) == b'World'" => c.word.as_bytes() == b"World";
        "double(f64) == 2.5" => c.f64 == 2.5;
        "double(i64) == 41.0" => c.i64 as f64 == 41.0;
        "double(u64) == 41.0" => c.u64 as f64 == 41.0;
        "double(decimal) == 2.5" => c.decimal.parse::<f64>().ok()? == 2.5;
        "duration(span) == jiff_span" => i128::from(c.span.0) == c.jiff_span.as_nanos();
        "duration(span_text) == span" => celero::values::Duration::parse(c.span_text).ok()? == c.span;
        "int(i64) == 41" => c.i64 == 41;
        "int(digits) == 41" => c.digits.parse::<i64>().ok()? == 41;
        "string(word) == 'World'" => c.word == "World";
        "string(i64) == digits" => c.i64.to_string() == c.digits;
        "string(u64) == digits" => c.u64.to_string() == c.digits;
        "string(f64) == decimal" => c.f64.to_string() == c.decimal;
        "string(slice) == word" => std::str::from_utf8(c.slice).ok()? == c.word;
        "string(time) == date_text" => civil(c.time, &TimeZone::UTC)?.timestamp().to_string() == c.date_text;
        "string(span) == span_text" => c.span.to_string() == c.span_text;
        "timestamp(time) == jiff_time" => i128::from(nanos(c.time)) == c.jiff_time.as_nanosecond();
        "timestamp(date_text) == time" => c.date_text.parse::<jiff::Timestamp>().ok()?.as_nanosecond() == i128::from(nanos(c.time));
        "timestamp(i64) < time" => c.i64 < c.time.seconds;
        "uint(u64) == 41u" => c.u64 == 41;
        "uint(f64) == 2u" => c.f64 as u64 == 2;
        "uint(digits) == 41u" => c.digits.parse::<u64>().ok()? == 41;
        "dyn(i64) == 41" => c.i64 == 41;
        "type(i64) == int" => std::any::Any::type_id(&c.i64) == std::any::TypeId::of::<i64>();
        "-f64 == -2.5" => -c.f64 == -2.5;
    }
}

fn times() -> impl IntoIterator<Item = Cell> {
    table! { "time" c;
        "span + time > time" => nanos(c.time) + c.span.0 > nanos(c.time);
        "time.getFullYear('Europe/Paris') == 2023" => civil(c.time, paris())?.year() == 2023;
        "time.getMonth() == 10" => civil(c.time, &TimeZone::UTC)?.month() == 11;
        "time.getMonth('Europe/Paris') == 10" => civil(c.time, paris())?.month() == 11;
        "time.getDayOfYear() == 317" => civil(c.time, &TimeZone::UTC)?.day_of_year() == 318;
        "time.getDayOfYear('Europe/Paris') == 317" => civil(c.time, paris())?.day_of_year() == 318;
        "time.getDayOfMonth() == 13" => civil(c.time, &TimeZone::UTC)?.day() == 14;
        "time.getDayOfMonth('Europe/Paris') == 13" => civil(c.time, paris())?.day() == 14;
        "time.getDate() == 14" => civil(c.time, &TimeZone::UTC)?.day() == 14;
        "time.getDate('Europe/Paris') == 14" => civil(c.time, paris())?.day() == 14;
        "time.getDayOfWeek('Europe/Paris') == 2" => civil(c.time, paris())?.weekday() == jiff::civil::Weekday::Tuesday;
        "time.getHours() == 22" => c.time.seconds.rem_euclid(86_400) / 3_600 == 22;
        "time.getHours('+02:00') == 0" => (c.time.seconds + 7_200).rem_euclid(86_400) / 3_600 == 0;
        "time.getHours(zone) == 23" => civil(c.time, &TimeZone::get(c.zone).ok()?)?.hour() == 23;
        "time.getMinutes() == 13" => c.time.seconds.rem_euclid(3_600) / 60 == 13;
        "time.getMinutes('Europe/Paris') == 13" => civil(c.time, paris())?.minute() == 13;
        "time.getSeconds() == 20" => c.time.seconds.rem_euclid(60) == 20;
        "time.getSeconds('Europe/Paris') == 20" => civil(c.time, paris())?.second() == 20;
        "time.getMilliseconds() == 0" => c.time.nanos / 1_000_000 == 0;
        "time.getMilliseconds('Europe/Paris') == 0" => civil(c.time, paris())?.millisecond() == 0;
        "span.getHours() == 0" => seconds(c.span) / 3_600 == 0;
        "span.getMinutes() == 1" => seconds(c.span) / 60 == 1;
        "span.getMilliseconds() == 0" => c.span.0 % 1_000_000_000 / 1_000_000 == 0;
    }
}

fn optionals() -> impl IntoIterator<Item = Cell> {
    table! { "optionals" c;
        "optional.of(i64).value() == 41" => Some(c.i64)? == 41;
        "optional.of(i64).hasValue()" => Some(c.i64).is_some();
        "optional.of(i64).hasValue(41)" => Some(c.i64) == Some(41);
        "optional.ofNonZeroValue(small).orValue(1) == 3" => Some(c.small).filter(|n| *n != 0).unwrap_or(1) == 3;
        "optional.none().orValue(i64) == 41" => c.i64 == 41;
        "optional.none().or(optional.of(i64)).value() == 41" => None.or(Some(c.i64))? == 41;
        "labels.?key7.value() == 'value7'" => c.labels.get("key7")? == "value7";
        "optional.of(labels).?key7.value() == 'value7'" => Some(&c.labels)?.get("key7")? == "value7";
        "nums[?3].value() == 3" => *c.nums.get(3)? == 3;
        "nums[?small].orValue(0) == 3" => c.nums.get(usize::try_from(c.small).ok()?).copied().unwrap_or(0) == 3;
        "labels[?key].value() == 'value7'" => c.labels.get(c.key)? == "value7";
        "optional.of(nums)[?3].value() == 3" => *Some(&c.nums)?.get(3)? == 3;
        "optional.of(labels)[?key].value() == 'value7'" => Some(&c.labels)?.get(c.key)? == "value7";
        "optional.of(nums)[3].value() == 3" => *Some(&c.nums)?.get(3)? == 3;
        "optional.of(labels)[key].value() == 'value7'" => Some(&c.labels)?.get(c.key)? == "value7";
        "optional.unwrap([optional.of(i64), optional.none()]) == [41]" => [Some(c.i64), None].iter().flatten().eq(&[41]);
        "[nums[?3], nums[?99]].unwrapOpt().size() == 1" => [c.nums.get(3), c.nums.get(99)].iter().flatten().count() == 1;
        "[?nums[?3], ?nums[?99], 7].size() == 2" => c.nums.get(3).into_iter().chain(c.nums.get(99)).chain(&[7]).count() == 2;
        "nums[?3].optMap(x, x * 2).value() == 6" => c.nums.get(3).map(|x| x * 2)? == 6;
        "nums[?3].optFlatMap(x, nums[?x + 1]).value() == 4" => *c.nums.get(3).and_then(|x| c.nums.get(usize::try_from(x + 1).ok()?))? == 4;
    }
}

fn network() -> impl IntoIterator<Item = Cell> {
    table! { "network" c;
        "string(ip(address)) == '10.1.2.3'" => c.address.parse::<IpAddr>().ok()?.to_string() == "10.1.2.3";
        "string(cidr(network)) == '10.0.0.0/8'" => c.network.parse::<ipnet::IpNet>().ok()?.to_string() == "10.0.0.0/8";
        "ip(address) == ip('10.1.2.3')" => c.address.parse::<IpAddr>().ok()? == IpAddr::from([10, 1, 2, 3]);
        "cidr(network) == cidr('10.0.0.0/8')" => c.network.parse::<ipnet::IpNet>().ok()? == *net!("10.0.0.0/8");
        "cidr('10.0.0.0/8').containsIP(ip(address))" => net!("10.0.0.0/8").contains(&c.address.parse::<IpAddr>().ok()?);
        "cidr('10.0.0.0/8').containsIP(address)" => net!("10.0.0.0/8").contains(&c.address.parse::<IpAddr>().ok()?);
        "cidr('10.0.0.0/7').containsCIDR(cidr(network))" => net!("10.0.0.0/7").contains(&c.network.parse::<ipnet::IpNet>().ok()?);
        "cidr('10.0.0.0/7').containsCIDR(network)" => net!("10.0.0.0/7").contains(&c.network.parse::<ipnet::IpNet>().ok()?);
        "cidr(network).ip() == ip('10.0.0.0')" => c.network.parse::<ipnet::IpNet>().ok()?.addr() == IpAddr::from([10, 0, 0, 0]);
        "cidr(network).masked() == cidr('10.0.0.0/8')" => c.network.parse::<ipnet::IpNet>().ok()?.trunc() == *net!("10.0.0.0/8");
        "cidr(network).isMask()" => {
            let network = c.network.parse::<ipnet::IpNet>().ok()?;
            network.addr() == network.network()
        };
        "cidr(network).prefixLength() == 8" => c.network.parse::<ipnet::IpNet>().ok()?.prefix_len() == 8;
        "isIP(address)" => c.address.parse::<IpAddr>().is_ok();
        "isCIDR(network)" => c.network.parse::<ipnet::IpNet>().is_ok();
        "ip.isCanonical(address)" => c.address.parse::<IpAddr>().ok()?.to_string() == c.address;
        "ip(ip).isUnspecified()" => c.ip.is_unspecified();
        "ip(ip).isGlobalUnicast()" => match c.ip {
            IpAddr::V4(ip) => !(ip.is_multicast() || ip.is_loopback() || ip.is_unspecified() || ip.is_broadcast() || ip.is_link_local()),
            IpAddr::V6(ip) => !(ip.is_multicast() || ip.is_loopback() || ip.is_unspecified() || ip.is_unicast_link_local()),
        };
        "ip(ip).isLinkLocalMulticast()" => match c.ip {
            IpAddr::V4(ip) => ip.octets().starts_with(&[224, 0, 0]),
            IpAddr::V6(ip) => ip.octets().starts_with(&[0xff, 2]),
        };
        "ip(ip).isLinkLocalUnicast()" => match c.ip {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unicast_link_local(),
        };
    }
}

fn strings() -> impl IntoIterator<Item = Cell> {
    table! { "strings" c;
        "str.charAt(7) == 'W'" => c.str.chars().nth(7)? == 'W';
        "str.charAt(small) == 'l'" => c.str.chars().nth(usize::try_from(c.small).ok()?)? == 'l';
        "str.indexOf('World') == 7" => c.str.find("World") == Some(7);
        "str.indexOf(word) == 7" => c.str.find(c.word) == Some(7);
        "str.indexOf('o', 5) == 8" => c.str.get(5..)?.find('o') == Some(3);
        "str.lastIndexOf('o') == 14" => c.str.rfind('o') == Some(14);
        "str.lastIndexOf('o', 10) == 8" => c.str.get(..11)?.rfind('o') == Some(8);
        "tags.join() == word" => c.tags.concat() == c.word;
        "tags.join(', ') == word" => c.tags.join(", ") == c.word;
        "str.lowerAscii() == word" => c.str.to_ascii_lowercase() == c.word;
        "str.upperAscii() == word" => c.str.to_ascii_uppercase() == c.word;
        "str.replace('o', '0') == word" => c.str.replace('o', "0") == c.word;
        "str.replace(word, digits).size() == 28" => c.str.replace(c.word, c.digits).chars().count() == 28;
        "str.replace('o', '0', 1) == word" => c.str.replacen('o', "0", 1) == c.word;
        "str.split('/')[1] == 'and Paths'" => c.str.split('/').nth(1)? == "and Paths";
        "str.split(' ').exists(w, w == word)" => c.str.split(' ').any(|w| w == c.word);
        "str.split('o', 2).size() == 2" => c.str.splitn(2, 'o').count() == 2;
        "str.substring(22) == 'and Paths'" => c.str.chars().skip(22).eq("and Paths".chars());
        "str.substring(small, 9) == 'lo, Wo'" => c.str.chars().skip(3).take(6).eq("lo, Wo".chars());
        "str.trim().size() == 31" => c.str.trim().chars().count() == 31;
        "word.reverse() == 'dlroW'" => c.word.chars().rev().collect::<String>() == "dlroW";
        "strings.quote(word) == '\"World\"'" => format!("{:?}", c.word) == "\"World\"";
        "'%s-%d'.format([word, i64]) == 'World-41'" => format!("{}-{}", c.word, c.i64) == "World-41";
        "str.stripPrefix('Hello, ').startsWith('World')" => c.str.strip_prefix("Hello, ").unwrap_or(c.str).starts_with("World");
        "str.stripSuffix('Paths').endsWith('and ')" => c.str.strip_suffix("Paths").unwrap_or(c.str).ends_with("and ");
        "str.wildcard('*WORLD*paths')" => c.str.to_ascii_lowercase().strip_suffix("paths").is_some_and(|t| t.contains("world"));
        "str.strictWildcard('*World*Paths')" => c.str.strip_suffix("Paths").is_some_and(|t| t.contains("World"));
        "owned == str" => c.owned == c.str;
        "owned.matches('Rules|Paths')" => regex!("Rules|Paths").is_match(&c.owned);
        "owned.matches(pattern_text)" => matches(c.pattern_text, &c.owned)?;
        "str.startsWith('Hello') && str.endsWith('Paths')" => c.str.starts_with("Hello") && c.str.ends_with("Paths");
        "method + '/' + word == 'POST/World'" => format!("{}/{}", c.method, c.word) == "POST/World";
    }
}

fn math() -> impl IntoIterator<Item = Cell> {
    table! { "math" c;
        "math.greatest(i64) == 41" => c.i64 == 41;
        "math.greatest(u64) == 41u" => c.u64 == 41;
        "math.greatest(f64) == 2.5" => c.f64 == 2.5;
        "math.greatest(i64, small) == 41" => c.i64.max(c.small) == 41;
        "math.greatest(i64, 7) == 41" => c.i64.max(7) == 41;
        "math.greatest(i64, u64) == 41" => u64::try_from(c.i64).map_or(c.u64, |n| n.max(c.u64)) == 41;
        "math.greatest(i64, f64) == 41" => (c.i64 as f64).max(c.f64) == 41.0;
        "math.greatest(u64, i64) == 41" => u64::try_from(c.i64).map_or(c.u64, |n| n.max(c.u64)) == 41;
        "math.greatest(u64, small_uint) == 41u" => c.u64.max(c.small_uint) == 41;
        "math.greatest(u64, f64) == 41" => (c.u64 as f64).max(c.f64) == 41.0;
        "math.greatest(f64, i64) == 41" => c.f64.max(c.i64 as f64) == 41.0;
        "math.greatest(f64, u64) == 41" => c.f64.max(c.u64 as f64) == 41.0;
        "math.greatest(f64, small_double) == 2.5" => c.f64.max(c.small_double) == 2.5;
        "math.greatest(nums) == 15" => *c.nums.iter().max()? == 15;
        "math.greatest(uints) == 15u" => *c.uints.iter().max()? == 15;
        "math.greatest(doubles) == 15.0" => c.doubles.iter().copied().fold(f64::NEG_INFINITY, f64::max) == 15.0;
        "math.least(i64) == 41" => c.i64 == 41;
        "math.least(u64) == 41u" => c.u64 == 41;
        "math.least(f64) == 2.5" => c.f64 == 2.5;
        "math.least(i64, small) == 3" => c.i64.min(c.small) == 3;
        "math.least(i64, u64) == 41" => u64::try_from(c.i64).map_or(c.u64, |n| n.min(c.u64)) == 41;
        "math.least(i64, f64) == 2.5" => (c.i64 as f64).min(c.f64) == 2.5;
        "math.least(u64, i64) == 41" => u64::try_from(c.i64).map_or(c.u64, |n| n.min(c.u64)) == 41;
        "math.least(u64, small_uint) == 3u" => c.u64.min(c.small_uint) == 3;
        "math.least(u64, f64) == 2.5" => (c.u64 as f64).min(c.f64) == 2.5;
        "math.least(f64, i64) == 2.5" => c.f64.min(c.i64 as f64) == 2.5;
        "math.least(f64, u64) == 2.5" => c.f64.min(c.u64 as f64) == 2.5;
        "math.least(f64, small_double) == 0.5" => c.f64.min(c.small_double) == 0.5;
        "math.least(nums) == 0" => *c.nums.iter().min()? == 0;
        "math.least(uints) == 0u" => *c.uints.iter().min()? == 0;
        "math.least(doubles) == 0.0" => c.doubles.iter().copied().fold(f64::INFINITY, f64::min) == 0.0;
        "math.ceil(f64) == 3.0" => c.f64.ceil() == 3.0;
        "math.round(f64) == 3.0" => c.f64.round() == 3.0;
        "math.trunc(f64) == 2.0" => c.f64.trunc() == 2.0;
        "math.abs(i64) == 41" => c.i64.checked_abs()? == 41;
        "math.abs(u64) == 41u" => c.u64 == 41;
        "math.abs(f64) == 2.5" => c.f64.abs() == 2.5;
        "math.sign(i64) == 1" => c.i64.signum() == 1;
        "math.sign(u64) == 1u" => u64::from(c.u64 != 0) == 1;
        "math.sign(f64) == 1.0" => c.f64.signum() == 1.0;
        "math.sqrt(f64) > 1.5" => c.f64.sqrt() > 1.5;
        "math.sqrt(i64) > 6.4" => (c.i64 as f64).sqrt() > 6.4;
        "math.sqrt(u64) > 6.4" => (c.u64 as f64).sqrt() > 6.4;
        "math.isNaN(f64)" => c.f64.is_nan();
        "math.isInf(f64)" => c.f64.is_infinite();
        "math.isFinite(f64)" => c.f64.is_finite();
        "math.bitAnd(i64, 8) == 8" => c.i64 & 8 == 8;
        "math.bitAnd(u64, small_uint) == 1u" => c.u64 & c.small_uint == 1;
        "math.bitOr(i64, small) == 43" => c.i64 | c.small == 43;
        "math.bitOr(u64, 2u) == 43u" => c.u64 | 2 == 43;
        "math.bitXor(i64, small) == 42" => c.i64 ^ c.small == 42;
        "math.bitXor(u64, 3u) == 42u" => c.u64 ^ 3 == 42;
        "math.bitNot(i64) == -42" => !c.i64 == -42;
        "math.bitNot(u64) > 41u" => !c.u64 > 41;
        "math.bitShiftLeft(i64, 2) == 164" => c.i64 << 2 == 164;
        "math.bitShiftLeft(u64, small) == 328u" => c.u64.checked_shl(u32::try_from(c.small).ok()?).unwrap_or(0) == 328;
        "math.bitShiftRight(i64, small) == 5" => c.i64.checked_shr(u32::try_from(c.small).ok()?).unwrap_or(0) == 5;
        "math.bitShiftRight(u64, 3) == 5u" => c.u64 >> 3 == 5;
        "(i64 * 3 + small) % 7 == 2 && i64 < 100" => (c.i64 * 3 + c.small) % 7 == 2 && c.i64 < 100;
    }
}

fn encoders() -> impl IntoIterator<Item = Cell> {
    table! { "encoders" c;
        "base64.encode(slice) == 'c2l4dGVlbiBieXRlcyBvaw=='" => STANDARD.encode(c.slice) == "c2l4dGVlbiBieXRlcyBvaw==";
        "base64.decode(base64) == b'hello?'" => STANDARD.decode(c.base64).ok()? == b"hello?";
        "base64.encodeUrl(piece) == 'Ynl0ZXM='" => URL_SAFE.encode(c.piece) == "Ynl0ZXM=";
        "base64.decodeUrl('Ynl0ZXM=') == piece" => URL_SAFE.decode("Ynl0ZXM=").ok()? == c.piece;
        "hex.encode(piece) == '6279746573'" => hex(c.piece) == "6279746573";
        "hex.decode(hex) == b'hello?'" => unhex(c.hex)? == b"hello?";
        "url.encode(word) == 'World'" => percent_encoding::utf8_percent_encode(c.word, percent_encoding::NON_ALPHANUMERIC).to_string() == "World";
        "url.decode(form) == 'a=1&b=x y'" => percent_decode_str(c.form).decode_utf8().ok()? == "a=1&b=x y";
        "form.encode(labels_tree).startsWith('key0=value0&')" =>
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&c.labels_tree).finish().starts_with("key0=value0&");
        "form.decode(form).b == 'x y'" =>
            url::form_urlencoded::parse(c.form.as_bytes()).into_owned().collect::<HashMap<_, _>>().get("b")? == "x y";
        "sha1.encode(word) == digits" => hex(&sha1::Sha1::digest(c.word)) == c.digits;
        "sha1.encode(slice) == digits" => hex(&sha1::Sha1::digest(c.slice)) == c.digits;
        "sha256.encode(word) == digits" => hex(&sha2::Sha256::digest(c.word)) == c.digits;
        "sha256.encode(slice) == digits" => hex(&sha2::Sha256::digest(c.slice)) == c.digits;
        "hex.encode(hmac.compute(word, 'key', 'SHA256')) == digits" => hex(hmac::sign(&hmac_key(), c.word.as_bytes()).as_ref()) == c.digits;
        "hmac.compute(slice, b'key', 'SHA256') == slice" => hmac::sign(&hmac_key(), c.slice).as_ref() == c.slice;
        "hmac.verify(word, 'sha256=00', 'key', 'SHA256')" => hmac::verify(&hmac_key(), c.word.as_bytes(), &[0]).is_ok();
        "hmac.verify(slice, slice, b'key', 'SHA256')" => hmac::verify(&hmac_key(), c.slice, c.slice).is_ok();
        "md5.encode(word) == digits" => hex(&md5::Md5::digest(c.word)) == c.digits;
        "md5.encode(slice) == digits" => hex(&md5::Md5::digest(c.slice)) == c.digits;
    }
}

fn hmac_key() -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, b"key")
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    text.as_bytes().chunks(2).map(|two| u8::try_from(digit(two[0])? * 16 + digit(two[1])?).ok()).collect()
}

fn lists() -> impl IntoIterator<Item = Cell> {
    table! { "lists" c;
        "nums.slice(2, 4) == [2, 3]" => *c.nums.get(2..4)? == [2, 3];
        "lists.flatten() == [1, 2, 3]" => c.lists.concat() == [1, 2, 3];
        "lists.flatten(1).size() == 3" => c.lists.iter().flatten().copied().collect::<Vec<i64>>().len() == 3;
        "nums.sort()[0] == 0" => *sorted(&c.nums).first()? == 0;
        "uints.sort()[0] == 0u" => *sorted(&c.uints).first()? == 0;
        "doubles.sort()[0] == 0.0" => *sorted_by(&c.doubles, f64::total_cmp).first()? == 0.0;
        "!flags.sort()[0]" => !*sorted(&c.flags).first()?;
        "spans.sort()[0] < span" => *sorted(&c.spans).first()? < c.span;
        "times.sort()[0] < time" => *sorted(&c.times).first()? < c.time;
        "tags.sort()[0] == 'tag0'" => *sorted(&c.tags).first()? == "tag0";
        "pieces.sort()[0] == b'a'" => *sorted(&c.pieces).first()? == b"a";
        "nums.sortBy(x, -x)[0] == 15" => *sorted_by(&c.nums, |a, b| b.cmp(a)).first()? == 15;
        "uints.sortBy(x, x)[0] == 0u" => *sorted(&c.uints).first()? == 0;
        "doubles.sortBy(x, -x)[0] == 15.0" => *sorted_by(&c.doubles, |a, b| b.total_cmp(a)).first()? == 15.0;
        "flags.sortBy(x, !x)[0]" => *sorted_by(&c.flags, |a, b| b.cmp(a)).first()?;
        "spans.sortBy(x, x)[0] < span" => *sorted(&c.spans).first()? < c.span;
        "times.sortBy(x, x)[0] < time" => *sorted(&c.times).first()? < c.time;
        "upstreams.sortBy(u, u.name)[0].weight == 0" => sorted_by(&c.upstreams, |a, b| a.name.cmp(&b.name)).first()?.weight == 0;
        "pieces.sortBy(x, x)[0] == b'a'" => *sorted(&c.pieces).first()? == b"a";
        "tags.sortBy(x, x)[0] == 'tag0'" => *sorted(&c.tags).first()? == "tag0";
        "nums.distinct().size() == 16" => {
            let mut seen = std::collections::HashSet::new();
            c.nums.iter().filter(|x| seen.insert(**x)).copied().collect::<Vec<_>>().len() == 16
        };
        "lists.range(small).size() == 3" => (0..c.small).collect::<Vec<_>>().len() == 3;
        "nums.reverse()[small] == 12" => *c.nums.iter().rev().nth(3)? == 12;
        "nums.last().value() == 15" => *c.nums.last()? == 15;
        "nums.hasAll([3, small])" => [3, c.small].iter().all(|x| c.nums.contains(x));
        "nums.hasAny([99, i64])" => [99, c.i64].iter().any(|x| c.nums.contains(x));
        "nums.hasOnly(nums_slice)" => c.nums.iter().all(|x| c.nums_slice.contains(x));
        "nums.hasExactly(nums_slice)" =>
            c.nums.iter().all(|x| c.nums_slice.contains(x)) && c.nums_slice.iter().all(|x| c.nums.contains(x));
        "sets.contains(nums, [3, small])" => [3, c.small].iter().all(|x| c.nums.contains(x));
        "sets.equivalent(nums, nums_slice)" =>
            c.nums.iter().all(|x| c.nums_slice.contains(x)) && c.nums_slice.iter().all(|x| c.nums.contains(x));
        "sets.intersects(nums, [99, i64])" => [99, c.i64].iter().any(|x| c.nums.contains(x));
        "[i64, small, 7].size() == 3" => vec![c.i64, c.small, 7].len() == 3;
        "{'a': i64, 'b': small}['a'] == 41" => *HashMap::from([("a", c.i64), ("b", c.small)]).get("a")? == 41;
    }
}

fn regex_and_json() -> impl IntoIterator<Item = Cell> {
    table! { "regex and json" c;
        "regex.extract(str, 'W[a-z]+').value() == 'World'" => regex!("W[a-z]+").find(c.str)?.as_str() == "World";
        "regex.extractAll(str, '[A-Z][a-z]+').size() == 4" => regex!("[A-Z][a-z]+").find_iter(c.str).collect::<Vec<_>>().len() == 4;
        "regex.replace(str, '[A-Z]', 'x') == word" => regex!("[A-Z]").replace_all(c.str, "x") == c.word;
        "regex.replace(str, '[A-Z]', 'x', 1) == word" => regex!("[A-Z]").replace(c.str, "x") == c.word;
        "str.regexReplace('W[a-z]+', 'x') == word" => regex!("W[a-z]+").replace(c.str, "x") == c.word;
        "json(json_text).user.age == 30" => serde_json::from_str::<Json>(c.json_text).ok()?["user"]["age"] == 30;
        "json(bytes(json_text)).user.age == 30" => serde_json::from_slice::<Json>(c.json_text.as_bytes()).ok()?["user"]["age"] == 30;
        "toJson(nums) == word" => serde_json::to_string(&c.nums).ok()? == c.word;
        "unvalidatedJwtPayload(jwt).sub == 'ada'" => {
            let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(c.jwt.split('.').nth(1)?).ok()?;
            serde_json::from_slice::<Json>(&payload).ok()?["sub"] == "ada"
        };
        "json.encode(nums) == word" => serde_json::to_string(&c.nums).ok()? == c.word;
        "json.parse(json_text).hasValue()" => serde_json::from_str::<Json>(c.json_text).is_ok();
        "json.parse(digits, int).hasValue()" => c.digits.parse::<i64>().is_ok();
        "yaml.encode(nums) == word" => c.nums.iter().map(|n| format!("- {n}\n")).collect::<String>() == c.word;
        "yaml.parse(json_text).hasValue()" => Parser::new_from_str(c.json_text).all(|event| event.is_ok());
        "yaml.parse(digits, int).hasValue()" => Parser::new_from_str(c.digits).all(|event| event.is_ok());
        "jwt.parse(jwt).value().subject == 'ada'" => claims(c.jwt)?["sub"] == "ada";
        "jwt.parse(jwt).claim('tenant').hasValue()" => claims(c.jwt)?.get("tenant").is_some();
        "jwt.parse(jwt).value().claim('tenant').hasValue()" => claims(c.jwt)?.get("tenant").is_some();
        "jwt.parse(jwt).presentedBy('https://issuer', 'app')" => is_presented(&claims(c.jwt)?);
        "jwt.parse(jwt).value().presentedBy('https://issuer', 'app')" => is_presented(&claims(c.jwt)?);
    }
}

/// The claims of a token that is read as a whole.
fn claims(token: &str) -> Option<Json> {
    let mut parts = token.split('.').map(|part| {
        let decoded = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(part).ok()?;
        serde_json::from_slice::<Json>(&decoded).ok()
    });
    parts.next()??.get("alg")?;
    parts.next()?
}

fn is_presented(claims: &Json) -> bool {
    claims["iss"] == "https://issuer" && claims["aud"].as_array().is_some_and(|all| all.iter().any(|one| one == "app"))
}

fn gateway() -> impl IntoIterator<Item = Cell> {
    table! { "gateway" c;
        "labels.merge(labels_tree).size() == 12" => {
            let mut merged = c.labels.clone();
            merged.extend(c.labels_tree.iter().map(|(k, v)| (k.clone(), v.clone())));
            merged.len() == 12
        };
        "headers.raw()['x-num'][0] == '42'" => c.headers.get_all("x-num").iter().next()? == "42";
        "queries.raw()['cookie'][0] == word" => *c.queries.get("cookie")?.first()? == c.word;
        "headers.join()['x-num'] == '42'" => joined_lines(&c.headers, "x-num")? == "42";
        "queries.join()['cookie'] == word" => c.queries.get("cookie")?.join(",") == c.word;
        "headers.split()['x-num'][0] == '42'" => joined_lines(&c.headers, "x-num")?.split(',').next()?.trim() == "42";
        "queries.split()['cookie'].size() == 1" => c.queries.get("cookie")?.iter().flat_map(|line| line.split(',')).count() == 1;
        "headers.redacted()['cookie'] == '<redacted>'" => *redacted(&c.headers)?.get("cookie")? == "<redacted>";
        "queries.redacted()['cookie'].size() == 1" => c.queries.get("cookie")?.len() == 1;
        "queries.cookie('id') == '7'" => c.queries.get("cookie")?.iter().find_map(|line| cookie(line, "id"))? == "7";
        "form.query('b')[0] == 'x y'" => url::form_urlencoded::parse(c.form.as_bytes()).find(|(k, _)| k == "b")?.1 == "x y";
    }
}

fn joined_lines(headers: &http::HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(name).iter().map(|line| line.to_str()).collect::<Result<Vec<_>, _>>().ok()?;
    Some(lines.join(","))
}

fn redacted(headers: &http::HeaderMap) -> Option<BTreeMap<&str, &str>> {
    let secret =
        |name: &str| matches!(name, "authorization" | "cookie" | "set-cookie" | "proxy-authorization" | "x-api-key");
    headers
        .iter()
        .map(|(name, value)| {
            let name = name.as_str();
            Some((name, if secret(name) { "<redacted>" } else { value.to_str().ok()? }))
        })
        .collect()
}

fn macros() -> impl IntoIterator<Item = Cell> {
    table! { "macros" c;
        "nums.existsOne(x, x == small)" => c.nums.iter().filter(|x| **x == c.small).count() == 1;
        "nums.all(i, x, i == x)" => c.nums.iter().enumerate().all(|(i, x)| i64::try_from(i) == Ok(*x));
        "nums.exists_one(i, x, i == 3 && x == small)" => c.nums.iter().enumerate().filter(|(i, x)| *i == 3 && **x == c.small).count() == 1;
        "nums.existsOne(i, x, i == 3 && x == small)" => c.nums.iter().enumerate().filter(|(i, x)| *i == 3 && **x == c.small).count() == 1;
        "nums.transformList(i, x, i + x)[3] == 6" =>
            *c.nums.iter().zip(0_i64..).map(|(x, i)| x + i).collect::<Vec<_>>().get(3)? == 6;
        "nums.transformMap(i, x, x * 2)[3] == 6" => *c.nums.iter().map(|x| x * 2).enumerate().collect::<HashMap<_, _>>().get(&3)? == 6;
        "nums.transformMapEntry(i, x, {x: i})[3] == 3" => *c.nums.iter().copied().zip(0_i64..).collect::<HashMap<_, _>>().get(&3)? == 3;
        "labels.transformMap(k, v, v + '!')['key7'] == 'value7!'" =>
            c.labels.iter().map(|(k, v)| (k.as_str(), format!("{v}!"))).collect::<HashMap<_, _>>().get("key7")? == "value7!";
        "labels.transformList(k, v, v).size() == 12" => c.labels.values().collect::<Vec<_>>().len() == 12;
        "nums.transformList(i, x, x > 3, i + x)[0] == 8" => c.nums.iter().zip(0_i64..).find(|(x, _)| **x > 3).map(|(x, i)| x + i)? == 8;
        "nums.transformMap(i, x, x > 3, x * 2)[4] == 8" =>
            *c.nums.iter().enumerate().filter(|(_, x)| **x > 3).map(|(i, x)| (i, x * 2)).collect::<HashMap<_, _>>().get(&4)? == 8;
        "nums.transformMapEntry(i, x, x > 3, {x: i})[4] == 4" =>
            *c.nums.iter().copied().zip(0_i64..).filter(|(x, _)| *x > 3).collect::<HashMap<_, _>>().get(&4)? == 4;
        "labels.existsOne(k, v, v == 'value3')" => c.labels.values().filter(|v| *v == "value3").count() == 1;
        "cel.bind(x, i64 * small, x > 100 && x < 200)" => (100..200).contains(&(c.i64 * c.small));
        "labels['key7'].with(x, x != '' && x == 'value7')" => c.labels.get("key7")? == "value7";
        "coalesce(labels[?'none'].orValue('a'), word) == 'a'" => c.labels.get("none").map_or("a", String::as_str) == "a";
        "default(option, 0) == 41" => c.option.unwrap_or(0) == 41;
        "has(upstream_option.name) && upstream_option.name == word" => c.upstream_option.is_some_and(|u| u.name == c.word);
        "upstreams.exists(u, tags.exists(t, t == u.name))" => c.upstreams.iter().any(|u| c.tags.contains(&u.name));
        "nums.filter(x, x % 2 == 0).map(x, x * x).exists(x, x == 196)" => c.nums.iter().filter(|x| **x % 2 == 0).any(|x| x * x == 196);
    }
}

/// Twenty conditions of a policy, of which the last decides.
fn twenty_rules() -> impl IntoIterator<Item = Cell> {
    table! { "twenty rules" c;
        "i64 >= 18 && flag && u64 < 100u && f64 > 0.5 && owned.startsWith('Hello') && owned.contains('World') \
         && owned.endsWith('Paths') && owned != 'x' && 'tag6' in tags && tags[0] == 'tag0' && size(tags) == 8 && 7 in nums \
         && nums[3] == 3 && nums.all(x, x < 99) && labels['key7'] == 'value7' && 'key3' in labels && document.user.age >= 18 \
         && document.user.name == 'ada' && i64 in [1, 5, 41] && small == 3" =>
            c.i64 >= 18 && c.flag && c.u64 < 100 && c.f64 > 0.5 && c.owned.starts_with("Hello") && c.owned.contains("World")
                && c.owned.ends_with("Paths") && c.owned != "x" && c.tags.iter().any(|t| t == "tag6") && c.tags.first()? == "tag0"
                && c.tags.len() == 8 && c.nums.contains(&7) && *c.nums.get(3)? == 3 && c.nums.iter().all(|x| *x < 99)
                && c.labels.get("key7")? == "value7" && c.labels.contains_key("key3") && c.document["user"]["age"].as_i64()? >= 18
                && c.document["user"]["name"] == "ada" && [1, 5, 41].contains(&c.i64) && c.small == 3;
    }
}
