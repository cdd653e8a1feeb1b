//! The strings library (cel-go's `ext.Strings`). Positions count code points from 0; a position outside the text is
//! `invalid_argument`.

mod format;
mod format_clauses;

pub(crate) use self::format::format;
pub(crate) use self::format_clauses::{Malformed, Piece, pieces};

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::standard::text::length;
use crate::library::text_builder::TextBuilder;
use crate::value::{List, Value};
use celero_ir::ErrorKind::{InvalidArgument, NoSuchOverload};
use memchr::memmem;

/// Returns the text before and after a position.
fn split_at(text: &str, position: i64) -> EvalResult<(&str, &str)> {
    let position = usize::try_from(position).map_err(|_| InvalidArgument)?;
    let end = std::iter::once(text.len());
    let byte = text.char_indices().map(|(at, _)| at).chain(end).nth(position);
    byte.and_then(|byte| text.split_at_checked(byte)).ok_or(InvalidArgument)
}

/// Charges the budget for counting the characters of a text up to where another one occurs in it.
fn charge_search(cx: &Cx<'_>, text: &str, needle: &str) -> EvalResult<()> {
    cx.charge_each_byte(text.len().saturating_add(needle.len().min(text.len())))
}

/// Returns the number of code points.
fn count(text: &str) -> i64 {
    length(text.chars().count())
}

/// `text.charAt(at)`: the character at a position; empty text at the end.
pub(crate) fn char_at<'a>(cx: &Cx<'a>, text: &'a str, at: i64) -> EvalResult<&'a str> {
    cx.charge_each_byte(text.len())?;
    let (_, rest) = split_at(text, at)?;
    let first = rest.chars().next().map_or(0, char::len_utf8);
    rest.get(..first).ok_or(InvalidArgument)
}

/// `text.indexOf(needle, from)`: the first position, not before `from`, where `needle` occurs; -1 if there is none.
pub(crate) fn index_of<'a>(cx: &Cx<'a>, text: &'a str, needle: &'a str, from: i64) -> EvalResult<i64> {
    charge_search(cx, text, needle)?;
    let (_, rest) = split_at(text, from)?;
    if needle.len() > rest.len() {
        return Ok(-1);
    }
    let found = memmem::find(rest.as_bytes(), needle.as_bytes());
    Ok(found.and_then(|at| rest.get(..at)).map_or(-1, |before| from.saturating_add(count(before))))
}

/// `text.lastIndexOf(needle, to)`: the last position, not after `to`, where `needle` occurs; -1 if there is none.
pub(crate) fn last_index_of<'a>(cx: &Cx<'a>, text: &'a str, needle: &'a str, to: Option<i64>) -> EvalResult<i64> {
    charge_search(cx, text, needle)?;
    let mut searched = text.as_bytes();
    if let Some(to) = to {
        let end = split_at(text, to)?.0.len().saturating_add(needle.len());
        searched = searched.get(..end).unwrap_or(searched);
    }
    if needle.len() > searched.len() {
        return Ok(-1);
    }
    let found = memmem::rfind(searched, needle.as_bytes());
    Ok(found.and_then(|at| text.get(..at)).map_or(-1, count))
}

/// `list.join(separator)`: the texts of a list with the separator in between.
pub(crate) fn join<'a>(cx: &Cx<'a>, list: List<'a>, separator: &str) -> EvalResult<&'a str> {
    let mut joined = TextBuilder::new(cx);
    for index in 0..list.len() {
        cx.charge(1)?;
        if index > 0 {
            joined.push(separator)?;
        }
        match list.get(index, cx.arena())? {
            Some(Value::String(text)) => joined.push(text)?,
            _ => return Err(NoSuchOverload),
        }
    }
    joined.finish()
}

/// Returns the text with `f` applied to each byte. `f` must not change bytes beyond ASCII.
pub(crate) fn map_bytes<'a>(cx: &Cx<'a>, text: &'a str, f: impl Fn(&u8) -> u8) -> EvalResult<&'a str> {
    cx.charge_each_byte(text.len())?;
    if text.bytes().all(|b| f(&b) == b) {
        return Ok(text);
    }
    let mut mapped = cx.arena().vec();
    mapped.extend(text.as_bytes())?;
    for byte in mapped.as_mut_slice() {
        *byte = f(byte);
    }
    std::str::from_utf8(mapped.finish()).map_err(|_| InvalidArgument)
}

