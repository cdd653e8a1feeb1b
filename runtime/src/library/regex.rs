//! The regex library (cel-go's `ext.Regex`). A pattern that is malformed, or has more groups than
//! the function accepts, is `invalid_argument`.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::optionals;
use crate::library::standard::matches::with_regex;
use crate::library::text_builder::TextBuilder;
use crate::value::{List, Value};
use celero_ir::ErrorKind::InvalidArgument;
use celero_matching::pattern::MeteredRegex;
use std::ops::Range;

/// Steps charged for finding a match, besides those of the search.
const STEPS_PER_MATCH: usize = 10;

/// Returns the text extracted from a match: that of the only group, or of the whole match if the
/// pattern has no group. `None` for an empty group.
fn extracted<'a>(cx: &Cx<'a>, regex: &MeteredRegex, text: &'a str, found: Range<usize>) -> EvalResult<Option<&'a str>> {
    if regex.group_count() == 1 {
        return Ok(text.get(found));
    }
    let group = regex.groups(text, found, cx)?.and_then(|groups| groups.get(1));
    Ok(group.and_then(|group| text.get(group)).filter(|text| !text.is_empty()))
}

fn one_group_at_most(regex: &MeteredRegex) -> EvalResult<()> {
    if regex.group_count() > 2 { Err(InvalidArgument) } else { Ok(()) }
}

/// Calls `f` with the places of the first `most` matches.
fn matches<'a>(
    cx: &Cx<'a>,
    regex: &MeteredRegex,
    text: &'a str,
    most: usize,
    mut f: impl FnMut(Range<usize>) -> EvalResult<()>,
) -> EvalResult<()> {
    let mut at = 0;
    let mut last_end = None;
    for _ in 0..most {
        cx.charge(STEPS_PER_MATCH)?;
        let mut found = regex.find_at(text, at, cx)?;
        // An empty match right after the last match does not count: the next one begins a character later.
        if let Some(again) = &found
            && again.is_empty()
            && Some(again.end) == last_end
        {
            let Some(next) = text.get(again.end..).and_then(|rest| rest.chars().next()) else { return Ok(()) };
            found = regex.find_at(text, again.end.saturating_add(next.len_utf8()), cx)?;
        }
        let Some(found) = found else { return Ok(()) };
        at = found.end;
        last_end = Some(at);
        f(found)?;
    }
    Ok(())
}

/// `regex.extract(text, pattern)`: the first match.
pub(super) fn extract<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str) -> EvalResult<Option<&'a Value<'a>>> {
    let found = with_regex(cx, pattern, |regex| {
        one_group_at_most(regex)?;
        let found = regex.find_at(text, 0, cx)?;
        found.map_or(Ok(None), |found| extracted(cx, regex, text, found))
    })??;
    found.map_or(Ok(None), |text| optionals::of(cx, Value::String(text)))
}

/// `regex.extractAll(text, pattern)`: all matches.
pub(super) fn extract_all<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str) -> EvalResult<List<'a>> {
    with_regex(cx, pattern, |regex| {
        one_group_at_most(regex)?;
        let mut found = cx.arena().vec();
        matches(cx, regex, text, usize::MAX, |place| match extracted(cx, regex, text, place)? {
            Some(text) => found.push(Value::String(text)),
            None => Ok(()),
        })?;
        Ok(List::Slice(found.finish()))
    })?
}

/// A part of a replacement template.
#[derive(Debug, PartialEq)]
pub(super) enum TemplatePart<'t> {
    Text(&'t str),
    /// The text of the group with this number.
    Group(usize),
    /// The text of the group with this name.
    Named(&'t str),
}

/// Parses a template: `\0` to `\9` are groups, which the pattern must have, and `\\` is a backslash.
fn numbered<'t>(template: &'t str, regex: &MeteredRegex) -> EvalResult<Vec<TemplatePart<'t>>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        parts.push(TemplatePart::Text(plain));
        let mut after = escaped.chars();
        match after.next() {
            Some('\\') => parts.push(TemplatePart::Text("\\")),
            Some(digit) => {
                let group = digit.to_digit(10).and_then(|n| usize::try_from(n).ok());
                parts.push(TemplatePart::Group(group.filter(|n| *n < regex.group_count()).ok_or(InvalidArgument)?));
            }
            None => return Err(InvalidArgument),
        }
        rest = after.as_str();
    }
    parts.push(TemplatePart::Text(rest));
    Ok(parts)
}

/// Returns the text with the first `most` matches replaced by the parts of a template.
pub(super) fn replace_matches<'a, 't>(
    cx: &Cx<'a>,
    text: &'a str,
    pattern: &str,
    most: usize,
    parts: impl FnOnce(&MeteredRegex) -> EvalResult<Vec<TemplatePart<'t>>>,
) -> EvalResult<&'a str> {
    with_regex(cx, pattern, |regex| {
        let parts = parts(regex)?;
        let uses_groups = parts.iter().any(|part| !matches!(part, TemplatePart::Text(_)));
        let mut replaced = TextBuilder::new(cx);
        let mut rest = 0;
        matches(cx, regex, text, most, |found| {
            replaced.push(text.get(rest..found.start).unwrap_or_default())?;
            rest = found.end;
            cx.charge(parts.len())?;
            let groups = if uses_groups { regex.groups(text, found, cx)? } else { None };
            let of = |group: Option<Range<usize>>| group.and_then(|group| text.get(group)).unwrap_or_default();
            for part in &parts {
                match part {
                    TemplatePart::Text(text) => replaced.push(text)?,
                    TemplatePart::Group(group) => {
                        replaced.push(of(groups.as_ref().and_then(|groups| groups.get(*group))))?;
                    }
                    TemplatePart::Named(name) => {
                        replaced.push(of(groups.as_ref().and_then(|groups| groups.named(name))))?;
                    }
                }
            }
            Ok(())
        })?;
        replaced.push(text.get(rest..).unwrap_or_default())?;
        replaced.finish()
    })?
}

/// `regex.replace(text, pattern, template, most)`: the text with the first `most` matches replaced,
/// all if `most` is negative.
pub(super) fn replace<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str, template: &str, most: i64) -> EvalResult<&'a str> {
    cx.charge_bytes(template.len())?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    replace_matches(cx, text, pattern, most, |regex| numbered(template, regex))
}
