//! The names that a text of CEL mentions, found without parsing it: which definitions a definition
//! may need is known before any is checked.

use celero::diagnostics::Span;

/// A qualified name in a text of CEL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    /// The parts, with dots between them.
    pub(crate) path: String,
    /// Whether it is called. The last part is then a function, or a method of what is before it.
    pub(crate) is_called: bool,
    /// Whether it is selected from a value, such as `a.b` in `json(text).a.b`.
    pub(crate) is_member: bool,
}

/// Returns the names in a text, in their order. Literals and comments have none.
pub(crate) fn mentions(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut rest = skip_blanks(text);
    let mut is_member = false;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = after_literal(rest) {
            (rest, is_member) = (skip_blanks(after), skip_blanks(after).starts_with('.'));
        } else if is_name_start(first) {
            let (path, after) = path(rest);
            let is_called = after.starts_with('(');
            found.push(Mention { path, is_called, is_member });
            (rest, is_member) = (after, after.starts_with('.'));
        } else {
            let after = skip_blanks(rest.get(first.len_utf8()..).unwrap_or(""));
            is_member = match first {
                ')' | ']' | '}' => after.starts_with('.'),
                '.' | '?' => is_member,
                _ => false,
            };
            rest = after;
        }
    }
    found
}

/// Returns the qualified name around a span of a text, and where it starts.
pub(crate) fn qualified_name(text: &str, span: Span) -> (&str, usize) {
    let is_part = |c: char| is_name_part(c) || c == '.';
    let Some(before) = text.get(..span.start as usize) else { return ("", 0) };
    let start = before.trim_end_matches(is_part).len();
    let rest = text.get(start..).unwrap_or("");
    (rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len())).unwrap_or(""), start)
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Reads a qualified name. Returns it, and the text after it and after blanks.
fn path(text: &str) -> (String, &str) {
    let (mut path, mut rest) = (String::new(), text);
    loop {
        let end = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        path.push_str(word);
        rest = skip_blanks(after);
        match rest.strip_prefix('.').map(skip_blanks) {
            Some(next) if next.starts_with(is_name_start) => rest = next,
            _ => return (path, rest),
        }
        path.push('.');
    }
}

/// Leaves out blanks, comments, and the quotes of escaped names.
fn skip_blanks(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '`');
        match rest.strip_prefix("//") {
            Some(comment) => rest = comment.find('\n').and_then(|end| comment.get(end..)).unwrap_or(""),
            None => return rest,
        }
    }
}

/// Returns the text after a literal of text, bytes or a number that it starts with.
fn after_literal(text: &str) -> Option<&str> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(text.trim_start_matches(is_name_part));
    }
    let prefix = text.find(|c: char| !matches!(c, 'r' | 'R' | 'b' | 'B')).filter(|length| *length <= 2)?;
    let (prefix, quoted) = text.split_at_checked(prefix)?;
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| quoted.starts_with(quote))?;
    let is_raw = prefix.contains(['r', 'R']);
    let mut rest = quoted.get(quote.len()..)?;
    while let Some(at) = rest.find(|c| quote.starts_with(c) || c == '\\' && !is_raw) {
        let found = rest.get(at..).unwrap_or("");
        if let Some(after) = found.strip_prefix(quote) {
            return Some(after);
        }
        // A quote that does not end the literal, or a backslash and what it escapes.
        let mut skipped = found.chars();
        if skipped.next() == Some('\\') {
            skipped.next();
        }
        rest = skipped.as_str();
    }
    Some("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_outside_of_literals() {
        for (text, expected) in [
            ("a.b + c", "a.b c"),
            ("variables . a // x.y\n || `b`.`c`", "variables.a b.c"),
            ("f(x) && a.b.startsWith('q.r')", "f( x a.b.startsWith("),
            (r#"'a\'b' + "c" + r'\' + b"d" + rb'''e'f''' + g"#, "g"),
            ("json(a)\n.b.c(d).e [f]", "json( a ~b.c( d ~e f"),
            ("1.doubled() + 0x1F + 1e5 + 2u", "~doubled("),
            ("l[0].a + x.?y + m{f: 1}.g", "l ~a x ~y m f ~g"),
            ("'x'.size() + .a.b", "~size( a.b"),
            ("'never closed + a", ""),
            ("r + b + rb", "r b rb"),
            ("[a].map(v, v.c)", "a ~map( v v.c"),
        ] {
            let shown = mentions(text).into_iter().map(|Mention { path, is_called, is_member }| {
                format!("{}{path}{}", if is_member { "~" } else { "" }, if is_called { "(" } else { "" })
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_name_extends_to_both_sides_of_a_span() {
        assert_eq!(qualified_name("1 + a.b_c.d(2)", Span::new(6, 7)), ("a.b_c.d", 4));
        assert_eq!(qualified_name("a", Span::new(5, 6)), ("", 0));
    }
}
