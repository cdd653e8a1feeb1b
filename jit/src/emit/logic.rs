//! Truth values as control flow: `and`, `or`, `not`, conditions and tests jump to where their
//! result leads. They become a number only where a value is needed.

use super::block::{Edge, ErrorTarget, Words};
use super::ip::Networks;
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::{Catch, Constant, FoldKind, Helper, NodeId, Op, Ty};
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};

/// What `and` and `or` test at a time.
enum Operand {
    Node(NodeId),
    Networks(Networks),
}

impl Operand {
    /// A node that fails where the test fails.
    fn node(&self) -> NodeId {
        match self {
            Self::Node(id) => *id,
            Self::Networks(networks) => networks.first,
        }
    }
}

impl Emitter<'_, '_> {
    /// Whether the node is emitted as control flow, so that a jump costs less than its value.
    pub(super) fn is_test(&self, id: NodeId) -> bool {
        let (op, ty, args) = self.parts(id);
        match op {
            Op::And | Op::Or | Op::SeqHas | Op::SeqEqual => true,
            Op::Cond | Op::Let(_) => ty == Ty::Bool,
            Op::Fold { kind: FoldKind::All | FoldKind::Exists, .. } => true,
            Op::Cmp(_) | Op::StartsWith | Op::EndsWith => self.is_text_test(op, args),
            Op::Call(Helper::value_equal) => self.known_text(args).is_some(),
            Op::WildcardConst(wildcard) => self.unit.inline_wildcard(wildcard).is_some(),
            Op::InStrSet(set) => self.is_small_text_set(set),
            Op::InIntSet(set) => self.is_small_int_set(set),
            Op::ContainsConst(_) => self.unit.literal(id).is_some(),
            Op::Coalesce(Catch::Any) => self.default_of(id).is_some(),
            _ => false,
        }
    }

    /// The constant truth value that takes the place of any error of a condition.
    pub(super) fn default_of(&self, id: NodeId) -> Option<(NodeId, bool)> {
        let (Op::Coalesce(Catch::Any), Ty::Bool, &[condition, default]) = self.parts(id) else { return None };
        let Op::Const(constant) = self.unit.graph.op(default) else { return None };
        match self.unit.graph.constant_at(constant) {
            Some(Constant::Bool(value)) => Some((condition, *value)),
            _ => None,
        }
    }

    /// A condition whose errors lead where a constant leads.
    fn settled(&mut self, condition: NodeId, default: bool, yes: Edge, no: Edge) -> Result<(), Error> {
        if !self.plan.facts(condition).fails {
            return self.branch(condition, yes, no);
        }
        let caught = self.cold_block();
        let outer = std::mem::replace(&mut self.target, ErrorTarget::to(caught));
        let done = self.branch(condition, yes, no);
        self.target = outer;
        done?;
        let word = self.caught(caught);
        self.locate(condition);
        self.raise_if_final(word, condition);
        self.jump(if default { yes } else { no });
        Ok(())
    }

    /// Whether a truth value is a constant or a test, or the opposite of one.
    pub(super) fn is_decided_by_jumps(&self, mut id: NodeId) -> bool {
        while let (Op::Not, _, &[opposite]) = self.parts(id) {
            id = opposite;
        }
        matches!(self.parts(id).0, Op::Const(_)) || self.is_test(id)
    }

    /// Jumps to `yes` or `no` by a truth value. Ends the block.
    pub(super) fn branch(&mut self, id: NodeId, yes: Edge, no: Edge) -> Result<(), Error> {
        self.check_size()?;
        stacker::maybe_grow(super::STACK_RESERVE, super::STACK_STEP, || self.branch_on(id, yes, no))
    }

