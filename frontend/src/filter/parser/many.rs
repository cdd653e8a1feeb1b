//! What an author probably meant who compares an array or a map as if it were one value.

use super::lists::MAX_EXAMINED;
use super::operators::Operator;
use super::{Parsed, Parser, Stop};
use crate::ast::NodeId;
use crate::diagnostic::{Diagnostic, Stage};
use crate::filter::codes;
use crate::filter::tree::OrderOp;
use crate::filter::types::FilterType;
use crate::span::Span;

/// Whether a text ends with `any(` or `all(`.
fn opens_quantifier(text: &str) -> bool {
    text.trim_end().strip_suffix('(').is_some_and(|text| {
        let text = text.trim_end();
        let name = text.rfind(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.'));
        matches!(text.get(name.map_or(0, |at| at.saturating_add(1))..), Some("any" | "all"))
    })
}

impl Parser<'_> {
    /// Returns the help for a comparison of an array or a map, if its elements can be compared so. The operator has
    /// been read, up to the right side; `focus` is its place.
    pub(super) fn comparison_of_each(
        &mut self,
        value: NodeId,
        ty: &FilterType,
        operator: Operator,
        focus: Span,
    ) -> Option<String> {
        let (mut element, mut stars) = (ty, String::new());
        while let FilterType::Array(inner) | FilterType::Map(inner) = element {
            element = inner;
            stars.push_str("[*]");
        }
        if stars.is_empty() || *element == FilterType::Bool {
            return None;
        }
        let text = self.scan.text();
        let short = |start: usize, end: usize| text.get(start..end).filter(|text| text.len() <= MAX_EXAMINED);
        let span = self.span_of(value);
        let (start, end) = (span.start as usize, span.end as usize);
        let value = short(start, end)?;
        let word = text.get(focus.start as usize..focus.end as usize)?;
        let right = self.scan.at();
        let read = self.tried(|parser| parser.right_side(operator, element, focus).map(|_| parser.scan.at()));
        let right = match read {
            Ok(end) => short(right, end).unwrap_or(".."),
            Err(codes::OPERATION) => return None,
            Err(_) => "..",
        };
        let comparison = format!("{value}{stars} {word} {right}");
        if text.get(..start).is_some_and(opens_quantifier) {
            return Some(format!("write `{comparison}`"));
        }
        let quantifier = if matches!(operator, Operator::Order(OrderOp::NotEqual)) { "all" } else { "any" };
        Some(format!("write `{quantifier}({comparison})`"))
    }

    /// Reads something and goes back. Returns what was read, or the code of the first error.
    fn tried<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Result<T, &'static str> {
        let (at, items) = (self.scan.at(), self.items);
        let (diagnostics, warnings) = (self.diagnostics.len(), self.scan.warnings.len());
        let result = read(self).map_err(|_: Stop| self.diagnostics.get(diagnostics).map_or("", |error| error.code));
        self.scan.go_to(at);
        self.items = items;
        self.diagnostics.truncate(diagnostics);
        self.scan.warnings.truncate(warnings);
        result
    }

    /// Reports an operator that a type does not have.
    pub(super) fn unsupported(&mut self, ty: &FilterType, focus: Span, help: String) -> Stop {
        let message = format!("cannot perform this operation on type {ty}");
        let mut error = Diagnostic::error(Stage::Check, codes::OPERATION, focus, message);
        error.help.push(help);
        self.report(error)
    }
}
