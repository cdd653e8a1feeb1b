//! Why a domain of values excludes a text or a number, and what was probably meant instead.

use celero_frontend::similar;
use celero_ir::{Domain, Never, TextDomain, one_of};
use celero_matching::pattern::RequiredLiterals;
use std::cmp::Ordering;
use std::net::{IpAddr, SocketAddr};

/// Where in the text of a field another text is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Whole,
    Start,
    End,
    Anywhere,
}

impl Place {
    fn has(self, value: &[u8], part: &[u8]) -> bool {
        match self {
            Self::Whole => value == part,
            Self::Start => value.starts_with(part),
            Self::End => value.ends_with(part),
            Self::Anywhere => part.is_empty() || value.windows(part.len()).any(|window| window == part),
        }
    }
}

/// Why a field has no such value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excluded {
    /// What is true of the field: "begins with `/`".
    pub(crate) because: String,
    pub(crate) help: String,
    /// Why the host has no such value; empty if that is a matter of the type.
    pub(crate) why: &'static str,
    /// Which variable beside the field has such values.
    pub(crate) beside: Option<Beside>,
}

/// A variable of the same request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Query,
    Port,
    Scheme,
    Host,
    Path,
    /// The target as it was received.
    Raw,
}

impl Excluded {
    pub(crate) fn because(because: String) -> Self {
        Self { because, help: String::new(), why: "", beside: None }
    }

    /// The help, with the name of the variable that has such values, if it has one.
    pub(crate) fn help(&self, name_of: impl FnOnce(Beside) -> Option<String>) -> String {
        let named = self.beside.and_then(|beside| Some((beside, name_of(beside)?)));
        let other = named.map(|(beside, name)| match beside {
            Beside::Query => format!("the query is `{name}`"),
            Beside::Port => format!("the port is `{name}`"),
            Beside::Scheme => format!("the scheme is `{name}`"),
            Beside::Host => format!("the host is `{name}`"),
            Beside::Path => format!("the path is `{name}`"),
            Beside::Raw => format!("what the client sent is `{name}`"),
        });
        let help = match (&*self.help, self.why) {
            ("", why) => why.to_owned(),
            (help, "") => help.to_owned(),
            (help, why) => format!("{help}: {why}"),
        };
        let parts: Vec<&str> = [&*help].into_iter().chain(other.as_deref()).filter(|part| !part.is_empty()).collect();
        parts.join("; ")
    }
}

/// Returns why no text of a domain has `part` there; `None` if one may.
pub(crate) fn excluded_text(domain: &Domain, place: Place, part: &[u8]) -> Option<Excluded> {
    let shown = String::from_utf8_lossy(part);
    match domain {
        Domain::Range(..) => None,
        Domain::Address => excluded_address(place, &shown),
        Domain::OneOf(words) => excluded_word(words, place, part),
        Domain::Text(TextDomain { also, .. }) if also.iter().any(|text| place.has(text.as_bytes(), part)) => None,
        Domain::Text(TextDomain { begins, never, .. }) => {
            if let Some(excluded) = excluded_url(domain, place, &shown) {
                return Some(excluded);
            }
            if let Some(what) = never.iter().find(|what| never_in(**what, place, part)) {
                let help = match what {
                    Never::UpperCase => format!("write `{}`", shown.to_ascii_lowercase()),
                    Never::LowerCase => format!("write `{}`", shown.to_ascii_uppercase()),
                    Never::OtherSpelling => format!("write `{}`", String::from_utf8_lossy(&canonical_spelling(part))),
                    Never::DotSegment => match instead(domain, place, canonical(part, never)) {
                        Some(text) => format!("write `{text}`"),
                        None => String::new(),
                    },
                    Never::Part(never) => match instead(domain, place, never.replaced_in(&shown)) {
                        Some(text) => format!("write `{text}`"),
                        None => String::new(),
                    },
                    Never::Character(':') => match instead(domain, place, before_colon(&shown)) {
                        Some(text) => format!("write `{text}`"),
                        None => String::new(),
                    },
                    Never::Character(_) | Never::Port => String::new(),
                };
                let beside = match what {
                    Never::Character('?') => Some(Beside::Query),
                    Never::Port => Some(Beside::Port),
                    Never::DotSegment | Never::Part(_) => Some(Beside::Raw),
                    _ => None,
                };
                let why = if let Never::Part(part) = what { part.why } else { "" };
                return Some(Excluded { because: format!("has no {what}"), help, why, beside });
            }
            let first = begins.as_bytes();
            let may_begin = match place {
                Place::Whole => part.starts_with(first),
                Place::Start => part.starts_with(first) || first.starts_with(part),
                Place::End | Place::Anywhere => true,
            };
            let help = || format!("write `{begins}{shown}`");
            (!may_begin).then(|| Excluded { help: help(), ..Excluded::because(format!("begins with `{begins}`")) })
        }
    }
}

