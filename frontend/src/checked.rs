//! The checked tree: the syntax tree plus, for each node, its type and what its name or call refers to.
//!
//! The interpreter and the lowering use only this tree; neither resolves names again.
//!
//! Invariant: every name and every call of a checked tree refers to a declaration. Later stages do not look names up.
//! Test: `frontend/tests/it/verify.rs::names_and_calls_refer_to_what_is_declared`.

use crate::ast::{Ast, Expr, NodeId};
use crate::per_node::{Leaf, PerNode};
use crate::stdlib::Overload;
use crate::types::Type;
use std::sync::Arc;

/// What a node's name, operator or call refers to.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reference {
    /// Nothing to resolve (literals, folds, selections from a value, ...).
    #[default]
    None,
    /// An `Ident`, or the outermost `Select` of a qualified name, that is a declared variable (by
    /// index). A `Select` with `test` evaluates to whether the variable is present. Nodes below are
    /// not evaluated, and have the type `dyn`.
    Variable(u32),
    /// An `Ident` that is a macro's variable. Levels count from the root inwards: each `Fold`,
    /// `Bind` and `OptMap` whose scope the node is in takes the next level for `var`, and one more
    /// for `var2`. The range of a `Fold`, the value of a `Bind` and the target of an `OptMap` are
    /// outside of its scope.
    Local(u32),
    /// An `Ident` or `Select` that names a type, used as a value: `int`, `google.protobuf.Timestamp`.
    Type(Type),
    /// A `Call`, `Unary`, `Binary`, `Index` or optional selection: the overloads that may apply, in
    /// declared order. With one candidate, and no operand that is `dyn`, a wrapper or `null` where
    /// the parameter is not, the call is static; otherwise the values' types choose at evaluation.
    Call {
        /// The candidates. Empty only in unchecked mode, where the call then is the error "no such overload".
        overloads: Box<[Overload]>,
        /// Whether a call's target is its first argument. Otherwise the target was part of the
        /// function's qualified name and is not evaluated.
        receiver: bool,
    },
    /// A `Call` with one argument, which [`inline`](crate::inline) puts around arguments and
    /// results: the argument's value if it is of the type, as far as evaluation can tell types
    /// apart, else the error "no such overload".
    Guard(Type),
    /// A `Binary` `in` whose right operand names a declared list (by index): whether the list
    /// contains the left operand. The right operand is not evaluated, and has the type `dyn`.
    InList(u32),
    /// The value that a declared list has for a key: see [`Checked::list_access`].
    ListValue {
        /// The list, by index.
        list: u32,
        /// The field of its values, by number; 0 if they have none.
        field: u32,
    },
    /// An `Ident` or `Select` that names the value of an enum: its number.
    Constant(i64),
    /// A `Message` of a declared type, by its full name.
    Message(Arc<str>),
    /// Unchecked mode only: an `Ident` or the type of a `Message` that is not declared. Evaluating it is an error.
    Undeclared,
}

impl Reference {
    /// Whether a node with this reference is a name as a whole: what is below it is not evaluated.
    #[must_use]
    pub fn is_name(&self) -> bool {
        matches!(self, Self::Variable(_) | Self::Local(_) | Self::Type(_) | Self::Constant(_) | Self::Undeclared)
    }
}

impl Leaf for Reference {
    fn is_leaf(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// How a node reads a value of a list: `lists.NAME[key].field`, or `lists.NAME[key]` if its values
/// have no fields. Only the key is evaluated.
///
/// An absent key or field is the error "no such key", as in maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListAccess {
    /// The list, by index.
    pub list: u32,
    /// The field, by number; 0 if its values have none.
    pub field: u32,
    /// The key.
    pub key: NodeId,
    /// `has(lists.NAME[key].field)`: the result is whether the entry has the field.
    pub test: bool,
    /// `lists.NAME[?key]`: the result is an optional, without a value if the key or the field is
    /// absent; with `test`, false.
    pub optional_key: bool,
    /// `lists.NAME[key].?field`: the result is an optional, without a value if the field is absent.
    pub optional_field: bool,
}

/// An expression in which every node has a type and every name refers to something declared.
///
/// A [`Language`](crate::Language) builds one with [`TreeBuilder`](crate::TreeBuilder). Later
/// stages rely on the following, which [`verify`](Self::verify) tests:
///
/// - The source and the tree keep the [`Limits`](crate::Limits) on bytes, nodes and depth.
/// - A node's children have smaller ids, and its depth is one more than the deepest child's.
/// - Spans are inside the source, at character boundaries.
/// - An expression has the parts that its kind needs: a map keys and values in turn, a chain at least two operands.
/// - Every node has a type without parameters, inference variables and errors, within the bounds on types.
/// - An `in` that asks a list refers to a declared list, and what reads a value to a list with values.
/// - Every evaluated name refers to a variable, a macro's variable or a type. Every evaluated
///   operator and call refers to declared functions, whose parameters match its operands in number
///   and possibly in type.
/// - Every evaluated node has one parent, except names and literals, so that evaluating each node
///   once for each parent takes time linear in the number of nodes.
#[derive(Clone, Debug)]
pub struct Checked {
    ast: Ast,
    types: PerNode<Type>,
    references: PerNode<Reference>,
}

impl Checked {
    /// Returns a tree from the types of its nodes and what they refer to. The invariants must hold.
    pub(crate) fn new_unverified(ast: Ast, types: PerNode<Type>, references: PerNode<Reference>) -> Self {
        Self { ast, types, references }
    }

    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.references.values()
    }

    /// Whether the expression asks a list: whether it [has a value](Reference::InList), or [for a
    /// value](Reference::ListValue).
    #[must_use]
    pub fn asks_lists(&self) -> bool {
        self.references().any(|reference| matches!(reference, Reference::InList(_) | Reference::ListValue { .. }))
    }

    /// How a node reads a value of a list; `None` if it reads none. The node is an `Index` whose
    /// operand names the list, or a `Select` from one.
    #[must_use]
    #[inline]
    pub fn list_access(&self, id: NodeId) -> Option<ListAccess> {
        let Reference::ListValue { list, field } = *self.reference(id) else { return None };
        self.list_access_of(id, list, field)
    }

    fn list_access_of(&self, id: NodeId, list: u32, field: u32) -> Option<ListAccess> {
        let (entry, test, optional_field) = match *self.ast.expr(id) {
            Expr::Select { operand, test, optional, .. } => (operand, test, optional),
            _ => (id, false, false),
        };
        let Expr::Index { index: key, optional: optional_key, .. } = *self.ast.expr(entry) else { return None };
        Some(ListAccess { list, field, key, test, optional_key, optional_field })
    }

    pub(crate) fn into_ast(self) -> Ast {
        self.ast
    }

    /// The tree.
    #[inline]
    #[must_use]
    pub fn ast(&self) -> &Ast {
        &self.ast
    }

    /// The type of a node, without parameters and inference variables.
    #[must_use]
    pub fn type_of(&self, id: NodeId) -> &Type {
        self.types.get(id).unwrap_or(&Type::Error)
    }

    /// The type of the whole expression.
    #[must_use]
    pub fn result_type(&self) -> &Type {
        self.type_of(self.ast.root())
    }

    /// What a node refers to.
    #[inline]
    #[must_use]
    pub fn reference(&self, id: NodeId) -> &Reference {
        self.references.get(id).unwrap_or(&Reference::None)
    }
}
