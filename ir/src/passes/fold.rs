//! Constant folding: evaluates what depends on constants only, and simplifies `and`, `or`, `cond`,
//! `coalesce`, errors and empty ranges that a constant decides.
//!
//! A failure that is certain becomes [`Op::Fail`] with the origin of the node that fails. An impure
//! operation that would have been evaluated is never dropped.

use super::Evaluator;
use super::rebuild::{Builder, Draft};
use super::scalar;
use crate::constant::Constant;
use crate::error::ErrorKind;
use crate::graph::{Graph, NodeId};
use crate::op::{Catch, FoldKind, Op};
use crate::ty::Ty;
use std::collections::HashSet;

/// Largest constant that folding makes: number of parts and bytes, and nesting of lists and maps.
/// Without these bounds each `x + x` of a folded `x` would double the size.
const MAX_SIZE: usize = 1 << 16;
const MAX_DEPTH: usize = 32;

/// Whether [`node`] may replace a node; if not, it keeps it.
pub(super) fn concerns(graph: &Graph, id: NodeId) -> bool {
    let args = graph.args(id);
    let is_constant = |&arg: &NodeId| matches!(graph.op(arg), Op::Const(_));
    match graph.op(id) {
        Op::And | Op::Or => args.len() < 2 || args.iter().any(is_constant),
        Op::Cond | Op::Coalesce(_) | Op::Fold { .. } => true,
        Op::Let(_) | Op::Const(_) | Op::Fail(_) => false,
        Op::Field(_) | Op::HasField(_) | Op::Elements(_) | Op::Cursor(_) | Op::Header { .. } | Op::Local(_)
            if args.is_empty() =>
        {
            false
        }
        Op::Unbox(_) if args.first().is_some_and(|&arg| graph.op(arg) == Op::Box) => true,
        _ => args.iter().any(|&arg| matches!(graph.op(arg), Op::Fail(_))) || args.iter().all(is_constant),
    }
}

pub(super) fn node(builder: &mut Builder<'_>, draft: Draft<'_>, evaluator: &dyn Evaluator) -> NodeId {
    match draft.op {
        Op::And => connective(builder, draft, false),
        Op::Or => connective(builder, draft, true),
        Op::Cond => cond(builder, draft),
        Op::Coalesce(catch) => coalesce(builder, draft, catch),
        Op::Fold { kind, .. } => range(builder, draft, kind),
        Op::Let(_) | Op::Const(_) | Op::Fail(_) => builder.keep(draft),
        _ => strict(builder, draft, evaluator),
    }
}