/// Returns why no text of a domain has the pieces of a wildcard pattern, which stars are between;
/// `None` if one may. Unless it is `strict`, ASCII letters match in either case.
pub(crate) fn excluded_wildcard(domain: &Domain, pieces: &[impl AsRef<[u8]>], strict: bool) -> Option<Excluded> {
    // A word may have letters of both cases.
    if !strict && !matches!(domain, Domain::Text(_)) {
        return None;
    }
    let last = pieces.len().checked_sub(1)?;
    pieces.iter().enumerate().find_map(|(at, piece)| {
        let place = match at {
            0 if last == 0 => Place::Whole,
            0 => Place::Start,
            at if at == last => Place::End,
            _ => Place::Anywhere,
        };
        let piece = piece.as_ref();
        let excluded = excluded_text(domain, place, piece)?;
        if !strict {
            excluded_text(domain, place, &piece.to_ascii_lowercase())?;
            excluded_text(domain, place, &piece.to_ascii_uppercase())?;
        }
        Some(excluded)
    })
}

/// A text that says what an excluded one was probably meant to say; `None` if the field has none such, or in every
/// value.
fn instead(domain: &Domain, place: Place, text: Option<String>) -> Option<String> {
    let text = text.filter(|text| place == Place::Whole || text != "/")?;
    excluded_text(domain, place, text.as_bytes()).is_none().then_some(text)
}

/// The canonical form of a path or of the beginning of one. What is merged in paths is in `never`.
#[cfg(feature = "http")]
fn canonical(part: &[u8], never: &[Never]) -> Option<String> {
    use celero_canonical::{EncodedSlashes, Options, Slashes, canonical_path};
    let merges = |what: &Never| matches!(what, Never::Part(part) if part.spellings.contains(&"//"));
    let slashes = if never.iter().any(merges) { Slashes::Merge } else { Slashes::Keep };
    let options = Options { slashes, encoded_slashes: EncodedSlashes::Keep, ..Options::default() };
    String::from_utf8(canonical_path(part, &options).ok()?.into_owned()).ok()
}

#[cfg(not(feature = "http"))]
fn canonical(_: &[u8], _: &[Never]) -> Option<String> {
    None
}

/// Only paths of requests have a canonical spelling.
#[cfg(feature = "http")]
fn canonical_spelling(part: &[u8]) -> Vec<u8> {
    celero_canonical::canonical_spelling(part)
}

#[cfg(not(feature = "http"))]
fn canonical_spelling(part: &[u8]) -> Vec<u8> {
    part.to_vec()
}

/// Returns what stands behind the scheme of a URL: `example.com/a` of `https://example.com/a`.
fn without_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.chars().all(is_scheme).then_some(rest)
}

/// Returns why no host, and no path, has a text that is a URL or another part of one; `None` if it is none.
fn excluded_url(domain: &Domain, place: Place, text: &str) -> Option<Excluded> {
    let Domain::Text(TextDomain { begins, never, .. }) = domain else { return None };
    let is_start = matches!(place, Place::Whole | Place::Start);
    let is_host = never.contains(&Never::Port) && never.contains(&Never::Character('/'));
    let rest = without_scheme(text);
    let (because, meant, beside) = match (rest, *begins) {
        (Some(rest), _) if is_host => ("has no scheme", host_of(rest), Beside::Scheme),
        (None, _) if is_host && text.contains('/') => ("has no path", host_of(text), Beside::Path),
        (Some(rest), "/") if is_start && !text.starts_with(':') => {
            let path = rest.find('/').and_then(|start| rest.get(start..)).unwrap_or("/");
            let ends = |c: char| c == '#' || c == '?' && never.contains(&Never::Character('?'));
            let path = path.split(ends).next().unwrap_or_default();
            ("has no scheme and no host", path.to_owned(), Beside::Host)
        }
        _ => return None,
    };
    let meant = Some(meant).filter(|meant| is_start && !meant.is_empty());
    let help = instead(domain, place, meant).map(|meant| format!("write `{meant}`")).unwrap_or_default();
    Some(Excluded { help, beside: Some(beside), ..Excluded::because(because.to_owned()) })
}

