//! Formats source text in the canonical layout. Comments before and after the expression are kept.
//! The tree has no place for others, so text with such comments is refused rather than formatted
//! without them.

use crate::cel::lexer::{Lexer, Token};
use crate::cel::parser::parse;
use crate::cel::unparse::layout;
use crate::diagnostic::{CodeInfo, Diagnostic, Severity, Stage};
use crate::limits::Limits;
use crate::span::Span;

/// What can be reported besides what the parser reports.
pub const FORMAT_CODES: &[CodeInfo] = &[CodeInfo {
    code: COMMENT_INSIDE,
    stage: Stage::Parse,
    summary: "a comment is inside of the expression, and formatting would lose it (`celero fmt` only)",
}];

const COMMENT_INSIDE: &str = "comment-inside";

/// Lays out the text of an expression in lines of at most `width` characters, as far as names and
/// literals allow; with a line end.
///
/// # Errors
/// What the parser finds, or the comments that can't be kept.
pub fn format(source: &str, limits: &Limits, width: usize) -> Result<String, Vec<Diagnostic>> {
    let ast = parse(source, limits)?;
    let (mut text, mut behind) = (String::new(), String::new());
    let mut lost = Vec::new();
    for (comment, place) in comments(source) {
        let line = source.get(comment.start as usize..comment.end as usize).unwrap_or("").trim_end();
        match place {
            Place::Before => text.extend([line, "\n"]),
            Place::Inside => lost.push(inside(comment)),
            Place::Beside => behind.extend([" ", line]),
            Place::After => behind.extend(["\n", line]),
        }
    }
    if !lost.is_empty() {
        lost.truncate(limits.max_diagnostics.max(1) as usize);
        return Err(lost);
    }
    text.extend([&*layout(&ast, width), &behind, "\n"]);
    Ok(text)
}

fn inside(span: Span) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        stage: Stage::Parse,
        code: COMMENT_INSIDE,
        message: "this comment would be lost".to_owned(),
        span,
        labels: Vec::new(),
        help: vec!["move it before the expression, or behind it".to_owned()],
    }
}

/// Where a comment is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Before the first token.
    Before,
    /// Between two tokens.
    Inside,
    /// In the line of the last token.
    Beside,
    /// In a line after the last token.
    After,
}

/// The comments, each with its place.
fn comments(source: &str) -> Vec<(Span, Place)> {
    let mut lexer = Lexer::new(source);
    let mut found = Vec::new();
    let mut end = 0u32;
    loop {
        let lexeme = lexer.next();
        let blank = source.get(end as usize..lexeme.span.start as usize).unwrap_or("");
        let (mut at, is_last) = (end, lexeme.token == Token::End);
        for line in blank.split_inclusive('\n') {
            let next = at.saturating_add(length(line));
            if let Some(offset) = line.find("//") {
                let start = at.saturating_add(length(line.get(..offset).unwrap_or("")));
                let stop = start.saturating_add(length(line.get(offset..).unwrap_or("").trim_end()));
                let place = match (end, is_last) {
                    (0, _) => Place::Before,
                    (_, false) => Place::Inside,
                    _ if at == end => Place::Beside,
                    _ => Place::After,
                };
                found.push((Span::new(start, stop), place));
            }
            at = next;
        }
        end = lexeme.span.end;
        if is_last {
            return found;
        }
    }
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}
