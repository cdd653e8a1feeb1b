//! The canonical request, judged by code that is slow and close to the text of RFC 3986 and RFC
//! 9110 to 9113, and by the `url` crate, which reads paths and hosts as browsers do.
//!
//! `CELERO_CANONICAL_CASES` sets how many random texts and heads are tried.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

mod fields;

use celero_canonical::{
    Authority, DotSegments, EncodedSlashes, GuardedNames, Options, Refusal, Slashes, canonical_path, canonicalize,
};
use fastrand::Rng;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::Url;

const CASES: u32 = 200_000;

fn cases() -> u32 {
    std::env::var("CELERO_CANONICAL_CASES").map_or(CASES, |text| text.parse().unwrap())
}

/// Pieces of paths, one after the other.
const PATH: &[&[u8]] = &[
    b"/",
    b"/",
    b"/",
    b".",
    b"..",
    b"a",
    b"B",
    b"%2e",
    b"%2E",
    b"%2f",
    b"%5c",
    b"%41",
    b"%7e",
    b"%00",
    b"%7F",
    b"%20",
    b"%",
    b"%4",
    b"%zz",
    b"%c3%a9",
    b"\xc3\xa9",
    b"\xff",
    b";",
    b";x=1",
    b"\\",
    b" ",
    b"\t",
    b"\x7f",
    b"!$&'()*+,=:@-_~",
    b"|^\"{}`<>[]",
    b"%25",
    b"%2525",
    b"%3b",
    b"...",
    b"0",
];

fn text(rng: &mut Rng, pieces: &[&[u8]], most: usize) -> Vec<u8> {
    (0..rng.usize(0..=most)).flat_map(|_| pieces[rng.usize(..pieces.len())].to_vec()).collect()
}

/// A byte of a path, and whether it was percent-encoded.
fn octets(path: &[u8]) -> Option<Vec<(u8, bool)>> {
    let (mut octets, mut at) = (Vec::new(), 0);
    while at < path.len() {
        if path[at] == b'%' {
            let digits = std::str::from_utf8(path.get(at + 1..at + 3)?).ok()?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            octets.push((u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?, true));
            at += 3;
        } else {
            octets.push((path[at], false));
            at += 1;
        }
    }
    Some(octets)
}

/// RFC 3986, section 5.2.4, word for word.
fn remove_dot_segments(path: &str) -> String {
    let (mut input, mut output) = (path.to_owned(), String::new());
    while !input.is_empty() {
        if input.starts_with("/./") || input == "/." {
            input.replace_range(..input.len().min(3), "/");
        } else if input.starts_with("/../") || input == "/.." {
            input.replace_range(..input.len().min(4), "/");
            output.truncate(output.rfind('/').unwrap_or(0));
        } else {
            let end = input[1..].find('/').map_or(input.len(), |at| at + 1);
            output.push_str(&input[..end]);
            input.replace_range(..end, "");
        }
    }
    output
}

/// The canonical form of a path, if it has one.
fn judged_path(path: &[u8], options: &Options) -> Option<String> {
    let mut normal = String::new();
    for (octet, is_encoded) in octets(path)? {
        let is_slash = matches!(octet, b'/' | b'\\') && is_encoded;
        match octet {
            0..=0x1f | 0x7f => return None,
            b' ' | b'\\' if !is_encoded => return None,
            _ if is_slash && options.encoded_slashes == EncodedSlashes::Refuse => return None,
            _ if is_slash && options.encoded_slashes == EncodedSlashes::Decode => normal.push('/'),
            // Section 2.3, unreserved; section 3.3, the others that a segment has as they are.
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => normal.push(octet.into()),
            b'/' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@'
                if !is_encoded =>
            {
                normal.push(octet.into());
            }
            _ => normal.push_str(&format!("%{octet:02X}")),
        }
    }
    if !normal.starts_with('/') {
        return None;
    }
    let mut segments = normal.split('/');
    let has_dots = |segment: &str| segment == "." || segment == "..";
    if normal.split('/').any(|segment| segment.starts_with(".;") || segment.starts_with("..;")) {
        return None;
    }
    if options.dot_segments == DotSegments::Refuse && segments.any(has_dots) {
        return None;
    }
    while options.slashes == Slashes::Merge && normal.contains("//") {
        normal = normal.replace("//", "/");
    }
    Some(remove_dot_segments(&normal))
}

fn options(rng: &mut Rng) -> Options {
    let mut options = Options::default();
    if rng.bool() {
        options.slashes = Slashes::Keep;
    }
    if rng.u8(..4) == 0 {
        options.dot_segments = DotSegments::Refuse;
    }
    options.encoded_slashes = [EncodedSlashes::Refuse, EncodedSlashes::Keep, EncodedSlashes::Decode][rng.usize(..3)];
    options
}

#[test]
fn paths_are_what_rfc_3986_makes_of_them() {
    let mut rng = Rng::with_seed(1);
    let mut accepted = 0;
    for _ in 0..cases() {
        let mut path = text(&mut rng, PATH, 9);
        if rng.u8(..20) != 0 {
            path.insert(0, b'/');
        }
        let options = options(&mut rng);
        let canonical = canonical_path(&path, &options).ok().map(|path| String::from_utf8(path.into_owned()).unwrap());
        let shown = path.escape_ascii();
        assert_eq!(canonical, judged_path(&path, &options), "{shown} with {options:?}");
        // Who reads the canonical form as a browser does reads the same path.
        if let Some(canonical) = canonical {
            accepted += 1;
            assert_eq!(Url::parse(&format!("http://a{canonical}")).unwrap().path(), canonical, "{shown}");
        }
    }
    assert!(accepted > cases() / 10, "{accepted}");
}

