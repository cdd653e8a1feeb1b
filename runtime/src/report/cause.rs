//! Failures in words: a message for each kind of error, and what to do about it.

use super::failed::{Failed, Spent};
use super::operand::{Data, literal_text, operand, source_of};
use crate::error::ErrorKind;
use crate::function::{Functions, message_of};
use crate::limits::Limits;
use crate::lint::malformed;
use crate::value::{Value, type_name_of};
use crate::variables::Variables;
use celero_frontend::stdlib::{Builtin, TABLE};
use celero_frontend::{Checked, Expr, NodeId, Overload, Reference, Type};
use celero_matching::pattern::Dialect;
use smallvec::SmallVec;
use std::collections::HashSet;

/// Longest text of the rule that a help text repeats, in bytes.
const MAX_REPEATED: usize = 64;

/// Most overloads that a help text lists.
const MAX_OVERLOADS: usize = 4;

/// A failure that is put into words.
pub(super) struct Cause<'c> {
    pub(super) checked: &'c Checked,
    pub(super) variables: &'c Variables,
    pub(super) functions: &'c Functions,
    pub(super) limits: &'c Limits,
    pub(super) dialect: Dialect,
    pub(super) data: Data,
    pub(super) kind: ErrorKind,
    pub(super) failed: &'c Failed<'c>,
}

/// What a key was looked up in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lookup {
    /// A header map of the host.
    Headers,
    /// A map.
    Map,
}

impl<'c> Cause<'c> {
    /// What is wrong, on one line.
    pub(super) fn message(&self) -> String {
        let message = match self.kind {
            ErrorKind::NoSuchKey => self.no_such_key(),
            ErrorKind::NoSuchField => self.no_such_field(),
            ErrorKind::NoSuchOverload => self.no_such_overload(),
            ErrorKind::DivideByZero => self.operator(|left| format!("division of {left} by zero")),
            ErrorKind::ModulusByZero => self.operator(|left| format!("remainder of {left} by zero")),
            ErrorKind::Overflow => self.overflow(),
            ErrorKind::InvalidArgument => self.invalid_argument(),
            ErrorKind::DuplicateKey => self.duplicate_key(),
            ErrorKind::OutOfBudget => Some(self.out_of_budget()),
            ErrorKind::Host => Some(self.host()),
            ErrorKind::Failed => self.deliberate(),
            ErrorKind::Unknown => None,
        };
        message.unwrap_or_else(|| match self.failed.id {
            Some(id) => format!("{} in {}", self.kind.message(), source_of(self.checked, id)),
            None => self.kind.message().into(),
        })
    }

    /// What the rule's author can do.
    pub(super) fn help(&self) -> Option<String> {
        match self.kind {
            ErrorKind::NoSuchKey => self.guard(),
            ErrorKind::NoSuchOverload => self.overloads(),
            ErrorKind::InvalidArgument => {
                let (_, help) = self.malformed()?;
                (!help.is_empty()).then(|| help.to_owned())
            }
            _ => None,
        }
    }

    fn no_such_key(&self) -> Option<String> {
        let id = self.failed.id?;
        match self.checked.reference(id) {
            Reference::Variable(index) => {
                let name = self.variables.name(*index)?;
                return Some(if name.contains('.') {
                    format!("`{name}` is absent")
                } else {
                    format!("variable `{name}` has no value")
                });
            }
            Reference::Undeclared => return Some(format!("{} is not declared", source_of(self.checked, id))),
            Reference::ListValue { .. } => return Some(format!("the list has no {}", source_of(self.checked, id))),
            _ => {}
        }
        if self.is_cookie(id) {
            return Some(format!("no cookie {}", self.operand(1, self.nodes(id).get(1).copied())));
        }
        let (_, lookup, key) = self.lookup()?;
        let what = match lookup {
            Lookup::Headers => "header",
            Lookup::Map => "key",
        };
        Some(format!("no {what} {key}"))
    }

