//! Calls and their arguments, checked against the function's parameters.

use super::logic::Condition;
use super::value::Value;
use super::{Parsed, Parser, Stop};
use crate::ast::NodeId;
use crate::diagnostic::{Diagnostic, Label, Stage};
use crate::filter::codes;
use crate::filter::function::{Accepts, ArgumentKind, FilterFunction, LiteralRule, ResultType};
use crate::filter::literal::{FilterLiteral, Wildcard, check_pattern, fault_with_help};
use crate::filter::tree::{FilterExpr, FilterNode};
use crate::filter::types::FilterType;
use crate::span::Span;

/// An argument.
pub(super) struct Argument {
    pub(super) id: NodeId,
    /// Its type, of each value if there are many; unknown if something in it is wrong.
    ty: Option<FilterType>,
    /// Whether it has many values, because of `[*]`.
    each: bool,
    literal: bool,
}

impl Parser<'_> {
    /// Reads the arguments of a call.
    pub(super) fn call(&mut self, index: u32, start: usize, focus: Span) -> Parsed<Value> {
        self.scan.skip_space();
        let level = self.scan.at();
        self.nested(level, |parser| parser.call_inside(index, start, focus))
    }

    fn call_inside(&mut self, index: u32, start: usize, focus: Span) -> Parsed<Value> {
        let scheme = self.scheme;
        let Some(function) = scheme.functions().get(index as usize) else { return Err(Stop::Here) };
        let opening = self.scan.at();
        self.expect("(", None)?;
        let opened = self.scan.span_from(opening);
        self.bound_calls(index, function, focus)?;
        self.scan.skip_space();
        let mut ids = Vec::new();
        let mut first: Option<Argument> = None;
        let mut failed = false;
        while !self.scan.starts_with(")") && self.scan.peek().is_some() {
            let argument_start = self.scan.at();
            match self.next_argument(function, ids.len(), first.as_ref()) {
                Ok(argument) => {
                    ids.push(argument.id);
                    if ids.len() == 1 {
                        first = Some(argument);
                    }
                }
                Err(Stop::Here) => {
                    failed = true;
                    self.skip_argument(argument_start);
                    // The argument still counts.
                    ids.push(NodeId(0));
                }
                Err(stop) => return Err(stop),
            }
            self.scan.skip_space();
        }
        if !failed && ids.len() < function.required.len() {
            let here = self.scan.here();
            if let Stop::Everything = self.wrong_count(function, here) {
                return Err(Stop::Everything);
            }
        }
        self.close(opened)?;
        // Whether the function is called for many values follows from the first argument: if that
        // is wrong, so is the type.
        let known = first.is_some() || !failed;
        let (first_type, each) = first.map_or((None, false), |argument| (argument.ty, argument.each));
        let result = match &function.result {
            ResultType::Type(ty) => known.then(|| ty.clone()),
            ResultType::SameAsFirst => first_type,
        };
        let ty = result.map(|ty| if each { FilterType::array(ty) } else { ty });
        let args = self.children(&ids);
        let node = FilterNode {
            expr: FilterExpr::Call { function: index, args },
            ty: ty.clone().unwrap_or(FilterType::Bool),
            each: false,
            span: self.scan.span_from(start),
            focus,
        };
        Ok(Value { id: self.add(node)?, ty, each: false })
    }

    /// Reads a comma, unless this is the first argument, and an argument, and checks it.
    fn next_argument(&mut self, function: &FilterFunction, index: usize, first: Option<&Argument>) -> Parsed<Argument> {
        if index > 0 {
            self.expect(",", None)?;
            self.scan.skip_space();
        }
        if function.most_arguments().is_some_and(|most| index >= most) {
            let here = self.scan.here();
            return Err(self.wrong_count(function, here));
        }
        let argument = self.argument()?;
        let span = self.span_of(argument.id);
        if argument.each && index > 0 {
            let message = "invalid use of map each access operator";
            let mut error = Diagnostic::error(Stage::Check, codes::MAP_EACH, span, message);
            error.help.push("a function is called for each value of its first argument only".to_owned());
            return Err(self.report(error));
        }
        self.check_argument(function, index, &argument, first.and_then(|first| first.ty.as_ref()), span)?;
        Ok(argument)
    }

    fn check_argument(
        &mut self,
        function: &FilterFunction,
        index: usize,
        argument: &Argument,
        first: Option<&FilterType>,
        span: Span,
    ) -> Parsed<()> {
        let (Some(parameter), Some(ty)) = (function.parameter(index), &argument.ty) else { return Ok(()) };
        let wanted = match parameter.kind {
            ArgumentKind::Literal if !argument.literal => Some(("Literal", "Field")),
            ArgumentKind::Field if argument.literal => Some(("Field", "Literal")),
            _ => None,
        };
        if let Some((expected, actual)) = wanted {
            let message =
                format!("invalid kind of argument #{index}: expected argument of kind {expected}, but got {actual}");
            let mut error = Diagnostic::error(Stage::Check, codes::ARGUMENT_KIND, span, message);
            error.help.push(format!("the signature is `{function}`"));
            return Err(self.report(error));
        }
        // If something is wrong in the first argument, what must have its type is not checked.
        let undecided = first.is_none() && parameter.accepts.iter().any(Accepts::follows_first);
        if !undecided && !parameter.takes(ty, first) {
            let message = format!(
                "invalid type of argument #{index}: expected value of type {}, but got {ty}",
                parameter.wanted(first)
            );
            let mut error = Diagnostic::error(Stage::Check, codes::ARGUMENT_TYPE, span, message);
            error.help.push(format!("the signature is `{function}`"));
            return Err(self.report(error));
        }
        let FilterExpr::Literal(literal) = self.expr_of(argument.id) else { return Ok(()) };
        match self.broken_rule(parameter.rule, &literal) {
            None => Ok(()),
            Some(why) => self.wrong(codes::ARGUMENT_VALUE, span, format!("invalid value of argument #{index}: {why}")),
        }
    }

    fn expr_of(&self, id: NodeId) -> FilterExpr {
        self.nodes.get(id.0 as usize).map_or(FilterExpr::Field(u32::MAX), |node| node.expr.clone())
    }

    /// Why a literal is not what a parameter asks for.
    fn broken_rule(&self, rule: LiteralRule, literal: &FilterLiteral) -> Option<String> {
        match (rule, literal) {
            (LiteralRule::Between(first, last), FilterLiteral::Int(value)) if !(first..=last).contains(value) => {
                Some(format!("{value} is not between {first} and {last}"))
            }
            (LiteralRule::NotEmpty, FilterLiteral::Bytes(bytes)) if bytes.value.is_empty() => {
                Some("the string is empty".to_owned())
            }
            (LiteralRule::Pattern, FilterLiteral::Bytes(bytes)) => match std::str::from_utf8(&bytes.value) {
                Ok(text) => check_pattern(text).err().map(|problem| problem.message),
                Err(_) => Some("the regular expression is not UTF-8".to_owned()),
            },
            (LiteralRule::Wildcard, FilterLiteral::Bytes(bytes)) => {
                Wildcard::new(bytes.clone(), self.options.max_wildcard_stars).err().map(|invalid| invalid.to_string())
            }
            (LiteralRule::Flags(allowed), FilterLiteral::Bytes(bytes)) => {
                let known = |byte: &u8| allowed.bytes().any(|flag| flag == *byte);
                let twice = |(at, byte): (usize, &u8)| bytes.value.iter().take(at).any(|before| before == byte);
                let valid = bytes.value.iter().all(known) && !bytes.value.iter().enumerate().any(twice);
                (!valid).then(|| format!("the flags are \"{allowed}\", each at most once"))
            }
            _ => None,
        }
    }

    fn wrong_count(&mut self, function: &FilterFunction, span: Span) -> Stop {
        let mut error = Diagnostic::error(Stage::Check, codes::ARGUMENT_COUNT, span, "invalid number of arguments");
        let least = function.required.len();
        let wanted = match function.most_arguments() {
            None => format!("at least {least} arguments"),
            Some(1) if least == 1 => "one argument".to_owned(),
            Some(most) if most == least => format!("{least} arguments"),
            Some(most) => format!("{least} to {most} arguments"),
        };
        error.help.push(format!("`{}` takes {wanted}", function.name));
        error.help.push(format!("the signature is `{function}`"));
        self.report(error)
    }

    /// Counts the calls of a function that may be called only so often.
    fn bound_calls(&mut self, index: u32, function: &FilterFunction, focus: Span) -> Parsed<()> {
        let Some(most) = function.most_calls.filter(|_| self.options.bound_calls) else { return Ok(()) };
        let count = match self.calls.iter_mut().find(|(called, _)| *called == index) {
            Some((_, count)) => {
                *count = count.saturating_add(1);
                *count
            }
            None => {
                self.calls.push((index, 1));
                1
            }
        };
        if count <= most {
            return Ok(());
        }
        let message = format!("`{}` is called {count} times in one expression; the limit is {most}", function.name);
        let error = Diagnostic::error(Stage::Check, codes::ONCE, focus, message);
        match self.report(error) {
            Stop::Here => Ok(()),
            stop => Err(stop),
        }
    }

    /// Reads an argument: a string, a condition in parentheses or with `not`, `any` or `all`, a
    /// value, a comparison, an address, a number or bytes.
    pub(super) fn argument(&mut self) -> Parsed<Argument> {
        let start = self.scan.at();
        if ["\"", "r\"", "r#"].into_iter().any(|word| self.scan.starts_with(word)) {
            let literal = self.read(|scan| scan.bytes())?;
            return self.literal_argument(FilterLiteral::Bytes(literal), start);
        }
        let is_condition = ["(", "not", "!"].into_iter().any(|word| self.scan.starts_with(word));
        if is_condition || self.quantifier().is_some() {
            return Ok(of_condition(self.condition()?));
        }
        if let Some(value) = self.value_argument(start)? {
            return Ok(value);
        }
        if let Some(literal) = self.blind_literal() {
            return self.literal_argument(literal, start);
        }
        let name = self.scan.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let span = self.scan.span_from(start);
            return Err(self.unknown_identifier(span));
        }
        self.scan.go_to(start);
        let help = "an argument is a field, a call, a string, a number, an address or a condition";
        let error = fault_with_help(codes::TRAILING, self.scan.here(), "unrecognised input", help);
        Err(self.report(*error))
    }

    /// Reads an argument that begins with the name of a field or function, if it does. It is a
    /// comparison if an operator follows.
    fn value_argument(&mut self, start: usize) -> Parsed<Option<Argument>> {
        let name = self.scan.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        self.scan.go_to(start);
        // A name that ends with a dot, or has two in a row, is no name, but may be the beginning of a literal.
        let known = self.scheme.named(name).is_some();
        let hexadecimal = |c: char| c.is_ascii_hexdigit() || c == '.';
        let only_a_name = name.chars().take(3).any(|c| !hexadecimal(c)) && !name.starts_with("0x");
        if !known && !only_a_name {
            return Ok(None);
        }
        let value = self.value()?;
        let behind = self.scan.at();
        self.scan.skip_space();
        let compares = self.operator().is_some();
        self.scan.go_to(behind);
        if compares {
            return Ok(Some(of_condition(self.comparison_of(value, start)?)));
        }
        let Value { id, ty, each } = value;
        Ok(Some(Argument { id, ty, each, literal: false }))
    }

    fn literal_argument(&mut self, literal: FilterLiteral, start: usize) -> Parsed<Argument> {
        let (ty, span) = (literal.filter_type(), self.scan.span_from(start));
        let node = FilterNode { expr: FilterExpr::Literal(literal), ty: ty.clone(), each: false, span, focus: span };
        Ok(Argument { id: self.add(node)?, ty: Some(ty), each: false, literal: true })
    }

    /// Requires an `Array<Bool>`, for `any` and `all`.
    pub(super) fn check_quantified(&mut self, argument: &Argument) -> Parsed<()> {
        let wanted = FilterType::array(FilterType::Bool);
        let span = self.span_of(argument.id);
        if argument.literal {
            let message = "invalid kind of argument #0: expected argument of kind Field, but got Literal";
            return self.wrong(codes::ARGUMENT_KIND, span, message);
        }
        let Some(ty) = &argument.ty else { return Ok(()) };
        if *ty == wanted && !argument.each {
            return Ok(());
        }
        // Many arrays are an array of arrays; a single array is written without `[*]`.
        let got = if argument.each && *ty == wanted { FilterType::array(ty.clone()) } else { ty.clone() };
        let message = format!("invalid type of argument #0: expected value of type {wanted}, but got {got}");
        let mut error = Diagnostic::error(Stage::Check, codes::ARGUMENT_TYPE, span, message);
        match ty {
            FilterType::Bool if argument.each => error.help.push("leave out `[*]`".to_owned()),
            FilterType::Array(_) | FilterType::Map(_) => {
                error.help.push("compare each value: `any(x[*] eq ..)`".to_owned());
            }
            FilterType::Bool => {
                error.labels.push(Label { span, text: "this has one result".to_owned() });
                error.help.push("a value with `[*]` has many: `any(x[*] eq ..)`".to_owned());
            }
            _ => error.help.push("compare it: `any(x[*] eq ..)`".to_owned()),
        }
        Err(self.report(error))
    }
}

/// A condition as an argument.
fn of_condition(condition: Condition) -> Argument {
    let ty = condition.many.map(|many| if many { FilterType::array(FilterType::Bool) } else { FilterType::Bool });
    Argument { id: condition.id, ty, each: false, literal: false }
}
