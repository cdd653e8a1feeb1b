//! Messages that several fields are read of: one pass over the message finds them, where each of them would be
//! looked for in the whole message.
//!
//! The selections do not change; their operand knows where the fields are.
//!
//! Invariant: the pass over a message takes nothing of the budget, of which its selections take what
//! they would without it; it fails at the limit of the memory only. Test:
//! `runtime/src/value/message/table.rs::a_table_has_what_the_bytes_have`.

use super::rebuild;
use crate::constant::Constant;
use crate::graph::{Graph, NodeId};
use crate::helper::Helper;
use crate::op::Op;
use crate::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// The selections of one message: each a helper and the number of a field.
type Selections = BTreeSet<(Helper, i64)>;

/// The new graph, or `None` if it is the old one.
pub(super) fn graph(old: &Graph) -> Option<Graph> {
    // Indexed by the class of the message.
    let mut messages: BTreeMap<NodeId, Selections> = BTreeMap::new();
    for id in old.ids() {
        if let Some((helper, message, number)) = selection(old, id)
            && is_read_once(old, message)
        {
            messages.entry(old.class(message)).or_default().insert((helper, number));
        }
    }
    messages.retain(|_, selections| selections.len() > 1);
    if messages.is_empty() {
        return None;
    }
    rebuild::rebuild(old, |builder, draft| {
        let selections = match (draft.op, draft.was) {
            (Op::Call(Helper::message_field | Helper::message_has), [message, ..]) => {
                messages.get(&old.class(*message))
            }
            _ => None,
        };
        let (Some(selections), [message, rest @ ..]) = (selections, draft.args) else { return builder.keep(draft) };
        let bits = selections.iter().fold(0, |bits, (_, number)| bits | bit(*number));
        let bits = builder.intern(Constant::Int(bits.cast_signed()));
        let bits = builder.add(Op::Const(bits), Ty::Int, &[], draft.origin);
        let read = builder.add(Op::Call(Helper::message_fields), Ty::Value, &[*message, bits], draft.origin);
        let args: Vec<NodeId> = std::iter::once(read).chain(rest.iter().copied()).collect();
        builder.put(draft, draft.op, &args)
    })
}

/// The message and the number of the field, if a node selects a field that can be read in such a pass.
fn selection(graph: &Graph, id: NodeId) -> Option<(Helper, NodeId, i64)> {
    let (Op::Call(helper @ (Helper::message_field | Helper::message_has)), &[message, _, number]) =
        (graph.op(id), graph.args(id))
    else {
        return None;
    };
    let Op::Const(number) = graph.op(number) else { return None };
    let Some(&Constant::Int(number)) = graph.constant_at(number) else { return None };
    (bit(number) != 0).then_some((helper, message, number))
}

/// The bit of a field's number; 0 for numbers without one.
fn bit(number: i64) -> u64 {
    let at = number.checked_sub(1).and_then(|at| u32::try_from(at).ok());
    at.and_then(|at| 1_u64.checked_shl(at)).unwrap_or(0)
}

/// Whether a message is the host's, or a field of such a message: not an element, of which there may be many, each
/// with few fields.
fn is_read_once(graph: &Graph, mut message: NodeId) -> bool {
    loop {
        message = match (graph.op(message), graph.args(message)) {
            (Op::Field(_), _) => return true,
            (Op::Call(Helper::message_field) | Op::Box, &[of, ..]) => of,
            _ => return false,
        };
    }
}
