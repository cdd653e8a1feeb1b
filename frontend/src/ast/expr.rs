//! Expressions: what one node of the syntax tree can be.

use super::{Name, NodeId, Nodes};
use crate::types::Type;
use std::sync::Arc;

/// A constant as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `-1`, `0x2A`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.5`, `2e3`
    Double(f64),
    /// Any string form, escapes resolved.
    String(Arc<str>),
    /// Any bytes form, escapes resolved.
    Bytes(Arc<[u8]>),
}

impl Literal {
    /// The type of the value.
    #[must_use]
    pub fn ty(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
        }
    }
}

/// `!x` and `-x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Neg,
}

impl UnaryOp {
    /// The name of the operator in the [table of builtins](crate::stdlib::TABLE): `!_`, `-_`.
    #[must_use]
    pub fn function(self) -> &'static str {
        match self {
            Self::Not => "!_",
            Self::Neg => "-_",
        }
    }
}

/// Binary operators that evaluate both operands. `&&` and `||` are [`Expr::Logic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
}

impl BinaryOp {
    /// The name of the operator in the [table of builtins](crate::stdlib::TABLE): `_+_`, `@in`.
    #[must_use]
    pub fn function(self) -> &'static str {
        match self {
            Self::Add => "_+_",
            Self::Sub => "_-_",
            Self::Mul => "_*_",
            Self::Div => "_/_",
            Self::Rem => "_%_",
            Self::Eq => "_==_",
            Self::Ne => "_!=_",
            Self::Lt => "_<_",
            Self::Le => "_<=_",
            Self::Gt => "_>_",
            Self::Ge => "_>=_",
            Self::In => "@in",
        }
    }
}

/// `&&` and `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicOp {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Which comprehension macro a [`Expr::Fold`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoldKind {
    /// `range.all(x, p)`, `range.all(i, x, p)`
    All,
    /// `range.exists(x, p)`, `range.exists(i, x, p)`
    Exists,
    /// `range.exists_one(x, p)`, `existsOne`, one or two variables
    ExistsOne,
    /// `range.filter(x, p)`
    Filter,
    /// `range.map(x, t)` and `range.map(x, p, t)`
    Map,
    /// `range.transformList(i, x, t)` and `(i, x, p, t)`
    TransformList,
    /// `range.transformMap(k, v, t)` and `(k, v, p, t)`
    TransformMap,
    /// `range.transformMapEntry(k, v, t)` and `(k, v, p, t)`, where `t` is a map whose entries are merged
    TransformMapEntry,
    /// `map.mapValues(v, t)`: the first variable is the key, which no source can mention.
    MapValues,
    /// `map.filterKeys(k, p)`: the second variable is the value, which no source can mention and
    /// which is the transform.
    FilterKeys,
}

impl FoldKind {
    /// The name of the macro in CEL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Exists => "exists",
            Self::ExistsOne => "exists_one",
            Self::Filter => "filter",
            Self::Map => "map",
            Self::TransformList => "transformList",
            Self::TransformMap => "transformMap",
            Self::TransformMapEntry => "transformMapEntry",
            Self::MapValues => "mapValues",
            Self::FilterKeys => "filterKeys",
        }
    }
}

/// Which operand of an [`Expr::Fallback`] is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FallbackKind {
    /// `default(e, d)`: `d` where `e` is null or fails with "no such key".
    Default,
    /// `coalesce(e, ..)`: the first that has a value but null; else null if all are null; else the last error.
    Coalesce,
}

