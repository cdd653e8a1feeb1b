//! What an author probably meant by an expression that has an error, written anew: the checker's helps that
//! repeat parts of the rule.

use super::names::Meaning;
use super::select::Path;
use super::{Argument, Checker, codes};
use crate::ast::{BinaryOp, Expr, Literal, LogicOp, Name, NodeId};
use crate::cel::{foreign, foreign_names};
use crate::diagnostic::Diagnostic;
use crate::similar::similar;
use crate::types::Type;

/// Most literals that one help lists.
const MAX_ALTERNATIVES: usize = 32;

/// Returns the key that a text begins with, in brackets or behind a dot: `["page"]`, `.page`.
fn key_at(text: &str) -> Option<&str> {
    if let Some(text) = text.strip_prefix('.') {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let (key, behind) = text.split_at_checked(end)?;
        return (!key.is_empty() && !behind.starts_with('(')).then_some(key);
    }
    let text = text.strip_prefix('[')?;
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (key, behind) = text.strip_prefix(quote)?.split_once(quote)?;
    (!key.is_empty() && behind.starts_with(']')).then_some(key)
}

impl<'a> Checker<'a> {
    /// Returns the source of a node, if a message can repeat it.
    pub(super) fn written(&self, id: NodeId) -> Option<&'a str> {
        let span = self.ast.span(id);
        foreign::repeated(self.ast.source().get(span.start as usize..span.end as usize)?)
    }

    /// Returns the source of a node as the value that a method is called on.
    pub(super) fn receiver(&self, id: NodeId) -> Option<String> {
        let text = self.written(id)?;
        let is_operation = matches!(
            self.ast.expr(id),
            Expr::Binary { .. } | Expr::Logic { .. } | Expr::Cond { .. } | Expr::Unary { .. }
        );
        Some(if is_operation { format!("({text})") } else { text.to_owned() })
    }

    fn is_number(&self, id: NodeId) -> bool {
        matches!(self.ast.expr(id), Expr::Literal(Literal::Int(_) | Literal::Uint(_) | Literal::Double(_)))
    }

    fn is_truth(&self, id: NodeId) -> bool {
        matches!(self.ast.expr(id), Expr::Literal(Literal::Bool(_)))
    }

    pub(super) fn is_text(&self, id: NodeId) -> bool {
        self.text_of(id).is_some()
    }

    /// The text that a literal is.
    pub(super) fn text_of(&self, id: NodeId) -> Option<&'a str> {
        match self.ast.expr(id) {
            Expr::Literal(Literal::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the help for a name that other proxies have for a part of a request.
    pub(super) fn foreign_name(&self, path: &[&str]) -> Option<String> {
        foreign_names::help(path, self.names.declarations)
    }

    /// Returns the help for a path that is a name of other proxies, with what follows its last part after `-`.
    pub(super) fn name_meant(&self, path: &Path) -> Option<String> {
        if self.full() {
            return None;
        }
        let parts = self.path_parts(path);
        let (last, before) = parts.split_last()?;
        let last = format!("{last}{}", self.rest_of_name(*path.nodes.last()?));
        let whole: Vec<&str> = before.iter().copied().chain([&*last]).collect();
        self.foreign_part(&whole, *path.nodes.last()?)
    }

    /// Returns the help for a path that is a name of other proxies, with the key that follows its last node, `id`, if
    /// such a part has a name too: `request.params["page"]`.
    fn foreign_part(&self, path: &[&str], id: NodeId) -> Option<String> {
        let part = || {
            let source = self.ast.source();
            let key = key_at(source.get(self.ast.span(id).end as usize..)?)?;
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' && !path.contains(&"body");
            let whole: Vec<&str> = path.iter().copied().chain([key]).collect();
            if key.chars().all(is_plain) { self.foreign_name(&whole) } else { None }
        };
        part().or_else(|| self.foreign_name(path))
    }

    /// Returns the last error that points at a node and has this code.
    pub(super) fn error_at(&mut self, id: NodeId, code: &str) -> Option<&mut Diagnostic> {
        let span = self.ast.node(id).focus;
        self.errors.iter_mut().rev().find(|error| error.span == span && error.code == code)
    }

    /// Replaces the helps of an error about `a` in `a.?b` if `a.b` is the name of a variable.
    pub(super) fn explain_optional_name(&mut self, operand: NodeId, field: Name) {
        if self.errors.is_empty() || self.full() {
            return;
        }
        let Some(mut path) = self.path(operand) else { return };
        path.names.push(field);
        let parts = self.path_parts(&path);
        let Some((count, Meaning::Variable(index, _))) = self.names.resolve(&parts, path.rooted) else { return };
        if count != parts.len() {
            return;
        }
        let name = self.show_path(&path.names);
        let variable = self.names.declarations.variables().get(index as usize);
        let help = match variable.is_some_and(|variable| variable.optional) {
            true => format!("`{name}` is one name: write `default({name}, ..)`, or test for it with `has({name})`"),
            false => format!("`{name}` is one name, and never absent: write `{name}`"),
        };
        if let Some(error) = self.error_at(operand, codes::UNDECLARED_NAME) {
            error.help = vec![help];
        }
    }

    /// Reports a difference that is a name with `-`, such as `request.headers.x-team`; once for each name. Returns
    /// whether the difference is one.
    pub(super) fn report_dashed(&mut self, id: NodeId, op: BinaryOp, left: (NodeId, &Type), right: NodeId) -> bool {
        if op != BinaryOp::Sub {
            return false;
        }
        let (left, ty) = left;
        let start = self.ast.span(right).start;
        let is_part = matches!(self.ast.expr(left), Expr::Select { .. } | Expr::Binary { op: BinaryOp::Sub, .. })
            && self.ast.span(left).end.checked_add(1) == Some(start);
        let rest = self.ast.source().get(start as usize..).unwrap_or_default();
        if !is_part || !rest.starts_with(|c: char| c.is_ascii_alphabetic()) || self.full() {
            return false;
        }
        if *ty == Type::Error {
            return true;
        }
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let Some(help) = foreign::dashed(self.ast.source(), start as usize, length) else { return false };
        if self.infer.shallow(ty) != Type::String {
            return false;
        }
        let message = "no overload of `-` takes `string`".to_owned();
        self.error(codes::NO_OVERLOAD, self.ast.node(id).focus, message).help.push(help);
        true
    }

    /// Returns the help for a method of the request as a whole, as in `req.get("x-team")`.
    pub(super) fn request_method(&self, target: NodeId, name: &str, args: &[NodeId]) -> Option<String> {
        let part = match name {
            "get" | "header" | "getHeader" | "get_header" => "headers",
            "param" | "getParam" | "queryParam" => "params",
            "getCookie" => "cookies",
            _ => return None,
        };
        let &[argument] = args else { return None };
        let Expr::Literal(Literal::String(argument)) = self.ast.expr(argument) else { return None };
        let path = self.path(target).filter(|path| self.local_of(path).is_none() && !self.full())?;
        let parts = self.path_parts(&path);
        let &[request @ ("request" | "req" | "input")] = &*parts else { return None };
        self.foreign_name(&[request, part, argument])
    }

    /// Returns what follows a node that ends with a name: `-team` of `x-team`.
    fn rest_of_name(&self, id: NodeId) -> &'a str {
        let source = self.ast.source();
        let rest = source.get(self.ast.span(id).end as usize..).unwrap_or_default();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        rest.get(..length).filter(|rest| rest.starts_with('-') && rest.len() > 1).unwrap_or_default()
    }

    /// Returns the help for a field of a value that has none.
    pub(super) fn field_meant(&self, id: NodeId, operand: &Type, name: &str) -> Option<String> {
        if !self.full()
            && let Some(path) = self.path(id)
            && let Some(help) = self.foreign_part(&self.path_parts(&path), id)
        {
            return Some(help);
        }
        if self.full() {
            return None;
        }
        let Expr::Select { operand: of, test: false, .. } = *self.ast.expr(id) else { return None };
        let has_size = matches!(operand, Type::String | Type::Bytes | Type::List(_) | Type::Map(_));
        let function = match name {
            "size" | "length" | "len" | "count" if has_size => "size",
            _ => {
                let mut signatures = self.names.signatures(name).into_iter();
                signatures.find(|s| s.receiver && s.params.len() == 1 && s.params.first() == Some(operand))?;
                name
            }
        };
        Some(format!("write `{}.{function}()`", self.receiver(of)?))
    }

    /// Returns the help for operands that fit no overload, which repeats them.
    pub(super) fn operands_meant(&self, name: &str, types: &[Type], args: &[Argument]) -> Option<String> {
        if self.full() {
            return None;
        }
        if let ("slice", [Type::String, ..], [(text, _), others @ ..]) = (name, types, args) {
            let others: Vec<NodeId> = others.iter().map(|(id, _)| *id).collect();
            return self.as_method("substring", *text, &others).map(|written| format!("write `{written}`"));
        }
        let &[(left, _), (right, _)] = args else { return None };
        let written = match (name, types) {
            ("_[_]", [Type::String, Type::Int]) if self.names.function("charAt", false).is_some() => {
                format!("{}.charAt({})", self.receiver(left)?, self.written(right)?)
            }
            ("_[_]", [Type::String | Type::Bytes, Type::String]) => {
                let Expr::Literal(Literal::String(key)) = self.ast.expr(right) else { return None };
                let path = self.path(left)?;
                let parts = self.path_parts(&path);
                if let ([_, "body"], Type::Bytes) = (&*parts, types.first()?) {
                    let key = self.written(right)?;
                    return Some(format!("did you mean `json({})[{key}]`?", parts.join(".")));
                }
                let parts: Vec<&str> = parts.iter().copied().chain([&**key]).collect();
                return self.foreign_name(&parts);
            }
            // A chain of comparisons, as in Python: `1 < x < 9`.
            ("_<_" | "_<=_" | "_>_" | "_>=_", [Type::Bool, _]) => {
                let Expr::Binary {
                    op: BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, right: middle, ..
                } = *self.ast.expr(left)
                else {
                    return None;
                };
                let sign = super::report::symbol(name);
                format!("{} && {} {sign} {}", self.written(left)?, self.written(middle)?, self.written(right)?)
            }
            ("_<_" | "_<=_" | "_>_" | "_>=_", [Type::String, number]) if !self.is_text(left) => {
                let (function, sign) = (number_function(number)?, super::report::symbol(name));
                format!("{function}({}) {sign} {}", self.written(left)?, self.written(right)?)
            }
            ("_<_" | "_<=_" | "_>_" | "_>=_", [number, Type::String]) if !self.is_text(right) => {
                let (function, sign) = (number_function(number)?, super::report::symbol(name));
                format!("{} {sign} {function}({})", self.written(left)?, self.written(right)?)
            }
            ("_==_" | "_!=_", [Type::String, Type::Int | Type::Uint | Type::Double]) if self.is_number(right) => {
                let sign = super::report::symbol(name);
                format!("{} {sign} \"{}\"", self.written(left)?, self.written(right)?.trim_end_matches('u'))
            }
            ("_==_" | "_!=_", [Type::String, Type::Bool]) if self.is_truth(right) => {
                let sign = super::report::symbol(name);
                format!("{} {sign} \"{}\"", self.written(left)?, self.written(right)?)
            }
            ("_==_" | "_!=_", [Type::Int, Type::String]) if self.is_text(right) => {
                let (sign, number) = (super::report::symbol(name), self.text_of(right)?.parse::<i64>().ok()?);
                format!("{} {sign} {number}", self.written(left)?)
            }
            // A parameter of a query may be there several times.
            ("_==_" | "_!=_", [Type::List(element), other]) if **element == *other => {
                let test = format!("{} in {}", self.receiver(right)?, self.receiver(left)?);
                if name == "_==_" { test } else { format!("!({test})") }
            }
            ("contains", [Type::List(_) | Type::Map(_), _]) => {
                format!("{} in {}", self.receiver(right)?, self.receiver(left)?)
            }
            ("contains" | "startsWith" | "endsWith" | "matches", [Type::Bytes, Type::String]) => {
                format!("string({}).{name}({})", self.written(left)?, self.written(right)?)
            }
            ("@in", [Type::String | Type::Opaque(..), Type::Opaque(network, _)]) if **network == *"net.CIDR" => {
                format!("{}.containsIP({})", self.receiver(right)?, self.written(left)?)
            }
            ("_==_" | "_!=_", [_, Type::Null]) => return self.presence(left, name == "_!=_"),
            ("_==_" | "_!=_", [Type::Null, _]) => return self.presence(right, name == "_!=_"),
            ("@in", [Type::String, Type::String]) => match (self.is_text(left), self.is_text(right)) {
                (false, true) => self.in_text(left, right)?,
                (true, false) => format!("{}.contains({})", self.receiver(right)?, self.written(left)?),
                _ => return None,
            },
            _ => return None,
        };
        Some(format!("write `{written}`"))
    }

    /// Whether an operand of `||` or `&&` is a literal that is no `bool`.
    pub(super) fn is_alternative(&self, id: NodeId) -> bool {
        matches!(self.ast.expr(id), Expr::Literal(literal) if !matches!(literal, Literal::Bool(_) | Literal::Null))
    }

    /// Returns the help for the first of some literals as operands of `||` or `&&` after a comparison with another, as
    /// in `a == 'b' || 'c'`.
    pub(super) fn alternatives(&self, op: LogicOp, operands: &[NodeId], at: usize) -> Option<String> {
        let (before, others) = operands.split_at_checked(at)?;
        let base = *before.last().filter(|id| !self.is_alternative(**id))?;
        let others = others.iter().take_while(|id| self.is_alternative(**id)).take(MAX_ALTERNATIVES);
        let others: Option<Vec<&str>> = others.map(|id| self.written(*id)).collect();
        let others = others.filter(|others| !others.is_empty() && !self.full())?;
        let written = match *self.ast.expr(base) {
            Expr::Binary { op: op @ (BinaryOp::Eq | BinaryOp::Ne), left, right } if self.is_alternative(right) => {
                let list: Vec<&str> = std::iter::once(self.written(right)?).chain(others).collect();
                let test = format!("{} in [{}]", self.written(left)?, list.join(", "));
                if op == BinaryOp::Eq { test } else { format!("!({test})") }
            }
            Expr::Call { target: Some(_), args, .. } => {
                let &[argument] = self.ast.children(args) else { return None };
                let (whole, part) = (self.ast.span(base), self.ast.span(argument));
                let source = self.ast.source();
                let before = source.get(whole.start as usize..part.start as usize)?;
                let after = source.get(part.end as usize..whole.end as usize)?;
                let symbol = if op == LogicOp::And { " && " } else { " || " };
                let own = self.written(argument).filter(|_| self.is_alternative(argument))?;
                let all = std::iter::once(own).chain(others).map(|text| format!("{before}{text}{after}"));
                all.collect::<Vec<_>>().join(symbol)
            }
            _ => return None,
        };
        foreign::repeated(&written).map(|written| format!("write `{written}`"))
    }

    /// Returns the help for a call of a function of another language, which repeats its operands.
    pub(super) fn call_meant(&self, name: &str, target: Option<NodeId>, args: &[NodeId]) -> Option<String> {
        if self.full() {
            return None;
        }
        let written = match (name, target, args) {
            ("equals" | "equal" | "isEqual" | "eq", Some(target), &[other]) => {
                format!("{} == {}", self.receiver(target)?, self.receiver(other)?)
            }
            ("equalsIgnoreCase", Some(target), &[other]) => {
                format!("{}.lowerAscii() == {}.lowerAscii()", self.receiver(target)?, self.receiver(other)?)
            }
            ("isEmpty" | "is_empty" | "empty", Some(target), []) => format!("{}.size() == 0", self.receiver(target)?),
            ("get", Some(target), &[key]) => format!("{}[{}]", self.receiver(target)?, self.written(key)?),
            ("exists" | "any" | "has", Some(target), &[key]) if self.is_text(key) => {
                format!("{} in {}", self.receiver(key)?, self.receiver(target)?)
            }
            ("containsKey" | "hasKey" | "has_key" | "contains_key", Some(target), &[key]) => {
                format!("{} in {}", self.receiver(key)?, self.receiver(target)?)
            }
            ("now", None, []) => return self.foreign_name(&["now"]),
            (_, None, _) if let Some(help) = self.list_call(name, args) => return Some(help),
            (_, _, _) if foreign::is_network_test(name) => {
                let all: Vec<NodeId> = target.into_iter().chain(args.iter().copied()).collect();
                self.network_test(name, &all)?
            }
            (_, None, &[first, ref others @ ..]) => {
                let names = self.names.function_names();
                let meant = foreign::function(name)
                    .or_else(|| similar(&foreign::camel_case(name), names.iter().copied()))
                    .or_else(|| names.iter().copied().find(|known| *known == foreign::camel_case(name)))?;
                let signatures = self.names.signatures(meant);
                if signatures.is_empty() || signatures.iter().any(|s| !s.receiver) {
                    return None;
                }
                self.as_method(meant, first, others)?
            }
            _ => return None,
        };
        Some(format!("write `{written}`"))
    }

    pub(super) fn as_method(&self, name: &str, first: NodeId, others: &[NodeId]) -> Option<String> {
        let others: Option<Vec<&str>> = others.iter().map(|id| self.written(*id)).collect();
        Some(format!("{}.{name}({})", self.receiver(first)?, others?.join(", ")))
    }

    /// Returns a call in the other form: as a method instead of a function, or the reverse.
    pub(super) fn other_form(&self, name: &str, receiver: bool, args: &[Argument]) -> Option<String> {
        let nodes: Vec<NodeId> = args.iter().map(|(node, _)| *node).collect();
        if !receiver {
            let (first, others) = nodes.split_first()?;
            return self.as_method(name, *first, others);
        }
        let all: Option<Vec<&str>> = nodes.iter().map(|id| self.written(*id)).collect();
        Some(format!("{name}({})", all?.join(", ")))
    }
}

/// The function that reads a number of this type from a text.
fn number_function(number: &Type) -> Option<&'static str> {
    match number {
        Type::Int => Some("int"),
        Type::Uint => Some("uint"),
        Type::Double => Some("double"),
        _ => None,
    }
}
