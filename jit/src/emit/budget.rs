//! What the iterations of a loop cost: one step of the budget each.
//!
//! In general each iteration takes its step from the budget in memory. If the body calls no helper,
//! and so spends nothing else, all iterations are charged together when the loop is left, on every
//! way out.

use super::{Emitter, MEM};
use celero_ir::layout::{Access, Entries, Field, frame};
use celero_ir::{Cmp, Constant, ErrorKind, NodeId, Op, Ty};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};

/// Maximum number of nodes of a body that are inspected.
const MAX_INSPECTED: usize = 64;

/// Iterations that are charged together.
#[derive(Clone, Copy)]
pub(super) struct LoopCharge {
    /// The position of the first iteration.
    first: Value,
    /// The number of iterations.
    count: Value,
    /// The number of iterations that the budget allows.
    allowed: Value,
}

/// What is known of the budget of a function before it runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownBudget {
    /// All steps, if one place alone spends them: then the budget in the frame need not be read or written.
    steps: Option<i64>,
    /// Whether it always suffices: then helpers that work without a frame get none.
    pub(super) suffices: bool,
}

impl Emitter<'_, '_> {
    pub(super) fn known_budget(&self) -> KnownBudget {
        KnownBudget { steps: self.spent_once(), suffices: self.never_exhausts_budget() }
    }

    /// Whether evaluating a node calls no helper.
    pub(super) fn is_quiet(&self, root: NodeId) -> bool {
        let mut seen = vec![root];
        let mut next = 0;
        while let Some(&id) = seen.get(next) {
            next = next.saturating_add(1);
            if !self.is_quiet_op(id) || seen.len() > MAX_INSPECTED {
                return false;
            }
            let (_, _, args) = self.parts(id);
            // What is written twice is looked at once.
            for class in args.iter().map(|&arg| self.unit.graph.class(arg)) {
                if !seen.contains(&class) {
                    seen.push(class);
                }
            }
        }
        true
    }

    /// Whether an operation calls no helper, whatever its operands do.
    fn is_quiet_op(&self, id: NodeId) -> bool {
        let (op, _, args) = self.parts(id);
        let text = args.first().is_some_and(|&arg| matches!(self.unit.graph.ty(arg), Ty::Str | Ty::Bytes | Ty::Raw));
        match op {
            Op::Const(_) | Op::Local(_) | Op::Not | Op::And | Op::Or | Op::Cond | Op::Arith(_) | Op::Neg => true,
            Op::TimeAdd | Op::TimeSub | Op::TimeSince | Op::Unbox(_) | Op::HasTypes(_) => true,
            Op::Cmp(Cmp::Eq | Cmp::Ne) if text => args.iter().any(|&arg| self.is_inline(arg)),
            Op::StartsWith | Op::EndsWith => args.get(1).is_some_and(|&affix| self.is_inline(affix)),
            Op::WildcardConst(wildcard) => self.unit.inline_wildcard(wildcard).is_some(),
            Op::Cmp(_) => !text,
            Op::InCidr(_) | Op::IsPresent | Op::AsBytes | Op::Elements(_) | Op::Cursor(_) | Op::SeqSize => true,
            // An element or a member is loaded, or its accessor called.
            Op::SeqAt | Op::Member { .. } => true,
            Op::HasEntry => true,
            Op::EntryValue(index) => {
                let value = self.unit.field(index).and_then(|field| field.entries.as_ref()?.value.as_ref());
                value.is_some_and(|value| value.access != Access::Get)
            }
            Op::Field(index) => {
                let helped = |field: &Field| matches!(field.access, Access::Get | Access::MostlyText(..));
                self.unit.field(index).is_some_and(|field| !helped(field))
            }
            _ => false,
        }
    }

