//! The checked tree of the filter language: one arena, children before parents, a type and places on every node.

use super::function::{FilterFunction, LiteralRule};
use super::literal::{BytesLiteral, FilterLiteral, Pattern, SetItems, Wildcard};
use super::scheme::{FilterField, Scheme};
use super::types::FilterType;
use crate::ast::{NodeId, Nodes};
use crate::span::Span;
use std::sync::Arc;

/// How conditions are joined, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Connective {
    /// `or`, `||`: the first true operand decides.
    Or,
    /// `xor`, `^^`: all operands are evaluated.
    Xor,
    /// `and`, `&&`: the first false operand decides.
    And,
}

/// How values are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderOp {
    /// `eq`, `==`
    Equal,
    /// `ne`, `!=`: the only one that is true for addresses of two families, and that can be true for a missing value.
    NotEqual,
    /// `ge`, `>=`
    GreaterEqual,
    /// `le`, `<=`
    LessEqual,
    /// `gt`, `>`
    Greater,
    /// `lt`, `<`
    Less,
}

/// One part of an index chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AccessStep {
    /// `[3]`: an element of an array, counted from 0. Nil if there is none.
    Index(u32),
    /// `["key"]`: a value of a map. Nil if there is none.
    Key(Arc<str>),
    /// `[*]`: each element of an array, or each value of a map in the order of the keys.
    Each,
}

impl AccessStep {
    /// Returns whether the last step is `[*]` and no other one is. The values are then those of one
    /// array or map, and nil if a part before is missing. With other steps a missing part leaves no
    /// values, which is an empty array, as in Wirefilter.
    #[must_use]
    pub fn are_of_one_array(steps: &[Self]) -> bool {
        steps.iter().position(|step| *step == Self::Each).is_some_and(|first| steps.get(first..) == Some(&[Self::Each]))
    }
}

/// The operator of a comparison and its right side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// An ordering against a literal of the value's type. Byte strings are ordered byte by byte,
    /// addresses within a family.
    Order(OrderOp, FilterLiteral),
    /// `value & number`: whether they have a bit in common.
    BitwiseAnd(i64),
    /// Whether the value contains the bytes.
    Contains(BytesLiteral),
    /// Whether the pattern is found in the value.
    Matches(Pattern),
    /// Whether the pattern matches the whole value, ASCII letters in either case.
    Wildcard(Wildcard),
    /// Whether the pattern matches the whole value exactly.
    StrictWildcard(Wildcard),
    /// Whether the value is one of the items, or in one of them.
    OneOf(SetItems),
    /// Whether the value is in a list of the host.
    InList(Arc<str>),
}

/// An expression. Its type is in its [`FilterNode`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterExpr {
    /// The value of a field, by its index in the scheme, or nil.
    Field(u32),
    /// A literal argument.
    Literal(FilterLiteral),
    /// A call, of a function by its index in the scheme. If the first argument is of many values
    /// ([`FilterNode::each`]), the call is made for each, results that are nil are left out, and
    /// the result is an array.
    Call {
        /// The function.
        function: u32,
        /// The arguments.
        args: Nodes,
    },
    /// A part of the value of a field or call.
    Access {
        /// The field or call.
        base: NodeId,
        /// The parts, at least one.
        steps: Box<[AccessStep]>,
    },
    /// A `Bool` as a condition, or an `Array<Bool>`. Nil is false, and as an array it is empty.
    Test(NodeId),
    /// A comparison of the value, or of each of the values. With nil all are false but `!=`, which depends on the
    /// [scheme](Scheme::nil_not_equal).
    Compare {
        /// The left side.
        value: NodeId,
        /// The operator and the right side.
        comparison: Comparison,
    },
    /// The opposite of a condition, or of each of its results.
    Not(NodeId),
    /// Conditions joined by one operator, at least two. If they have many results, the first
    /// results are joined, then the second ones, and so on, up to the length of the shortest.
    Logic {
        /// The operator.
        op: Connective,
        /// The conditions.
        operands: Nodes,
    },
    /// `any(..)` or `all(..)` of an `Array<Bool>`.
    Quantifier {
        /// Whether all must be true.
        all: bool,
        /// The results. Where this is a value that is nil, the quantifier is false; a condition has
        /// no results then, so that `all` is true.
        operand: NodeId,
    },
}

/// An expression with its type and places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterNode {
    /// The expression.
    pub expr: FilterExpr,
    /// Its type; of a field, call or access with `[*]` the type of each of its values.
    pub ty: FilterType,
    /// Whether a field, call or access yields many values because of `[*]`.
    pub each: bool,
    /// The text of the whole expression, parentheses around it excluded.
    pub span: Span,
    /// The operator, or the name of the field or function.
    pub focus: Span,
}

