//! Removes [`Op::Decode`] where a test on the undecoded bytes has the same result: comparisons with
//! constants without U+FFFD, which no invalid byte can be part of a match with.
//!
//! Invariant: an operation reads bytes that may not be UTF-8 only if its result on the bytes equals its result on the
//! decoded text. Test: `ir/tests/ir/passes.rs::raw_text_is_not_decoded`.

use super::rebuild::{Builder, Draft};
use crate::graph::{Graph, NodeId};
use crate::op::Op;
use crate::ty::Ty;

/// Whether [`node`] may replace a node; if not, it keeps it.
pub(super) fn concerns(graph: &Graph, id: NodeId) -> bool {
    graph.args(id).first().is_some_and(|&text| graph.op(text) == Op::Decode)
}

pub(super) fn node(builder: &mut Builder<'_>, draft: Draft<'_>) -> NodeId {
    let text = draft.arg(0);
    let (Op::Decode, Some(raw)) = (builder.op(text), builder.first(text)) else { return builder.keep(draft) };
    let constant = match draft.op {
        Op::ContainsConst(id) | Op::WildcardConst(id) | Op::InStrSet(id) => builder.graph().constant_at(id),
        op if op.decl().raw_and_constant && builder.ty(draft.arg(1)) == Ty::Str => builder.constant(draft.arg(1)),
        _ => None,
    };
    if !constant.is_some_and(|constant| constant.is_raw_comparable()) {
        return builder.keep(draft);
    }
    let mut args = draft.args.to_vec();
    if let Some(first) = args.first_mut() {
        *first = raw;
    }
    builder.put(draft, draft.op, &args)
}