/// An operation that evaluates all operands in order and fails with the first that fails.
fn strict(builder: &mut Builder<'_>, draft: Draft<'_>, evaluator: &dyn Evaluator) -> NodeId {
    for &arg in draft.args {
        if matches!(builder.op(arg), Op::Fail(_)) {
            return failure_of(builder, draft, arg);
        }
        if !builder.can_drop(arg) {
            break;
        }
    }
    if let Op::Unbox(ty) = draft.op
        && builder.op(draft.arg(0)) == Op::Box
        && let Some(inner) = builder.first(draft.arg(0))
    {
        if builder.ty(inner) == ty {
            return inner;
        }
        if builder.can_drop(inner) {
            return builder.put_failure(draft, ErrorKind::NoSuchOverload);
        }
    }
    let Some(args) = draft.args.iter().map(|&arg| builder.constant(arg).cloned()).collect::<Option<Vec<_>>>() else {
        return builder.keep(draft);
    };
    let payload = draft.op.constant().and_then(|id| builder.graph().constant_at(id));
    let answer = match (draft.op, args.as_slice(), payload) {
        (Op::Field(_) | Op::HasField(_) | Op::Elements(_) | Op::Cursor(_) | Op::Header { .. } | Op::Local(_), ..) => {
            None
        }
        (Op::Entry(_) | Op::HasEntry | Op::EntryValue(_), ..) => None,
        (Op::List, items, _) => Some(Ok(Constant::List(items.into()))),
        (Op::Map, entries, _) => Some(map(entries)),
        (Op::IpText, args, _) => evaluator.call(crate::Helper::ip_text, args),
        (Op::MatchesConst(_), [Constant::Str(text)], Some(Constant::Regex(pattern))) => {
            evaluator.matches(pattern, text).map(|found| Ok(Constant::Bool(found)))
        }
        (Op::MatchesConst(_), [Constant::Bytes(bytes)], Some(Constant::ByteRegex(pattern))) => {
            evaluator.byte_matches(pattern, bytes).map(|found| Ok(Constant::Bool(found)))
        }
        (Op::WildcardConst(_), [Constant::Str(text)], Some(Constant::Wildcard(wildcard))) => {
            Some(Ok(Constant::Bool(evaluator.wildcard_matches(wildcard, text.as_bytes()))))
        }
        (Op::WildcardConst(_), [Constant::Bytes(bytes)], Some(Constant::Wildcard(wildcard))) => {
            Some(Ok(Constant::Bool(evaluator.wildcard_matches(wildcard, bytes))))
        }
        (Op::Call(helper), ..) if helper.asks_lists() => None,
        (Op::Call(helper), args, _) => evaluator.call(helper, args),
        (Op::Dispatch { function, .. } | Op::Invoke { function, .. }, args, _) if draft.op.is_pure() => {
            let name = builder.graph().functions().get(function as usize).cloned();
            name.and_then(|name| evaluator.dispatch(&name, args))
        }
        (Op::Dispatch { .. } | Op::Invoke { .. }, ..) => None,
        (op, args, payload) => scalar::evaluate(op, args, payload),
    };
    match answer {
        Some(Ok(constant)) if constant.fits(draft.ty) && is_small(&constant) => builder.put_constant(draft, constant),
        Some(Err(kind)) => builder.put_failure(draft, kind),
        _ => builder.keep(draft),
    }
}

/// Replaces the draft by the failure of an operand, with the operand's origin.
fn failure_of(builder: &mut Builder<'_>, draft: Draft<'_>, failing: NodeId) -> NodeId {
    let origin = builder.graph().origin(failing);
    builder.add(builder.op(failing), draft.ty, &[], origin)
}

/// `and` (decided by false) or `or` (decided by true). One deciding constant is enough, even if
/// operands before it fail.
fn connective(builder: &mut Builder<'_>, draft: Draft<'_>, decisive: bool) -> NodeId {
    let decided = draft.args.iter().position(|&arg| builder.bool_constant(arg) == Some(decisive));
    let reached = draft.args.get(..decided.unwrap_or(draft.args.len())).unwrap_or(&[]);
    // Before a deciding constant only impure operands matter.
    let mut kept: Vec<NodeId> = reached
        .iter()
        .copied()
        .filter(|&arg| builder.bool_constant(arg).is_none() && (decided.is_none() || !builder.is_pure(arg)))
        .collect();
    match (kept.as_slice(), decided) {
        ([], None) => builder.put_constant(draft, Constant::Bool(!decisive)),
        ([], Some(_)) => builder.put_constant(draft, Constant::Bool(decisive)),
        (&[only], None) => only,
        (_, None) => builder.put(draft, draft.op, &kept),
        (_, Some(index)) => {
            kept.push(draft.arg(index));
            builder.put(draft, draft.op, &kept)
        }
    }
}

fn cond(builder: &mut Builder<'_>, draft: Draft<'_>) -> NodeId {
    let (condition, yes, no) = (draft.arg(0), draft.arg(1), draft.arg(2));
    match (builder.op(condition), builder.bool_constant(condition)) {
        (_, Some(true)) => yes,
        (_, Some(false)) => no,
        (Op::Fail(_), _) => failure_of(builder, draft, condition),
        _ if yes == no && builder.can_drop(condition) => yes,
        _ => match (builder.bool_constant(yes), builder.bool_constant(no)) {
            (Some(true), Some(false)) => condition,
            (Some(false), Some(true)) => builder.put(draft, Op::Not, &[condition]),
            _ => builder.keep(draft),
        },
    }
}