    /// The budget of every evaluation, if it is known and if the function spends it in a single
    /// place: one loop that runs once.
    fn spent_once(&self) -> Option<i64> {
        let mut loops = self.plan.nodes().iter().filter(|&&id| !self.is_quiet_op(id));
        match (loops.next(), loops.next()) {
            (Some(&id), None) if !self.plan.facts(id).shared => match self.unit.graph.op(id) {
                Op::Fold { .. } => self.unit.steps,
                Op::SeqHas if self.searches_quietly(id) => self.unit.steps,
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether nothing in the function reads the budget, or what reads it always finds enough. Then nothing needs to be
    /// taken from it.
    fn never_exhausts_budget(&self) -> bool {
        let mut left = self.unit.steps.unwrap_or(0);
        self.plan.nodes().iter().filter(|&&id| !self.is_quiet_op(id)).all(|&id| match self.unit.graph.op(id) {
            // Their helpers cannot fail.
            Op::Cmp(_) | Op::StartsWith | Op::EndsWith | Op::InStrSet(_) | Op::InIntSet(_) => true,
            Op::Entry(_) => {
                left = self.most_steps_of_lookup(id).map_or(-1, |most| left.saturating_sub(most));
                left >= 0
            }
            _ => false,
        })
    }

    /// The most steps that an [`Op::Entry`] takes, if they are known.
    fn most_steps_of_lookup(&self, id: NodeId) -> Option<i64> {
        let (_, _, args) = self.parts(id);
        let (graph, &key) = (self.unit.graph, args.first()?);
        let bytes = match (graph.ty(key), graph.op(key)) {
            (Ty::Int | Ty::Uint | Ty::Bool, _) => 0,
            // Rules that share the code have keys of other lengths.
            (_, Op::Const(id)) if self.row.is_none() => match graph.constant_at(id)? {
                Constant::Str(text) => text.len(),
                _ => return None,
            },
            _ => return None,
        };
        Some(Entries::most_steps(u32::try_from(bytes).ok()?))
    }

    /// Charges one iteration.
    pub(super) fn charge_iteration(&mut self, id: NodeId) {
        self.spend(id, |this, fuel| this.builder.ins().iadd_imm_s(fuel, -1));
    }

    /// Whether a search for an element spends nothing but its iterations: texts that are not
    /// compared inline cost what they are long.
    pub(super) fn searches_quietly(&self, id: NodeId) -> bool {
        let (_, _, args) = self.parts(id);
        args.first()
            .is_some_and(|&wanted| !matches!(self.unit.graph.ty(wanted), Ty::Str | Ty::Bytes) || self.is_inline(wanted))
    }

    /// Charges this many steps.
    pub(super) fn charge_steps(&mut self, steps: Value, id: NodeId) {
        self.spend(id, |this, fuel| this.builder.ins().isub(fuel, steps));
    }

    /// Sets the budget to what is left of it, which must not be negative.
    fn spend(&mut self, id: NodeId, left: impl FnOnce(&mut Self, Value) -> Value) {
        let given = self.frame();
        let fuel = self.builder.ins().load(I64, MEM, given, frame::FUEL);
        let left = left(self, fuel);
        self.builder.ins().store(MEM, left, given, frame::FUEL);
        let spent = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        self.fail_if(spent, ErrorKind::OutOfBudget, id);
    }

    /// Prepares to charge `count` iterations together, and charges the steps `paid` before the
    /// first; returns the charge and the number of iterations that the budget allows.
    pub(super) fn begin_charge(
        &mut self,
        first: Value,
        count: Value,
        paid: Option<Value>,
        id: NodeId,
    ) -> (LoopCharge, Value) {
        let mut fuel = match self.budget.steps {
            Some(steps) => self.word(steps),
            None => {
                let given = self.frame();
                self.builder.ins().load(I64, MEM, given, frame::FUEL)
            }
        };
        if let Some(paid) = paid {
            fuel = self.builder.ins().isub(fuel, paid);
            if self.budget.steps.is_none() {
                let given = self.frame();
                self.builder.ins().store(MEM, fuel, given, frame::FUEL);
            }
            let spent = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, fuel, 0);
            self.fail_if(spent, ErrorKind::OutOfBudget, id);
        }
        let zero = self.word(0);
        let left = self.builder.ins().smax(fuel, zero);
        let allowed = self.builder.ins().smin(count, left);
        (LoopCharge { first, count, allowed }, allowed)
    }

    /// Charges the iterations up to and including the one at a position, unless nothing after the loop spends budget.
    pub(super) fn charge_through(&mut self, charge: LoopCharge, position: Value, step: i64) {
        if self.budget.steps.is_none() {
            let after = self.builder.ins().iadd_imm_s(position, step);
            self.charge(charge, after, step);
        }
    }

    /// Charges the iterations before a position.
    fn charge(&mut self, charge: LoopCharge, position: Value, step: i64) {
        let distance = self.builder.ins().isub(position, charge.first);
        let iterations = match u64::try_from(step) {
            Ok(step) if step >= 2 => self.quotient_unsigned(distance, step),
            _ => distance,
        };
        let given = self.frame();
        let fuel = self.builder.ins().load(I64, MEM, given, frame::FUEL);
        let left = self.builder.ins().isub(fuel, iterations);
        self.builder.ins().store(MEM, left, given, frame::FUEL);
    }

    /// At the end of all iterations that were allowed: charges them, and fails if there are more.
    /// `end` is the position after the last iteration.
    pub(super) fn finish_charge(&mut self, charge: Option<LoopCharge>, end: Value, step: i64, id: NodeId) {
        let Some(charge) = charge else { return };
        if self.budget.steps.is_none() {
            self.charge(charge, end, step);
        }
        let more = self.builder.ins().icmp(IntCC::NotEqual, charge.count, charge.allowed);
        self.fail_if(more, ErrorKind::OutOfBudget, id);
    }
}
