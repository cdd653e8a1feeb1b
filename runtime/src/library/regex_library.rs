//! The regex library (cel-go's `ext.Regex`). A pattern that is wrong, or has more groups than the function takes, is
//! `invalid_argument`.

use crate::arena::Built;
use crate::library::Cx;
use crate::library::optionals;
use crate::library::regex::with_regex;
use crate::library::text::Builder;
use crate::value::{List, Value};
use ::regex::{Captures, Regex};
use celero_ir::ErrorKind::InvalidArgument;

/// What a match stands for: its group, or all of it where the pattern has none. A group that is empty stands for nothing.
fn extracted<'a>(captures: &Captures<'a>) -> Option<&'a str> {
    match captures.get(1) {
        Some(group) => Some(group.as_str()).filter(|text| !text.is_empty()),
        None if captures.len() > 1 => None,
        None => captures.get(0).map(|all| all.as_str()),
    }
}

fn one_group_at_most(regex: &Regex) -> Built<()> {
    if regex.captures_len() > 2 { Err(InvalidArgument) } else { Ok(()) }
}

/// The matches one after the other. Finding one may take a scan of all the text that is left, so each is charged so much.
fn matches<'a>(
    cx: &Cx<'a>,
    regex: &Regex,
    text: &'a str,
    mut f: impl FnMut(&Captures<'a>) -> Built<bool>,
) -> Built<()> {
    for captures in regex.captures_iter(text) {
        let start = captures.get(0).map_or(0, |all| all.start());
        cx.charge(1)?;
        cx.charge_bytes(text.len().saturating_sub(start))?;
        if !f(&captures)? {
            break;
        }
    }
    Ok(())
}

/// The first match.
pub(super) fn extract<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str) -> Built<Option<&'a Value<'a>>> {
    let found = with_regex(cx, text, pattern, |regex| {
        one_group_at_most(regex)?;
        Ok(regex.captures(text).and_then(|captures| extracted(&captures)))
    })??;
    found.map_or(Ok(None), |text| optionals::of(cx, Value::String(text)))
}

/// All matches.
pub(super) fn extract_all<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str) -> Built<List<'a>> {
    with_regex(cx, text, pattern, |regex| {
        one_group_at_most(regex)?;
        let mut found = cx.arena().vec();
        matches(cx, regex, text, |captures| {
            if let Some(text) = extracted(captures) {
                found.push(Value::String(text))?;
            }
            Ok(true)
        })?;
        Ok(List::Slice(found.finish()))
    })?
}

/// A part of the text that replaces a match.
enum Part<'t> {
    Text(&'t str),
    Group(usize),
}

/// The parts of a replacement: `\0` to `\9` are groups, which the pattern must have, and `\\` is a backslash.
fn parts<'t>(template: &'t str, regex: &Regex) -> Built<Vec<Part<'t>>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        parts.push(Part::Text(plain));
        let mut after = escaped.chars();
        match after.next() {
            Some('\\') => parts.push(Part::Text("\\")),
            Some(digit) => {
                let group = digit.to_digit(10).and_then(|n| usize::try_from(n).ok());
                parts.push(Part::Group(group.filter(|n| *n < regex.captures_len()).ok_or(InvalidArgument)?));
            }
            None => return Err(InvalidArgument),
        }
        rest = after.as_str();
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

/// The text with the first `most` matches replaced, all if that is negative.
pub(super) fn replace<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str, template: &str, most: i64) -> Built<&'a str> {
    cx.charge_bytes(template.len())?;
    with_regex(cx, text, pattern, |regex| {
        let parts = parts(template, regex)?;
        let mut left = usize::try_from(most).unwrap_or(usize::MAX);
        let mut replaced = Builder::new(cx);
        let mut rest = 0;
        matches(cx, regex, text, |captures| {
            let (Some(all), Some(fewer)) = (captures.get(0), left.checked_sub(1)) else { return Ok(false) };
            left = fewer;
            replaced.push(text.get(rest..all.start()).unwrap_or_default())?;
            cx.charge(parts.len())?;
            for part in &parts {
                match part {
                    Part::Text(text) => replaced.push(text)?,
                    Part::Group(group) => replaced.push(captures.get(*group).map_or("", |group| group.as_str()))?,
                }
            }
            rest = all.end();
            Ok(true)
        })?;
        replaced.push(text.get(rest..).unwrap_or_default())?;
        replaced.finish()
    })?
}