/// Returns the text before a `:` or `://` that ends it.
fn before_colon(text: &str) -> Option<String> {
    let before = text.trim_end_matches('/').strip_suffix(':')?;
    (!before.is_empty()).then(|| before.to_owned())
}

/// Returns the host that a URL without its scheme begins with.
fn host_of(url: &str) -> String {
    let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let end = host.rfind(']').map_or(0, |end| end.saturating_add(1));
    let port = host.get(end..).and_then(|rest| rest.find(':')).map(|colon| colon.saturating_add(end));
    host.get(..port.unwrap_or(host.len())).unwrap_or_default().to_ascii_lowercase()
}

/// Returns why no text of an address has `part` there; `None` if one has.
fn excluded_address(place: Place, part: &str) -> Option<Excluded> {
    let mut help = String::new();
    let may_be = match (place, part.parse::<IpAddr>()) {
        (Place::Whole, Ok(address)) => {
            let canonical = address.to_canonical().to_string();
            help = format!("write `{canonical}`");
            canonical == part
        }
        (Place::Whole, Err(_)) => {
            if let Ok(socket) = part.parse::<SocketAddr>() {
                help = format!("write `{}`: the port is no part of it", socket.ip().to_canonical());
            }
            false
        }
        _ => part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'.' | b':')),
    };
    (!may_be).then(|| Excluded { help, ..Excluded::because(Domain::Address.to_string()) })
}

/// Returns why none of these words has `part` there; `None` if one has.
pub(crate) fn excluded_word(words: &[&str], place: Place, part: &[u8]) -> Option<Excluded> {
    if words.iter().any(|word| place.has(word.as_bytes(), part)) {
        return None;
    }
    let begins = |word: &&&str| {
        !part.is_empty() && word.as_bytes().get(..part.len()).is_some_and(|start| start.eq_ignore_ascii_case(part))
    };
    let meant = words.iter().find(begins).copied().or_else(|| {
        let part = std::str::from_utf8(part).ok().filter(|_| place == Place::Whole)?;
        similar(part, words.iter().copied())
    });
    let help = meant.map(|word| format!("did you mean `{word}`?")).unwrap_or_default();
    Some(Excluded { help, ..Excluded::because(one_of(words)) })
}

/// Returns why a text of a domain has none of the literals that a pattern requires; `None` if one may.
pub(crate) fn excluded_literals(domain: &Domain, required: &RequiredLiterals) -> Option<Excluded> {
    let (place, literals) = match required {
        RequiredLiterals::Whole(literals) => (Place::Whole, literals),
        RequiredLiterals::Prefix(literals) => (Place::Start, literals),
        RequiredLiterals::Suffix(literals) => (Place::End, literals),
        RequiredLiterals::Substring(literals) => (Place::Anywhere, literals),
    };
    // A word may have letters of both cases.
    if literals.folded && !matches!(domain, Domain::Text(_)) {
        return None;
    }
    let mut first = None;
    for literal in &literals.literals {
        let excluded = excluded_text(domain, place, literal)?;
        if literals.folded {
            excluded_text(domain, place, &literal.to_ascii_uppercase())?;
        }
        first.get_or_insert(excluded);
    }
    first.map(|excluded| Excluded { help: String::new(), ..excluded })
}

