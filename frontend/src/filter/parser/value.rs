//! Values: fields, calls, and the parts of their values.

use super::lists::MAX_EXAMINED;
use super::operators::is_word_of_operator;
use super::{Parsed, Parser, Stop};
use crate::ast::NodeId;
use crate::diagnostic::{Diagnostic, Stage};
use crate::filter::codes;
use crate::filter::literal::fault;
use crate::filter::scheme::Named;
use crate::filter::tree::{AccessStep, FilterExpr, FilterNode};
use crate::filter::types::FilterType;
use crate::span::Span;

/// A value. The type is unknown if an argument that it follows from is wrong.
pub(super) struct Value {
    pub(super) id: NodeId,
    /// The type, of each value if there are many.
    pub(super) ty: Option<FilterType>,
    /// Whether there are many values, because of `[*]`.
    pub(super) each: bool,
}

/// The field of requests that a name of CEL or of another proxy stands for.
fn foreign_field(name: &str) -> Option<&'static str> {
    let part = ["http.request.", "http.", "request.", "req."]
        .into_iter()
        .find_map(|start| name.strip_prefix(start))
        .unwrap_or(name);
    Some(match part {
        "ip" | "client.ip" | "client_ip" | "clientIp" | "remote_addr" | "remote_ip" | "source.address"
        | "source.ip" | "src.ip" | "ip.source" | "ip.address" => "ip.src",
        "path" | "uri.path" | "url.path" => "http.request.uri.path",
        "query" | "uri.query" | "url.query" => "http.request.uri.query",
        "uri" | "url" => "http.request.uri",
        "method" | "verb" => "http.request.method",
        "host" | "hostname" => "http.host",
        "headers" => "http.request.headers",
        "cookies" => "http.request.cookies",
        "args" | "params" | "query_params" | "uri.params" => "http.request.uri.args",
        _ => return None,
    })
}

