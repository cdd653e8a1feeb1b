//! The right side of `in`: a set in braces, or the name of a list.

use super::{Parsed, Parser, Stop};
use crate::diagnostic::{Diagnostic, Label, Stage};
use crate::filter::codes;
use crate::filter::literal::{BytesLiteral, FilterLiteral, IpItem, Scanner, SetItems, fault, fault_with_help};
use crate::filter::scheme::{is_list_name, is_listable};
use crate::filter::tree::Comparison;
use crate::filter::types::FilterType;
use crate::span::Span;
use std::collections::HashMap;
use std::hash::Hash;

/// Reads a literal or an item.
type Reader<T> = fn(&mut Scanner<'_>) -> Result<T, Box<Diagnostic>>;

impl Parser<'_> {
    /// Reads a set or a list's name.
    pub(super) fn membership(&mut self, ty: &FilterType, focus: Span) -> Parsed<Comparison> {
        if self.scan.starts_with("$") {
            return self.list(ty, focus);
        }
        let start = self.scan.at();
        if !self.scan.eat("{") {
            return Err(self.not_a_set(ty));
        }
        let opened = self.scan.span_from(start);
        let items = match ty {
            FilterType::Int => SetItems::Ints(self.items(ty, opened, |scan| scan.integer_item(), |&item| item)?.into()),
            FilterType::Ip => SetItems::Ips(self.items(ty, opened, |scan| scan.address_item(), IpItem::bounds)?.into()),
            _ => {
                let key = |item: &BytesLiteral| item.value.clone();
                SetItems::Bytes(self.items(ty, opened, |scan| scan.bytes(), key)?.into())
            }
        };
        if items.is_empty() {
            let place = self.scan.span_from(start);
            self.scan.warn_if_strict(codes::EMPTY_SET, place, "this set is empty", "the comparison is never true");
        }
        Ok(Comparison::OneOf(items))
    }

    /// Reads items up to the closing brace. `key` is what equal items have in common.
    fn items<T, K: Hash + Eq>(
        &mut self,
        ty: &FilterType,
        opened: Span,
        read: Reader<T>,
        key: impl Fn(&T) -> K,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        let mut seen = HashMap::new();
        let mut failed = false;
        loop {
            self.scan.skip_space();
            if self.scan.eat("}") {
                return if failed { Err(Stop::Here) } else { Ok(items) };
            }
            let start = self.scan.at();
            if self.scan.peek().is_none() {
                self.expect("}", Some(opened))?;
            }
            if self.goes_on_behind_set() {
                let mut error = fault(codes::EXPECTED, self.scan.here(), "expected literal \"}\"");
                error.labels.push(Label { span: opened, text: "opened here".to_owned() });
                // It closes no parenthesis, so it was meant to close the set.
                if self.nesting == 0 && self.scan.eat(")") {
                    error.help.push("a set ends with `}`".to_owned());
                }
                return Err(self.report(*error));
            }
            let item = if self.scan.starts_with(",") {
                let help = "items are separated by blanks, not commas";
                let message = "expected an item or literal \"}\"";
                let error = fault_with_help(codes::EXPECTED, self.scan.here(), message, help);
                Err(self.report(*error))
            } else {
                self.read(read)
            };
            match item {
                Ok(item) => {
                    if self.options.strict {
                        let place = self.scan.span_from(start);
                        if let Some(&first) = seen.get(&key(&item)) {
                            self.warn_of_duplicate(place, first);
                        } else {
                            seen.insert(key(&item), place);
                        }
                    }
                    items.push(item);
                    self.items = self.items.saturating_add(1);
                    self.check_size(opened)?;
                }
                Err(Stop::Here) => {
                    failed = true;
                    self.explain_item(opened.start as usize, start, ty);
                    self.explain_hyphen(start, ty);
                    self.skip_item(start);
                }
                Err(Stop::Everything) => return Err(Stop::Everything),
            }
        }
    }

    fn warn_of_duplicate(&mut self, place: Span, first: Span) {
        self.scan.warn_if_strict(codes::DUPLICATE, place, "this item is in the set already", "remove one of the two");
        let label = Label { span: first, text: "first here".to_owned() };
        if let Some(warning) = self.scan.warnings.last_mut() {
            warning.labels.push(label);
        }
    }

    /// Reads `$name`.
    fn list(&mut self, ty: &FilterType, focus: Span) -> Parsed<Comparison> {
        let start = self.scan.at();
        self.scan.advance(1);
        let name = self.scan.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
        let place = self.scan.span_from(start);
        if !is_list_name(name) {
            let help = "a list's name has `a` to `z`, `0` to `9`, `_` and inner dots";
            let error = fault_with_help(codes::LIST_NAME, place, format!("invalid list name {name:?}"), help);
            return Err(self.report(*error));
        }
        if !is_listable(ty) {
            return self.wrong(
                codes::OPERATION,
                focus.to(place),
                format!("cannot perform this operation on type {ty}: there are no lists of this type"),
            );
        }
        if !self.scheme.has_list(name, ty) {
            let message = format!("unknown list `${name}` of type {ty}");
            let mut error = Diagnostic::error(Stage::Check, codes::UNKNOWN_LIST, place, message);
            if let Some(meant) = self.scheme.similar_list(name, ty) {
                error.help.push(format!("did you mean `${meant}`?"));
            }
            error.help.push(self.scheme.known_lists(ty));
            return Err(self.report(error));
        }
        Ok(Comparison::InList(name.into()))
    }

    /// Reads an argument that is an address, a number or bytes, tried in this order, if it is one.
    pub(super) fn blind_literal(&mut self) -> Option<FilterLiteral> {
        let start = self.scan.at();
        let readers: [Reader<FilterLiteral>; 3] = [
            |scan| scan.address().map(FilterLiteral::Ip),
            |scan| scan.integer().map(FilterLiteral::Int),
            |scan| scan.bytes().map(FilterLiteral::Bytes),
        ];
        for read in readers {
            let warnings = self.scan.warnings.len();
            if let Ok(literal) = read(&mut self.scan) {
                return Some(literal);
            }
            self.scan.warnings.truncate(warnings);
            self.scan.go_to(start);
        }
        None
    }
}
