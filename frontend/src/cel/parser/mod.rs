//! The parser: a precedence parser that writes nodes directly into the tree's arena and expands macros.
//!
//! All its parts follow these rules:
//! - Recursion is counted: [`Parser::open`] counts brackets, [`Parser::enter`] operators whose
//!   operand is being parsed. Brackets and tree depth are bounded by `max_depth`, so these
//!   operators by twice that (a level of `a || (b || ..)` is merged into its parent and does not
//!   add to the tree's depth). The stack for all of it is reserved once, in [`parse`].
//! - A parsing method pushes its node last, so the node that it returns is the arena's last one and
//!   can be removed again.
//! - After an error nothing is reported until the parser has resynchronized at a `,` or a closing bracket.
//!
//! Invariant: parsing takes time and memory linear in the length of the text (times `max_depth` at worst, where nested
//! `&&` or `||` chains are merged). Test: `frontend/tests/it/hostile.rs::time_is_linear`.

mod build;
mod code;
mod collection;
mod literal;
mod macros;
mod member;
mod operator;
mod report;

pub use code::PARSER_CODES;
pub(crate) use macros::{RANGE, UNNAMED, no_selection};

use crate::ast::{Ast, Name, Node, NodeId};
use crate::cel::foreign;
use crate::cel::lexer::{Lexer, Token};
use crate::diagnostic::{Diagnostic, Stage};
use crate::limits::{Limits, SOURCE_BYTES, with_stack};
use crate::span::Span;
use crate::stdlib::Libraries;
use code::Code;
use std::collections::HashMap;
use std::sync::Arc;

/// Parsing stops: a limit was exceeded, or the maximum of diagnostics was reported.
struct Stop;

type Parse<T = NodeId> = Result<T, Stop>;

/// Parses CEL, with the macros of all libraries.
///
/// # Errors
///
/// The diagnostics in the order found: at least one, and at most `limits.max_diagnostics` (but one even if that is 0).
pub fn parse(source: &str, limits: &Limits) -> Result<Ast, Vec<Diagnostic>> {
    parse_with(source, limits, Libraries::default())
}

/// Parses CEL. A macro of a library that is not among these is a call like any other.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_with(source: &str, limits: &Limits, libraries: Libraries) -> Result<Ast, Vec<Diagnostic>> {
    let allowed = limits.max_source_bytes.min(SOURCE_BYTES);
    if source.len() > allowed as usize {
        let mut diagnostic = Code::SourceTooLong.at(
            Span::default(),
            format!("the source is {} bytes long, the limit is {allowed} (`max_source_bytes`)", source.len()),
        );
        diagnostic.help.push("split the rule".to_owned());
        return Err(vec![diagnostic]);
    }
    let mut parser = Parser::new(source, limits, libraries);
    let levels = u32::try_from(source.len()).unwrap_or(u32::MAX).min(limits.max_depth.saturating_mul(3));
    let parsed = with_stack(levels, || parser.whole());
    match parsed {
        Ok(root) if parser.diagnostics.is_empty() => {
            let mut nodes = parser.nodes;
            // The tree may be kept for long, and a source of long literals has few nodes.
            if nodes.capacity() / 2 > nodes.len() {
                nodes.shrink_to_fit();
            }
            Ok(Ast::new(Arc::from(source), nodes, parser.pool, parser.names, root))
        }
        _ => {
            let mut found = parser.diagnostics;
            if let Some(first) = found.first_mut()
                && first.stage == Stage::Parse
                && let Some(help) = foreign::without_braces(source, first.span)
            {
                first.help = vec![help];
                // The others are about the same braces.
                found.truncate(1);
            }
            Err(found)
        }
    }
}

/// A bracket not closed yet.
#[derive(Clone, Copy)]
struct Bracket {
    closer: Token,
    span: Span,
}

