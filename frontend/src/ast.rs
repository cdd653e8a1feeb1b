//! The syntax tree: one arena, built children first, with a span on every node.
//!
//! Nodes refer to each other by index, so dropping a tree, cloning it or walking all of it never recurses. A node's
//! children always have smaller ids than the node, and the tree's depth is at most [`Limits::max_depth`], which the parser
//! enforces: a walk that does recurse (the checker, the interpreter) does so inside [`with_stack`].
//!
//! Macros are expanded while parsing, into nodes of their own ([`Expr::Fold`], [`Expr::Bind`], [`Expr::OptMap`],
//! [`Expr::Fallback`], and [`Expr::Select`] with `test`): later stages see what the author meant, not an encoding of it.
//!
//! [`Limits::max_depth`]: crate::Limits::max_depth
//! [`with_stack`]: crate::with_stack

use crate::span::Span;
use crate::types::Type;
use std::sync::Arc;

/// Index of a node in its [`Ast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index of an interned name (identifier, field, function) in its [`Ast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name(pub u32);

/// A run of node ids in [`Ast::children`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// First index into the child pool.
    pub start: u32,
    /// How many.
    pub len: u32,
}

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
    /// `map.filterKeys(k, p)`: the second variable is the value, which no source can mention and which is the transform.
    FilterKeys,
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
    /// What stands where the source could not be parsed; its diagnostic is already reported.
    Error,
    /// A constant.
    Literal(Literal),
    /// `x`, or `.x` when `rooted`.
    Ident {
        /// The name, without the leading dot.
        name: Name,
        /// Whether a leading dot asks for the root scope.
        rooted: bool,
    },
    /// `operand.field`, `operand.?field` when `optional`, `has(operand.field)` when `test`.
    Select {
        /// What is selected from.
        operand: NodeId,
        /// The field; for a backquoted one, without the backquotes.
        field: Name,
        /// `has(..)`: asks for presence instead of the value.
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
    /// `a && b && c`: a whole chain, at least two operands. Any operand that decides the result hides the others' errors;
    /// if none does, the first error in the order written is the result.
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
    /// `default(e, d)`, `coalesce(e, ..)`. An operand is evaluated only if those before it give no result. Exhaustion of
    /// the evaluation's budget is final in both.
    Fallback {
        /// Which.
        kind: FallbackKind,
        /// The operands, in order: two of `default`, at least one of `coalesce`.
        operands: Nodes,
    },
}

/// A node with its place in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The expression.
    pub expr: Expr,
    /// The source text of the whole expression, parentheses around it excluded.
    pub span: Span,
    /// Where to point when this node fails: the operator, the field or the function's name.
    pub focus: Span,
    /// 1 for a leaf, else one more than the deepest child.
    pub depth: u32,
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Ast {
    source: Arc<str>,
    nodes: Vec<Node>,
    pool: Vec<NodeId>,
    names: Vec<Arc<str>>,
    root: NodeId,
}

static ERROR: Node =
    Node { expr: Expr::Error, span: Span { start: 0, end: 0 }, focus: Span { start: 0, end: 0 }, depth: 1 };

impl Ast {
    /// Assembles a tree from what the parser built.
    pub(crate) fn new(
        source: Arc<str>,
        nodes: Vec<Node>,
        pool: Vec<NodeId>,
        names: Vec<Arc<str>>,
        root: NodeId,
    ) -> Self {
        Self { source, nodes, pool, names, root }
    }

    /// The text the tree was parsed from.
    #[must_use]
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The node of the whole expression.
    #[inline]
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The node behind an id. An id of another tree gives an [`Expr::Error`] or some node of this one.
    #[inline]
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id.0 as usize).unwrap_or(&ERROR)
    }

    /// The expression behind an id.
    #[inline]
    #[must_use]
    pub fn expr(&self, id: NodeId) -> &Expr {
        &self.node(id).expr
    }

    /// The span of a node.
    #[inline]
    #[must_use]
    pub fn span(&self, id: NodeId) -> Span {
        self.node(id).span
    }

    /// The ids of a run of children.
    #[inline]
    #[must_use]
    pub fn children(&self, nodes: Nodes) -> &[NodeId] {
        let start = nodes.start as usize;
        self.pool.get(start..start.saturating_add(nodes.len as usize)).unwrap_or(&[])
    }

    /// The text of a name.
    #[inline]
    #[must_use]
    pub fn name(&self, name: Name) -> &str {
        self.names.get(name.0 as usize).map_or("", |n| n)
    }

    /// The name of a text, if it occurs in the tree.
    pub(crate) fn find_name(&self, text: &str) -> Option<Name> {
        let index = self.names.iter().position(|name| **name == *text)?;
        Some(Name(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// All nodes, children before parents.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Depth of the tree: 1 for a single leaf.
    #[inline]
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.node(self.root).depth
    }
}
