//! Operators: conditional, binary by precedence, and prefix.

use super::code::Code;
use super::report::quote;
use super::{Parse, Parser};
use crate::ast::{BinaryOp, Expr, LogicOp, NodeId, UnaryOp};
use crate::cel::foreign::{self, Relation};
use crate::cel::lexer::Token;
use crate::diagnostic::Label;

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Infix {
    Logic(LogicOp),
    Binary(BinaryOp),
}

/// Precedence of `||`, the loosest of the binary operators.
const LOOSEST: u8 = 1;

/// Precedence of `==`, `<`, `in` and the like.
const RELATION: u8 = 3;

/// Returns the operator of a token and its precedence.
fn infix(token: Token) -> Option<(Infix, u8)> {
    Some(match token {
        Token::Or => (Infix::Logic(LogicOp::Or), LOOSEST),
        Token::And => (Infix::Logic(LogicOp::And), 2),
        Token::Equal => (Infix::Binary(BinaryOp::Eq), RELATION),
        Token::NotEqual => (Infix::Binary(BinaryOp::Ne), RELATION),
        Token::Less => (Infix::Binary(BinaryOp::Lt), RELATION),
        Token::LessEqual => (Infix::Binary(BinaryOp::Le), RELATION),
        Token::Greater => (Infix::Binary(BinaryOp::Gt), RELATION),
        Token::GreaterEqual => (Infix::Binary(BinaryOp::Ge), RELATION),
        Token::In => (Infix::Binary(BinaryOp::In), RELATION),
        Token::Plus => (Infix::Binary(BinaryOp::Add), 4),
        Token::Minus => (Infix::Binary(BinaryOp::Sub), 4),
        Token::Star => (Infix::Binary(BinaryOp::Mul), 5),
        Token::Slash => (Infix::Binary(BinaryOp::Div), 5),
        Token::Percent => (Infix::Binary(BinaryOp::Rem), 5),
        _ => return None,
    })
}

/// Returns the token of an operator that [`foreign::operator`] returns.
fn token(operator: &str) -> Token {
    match operator {
        "||" => Token::Or,
        "==" => Token::Equal,
        "!=" => Token::NotEqual,
        "<" => Token::Less,
        "<=" => Token::LessEqual,
        ">" => Token::Greater,
        ">=" => Token::GreaterEqual,
        _ => Token::And,
    }
}