    fn branch_on(&mut self, id: NodeId, yes: Edge, no: Edge) -> Result<(), Error> {
        let (op, _, args) = self.parts(id);
        if let Op::Not = op {
            return self.branch(self.one_arg(args)?, no, yes);
        }
        if let Op::Const(constant) = op
            && let Some(Constant::Bool(value)) = self.unit.graph.constant_at(constant)
        {
            self.jump(if *value { yes } else { no });
            return Ok(());
        }
        // A node that is used again is computed as a value.
        if self.is_test(id) && !self.plan.facts(id).shared {
            return self.test(id, yes, no);
        }
        let value = self.value(id)?.one()?;
        self.brif(value, yes, no);
        Ok(())
    }

    fn test(&mut self, id: NodeId, yes: Edge, no: Edge) -> Result<(), Error> {
        let (op, _, args) = self.parts(id);
        self.locate(id);
        match op {
            Op::And => self.connect(id, args, true, yes, no),
            Op::Or => self.connect(id, args, false, yes, no),
            Op::Cond => {
                let [condition, then, other] = args else { return Err(broken("an operand is missing")) };
                let (first, second) = (self.builder.create_block(), self.builder.create_block());
                self.branch(*condition, Edge::to(first), Edge::to(second))?;
                self.start(first);
                self.where_true(*condition, |this| this.branch(*then, yes, no))?;
                self.start(second);
                self.branch(*other, yes, no)
            }
            Op::Let(level) => {
                let [init, body] = self.two_args(args)?;
                self.bind(level, init)?;
                let done = self.branch(body, yes, no);
                self.scope.leave(level);
                done
            }
            Op::Fold { .. } => self.fold_test(id, yes, no),
            Op::SeqHas => self.seq_has(id, yes, no),
            Op::SeqEqual => self.seq_equal(id, yes, no),
            Op::Coalesce(_) => {
                let (condition, default) =
                    self.default_of(id).ok_or_else(|| broken("a default that is no constant"))?;
                self.settled(condition, default, yes, no)
            }
            Op::InIntSet(set) => self.test_int_set(args, set, yes, no),
            Op::ContainsConst(literal) => self.test_literal(id, literal, yes, no),
            _ => self.test_text(id, yes, no),
        }
    }

    /// The value of a test, as a number.
    pub(super) fn materialise(&mut self, id: NodeId) -> Result<Words, Error> {
        let (join, _) = self.merge_block(Ty::Bool);
        let (yes, no) = (self.builder.ins().iconst(I8, 1), self.builder.ins().iconst(I8, 0));
        self.test(id, Edge::with(join, yes), Edge::with(join, no))?;
        self.start(join);
        Words::of(self.builder.block_params(join))
    }

    /// `and` and `or` of any number of operands. An error stays pending while there are operands: a
    /// word that is passed from block to block, 0 if there is none. After the last operand the
    /// first error wins over the neutral result. No operand is emitted twice, and as long as no
    /// operand before can fail, no word is passed.
    fn connect(&mut self, id: NodeId, args: &[NodeId], all: bool, yes: Edge, no: Edge) -> Result<(), Error> {
        let flat = self.flatten(id, args);
        if all && !self.impure {
            self.leave_early(&flat, no);
        }
        let operands = self.operands(flat, all);
        let Some((last, before)) = operands.split_last() else { return Err(broken("an operand is missing")) };
        let mut pending: Option<Value> = None;
        for operand in before {
            let fails = self.plan.facts(operand.node()).fails;
            let next = self.builder.create_block();
            let handed_on = (fails || pending.is_some()).then(|| self.builder.append_block_param(next, I64));
            let neutral = match (handed_on, pending) {
                (None, _) => Edge::to(next),
                (Some(_), Some(word)) => Edge::with(next, word),
                (Some(_), None) => Edge::with(next, self.word(0)),
            };
            self.catching(operand.node(), pending, Some(next), |this| {
                if all { this.branch_by(operand, neutral, no) } else { this.branch_by(operand, yes, neutral) }
            })?;
            self.start(next);
            pending = handed_on;
        }
        let Some(word) = pending else { return self.branch_by(last, yes, no) };
        let end = self.builder.create_block();
        self.catching(last.node(), pending, None, |this| {
            if all { this.branch_by(last, Edge::to(end), no) } else { this.branch_by(last, yes, Edge::to(end)) }
        })?;
        self.start(end);
        self.raise_or(word, if all { yes } else { no });
        Ok(())
    }

