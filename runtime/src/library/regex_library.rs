//! The regex library (cel-go's `ext.Regex`), and `regexReplace` of the gateway library. A pattern that is malformed, or has more
//! groups than the function accepts, is `invalid_argument`.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::optionals;
use crate::library::regex::with_regex;
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
enum Part<'t> {
    Text(&'t str),
    Group(usize),
    Named(&'t str),
}

/// Parses a template: `\0` to `\9` are groups, which the pattern must have, and `\\` is a backslash.
fn numbered<'t>(template: &'t str, regex: &Regex) -> EvalResult<Vec<Part<'t>>> {
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

/// Parses a template: `$1`, `$name` and `${name}` are groups, empty if the pattern does not have them; `$$` is a dollar sign. A
/// name without braces is as long as possible. Any other dollar sign is itself.
fn dollars(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    // A shorter remaining text has no closing brace; without this bound, each dollar sign would search for one.
    let shortest = template.rfind('}').map_or(usize::MAX, |last| template.len().saturating_sub(last));
    while let Some((plain, after)) = rest.split_once('$') {
        parts.push(Part::Text(plain));
        let braced = after.strip_prefix('{').filter(|inner| inner.len() >= shortest);
        let name_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let bare = after.find(name_end).unwrap_or(after.len());
        let (name, left) = match (braced.and_then(|inner| inner.split_once('}')), after.split_at_checked(bare)) {
            (Some((name, left)), _) => (name, left),
            (None, Some((name, left))) if !name.is_empty() => (name, left),
            _ => {
                parts.push(Part::Text("$"));
                rest = after.strip_prefix('$').unwrap_or(after);
                continue;
            }
        };
        parts.push(name.parse().map_or(Part::Named(name), Part::Group));
        rest = left;
    }
    parts.push(Part::Text(rest));
    parts
}

/// Returns the text with the first `most` matches replaced by the parts of a template.
fn replaced<'a, 't>(
    cx: &Cx<'a>,
    text: &'a str,
    pattern: &str,
    most: usize,
    parts: impl FnOnce(&Regex) -> EvalResult<Vec<Part<'t>>>,
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
                    Part::Text(text) => replaced.push(text)?,
                    Part::Group(group) => replaced.push(captures.get(*group).map_or("", |group| group.as_str()))?,
                    Part::Named(name) => replaced.push(captures.name(name).map_or("", |group| group.as_str()))?,
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
    replaced(cx, text, pattern, most, |regex| numbered(template, regex))
}

/// `text.regexReplace(pattern, template)`: the text with the first match replaced.
pub(super) fn replace_once<'a>(cx: &Cx<'a>, text: &'a str, pattern: &str, template: &str) -> EvalResult<&'a str> {
    cx.charge_bytes(template.len().saturating_mul(2))?;
    replaced(cx, text, pattern, 1, |_| Ok(dollars(template)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    /// `regexReplace` means what `Regex::replace` does.
    #[test]
    fn dollars_are_those_of_the_regex_crate() {
        let arena = Arena::new(1 << 20);
        let cx = Cx::new(1_000_000, &arena);
        let (text, pattern) = ("x=12, y=3", "(?<name>[a-z])=([0-9])(9)?");
        let regex = Regex::new(pattern).unwrap();
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
            let got = replace_once(&cx, text, pattern, template);
            assert_eq!(got, Ok(&*regex.replace(text, template)), "{template}");
        }
    }

    #[test]
    fn hostile_templates_take_linear_time() {
        let arena = Arena::new(1 << 28);
        for template in ["${".repeat(1 << 19), "}".to_owned() + &"${".repeat(1 << 19), "${a}".repeat(1 << 18)] {
            let cx = Cx::new(10_000_000, &arena);
            let start = std::time::Instant::now();
            replace_once(&cx, "a", "a", &template).unwrap();
            assert!(start.elapsed().as_secs() < 10);
        }
        let cx = Cx::new(100_000, &arena);
        let text = "a".repeat(1 << 20);
        assert_eq!(replace_once(&cx, &text, ".*", &"$0".repeat(1 << 19)), Err(celero_ir::ErrorKind::OutOfBudget));
    }
}
