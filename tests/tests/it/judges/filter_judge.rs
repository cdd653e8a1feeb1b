//! What the functions of the filter language give, as Cloudflare documents them.

use super::No;
use super::encoders::{base64, from_base64};
use celero::filter::{FilterValue, StandardFunction};
use regex::bytes::{Regex, RegexBuilder};
use ring::{digest, hmac};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An argument or a result; `None` is a missing one.
pub(super) type Argument = Option<FilterValue>;

fn bytes(argument: &Argument) -> Option<&[u8]> {
    if let Some(FilterValue::Bytes(bytes)) = argument { Some(bytes) } else { None }
}

fn int(argument: &Argument) -> Option<i64> {
    if let Some(FilterValue::Int(int)) = argument { Some(*int) } else { None }
}

fn has_flag(args: &[Argument], at: usize, flag: u8) -> bool {
    args.get(at).and_then(bytes).is_some_and(|flags| flags.contains(&flag))
}

/// The result for arguments that are there; `concat` alone takes missing ones.
pub(super) fn judge(function: StandardFunction, args: &[Argument]) -> Result<Argument, No> {
    use StandardFunction as F;
    if matches!(function, F::BitSlice | F::IsJwtPresent | F::IsJwtValid) {
        return Err(No::Unjudged);
    }
    if function == F::Concat {
        return Ok(args.iter().flatten().cloned().reduce(|all, part| match (all, part) {
            (FilterValue::Bytes(all), FilterValue::Bytes(part)) => FilterValue::Bytes([all, part].concat()),
            (FilterValue::Array(all), FilterValue::Array(part)) => FilterValue::Array([all, part].concat()),
            (all, _) => all,
        }));
    }
    if function == F::Coalesce {
        return Ok(args.iter().flatten().next().cloned());
    }
    if args.iter().any(Option::is_none) {
        return Ok(None);
    }
    let first = args.first().and_then(bytes).unwrap_or_default();
    let second = args.get(1).and_then(bytes).unwrap_or_default();
    let text = |text: Vec<u8>| Some(FilterValue::Bytes(text));
    Ok(match function {
        F::Coalesce | F::Concat | F::BitSlice | F::IsJwtPresent | F::IsJwtValid => None,
        F::HasKey | F::HasValue => {
            let of = |value: &FilterValue| Some(value) == args[1].as_ref();
            Some(FilterValue::Bool(match (args[0].as_ref().unwrap(), function) {
                (FilterValue::Map(map), F::HasKey) => map.keys().any(|key| of(&FilterValue::Bytes(key.clone()))),
                (FilterValue::Map(map), _) => map.values().any(of),
                (FilterValue::Array(values), _) => values.iter().any(of),
                _ => return Err(No::Unjudged),
            }))
        }
        F::Cidr => network(args, int(&args[1]), int(&args[2])),
        F::Cidr6 => network(args, Some(32), int(&args[1])),
        F::DecodeBase64 => std::str::from_utf8(first).ok().and_then(|s| from_base64(s, "+/", false)).and_then(text),
        F::EncodeBase64 => {
            let last = if has_flag(args, 1, b'u') { "-_" } else { "+/" };
            text(base64(first, last, has_flag(args, 1, b'p')).into_bytes())
        }
        F::EndsWith => Some(first.iter().rev().take(second.len()).eq(second.iter().rev()).into()),
        F::StartsWith => Some(first.iter().take(second.len()).eq(second).into()),
        F::IsTimedHmacValidV0 if args.get(4).and_then(int).is_some_and(|length| !(0..1000).contains(&length)) => {
            return Err(No::Unjudged);
        }
        F::IsTimedHmacValidV0 => Some(is_timed_hmac_valid(args).unwrap_or(false).into()),
        F::Join => {
            let Some(FilterValue::Array(parts)) = &args[0] else { return Err(No::Unjudged) };
            let parts: Vec<&[u8]> = parts.iter().filter_map(FilterValue::as_bytes).collect();
            text(parts.join(second))
        }
        F::Len => Some(FilterValue::Int(match &args[0] {
            Some(FilterValue::Array(elements)) => elements.len() as i64,
            _ => first.len() as i64,
        })),
        F::LookupJsonInteger => {
            let found = lookup(args)?;
            found.and_then(|json| if json.is_f64() { None } else { json.as_i64() }).map(FilterValue::Int)
        }
        F::LookupJsonString => {
            let found = lookup(args)?;
            found.and_then(|json| json.as_str().map(|s| s.as_bytes().to_vec())).and_then(text)
        }
        F::Lower => text(first.iter().map(|b| if b.is_ascii_uppercase() { b + 32 } else { *b }).collect()),
        F::Upper => text(first.iter().map(|b| if b.is_ascii_lowercase() { b - 32 } else { *b }).collect()),
        F::RegexReplace => {
            let pattern = regex(std::str::from_utf8(second).unwrap());
            text(match pattern.captures(first) {
                None => first.to_vec(),
                Some(found) => {
                    let whole = found.get(0).unwrap();
                    let group = |at: usize| found.get(at).map_or(&b""[..], |group| group.as_bytes()).to_vec();
                    [&first[..whole.start()], &expand(bytes(&args[2]).unwrap(), group), &first[whole.end()..]].concat()
                }
            })
        }
        F::WildcardReplace => text(match stars(second, first, has_flag(args, 3, b's')) {
            None => first.to_vec(),
            Some(stars) => {
                let group =
                    |at: usize| if at == 0 { first.to_vec() } else { stars.get(at - 1).cloned().unwrap_or_default() };
                expand(bytes(&args[2]).unwrap(), group)
            }
        }),
        F::RemoveBytes => text(first.iter().filter(|byte| !second.contains(byte)).copied().collect()),
        F::RemoveQueryArgs => {
            let names: Vec<&[u8]> = args[1..].iter().filter_map(bytes).collect();
            let name = |pair: &[u8]| pair.iter().take_while(|byte| **byte != b'=').copied().collect::<Vec<u8>>();
            let kept: Vec<&[u8]> =
                first.split(|byte| *byte == b'&').filter(|pair| !names.contains(&&*name(pair))).collect();
            text(kept.join(&b'&'))
        }
        F::Sha256 => text(digest::digest(&digest::SHA256, first).as_ref().to_vec()),
        F::Split => Some(split(first, second, int(&args[2]).unwrap()).into_iter().collect()),
        F::Substring => text(substring(first, int(&args[1]).unwrap(), args.get(2).and_then(int))),
        F::ToString => text(match args[0].as_ref().unwrap() {
            FilterValue::Int(int) => int.to_string().into_bytes(),
            FilterValue::Bool(true) => b"true".to_vec(),
            FilterValue::Bool(false) => b"false".to_vec(),
            FilterValue::Ip(address) => address.to_string().into_bytes(),
            _ => return Err(No::Unjudged),
        }),
        F::UrlDecode => {
            let (again, unicode) = (has_flag(args, 1, b'r'), has_flag(args, 1, b'u'));
            let mut decoded = url_decode(first, unicode);
            while again && decoded != url_decode(&decoded, unicode) {
                decoded = url_decode(&decoded, unicode);
            }
            text(decoded)
        }
        F::Uuidv4 => {
            let mut seed = first.to_vec();
            seed.resize(16, 0);
            let mut digits: Vec<char> =
                seed.iter().flat_map(|b| format!("{b:02x}").chars().collect::<Vec<_>>()).collect();
            // RFC 9562, section 5.4: the version is 4, the two highest bits of the variant are 10.
            digits[12] = '4';
            digits[16] = ['8', '9', 'a', 'b'][digits[16].to_digit(16).unwrap() as usize % 4];
            let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits[part].iter().collect::<String>());
            text(parts.join("-").into_bytes())
        }
    })
}