    /// Whether a node reads a cookie by its name.
    fn is_cookie(&self, id: NodeId) -> bool {
        self.builtins(id).any(|builtin| matches!(builtin, Builtin::CookieOfMap | Builtin::CookieOfLists))
    }

    /// The map of a lookup that failed, what it is, and the key.
    fn lookup(&self) -> Option<(NodeId, Lookup, String)> {
        let (map, key) = match *self.checked.ast().expr(self.failed.id?) {
            Expr::Select { operand, field, .. } => (operand, format!("\"{}\"", self.checked.ast().name(field))),
            Expr::Index { operand, index, .. } => (operand, self.operand(1, Some(index))),
            _ => return None,
        };
        let lookup = match self.checked.reference(map) {
            Reference::Variable(index) if self.variables.is_headers(*index) => Lookup::Headers,
            _ => Lookup::Map,
        };
        Some((map, lookup, key))
    }

    /// How absence is said in a rule.
    fn guard(&self) -> Option<String> {
        let id = self.failed.id?;
        if let Reference::Variable(index) = self.checked.reference(id) {
            let name = self.variables.name(*index)?;
            return Some(format!("guard it with `has({name})`"));
        }
        if self.is_cookie(id) {
            return Some("write `default(.., \"\")` around it for a value in its absence".to_owned());
        }
        if let Reference::ListValue { .. } = self.checked.reference(id) {
            return Some("write `default(.., ..)` around it for a value in its absence".to_owned());
        }
        let (map, lookup, _) = self.lookup()?;
        let (ast, span) = (self.checked.ast(), self.checked.ast().span(map));
        let map = ast.source().get(span.start as usize..span.end as usize)?;
        // A report has one line.
        if map.len() > MAX_REPEATED || map.contains(['\n', '\r']) {
            return None;
        }
        match *ast.expr(id) {
            Expr::Select { field, .. } if lookup == Lookup::Map => {
                Some(format!("guard it with `has({map}.{})`", ast.name(field)))
            }
            Expr::Select { field, .. } => {
                let field = ast.name(field);
                Some(format!("guard it with `has({map}.{field})` or write `{map}[?\"{field}\"].orValue(\"\")`"))
            }
            Expr::Index { index, .. } => {
                let key = literal_text(self.checked, index).filter(|key| key.len() <= MAX_REPEATED)?;
                let key = key.escape_debug();
                let value = if lookup == Lookup::Headers { "\"\"" } else { ".." };
                Some(format!("guard it with `\"{key}\" in {map}` or write `{map}[?\"{key}\"].orValue({value})`"))
            }
            _ => None,
        }
    }

    fn no_such_field(&self) -> Option<String> {
        let Expr::Select { field, .. } = *self.checked.ast().expr(self.failed.id?) else { return None };
        let ty = self.failed.operands.first().map_or("this", Value::type_name);
        Some(format!("`{ty}` has no field `{}`", self.checked.ast().name(field)))
    }

    fn no_such_overload(&self) -> Option<String> {
        let id = self.failed.id?;
        if let Some(value) = &self.failed.not_bool {
            return Some(format!("the result of a rule must be a `bool`, this is a `{}`", value.type_name()));
        }
        let types: Vec<&str> = self.failed.operands.iter().map(Value::type_name).collect();
        if let (Some(needed), [actual]) = (self.failed.needed, types.as_slice()) {
            return Some(format!("{needed} is needed, this is a `{actual}`"));
        }
        let name = self.function(id);
        match (self.checked.reference(id), types.as_slice()) {
            (Reference::Guard(ty), [actual]) => {
                Some(format!("a `{}` is needed, this is a `{actual}`", type_name_of(ty)))
            }
            (Reference::Call { .. }, types) if !types.is_empty() && types.len() == self.nodes(id).len() => {
                Some(format!("no overload of `{}` takes ({})", name?, types.join(", ")))
            }
            (_, [actual]) if matches!(self.checked.ast().expr(id), Expr::Fold { .. }) => {
                Some(format!("a list or map is needed, this is a `{actual}`"))
            }
            _ => name.map(|name| format!("no overload of `{name}` takes these types")),
        }
    }

