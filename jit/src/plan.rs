//! Analysis before emission: which nodes a function has, which can fail, which are used more than
//! once, and on which variables they depend. All of these are the same for all nodes of a class, so
//! the plan is about classes.

use crate::unit::Unit;
use celero_ir::layout::Access;
use celero_ir::{Fails, NodeId, Op, Ty};
use std::collections::BTreeSet;

/// Number of boxes that get a stack slot. Further boxes are made in the arena.
const STACK_BOXES: u32 = 64;

/// Facts about a node of the function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeFacts {
    /// Whether evaluation may branch to the error target. Never false when it may.
    pub(crate) fails: bool,
    /// Whether evaluation may fail with a final error, which nothing absorbs. Never false when it may.
    pub(crate) ends: bool,
    /// Whether the expression, written out as a tree, has it more than once.
    pub(crate) shared: bool,
    /// One more than the highest level of the variables on which it may depend; 0 if it depends on none.
    pub(crate) free: u32,
    /// For a box: whether it gets a stack slot.
    pub(crate) on_stack: bool,
}

/// The facts of the classes of a function's roots, numbered densely.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Indexed by node id: dense number of its class plus one; 0 for nodes that the roots do not reach.
    numbers: Vec<u32>,
    /// The nodes that the roots reach.
    reached: Vec<NodeId>,
    /// Working memory, indexed by class: its dense number plus one; 0 between uses.
    class_numbers: Vec<u32>,
    /// The first node of each class among them.
    nodes: Vec<NodeId>,
    facts: Vec<NodeFacts>,
    /// Longest chain of operands.
    pub(crate) depth: u32,
    /// Most loops inside of one another.
    pub(crate) loops: u32,
}

impl Plan {
    /// Analyses the nodes of these roots. Reuses the memory of the last plan.
    pub(crate) fn make(&mut self, unit: &Unit<'_>, roots: &[NodeId]) {
        self.collect(unit, roots);
        let locals = self.find_failures(unit, None);
        if !locals.is_empty() || self.facts.iter().any(|facts| facts.free > 0) {
            self.find_failures(unit, Some(&locals));
        }
        self.find_shared(unit, roots);
        (self.depth, self.loops) = self.find_depths(unit);
    }

    /// The dense number of a node's class.
    pub(crate) fn number(&self, id: NodeId) -> Option<usize> {
        self.numbers.get(id.0 as usize).and_then(|n| n.checked_sub(1)).map(|n| n as usize)
    }

    /// A node of each class, operands first.
    pub(crate) fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// How many classes there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A node's facts.
    pub(crate) fn facts(&self, id: NodeId) -> NodeFacts {
        self.number(id).and_then(|n| self.facts.get(n)).copied().unwrap_or_default()
    }

    fn collect(&mut self, unit: &Unit<'_>, roots: &[NodeId]) {
        for id in self.reached.drain(..) {
            if let Some(number) = self.numbers.get_mut(id.0 as usize) {
                *number = 0;
            }
        }
        self.nodes.clear();
        self.numbers.resize(unit.graph.len(), 0);
        self.class_numbers.resize(unit.graph.len(), 0);
        let mut pending = roots.to_vec();
        while let Some(id) = pending.pop() {
            match self.numbers.get_mut(id.0 as usize) {
                Some(number) if *number == 0 => *number = 1,
                _ => continue,
            }
            self.reached.push(id);
            pending.extend_from_slice(unit.graph.args(id));
        }
        self.reached.sort_unstable();
        let mut next = 1_u32;
        for &id in &self.reached {
            let Some(number) = self.class_numbers.get_mut(unit.graph.class(id).0 as usize) else { continue };
            if *number == 0 {
                *number = next;
                next = next.saturating_add(1);
                self.nodes.push(id);
            }
            if let Some(slot) = self.numbers.get_mut(id.0 as usize) {
                *slot = *number;
            }
        }
        for &id in &self.nodes {
            if let Some(number) = self.class_numbers.get_mut(unit.graph.class(id).0 as usize) {
                *number = 0;
            }
        }
        self.facts.clear();
        self.facts.resize(self.nodes.len(), NodeFacts::default());
    }

    /// Finds which nodes can fail, operands first. `locals` are the levels of variables whose
    /// initialiser can fail; `None` assumes all. Returns these levels.
    fn find_failures(&mut self, unit: &Unit<'_>, locals: Option<&BTreeSet<u32>>) -> BTreeSet<u32> {
        let mut failing = BTreeSet::new();
        let mut boxes = 0_u32;
        for n in 0..self.nodes.len() {
            let Some(&id) = self.nodes.get(n) else { continue };
            let (op, args) = (unit.graph.op(id), unit.graph.args(id));
            let mut facts =
                NodeFacts { fails: fails(unit, op, unit.graph.ty(id)), ends: ends(unit, op), ..NodeFacts::default() };
            for &arg in args {
                let of_arg = self.facts(arg);
                facts.fails |= of_arg.fails;
                facts.ends |= of_arg.ends;
                facts.free = facts.free.max(of_arg.free);
            }
            // Outside of a binding only levels below its own are free.
            let outside = |free: u32, level: u32| free.min(level);
            match op {
                Op::Box => {
                    facts.on_stack = boxes < STACK_BOXES;
                    facts.fails |= !facts.on_stack;
                    facts.ends |= !facts.on_stack;
                    boxes = boxes.saturating_add(1);
                }
                Op::Local(level) => {
                    facts.free = level.saturating_add(1);
                    facts.fails = locals.is_none_or(|levels| levels.contains(&level));
                }
                Op::Let(level) => {
                    let (init, body) = (args.first().copied(), args.get(1).copied());
                    let init = init.map(|id| self.facts(id)).unwrap_or_default();
                    let body = body.map(|id| self.facts(id)).unwrap_or_default();
                    if init.fails {
                        failing.insert(level);
                    }
                    facts.fails = body.fails || init.ends;
                    facts.free = init.free.max(outside(body.free, level));
                }
                Op::Fold { level, .. } => {
                    let mut parts = args.iter().map(|&id| self.facts(id).free);
                    let range = parts.next().unwrap_or(0);
                    facts.free = parts.fold(range, |free, part| free.max(outside(part, level)));
                }
                _ => {}
            }
            if let Some(slot) = self.facts.get_mut(n) {
                *slot = facts;
            }
        }
        failing
    }

