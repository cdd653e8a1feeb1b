//! List, map and message literals.

use super::{Parse, Parser};
use crate::ast::{Expr, Name, NodeId};
use crate::cel::lexer::Token;

/// For each entry, whether it is marked `?`; empty if none is.
#[derive(Default)]
struct Marks(Vec<bool>);

impl Marks {
    /// Records whether entry number `entry` is marked. Entries are recorded in order.
    fn set(&mut self, entry: usize, marked: bool) {
        if marked {
            self.0.resize(entry, false);
            self.0.push(true);
        }
    }

    fn finish(mut self, entries: usize) -> Box<[bool]> {
        if !self.0.is_empty() {
            self.0.resize(entries, false);
        }
        self.0.into()
    }
}

impl Parser<'_> {
    /// Returns whether the brackets just opened contain an entry. `[,]` contains none.
    fn has_entries(&mut self, closer: Token) -> Parse<bool> {
        if self.token == closer {
            return Ok(false);
        }
        if self.token == Token::Comma {
            let mut ahead = self.lexer;
            if ahead.next().token == closer {
                self.advance()?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn list(&mut self) -> Parse {
        let start = self.span.start;
        let base = self.scratch.len();
        let mut marks = Marks::default();
        self.open(Token::CloseBracket)?;
        let mut more = self.has_entries(Token::CloseBracket)?;
        while more {
            let marked = self.eat(Token::Question)?;
            marks.set(self.scratch.len().saturating_sub(base), marked);
            let element = self.expression()?;
            self.scratch.push(element);
            more = self.separator("`,` or `]`")? && self.token != Token::CloseBracket;
        }
        self.close()?;
        let (elements, below) = self.children(base);
        let optional = marks.finish(elements.len as usize);
        let span = self.since(start);
        self.push(Expr::List { elements, optional }, span, span, below)
    }

    pub(super) fn map(&mut self) -> Parse {
        let start = self.span.start;
        let base = self.scratch.len();
        let mut marks = Marks::default();
        let mut entry = 0usize;
        self.open(Token::CloseBrace)?;
        let mut more = self.has_entries(Token::CloseBrace)?;
        while more {
            let marked = self.eat(Token::Question)?;
            marks.set(entry, marked);
            let key = self.expression()?;
            self.scratch.push(key);
            let value = self.value("`:` and a value")?;
            self.scratch.push(value);
            entry = entry.saturating_add(1);
            more = self.separator("`,` or `}`")? && self.token != Token::CloseBrace;
        }
        self.close()?;
        let (entries, below) = self.children(base);
        let optional = marks.finish(entry);
        let span = self.since(start);
        self.push(Expr::Map { entries, optional }, span, span, below)
    }

    /// Parses the `:` and the value of an entry.
    fn value(&mut self, expected: &str) -> Parse {
        if self.eat(Token::Colon)? {
            return self.expression();
        }
        self.unexpected(expected)?;
        self.error_node(self.span)
    }

    /// Parses from the `{` on; `target` is the dotted name before it, which starts at `start`.
    pub(super) fn message(&mut self, start: u32, target: NodeId) -> Parse {
        let focus = self.since(start);
        let name = self.type_name(target);
        let base = self.scratch.len();
        let mut fields: Vec<Name> = Vec::new();
        let mut marks = Marks::default();
        self.open(Token::CloseBrace)?;
        let mut more = self.has_entries(Token::CloseBrace)?;
        while more {
            let marked = self.eat(Token::Question)?;
            marks.set(fields.len(), marked);
            let span = self.span;
            if matches!(self.token, Token::Ident | Token::Reserved | Token::Quoted) {
                fields.push(self.name(self.text(span).trim_matches('`')));
                self.advance()?;
                let value = self.value("`:` and a value")?;
                self.scratch.push(value);
            } else {
                self.unexpected("a field name")?;
            }
            more = self.separator("`,` or `}`")? && self.token != Token::CloseBrace;
        }
        self.close()?;
        let (values, below) = self.children(base);
        let optional = marks.finish(fields.len());
        let expr = Expr::Message { name, fields: fields.into(), values, optional };
        self.push(expr, self.since(start), focus, below)
    }

    /// Removes the nodes of a dotted name, which are the arena's last ones, and joins their names.
    pub(super) fn type_name(&mut self, target: NodeId) -> Name {
        let mut parts: Vec<Name> = Vec::new();
        let mut text = String::new();
        self.nodes.truncate((target.0 as usize).saturating_add(1));
        loop {
            match self.nodes.pop().map(|n| n.expr) {
                Some(Expr::Select { field, .. }) => parts.push(field),
                Some(Expr::Ident { name, rooted, .. }) => {
                    parts.push(name);
                    if rooted {
                        text.push('.');
                    }
                    break;
                }
                _ => break,
            }
        }
        for (count, part) in parts.iter().rev().enumerate() {
            if count > 0 {
                text.push('.');
            }
            text.push_str(self.names.get(part.0 as usize).map_or("", |n| n));
        }
        self.name(&text)
    }
}
