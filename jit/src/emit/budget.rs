//! What the turns of a loop cost. As a rule each turn takes its unit from the budget in memory; turns that nothing else is
//! paid in, because they call no helper, are paid together when the loop is left, however that is.

use super::fold::Loop;
use super::{Emitter, MEM};
use celero_ir::layout::{Access, frame};
use celero_ir::{Cmp, ErrorKind, NodeId, Op, Ty};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};

/// Most nodes of a body that is looked at.
const LOOKED_AT: usize = 64;

/// Turns that are paid together.
#[derive(Clone, Copy)]
pub(super) struct Tab {
    /// The position of the first turn.
    first: Value,
    /// How many turns there are, and how many the budget allows.
    count: Value,
    allowed: Value,
}

impl Emitter<'_, '_> {
    /// Whether evaluating a node calls no helper.
    pub(super) fn is_quiet(&self, root: NodeId) -> bool {
        let mut seen = vec![root];
        let mut next = 0;
        while let Some(&id) = seen.get(next) {
            next = next.saturating_add(1);
            if !self.is_quiet_op(id) || seen.len() > LOOKED_AT {
                return false;
            }
            let (_, _, args) = self.parts(id);
            seen.extend(args.iter().filter(|arg| !seen.contains(arg)).copied().collect::<Vec<_>>());
        }
        true
    }

    /// Whether an operation calls no helper, whatever its operands do.
    fn is_quiet_op(&self, id: NodeId) -> bool {
        let (op, _, args) = self.parts(id);
        let text = args.first().is_some_and(|&arg| matches!(self.unit.graph.ty(arg), Ty::Str | Ty::Bytes | Ty::Raw));
        match op {
            Op::Const(_) | Op::Local(_) | Op::Not | Op::And | Op::Or | Op::Cond | Op::Arith(_) | Op::Neg => true,
            Op::Cmp(Cmp::Eq | Cmp::Ne) if text => args.iter().any(|&arg| self.is_inline(arg)),
            Op::StartsWith | Op::EndsWith => args.get(1).is_some_and(|&affix| self.is_inline(affix)),
            Op::Cmp(_) => !text,
            Op::InCidr(_) | Op::IsPresent | Op::AsBytes | Op::Elements(_) => true,
            Op::Field(index) => self.unit.field(index).is_some_and(|field| !matches!(field.access, Access::Get)),
            _ => false,
        }
    }

    /// The budget of an evaluation that spends it in one place at the most: in one loop that is passed once.
    pub(super) fn spent_once(&self) -> Option<i64> {
        let mut loops = self.plan.nodes().iter().filter(|&&id| !self.is_quiet_op(id));
        match (loops.next(), loops.next()) {
            (Some(&id), None) if matches!(self.unit.graph.op(id), Op::Fold { .. }) && !self.plan.facts(id).shared => {
                self.unit.steps
            }
            _ => None,
        }
    }

    /// Starts a tab for so many turns; gives it and how many may be taken.
    pub(super) fn open_tab(&mut self, first: Value, count: Value) -> (Tab, Value) {
        let fuel = match self.steps {
            Some(steps) => self.word(steps),
            None => {
                let given = self.frame();
                self.builder.ins().load(I64, MEM, given, frame::FUEL)
            }
        };
        let zero = self.word(0);
        let left = self.builder.ins().smax(fuel, zero);
        let allowed = self.builder.ins().smin(count, left);
        (Tab { first, count, allowed }, allowed)
    }

    /// Pays the turns up to the one at a position, if that matters to anything after.
    pub(super) fn pay_through(&mut self, tab: Tab, position: Value, step: i64) {
        if self.steps.is_none() {
            let after = self.builder.ins().iadd_imm_s(position, step);
            self.pay(tab, after, step);
        }
    }

    /// Pays the turns before a position.
    fn pay(&mut self, tab: Tab, position: Value, step: i64) {
        let way = self.builder.ins().isub(position, tab.first);
        let turns = match u64::try_from(step) {
            Ok(step) if step >= 2 => self.quotient_unsigned(way, step),
            _ => way,
        };
        let given = self.frame();
        let fuel = self.builder.ins().load(I64, MEM, given, frame::FUEL);
        let left = self.builder.ins().isub(fuel, turns);
        self.builder.ins().store(MEM, left, given, frame::FUEL);
    }

    /// At the end of all turns that were allowed: pays them, and fails if more were wanted.
    pub(super) fn close_tab(&mut self, turn: &Loop, id: NodeId) {
        let Some(tab) = turn.tab else { return };
        if self.steps.is_none() {
            self.pay(tab, turn.end, turn.step);
        }
        let more = self.builder.ins().icmp(IntCC::NotEqual, tab.count, tab.allowed);
        self.fail_if(more, ErrorKind::OutOfBudget, id);
    }
}
