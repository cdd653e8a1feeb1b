//! Replaces chains of comparisons of one subject with constants, and memberships in constant lists,
//! by one lookup in a set: `x == "a" || x == "b" || x == "c"`, `x != 1 && x != 2 && x != 3`,
//! `x in ["a", "b"]`. A membership in a short list of `uint` or `double` becomes comparisons.
//!
//! A lookup fails as its subject does, which is how each comparison would have failed, the first of them first.

use super::rebuild::{Builder, Draft};
use crate::constant::Constant;
use crate::graph::{Graph, NodeId};
use crate::helper::Helper;
use crate::op::{Cmp, Op};
use crate::ty::Ty;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;

/// Minimum number of comparisons that a lookup replaces.
const MIN: usize = 3;

/// Maximum number of comparisons that replace a membership.
const MAX_COMPARISONS: usize = 8;

/// Whether [`node`] may replace a node; if not, it keeps it.
pub(super) fn concerns(graph: &Graph, id: NodeId) -> bool {
    let args = graph.args(id);
    match graph.op(id) {
        Op::Call(Helper::in_container) => true,
        Op::And | Op::Or => {
            let is_lookup = |&arg: &NodeId| matches!(graph.op(arg), Op::InStrSet(_) | Op::InIntSet(_) | Op::Not);
            let comparisons = args.iter().filter(|&&arg| matches!(graph.op(arg), Op::Cmp(Cmp::Eq | Cmp::Ne)));
            args.len() < 2 || comparisons.count() >= MIN || args.iter().any(is_lookup)
        }
        _ => false,
    }
}

pub(super) fn node(builder: &mut Builder<'_>, draft: Draft<'_>) -> NodeId {
    match draft.op {
        Op::Or => chain(builder, draft, false),
        Op::And => chain(builder, draft, true),
        Op::Call(Helper::in_container) => membership(builder, draft),
        _ => builder.keep(draft),
    }
}

/// The constants with which a subject is compared, all of one kind.
enum Members {
    /// Texts or bytes, as the subject is.
    Texts(Vec<Arc<[u8]>>),
    Numbers(Vec<i64>),
}

impl Members {
    /// One constant.
    fn of(constant: &Constant) -> Option<Self> {
        match constant {
            Constant::Str(text) => Some(Self::Texts(vec![text.clone().into()])),
            Constant::Bytes(bytes) => Some(Self::Texts(vec![bytes.clone()])),
            Constant::Int(number) => Some(Self::Numbers(vec![*number])),
            Constant::StrSet(set) => Some(Self::Texts(set.to_vec())),
            Constant::IntSet(set) => Some(Self::Numbers(set.to_vec())),
            _ => None,
        }
    }

    /// Adds one constant of the same kind.
    fn add(&mut self, constant: &Constant) -> Option<()> {
        match (self, constant) {
            (Self::Texts(members), Constant::Str(text)) => members.push(text.clone().into()),
            (Self::Texts(members), Constant::Bytes(bytes)) => members.push(bytes.clone()),
            (Self::Numbers(members), Constant::Int(number)) => members.push(*number),
            _ => return None,
        }
        Some(())
    }

    /// Adds the others if they are of the same kind.
    fn join(&mut self, others: Self) -> Option<()> {
        match (self, others) {
            (Self::Texts(members), Self::Texts(others)) => members.extend(others),
            (Self::Numbers(members), Self::Numbers(others)) => members.extend(others),
            _ => return None,
        }
        Some(())
    }

    fn len(&self) -> usize {
        match self {
            Self::Texts(members) => members.len(),
            Self::Numbers(members) => members.len(),
        }
    }

    /// The test of a subject, which is of their type.
    fn test(self, builder: &mut Builder<'_>, draft: Draft<'_>, subject: NodeId) -> NodeId {
        let op = match self {
            Self::Texts(members) => {
                let mut members: Vec<_> = members.into_iter().map(|member| (first_bytes(&member), member)).collect();
                members.sort_unstable();
                members.dedup();
                Op::InStrSet(builder.intern(Constant::StrSet(members.into_iter().map(|(_, member)| member).collect())))
            }
            Self::Numbers(mut members) => {
                members.sort_unstable();
                members.dedup();
                Op::InIntSet(builder.intern(Constant::IntSet(members.into())))
            }
        };
        builder.put(draft, op, &[subject])
    }
}

/// The first eight bytes as a number. Texts that differ in them have the order of these numbers, so
/// that few comparisons read the texts.
fn first_bytes(text: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(text).for_each(|(to, &byte)| *to = byte);
    u64::from_be_bytes(first)
}

