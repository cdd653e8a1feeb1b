//! Paths: percent-encoding, slashes, dot segments.
//!
//! Invariant: the canonical form of a path is itself canonical: a second run changes nothing. Test:
//! `runtime/canonical/src/path.rs::a_plain_path_is_its_own_canonical_form`.

use crate::options::{DotSegments, EncodedSlashes, Options, Slashes};
use crate::refusal::Refusal;
use std::borrow::Cow;

/// Bytes that are checked at once. The compiler makes vector instructions of it.
const BLOCK: usize = 16;

/// Whether a byte may stand in a path as it is: `pchar` of RFC 3986, section 3.3, without `%`, or `/`.
#[inline(always)]
const fn is_plain_byte(byte: u8) -> bool {
    // Ranges and single bytes without a branch, so that a block is checked in parallel.
    (byte.wrapping_sub(b'&') <= b';' - b'&')
        | (byte.wrapping_sub(b'@') <= b'Z' - b'@')
        | (byte.wrapping_sub(b'a') <= b'z' - b'a')
        | (byte == b'_')
        | (byte == b'=')
        | (byte == b'~')
        | (byte == b'$')
        | (byte == b'!')
}

/// `unreserved` of RFC 3986, section 2.3.
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Whether these bytes are plain, and none of them is the second of `//` or `/.`. `before` has the
/// byte before each one.
#[inline(always)]
fn block_is_plain<const N: usize>(before: &[u8; N], bytes: &[u8; N]) -> bool {
    let odd = |(&before, &byte): (&u8, &u8)| !is_plain_byte(byte) | ((before == b'/') & (byte | 1 == b'/'));
    !before.iter().zip(bytes).fold(false, |any, pair| any | odd(pair))
}

/// As [`block_is_plain`] for all bytes but the first, in blocks of `N`; the last one may overlap
/// the one before. Returns `None` if there are fewer than `N` bytes after the first.
#[inline(always)]
fn blocks_are_plain<const N: usize>(path: &[u8]) -> Option<bool> {
    let (_, rest) = path.split_first()?;
    let (last_before, last) = (path.get(..rest.len())?.last_chunk::<N>()?, rest.last_chunk::<N>()?);
    let (before, _) = path.as_chunks::<N>();
    let (bytes, _) = rest.as_chunks::<N>();
    let all = before.iter().zip(bytes).all(|(before, bytes)| block_is_plain(before, bytes));
    Some(all && block_is_plain(last_before, last))
}

/// Returns whether a path, which starts with `/`, is canonical without any doubt: the usual case.
/// `false` means: look closer.
#[inline]
pub(crate) fn is_plain(path: &[u8]) -> bool {
    blocks_are_plain::<BLOCK>(path).or_else(|| blocks_are_plain::<4>(path)).unwrap_or_else(|| {
        let pairs = path.iter().zip(path.iter().skip(1));
        pairs.fold(true, |all, (before, byte)| all & block_is_plain(&[*before], &[*byte]))
    })
}

/// Returns the canonical form of a path: borrowed if the path has it already, which costs neither
/// an allocation nor much time. For paths that are not in the target of a request;
/// [`canonicalize`](crate::canonicalize) does the same for one that is.
///
/// ```
/// use celero_canonical::{Options, Refusal, canonical_path};
///
/// let canonical = |path| canonical_path(path, &Options::default());
/// assert_eq!(canonical(b"/admin").as_deref(), Ok(&b"/admin"[..]));
/// assert_eq!(canonical(b"/x/..//%61dmin").as_deref(), Ok(&b"/admin"[..]));
/// assert_eq!(canonical(b"/x%2fadmin"), Err(Refusal::PathEncodedSlash));
/// ```
///
/// # Errors
/// Returns a [`Refusal`] if the path does not start with `/`, or has no canonical form, or one that the options refuse.
#[inline]
pub fn canonical_path<'p>(path: &'p [u8], options: &Options) -> Result<Cow<'p, [u8]>, Refusal> {
    if path.starts_with(b"/") && is_plain(path) {
        return Ok(Cow::Borrowed(path));
    }
    normalize(path, options).map(Cow::Owned)
}

/// Returns the canonical form of a path that starts with `/` (RFC 3986, sections 5.2.4 and 6.2.2):
/// unreserved characters decoded, other encoded bytes in upper case, raw characters that a path
/// can't have encoded, slashes and dot segments as the options say. Linear in the length of the
/// path.
pub(crate) fn normalize(path: &[u8], options: &Options) -> Result<Vec<u8>, Refusal> {
    let decoded = decode(path, options.encoded_slashes)?;
    let rest = decoded.strip_prefix(b"/").ok_or(Refusal::TargetForm)?;
    let mut out: Vec<u8> = Vec::with_capacity(decoded.len());
    let mut segments = rest.split(|byte| *byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            b"." | b".." => {
                if options.dot_segments == DotSegments::Refuse {
                    return Err(Refusal::PathDotSegment);
                }
                if segment == b".." {
                    let end = out.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
                    out.truncate(end);
                }
                if last {
                    out.push(b'/');
                }
            }
            b"" if options.slashes == Slashes::Merge && !last => {}
            // Servers with parameters in segments cut them off before they resolve dots.
            [b'.', b';', ..] | [b'.', b'.', b';', ..] => return Err(Refusal::PathDotSegment),
            _ => {
                out.push(b'/');
                out.extend_from_slice(segment);
            }
        }
    }
    Ok(out)
}

