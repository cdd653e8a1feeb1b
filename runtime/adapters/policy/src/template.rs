//! Text in which `${..}` are expressions: `https://${request.host}/`. `$${` stands for `${`.

use std::iter::Peekable;
use std::str::CharIndices;

/// A piece of such a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// As it is.
    Text(String),
    /// An expression, and where it begins.
    Expression(String, usize),
}

/// The pieces of a text.
///
/// # Errors
/// Where an expression begins that does not end.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece>, usize> {
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
                found.push(Piece::Text(std::mem::take(&mut plain)));
            }
            found.push(Piece::Expression(text.get(start..end).unwrap_or("").to_owned(), start));
        } else {
            plain.push(character);
        }
    }
    if !plain.is_empty() {
        found.push(Piece::Text(plain));
    }
    Ok(found)
}

/// Goes to the brace that closes an expression, which is none of a map or a literal of it.
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

/// Goes to the end of a literal whose first quote was read.
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

/// A text as a literal of CEL.
pub(crate) fn literal_of(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn expression(source: &str, at: usize) -> Piece {
        Piece::Expression(source.to_owned(), at)
    }

    #[test]
    fn expressions_end_where_their_braces_do() {
        assert_eq!(pieces("a$b").unwrap(), [text("a$b")]);
        assert_eq!(pieces("$${a} ${b}!").unwrap(), [text("${a} "), expression("b", 8), text("!")]);
        assert_eq!(
            pieces("${{'a}': 1}['}']}${\"\\\"}\"}").unwrap(),
            [expression("{'a}': 1}['}']", 2), expression("\"\\\"}\"", 19)]
        );
        assert_eq!(pieces("${r'\\'}x").unwrap(), [expression("r'\\'", 2), text("x")]);
        assert_eq!(pieces("${'''it's }'''}${''}").unwrap(), [expression("'''it's }'''", 2), expression("''", 17)]);
        assert_eq!(pieces("").unwrap(), []);
        for open in ["x ${a", "x ${'}", "x ${{}", "x ${'''}''"] {
            assert_eq!(pieces(open), Err(2), "{open}");
        }
    }

    #[test]
    fn literals_are_read_as_the_text() {
        let engine = celero::Engine::builder().tier(celero::Tier::Interpret).build();
        let env = celero::Env::dynamic();
        let hard = "\"'\\n\n\r\t\u{0}ä\u{1f600}";
        let program = engine.compile(&env, &literal_of(hard)).unwrap();
        let mut scratch = celero::Scratch::new();
        let bindings = celero::Bindings::new(&env);
        assert!(matches!(program.eval(&bindings, &mut scratch), Ok(celero::Value::String(text)) if text == hard));
    }
}
