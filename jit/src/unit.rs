//! The input of a compilation: a graph, and the addresses of everything to which it refers.
//!
//! The compiler trusts these addresses; the caller of the code guarantees them (see
//! [`Entry::call`](crate::Entry::call)).

use celero_ir::layout::Field;
use celero_ir::{ConstId, Constant, Graph, Helper, NodeId, Op, Origin, Ty};

/// Bytes of the longest constant that is compared inline.
pub(crate) const INLINE: usize = 32;

/// What stands before and after the only star of a pattern, the second `None` without a star; and whether it is strict.
type InlineWildcard<'a> = (&'a [u8], Option<&'a [u8]>, bool);

/// The address of a constant, in two forms. A form that no node needs may be 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstantAddress {
    /// Address of the prepared object (searcher, set, network, header name, address), or of the bytes of text.
    pub data: usize,
    /// Length of the text in bytes.
    pub len: usize,
    /// Address of the constant as a value (32 bytes), for nodes of type [`Ty::Value`].
    pub value: usize,
}

/// The input of a compilation.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// The expressions.
    pub graph: &'a Graph,
    /// The host's fields, indexed by the number in [`Op::Field`].
    pub fields: &'a [Field],
    /// The graph's constants, indexed by id.
    pub constants: &'a [ConstantAddress],
    /// Addresses of the helpers, indexed by [`Helper`].
    pub helpers: &'a [usize],
    /// Addresses of the graph's functions that [`Op::Invoke`] calls, indexed by their number in the
    /// graph; 0 for others.
    pub functions: &'a [usize],
    /// The budget of every evaluation in steps, if it is always the same. A function that spends
    /// only the iterations of one loop compares with this number and does not access the budget in
    /// the frame.
    pub steps: Option<i64>,
    /// Searches for literals that are made together.
    pub literals: &'a [LiteralBatch<'a>],
}

/// A rule in a function that evaluates several.
#[derive(Clone, Copy, Debug)]
pub struct GroupedRule<'a> {
    /// The condition: a node of type `bool`.
    pub root: NodeId,
    /// Origins in this rule's source of nodes that have another origin in the graph: a node that
    /// rules share has the origin of the first rule there. Sorted by node. Later occurrences of an
    /// expression in the rule are nodes of their own.
    pub origins: &'a [(NodeId, Origin)],
}

/// Headers that a function looks up with one call, as soon as it needs one of them.
#[derive(Clone, Copy, Debug)]
pub struct HeaderBatch<'a> {
    /// The lookups: [`Op::Header`] nodes of one field, in the order of `names`.
    pub lookups: &'a [NodeId],
    /// Address of the prepared table of their names.
    pub names: usize,
}

/// Searches for literals in one text that a function makes with one call, as soon as it needs one
/// of them. The rule that needs it first pays for all.
#[derive(Clone, Copy, Debug)]
pub struct LiteralBatch<'a> {
    /// The classes of the searches: [`Op::ContainsConst`] nodes of one text, which depends on no variable, or of its
    /// [bytes](Op::AsBytes); sorted. With each, the bit that the helper `literals_find` sets for it, less than
    /// [`MAX`](celero_ir::layout::literals::MAX).
    pub searches: &'a [(NodeId, u32)],
    /// Address of the prepared set of literals.
    pub set: usize,
}

impl<'a> Unit<'a> {
    /// The batch of a search for a literal, and the bit there.
    pub(crate) fn literal(&self, id: NodeId) -> Option<(usize, u32)> {
        let class = self.graph.class(id);
        let find = |batch: &LiteralBatch<'_>| {
            let at = batch.searches.binary_search_by_key(&class, |(search, _)| *search).ok()?;
            batch.searches.get(at).map(|(_, bit)| *bit)
        };
        (0..).zip(self.literals).find_map(|(number, batch)| Some((number, find(batch)?)))
    }

    pub(crate) fn field(&self, index: u32) -> Option<&'a Field> {
        self.fields.get(index as usize)
    }

    pub(crate) fn address(&self, id: ConstId) -> Option<ConstantAddress> {
        self.constants.get(id.0 as usize).copied()
    }

    pub(crate) fn helper(&self, helper: Helper) -> Option<usize> {
        self.helpers.get(helper as usize).copied()
    }

    /// The address of a function that is called with typed operands.
    pub(crate) fn function(&self, function: u32) -> Option<usize> {
        self.functions.get(function as usize).copied().filter(|address| *address != 0)
    }

    /// The pieces of a wildcard pattern, if it is tested inline: if it has one star or none, and no long piece.
    pub(crate) fn inline_wildcard(&self, id: ConstId) -> Option<InlineWildcard<'a>> {
        let graph: &'a Graph = self.graph;
        let Some(Constant::Wildcard(wildcard)) = graph.constant_at(id) else { return None };
        let (first, last) = wildcard.ends()?;
        let short = first.len() <= INLINE && last.is_none_or(|last| last.len() <= INLINE);
        short.then_some((first, last, wildcard.strict))
    }

    /// The bytes and the id of a node that is constant text.
    pub(crate) fn text(&self, node: NodeId) -> Option<(&'a [u8], ConstId)> {
        let graph: &'a Graph = self.graph;
        match graph.op(node) {
            Op::Const(id) if graph.ty(node) != Ty::Value => match graph.constant_at(id)? {
                Constant::Str(text) => Some((text.as_bytes(), id)),
                Constant::Bytes(bytes) => Some((bytes, id)),
                _ => None,
            },
            _ => None,
        }
    }
}