    /// The overloads that there are.
    fn overloads(&self) -> Option<String> {
        let Failed { id, needed: None, not_bool: None, .. } = *self.failed else { return None };
        let id = id?;
        let Reference::Call { overloads, .. } = self.checked.reference(id) else { return None };
        if overloads.is_empty() || overloads.len() > MAX_OVERLOADS {
            return None;
        }
        let params = |overload: &Overload| -> Option<String> {
            let params: &[Type] = match overload {
                Overload::Builtin(builtin) => &TABLE.row(*builtin)?.params,
                Overload::Host(index) => self.functions.params(*index)?,
                Overload::Defined(_) => return None,
            };
            let types: Vec<String> = params.iter().map(ToString::to_string).collect();
            Some(format!("({})", types.join(", ")))
        };
        let all: Option<Vec<String>> = overloads.iter().map(params).collect();
        Some(format!("it takes {}", all?.join(" or ")))
    }

    /// A message about the first operand.
    fn operator(&self, message: impl Fn(String) -> String) -> Option<String> {
        let id = self.failed.id?;
        let first = self.nodes(id).first().copied();
        Some(message(self.operand(0, first)))
    }

    fn overflow(&self) -> Option<String> {
        let id = self.failed.id?;
        let nodes = self.nodes(id);
        let operands: Vec<String> =
            (0..nodes.len()).map(|index| self.operand(index, nodes.get(index).copied())).collect();
        let what = match (self.checked.ast().expr(id), operands.as_slice()) {
            (Expr::Binary { .. }, [left, right]) => format!("{left} {} {right}", self.function(id)?),
            (Expr::Unary { .. }, [only]) => format!("-{only}"),
            (_, operands) => format!("{}({})", self.function(id)?, operands.join(", ")),
        };
        let ty = self.checked.type_of(id);
        Some(format!("{what} is out of the range of `{}`", type_name_of(ty)))
    }

    fn invalid_argument(&self) -> Option<String> {
        let id = self.failed.id?;
        if let (Expr::Index { index, .. }, [Value::List(list), position]) =
            (self.checked.ast().expr(id), self.failed.operands.as_slice())
        {
            let position = operand(self.checked, Some(*index), Some(position), self.data);
            let elements = match list.len() {
                1 => "1 element".into(),
                len => format!("{len} elements"),
            };
            return Some(format!("index {position} is out of bounds: the list has {elements}"));
        }
        if let Some((message, _)) = self.malformed() {
            return Some(message);
        }
        let nodes = self.nodes(id);
        let operands: Vec<String> =
            (0..nodes.len()).map(|index| self.operand(index, nodes.get(index).copied())).collect();
        Some(format!("`{}` does not accept ({})", self.function(id)?, operands.join(", ")))
    }

    /// What is wrong with the text that a function of the library got.
    fn malformed(&self) -> Option<(String, &'static str)> {
        let id = self.failed.id?;
        let nodes = self.nodes(id);
        let quoted = |index: usize| self.operand(index, nodes.get(index).copied());
        self.builtins(id).find_map(|builtin| malformed(builtin, &self.failed.operands, self.dialect, quoted))
    }

    fn duplicate_key(&self) -> Option<String> {
        let operands = self.failed.operands.as_slice();
        let id = self.failed.id?;
        let key = match self.checked.ast().expr(id) {
            Expr::Map { entries, .. } => {
                let nodes = self.checked.ast().children(*entries);
                let keys: Vec<String> = (0..operands.len().max(nodes.len()))
                    .step_by(2)
                    .map(|index| self.operand(index, nodes.get(index).copied()))
                    .collect();
                let mut seen = HashSet::new();
                keys.into_iter().find(|key| !seen.insert(key.clone()))?
            }
            // Of a macro's map it is known only that a key is twice in it.
            _ => operand(self.checked, None, Some(operands.first()?), self.data),
        };
        Some(format!("key {key} is twice in the map"))
    }

