//! Comparisons of one value with literals.

use super::extension::Compare;
use super::{Lower, Lowering, Operand};
use celero_frontend::NodeId as TreeId;
use celero_frontend::filter::{
    Comparison, FilterExpr, FilterLiteral, FilterType, OrderOp, SetItems, StandardFunction, Wildcard as WildcardLiteral,
};
use celero_ir::{Cmp, ConstId, Constant, Helper, NodeId, Op, Ty, Wildcard};
use std::net::IpAddr;
use std::sync::Arc;

/// The character that stands for invalid UTF-8.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

impl Lowering<'_> {
    /// Whether a comparison holds for a value; missing, if the value is. `value` is the left side in the tree.
    pub(super) fn compare(
        &mut self,
        id: TreeId,
        operand: Operand,
        value: TreeId,
        comparison: &Comparison,
    ) -> Lower<NodeId> {
        let ty = &self.tree.node(value).ty;
        let node = self.unboxed(operand, ty, id);
        if let Comparison::InList(list) = comparison
            && let Some(node) = self.in_list(id, node, list, ty)
        {
            return Ok(node);
        }
        let special = match ty {
            FilterType::Int => self.compare_int(id, node, comparison),
            FilterType::Ip if self.ty(node) == Ty::Ip => self.compare_address(id, node, comparison),
            FilterType::Bytes => self.compare_bytes(id, node, comparison),
            _ => None,
        };
        if let Some(node) = special {
            return Ok(node);
        }
        let call = Compare::new(self.binding, comparison, ty);
        let result = self.call(call, &[node], id);
        Ok(self.add(Op::Unbox(Ty::Bool), Ty::Bool, &[result], id))
    }

    /// Whether a declared list contains a value, of which one without a representation of its own
    /// is compared by a call.
    fn in_list(&mut self, id: TreeId, node: NodeId, list: &str, ty: &FilterType) -> Option<NodeId> {
        let number = self.binding.list(list, ty)?;
        let (helper, node) = match (ty, self.ty(node)) {
            (FilterType::Ip, Ty::Ip) => (Helper::list_has_address, node),
            (FilterType::Int, Ty::Int) => (Helper::list_has_integer, node),
            (FilterType::Bytes, Ty::Str | Ty::Raw | Ty::Bytes) => (Helper::list_has_bytes, self.as_bytes(node, id)),
            _ => return None,
        };
        let number = self.constant(Constant::Int(number.into()), Ty::Int, id);
        Some(self.add(Op::Call(helper), Ty::Bool, &[number, node], id))
    }

    fn compare_int(&mut self, id: TreeId, node: NodeId, comparison: &Comparison) -> Option<NodeId> {
        match comparison {
            Comparison::Order(op, FilterLiteral::Int(other)) => {
                let other = self.constant(Constant::Int(*other), Ty::Int, id);
                Some(self.add(Op::Cmp(cmp(*op)), Ty::Bool, &[node, other], id))
            }
            Comparison::OneOf(SetItems::Ints(items)) if !items.is_empty() => {
                let mut single: Vec<i64> =
                    items.iter().filter(|(first, last)| first == last).map(|(first, _)| *first).collect();
                single.sort_unstable();
                single.dedup();
                let mut tests = Vec::new();
                if !single.is_empty() {
                    let set = self.lowered.graph.constant(Constant::IntSet(single.into()));
                    tests.push(self.add(Op::InIntSet(set), Ty::Bool, &[node], id));
                }
                for (first, last) in items.iter().filter(|(first, last)| first != last) {
                    let first = self.constant(Constant::Int(*first), Ty::Int, id);
                    let last = self.constant(Constant::Int(*last), Ty::Int, id);
                    let from = self.add(Op::Cmp(Cmp::Ge), Ty::Bool, &[node, first], id);
                    let to = self.add(Op::Cmp(Cmp::Le), Ty::Bool, &[node, last], id);
                    tests.push(self.add(Op::And, Ty::Bool, &[from, to], id));
                }
                Some(self.joined(Op::Or, tests, id))
            }
            _ => None,
        }
    }

    fn compare_address(&mut self, id: TreeId, node: NodeId, comparison: &Comparison) -> Option<NodeId> {
        match comparison {
            Comparison::Order(op, FilterLiteral::Ip(other)) => Some(self.ordered_address(*op, node, *other, id)),
            Comparison::OneOf(SetItems::Ips(items)) => {
                let ranges: Vec<(IpAddr, IpAddr)> = items.iter().map(|item| item.bounds()).collect();
                Some(self.in_ranges(node, ranges, id))
            }
            _ => None,
        }
    }

    fn compare_bytes(&mut self, id: TreeId, node: NodeId, comparison: &Comparison) -> Option<NodeId> {
        match comparison {
            Comparison::Order(op, FilterLiteral::Bytes(other)) => {
                let other = self.constant(Constant::Bytes(other.value.clone()), Ty::Bytes, id);
                let equality = matches!(op, OrderOp::Equal | OrderOp::NotEqual);
                let (node, other) =
                    if equality { self.comparable(node, other, id) } else { self.as_bytes_both(node, other, id) };
                Some(self.add(Op::Cmp(cmp(*op)), Ty::Bool, &[node, other], id))
            }
            Comparison::Contains(needle) => {
                Some(self.with_constant(id, node, Constant::Searcher(needle.value.clone()), Op::ContainsConst))
            }
            Comparison::Matches(pattern) => {
                let node = self.as_bytes(node, id);
                let pattern = self.lowered.graph.constant(Constant::ByteRegex(Arc::clone(&pattern.text)));
                Some(self.add(Op::MatchesConst(pattern), Ty::Bool, &[node], id))
            }
            Comparison::Wildcard(wildcard) => Some(self.wildcard(id, node, wildcard, false)),
            Comparison::StrictWildcard(wildcard) => Some(self.wildcard(id, node, wildcard, true)),
            Comparison::OneOf(SetItems::Bytes(items)) if !items.is_empty() => {
                let mut members: Vec<Arc<[u8]>> = items.iter().map(|item| item.value.clone()).collect();
                members.sort_unstable();
                members.dedup();
                Some(self.with_constant(id, node, Constant::StrSet(members.into()), Op::InStrSet))
            }
            _ => None,
        }
    }

    /// Whether a wildcard pattern matches the whole value. Pieces that stand at its ends alone are compared.
    fn wildcard(&mut self, id: TreeId, node: NodeId, wildcard: &WildcardLiteral, strict: bool) -> NodeId {
        let pieces: Vec<&[u8]> = wildcard.pieces().iter().map(|piece| &**piece).collect();
        let affix = match *pieces.as_slice() {
            [whole] => Some((Op::Cmp(Cmp::Eq), whole)),
            [b"", end] => Some((Op::EndsWith, end)),
            [start, b""] => Some((Op::StartsWith, start)),
            _ => None,
        };
        if let Some((op, part)) = affix.filter(|_| strict) {
            let part = self.constant(Constant::Bytes(part.into()), Ty::Bytes, id);
            let (node, part) = self.comparable(node, part, id);
            return self.add(op, Ty::Bool, &[node, part], id);
        }
        let constant = Constant::Wildcard(Wildcard::new(pieces, strict));
        self.with_constant(id, node, constant, Op::WildcardConst)
    }

    /// An operation on a byte string with a constant.
    fn with_constant(&mut self, id: TreeId, node: NodeId, constant: Constant, op: fn(ConstId) -> Op) -> NodeId {
        let node = self.searchable(node, &constant, id);
        let constant = self.lowered.graph.constant(constant);
        self.add(op(constant), Ty::Bool, &[node], id)
    }

    /// A byte string in a representation that an operation with this constant takes.
    fn searchable(&mut self, text: NodeId, constant: &Constant, at: TreeId) -> NodeId {
        if constant.is_raw_comparable() { text } else { self.as_bytes(text, at) }
    }

    /// Two byte strings in representations that an operation takes together.
    pub(super) fn comparable(&mut self, text: NodeId, other: NodeId, at: TreeId) -> (NodeId, NodeId) {
        let graph = &self.lowered.graph;
        if let (Ty::Str | Ty::Raw, Op::Const(id)) = (graph.ty(text), graph.op(other))
            && let Some(Constant::Bytes(bytes)) = graph.constant_at(id)
            && let Some(other) = std::str::from_utf8(bytes).ok().filter(|text| !text.contains(REPLACEMENT))
        {
            let other = Constant::Str(other.into());
            return (text, self.constant(other, Ty::Str, at));
        }
        self.as_bytes_both(text, other, at)
    }

    fn as_bytes_both(&mut self, one: NodeId, other: NodeId, at: TreeId) -> (NodeId, NodeId) {
        (self.as_bytes(one, at), self.as_bytes(other, at))
    }

    /// A byte string as bytes.
    pub(super) fn as_bytes(&mut self, node: NodeId, at: TreeId) -> NodeId {
        match self.ty(node) {
            Ty::Str | Ty::Raw => self.add(Op::AsBytes, Ty::Bytes, &[node], at),
            _ => node,
        }
    }

    /// A comparison of `lower(x)` or `upper(x)` as one of `x` that ignores the case of ASCII
    /// letters; `None` for other comparisons.
    pub(super) fn compare_folded(
        &mut self,
        id: TreeId,
        value: TreeId,
        comparison: &Comparison,
    ) -> Lower<Option<NodeId>> {
        let Some((inner, upper)) = self.folded(value) else { return Ok(None) };
        let literals: Vec<&[u8]> = match comparison {
            Comparison::Order(OrderOp::Equal | OrderOp::NotEqual, FilterLiteral::Bytes(literal))
            | Comparison::Contains(literal) => vec![&literal.value],
            Comparison::OneOf(SetItems::Bytes(items)) => items.iter().map(|item| &*item.value).collect(),
            _ => return Ok(None),
        };
        if literals.is_empty()
            || literals.len() > MAX_FOLDED
            || !literals.iter().all(|literal| is_folded(literal, upper))
        {
            return Ok(None);
        }
        let around = matches!(comparison, Comparison::Contains(_));
        let operand = self.value(inner)?;
        let node = self.unboxed(operand, &FilterType::Bytes, id);
        let tests = literals.into_iter().map(|literal| {
            let pieces = if around { vec![&b""[..], literal, b""] } else { vec![literal] };
            self.with_constant(id, node, Constant::Wildcard(Wildcard::new(pieces, false)), Op::WildcardConst)
        });
        let tests: Vec<NodeId> = tests.collect();
        let found = self.joined(Op::Or, tests, id);
        Ok(Some(match comparison {
            Comparison::Order(OrderOp::NotEqual, _) => self.add(Op::Not, Ty::Bool, &[found], id),
            _ => found,
        }))
    }

    /// `starts_with` or `ends_with` of `lower(x)` or `upper(x)`, likewise.
    pub(super) fn affix_folded(
        &mut self,
        id: TreeId,
        at_start: bool,
        text: TreeId,
        part: TreeId,
    ) -> Lower<Option<NodeId>> {
        let Some((inner, upper)) = self.folded(text) else { return Ok(None) };
        let FilterExpr::Literal(FilterLiteral::Bytes(part)) = self.tree.expr(part) else { return Ok(None) };
        if !is_folded(&part.value, upper) {
            return Ok(None);
        }
        let operand = self.value(inner)?;
        let node = self.unboxed(operand, &FilterType::Bytes, id);
        let pieces = if at_start { [&part.value[..], b""] } else { [&b""[..], &part.value] };
        let constant = Constant::Wildcard(Wildcard::new(pieces, false));
        Ok(Some(self.with_constant(id, node, constant, Op::WildcardConst)))
    }

    /// The argument of a call of `lower` or `upper`, and whether it is `upper`.
    fn folded(&self, value: TreeId) -> Option<(TreeId, bool)> {
        let FilterExpr::Call { function, args } = self.tree.expr(value) else { return None };
        let &[inner] = self.tree.children(*args) else { return None };
        let upper = match self.tree.function(*function)?.standard? {
            StandardFunction::Lower => false,
            StandardFunction::Upper => true,
            _ => return None,
        };
        (!self.tree.node(inner).each).then_some((inner, upper))
    }
}

/// Most literals that are compared one after the other without case.
const MAX_FOLDED: usize = 16;

/// Whether a literal is not empty, and `lower` or `upper` leave it as it is.
fn is_folded(literal: &[u8], upper: bool) -> bool {
    let other = |byte: &u8| if upper { byte.is_ascii_lowercase() } else { byte.is_ascii_uppercase() };
    !literal.is_empty() && !literal.iter().any(other)
}

fn cmp(op: OrderOp) -> Cmp {
    match op {
        OrderOp::Equal => Cmp::Eq,
        OrderOp::NotEqual => Cmp::Ne,
        OrderOp::GreaterEqual => Cmp::Ge,
        OrderOp::LessEqual => Cmp::Le,
        OrderOp::Greater => Cmp::Gt,
        OrderOp::Less => Cmp::Lt,
    }
}