    /// Finds which nodes are used more than once, users first.
    fn find_shared(&mut self, unit: &Unit<'_>, roots: &[NodeId]) {
        let mut used = vec![false; self.nodes.len()];
        for &root in roots {
            let Some(n) = self.number(root) else { continue };
            if let (Some(facts), Some(seen)) = (self.facts.get_mut(n), used.get_mut(n)) {
                facts.shared |= *seen;
                *seen = true;
            }
        }
        for n in (0..self.nodes.len()).rev() {
            let Some(&id) = self.nodes.get(n) else { continue };
            let again = self.facts.get(n).is_some_and(|facts| facts.shared);
            for &arg in unit.graph.args(id) {
                let Some(a) = self.number(arg) else { continue };
                if let (Some(facts), Some(seen)) = (self.facts.get_mut(a), used.get_mut(a)) {
                    facts.shared |= again || *seen;
                    *seen = true;
                }
            }
        }
    }

    /// The longest chain of operands, and of loops in loops.
    fn find_depths(&self, unit: &Unit<'_>) -> (u32, u32) {
        let mut depths = vec![(0_u32, 0_u32); self.nodes.len()];
        let (mut depth, mut loops) = (0, 0);
        for (n, &id) in self.nodes.iter().enumerate() {
            let is_loop = matches!(unit.graph.op(id), Op::Fold { .. });
            let mut own = (1_u32, u32::from(is_loop));
            for (place, arg) in unit.graph.args(id).iter().enumerate() {
                let Some(below) = self.number(*arg).and_then(|arg| depths.get(arg)) else { continue };
                // The range, the first operand, is evaluated before the loop.
                let around = u32::from(is_loop && place > 0);
                own = (own.0.max(below.0.saturating_add(1)), own.1.max(below.1.saturating_add(around)));
            }
            if let Some(slot) = depths.get_mut(n) {
                *slot = own;
            }
            (depth, loops) = (depth.max(own.0), loops.max(own.1));
        }
        (depth, loops)
    }
}

/// Whether the operation itself can fail when its operands have values. Boxes and variables are decided by the caller.
fn fails(unit: &Unit<'_>, op: Op, ty: Ty) -> bool {
    match (op, op.decl().fails) {
        (Op::WildcardConst(wildcard), _) => unit.inline_wildcard(wildcard).is_none(),
        (Op::Box, _) | (_, Fails::Never | Fails::WhenBoundToError) => false,
        (_, Fails::Maybe | Fails::OnBudget) => true,
        (_, Fails::UnlessDouble) => ty != Ty::Double,
        (Op::Field(index), Fails::WhenAbsent) => {
            unit.field(index).is_none_or(|field| !field.is_sure() || is_made(&field.access))
        }
        (Op::Elements(index) | Op::Cursor(index), Fails::WhenAbsent) => {
            unit.field(index).is_none_or(|field| field.optional)
        }
        (_, Fails::WhenAbsent) => true,
    }
}

/// Whether the operation itself can exhaust the budget, its operands aside.
fn ends(unit: &Unit<'_>, op: Op) -> bool {
    match op {
        Op::Fail(kind) => kind.is_final(),
        Op::Field(index) => unit.field(index).is_none_or(|field| is_made(&field.access)),
        Op::Header { .. } | Op::Decode | Op::IpText | Op::ContainsConst(_) | Op::MatchesConst(_) => true,
        Op::WildcardConst(wildcard) => unit.inline_wildcard(wildcard).is_none(),
        Op::Project(_) | Op::Find(_) | Op::Entry(_) => true,
        Op::EntryValue(index) => {
            let value = unit.field(index).and_then(|field| field.entries.as_ref()?.value.as_ref());
            value.is_none_or(|value| is_made(&value.access))
        }
        Op::Fold { .. } | Op::SeqHas | Op::SeqEqual | Op::List | Op::Map | Op::Dispatch { .. } => true,
        Op::Invoke { form, .. } => form.needs_frame(),
        Op::Call(helper) => helper.decl().fails,
        _ => false,
    }
}

/// Whether reading a field may need memory.
fn is_made(access: &Access) -> bool {
    matches!(access, Access::Get | Access::MostlyText(..))
}
