//! Fields of the structs that are the elements of a host's list: a field that the struct does not have is an error.
//!
//! To the checker such an element is a map with any keys, so `u.heathy` would only fail when it is
//! evaluated. The names are those of the list's layout, so lists without one (sets, deques, maps)
//! are not checked.

use super::locals::Origin;
use super::{Lint, UNKNOWN_FIELD};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{Diagnostic, Expr, FoldKind, NodeId, Reference, Severity, Stage, similar};
use celero_ir::layout;
use std::rc::Rc;

/// The fields of a struct, by name.
pub(super) type Fields = Rc<[(String, layout::Field)]>;

/// Most names that a help lists.
const MAX_LISTED: usize = 16;

/// Most names and selections that are followed from a node to its list: an expression can have any number.
const MAX_STEPS: usize = 64;

/// A struct that is an element of a list, or the part of it whose names begin with a prefix.
struct Record {
    /// The variable that is the list.
    list: u32,
    /// Empty, or ends with a dot.
    prefix: String,
}

impl Lint<'_> {
    /// Reports a field that no element of a list has.
    pub(super) fn unknown_field(&mut self, id: NodeId) {
        let Expr::Select { operand, field, optional: false, .. } = *self.ast.expr(id) else { return };
        let Some(Record { list, prefix }) = self.record(operand) else { return };
        let field = self.ast.name(field);
        let fields = self.fields_of(list);
        let path = format!("{prefix}{field}");
        let group = format!("{path}.");
        if fields.iter().any(|(name, _)| *name == path || name.starts_with(&group)) {
            return;
        }
        let names = fields.iter().filter_map(|(name, _)| name.strip_prefix(&*prefix)?.split('.').next());
        let mut names: Vec<&str> = names.collect();
        names.dedup();
        let help = match similar(field, names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
                format!("the fields are {}", shown.join(", "))
            }
        };
        let list = self.checked_name(list);
        let message = format!("the elements of `{list}` have no field `{path}`");
        let (severity, stage, span) = (Severity::Error, Stage::Check, self.ast.node(id).focus);
        let (code, labels, help) = (UNKNOWN_FIELD, Vec::new(), vec![help]);
        self.found.push(Diagnostic { severity, stage, code, message, span, labels, help });
    }

    /// Returns the layout of the field of an element that a node selects.
    pub(super) fn member(&mut self, id: NodeId) -> Option<layout::Field> {
        let Expr::Select { operand, field, optional: false, test: false } = *self.ast.expr(id) else { return None };
        let Record { list, prefix } = self.record(operand)?;
        let path = format!("{prefix}{}", self.ast.name(field));
        self.fields_of(list).iter().find(|(name, _)| *name == path).map(|(_, field)| field.clone())
    }

    /// The name of a variable, as a node of the rule has it.
    fn checked_name(&self, variable: u32) -> String {
        let mut nodes = (0_u32..).zip(self.ast.nodes());
        let node = nodes.find(|(id, _)| *self.checked.reference(NodeId(*id)) == Reference::Variable(variable));
        let span = node.map(|(id, _)| self.ast.span(NodeId(id))).unwrap_or_default();
        self.ast.source().get(span.start as usize..span.end as usize).unwrap_or("the list").to_owned()
    }

    fn fields_of(&mut self, list: u32) -> Fields {
        let layouts = self.fields;
        let fields = self.records.entry(list).or_insert_with(|| {
            let elements = layouts.get(list as usize).and_then(|field| field.elements.as_ref());
            elements.and_then(|elements| elements.members).map(|members| members.0()).unwrap_or_default().into()
        });
        Rc::clone(fields)
    }

    /// Returns the struct that a node is, or a part of.
    fn record(&mut self, mut id: NodeId) -> Option<Record> {
        let mut selected = Vec::new();
        let list = (0..MAX_STEPS).find_map(|_| match *self.ast.expr(id) {
            Expr::Ident { .. } => match self.origins.of(id) {
                Some(Origin::Item(range) | Origin::Value(range)) => Some(self.list(range)),
                Some(Origin::Bound(value)) => {
                    id = value;
                    None
                }
                _ => Some(None),
            },
            Expr::Index { operand, optional: false, .. } => Some(self.list(operand)),
            Expr::Select { operand, field, test: false, optional: false } => {
                selected.push(field);
                id = operand;
                None
            }
            _ => Some(None),
        })??;
        let prefix: String = selected.iter().rev().flat_map(|name| [self.ast.name(*name), "."]).collect();
        let is_part = prefix.is_empty() || self.fields_of(list).iter().any(|(name, _)| name.starts_with(&prefix));
        is_part.then_some(Record { list, prefix })
    }

    /// Returns the variable whose elements are those of a list, if they are structs.
    fn list(&self, mut id: NodeId) -> Option<u32> {
        (0..MAX_STEPS).find_map(|_| {
            if let Reference::Variable(list) = *self.checked.reference(id) {
                let elements = self.fields.get(list as usize).and_then(|field| field.elements.as_ref());
                return Some(elements.and_then(|elements| elements.members).map(|_| list));
            }
            let next = match *self.ast.expr(id) {
                Expr::Ident { .. } => match self.origins.of(id) {
                    Some(Origin::Bound(value)) => Some(value),
                    _ => None,
                },
                Expr::Fold { kind: FoldKind::Filter, range, .. } => Some(range),
                Expr::Call { .. } => match self.call(id) {
                    Some((Builtin::Slice | Builtin::Distinct | Builtin::ReverseList, operands)) => {
                        operands.first().copied()
                    }
                    _ => None,
                },
                _ => None,
            };
            match next {
                Some(next) => {
                    id = next;
                    None
                }
                None => Some(None),
            }
        })?
    }
}