/// Drops operands that are certainly skipped, and those after one that is certainly the result.
fn coalesce(builder: &mut Builder<'_>, draft: Draft<'_>, catch: Catch) -> NodeId {
    let fails = |builder: &Builder<'_>, arg: NodeId| matches!(builder.op(arg), Op::Fail(_));
    let mut kept: Vec<NodeId> = Vec::with_capacity(draft.args.len());
    for (left, &arg) in (0..draft.args.len()).rev().zip(draft.args) {
        let is_null = builder.ty(arg) == Ty::Value && builder.constant(arg) == Some(&Constant::Null);
        let caught = matches!(builder.op(arg), Op::Fail(kind) if catch.catches(kind));
        // The last operand of `default` is always the result. In `coalesce` an error may still be
        // the result, and null is the result if there is nothing else.
        let skipped = match catch {
            Catch::Absence => left > 0 && (is_null || caught),
            Catch::Any => is_null && (left > 0 || !kept.is_empty()),
        };
        if skipped {
            continue;
        }
        let has_value = builder.ty(arg) != Ty::Value || matches!(builder.op(arg), Op::Const(_) | Op::Box) && !is_null;
        let decides = has_value && builder.is_sure(arg) || fails(builder, arg) && !caught;
        if catch == Catch::Any && (decides || caught) {
            // No error before this one, or before this value, can be the last.
            kept.retain(|&earlier| !fails(builder, earlier));
        }
        kept.push(arg);
        if decides {
            break;
        }
    }
    match kept.as_slice() {
        &[only] => only,
        _ => builder.put(draft, draft.op, &kept),
    }
}

/// A fold over a constant with no turn, or over what is no range.
fn range(builder: &mut Builder<'_>, draft: Draft<'_>, kind: FoldKind) -> NodeId {
    let range = draft.arg(0);
    if matches!(builder.op(range), Op::Fail(_)) {
        return failure_of(builder, draft, range);
    }
    match builder.constant(range) {
        Some(Constant::List(items)) if !items.is_empty() => builder.keep(draft),
        Some(Constant::Map(entries)) if !entries.is_empty() => builder.keep(draft),
        Some(Constant::List(_) | Constant::Map(_)) => {
            let empty = match kind {
                FoldKind::All => Constant::Bool(true),
                FoldKind::Exists | FoldKind::ExistsOne => Constant::Bool(false),
                FoldKind::Count => Constant::Int(0),
                FoldKind::Filter | FoldKind::Map => Constant::List([].into()),
                FoldKind::TransformMap | FoldKind::TransformMapEntry => Constant::Map([].into()),
            };
            builder.put_constant(draft, empty)
        }
        Some(_) => builder.put_failure(draft, ErrorKind::NoSuchOverload),
        None => builder.keep(draft),
    }
}

/// The map of keys and values that alternate.
fn map(operands: &[Constant]) -> Result<Constant, ErrorKind> {
    let mut keys = HashSet::new();
    let mut entries = Vec::new();
    for entry in operands.chunks_exact(2) {
        let [key, value] = entry else { continue };
        let same = match key {
            Constant::Bool(_) | Constant::Int(_) | Constant::Str(_) => key.clone(),
            // Equal as a key to the integer of the same number.
            Constant::Uint(number) => i64::try_from(*number).map_or_else(|_| key.clone(), Constant::Int),
            _ => return Err(ErrorKind::NoSuchOverload),
        };
        if !keys.insert(same) {
            return Err(ErrorKind::DuplicateKey);
        }
        entries.push((key.clone(), value.clone()));
    }
    Ok(Constant::Map(entries.into()))
}

/// Whether folding may make this constant: whether it has at most 65,536 parts and bytes, and 32
/// levels of lists and maps.
#[must_use]
pub fn is_small(constant: &Constant) -> bool {
    let mut left = MAX_SIZE;
    spend(constant, &mut left, MAX_DEPTH).is_some()
}

fn spend(constant: &Constant, left: &mut usize, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let own = match constant {
        Constant::Str(text) => text.len(),
        Constant::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    *left = left.checked_sub(own.saturating_add(1))?;
    match constant {
        Constant::List(items) => items.iter().try_for_each(|item| spend(item, left, depth)),
        Constant::Map(entries) => {
            entries.iter().try_for_each(|(key, value)| spend(key, left, depth).and_then(|()| spend(value, left, depth)))
        }
        _ => Some(()),
    }
}