const AUTHORITY: &[&[u8]] = &[
    b"a",
    b"B",
    b"example",
    b".",
    b".",
    b"-",
    b"_",
    b"0",
    b"1",
    b"127",
    b"255",
    b"256",
    b"0x7f",
    b"0X",
    b"08",
    b":",
    b":80",
    b":0080",
    b":65535",
    b":65536",
    b":0",
    b"[",
    b"]",
    b"[::1]",
    b"[2001:DB8::1]",
    b"[::ffff:1.2.3.4]",
    b"[fe80::1%25a]",
    b"%41",
    b"@",
    b" ",
    b"\xc3\xa9",
    b"xn--bcher-kva",
    b"+1",
];

/// Host and port of an authority without user information, if it is valid.
fn judged_authority(text: &[u8]) -> Option<(String, Option<u16>)> {
    let text = std::str::from_utf8(text).ok()?;
    let end = if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':').unwrap_or(text.len()) };
    let (host, port) = text.split_at(end);
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        None => return None,
        Some("") => None,
        Some(digits) if digits.chars().all(|c| c.is_ascii_digit()) => {
            let number = digits.chars().try_fold(0_u32, |number, digit| {
                Some(number * 10 + digit.to_digit(10)?).filter(|number| *number < 65_536)
            })?;
            Some(u16::try_from(number).unwrap()).filter(|number| *number > 0).map(Some)?
        }
        Some(_) => return None,
    };
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return Some((format!("[{}]", address.parse::<Ipv6Addr>().ok()?), port));
    }
    let name = host.to_ascii_lowercase();
    let name = name.strip_suffix('.').unwrap_or(&name);
    let labels: Vec<&str> = name.split('.').collect();
    let is_label =
        |label: &&str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let last = labels.last()?;
    let is_number = last.chars().all(|c| c.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
    let is_address = name.parse::<Ipv4Addr>().is_ok();
    let is_valid = labels.iter().all(is_label) && name.len() <= 253 && (!is_number || is_address);
    is_valid.then(|| (name.to_owned(), port))
}

#[test]
fn authorities_are_what_rfc_3986_makes_of_them() {
    let mut rng = Rng::with_seed(2);
    let mut accepted = 0;
    for _ in 0..cases() {
        let text = text(&mut rng, AUTHORITY, 7);
        let shown = text.escape_ascii();
        let authority = Authority::parse(&text);
        let found = authority.as_ref().map(|authority| (authority.host().to_owned(), authority.port()));
        assert_eq!(found, judged_authority(&text), "{shown}");
        let (Some(authority), Some((host, port))) = (authority, found) else { continue };
        accepted += 1;
        let canonical = port.map_or(host.clone(), |port| format!("{host}:{port}"));
        let kept = String::from_utf8(text.clone()).unwrap();
        assert_eq!(authority.changed().unwrap_or(kept), canonical, "{shown}");
        // A browser that accepts the host reads the same one. An address is one for both.
        if let Ok(url) = Url::parse(&format!("http://{host}/")) {
            let host_of_url = url.host().map(|host| match host {
                // RFC 5952 writes a mapped address in two ways.
                url::Host::Ipv6(address) => format!("[{address}]"),
                host => host.to_string(),
            });
            assert_eq!(host_of_url, Some(host.clone()), "{shown}");
            let is_v4 = matches!(url.host(), Some(url::Host::Ipv4(_)));
            assert_eq!(is_v4, matches!(host.parse(), Ok(IpAddr::V4(_))), "{shown}");
        }
    }
    assert!(accepted > cases() / 20, "{accepted}");
}

#[test]
fn targets_become_the_path_and_query_that_rfc_9112_names() {
    let mut rng = Rng::with_seed(3);
    let mut accepted = 0;
    for _ in 0..cases() / 4 {
        let path = [b"/".to_vec(), text(&mut rng, PATH, 5)].concat();
        let query = text(&mut rng, &[b"?", b"a=", b"%41", b"/../", b"%2f", b"\xc3\xa9", b"&", b"#"], 4);
        let query = if query.is_empty() { query } else { [b"?".to_vec(), query].concat() };
        let host = text(&mut rng, &[b"a", b"A", b".b", b":80", b":", b"."], 3);
        let named = if rng.u8(..4) == 0 { b"a.b".to_vec() } else { host.clone() };
        let is_absolute = rng.bool();
        let target =
            if is_absolute { [b"http://", &host[..], &path, &query].concat() } else { [&path[..], &query].concat() };
        // What `http::Uri` refuses, no server passes on; it leaves a fragment out.
        let Ok(request) = http::Request::get(&target[..]).header("host", &named[..]).body(()) else { continue };
        let mut head = request.into_parts().0;
        let shown = format!("{} with host {}", target.escape_ascii(), named.escape_ascii());
        let result = canonicalize(&mut head, &Options::default(), &GuardedNames::default());
        let query = query.split(|byte| *byte == b'#').next().unwrap();
        let has_fragment = path.contains(&b'#');
        assert!(!has_fragment, "no piece has a fragment");
        // Clients send the authority of the target as `Host`.
        let is_named = judged_authority(&named).is_some() && (!is_absolute || named == host);
        let wanted = judged_path(&path, &Options::default()).filter(|_| is_named);
        let wanted = wanted.map(|path| {
            let query: String = query
                .iter()
                .map(|byte| if byte.is_ascii() { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
                .collect();
            path + &query
        });
        assert_eq!(result.is_ok().then(|| head.uri.to_string()), wanted, "{shown}: {result:?}");
        assert_ne!(result.err(), Some(Refusal::TargetTooLong), "{shown}");
        accepted += u32::from(wanted.is_some());
    }
    assert!(accepted > cases() / 100, "{accepted}");
}
