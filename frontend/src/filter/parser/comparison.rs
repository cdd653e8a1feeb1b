//! Comparisons: a value, an operator, and the literal that the value's type asks for.

use super::logic::Condition;
use super::operators::{OPERATORS, Operator};
use super::value::Value;
use super::{Parsed, Parser, Stop};
use crate::ast::NodeId;
use crate::diagnostic::{Diagnostic, Stage};
use crate::filter::codes;
use crate::filter::literal::FilterLiteral;
use crate::filter::scheme::Named;
use crate::filter::tree::{Comparison, FilterExpr, OrderOp};
use crate::filter::types::FilterType;
use crate::span::Span;

/// The operators of a type, for messages.
fn operators_of(ty: &FilterType) -> &'static str {
    match ty {
        FilterType::Int => "`eq`, `ne`, `lt`, `le`, `gt`, `ge`, `&` or `in`",
        FilterType::Ip => "`eq`, `ne` or `in`",
        FilterType::Bytes => {
            "`eq`, `ne`, `lt`, `le`, `gt`, `ge`, `contains`, `matches`, `wildcard`, `strict wildcard` or `in`"
        }
        FilterType::Bool => "no operator: it is a condition itself",
        FilterType::Array(_) | FilterType::Map(_) => "an index: `[*]` for each value",
    }
}

