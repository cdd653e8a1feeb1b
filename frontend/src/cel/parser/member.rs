//! The operands that bind tightest: names, literals, brackets, and the chain of `.field`,
//! `.method()`, `[index]` and `{..}` after them.

use super::code::Code;
use super::{Parse, Parser};
use crate::ast::{Expr, Literal, NodeId};
use crate::cel::foreign;
use crate::cel::lexer::Token;
use crate::span::Span;

impl Parser<'_> {
    /// Parses an operand with its chain; `sign` is the `-` of the number that comes next.
    pub(super) fn member(&mut self, sign: Option<Span>) -> Parse {
        let start = sign.unwrap_or(self.span).start;
        // Whether the operand is a dotted name up to here. A `{` after it starts a message literal.
        let mut dotted = matches!(self.token, Token::Ident | Token::Reserved | Token::Dot);
        let mut node = self.primary(sign)?;
        dotted &= self.node(node).is_some_and(|n| matches!(n.expr, Expr::Ident { test: false, .. }));
        loop {
            match self.token {
                Token::Dot => node = self.dot(start, node, &mut dotted)?,
                Token::OpenBracket => {
                    node = self.index(start, node)?;
                    dotted = false;
                }
                Token::OpenBrace if dotted => {
                    node = self.message(start, node)?;
                    dotted = false;
                }
                _ => return Ok(node),
            }
        }
    }

    fn primary(&mut self, sign: Option<Span>) -> Parse {
        let span = self.span;
        let literal = match self.token {
            Token::Ident | Token::Reserved | Token::Dot => return self.identifier(),
            Token::Int | Token::Uint | Token::Double => return self.number(sign),
            Token::String(form) => return self.string(form),
            Token::OpenParen => {
                self.open(Token::CloseParen)?;
                let inner = self.expression()?;
                self.close()?;
                return Ok(inner);
            }
            Token::OpenBracket => return self.list(),
            Token::OpenBrace => return self.map(),
            Token::True => Literal::Bool(true),
            Token::False => Literal::Bool(false),
            Token::Null => Literal::Null,
            Token::Bad => {
                self.advance()?;
                return self.error_node(span);
            }
            Token::Quoted => {
                let mut diagnostic = Code::InvalidQuotedName.at(span, "a backquoted name can't stand alone");
                let inside = self.text(span).trim_matches('`');
                diagnostic.help.push(match foreign::repeated(inside).filter(|text| !text.contains(['"', '\\'])) {
                    Some(text) => format!("a text is in quotes: `\"{text}\"`"),
                    None => "only fields may be backquoted, as in ``a.`b-c` ``".to_owned(),
                });
                self.error(diagnostic)?;
                self.advance()?;
                return self.error_node(span);
            }
            _ => {
                self.unexpected("an expression")?;
                return self.error_node(span);
            }
        };
        self.advance()?;
        self.leaf(Expr::Literal(literal), span)
    }

    /// Parses a variable, a function call, or the first part of a dotted name; with its leading dot.
    fn identifier(&mut self) -> Parse {
        let start = self.span.start;
        let rooted = self.eat(Token::Dot)?;
        let focus = self.span;
        match self.token {
            Token::Ident => {}
            Token::Reserved if self.names_message() => {}
            Token::Reserved => return self.reserved(),
            _ => {
                self.unexpected("a name")?;
                return self.error_node(focus);
            }
        }
        self.advance()?;
        if self.token == Token::OpenParen {
            return self.call(start, rooted, focus);
        }
        let name = self.name(self.text(focus));
        self.push(Expr::Ident { name, rooted, test: false }, self.since(start), focus, 0)
    }

    fn reserved(&mut self) -> Parse {
        let span = self.span;
        let word = self.text(span);
        let mut diagnostic = Code::ReservedWord.at(span, format!("`{word}` is a reserved word"));
        let dashed = foreign::dashed(self.source, span.start as usize, word.len());
        if let Some(help) = dashed {
            diagnostic.help.push(help);
        } else if matches!(word, "let" | "var" | "const") {
            diagnostic.help.push("a value gets a name by `cel.bind(name, value, expression)`".to_owned());
        } else if matches!(word, "if" | "else") {
            diagnostic.help.push("a conditional is written `condition ? a : b`".to_owned());
        } else {
            diagnostic.help.push("it may only be the name of a field or of a method".to_owned());
        }
        self.error(diagnostic)?;
        self.advance()?;
        self.error_node(span)
    }

    /// Whether the next token starts the type of a message literal, where reserved words are allowed as names.
    fn names_message(&self) -> bool {
        let mut ahead = self.lexer;
        loop {
            match ahead.next().token {
                Token::OpenBrace => return true,
                Token::Dot if matches!(ahead.next().token, Token::Ident | Token::Reserved) => {}
                _ => return false,
            }
        }
    }

    /// Parses `.field`, `.?field` or `.method(..)`.
    fn dot(&mut self, start: u32, operand: NodeId, dotted: &mut bool) -> Parse {
        self.advance()?;
        let optional = self.eat(Token::Question)?;
        let focus = self.span;
        let quoted = self.token == Token::Quoted;
        if !quoted && !matches!(self.token, Token::Ident | Token::Reserved) {
            return self.no_field(operand);
        }
        self.advance()?;
        *dotted &= !optional && !quoted;
        if self.token == Token::OpenParen && !optional && !quoted {
            *dotted = false;
            return self.method(start, operand, focus);
        }
        let text = self.text(focus);
        let field = self.name(if quoted { text.trim_matches('`') } else { text });
        let below = self.depth(operand);
        self.push(Expr::Select { operand, field, test: false, optional }, self.since(start), focus, below)
    }

    fn no_field(&mut self, operand: NodeId) -> Parse {
        let found = self.describe();
        let code = if self.token == Token::End { Code::UnexpectedEnd } else { Code::UnexpectedToken };
        let mut diagnostic = code.at(self.span, format!("expected a field name, found {found}"));
        let number =
            self.node(operand).is_some_and(|n| matches!(n.expr, Expr::Literal(Literal::Int(_) | Literal::Double(_))));
        if number {
            diagnostic.help.push("a double has a digit after the point, as in `1.0`".to_owned());
        } else if matches!(self.token, Token::In | Token::True | Token::False | Token::Null) {
            diagnostic.help.push(format!("{found} is a keyword; index with [\"..\"] or backquote the name"));
        }
        self.error(diagnostic)?;
        Ok(operand)
    }

    /// Parses `[i]` or `[?i]`.
    fn index(&mut self, start: u32, operand: NodeId) -> Parse {
        let bracket = self.span;
        self.open(Token::CloseBracket)?;
        let optional = self.eat(Token::Question)?;
        let index = self.expression()?;
        self.close()?;
        let below = self.depth(operand).max(self.depth(index));
        let focus = self.since(bracket.start);
        self.push(Expr::Index { operand, index, optional }, self.since(start), focus, below)
    }
}
