//! The regex library (cel-go's `ext.Regex`). A pattern that is malformed, or has more groups than the function accepts, is
//! `invalid_argument`.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::optionals;
use crate::library::standard::matches::with_regex;
use crate::library::text_builder::TextBuilder;
use crate::value::{List, Value};
use ::regex::{Captures, Regex};
use celero_ir::ErrorKind::InvalidArgument;

/// Returns the text extracted from a match: that of the only group, or of the whole match if the pattern has no group. `None`
/// for an empty group.
fn extracted<'a>(captures: &Captures<'a>) -> Option<&'a str> {
    match captures.get(1) {
        Some(group) => Some(group.as_str()).filter(|text| !text.is_empty()),
        None if captures.len() > 1 => None,
        None => captures.get(0).map(|all| all.as_str()),
    }
}

fn one_group_at_most(regex: &Regex) -> EvalResult<()> {
    if regex.captures_len() > 2 { Err(InvalidArgument) } else { Ok(()) }
}

/// Calls `f` with the first `most` matches. Each is charged a scan of all the remaining text, because finding it may take one.
fn matches<'a>(
    cx: &Cx<'a>,
    regex: &Regex,
    text: &'a str,
    most: usize,
    mut f: impl FnMut(&Captures<'a>) -> EvalResult<()>,
) -> EvalResult<()> {
    for captures in regex.captures_iter(text).take(most) {
        let start = captures.get(0).map_or(0, |all| all.start());
        cx.charge(1)?;
        cx.charge_bytes(text.len().saturating_sub(start))?;
        f(&captures)?;
    }
    Ok(())
}

/// `regex.extract(text, pattern)`: the first match.
pub(super) fn extract<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str) -> EvalResult<Option<&'a Value<'a>>> {
    let found = with_regex(cx, text, pattern, |regex| {
        one_group_at_most(regex)?;
        Ok(regex.captures(text).and_then(|captures| extracted(&captures)))
    })??;
    found.map_or(Ok(None), |text| optionals::of(cx, Value::String(text)))
}

/// `regex.extractAll(text, pattern)`: all matches.
pub(super) fn extract_all<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str) -> EvalResult<List<'a>> {
    with_regex(cx, text, pattern, |regex| {
        one_group_at_most(regex)?;
        let mut found = cx.arena().vec();
        matches(cx, regex, text, usize::MAX, |captures| match extracted(captures) {
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
fn numbered<'t>(template: &'t str, regex: &Regex) -> EvalResult<Vec<TemplatePart<'t>>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        parts.push(TemplatePart::Text(plain));
        let mut after = escaped.chars();
        match after.next() {
            Some('\\') => parts.push(TemplatePart::Text("\\")),
            Some(digit) => {
                let group = digit.to_digit(10).and_then(|n| usize::try_from(n).ok());
                parts.push(TemplatePart::Group(group.filter(|n| *n < regex.captures_len()).ok_or(InvalidArgument)?));
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
    parts: impl FnOnce(&Regex) -> EvalResult<Vec<TemplatePart<'t>>>,
) -> EvalResult<&'a str> {
    with_regex(cx, text, pattern, |regex| {
        let parts = parts(regex)?;
        let mut replaced = TextBuilder::new(cx);
        let mut rest = 0;
        matches(cx, regex, text, most, |captures| {
            let Some(all) = captures.get(0) else { return Ok(()) };
            replaced.push(text.get(rest..all.start()).unwrap_or_default())?;
            cx.charge(parts.len())?;
            for part in &parts {
                match part {
                    TemplatePart::Text(text) => replaced.push(text)?,
                    TemplatePart::Group(group) => {
                        replaced.push(captures.get(*group).map_or("", |group| group.as_str()))?
                    }
                    TemplatePart::Named(name) => {
                        replaced.push(captures.name(name).map_or("", |group| group.as_str()))?
                    }
                }
            }
            rest = all.end();
            Ok(())
        })?;
        replaced.push(text.get(rest..).unwrap_or_default())?;
        replaced.finish()
    })?
}

/// `regex.replace(text, pattern, template, most)`: the text with the first `most` matches replaced, all if `most` is negative.
pub(super) fn replace<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str, template: &str, most: i64) -> EvalResult<&'a str> {
    cx.charge_bytes(template.len())?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    replace_matches(cx, text, pattern, most, |regex| numbered(template, regex))
}