/// Decodes unreserved characters, and encodes what a path can't have.
fn decode(path: &[u8], slashes: EncodedSlashes) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'%' => {
                let [high, low, tail @ ..] = rest else { return Err(Refusal::PathPercent) };
                let byte = hex(*high).zip(hex(*low)).map(|(high, low)| (high << 4) | low);
                rest = tail;
                match byte.ok_or(Refusal::PathPercent)? {
                    0..=0x1f | 0x7f => return Err(Refusal::PathEncodedControl),
                    byte @ (b'/' | b'\\') => match slashes {
                        EncodedSlashes::Refuse => return Err(Refusal::PathEncodedSlash),
                        EncodedSlashes::Keep => encode(byte, &mut out),
                        EncodedSlashes::Decode => out.push(b'/'),
                    },
                    byte if is_unreserved(byte) => out.push(byte),
                    byte => encode(byte, &mut out),
                }
            }
            0..=b' ' | 0x7f => return Err(Refusal::PathControl),
            b'\\' => return Err(Refusal::PathBackslash),
            byte if is_plain_byte(byte) => out.push(byte),
            byte => encode(byte, &mut out),
        }
    }
    Ok(out)
}

/// Returns a part of a path with each character spelled as canonical paths spell it. What no path
/// has, such as a space, stays.
///
/// ```
/// assert_eq!(celero_canonical::canonical_spelling(b"%41%3b<"), b"A%3B%3C");
/// ```
#[must_use]
pub fn canonical_spelling(part: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(part.len());
    let mut rest = part;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let encoded = match (byte, tail) {
            (b'%', [high, low, after @ ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| ((high << 4) | low, after)),
            _ => None,
        };
        match encoded {
            Some((byte, after)) => {
                rest = after;
                if is_unreserved(byte) { out.push(byte) } else { encode(byte, &mut out) }
            }
            None if is_plain_byte(byte) || matches!(byte, 0..=b' ' | 0x7f | b'%' | b'?' | b'#' | b'\\') => {
                out.push(byte)
            }
            None => encode(byte, &mut out),
        }
    }
    out
}