struct Parser<'s> {
    source: &'s str,
    limits: &'s Limits,
    libraries: Libraries,
    lexer: Lexer<'s>,
    // The next token, and its span.
    token: Token,
    span: Span,
    /// The span of the token before it.
    previous: Span,

    nodes: Vec<Node>,
    pool: Vec<NodeId>,
    names: Vec<Arc<str>>,
    /// The numbers of the names. Empty while there are few.
    interned: HashMap<Arc<str>, Name>,

    /// Children of the nodes under construction, innermost last.
    scratch: Vec<NodeId>,
    /// Prefix operators waiting for their operand, innermost last.
    signs: Vec<(Token, Span)>,
    brackets: Vec<Bracket>,
    /// The number of operators whose operand is being parsed.
    entered: u32,

    diagnostics: Vec<Diagnostic>,
    /// Whether an error was reported after which the parser has not resynchronized yet.
    recovering: bool,
    /// Whether the first end of a `between` is parsed: an `and` ends it.
    in_between: bool,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, limits: &'s Limits, libraries: Libraries) -> Self {
        Self {
            source,
            limits,
            libraries,
            lexer: Lexer::new(source),
            token: Token::End,
            span: Span::default(),
            previous: Span::default(),
            // Most rules have a node for about eight bytes.
            nodes: Vec::with_capacity((source.len() / 8).min(limits.max_nodes as usize)),
            pool: Vec::new(),
            names: Vec::new(),
            interned: HashMap::new(),
            scratch: Vec::new(),
            signs: Vec::new(),
            brackets: Vec::new(),
            entered: 0,
            diagnostics: Vec::new(),
            recovering: false,
            in_between: false,
        }
    }

    fn whole(&mut self) -> Parse {
        self.advance()?;
        if self.token == Token::End {
            let mut diagnostic = Code::EmptyExpression.at(self.span, "the expression is empty");
            diagnostic.help.push("write `true` for a rule that always matches".to_owned());
            self.report(diagnostic)?;
            return Err(Stop);
        }
        let root = self.expression()?;
        match self.token {
            Token::End => {}
            Token::CloseParen | Token::CloseBracket | Token::CloseBrace => {
                let text = self.describe();
                self.error(Code::UnmatchedBracket.at(self.span, format!("{text} closes no bracket")))?;
            }
            _ => self.unexpected("an operator or the end of the expression")?,
        }
        Ok(root)
    }

    /// Consumes the next token and returns its span. Reports what the lexer found wrong with the token after it.
    fn advance(&mut self) -> Parse<Span> {
        self.previous = self.span;
        let left = self.span;
        loop {
            let lexeme = self.lexer.next();
            self.token = lexeme.token;
            self.span = lexeme.span;
            if let Some(problem) = lexeme.problem {
                self.lexical(problem)?;
            }
            if self.token != Token::Comment {
                return Ok(left);
            }
        }
    }

    /// Consumes the next token if it is `token`, and returns whether it was.
    fn eat(&mut self, token: Token) -> Parse<bool> {
        let found = self.token == token;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn text(&self, span: Span) -> &'s str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Returns the span from `start` to the end of the last consumed token.
    fn since(&self, start: u32) -> Span {
        Span::new(start, self.previous.end.max(start))
    }

    /// Counts an operator whose operand is parsed next. Call [`Parser::leave`] after the operand.
    fn enter(&mut self) -> Parse<()> {
        self.entered = self.entered.saturating_add(1);
        if self.entered > self.limits.max_depth.saturating_mul(2).saturating_add(1) {
            return Err(self.too_deep(self.previous));
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.entered = self.entered.saturating_sub(1);
    }

    /// Consumes an opening bracket.
    fn open(&mut self, closer: Token) -> Parse<()> {
        if self.brackets.len() >= self.limits.max_depth as usize {
            return Err(self.too_deep(self.span));
        }
        self.brackets.push(Bracket { closer, span: self.span });
        self.advance()?;
        Ok(())
    }

    /// Consumes the closing bracket that belongs to the innermost [`Parser::open`], or reports that it is missing.
    fn close(&mut self) -> Parse<()> {
        let Some(bracket) = self.brackets.last().copied() else { return Ok(()) };
        if self.token != bracket.closer {
            self.not_closed(bracket)?;
        }
        self.brackets.pop();
        if self.token == bracket.closer {
            self.recovering = false;
            self.advance()?;
        }
        Ok(())
    }

    /// After an element in brackets: consumes a `,` and returns whether another element may follow.
    fn separator(&mut self, expected: &str) -> Parse<bool> {
        let closer = self.brackets.last().map_or(Token::End, |b| b.closer);
        if self.token != Token::Comma && self.token != closer {
            let closes = matches!(self.token, Token::CloseParen | Token::CloseBracket | Token::CloseBrace | Token::End);
            if closes {
                return Ok(false);
            }
            self.unexpected(expected)?;
            self.synchronise()?;
        }
        if self.token == Token::Comma {
            self.recovering = false;
            self.advance()?;
            return Ok(true);
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_nodes_are_reserved_than_allowed() {
        let limits = Limits { max_nodes: 4, ..Limits::default() };
        let source = format!("'{}'", "a".repeat(1000));
        let parser = Parser::new(&source, &limits, Libraries::default());
        assert!(parser.nodes.capacity() <= 8, "{}", parser.nodes.capacity());
    }
}
