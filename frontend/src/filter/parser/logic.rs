//! Conditions and how they are joined: `or`, `xor`, `and`, `not`, parentheses, `any` and `all`.

use super::{Parsed, Parser, Stop};
use crate::ast::NodeId;
use crate::diagnostic::{Diagnostic, Label, Stage};
use crate::filter::codes;
use crate::filter::tree::{Connective, FilterExpr};
use crate::span::Span;

/// A condition. `many` is whether it has many results, if that is known: an error hides it.
#[derive(Clone, Copy)]
pub(super) struct Condition {
    pub(super) id: NodeId,
    pub(super) many: Option<bool>,
}

/// The connectives with their spellings, loosest first.
const CONNECTIVES: [(Connective, &str, &str); 3] =
    [(Connective::Or, "or", "||"), (Connective::Xor, "xor", "^^"), (Connective::And, "and", "&&")];

pub(super) fn type_name(many: bool) -> &'static str {
    if many { "Array<Bool>" } else { "Bool" }
}

impl Parser<'_> {
    /// Reads a condition.
    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        self.joined(&CONNECTIVES)
    }

    /// Reads operands that are joined by the first of the connectives, which bind tighter from one
    /// to the next. A chain of one connective is one node.
    fn joined(&mut self, connectives: &[(Connective, &str, &str)]) -> Parsed<Condition> {
        let Some(((op, word, sign), tighter)) = connectives.split_first() else { return self.simple() };
        let start = self.scan.at();
        let first = self.joined(tighter)?;
        let mut operands = Vec::new();
        let mut focus = None;
        let mut many = first.many;
        while let Some(place) = self.eat_connective(word, sign) {
            if operands.is_empty() {
                operands.push(first.id);
                focus = Some(place);
            }
            let next = self.joined(tighter)?;
            if let (Some(left), Some(right)) = (many, next.many)
                && left != right
            {
                let message = format!("expected value of type {}, but got {}", type_name(left), type_name(right));
                let mut error = Diagnostic::error(Stage::Check, codes::TYPE, self.span_of(next.id), message);
                let text = format!("this has type {}", type_name(left));
                error.labels.push(Label { span: self.span_of(first.id), text });
                error.help.push("put `any(..)` or `all(..)` around the comparison with `[*]`".to_owned());
                if let Stop::Everything = self.report(error) {
                    return Err(Stop::Everything);
                }
            }
            many = many.or(next.many);
            operands.push(next.id);
        }
        let Some(focus) = focus else { return Ok(first) };
        // The first and the last operand may stand in parentheses, which belong to the chain.
        let span = self.scan.span_from(start);
        let operands = self.children(&operands);
        let id = self.add_condition(FilterExpr::Logic { op: *op, operands }, many == Some(true), span, focus)?;
        Ok(Condition { id, many })
    }

    /// Takes a connective and the blanks around it.
    fn eat_connective(&mut self, word: &str, sign: &str) -> Option<Span> {
        let before = self.scan.at();
        self.scan.skip_space();
        let start = self.scan.at();
        let is_word = self.scan.eat(word);
        if !is_word && !self.scan.eat(sign) {
            self.scan.go_to(before);
            return None;
        }
        let place = self.scan.span_from(start);
        if is_word {
            self.warn_if_glued(place, word);
        }
        self.scan.skip_space();
        Some(place)
    }

    /// Warns of a keyword that is directly followed by a name or a string.
    pub(super) fn warn_if_glued(&mut self, place: Span, word: &str) {
        let next = self.scan.peek();
        if next.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'"' | b'$')) {
            let message = format!("`{word}` is directly followed by another word");
            self.scan.warn_if_strict(codes::GLUED, place, message, "put a blank behind it");
        }
    }

    /// Reads a condition without connectives. An error in it ends it, and the parser continues behind it.
    fn simple(&mut self) -> Parsed<Condition> {
        let start = self.scan.at();
        let read = if self.scan.starts_with("(") {
            self.nested(start, |parser| parser.group(start))
        } else if self.scan.starts_with("not") || self.scan.starts_with("!") {
            self.nested(start, |parser| parser.negation(start))
        } else if let Some((all, length)) = self.quantifier() {
            self.nested(start, |parser| parser.quantified(start, all, length))
        } else {
            self.comparison()
        };
        match read {
            Err(Stop::Here) => {
                self.skip_condition();
                let span = self.scan.span_from(start);
                let id = self.add_condition(FilterExpr::Field(u32::MAX), false, span, span)?;
                Ok(Condition { id, many: None })
            }
            other => other,
        }
    }

    fn group(&mut self, start: usize) -> Parsed<Condition> {
        self.scan.advance(1);
        let opened = self.scan.span_from(start);
        self.scan.skip_space();
        let inner = self.condition()?;
        self.scan.skip_space();
        self.close(opened)?;
        Ok(inner)
    }

    /// Takes a closing parenthesis. If there is something else, it is reported, and skipped up to
    /// the parenthesis. If there is none, nothing is left to read.
    pub(super) fn close(&mut self, opened: Span) -> Parsed<()> {
        match self.expect(")", Some(opened)) {
            Err(Stop::Here) => match self.skip_to_close() {
                true => Ok(()),
                false => Err(Stop::Everything),
            },
            other => other,
        }
    }

    fn negation(&mut self, start: usize) -> Parsed<Condition> {
        let is_word = self.scan.eat("not");
        if !is_word {
            self.scan.advance(1);
        }
        let focus = self.scan.span_from(start);
        if is_word {
            self.warn_if_glued(focus, "not");
        }
        self.scan.skip_space();
        let Condition { id, many } = self.simple()?;
        let span = self.scan.span_from(start);
        let id = self.add_condition(FilterExpr::Not(id), many == Some(true), span, focus)?;
        Ok(Condition { id, many })
    }

    /// Whether `any` or `all` with a parenthesis stands here: which, and the length up to the parenthesis.
    pub(super) fn quantifier(&self) -> Option<(bool, usize)> {
        let all = self.scan.starts_with("all");
        if !all && !self.scan.starts_with("any") {
            return None;
        }
        let behind = self.scan.rest().get(3..)?;
        let blanks = behind.len().saturating_sub(behind.trim_start_matches([' ', '\r', '\n']).len());
        behind.get(blanks..)?.starts_with('(').then(|| (all, blanks.saturating_add(3)))
    }

    fn quantified(&mut self, start: usize, all: bool, length: usize) -> Parsed<Condition> {
        self.scan.advance(3);
        let focus = self.scan.span_from(start);
        self.scan.go_to(start.saturating_add(length));
        let opening = self.scan.at();
        self.scan.advance(1);
        let opened = self.scan.span_from(opening);
        self.scan.skip_space();
        let argument_start = self.scan.at();
        let argument = match self.argument() {
            Ok(argument) => self.check_quantified(&argument).map(|()| argument.id),
            Err(stop) => Err(stop),
        };
        let operand = match argument {
            Ok(operand) => operand,
            Err(Stop::Here) => {
                self.skip_argument(argument_start);
                let span = self.scan.span_from(argument_start);
                self.add_condition(FilterExpr::Field(u32::MAX), true, span, span)?
            }
            Err(stop) => return Err(stop),
        };
        self.scan.skip_space();
        self.close(opened)?;
        let span = self.scan.span_from(start);
        let id = self.add_condition(FilterExpr::Quantifier { all, operand }, false, span, focus)?;
        Ok(Condition { id, many: Some(false) })
    }
}