fn network(args: &[Argument], v4: Option<i64>, v6: Option<i64>) -> Argument {
    Some(FilterValue::Ip(match args[0].as_ref()? {
        FilterValue::Ip(IpAddr::V4(address)) => {
            let rest = 1u64 << (32 - v4?);
            Ipv4Addr::from((u64::from(u32::from(*address)) / rest * rest) as u32).into()
        }
        FilterValue::Ip(IpAddr::V6(address)) => {
            let rest = 1u128.checked_shl(128 - v6? as u32)?;
            Ipv6Addr::from(u128::from(*address) / rest * rest).into()
        }
        _ => return None,
    }))
}

/// What is at the keys of a document. `serde_json` reads the integer `-0` as a double.
fn lookup(args: &[Argument]) -> Result<Option<serde_json::Value>, No> {
    let document = bytes(&args[0]).unwrap();
    if document.windows(2).any(|pair| pair == b"-0") {
        return Err(No::Unjudged);
    }
    let Ok(mut json) = serde_json::from_slice::<serde_json::Value>(document) else { return Ok(None) };
    for key in &args[1..] {
        let found = match (key.as_ref().unwrap(), &json) {
            (FilterValue::Bytes(key), serde_json::Value::Object(object)) => {
                std::str::from_utf8(key).ok().and_then(|key| object.get(key))
            }
            (FilterValue::Int(at), serde_json::Value::Array(array)) => {
                usize::try_from(*at).ok().and_then(|at| array.get(at))
            }
            _ => None,
        };
        let Some(found) = found.cloned() else { return Ok(None) };
        json = found;
    }
    Ok(Some(json))
}

pub(super) fn regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().unwrap()
}