impl Parser<'_> {
    /// Reads a field or call, and the parts that are taken of it.
    pub(super) fn value(&mut self) -> Parsed<Value> {
        let start = self.scan.at();
        let name = self.identifier()?;
        let focus = self.scan.span_from(start);
        let base = match name {
            Some(Named::Field(index)) => {
                let ty = self.scheme.fields().get(index as usize).map(|field| field.ty.clone());
                let node = FilterNode {
                    expr: FilterExpr::Field(index),
                    ty: ty.clone().unwrap_or(FilterType::Bool),
                    each: false,
                    span: focus,
                    focus,
                };
                Value { id: self.add(node)?, ty, each: false }
            }
            Some(Named::Function(index)) => self.call(index, start, focus)?,
            None => return Err(self.unknown_identifier(focus)),
        };
        self.access(base, start)
    }

    /// Reads a name and looks it up. The longest name is taken, then looked up as it is.
    pub(super) fn identifier(&mut self) -> Parsed<Option<Named>> {
        let start = self.scan.at();
        loop {
            if self.scan.take_while(|c| c.is_ascii_alphanumeric() || c == '_').is_empty() {
                let mut error = fault(codes::IDENTIFIER, self.scan.here(), "expected identifier character");
                error.help.extend(self.hint_at_identifier());
                return Err(self.report(*error));
            }
            if !self.scan.eat(".") {
                break;
            }
        }
        let name = self.scan.text().get(start..self.scan.at()).unwrap_or("");
        Ok(self.scheme.named(name))
    }

    pub(super) fn unknown_identifier(&mut self, span: Span) -> Stop {
        let name = self.scan.text().get(span.start as usize..span.end as usize).unwrap_or("").to_owned();
        let mut error = Diagnostic::error(Stage::Check, codes::UNKNOWN_IDENTIFIER, span, "unknown identifier");
        // CEL's functions have capitals: `startsWith`.
        let snake: String = name.chars().fold(String::new(), |mut snake, letter| {
            if letter.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
            snake
        });
        if let Some(header) = name.strip_prefix("http.request.headers.") {
            let rest = self.scan.text().get(span.end as usize..).unwrap_or("");
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
            let header = format!("{header}{}", rest.get(..length).unwrap_or("")).to_ascii_lowercase();
            error.help.push(format!("a header is `http.request.headers[\"{header}\"][0]`, or `[*]` for all its lines"));
        } else if name == "if" || name == "when" {
            error.help.push(format!("a rule is a condition, without `{name}`"));
        } else if let Some((value, method)) = self.method(&name).or_else(|| self.method(&snake)) {
            error.help.push(format!("functions stand before their values: `{method}({value}, ..)`"));
        } else if is_word_of_operator(&name)
            && self.scan.text().get(span.end as usize..).is_some_and(|rest| rest.starts_with('('))
        {
            error.help.push(format!("`{name}` is an operator, not a function: `VALUE {name} ..`"));
        } else if let Some(meant) = foreign_field(&name).filter(|meant| self.scheme.named(meant).is_some()) {
            let part = self.part_meant(meant, span.end).unwrap_or_default();
            error.help.push(format!("did you mean `{meant}{part}`?"));
        } else if let Some(meant) = self.scheme.similar_name(&name) {
            error.help.push(format!("did you mean `{meant}`?"));
        } else if name.starts_with("any") || name.starts_with("all") {
            error.help.push("`any` and `all` are followed by a parenthesis".to_owned());
        }
        let before = self.scan.text().get(..span.start as usize).unwrap_or("");
        if before.ends_with("not") {
            error.help.push(format!("`not{name}` is read as `not {name}`"));
        }
        self.report(error)
    }

    /// Returns what is written behind a field for the part of a key that stands at `start`: `["key"][0]`; `None` if
    /// the text says which values of the key it is about.
    fn part_meant(&self, field: &str, start: u32) -> Option<String> {
        let Some(Named::Field(index)) = self.scheme.named(field) else { return None };
        let ty = &self.scheme.fields().get(index as usize)?.ty;
        let FilterType::Map(values) = ty else { return None };
        let rest = self.scan.text().get(start as usize..)?.strip_prefix("[\"")?;
        let (key, behind) = rest.split_once('"')?;
        let behind = behind.strip_prefix(']')?;
        let is_plain = key.len() <= MAX_EXAMINED && !key.contains('\\');
        let is_each = matches!(**values, FilterType::Array(_)) && !behind.starts_with('[');
        let key = if field.ends_with(".headers") { key.to_ascii_lowercase() } else { key.to_owned() };
        (is_plain && is_each).then(|| format!("[\"{key}\"][0]"))
    }

    /// A field and a function whose names an unknown one consists of: `http.host.starts_with`.
    fn method<'n>(&self, name: &'n str) -> Option<(&'n str, &'n str)> {
        let (value, method) = name.rsplit_once('.')?;
        let is_call = matches!(self.scheme.named(method), Some(Named::Function(_)));
        let is_field = matches!(self.scheme.named(value), Some(Named::Field(_)));
        (is_call && is_field).then_some((value, method))
    }

    /// Reads `[..]`, any number of times. No blank may stand before the bracket.
    fn access(&mut self, base: Value, start: usize) -> Parsed<Value> {
        let Value { id, mut ty, mut each } = base;
        let mut steps = Vec::new();
        let mut focus = None;
        while self.scan.starts_with("[") {
            let opening = self.scan.at();
            self.scan.advance(1);
            let opened = self.scan.span_from(opening);
            self.scan.skip_space();
            let step = self.step()?;
            self.scan.skip_space();
            self.expect("]", Some(opened))?;
            let place = self.scan.span_from(opening);
            if let Some(known) = &ty {
                let part = match (&step, known) {
                    (AccessStep::Index(_) | AccessStep::Each, FilterType::Array(element)) => element,
                    (AccessStep::Key(_) | AccessStep::Each, FilterType::Map(value)) => value,
                    _ => return self.wrong_access(&step, known.clone(), place),
                };
                ty = Some((**part).clone());
            }
            each |= step == AccessStep::Each;
            focus.get_or_insert(place);
            steps.push(step);
        }
        let Some(focus) = focus else { return Ok(Value { id, ty, each }) };
        let node = FilterNode {
            expr: FilterExpr::Access { base: id, steps: steps.into() },
            ty: ty.clone().unwrap_or(FilterType::Bool),
            each,
            span: self.scan.span_from(start),
            focus,
        };
        Ok(Value { id: self.add(node)?, ty, each })
    }

    /// Reads what stands between the brackets.
    fn step(&mut self) -> Parsed<AccessStep> {
        let start = self.scan.at();
        if self.scan.eat("*") {
            return Ok(AccessStep::Each);
        }
        if self.scan.starts_with("\"") {
            let key = self.read(|scan| scan.quoted())?;
            let place = self.scan.span_from(start);
            return match String::from_utf8(key) {
                Ok(key) => Ok(AccessStep::Key(key.into())),
                Err(_) => {
                    let error = fault(codes::INDEX, place, "expected utf8 string");
                    Err(self.report(*error))
                }
            };
        }
        let digits = self.scan.peek().is_some_and(|byte| byte.is_ascii_digit() || byte == b'-');
        let number = if digits { self.read(|scan| scan.integer()).map(Some)? } else { None };
        let place = if digits { self.scan.span_from(start) } else { self.scan.here() };
        match number.map(u32::try_from) {
            Some(Ok(index)) => Ok(AccessStep::Index(index)),
            Some(Err(_)) => {
                let error = fault(codes::INDEX, place, "expected positive integer as index");
                Err(self.report(*error))
            }
            None => {
                let mut error = fault(codes::INDEX, place, "expected quoted utf8 string or positive integer");
                if self.scan.starts_with("r\"") || self.scan.starts_with("r#") {
                    error.help.push("a key cannot be a raw string".to_owned());
                }
                Err(self.report(*error))
            }
        }
    }

    fn wrong_access(&mut self, step: &AccessStep, ty: FilterType, place: Span) -> Parsed<Value> {
        let shown = match step {
            AccessStep::Index(index) => format!("ArrayIndex({index})"),
            AccessStep::Key(key) => format!("MapKey({key:?})"),
            AccessStep::Each => "MapEach".to_owned(),
        };
        let message = format!("cannot access index {shown} for type {ty}");
        let mut error = Diagnostic::error(Stage::Check, codes::INDEX_ACCESS, place, message);
        match (step, &ty) {
            (AccessStep::Index(_), FilterType::Map(_)) => error.help.push("a map has keys: `[\"key\"]`".to_owned()),
            (AccessStep::Key(_), FilterType::Array(_)) => {
                error.help.push("an array has numbered elements: `[0]`, or `[*]` for all".to_owned());
            }
            (AccessStep::Key(key), FilterType::Bytes) => {
                let before = self.scan.text().get(..place.start as usize).unwrap_or("");
                if before.ends_with("http.cookie") && self.scheme.named("http.request.cookies").is_some() {
                    error.help.push(format!("a cookie is `http.request.cookies[\"{key}\"][0]`"));
                } else {
                    error.help.push("a text has no parts: remove the brackets".to_owned());
                }
            }
            _ => {}
        }
        Err(self.report(error))
    }
}