/// Appends the percent-encoding of a byte.
pub(crate) fn encode(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |value: u8| DIGITS.get(usize::from(value & 15)).copied().unwrap_or(b'0');
    out.extend([b'%', digit(byte >> 4), digit(byte)]);
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(path: &str) -> Result<String, Refusal> {
        with(path, &Options::default())
    }

    fn with(path: &str, options: &Options) -> Result<String, Refusal> {
        let normal = normalize(path.as_bytes(), options)?;
        let text = String::from_utf8(normal.clone()).map_err(|_| Refusal::PathControl)?;
        if is_plain(path.as_bytes()) {
            assert_eq!(text, path, "a plain path is canonical");
        }
        assert_eq!(canonical_spelling(&normal), normal, "a canonical path has the canonical spelling: {path}");
        assert_eq!(normalize(&normal, options), Ok(normal), "normalising twice changes nothing: {path}");
        Ok(text)
    }

    #[test]
    fn spellings_of_a_path_are_one() {
        for spelling in [
            "/admin/a",
            "//admin/a",
            "/admin//a",
            "/./admin/a",
            "/x/../admin/a",
            "/%61dmin/a",
            "/%61%64min/./a",
            "/../admin/a",
            "/admin/x/%2e%2E/a",
            "/.//admin/a",
            "/x//../admin/a",
            "/admin/%2e/a",
            "///./..//admin///a",
        ] {
            assert_eq!(normal(spelling).as_deref(), Ok("/admin/a"), "{spelling}");
        }
    }

    #[test]
    fn ends_of_paths_stay() {
        for (path, expected) in [
            ("/", "/"),
            ("//", "/"),
            ("/.", "/"),
            ("/..", "/"),
            ("/a/", "/a/"),
            ("/a//", "/a/"),
            ("/a/.", "/a/"),
            ("/a/b/..", "/a/"),
            ("/a/..", "/"),
            ("/a/b/../", "/a/"),
            ("/a/./", "/a/"),
            ("/...", "/..."),
            ("/.a", "/.a"),
            ("/a.", "/a."),
            ("/..a/b", "/..a/b"),
            ("/a%2Fb", ""),
            ("/a;b=1", "/a;b=1"),
            ("/a%3bb", "/a%3Bb"),
            ("/%7euser", "/~user"),
            ("/%25%32%65", "/%252e"),
            ("/\u{e9}", "/%C3%A9"),
            ("/a|b^\"{}`", "/a%7Cb%5E%22%7B%7D%60"),
            ("/a%20b", "/a%20b"),
            ("/ADMIN", "/ADMIN"),
        ] {
            match normal(path) {
                Ok(text) => assert_eq!(text, expected, "{path}"),
                Err(refusal) => assert_eq!((refusal, expected), (Refusal::PathEncodedSlash, ""), "{path}"),
            }
        }
    }

    #[test]
    fn what_has_no_canonical_form_is_refused() {
        for (path, expected) in [
            ("/a\\b", Refusal::PathBackslash),
            ("/a\tb", Refusal::PathControl),
            ("/a b", Refusal::PathControl),
            ("/\u{7f}", Refusal::PathControl),
            ("/a%", Refusal::PathPercent),
            ("/a%4", Refusal::PathPercent),
            ("/a%zz", Refusal::PathPercent),
            ("/%+1", Refusal::PathPercent),
            ("/a%00", Refusal::PathEncodedControl),
            ("/a%0d%0Ab", Refusal::PathEncodedControl),
            ("/%7f", Refusal::PathEncodedControl),
            ("/a%2fb", Refusal::PathEncodedSlash),
            ("/a%5Cb", Refusal::PathEncodedSlash),
            ("/x/..;/admin", Refusal::PathDotSegment),
            ("/x/%2e.;a/admin", Refusal::PathDotSegment),
            ("/.;x", Refusal::PathDotSegment),
            ("a", Refusal::TargetForm),
        ] {
            assert_eq!(normal(path), Err(expected), "{path}");
        }
    }

    #[test]
    fn options_change_one_thing_each() {
        let keep = Options { slashes: Slashes::Keep, ..Options::default() };
        for (path, expected) in
            [("//a//b/", "//a//b/"), ("/a//../b", "/a/b"), ("/a/./b", "/a/b"), ("//", "//"), ("/a//.", "/a//")]
        {
            assert_eq!(with(path, &keep).as_deref(), Ok(expected), "{path}");
        }
        let refuse = Options { dot_segments: DotSegments::Refuse, ..Options::default() };
        assert_eq!(with("/a/%2e./b", &refuse), Err(Refusal::PathDotSegment));
        assert_eq!(with("/.a//b", &refuse).as_deref(), Ok("/.a/b"));
        let decode = Options { encoded_slashes: EncodedSlashes::Decode, ..Options::default() };
        assert_eq!(with("/x%2f..%5cadmin%2F/a", &decode).as_deref(), Ok("/admin/a"));
        let kept = Options { encoded_slashes: EncodedSlashes::Keep, ..Options::default() };
        assert_eq!(with("/x%2f..%5cadmin", &kept).as_deref(), Ok("/x%2F..%5Cadmin"));
    }

    #[test]
    fn a_plain_path_is_its_own_canonical_form() {
        let mut random = fastrand::Rng::with_seed(7);
        let alphabet = b"//..%a2eEfF5cC;\\A-~ \x01\xff";
        for _ in 0..20_000 {
            let path: Vec<u8> = std::iter::once(b'/')
                .chain((0..random.usize(..9)).map(|_| alphabet[random.usize(..alphabet.len())]))
                .collect();
            for slashes in [Slashes::Merge, Slashes::Keep] {
                let options = Options { slashes, encoded_slashes: EncodedSlashes::Decode, ..Options::default() };
                if let Ok(normal) = normalize(&path, &options) {
                    let shown = String::from_utf8_lossy(&path).into_owned();
                    assert!(normal.starts_with(b"/") && normal.is_ascii(), "{shown}");
                    assert!(!is_plain(&path) || normal == path, "{shown}");
                    assert_eq!(normalize(&normal, &options).as_ref(), Ok(&normal), "{shown}");
                    let segments = normal.split(|byte| *byte == b'/');
                    assert!(segments.clone().all(|segment| segment != b"." && segment != b".."), "{shown}");
                    assert!(slashes == Slashes::Keep || !normal.windows(2).any(|pair| pair == b"//"), "{shown}");
                } else {
                    assert!(!is_plain(&path));
                }
            }
        }
    }

    /// The check of blocks is that of single bytes, wherever in a path of whatever length a byte is.
    #[test]
    fn blocks_find_what_bytes_find() {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte);
        for byte in 0..=u8::MAX {
            assert_eq!(is_plain_byte(byte), plain(byte), "{byte:#x}");
        }
        for length in 1..70 {
            let mut path = vec![b'a'; length];
            path[0] = b'/';
            assert!(is_plain(&path), "{length}");
            for at in 1..length {
                for byte in [b'%', b' ', b'?', b'\\', 0x80, 0] {
                    path[at] = byte;
                    assert!(!is_plain(&path), "{length} {at} {byte:#x}");
                }
                path[at] = b'/';
                assert_eq!(is_plain(&path), at != 1, "{length} {at}");
                if let Some(next) = path.get_mut(at + 1) {
                    *next = b'.';
                    assert!(!is_plain(&path), "{length} {at}");
                    path[at + 1] = b'a';
                }
                path[at] = b'.';
                assert_eq!(is_plain(&path), at != 1, "{length} {at}");
                path[at] = b'a';
            }
        }
    }
}