/// Whether a text has, at this place of a value, what the value never has.
fn never_in(what: Never, place: Place, part: &[u8]) -> bool {
    match what {
        Never::UpperCase => part.iter().any(u8::is_ascii_uppercase),
        Never::LowerCase => part.iter().any(u8::is_ascii_lowercase),
        Never::Character(character) => part.iter().any(|byte| char::from(*byte) == character),
        // An address of IPv6 has colons within its brackets.
        Never::Port => {
            let last = |wanted: u8| part.iter().rposition(|byte| *byte == wanted);
            match place {
                Place::Whole | Place::Start if !part.starts_with(b"[") => last(b':').is_some(),
                Place::Whole | Place::End => last(b':').is_some_and(|colon| last(b']').is_none_or(|end| end < colon)),
                Place::Start | Place::Anywhere => part.windows(2).any(|two| two == b"]:"),
            }
        }
        Never::DotSegment => {
            // What stands before the first `/`, or after the last one of a text that may go on, is a part of a segment.
            let mut segments = part.split(|byte| *byte == b'/').skip(1).peekable();
            let goes_on = matches!(place, Place::Start | Place::Anywhere);
            std::iter::from_fn(|| segments.next().map(|segment| (segment, segments.peek().is_none())))
                .any(|(segment, is_last)| matches!(segment, b"." | b"..") && !(is_last && goes_on))
        }
        Never::OtherSpelling => canonical_spelling(part) != part,
        Never::Part(never) => never.spellings.iter().any(|spelling| Place::Anywhere.has(part, spelling.as_bytes())),
    }
}