/// `${1}` is a group, `$$` a dollar sign.
fn expand(replacement: &[u8], group: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let part = Regex::new(r"(?s-u)\$\{([0-9])\}|(\$\$)|(.)").unwrap();
    let parts = part.captures_iter(replacement).map(|found| match (found.get(1), found.get(2), found.get(3)) {
        (Some(digit), ..) => group(usize::from(digit.as_bytes()[0] - b'0')),
        (_, Some(_), _) => b"$".to_vec(),
        (.., other) => other.unwrap().as_bytes().to_vec(),
    });
    parts.flatten().collect()
}

/// Whether a pattern matches the whole text.
pub(super) fn is_wildcard_match(pattern: &[u8], text: &[u8], case: bool) -> bool {
    stars(pattern, text, case).is_some()
}

/// What the stars of a pattern stand for, each as little as possible, if the pattern matches the whole text.
fn stars(pattern: &[u8], text: &[u8], case: bool) -> Option<Vec<Vec<u8>>> {
    match pattern {
        [] => text.is_empty().then(Vec::new),
        [b'*', rest @ ..] => (0..=text.len()).find_map(|end| {
            let found = stars(rest, &text[end..], case)?;
            Some([vec![text[..end].to_vec()], found].concat())
        }),
        [b'\\', byte @ (b'*' | b'\\'), rest @ ..] | [byte, rest @ ..] => {
            let (first, behind) = text.split_first()?;
            let same = first == byte || (!case && first.eq_ignore_ascii_case(byte));
            if same { stars(rest, behind, case) } else { None }
        }
    }
}

fn split(text: &[u8], separator: &[u8], parts: i64) -> Vec<Vec<u8>> {
    let at = text.windows(separator.len()).position(|window| window == separator);
    match at {
        Some(at) if parts > 1 => {
            [vec![text[..at].to_vec()], split(&text[at + separator.len()..], separator, parts - 1)].concat()
        }
        _ => vec![text.to_vec()],
    }
}

fn substring(text: &[u8], start: i64, end: Option<i64>) -> Vec<u8> {
    let place = |at: i64| if at < 0 { i128::from(at) + text.len() as i128 } else { at.into() };
    let (start, end) = (place(start), end.map_or(text.len() as i128, place));
    let inside = |at: &usize| (start..end).contains(&(*at as i128));
    (0..text.len()).filter(inside).map(|at| text[at]).collect()
}

/// One round: what is not an escape stays.
fn url_decode(text: &[u8], unicode: bool) -> Vec<u8> {
    let escapes = if unicode {
        r"(?s-u)%([0-9A-Fa-f]{2})|((?:%u[dD][89abAB][0-9a-fA-F]{2}%u[dD][c-fC-F][0-9a-fA-F]{2})|%u[0-9A-Fa-f]{4})|(.)"
    } else {
        r"(?s-u)%([0-9A-Fa-f]{2})|([^\x00-\xff])|(.)"
    };
    let hex = |digits: &[u8]| u16::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    let parts = Regex::new(escapes).unwrap();
    let decoded = parts.captures_iter(text).map(|found| match (found.get(1), found.get(2), found.get(3)) {
        (Some(pair), ..) => vec![hex(pair.as_bytes()) as u8],
        (_, Some(escape), _) => {
            let units = escape.as_bytes().chunks(6).map(|unit| hex(&unit[2..]));
            char::decode_utf16(units)
                .collect::<Result<String, _>>()
                .map_or(escape.as_bytes().to_vec(), String::into_bytes)
        }
        (.., other) => {
            if other.unwrap().as_bytes() == b"+" {
                b" ".to_vec()
            } else {
                other.unwrap().as_bytes().to_vec()
            }
        }
    });
    decoded.flatten().collect()
}

/// Message, separator, ten digits of time, `-`, and the code in base64.
fn is_timed_hmac_valid(args: &[Argument]) -> Option<bool> {
    let (key, text, ttl, now) = (bytes(&args[0])?, bytes(&args[1])?, int(&args[2])?, int(&args[3])?);
    let separator = args.get(4).and_then(int).unwrap_or(0);
    let token = Regex::new(&format!(r"(?s-u)\A(.+)(.{{{separator}}})([0-9]{{10}})-(.*)\z")).unwrap();
    let found = token.captures(text)?;
    let code = if has_flag(args, 5, b's') {
        let code = std::str::from_utf8(&found[4]).ok()?;
        from_base64(code, "-_", false).filter(|_| !code.contains('='))?
    } else {
        let code = url_decode(&found[4].split(|b| *b == b'+').collect::<Vec<_>>().join(&b"%2B"[..]), false);
        from_base64(std::str::from_utf8(&code).ok()?, "+/", false)?
    };
    let time: i64 = std::str::from_utf8(&found[3]).unwrap().parse().unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let is_signed = hmac::verify(&key, &[&found[1], &found[3]].concat(), &code).is_ok();
    Some(is_signed && time <= now && i128::from(now) < i128::from(time) + i128::from(ttl))
}