/// Returns a limit of the language as a count: a negative limit means no limit.
fn at_most(limit: i64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// `text.replace(from, to, most)`: the text with the first `most` occurrences of `from` replaced;
/// all if `most` is negative. Empty text occurs before each character and at the end.
pub(crate) fn replace<'a>(cx: &Cx<'a>, text: &'a str, from: &str, to: &str, most: i64) -> EvalResult<&'a str> {
    cx.charge_bytes(text.len())?;
    if from.len() > text.len() {
        return Ok(text);
    }
    cx.charge((from.len() / 8).saturating_add(1))?;
    let mut replaced = TextBuilder::new(cx);
    let mut rest = 0;
    for (at, found) in text.match_indices(from).take(at_most(most)) {
        cx.charge(1)?;
        replaced.push(text.get(rest..at).unwrap_or_default())?;
        replaced.push(to)?;
        rest = at.saturating_add(found.len());
    }
    replaced.push(text.get(rest..).unwrap_or_default())?;
    replaced.finish()
}

/// `text.split(separator, most)`: the parts between the separators. There are at most `most` parts,
/// unless that is negative; the last part holds the remaining text. An empty separator separates
/// all characters.
pub(crate) fn split<'a>(cx: &Cx<'a>, text: &'a str, separator: &str, most: i64) -> EvalResult<List<'a>> {
    let mut parts = cx.arena().vec();
    for_each_part(cx, text, separator, most, |part| parts.push(Value::String(part)))?;
    Ok(List::Slice(parts.finish()))
}

/// `text.split(separator).size()`
pub(crate) fn split_count(cx: &Cx<'_>, text: &str, separator: &str) -> EvalResult<i64> {
    let mut count: i64 = 0;
    for_each_part(cx, text, separator, -1, |_| {
        count = count.saturating_add(1);
        Ok(())
    })?;
    Ok(count)
}

/// `text.split(separator)[index]`
pub(crate) fn split_part<'a>(cx: &Cx<'a>, text: &'a str, separator: &str, index: i64) -> EvalResult<&'a str> {
    let (mut part, mut at) = (None, 0_i64);
    for_each_part(cx, text, separator, -1, |found| {
        if at == index {
            part = Some(found);
        }
        at = at.saturating_add(1);
        Ok(())
    })?;
    part.ok_or(InvalidArgument)
}

/// Calls a function with each part of a text that is split.
#[inline]
fn for_each_part<'a>(
    cx: &Cx<'a>,
    text: &'a str,
    separator: &str,
    most: i64,
    mut each: impl FnMut(&'a str) -> EvalResult<()>,
) -> EvalResult<()> {
    // A separator that is longer than the text is only looked at if it fits.
    cx.charge_bytes(text.len())?;
    cx.charge_each_byte(separator.len().min(text.len()))?;
    let most = at_most(most);
    let mut rest = if most == 0 { None } else { Some(text) };
    if separator.is_empty() {
        rest = rest.filter(|text| !text.is_empty());
    }
    let mut found: usize = 0;
    while let Some(text) = rest {
        cx.charge(1)?;
        found = found.saturating_add(1);
        let cut = if separator.is_empty() {
            let first = text.chars().next().map_or(0, char::len_utf8);
            text.split_at_checked(first).filter(|(_, after)| !after.is_empty())
        } else if separator.len() > text.len() {
            None
        } else {
            text.split_once(separator)
        };
        let (part, after) = match cut.filter(|_| found < most) {
            Some((part, after)) => (part, Some(after)),
            None => (text, None),
        };
        each(part)?;
        rest = after;
    }
    Ok(())
}

/// `text.substring(start, end)`: the text between two positions, up to the end without `end`.
pub(crate) fn substring<'a>(cx: &Cx<'a>, text: &'a str, start: i64, end: Option<i64>) -> EvalResult<&'a str> {
    cx.charge_each_byte(text.len())?;
    let before_end = match end {
        Some(end) => split_at(text, end)?.0,
        None => text,
    };
    Ok(split_at(before_end, start)?.1)
}

/// `text.reverse()`: the characters in reverse order.
pub(crate) fn reverse<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<&'a str> {
    cx.charge_each_byte(text.len())?;
    let mut reversed = TextBuilder::new(cx);
    reversed.reserve(text.len())?;
    text.chars().rev().try_for_each(|c| reversed.push_char(c))?;
    reversed.finish()
}