/// Returns the constant result of an ordering of a field and a number, if it has one, and why.
pub(crate) fn constant_ordering(
    domain: &Domain,
    holds: impl Fn(Ordering) -> bool,
    number: i64,
) -> Option<(bool, String)> {
    let Domain::Range(least, most) = *domain else { return None };
    let orderings = [
        (least < number).then_some(Ordering::Less),
        (least <= number && number <= most).then_some(Ordering::Equal),
        (number < most).then_some(Ordering::Greater),
    ];
    let mut results = orderings.into_iter().flatten().map(holds);
    let first = results.next()?;
    results.all(|result| result == first).then(|| (first, domain.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Place::{Anywhere, End, Start, Whole};
    use celero_ir::NeverPart;

    const PATH: Domain = Domain::Text(TextDomain {
        begins: "/",
        never: &[Never::Character('?'), Never::DotSegment, Never::OtherSpelling],
        also: &["*", ""],
    });
    const MERGED: Domain = Domain::Text(TextDomain {
        begins: "/",
        never: &[
            Never::DotSegment,
            Never::Part(NeverPart { spellings: &["//"], replaced_by: Some("/"), why: "they are merged" }),
            Never::Part(NeverPart { spellings: &["%2F", "%2f"], replaced_by: None, why: "they are refused" }),
            Never::OtherSpelling,
        ],
        also: &["*", ""],
    });
    const HOST: Domain = Domain::Text(TextDomain { begins: "", never: &[Never::UpperCase, Never::Port], also: &[] });

    /// What is excluded is in no text of a sample of the domain.
    #[test]
    fn excluded_texts_are_in_no_value() {
        let paths: &[&str] = &["/", "/admin", "/a/b", "/..a/.b/c.", "/a../b", "/a/...", "/%3B%25", "/a//b", "*", ""];
        let hosts: &[&str] = &["a", "a.example", "[::1]", "[2001:db8::8080]", "10.0.0.1"];
        let parts = [
            "", "/", "*", "a", "A", "admin", "/admin", "/a?", "?", ":", ":80", "a:80", "[::1]", "[::1]:80", "]:", "::",
            "8080]", "//", "a//", "/%2F", "/..", "..", "/../", "../", "/.", "/./", ".", "/a/..", "%3B", "%3b", "%41",
            "%4", "B%25", "/;", "10.", ".1", "::", "fe80:", "10.0.0.1", "::1", "8080",
        ];
        let addresses: &[&str] = &["10.0.0.1", "::", "::1", "2001:db8::8080", "fe80::a"];
        let merged: Vec<&str> = paths.iter().copied().filter(|path| !path.contains("//")).collect();
        for (domain, values) in [(PATH, paths), (MERGED, &merged), (HOST, hosts), (Domain::Address, addresses)] {
            for place in [Whole, Start, End, Anywhere] {
                for part in parts {
                    let found = values.iter().any(|value| place.has(value.as_bytes(), part.as_bytes()));
                    let excluded = excluded_text(&domain, place, part.as_bytes());
                    assert!(!found || excluded.is_none(), "{place:?} {part}: {excluded:?}");
                    for strict in [true, false] {
                        let pieces = match place {
                            Whole => vec![part],
                            Start => vec![part, ""],
                            End => vec!["", part],
                            Anywhere => vec!["", part, ""],
                        };
                        let pieces: Vec<Box<[u8]>> = pieces.into_iter().map(|piece| piece.as_bytes().into()).collect();
                        let excluded = excluded_wildcard(&domain, &pieces, strict);
                        assert!(!found || excluded.is_none(), "{pieces:?}: {excluded:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn reasons_name_what_the_field_has() {
        for (domain, place, part, because, help) in [
            (PATH, Whole, "admin", "begins with `/`", "write `/admin`"),
            (PATH, Start, "admin", "begins with `/`", "write `/admin`"),
            (PATH, Anywhere, "?", "has no `?`", ""),
            (PATH, Whole, "/a/../b", "has no segment `.` or `..`", "write `/b`"),
            (PATH, Whole, "/a//../b", "has no segment `.` or `..`", "write `/a/b`"),
            (MERGED, Whole, "/a//../b", "has no segment `.` or `..`", "write `/b`"),
            (MERGED, Whole, "/a//b", "has no `//`", "write `/a/b`: they are merged"),
            (MERGED, Anywhere, "///a", "has no `//`", "write `/a`: they are merged"),
            (MERGED, Anywhere, "//", "has no `//`", "they are merged"),
            (MERGED, Whole, "//", "has no `//`", "write `/`: they are merged"),
            (MERGED, Whole, "/a%2fb", "has no `%2F`", "they are refused"),
            (PATH, Start, "/./", "has no segment `.` or `..`", ""),
            (PATH, Start, "/a/./b", "has no segment `.` or `..`", "write `/a/b`"),
            (PATH, End, "/..", "has no segment `.` or `..`", ""),
            (PATH, Whole, "/%41", "has no character in another encoding than the canonical one", "write `/A`"),
            (PATH, Anywhere, "%3c", "has no character in another encoding than the canonical one", "write `%3C`"),
            (PATH, Anywhere, "é", "has no character in another encoding than the canonical one", "write `%C3%A9`"),
            (HOST, Whole, "EX.com", "has no upper-case letter", "write `ex.com`"),
            (HOST, Whole, "a:80", "has no port", ""),
            (HOST, End, ":80", "has no port", ""),
            (HOST, Whole, "[::1]:80", "has no port", ""),
            (Domain::OneOf(&["a", "b"]), Whole, "c", "is one of `a`, `b`", ""),
            (Domain::OneOf(&["a", "bc"]), Whole, "B", "is one of `a`, `bc`", "did you mean `bc`?"),
            (Domain::OneOf(&["free", "pro"]), Whole, "fre", "is one of `free`, `pro`", "did you mean `free`?"),
            (Domain::OneOf(&["free", "pro"]), Whole, "fere", "is one of `free`, `pro`", "did you mean `free`?"),
            (Domain::OneOf(&["free", "pro"]), Whole, "", "is one of `free`, `pro`", ""),
            (Domain::Address, Whole, "10.0.0.0/8", "is the text of an IP address", ""),
            (Domain::Address, Whole, "2001:DB8::0", "is the text of an IP address", "write `2001:db8::`"),
            (Domain::Address, Whole, "::ffff:10.0.0.1", "is the text of an IP address", "write `10.0.0.1`"),
            (
                Domain::Address,
                Whole,
                "[::1]:80",
                "is the text of an IP address",
                "write `::1`: the port is no part of it",
            ),
            (Domain::Address, Start, "10.*", "is the text of an IP address", ""),
        ] {
            let excluded = excluded_text(&domain, place, part.as_bytes()).unwrap_or_else(|| panic!("{part}"));
            assert_eq!((&*excluded.because, &*excluded.help(|_| None)), (because, help), "{part}");
        }
        assert_eq!(excluded_text(&HOST, Anywhere, b"::"), None);
        assert_eq!(excluded_text(&PATH, End, b"admin"), None);
    }

    #[test]
    fn orderings_with_numbers_beyond_a_range_are_constant() {
        let range = Domain::Range(1, 9);
        for (number, less, equal) in [
            (0, Some(false), Some(false)),
            (1, Some(false), None),
            (5, None, None),
            (9, None, None),
            (10, Some(true), Some(false)),
        ] {
            let constant = |holds: fn(Ordering) -> bool| constant_ordering(&range, holds, number).map(|found| found.0);
            assert_eq!((constant(Ordering::is_lt), constant(Ordering::is_eq)), (less, equal), "{number}");
        }
    }
}
