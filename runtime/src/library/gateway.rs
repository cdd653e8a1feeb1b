//! The gateway library: failing on purpose, merging maps, prefixes and suffixes, `regexReplace`, digests, random
//! values.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::encoders::hex_encode;
use crate::library::regex::{TemplatePart, replace_matches};
use crate::value::order::key_order;
use crate::value::{Map, Value};
use celero_ir::ErrorKind;
use sha2::Digest;
use std::cmp::Ordering;

/// Cost of a digest per byte, relative to a scan.
const DIGEST_COST: usize = 8;

/// Steps charged for a digest besides those for its bytes.
const DIGEST_STEPS: usize = 4;

/// Steps charged for a call of the operating system.
const SYSTEM_STEPS: usize = 10;

/// `fail(text)`: fails with `failed`.
pub(super) fn fail<'a>(_: &str) -> EvalResult<Value<'a>> {
    Err(ErrorKind::Failed)
}

/// `a.merge(b)`: the entries of both maps. For keys in both maps, the entry of `b`.
pub(super) fn merge<'a>(cx: &Cx<'a>, a: Map<'a>, b: Map<'a>) -> EvalResult<Map<'a>> {
    if a.is_empty() || b.is_empty() {
        return Ok(if b.is_empty() { a } else { b });
    }
    let (mut a, mut b) = (a.sorted(cx)?, b.sorted(cx)?);
    let mut merged = cx.arena().vec();
    merged.reserve(a.len().saturating_add(b.len()))?;
    while let (Some((first, rest)), Some((other, others))) = (a.split_first(), b.split_first()) {
        cx.charge(1)?;
        if let Value::String(text) = first.0 {
            cx.charge_bytes(text.len())?;
        }
        let order = key_order(&first.0, &other.0);
        merged.push(if order.is_lt() { *first } else { *other })?;
        a = if order == Ordering::Greater { a } else { rest };
        b = if order == Ordering::Less { b } else { others };
    }
    cx.charge(a.len().saturating_add(b.len()))?;
    merged.extend(a)?;
    merged.extend(b)?;
    Ok(Map::Sorted(merged.finish()))
}

/// `text.stripPrefix(prefix)`: the text without `prefix` at its start.
pub(super) fn strip_prefix<'a>(cx: &Cx<'a>, text: &'a str, prefix: &str) -> EvalResult<&'a str> {
    cx.charge_bytes(prefix.len())?;
    Ok(text.strip_prefix(prefix).unwrap_or(text))
}

/// `text.stripSuffix(suffix)`: the text without `suffix` at its end.
pub(super) fn strip_suffix<'a>(cx: &Cx<'a>, text: &'a str, suffix: &str) -> EvalResult<&'a str> {
    cx.charge_bytes(suffix.len())?;
    Ok(text.strip_suffix(suffix).unwrap_or(text))
}

/// `text.regexReplace(pattern, template)`: the text with the first match replaced.
pub(super) fn regex_replace<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str, template: &str) -> EvalResult<&'a str> {
    cx.charge_bytes(template.len().saturating_mul(2))?;
    replace_matches(cx, text, pattern, 1, |_| Ok(dollars(template)))
}

/// Parses a template: `$1`, `$name` and `${name}` are groups, empty if the pattern does not have
/// them; `$$` is a dollar sign. A name without braces is as long as possible. Any other dollar sign
/// is itself.
fn dollars(template: &str) -> Vec<TemplatePart<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    // A shorter remaining text has no closing brace; without this bound, each dollar sign would search for one.
    let shortest = template.rfind('}').map_or(usize::MAX, |last| template.len().saturating_sub(last));
    while let Some((plain, after)) = rest.split_once('$') {
        parts.push(TemplatePart::Text(plain));
        let braced = after.strip_prefix('{').filter(|inner| inner.len() >= shortest);
        let name_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let bare = after.find(name_end).unwrap_or(after.len());
        let (name, left) = match (braced.and_then(|inner| inner.split_once('}')), after.split_at_checked(bare)) {
            (Some((name, left)), _) => (name, left),
            (None, Some((name, left))) if !name.is_empty() => (name, left),
            _ => {
                parts.push(TemplatePart::Text("$"));
                rest = after.strip_prefix('$').unwrap_or(after);
                continue;
            }
        };
        parts.push(name.parse().map_or(TemplatePart::Named(name), TemplatePart::Group));
        rest = left;
    }
    parts.push(TemplatePart::Text(rest));
    parts
}

/// Returns a digest in lower-case hexadecimal.
pub(super) fn digest<'a, D: Digest>(cx: &Cx<'a>, bytes: &[u8]) -> EvalResult<&'a str> {
    cx.charge_bytes(bytes.len().saturating_mul(DIGEST_COST))?;
    cx.charge(DIGEST_STEPS)?;
    hex_encode(cx, &D::digest(bytes), false)
}

/// `uuid()`: a UUID of version 4 (RFC 9562, 5.4). The operating system generates its bits, so that
/// they cannot be predicted from other UUIDs and do not repeat in a forked process.
pub(super) fn uuid<'a>(cx: &Cx<'a>) -> EvalResult<&'a str> {
    cx.charge(SYSTEM_STEPS)?;
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| ErrorKind::Host)?;
    uuid_of(cx, u128::from_be_bytes(bytes))
}

