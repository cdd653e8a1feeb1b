//! What an author probably meant by a wrong right side of a comparison: a list, or a set without its braces.

use super::{Parser, Stop};
use crate::alternatives::alternatives;
use crate::ast::NodeId;
use crate::diagnostic::{Diagnostic, Stage};
use crate::filter::codes;
use crate::filter::literal::{Scanner, span};
use crate::filter::scheme::is_list_name;
use crate::filter::types::FilterType;

/// Longest text that is examined, or repeated in a help, in bytes.
pub(super) const MAX_EXAMINED: usize = 256;

fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The name that may be a list's at the start of a text, and the length of what stands for it: `blocked`, `$blocked`,
/// `@blocked`, `"blocked"`, `lists.blocked`.
fn name_at(text: &str) -> Option<(&str, usize)> {
    let (sign, rest) = match text.strip_prefix(['$', '@', '"']) {
        Some(rest) => (1_usize, rest),
        None => (0, text),
    };
    let name = rest.get(..rest.find(|c| !is_part_of_name(c)).unwrap_or(rest.len()).min(MAX_EXAMINED))?;
    let is_quoted = text.starts_with('"');
    let after = rest.get(name.len()..)?;
    let is_whole = if is_quoted { after.starts_with('"') } else { !after.starts_with([':', '/', '(']) };
    let bare = name.strip_prefix("lists.").unwrap_or(name);
    let is_name = is_whole && bare.starts_with(|c: char| c.is_ascii_alphabetic()) && is_list_name(bare);
    is_name.then(|| (bare, name.len().saturating_add(sign).saturating_add(usize::from(is_quoted))))
}

/// The items of a list in brackets at the start of a text, and its length: `["a", "b"]` and `(1, 2)`.
fn bracketed(text: &str) -> Option<(Vec<&str>, usize)> {
    let closer = match text.as_bytes().first()? {
        b'[' => ']',
        b'(' => ')',
        _ => return None,
    };
    let end = text.find(closer).filter(|end| *end <= MAX_EXAMINED)?;
    let items = text.get(1..end)?.split([',', ' ']).map(str::trim).filter(|item| !item.is_empty()).collect();
    Some((items, end.checked_add(1)?))
}

/// Whether a text is a literal of a type that may be an item of a set.
fn is_item(text: &str, ty: &FilterType) -> bool {
    let mut scan = Scanner::new(text, false);
    let is_read = match ty {
        FilterType::Int => scan.integer_range().is_ok(),
        FilterType::Ip => scan.address_item().is_ok(),
        _ => scan.bytes().is_ok(),
    };
    is_read && scan.peek().is_none()
}

