//! What stands around a cursor in an expression that need not be valid: the name that is typed,
//! what it is selected from, the call whose argument it is.

use crate::cursor::tokens::{Token, TokenKind, tokens};
use celero_tooling::language::Language;
use std::ops::Range;

/// The place of a cursor.
#[derive(Debug)]
pub(crate) struct Cursor<'s> {
    /// The source before the cursor.
    pub(crate) before: &'s str,
    /// What is typed of a name; empty at the cursor if nothing is.
    pub(crate) partial: Range<usize>,
    /// What the name is selected from, without the point.
    pub(crate) receiver: Option<Range<usize>>,
}

impl<'s> Cursor<'s> {
    /// Returns the place of a cursor at the end of a source; `None` in a text or a comment.
    pub(crate) fn at_end(before: &'s str, language: Language) -> Option<Self> {
        let tokens = tokens(before, language);
        let last = tokens.last().filter(|last| last.range.end == before.len());
        if let Some(TokenKind::Comment | TokenKind::Text { .. } | TokenKind::Number) = last.map(|last| last.kind) {
            return None;
        }
        if tokens.last().is_some_and(|last| last.kind == TokenKind::Text { closed: false }) {
            return None;
        }
        let is_name = last.is_some_and(|last| last.kind == TokenKind::Name);
        let partial = last.filter(|_| is_name).map_or(before.len()..before.len(), |last| last.range.clone());
        let end = tokens.len().saturating_sub(usize::from(is_name));
        let receiver = selected_from(&tokens, end);
        Some(Self { before, partial, receiver })
    }

    /// Returns the text of the receiver.
    pub(crate) fn receiver_text(&self) -> Option<&'s str> {
        self.before.get(self.receiver.clone()?)
    }
}

/// Returns what the token at an index is selected from, if a point stands before it.
pub(crate) fn selected_from(tokens: &[Token], index: usize) -> Option<Range<usize>> {
    let mut end = index;
    if end.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|token| token.is('?')) {
        end = end.saturating_sub(1);
    }
    let point = end.checked_sub(1)?;
    if !tokens.get(point)?.is('.') {
        return None;
    }
    let first = operand_start(tokens, point)?;
    let (first, last) = (tokens.get(first)?, tokens.get(point.checked_sub(1)?)?);
    Some(first.range.start..last.range.end)
}

/// Returns the index of the first token of the operand that ends before an index: a chain of
/// selections, calls and indices.
fn operand_start(tokens: &[Token], end: usize) -> Option<usize> {
    let mut at = end;
    loop {
        let last = at.checked_sub(1)?;
        let mut indexed = false;
        match tokens.get(last)?.kind {
            TokenKind::Symbol(')') => {
                at = opening(tokens, last)?;
                let is_call =
                    at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|t| t.kind == TokenKind::Name);
                at = at.saturating_sub(usize::from(is_call));
            }
            TokenKind::Symbol(']' | '}') => {
                at = opening(tokens, last)?;
                indexed = true;
            }
            TokenKind::Name | TokenKind::Number | TokenKind::Text { closed: true } => at = last,
            _ => return None,
        }
        let Some(before) = at.checked_sub(1) else { return Some(at) };
        let token = tokens.get(before)?;
        let ends_operand = matches!(token.kind, TokenKind::Name | TokenKind::Symbol(')' | ']'));
        if token.is('?') && before.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|token| token.is('.')) {
            at = before.saturating_sub(1);
        } else if token.is('.') {
            at = before;
        } else if !(indexed && ends_operand && !is_word_operator(tokens, before)) {
            return Some(at);
        }
        if at == 0 {
            return Some(0);
        }
    }
}

/// `in` is the only name of CEL before which an operand ends.
fn is_word_operator(tokens: &[Token], index: usize) -> bool {
    tokens.get(index).is_some_and(|token| token.kind == TokenKind::Name && token.range.len() == 2)
        && tokens
            .get(index.saturating_add(1))
            .is_some_and(|next| tokens.get(index).is_some_and(|token| next.range.start > token.range.end))
}

/// Returns the index of the bracket that a closing bracket belongs to.
fn opening(tokens: &[Token], close: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for index in (0..=close).rev() {
        match tokens.get(index)?.kind {
            TokenKind::Symbol(')' | ']' | '}') => depth = depth.saturating_add(1),
            TokenKind::Symbol('(' | '[' | '{') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// A call that is not closed before the cursor.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall {
    /// The index of the token that is the function's name.
    pub(crate) name: usize,
    /// The range of bytes of each argument before the cursor; the last one ends at the end of the tokens.
    pub(crate) arguments: Vec<Range<usize>>,
}

/// Returns the calls that are open at the end of the tokens, the outermost first.
pub(crate) fn open_calls(tokens: &[Token], end: usize) -> Vec<OpenCall> {
    let mut open: Vec<Option<OpenCall>> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Symbol('(') => {
                let name = index.checked_sub(1).filter(|at| tokens.get(*at).is_some_and(|t| t.kind == TokenKind::Name));
                let argument = token.range.end..end;
                open.push(name.map(|name| OpenCall { name, arguments: vec![argument] }));
            }
            TokenKind::Symbol('[' | '{') => open.push(None),
            TokenKind::Symbol(')' | ']' | '}') => {
                open.pop();
            }
            TokenKind::Symbol(',') => {
                if let Some(Some(call)) = open.last_mut() {
                    if let Some(last) = call.arguments.last_mut() {
                        last.end = token.range.start;
                    }
                    call.arguments.push(token.range.end..end);
                }
            }
            _ => {}
        }
    }
    open.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(before: &str) -> Option<&str> {
        Cursor::at_end(before, Language::cel())?.receiver_text()
    }

    #[test]
    fn receivers_are_chains() {
        for (before, wanted) in [
            ("request.pa", Some("request")),
            ("a + request.headers[\"x\"].", Some("request.headers[\"x\"]")),
            ("f(a, b).c.?d", Some("f(a, b).c")),
            ("x in [1, 2].", Some("[1, 2]")),
            ("!a.b(c)[0].d", Some("a.b(c)[0]")),
            ("'a'.s", Some("'a'")),
            ("(a + b).s", Some("(a + b)")),
            ("a.?b.c", Some("a.?b")),
            ("a", None),
            ("+ .a", None),
            (")).x", None),
        ] {
            assert_eq!(receiver(before), wanted, "{before}");
        }
        assert!(Cursor::at_end("'a.", Language::cel()).is_none());
        assert!(Cursor::at_end("a // b.", Language::cel()).is_none());
    }

    #[test]
    fn open_calls_have_arguments() {
        let source = "f(a, g(b), [c, h(d, ";
        let calls = open_calls(&tokens(source, Language::cel()), source.len());
        let shown: Vec<Vec<&str>> = calls
            .iter()
            .map(|call| call.arguments.iter().map(|range| source.get(range.clone()).unwrap()).collect())
            .collect();
        assert_eq!(shown, [vec!["a", " g(b)", " [c, h(d, "], vec!["d", " "]]);
    }
}