/// One node.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// Source that could not be parsed. Its diagnostic is already reported.
    Error,
    /// A constant.
    Literal(Literal),
    /// `x`, or `.x` when `rooted`; `has(x)` when `test`.
    Ident {
        /// The name, without the leading dot.
        name: Name,
        /// Whether it has a leading dot: the name is resolved in the root scope.
        rooted: bool,
        /// `has(..)`: the result is whether the variable is present.
        test: bool,
    },
    /// `operand.field`, `operand.?field` when `optional`, `has(operand.field)` when `test`.
    Select {
        /// What is selected from.
        operand: NodeId,
        /// The field; for a backquoted one, without the backquotes.
        field: Name,
        /// `has(..)`: the result is whether the field is present.
        test: bool,
        /// `.?`: the result is an optional.
        optional: bool,
    },
    /// `operand[index]`, `operand[?index]` when `optional`.
    Index {
        /// What is indexed.
        operand: NodeId,
        /// The key.
        index: NodeId,
        /// `[?`: the result is an optional.
        optional: bool,
    },
    /// `!x`, `-x`. Never holds a negated number literal: that is a literal.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: NodeId,
    },
    /// `l + r` and the like.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: NodeId,
        /// Right operand.
        right: NodeId,
    },
    /// `a && b && c`: a whole chain, at least two operands. Any operand that decides the result
    /// hides the others' errors; if none does, the first error in the order written is the result.
    Logic {
        /// The operator.
        op: LogicOp,
        /// The operands, in order.
        operands: Nodes,
    },
    /// `condition ? then : otherwise`.
    Cond {
        /// The condition.
        condition: NodeId,
        /// Evaluated when true.
        then: NodeId,
        /// Evaluated when false.
        otherwise: NodeId,
    },
    /// `f(args)` or `target.f(args)`. Whether `a.b.f(x)` is the function `a.b.f` or the member `f` of `a.b` is the
    /// checker's to say.
    Call {
        /// The receiver as written.
        target: Option<NodeId>,
        /// The function's name; with `rooted`, a leading dot was written.
        function: Name,
        /// `.f(x)`
        rooted: bool,
        /// The arguments.
        args: Nodes,
    },
    /// `[a, ?b]`.
    List {
        /// The elements.
        elements: Nodes,
        /// For each element, whether it is marked `?`. Empty when none is.
        optional: Box<[bool]>,
    },
    /// `{k: v, ?k: v}`: keys and values alternate.
    Map {
        /// key, value, key, value, ...
        entries: Nodes,
        /// For each entry, whether it is marked `?`. Empty when none is.
        optional: Box<[bool]>,
    },
    /// `a.b.Message{field: value}`.
    Message {
        /// The qualified type name as written, dots included; a leading dot is kept.
        name: Name,
        /// The field names.
        fields: Box<[Name]>,
        /// The values, parallel to `fields`.
        values: Nodes,
        /// For each field, whether it is marked `?`. Empty when none is.
        optional: Box<[bool]>,
    },
    /// A comprehension macro over a list or the keys of a map.
    Fold {
        /// Which.
        kind: FoldKind,
        /// What is iterated.
        range: NodeId,
        /// The variable; in the two-variable forms the index or key.
        var: Name,
        /// The second variable of the two-variable forms: the element or value.
        var2: Option<Name>,
        /// The predicate, when the form has one.
        filter: Option<NodeId>,
        /// The transform, when the form has one.
        transform: Option<NodeId>,
    },
    /// `cel.bind(var, init, body)`, `init.with(var, body)` when `with`.
    Bind {
        /// The variable.
        var: Name,
        /// Its value; evaluated at most once, and its error surfaces only where the variable is used.
        init: NodeId,
        /// The expression that may use it.
        body: NodeId,
        /// Which of the two forms was written; they mean the same.
        with: bool,
    },
    /// `target.optMap(var, body)`, `target.optFlatMap(var, body)` when `flat`.
    OptMap {
        /// The optional.
        target: NodeId,
        /// The variable that holds its value in `body`.
        var: Name,
        /// The mapping.
        body: NodeId,
        /// Whether `body` gives an optional itself.
        flat: bool,
    },
    /// `default(e, d)`, `coalesce(e, ..)`. An operand is evaluated only if those before it give no
    /// result. Exhaustion of the evaluation's budget is final in both.
    Fallback {
        /// Which.
        kind: FallbackKind,
        /// The operands, in order: two of `default`, at least one of `coalesce`.
        operands: Nodes,
    },
}

impl Expr {
    /// Returns whether this is `has(..)`: a test whether a variable, a field or a key is present.
    #[must_use]
    pub fn is_test(&self) -> bool {
        matches!(self, Self::Ident { test: true, .. } | Self::Select { test: true, .. })
    }
}