    /// Emits an operand. Its error, or the pending one if there is one, is passed to `then`, or
    /// raised if there is no further operand.
    fn catching(
        &mut self,
        operand: NodeId,
        pending: Option<Value>,
        then: Option<Block>,
        emit: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.plan.facts(operand).fails {
            return emit(self);
        }
        let caught = self.cold_block();
        let outer = std::mem::replace(&mut self.target, ErrorTarget::to(caught));
        let done = emit(self);
        self.target = outer;
        done?;
        let word = self.caught(caught);
        self.locate(operand);
        self.raise_if_final(word, operand);
        let first = match pending {
            Some(earlier) => self.builder.ins().select(earlier, earlier, word),
            None => word,
        };
        match then {
            Some(next) => self.jump(Edge::with(next, first)),
            None => self.raise(first),
        }
        Ok(())
    }

    /// Jumps to `no` if a search that has been made before shows that an operand of an `and` is
    /// false: the others are not needed then. All operands are tested in their order afterwards, so
    /// no search is made, or paid for, that is not needed.
    fn leave_early(&mut self, flat: &[NodeId], no: Edge) {
        // The first is tested first anyway.
        for &operand in flat.iter().skip(1) {
            self.leave_if_missing(operand, no);
        }
    }

    /// The operands as they are tested: in an `or`, tests of one address in networks together.
    fn operands(&self, flat: Vec<NodeId>, all: bool) -> Vec<Operand> {
        if all {
            return flat.into_iter().map(Operand::Node).collect();
        }
        let (mut operands, mut rest) = (Vec::with_capacity(flat.len()), flat.as_slice());
        while let Some((&first, others)) = rest.split_first() {
            match self.networks(rest) {
                Some(networks) => {
                    rest = rest.get(networks.count..).unwrap_or_default();
                    operands.push(Operand::Networks(networks));
                }
                None => {
                    rest = others;
                    operands.push(Operand::Node(first));
                }
            }
        }
        operands
    }

    fn branch_by(&mut self, operand: &Operand, yes: Edge, no: Edge) -> Result<(), Error> {
        match operand {
            Operand::Node(id) => self.branch(*id, yes, no),
            Operand::Networks(networks) => self.test_networks(networks, yes, no),
        }
    }

    /// The operands, with nested operands of the same kind inlined: both operations are associative, also for errors.
    fn flatten(&self, id: NodeId, args: &[NodeId]) -> Vec<NodeId> {
        let op = self.unit.graph.op(id);
        let mut stack: Vec<NodeId> = args.iter().rev().copied().collect();
        let mut flat = Vec::with_capacity(args.len());
        while let Some(arg) = stack.pop() {
            let facts = self.plan.facts(arg);
            if self.unit.graph.op(arg) == op && !facts.shared {
                stack.extend(self.unit.graph.args(arg).iter().rev());
            } else {
                flat.push(arg);
            }
        }
        flat
    }

    /// A conditional of any type but `bool`.
    pub(super) fn cond(&mut self, id: NodeId) -> Result<Words, Error> {
        let (_, ty, args) = self.parts(id);
        let [condition, then, other] = args else { return Err(broken("an operand is missing")) };
        let (join, _) = self.merge_block(ty);
        let (first, second) = (self.builder.create_block(), self.builder.create_block());
        self.branch(*condition, Edge::to(first), Edge::to(second))?;
        for (block, branch, is_true) in [(first, *then, true), (second, *other, false)] {
            self.start(block);
            let words =
                if is_true { self.where_true(*condition, |this| this.value(branch)) } else { self.value(branch) }?;
            if words.list().len() != ty.words() {
                return Err(broken("a branch of another type than its condition"));
            }
            self.jump_with(join, &words.list());
        }
        self.start(join);
        Words::of(self.builder.block_params(join))
    }
}
