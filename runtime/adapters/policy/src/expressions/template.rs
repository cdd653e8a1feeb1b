//! Text in which `${..}` are expressions: `https://${request.host}/`. `$${` stands for `${`.

use std::iter::Peekable;
use std::str::CharIndices;

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TemplatePart {
    /// Constant text.
    Text(String),
    /// The source of an expression, and its byte offset in the template.
    Expression(String, usize),
}

/// Splits a template into its parts.
///
/// # Errors
/// Returns the byte offset of a `${` that is never closed.
pub(crate) fn parse(text: &str) -> Result<Vec<TemplatePart>, usize> {
    let mut found = Vec::new();
    let mut plain = String::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        let after = text.get(at..).unwrap_or("");
        if after.starts_with("$${") {
            plain.push_str("${");
            rest.next();
            rest.next();
        } else if after.starts_with("${") {
            rest.next();
            let start = at.saturating_add(2);
            let end = end(&mut rest).ok_or(at)?;
            if !plain.is_empty() {
                found.push(TemplatePart::Text(std::mem::take(&mut plain)));
            }
            found.push(TemplatePart::Expression(text.get(start..end).unwrap_or("").to_owned(), start));
        } else {
            plain.push(character);
        }
    }
    if !plain.is_empty() {
        found.push(TemplatePart::Text(plain));
    }
    Ok(found)
}

/// Returns what may be an expression in a text without `${..}`: the text without the signs that other templates have
/// around an expression. A word without a dot is none, and neither is a call with arguments: their patterns can be
/// costly to compile.
pub(crate) fn plain_expression(text: &str) -> Option<&str> {
    const SIGNS: [(&str, &str); 6] = [("{{", "}}"), ("$(", ")"), ("#{", "}"), ("%{", "}"), ("{", "}"), ("$", "")];
    let text = text.trim();
    let inside = |(open, close): &(&str, &str)| text.strip_prefix(*open)?.strip_suffix(*close).map(str::trim);
    let source = SIGNS.iter().find_map(inside).unwrap_or(text);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.[]?-'\"()".contains(c);
    let is_path = source.contains('.') && source.chars().all(is_part) && !source.replace("()", "").contains(['(', ')']);
    (is_path && source.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(source)
}

/// Reads up to the brace that closes an expression, and returns its offset. Braces in string
/// literals and map literals don't count.
fn end(rest: &mut Peekable<CharIndices<'_>>) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    while let Some((at, character)) = rest.next() {
        match character {
            '{' => depth = depth.saturating_add(1),
            '}' if depth == 0 => return Some(at),
            '}' => depth = depth.saturating_sub(1),
            '"' | '\'' => literal(rest, character, matches!(before, 'r' | 'R'))?,
            _ => {}
        }
        before = character;
    }
    None
}

/// Reads to the end of a string literal whose first quote was read.
fn literal(rest: &mut Peekable<CharIndices<'_>>, quote: char, raw: bool) -> Option<()> {
    let mut quotes = 1_usize;
    if rest.next_if(|(_, c)| *c == quote).is_some() {
        if rest.next_if(|(_, c)| *c == quote).is_none() {
            return Some(());
        }
        quotes = 3;
    }
    let mut seen = 0_usize;
    while seen < quotes {
        let (_, character) = rest.next()?;
        if character == '\\' && !raw {
            rest.next()?;
        }
        seen = if character == quote { seen.saturating_add(1) } else { 0 };
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> TemplatePart {
        TemplatePart::Text(text.to_owned())
    }

    fn expression(source: &str, at: usize) -> TemplatePart {
        TemplatePart::Expression(source.to_owned(), at)
    }

    #[test]
    fn expressions_end_where_their_braces_do() {
        assert_eq!(parse("a$b").unwrap(), [text("a$b")]);
        assert_eq!(parse("$${a} ${b}!").unwrap(), [text("${a} "), expression("b", 8), text("!")]);
        assert_eq!(
            parse("${{'a}': 1}['}']}${\"\\\"}\"}").unwrap(),
            [expression("{'a}': 1}['}']", 2), expression("\"\\\"}\"", 19)]
        );
        assert_eq!(parse("${r'\\'}x").unwrap(), [expression("r'\\'", 2), text("x")]);
        assert_eq!(parse("${'''it's }'''}${''}").unwrap(), [expression("'''it's }'''", 2), expression("''", 17)]);
        assert_eq!(parse("").unwrap(), []);
        for open in ["x ${a", "x ${'}", "x ${{}", "x ${'''}''"] {
            assert_eq!(parse(open), Err(2), "{open}");
        }
    }
}