fn uuid_of<'a>(cx: &Cx<'a>, random: u128) -> EvalResult<&'a str> {
    const VERSION: (u128, u128) = (0xf << 76, 0x4 << 76);
    const VARIANT: (u128, u128) = (0b11 << 62, 0b10 << 62);
    let bits = (random & !VERSION.0 & !VARIANT.0) | VERSION.1 | VARIANT.1;
    let part = |shift: u32, mask: u128| bits.wrapping_shr(shift) & mask;
    let (a, b, c) = (part(96, 0xffff_ffff), part(80, 0xffff), part(64, 0xffff));
    let (d, e) = (part(48, 0xffff), part(0, 0xffff_ffff_ffff));
    cx.arena().format(format_args!("{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}"))
}

/// `random()`: a number from 0 to below 1, from a generator of the thread. Not for cryptography.
pub(super) fn random() -> f64 {
    fastrand::f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    fn with(test: impl for<'a> FnOnce(&Cx<'a>)) {
        let arena = Arena::new(1 << 20);
        test(&Cx::new(1_000_000, &arena));
    }

    #[test]
    fn digests_are_those_of_the_standards() {
        with(|cx| {
            for (text, md5, sha1, sha256) in [
                (
                    "",
                    "d41d8cd98f00b204e9800998ecf8427e",
                    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
                    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                ),
                (
                    "abc",
                    "900150983cd24fb0d6963f7d28e17f72",
                    "a9993e364706816aba3e25717850c26c9cd0d89d",
                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                ),
            ] {
                assert_eq!(digest::<md5::Md5>(cx, text.as_bytes()), Ok(md5));
                assert_eq!(digest::<sha1::Sha1>(cx, text.as_bytes()), Ok(sha1));
                assert_eq!(digest::<sha2::Sha256>(cx, text.as_bytes()), Ok(sha256));
            }
        });
    }

    #[test]
    fn uuids_have_their_form() {
        with(|cx| {
            assert_eq!(uuid_of(cx, 0), Ok("00000000-0000-4000-8000-000000000000"));
            assert_eq!(uuid_of(cx, u128::MAX), Ok("ffffffff-ffff-4fff-bfff-ffffffffffff"));
            let n = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef;
            assert_eq!(uuid_of(cx, n), Ok("01234567-89ab-4def-8123-456789abcdef"));
            assert_ne!(uuid(cx).unwrap(), uuid(cx).unwrap());
        });
    }

    #[test]
    fn random_numbers_fill_their_range() {
        let numbers: Vec<f64> = (0..10_000).map(|_| random()).collect();
        assert!(numbers.iter().all(|n| (0.0..1.0).contains(n)));
        for tenth in 0..10 {
            let inside = |n: &&f64| (0.1 * f64::from(tenth)..0.1 * f64::from(tenth + 1)).contains(*n);
            let count = numbers.iter().filter(inside).count();
            assert!((700..1300).contains(&count), "{count} in tenth {tenth}");
        }
    }

    /// `regexReplace` means what `Regex::replace` does.
    #[test]
    fn dollars_are_those_of_the_regex_crate() {
        let arena = Arena::new(1 << 20);
        let cx = Cx::new(1_000_000, &arena);
        let (text, pattern) = ("x=12, y=3", "(?<name>[a-z])=([0-9])(9)?");
        let regex = ::regex::Regex::new(pattern).unwrap();
        for template in [
            "",
            "-",
            "$1",
            "${1}",
            "$1a",
            "${1}a",
            "$2$1",
            "$0!",
            "$3",
            "$4",
            "$99",
            "$name",
            "${name}",
            "$name_",
            "$none",
            "${none}",
            "$",
            "$$",
            "$$1",
            "$$$1",
            "a$",
            "$ 1",
            "$-",
            "${",
            "${1",
            "${}",
            "$}",
            "${${1}",
            "${1}${",
            "$é",
            "${é}",
            "${1}$2${name",
            "${ 1}",
            "$99999999999999999999999",
            "}$1{",
            "${1}}${name}",
        ] {
            let got = regex_replace(&cx, text, pattern, template);
            assert_eq!(got, Ok(&*regex.replace(text, template)), "{template}");
        }
    }

    #[test]
    fn hostile_templates_take_linear_time() {
        let arena = Arena::new(1 << 28);
        for template in ["${".repeat(1 << 19), "}".to_owned() + &"${".repeat(1 << 19), "${a}".repeat(1 << 18)] {
            let cx = Cx::new(10_000_000, &arena);
            let start = std::time::Instant::now();
            regex_replace(&cx, "a", "a", &template).unwrap();
            assert!(start.elapsed().as_secs() < 10);
        }
        let cx = Cx::new(100_000, &arena);
        let text = "a".repeat(1 << 20);
        assert_eq!(regex_replace(&cx, &text, ".*", &"$0".repeat(1 << 19)), Err(celero_ir::ErrorKind::OutOfBudget));
    }
}