/// The subject and members that an operand tests, or with `negated` tests not to be.
fn link(builder: &Builder<'_>, operand: NodeId, negated: bool) -> Option<(NodeId, Members)> {
    let (cmp, lookup) = match (negated, builder.op(operand)) {
        (false, _) => (Cmp::Eq, operand),
        (true, Op::Not) => (Cmp::Ne, builder.first(operand)?),
        (true, _) => (Cmp::Ne, operand),
    };
    let op = builder.op(lookup);
    let subject = builder.first(lookup)?;
    let plain = !negated || lookup != operand;
    let members = match op {
        Op::InStrSet(set) | Op::InIntSet(set) if plain => Members::of(builder.graph().constant_at(set)?)?,
        Op::Cmp(found) if found == cmp && lookup == operand => {
            let constant = builder.graph().args(lookup).get(1).copied()?;
            Members::of(builder.constant(constant)?)?
        }
        _ => return None,
    };
    builder.is_pure(subject).then_some((subject, members))
}

/// Joins the links of one subject at the place of the first.
fn chain(builder: &mut Builder<'_>, draft: Draft<'_>, negated: bool) -> NodeId {
    // Indexed by the class of the subject.
    let mut found: HashMap<NodeId, Option<(Members, usize)>> = HashMap::new();
    for &operand in draft.args {
        if let Some((subject, members)) = link(builder, operand, negated) {
            let entry = found.entry(builder.class(subject)).or_insert_with(|| Some((empty_like(&members), 0)));
            *entry = entry.take().and_then(|(mut all, links)| {
                all.join(members)?;
                Some((all, links.saturating_add(1)))
            });
        }
    }
    let mut kept = Vec::with_capacity(draft.args.len());
    for &operand in draft.args {
        let Some((subject, _)) = link(builder, operand, negated) else {
            kept.push(operand);
            continue;
        };
        let class = builder.class(subject);
        match found.get_mut(&class) {
            // At the first link; the others find nothing any more, and are left out.
            Some(entry) if entry.as_ref().is_some_and(|(all, links)| *links > 1 && all.len() >= MIN) => {
                let Some((all, _)) = entry.take() else { continue };
                let test = all.test(builder, draft, subject);
                kept.push(if negated { builder.put(draft, Op::Not, &[test]) } else { test });
                found.remove(&class);
            }
            Some(_) => kept.push(operand),
            None => {}
        }
    }
    match kept.as_slice() {
        &[only] => only,
        kept if kept.len() == draft.args.len() => builder.keep(draft),
        kept => builder.put(draft, draft.op, kept),
    }
}

fn empty_like(members: &Members) -> Members {
    match members {
        Members::Texts(_) => Members::Texts(Vec::new()),
        Members::Numbers(_) => Members::Numbers(Vec::new()),
    }
}

/// `x in [..]` of a scalar and scalars of the same type. Equality across types would need more.
fn membership(builder: &mut Builder<'_>, draft: Draft<'_>) -> NodeId {
    let boxed = draft.arg(0);
    let (Op::Box, Some(subject)) = (builder.op(boxed), builder.first(boxed)) else { return builder.keep(draft) };
    let ty = builder.ty(subject);
    let constant = builder.constant(draft.arg(1)).cloned();
    let items: SmallVec<[&Constant; 4]> = match &constant {
        Some(Constant::List(items)) => items.iter().collect(),
        Some(Constant::Map(entries)) => entries.iter().map(|(key, _)| key).collect(),
        _ => return builder.keep(draft),
    };
    let Some(&first) = items.first() else {
        let droppable = builder.can_drop(subject);
        return if droppable { builder.put_constant(draft, Constant::Bool(false)) } else { builder.keep(draft) };
    };
    if items.iter().any(|item| item.ty() != Some(ty)) {
        return builder.keep(draft);
    }
    if matches!(ty, Ty::Uint | Ty::Double) && (2..=MAX_COMPARISONS).contains(&items.len()) && builder.is_pure(subject) {
        let compared = |item: &&Constant| {
            let constant = typed(builder, draft, (*item).clone(), ty);
            builder.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[subject, constant], draft.origin)
        };
        let tests: Vec<NodeId> = items.iter().map(compared).collect();
        return builder.put(draft, Op::Or, &tests);
    }
    if !matches!(ty, Ty::Str | Ty::Bytes | Ty::Int | Ty::Uint | Ty::Double) {
        return builder.keep(draft);
    }
    if items.len() == 1 {
        let only = typed(builder, draft, first.clone(), ty);
        return builder.put(draft, Op::Cmp(Cmp::Eq), &[subject, only]);
    }
    let mut members = match ty {
        Ty::Int => Members::Numbers(Vec::with_capacity(items.len())),
        _ => Members::Texts(Vec::with_capacity(items.len())),
    };
    if items.iter().any(|item| members.add(item).is_none()) {
        return builder.keep(draft);
    }
    members.test(builder, draft, subject)
}

/// A constant of this type.
fn typed(builder: &mut Builder<'_>, draft: Draft<'_>, constant: Constant, ty: Ty) -> NodeId {
    let id = builder.intern(constant);
    builder.add(Op::Const(id), ty, &[], draft.origin)
}