impl Parser<'_> {
    /// Reports what stands behind `in` and is neither a set nor `$name`, and goes behind it if it is understood.
    pub(super) fn not_a_set(&mut self, ty: &FilterType) -> Stop {
        let start = self.scan.at();
        let mut error = Diagnostic::error(Stage::Parse, codes::EXPECTED, self.scan.here(), "expected literal \"{\"");
        let rest = self.scan.rest();
        let (help, length) = match self.set_meant(rest, ty) {
            Some(meant) => meant,
            None => ("write a set as `{1 2 3}`, or the name of a list as `$name`".to_owned(), 0),
        };
        error.help.push(help);
        if length > 0 {
            error.span = span(start, start.saturating_add(length));
            self.scan.advance(length);
        }
        self.report(error)
    }

    /// The help for a set or a list that is written otherwise, and the length of the text that it is about.
    fn set_meant(&self, text: &str, ty: &FilterType) -> Option<(String, usize)> {
        if let Some((name, length)) = name_at(text) {
            if let Some(list) = self.list_meant(name, ty) {
                return Some((format!("did you mean `${list}`?"), length));
            }
            if !text.starts_with('"') {
                return Some((format!("a list is written `$name`: {}", self.scheme.known_lists(ty)), length));
            }
        }
        let (items, length) = match bracketed(text) {
            Some((items, length)) => (items, length),
            None => {
                let mut scan = Scanner::new(text, false);
                let is_text = scan.quoted().is_ok();
                let length = if is_text {
                    scan.at()
                } else {
                    text.find(|c: char| c.is_whitespace() || ")&|^".contains(c)).unwrap_or(text.len())
                };
                (vec![text.get(..length).filter(|text| text.len() <= MAX_EXAMINED)?], length)
            }
        };
        let mut written = Vec::new();
        for item in items {
            let inner = item.strip_prefix('"').and_then(|item| item.strip_suffix('"'));
            let parts = inner.and_then(alternatives).unwrap_or_else(|| inner.into_iter().collect());
            if parts.is_empty() {
                written.push(item.to_owned());
            }
            let is_text = *ty == FilterType::Bytes;
            written.extend(parts.iter().map(|part| if is_text { format!("\"{part}\"") } else { (*part).to_owned() }));
        }
        let is_set = !written.is_empty() && written.iter().all(|item| is_item(item, ty));
        is_set.then(|| (format!("write `{{{}}}`", written.join(" ")), length))
    }

    /// The list of a name, or the one whose name is most similar.
    fn list_meant<'n>(&'n self, name: &'n str, ty: &FilterType) -> Option<&'n str> {
        if self.scheme.declares_list(name, ty) { Some(name) } else { self.scheme.similar_list(name, ty) }
    }

    /// The help for a comparison with a list by another operator than `in`; `start` is where its right side begins.
    pub(super) fn list_instead(&self, value: NodeId, ty: &FilterType, start: usize, negated: bool) -> Option<String> {
        let text = self.scan.text();
        let rest = text.get(start..).filter(|rest| !rest.starts_with('"'))?;
        let (name, _) = name_at(rest)?;
        let list = if rest.starts_with('$') { Some(name) } else { self.list_meant(name, ty) };
        let list = list.filter(|list| rest.starts_with('$') || *list == name)?;
        let value = self.span_of(value);
        let value = text.get(value.start as usize..value.end as usize).filter(|value| value.len() <= MAX_EXAMINED)?;
        let not = if negated { "not " } else { "" };
        Some(format!("write `{not}{value} in ${list}`"))
    }

    /// Explains the last error if it is about a range of addresses with a hyphen, which stands at `start`.
    pub(super) fn explain_hyphen(&mut self, start: usize, ty: &FilterType) {
        let Some((before, after)) = self.scan.text().split_at_checked(start) else { return };
        let Some(after) = after.strip_prefix('-').filter(|_| *ty == FilterType::Ip) else { return };
        let ends = |c: char| matches!(c, ' ' | '\r' | '\n' | '{' | '}');
        let (first, last) = (before.rsplit(ends).next().unwrap_or(""), after.split(ends).next().unwrap_or(""));
        let range = format!("{first}..{last}");
        if range.len() <= MAX_EXAMINED
            && is_item(&range, ty)
            && let Some(error) = self.diagnostics.last_mut()
        {
            error.help = vec![format!("a range is `{range}`")];
        }
    }

    /// Explains the last error if it is about a list that stands in a set. `opened` is where the set begins, `start`
    /// where the item does.
    pub(super) fn explain_item(&mut self, opened: usize, start: usize, ty: &FilterType) {
        let text = self.scan.text();
        let Some((name, length)) = text.get(start..).and_then(name_at) else { return };
        let is_sign = text.get(start..).is_some_and(|text| text.starts_with(['$', '@']));
        let list = match self.list_meant(name, ty) {
            Some(list) if is_sign || list == name => list.to_owned(),
            None if is_sign => name.to_owned(),
            _ => return,
        };
        let end = start.saturating_add(length);
        let is_alone = text.get(opened..start).is_some_and(|text| text.trim() == "{");
        let rest = text.get(end..).unwrap_or_default();
        let blanks = rest.len().saturating_sub(rest.trim_start_matches([' ', '\r', '\n']).len());
        let closes = rest.get(blanks..).is_some_and(|rest| rest.starts_with('}'));
        let Some(error) = self.diagnostics.last_mut() else { return };
        if is_alone && closes {
            error.span = span(opened, end.saturating_add(blanks).saturating_add(1));
            error.help = vec![format!("did you mean `${list}`?")];
        } else {
            error.help = vec![format!("a list is no item of a set: ask `in ${list}` by itself")];
        }
    }
}