    fn out_of_budget(&self) -> String {
        let Limits { steps, memory, .. } = self.limits;
        let limit = match self.failed.spent {
            Some(Spent::Steps) => format!("{steps} steps"),
            Some(Spent::Memory) => format!("{memory} bytes of memory"),
            None => format!("{steps} steps or {memory} bytes of memory"),
        };
        let budget = format!("the evaluation needs more than {limit}");
        match self.failed.id {
            Some(id) => format!("{budget}; it ended in {}", source_of(self.checked, id)),
            None => budget,
        }
    }

    fn host(&self) -> String {
        let Some(id) = self.failed.id else {
            return "the host's data failed, or has other variables than the rule".into();
        };
        if let Reference::Variable(index) = self.checked.reference(id) {
            let name = self.variables.name(*index).unwrap_or_default();
            return match &self.failed.message {
                Some(message) => format!("the host failed to read `{name}`: {message}"),
                None => format!("the host failed to read `{name}`"),
            };
        }
        let host = |overload: &Overload| match overload {
            Overload::Host(index) => self.functions.name(*index),
            _ => None,
        };
        let Reference::Call { overloads, .. } = self.checked.reference(id) else { return self.kind.message().into() };
        let Some(name) = overloads.iter().find_map(host) else { return self.kind.message().into() };
        match (&self.failed.message, message_of(name)) {
            (Some(message), _) => format!("`{name}` failed: {message}"),
            // It is not called again, so this may be about a later failure.
            (None, Some(message)) => format!("`{name}` failed; its last message on this thread: {message}"),
            (None, None) => format!("`{name}` failed"),
        }
    }

    fn deliberate(&self) -> Option<String> {
        let id = self.failed.id?;
        let text = self.nodes(id).first().copied();
        Some(format!("the rule failed on purpose: {}", self.operand(0, text)))
    }

    fn operand(&self, index: usize, node: Option<NodeId>) -> String {
        operand(self.checked, node, self.failed.operands.get(index), self.data)
    }

    /// The operands of a node, the receiver first.
    fn nodes(&self, id: NodeId) -> SmallVec<[NodeId; 4]> {
        let ast = self.checked.ast();
        match *ast.expr(id) {
            Expr::Unary { operand, .. } => SmallVec::from_slice(&[operand]),
            Expr::Binary { left, right, .. } => SmallVec::from_slice(&[left, right]),
            Expr::Index { operand, index, .. } => SmallVec::from_slice(&[operand, index]),
            Expr::Call { target, args, .. } => {
                let receiver = matches!(self.checked.reference(id), Reference::Call { receiver: true, .. });
                target.filter(|_| receiver).into_iter().chain(ast.children(args).iter().copied()).collect()
            }
            _ => SmallVec::new(),
        }
    }

    /// The functions of the library that a node may call.
    fn builtins(&self, id: NodeId) -> impl Iterator<Item = Builtin> + use<'c> {
        let overloads: &'c [Overload] = match self.checked.reference(id) {
            Reference::Call { overloads, .. } => overloads,
            _ => &[],
        };
        overloads.iter().filter_map(|overload| match overload {
            Overload::Builtin(builtin) => Some(*builtin),
            _ => None,
        })
    }

    /// The function or operator of a node, as rules write it.
    fn function(&self, id: NodeId) -> Option<String> {
        let operator = |name: &str| name.trim_matches(['_', '@']).replace("[_]", "[]").replace("[_", "[]");
        match self.checked.ast().expr(id) {
            Expr::Binary { op, .. } => Some(operator(op.function())),
            Expr::Unary { op, .. } => Some(operator(op.function())),
            Expr::Index { .. } => Some("[]".into()),
            Expr::Call { function, .. } => Some(self.checked.ast().name(*function).to_owned()),
            _ => None,
        }
    }
}
