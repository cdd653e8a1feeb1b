//! Targets about bytes that come from elsewhere: heads of requests, files of lists.

use celero_canonical::{GuardedNames, Options, canonicalize};
use celero_lists::{Entries, Format, Limits, ListType, Lists, RecordPaths};
use http::{HeaderName, HeaderValue};
use std::str::FromStr;
use std::sync::LazyLock;

/// The head of a request: a line with the method and the target, then a field a line. What has a canonical form has
/// that of its canonical form.
pub fn canonical(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let (method, target) = split(lines.next().unwrap_or_default(), b' ');
    let mut builder = http::Request::builder().method(method).uri(target);
    for line in lines {
        let (name, value) = split(line, b':');
        // What is no name and no value, no HTTP library makes a field of.
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            builder = builder.header(name, value);
        }
    }
    let Ok(request) = builder.body(()) else { return };
    let mut guarded = GuardedNames::default();
    guarded.add("x-user");
    let mut head = request.into_parts().0;
    if canonicalize(&mut head, &Options::default(), &guarded).is_err() {
        return;
    }
    let once = (head.method.clone(), head.uri.clone(), head.headers.clone());
    let again = canonicalize(&mut head, &Options::default(), &guarded);
    assert!(again.is_ok(), "{once:?}: {again:?}");
    assert_eq!((head.method, head.uri, head.headers), once);
}

fn split(line: &[u8], at: u8) -> (&[u8], &[u8]) {
    let end = line.iter().position(|byte| *byte == at).unwrap_or(line.len());
    (line.get(..end).unwrap_or_default(), line.get(end.saturating_add(1)..).unwrap_or_default())
}

pub(super) fn head_seeds() -> Vec<Vec<u8>> {
    let heads = [
        "GET /a/../b//c?x=%41\nhost:A.Example.:80\ncookie:a=1\ncookie:; b=2",
        "POST http://a.example/%7Ea\nhost:a.example\ncontent-length:3\nconnection:x-user, close\nx-user:1",
        "GET /\nhost:a\nupgrade:websocket\nconnection:upgrade\nsec-websocket-key:x",
        "OPTIONS *\nhost:[2001:DB8::1]:8080",
        "CONNECT a.example:443\nhost:a.example:443\ntransfer-encoding:gzip, chunked\nte:trailers",
    ];
    heads.map(|head| head.as_bytes().to_vec()).into()
}

/// The types of lists that files are read for.
static TYPES: LazyLock<Vec<ListType>> = LazyLock::new(|| {
    let types = [
        "addresses",
        "hosts",
        "texts",
        "integers",
        "patterns",
        "addresses:{country: string, asn: int}",
        "textsIgnoringCase",
        "wildcards",
    ];
    types.iter().filter_map(|ty| ListType::from_str(ty).ok()).collect()
});

const FORMATS: [Format; 3] = [Format::Lines, Format::Csv, Format::JsonLines];

/// Entries of a file.
const MOST: usize = 10_000;

/// The list and the entries of a file, whose first byte says of which type and in which format, or of a MaxMind
/// database; `None` if it is refused.
#[must_use]
pub fn entries(data: &[u8]) -> Option<(&'static ListType, Entries)> {
    let (first, rest) = data.split_first()?;
    let (ty, format) = (usize::from(first / 4) % TYPES.len(), usize::from(first % 4));
    let ty = TYPES.get(ty)?;
    let entries = match (FORMATS.get(format), std::str::from_utf8(rest)) {
        (Some(format), Ok(text)) => Entries::parse_at_most(ty, *format, text, MOST).ok(),
        (Some(_), Err(_)) => None,
        (None, _) => {
            let paths = [("country", "country.iso_code"), ("asn", "autonomous_system_number")];
            let paths = RecordPaths::new(ty, paths);
            paths.ok().and_then(|paths| Entries::parse_mmdb(ty, &paths, rest, MOST).ok())
        }
    };
    Some((ty, entries?))
}

/// A file of entries. What is taken keeps the bound, and is a list that answers.
pub fn lists(data: &[u8]) {
    let Some((ty, entries)) = entries(data) else { return };
    assert!(entries.len() <= MOST, "{}", entries.len());
    let lists = Lists::new(Limits::default());
    let Ok(list) = lists.declare("l", ty) else { return };
    if lists.change().replace("l", entries).commit().is_ok() {
        let snapshot = lists.load();
        let _ = (snapshot.has_text(list, b"a.example"), snapshot.has_integer(list, 7));
        let _ = snapshot.has_address(list, [192, 0, 2, 1].into());
    }
}

pub(super) fn list_seeds() -> Vec<Vec<u8>> {
    let texts = [
        (0, 0, "192.0.2.0/24 # a\n2001:db8::/32\n198.51.100.1-198.51.100.9\n"),
        (1, 0, "a.example\n*.b.example\n0.0.0.0 ads.example\n"),
        (2, 1, "entry,expires\na,1900000000\n\"b,c\",\n"),
        (3, 2, "1\n{\"entry\": 2, \"expires\": 1900000000}\n"),
        (4, 0, "^/admin\n[a-z]+[.]php$\n"),
        (6, 0, "Admin\nRoot\n"),
        (7, 0, "/admin/*\n*.php\n"),
        (5, 1, "entry,country,asn\n192.0.2.0/24,DE,3320\n2001:db8::/32,FR,\n"),
    ];
    let text = |(ty, format, text): (u8, u8, &str)| [&[ty * 4 + format], text.as_bytes()].concat();
    let mut seeds: Vec<Vec<u8>> = texts.into_iter().map(text).collect();
    // A database of one network: a node that leads to the record and to nothing, the record, and what the database is.
    let mut database = vec![5 * 4 + 3, 0, 0, 17, 0, 0, 1];
    database.extend([0; 16]);
    database.extend(b"\xe2\x47country\xe1\x48iso_code\x42DE\x58autonomous_system_number\xc2\x0c\xf8");
    database.extend(b"\xab\xcd\xefMaxMind.com\xe9");
    for (name, value) in [
        ("binary_format_major_version", &b"\xa1\x02"[..]),
        ("binary_format_minor_version", b"\xa0"),
        ("build_epoch", b"\x01\x02\x01"),
        ("database_type", b"\x41t"),
        ("description", b"\xe0"),
        ("ip_version", b"\xa1\x06"),
        ("languages", b"\x00\x04"),
        ("node_count", b"\xc1\x01"),
        ("record_size", b"\xa1\x18"),
    ] {
        database.extend([0x40 | name.len() as u8]);
        database.extend(name.as_bytes());
        database.extend(value);
    }
    seeds.push(database);
    seeds
}