impl Parser<'_> {
    /// The operator that stands here, with its length.
    pub(super) fn operator(&self) -> Option<(Operator, usize)> {
        let found = OPERATORS.iter().find(|(word, _)| self.scan.starts_with(word));
        found.map(|(word, operator)| (*operator, word.len()))
    }

    /// Reads a comparison, or a value that is a condition itself.
    pub(super) fn comparison(&mut self) -> Parsed<Condition> {
        let start = self.scan.at();
        let value = self.value()?;
        self.comparison_of(value, start)
    }

    /// Reads what stands behind the value of a comparison.
    pub(super) fn comparison_of(&mut self, value: Value, start: usize) -> Parsed<Condition> {
        // The type is unknown only if something was reported.
        let Some(ty) = value.ty else { return Err(Stop::Here) };
        if ty == FilterType::Bool || ty.is_bool_array() {
            let many = value.each || ty.is_bool_array();
            let span = self.span_of(value.id);
            if value.each && ty.is_bool_array() {
                let nested = FilterType::array(FilterType::array(FilterType::Bool));
                let message = format!("cannot perform this operation on type {nested}");
                return self.wrong(codes::OPERATION, span, message);
            }
            let id = self.add_condition(FilterExpr::Test(value.id), many, span, span)?;
            return Ok(Condition { id, many: Some(many) });
        }
        self.scan.skip_space();
        let operator_start = self.scan.at();
        let Some((operator, length)) = self.operator() else { return Err(self.no_operator(&ty, value.id)) };
        self.scan.advance(length);
        let focus = self.scan.span_from(operator_start);
        let word = self.scan.text().get(operator_start..self.scan.at()).unwrap_or("");
        if word.ends_with(|c: char| c.is_ascii_alphabetic()) {
            self.warn_if_glued(focus, word);
        }
        self.scan.skip_space();
        let (right, errors) = (self.scan.at(), self.diagnostics.len());
        if let Some(help) = self.comparison_of_each(value.id, &ty, operator, focus) {
            return Err(self.unsupported(&ty, focus, help));
        }
        let comparison = match self.right_side(operator, &ty, focus) {
            Ok(comparison) => comparison,
            Err(stop) => {
                let negated = matches!(operator, Operator::Order(OrderOp::NotEqual));
                if !matches!(operator, Operator::In)
                    && let Some(help) = self.list_instead(value.id, &ty, right, negated)
                    && let Some(error) = self.diagnostics.get_mut(errors)
                {
                    error.help = vec![help];
                }
                return Err(stop);
            }
        };
        let span = self.scan.span_from(start);
        let expr = FilterExpr::Compare { value: value.id, comparison };
        let id = self.add_condition(expr, value.each, span, focus)?;
        Ok(Condition { id, many: Some(value.each) })
    }

    pub(super) fn right_side(&mut self, operator: Operator, ty: &FilterType, focus: Span) -> Parsed<Comparison> {
        match (operator, ty) {
            (Operator::In, FilterType::Int | FilterType::Ip | FilterType::Bytes) => self.membership(ty, focus),
            (Operator::Order(op), FilterType::Int) => {
                Ok(Comparison::Order(op, FilterLiteral::Int(self.read(|scan| scan.integer())?)))
            }
            (Operator::Order(op), FilterType::Ip) => {
                if !matches!(op, OrderOp::Equal | OrderOp::NotEqual) {
                    let help = "use `in {first..last}`";
                    self.scan.warn_if_strict(codes::IP_ORDER, focus, "addresses are ordered", help);
                }
                Ok(Comparison::Order(op, FilterLiteral::Ip(self.read(|scan| scan.address())?)))
            }
            (Operator::Order(op), FilterType::Bytes) => {
                Ok(Comparison::Order(op, FilterLiteral::Bytes(self.read(|scan| scan.bytes())?)))
            }
            (Operator::BitwiseAnd, FilterType::Int) => Ok(Comparison::BitwiseAnd(self.read(|scan| scan.integer())?)),
            (Operator::Contains, FilterType::Bytes) => Ok(Comparison::Contains(self.read(|scan| scan.bytes())?)),
            (Operator::Matches, FilterType::Bytes) => Ok(Comparison::Matches(self.read(|scan| scan.pattern())?)),
            (Operator::Wildcard | Operator::StrictWildcard, FilterType::Bytes) => {
                let most = self.options.max_wildcard_stars;
                let wildcard = self.read(|scan| scan.wildcard(most))?;
                Ok(match operator {
                    Operator::Wildcard => Comparison::Wildcard(wildcard),
                    _ => Comparison::StrictWildcard(wildcard),
                })
            }
            _ => {
                let help = format!("a value of type {ty} takes {}", operators_of(ty));
                Err(self.unsupported(ty, focus, help))
            }
        }
    }

    /// What stands here is not an operator.
    fn no_operator(&mut self, ty: &FilterType, value: NodeId) -> Stop {
        let span = self.scan.here();
        let word = self.word_here().to_owned();
        let span = if word.is_empty() { span } else { Span::new(span.start, span.start.saturating_add(length(&word))) };
        let mut error = Diagnostic::error(Stage::Parse, codes::OPERATOR, span, "expected ComparisonOp");
        let meant = match word.to_ascii_lowercase().as_str() {
            "=" | "is" | "equals" | "equal" | "===" => Some("eq"),
            "<>" | "isnt" | "not_equal" => Some("ne"),
            "=~" | "regex" | "match" => Some("matches"),
            "like" => Some("wildcard"),
            "has" | "includes" | "include" | "contain" => Some("contains"),
            "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "in" | "contains" | "matches" | "wildcard" => None,
            lower => crate::similar::similar(lower, OPERATORS.iter().map(|(word, _)| *word)),
        };
        if let Some((name, call)) = self.call_instead(&word, value) {
            error.help.push(format!("`{name}` is a function, not an operator: `{call}`"));
        } else if let Some(meant) = meant {
            error.help.push(format!("did you mean `{meant}`?"));
        } else if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
            error.help.push(format!("operators are written in lower case: `{}`", word.to_ascii_lowercase()));
        } else if self.scan.starts_with("not ") {
            error.help.push("`not` stands before the whole comparison: `not x in {..}`".to_owned());
        } else if self.scan.starts_with("[") {
            error.help.push("no blank may stand before `[`".to_owned());
        } else {
            error.help.push(format!("a value of type {ty} takes {}", operators_of(ty)));
        }
        error.help.extend(self.hint_at_tab());
        self.report(error)
    }

    /// The function of a name, as it is or with capital letters for underscores, `startsWith`, and its name.
    fn function_named(&self, word: &str) -> Option<(u32, String)> {
        let mut snake = String::new();
        for letter in word.chars() {
            if letter.is_ascii_uppercase() && !snake.is_empty() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        }
        match self.scheme.named(&snake) {
            Some(Named::Function(index)) => Some((index, snake)),
            _ => None,
        }
    }

    /// The name of a function and a call of it instead of a word that stands here as if it were an
    /// operator, if there is a function of this name that takes the value first.
    fn call_instead(&mut self, word: &str, value: NodeId) -> Option<(String, String)> {
        let (index, name) = self.function_named(word)?;
        let node = self.nodes.get(value.0 as usize)?;
        let function = self.scheme.functions().get(index as usize)?;
        if !function.parameter(0).is_some_and(|first| first.takes(&node.ty, None)) {
            return None;
        }
        let text = self.scan.text();
        let value = text.get(node.span.start as usize..node.span.end as usize)?;
        let start = self.scan.at();
        self.scan.advance(word.len());
        self.scan.skip_space();
        let argument = self.scan.at();
        let literal = self.blind_literal().is_some();
        let argument = self.scan.text().get(argument..self.scan.at()).filter(|_| literal).unwrap_or("..").to_owned();
        self.scan.go_to(start);
        let call = format!("{name}({value}, {argument})");
        Some((name, call))
    }
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::FILTER_WORDS;

    #[test]
    fn tools_know_every_word_that_is_an_operator() {
        for (operator, _) in OPERATORS.iter().filter(|(operator, _)| operator.starts_with(|c: char| c.is_alphabetic()))
        {
            assert!(FILTER_WORDS.iter().any(|(word, _)| word == operator), "{operator}");
        }
        assert!(FILTER_WORDS.is_sorted());
    }
}