/// A rule in the filter language in which every name is resolved and every node has a type.
///
/// [`check_filter`](super::check_filter) and [`check_value`](super::check_value) make it. Later
/// stages rely on the following:
///
/// - A node's children have smaller ids. The depth is at most [`depth`](Self::depth); walks recurse inside
///   [`with_stack`](crate::with_stack).
/// - Fields and functions are those of [`scheme`](Self::scheme); arguments fit the parameters.
/// - The operator of a comparison fits the type of its value: byte strings for `contains`,
///   `matches` and wildcards, numbers for `&`; the literals and items are of the value's type.
/// - Every node but a literal, a field, a call and an access is a condition: of type `Bool` or `Array<Bool>`.
/// - `[*]` is in the left side of a comparison or test, or in the first argument of a call.
#[derive(Clone, Debug)]
pub struct FilterTree {
    pub(super) source: Arc<str>,
    pub(super) scheme: Arc<Scheme>,
    pub(super) nodes: Vec<FilterNode>,
    pub(super) pool: Vec<NodeId>,
    pub(super) root: NodeId,
    pub(super) depth: u32,
}

static NOTHING: FilterNode = FilterNode {
    expr: FilterExpr::Field(u32::MAX),
    ty: FilterType::Bool,
    each: false,
    span: Span { start: 0, end: 0 },
    focus: Span { start: 0, end: 0 },
};

impl FilterTree {
    /// The text that the tree was read from.
    #[must_use]
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The scheme that the names were resolved in.
    #[must_use]
    pub fn scheme(&self) -> &Arc<Scheme> {
        &self.scheme
    }

    /// The node of the whole expression.
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The type of the whole expression: `Bool` for a condition.
    #[must_use]
    pub fn result_type(&self) -> &FilterType {
        &self.node(self.root).ty
    }

    /// The node behind an id. An id of another tree gives some node of this one, or a field that does not exist.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &FilterNode {
        self.nodes.get(id.0 as usize).unwrap_or(&NOTHING)
    }

    /// The expression behind an id.
    #[must_use]
    pub fn expr(&self, id: NodeId) -> &FilterExpr {
        &self.node(id).expr
    }

    /// The ids of a run of children.
    #[must_use]
    pub fn children(&self, nodes: Nodes) -> &[NodeId] {
        let start = nodes.start as usize;
        self.pool.get(start..start.saturating_add(nodes.len as usize)).unwrap_or(&[])
    }

    /// All nodes, children before parents.
    #[must_use]
    pub fn nodes(&self) -> &[FilterNode] {
        &self.nodes
    }

    /// A bound on the depth of the tree, for [`with_stack`](crate::with_stack).
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The field of an index.
    #[must_use]
    pub fn field(&self, index: u32) -> Option<&FilterField> {
        self.scheme.fields().get(index as usize)
    }

    /// The function of an index.
    #[must_use]
    pub fn function(&self, index: u32) -> Option<&FilterFunction> {
        self.scheme.functions().get(index as usize)
    }

    /// Returns the pattern among the arguments of a call: the node of the literal, and its text.
    #[must_use]
    pub fn pattern_argument(&self, function: u32, args: &[NodeId]) -> Option<(NodeId, &str)> {
        let function = self.function(function)?;
        let is_pattern = |index: usize| function.parameter(index).is_some_and(|p| p.rule == LiteralRule::Pattern);
        let (_, &id) = args.iter().enumerate().find(|(index, _)| is_pattern(*index))?;
        match self.expr(id) {
            FilterExpr::Literal(FilterLiteral::Bytes(bytes)) => Some((id, std::str::from_utf8(&bytes.value).ok()?)),
            _ => None,
        }
    }

    /// Returns whether the rule reads a field. A host need not compute the others.
    #[must_use]
    pub fn uses_field(&self, index: u32) -> bool {
        self.nodes.iter().any(|node| node.expr == FilterExpr::Field(index))
    }

    /// The lists that the rule names, each with the type of the values that are looked up.
    pub fn lists(&self) -> impl Iterator<Item = (&str, &FilterType)> {
        self.nodes.iter().filter_map(|node| match &node.expr {
            FilterExpr::Compare { value, comparison: Comparison::InList(name) } => {
                Some((&**name, &self.node(*value).ty))
            }
            _ => None,
        })
    }
}
