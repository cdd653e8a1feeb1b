//! Canonical form: no double negation, constants on the right, flat `and` and `or` with each operand
//! once, addresses compared as numbers.

use super::rebuild::{Builder, Draft};
use crate::constant::Constant;
use crate::graph::{Graph, NodeId};
use crate::op::{Arith, Cmp, Op};
use crate::ty::Ty;
use std::collections::HashSet;
use std::net::IpAddr;

/// Maximum number of operands after flattening, because each step of a chain copies the operands before it.
const MAX_OPERANDS: usize = 1024;

/// Number of operands up to which repeated ones are searched for by comparing all with all.
const FEW_OPERANDS: usize = 16;

/// Maximum number of addresses that are compared as numbers, each by code of its own. In larger sets the text is looked
/// up, by code of the same size for all.
const MAX_ADDRESSES: usize = 64;

/// Whether [`node`] may replace a node; if not, it keeps it.
pub(super) fn concerns(graph: &Graph, id: NodeId) -> bool {
    let (op, args) = (graph.op(id), graph.args(id));
    match op {
        Op::Not => true,
        Op::And | Op::Or => {
            let repeats = |(place, arg): (usize, &NodeId)| {
                args.iter().take(place).any(|earlier| graph.class(*earlier) == graph.class(*arg))
            };
            args.len() < 2
                || args.len() > FEW_OPERANDS
                || args.iter().any(|&arg| graph.op(arg) == op)
                || args.iter().enumerate().any(repeats)
        }
        Op::Cmp(_) | Op::Arith(Arith::Add | Arith::Mul) => {
            args.first().is_some_and(|&first| matches!(graph.op(first), Op::Const(_) | Op::IpText))
        }
        Op::InStrSet(_) => args.first().is_some_and(|&text| graph.op(text) == Op::IpText),
        _ => false,
    }
}

pub(super) fn node(builder: &mut Builder<'_>, draft: Draft<'_>) -> NodeId {
    let constant = |builder: &Builder<'_>, index: usize| matches!(builder.op(draft.arg(index)), Op::Const(_));
    let swapped = constant(builder, 0) && !constant(builder, 1);
    match draft.op {
        Op::Not => not(builder, draft),
        Op::And | Op::Or => flat(builder, draft),
        Op::Cmp(cmp) if swapped => builder.put(draft, Op::Cmp(mirrored(cmp)), &[draft.arg(1), draft.arg(0)]),
        Op::Arith(Arith::Add | Arith::Mul) if swapped => builder.put(draft, draft.op, &[draft.arg(1), draft.arg(0)]),
        Op::Cmp(Cmp::Eq | Cmp::Ne) | Op::InStrSet(_) => {
            addresses(builder, draft).unwrap_or_else(|| builder.keep(draft))
        }
        _ => builder.keep(draft),
    }
}

/// The test whether the text of an address is one of these: whether the address is one of those that they are texts of.
fn addresses(builder: &mut Builder<'_>, draft: Draft<'_>) -> Option<NodeId> {
    let text = draft.arg(0);
    let address = builder.first(text).filter(|_| builder.op(text) == Op::IpText)?;
    let constant = match draft.op {
        Op::InStrSet(set) => builder.graph().constant_at(set)?,
        _ => builder.constant(draft.arg(1))?,
    };
    let found: Vec<IpAddr> = match constant {
        Constant::Str(text) => address_of(text.as_bytes()).into_iter().collect(),
        Constant::StrSet(texts) if texts.len() <= MAX_ADDRESSES => {
            texts.iter().filter_map(|text| address_of(text)).collect()
        }
        _ => return None,
    };
    let differs = draft.op == Op::Cmp(Cmp::Ne);
    let mut tests = Vec::with_capacity(found.len());
    for ip in found {
        let only = builder.intern(Constant::Cidr(ip, if ip.is_ipv4() { 32 } else { 128 }));
        tests.push(builder.put(draft, Op::InCidr(only), &[address]));
    }
    Some(match tests.as_slice() {
        [] if builder.can_drop(address) => builder.put_constant(draft, Constant::Bool(differs)),
        [] => return None,
        &[same] if differs => builder.put(draft, Op::Not, &[same]),
        &[same] => same,
        tests => builder.put(draft, Op::Or, tests),
    })
}

/// The address whose text this is, in the only form in which it is written. Another spelling is the text of none.
fn address_of(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let ip: IpAddr = text.parse().ok()?;
    (ip.to_canonical().to_string() == text).then_some(ip)
}

fn not(builder: &mut Builder<'_>, draft: Draft<'_>) -> NodeId {
    let inner = draft.arg(0);
    match builder.op(inner) {
        Op::Not => builder.first(inner).unwrap_or(inner),
        Op::Cmp(cmp) => {
            let args = builder.args(inner);
            let double = args.first().is_some_and(|&arg| builder.ty(arg) == Ty::Double);
            match opposite(cmp) {
                // With a NaN both `<` and `>=` are false.
                _ if double && !matches!(cmp, Cmp::Eq | Cmp::Ne) => builder.keep(draft),
                cmp => builder.put(draft, Op::Cmp(cmp), &args),
            }
        }
        _ => builder.keep(draft),
    }
}

/// Inlines operands that are the same operation, and drops repeated operands. Neither changes which
/// operand fails first. An operand that is used elsewhere too is not inlined, so that its value
/// stays shared and graphs do not grow.
fn flat(builder: &mut Builder<'_>, draft: Draft<'_>) -> NodeId {
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for (&arg, was) in draft.args.iter().zip(draft.was) {
        let lone = builder.is_used_once(&draft, *was);
        let inner = if lone && builder.op(arg) == draft.op { builder.args(arg) } else { vec![arg] };
        kept.extend(inner.into_iter().filter(|&arg| seen.insert(builder.class(arg)) || !builder.is_pure(arg)));
    }
    if kept.len() > MAX_OPERANDS {
        return builder.keep(draft);
    }
    match kept.as_slice() {
        &[only] => only,
        _ => builder.put(draft, draft.op, &kept),
    }
}

const fn opposite(cmp: Cmp) -> Cmp {
    match cmp {
        Cmp::Eq => Cmp::Ne,
        Cmp::Ne => Cmp::Eq,
        Cmp::Lt => Cmp::Ge,
        Cmp::Le => Cmp::Gt,
        Cmp::Gt => Cmp::Le,
        Cmp::Ge => Cmp::Lt,
    }
}

const fn mirrored(cmp: Cmp) -> Cmp {
    match cmp {
        Cmp::Eq => Cmp::Eq,
        Cmp::Ne => Cmp::Ne,
        Cmp::Lt => Cmp::Gt,
        Cmp::Le => Cmp::Ge,
        Cmp::Gt => Cmp::Lt,
        Cmp::Ge => Cmp::Le,
    }
}