/// `strings.quote(text)`: the text in quotes, with quotes, backslashes and control characters that
/// have a short escape escaped.
pub(crate) fn quote<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<&'a str> {
    cx.charge_each_byte(text.len())?;
    let mut quoted = TextBuilder::new(cx);
    quoted.reserve(text.len())?;
    quoted.push("\"")?;
    for c in text.chars() {
        match c {
            '\x07' => quoted.push("\\a"),
            '\x08' => quoted.push("\\b"),
            '\x0c' => quoted.push("\\f"),
            '\n' => quoted.push("\\n"),
            '\r' => quoted.push("\\r"),
            '\t' => quoted.push("\\t"),
            '\x0b' => quoted.push("\\v"),
            '\\' => quoted.push("\\\\"),
            '"' => quoted.push("\\\""),
            c => quoted.push_char(c),
        }?;
    }
    quoted.push("\"")?;
    quoted.finish()
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
    fn positions_count_characters() {
        with(|cx| {
            let at = |i| char_at(cx, "©αT", i);
            assert_eq!([at(0), at(1), at(2), at(3)], [Ok("©"), Ok("α"), Ok("T"), Ok("")]);
            assert_eq!([at(-1), at(4), at(i64::MAX)], [Err(InvalidArgument); 3]);
            let first = |needle, from| index_of(cx, "ta©o©αT", needle, from);
            assert_eq!([first("©", 0), first("©", 3), first("©", 5), first("", 7)], [Ok(2), Ok(4), Ok(-1), Ok(7)]);
            assert_eq!([first("", 8), first("a", -1)], [Err(InvalidArgument); 2]);
            let last = |needle, to| last_index_of(cx, "ta©o©αT", needle, to);
            assert_eq!([last("©", None), last("©", Some(4)), last("©", Some(3))], [Ok(4), Ok(4), Ok(2)]);
            assert_eq!([last("", None), last("", Some(3)), last("x", None)], [Ok(7), Ok(3), Ok(-1)]);
            assert_eq!(last("©", Some(8)), Err(InvalidArgument));
            let part = |start, end| substring(cx, "ta©o©αT", start, end);
            assert_eq!([part(2, Some(6)), part(5, None), part(7, None)], [Ok("©o©α"), Ok("αT"), Ok("")]);
            assert_eq!([part(8, None), part(3, Some(2)), part(0, Some(8))], [Err(InvalidArgument); 3]);
            assert_eq!(reverse(cx, "Ta©oCαt"), Ok("tαCo©aT"));
        });
    }

    #[test]
    fn replaces_and_splits() {
        with(|cx| {
            let swap = |from, to, most| replace(cx, "hello hello", from, to, most);
            assert_eq!([swap("he", "we", -1), swap("he", "we", 1)], [Ok("wello wello"), Ok("wello hello")]);
            assert_eq!([swap("he", "we", 0), swap("x", "y", -1)], [Ok("hello hello"); 2]);
            assert_eq!(replace(cx, "aé", "", "-", -1), Ok("-a-é-"));
            assert_eq!(replace(cx, "aé", "", "-", 2), Ok("-a-é"));
            let parts = |text: &'static str, by, most| match split(cx, text, by, most) {
                Ok(List::Slice(parts)) => parts.iter().map(|p| format!("{p:?}")).collect::<Vec<_>>().join(" "),
                other => format!("{other:?}"),
            };
            assert_eq!(parts("a b c", " ", -1), r#"String("a") String("b") String("c")"#);
            assert_eq!(parts("a b c", " ", 2), r#"String("a") String("b c")"#);
            assert_eq!(parts("a b c", " ", 1), r#"String("a b c")"#);
            assert_eq!(parts("a b c", " ", 0), "");
            assert_eq!(parts("", ",", -1), r#"String("")"#);
            assert_eq!(parts("aé", "", -1), r#"String("a") String("é")"#);
            assert_eq!(parts("aéb", "", 2), r#"String("a") String("éb")"#);
            assert_eq!(parts("", "", -1), "");
            assert_eq!(parts(",", ",", -1), r#"String("") String("")"#);
        });
    }

    #[test]
    fn quotes() {
        with(|cx| {
            assert_eq!(quote(cx, "a\x07\x08\x0c\n\r\t\x0b\\\"é\x01"), Ok("\"a\\a\\b\\f\\n\\r\\t\\v\\\\\\\"é\x01\""));
        });
    }

    #[test]
    fn growth_is_charged() {
        let arena = Arena::new(1 << 30);
        let cx = Cx::new(1_000, &arena);
        let text = "x".repeat(2_000);
        assert_eq!(replace(&cx, &text, "x", &text, -1), Err(celero_ir::ErrorKind::OutOfBudget));
    }
}