impl Parser<'_> {
    /// Parses a whole expression.
    pub(super) fn expression(&mut self) -> Parse {
        let start = self.span.start;
        let condition = self.operators(LOOSEST)?;
        if self.token == Token::Question { self.conditional(start, condition) } else { Ok(condition) }
    }

    /// Parses a conditional from the `?` on. The condition starts at `start`.
    fn conditional(&mut self, start: u32, condition: NodeId) -> Parse {
        let focus = self.advance()?;
        if self.token == Token::Question && self.span.start == focus.end {
            let mut diagnostic = Code::MisspeltOperator.at(focus.to(self.span), "`??` is not an operator");
            diagnostic.help.push("`default(a, b)` is `b` where reading `a` fails".to_owned());
            self.error(diagnostic)?;
            self.advance()?;
            self.enter()?;
            self.operators(LOOSEST)?;
            self.leave();
            return self.error_node(self.since(start));
        }
        let then_starts_with_dot = self.token == Token::Dot && self.span.start == focus.end;
        self.enter()?;
        let then_start = self.span.start;
        let mut then = self.operators(LOOSEST)?;
        if self.token == Token::Question {
            let mut diagnostic = Code::NestedConditional.at(self.span, "a conditional inside `? :` needs parentheses");
            diagnostic.help.push("write `a ? (b ? c : d) : e`".to_owned());
            self.report(diagnostic)?;
            then = self.conditional(then_start, then)?;
        }
        let otherwise = if self.token == Token::Colon {
            self.advance()?;
            self.expression()?
        } else {
            if !self.recovering {
                let found = self.describe();
                let mut diagnostic = Code::UnexpectedToken.at(self.span, format!("expected `:`, found {found}"));
                if self.token == Token::End {
                    diagnostic = Code::UnexpectedEnd.at(self.span, diagnostic.message);
                }
                diagnostic.labels.push(Label { span: focus, text: "this conditional has no `:`".to_owned() });
                diagnostic.help.push(if then_starts_with_dot {
                    "an optional field is selected with `.?`".to_owned()
                } else {
                    "a conditional is written `condition ? a : b`".to_owned()
                });
                self.error(diagnostic)?;
            }
            self.error_node(self.span)?
        };
        self.leave();
        let below = self.depth(condition).max(self.depth(then)).max(self.depth(otherwise));
        self.push(Expr::Cond { condition, then, otherwise }, self.since(start), focus, below)
    }

    /// Parses operands joined by operators that bind at least as tightly as `loosest`.
    fn operators(&mut self, loosest: u8) -> Parse {
        let start = self.span.start;
        let mut left = self.prefixed()?;
        loop {
            if matches!(self.token, Token::Ident | Token::Relation)
                && let Some(related) = self.relation(start, left, loosest)?
            {
                left = related;
                continue;
            }
            let Some((op, precedence)) = self.infix()?.filter(|(_, precedence)| *precedence >= loosest) else { break };
            left = match op {
                Infix::Logic(op) => self.logic(op, precedence, start, left)?,
                Infix::Binary(op) => {
                    let focus = self.advance()?;
                    let right = self.right_operand(precedence)?;
                    let below = self.depth(left).max(self.depth(right));
                    self.push(Expr::Binary { op, left, right }, self.since(start), focus, below)?
                }
            };
        }
        Ok(left)
    }

    /// Parses another language's relation of two operands, such as `a contains b`, after its first operand, and
    /// reports how it is written in CEL.
    #[cold]
    fn relation(&mut self, start: u32, left: NodeId, loosest: u8) -> Parse<Option<NodeId>> {
        if self.recovering || loosest > RELATION {
            return Ok(None);
        }
        let Some(relation) = foreign::relation(self.text(self.span)) else { return Ok(None) };
        let mut ahead = self.lexer;
        if relation == Relation::NotIn && ahead.next().token != Token::In
            || relation.joins_conditions() && loosest > LOOSEST
        {
            return Ok(None);
        }
        let first = self.text(self.since(start));
        let is_operation = !relation.joins_conditions()
            && self.node(left).is_some_and(|node| {
                matches!(node.expr, Expr::Binary { .. } | Expr::Logic { .. } | Expr::Cond { .. } | Expr::Unary { .. })
            });
        let at = self.diagnostics.len();
        let mut focus = self.advance()?;
        if relation == Relation::NotIn {
            focus = focus.to(self.advance()?);
        }
        let second = self.span.start;
        let outside = std::mem::replace(&mut self.in_between, relation == Relation::Between);
        let mut right = self.right_operand(if relation.joins_conditions() { LOOSEST } else { RELATION })?;
        self.in_between = outside;
        let first_end = self.text(self.since(second)).to_owned();
        let mut ends = None;
        if relation == Relation::Between && self.token == Token::Ident && matches!(self.text(self.span), "and" | "AND")
        {
            self.advance()?;
            let last = self.span.start;
            right = self.right_operand(RELATION)?;
            ends = foreign::repeated(&first_end).zip(foreign::repeated(self.text(self.since(last))));
        }
        let ends = ends.map(|(first, last)| format!("{first}\n{last}"));
        let found = quote(self.text(focus));
        let mut diagnostic = Code::MisspeltOperator.at(focus, format!("{found} is not an operator"));
        let is_right = !self.recovering && self.diagnostics.len() == at;
        let second = ends.as_deref().or_else(|| foreign::repeated(self.text(self.since(second))));
        let both = foreign::repeated(first).zip(second).filter(|_| is_right);
        let (first, second) = both.unwrap_or(("a", "b"));
        let first = if is_operation && both.is_some() { format!("({first})") } else { first.to_owned() };
        diagnostic.help.push(format!("write `{}`", relation.written(&first, second)));
        self.report_at(at, diagnostic)?;
        let below = self.depth(left).max(self.depth(right));
        self.push(Expr::Binary { op: BinaryOp::Eq, left, right }, self.since(start), focus, below).map(Some)
    }

    /// Parses the operand of a `not` before it, which other languages have, and reports how it is written in CEL.
    #[cold]
    fn negated(&mut self) -> Parse {
        let at = self.diagnostics.len();
        let word = self.advance()?;
        let start = self.span.start;
        let operand = self.right_operand(RELATION.saturating_sub(1))?;
        let found = quote(self.text(word));
        let mut diagnostic = Code::MisspeltOperator.at(word, format!("{found} is not an operator"));
        let is_operation = self.node(operand).is_some_and(|node| matches!(node.expr, Expr::Binary { .. }));
        let is_right = !self.recovering && self.diagnostics.len() == at;
        diagnostic.help.push(match foreign::repeated(self.text(self.since(start))).filter(|_| is_right) {
            Some(text) if is_operation => format!("write `!({text})`"),
            Some(text) => format!("write `!{text}`"),
            None => "did you mean `!`?".to_owned(),
        });
        self.report_at(at, diagnostic)?;
        let below = self.depth(operand);
        self.push(Expr::Unary { op: UnaryOp::Not, operand }, self.since(word.start), word, below)
    }

    /// Whether the next token is the `not` of another language: a word, and after it an operand.
    fn at_not(&self) -> bool {
        let length = self.span.end.saturating_sub(self.span.start);
        self.token == Token::Ident && length == 3 && self.is_not()
    }

    #[cold]
    fn is_not(&self) -> bool {
        let mut ahead = self.lexer;
        !self.recovering
            && matches!(self.text(self.span), "not" | "NOT")
            && matches!(
                ahead.next().token,
                Token::Ident | Token::String(_) | Token::Int | Token::True | Token::False | Token::Bang
            )
    }

    fn right_operand(&mut self, precedence: u8) -> Parse {
        self.enter()?;
        let right = self.operators(precedence.saturating_add(1))?;
        self.leave();
        Ok(right)
    }

    /// Parses a chain of one logic operator after its first operand.
    fn logic(&mut self, op: LogicOp, precedence: u8, start: u32, first: NodeId) -> Parse {
        let base = self.scratch.len();
        let focus = self.span;
        let mut below = self.operand(op, first);
        while self.infix()?.is_some_and(|(next, _)| next == Infix::Logic(op)) {
            self.advance()?;
            let right = self.right_operand(precedence)?;
            below = below.max(self.operand(op, right));
        }
        let operands = self.run(base);
        self.push(Expr::Logic { op, operands }, self.since(start), focus, below)
    }

    /// Returns the operator at the next token. A word such as `and` is reported and then treated as
    /// the operator that it means.
    fn infix(&mut self) -> Parse<Option<(Infix, u8)>> {
        if self.token == Token::Ident
            && !self.recovering
            && let Some(meant) = foreign::operator(self.text(self.span))
            && !(self.in_between && meant == "&&")
        {
            let mut ahead = self.lexer;
            let next = ahead.next();
            if meant == "==" && next.token == Token::Ident && matches!(self.text(next.span), "not" | "NOT") {
                let word = self.advance()?;
                let both = word.to(self.span);
                let mut diagnostic =
                    Code::MisspeltOperator.at(both, format!("{} is not an operator", quote(self.text(both))));
                diagnostic.help.push("did you mean `!=`?".to_owned());
                self.report(diagnostic)?;
                self.token = Token::NotEqual;
                return Ok(infix(self.token));
            }
            self.misspelt(meant)?;
            self.token = token(meant);
        }
        Ok(infix(self.token))
    }

    /// Parses a run of `!` or of `-` and its operand. A `-` directly before a number is part of the number.
    fn prefixed(&mut self) -> Parse {
        if !matches!(self.token, Token::Bang | Token::Minus) {
            return if self.at_not() { self.negated() } else { self.member(None) };
        }
        let base = self.signs.len();
        while matches!(self.token, Token::Bang | Token::Minus) {
            // The last `-` is not counted yet: it may be the sign of a number.
            if self.signs.len().saturating_sub(base) > self.limits.max_depth as usize {
                return Err(self.too_deep(self.span));
            }
            self.signs.push((self.token, self.span));
            self.advance()?;
        }
        let mut sign = None;
        if matches!(self.token, Token::Int | Token::Double)
            && let Some(&(Token::Minus, span)) = self.signs.last()
        {
            self.signs.pop();
            sign = Some(span);
        }
        let signs = self.signs.get(base..).unwrap_or(&[]);
        let mixed = signs.iter().zip(signs.iter().skip(1)).find(|(a, b)| a.0 != b.0).map(|(_, b)| b.1);
        if let Some(span) = mixed {
            let mut diagnostic = Code::MixedSigns.at(span, "`!` and `-` can't follow each other");
            diagnostic.help.push("write `!(-x)` or `-(!x)`".to_owned());
            self.report(diagnostic)?;
        }
        let mut operand = self.member(sign)?;
        while self.signs.len() > base
            && let Some((token, focus)) = self.signs.pop()
        {
            let op = if token == Token::Bang { UnaryOp::Not } else { UnaryOp::Neg };
            let below = self.depth(operand);
            operand = self.push(Expr::Unary { op, operand }, self.since(focus.start), focus, below)?;
        }
        Ok(operand)
    }
}
