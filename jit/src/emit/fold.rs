//! Comprehensions: a counting loop over the range as a list, with a unit of the budget for each turn.

use super::block::{Edge, Target, Words};
use super::scope::Binding;
use super::{Emitter, MEM, broken};
use crate::error::Error;
use celero_ir::layout::frame;
use celero_ir::{ErrorKind, FoldKind, Helper, NodeId, Op};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};

/// A comprehension's parts.
struct Fold {
    id: NodeId,
    kind: FoldKind,
    level: u32,
    pairs: bool,
    range: NodeId,
    filter: Option<NodeId>,
    transform: Option<NodeId>,
}

/// A loop under construction, in its body.
struct Loop {
    head: Block,
    index: Value,
    /// What is carried from turn to turn: a count, or a pending error.
    carried: Option<Value>,
    done: Block,
    /// The variables' values.
    first: Value,
    second: Option<Value>,
}

impl Emitter<'_, '_> {
    fn fold_parts(&self, id: NodeId) -> Result<Fold, Error> {
        let (op, _, args) = self.parts(id);
        let Op::Fold { kind, level, pairs, filtered } = op else { return Err(broken("a fold that is none")) };
        let tests = matches!(kind, FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne | FoldKind::Filter);
        let (range, filter, transform) = match (tests, filtered, args) {
            (true, _, [range, filter]) => (*range, Some(*filter), None),
            (false, true, [range, filter, transform]) => (*range, Some(*filter), Some(*transform)),
            (false, false, [range, transform]) => (*range, None, Some(*transform)),
            _ => return Err(broken("a fold with other operands than its kind has")),
        };
        Ok(Fold { id, kind, level, pairs, range, filter, transform })
    }

    /// `all` and `exists`: out of the loop at the first deciding element; an error waits for one.
    pub(super) fn fold_test(&mut self, id: NodeId, yes: Edge, no: Edge) -> Result<(), Error> {
        let fold = self.fold_parts(id)?;
        let filter = fold.filter.ok_or_else(|| broken("a test without a predicate"))?;
        let all = fold.kind == FoldKind::All;
        let fails = self.plan.facts(filter).fails;
        let list = self.range(&fold)?;
        let none = fails.then(|| self.word(0));
        let turn = self.enter_loop(&fold, list, none)?;

        let next = self.builder.create_block();
        let outer = self.target;
        let mut go = Edge::to(next);
        let mut handed_on = None;
        if let Some(pending) = turn.carried {
            handed_on = Some(self.builder.append_block_param(next, I64));
            go = Edge::with(next, pending);
            let caught = self.cold_block();
            self.target = Target::to(caught);
            self.predicate(filter, all, go, yes, no)?;
            self.target = outer;
            let word = self.caught(caught);
            let first = self.builder.ins().select(pending, pending, word);
            self.jump(Edge::with(next, first));
        } else {
            self.predicate(filter, all, go, yes, no)?;
        }
        self.start(next);
        self.turn(&fold, &turn, handed_on);
        self.start(turn.done);
        let neutral = if all { yes } else { no };
        match turn.carried {
            Some(pending) => self.raise_or(pending, neutral),
            None => self.jump(neutral),
        }
        Ok(())
    }

    fn predicate(&mut self, filter: NodeId, all: bool, go: Edge, yes: Edge, no: Edge) -> Result<(), Error> {
        if all { self.branch(filter, go, no) } else { self.branch(filter, yes, go) }
    }

    /// The kinds that see every element.
    pub(super) fn fold_value(&mut self, id: NodeId) -> Result<Words, Error> {
        let fold = self.fold_parts(id)?;
        let list = self.range(&fold)?;
        if fold.kind == FoldKind::ExistsOne {
            return self.exists_one(&fold, list);
        }
        let map = matches!(fold.kind, FoldKind::TransformMap | FoldKind::TransformMapEntry);
        let capacity = match fold.filter {
            Some(_) => self.word(0),
            None => {
                let (length, _) = self.call(Helper::list_len, &[list])?;
                let length = length.one()?;
                if fold.pairs { self.builder.ins().ushr_imm_u(length, 1) } else { length }
            }
        };
        let begin = if map { Helper::map_begin } else { Helper::list_begin };
        let builder = self.call_within(id, begin, &[capacity])?;
        let turn = self.enter_loop(&fold, list, None)?;
        let next = self.builder.create_block();
        if let Some(filter) = fold.filter {
            let take = self.builder.create_block();
            self.branch(filter, Edge::to(take), Edge::to(next))?;
            self.start(take);
        }
        let element = match fold.transform {
            Some(transform) => self.element(transform)?,
            None => turn.second.unwrap_or(turn.first),
        };
        match fold.kind {
            FoldKind::TransformMap => {
                self.call_within(id, Helper::map_insert, &[builder, turn.first, element])?;
            }
            FoldKind::TransformMapEntry => {
                self.call_within(id, Helper::map_merge, &[builder, element])?;
            }
            _ => {
                self.call_within(id, Helper::list_push, &[builder, element])?;
            }
        }
        self.jump(Edge::to(next));
        self.start(next);
        self.turn(&fold, &turn, None);
        self.start(turn.done);
        self.call_for(id, if map { Helper::map_finish } else { Helper::list_finish }, &[builder])
    }

    fn exists_one(&mut self, fold: &Fold, list: Value) -> Result<Words, Error> {
        let filter = fold.filter.ok_or_else(|| broken("a test without a predicate"))?;
        let zero = self.word(0);
        let turn = self.enter_loop(fold, list, Some(zero))?;
        let count = turn.carried.ok_or_else(|| broken("a count that is not carried"))?;
        let more = self.builder.ins().iadd_imm_s(count, 1);
        let next = self.builder.create_block();
        let counted = self.builder.append_block_param(next, I64);
        self.branch(filter, Edge::with(next, more), Edge::with(next, count))?;
        self.start(next);
        self.turn(fold, &turn, Some(counted));
        self.start(turn.done);
        Ok(Words::One(self.builder.ins().icmp_imm_s(IntCC::Equal, count, 1)))
    }

    /// The range as a list: elements or keys, or pairs one after the other.
    fn range(&mut self, fold: &Fold) -> Result<Value, Error> {
        let range = self.element(fold.range)?;
        let helper = if fold.pairs { Helper::range_pairs } else { Helper::range_items };
        self.call_within(fold.id, helper, &[range])
    }

    /// Emits the loop's head and the start of its body, and binds the variables.
    fn enter_loop(&mut self, fold: &Fold, list: Value, carried: Option<Value>) -> Result<Loop, Error> {
        let (length, _) = self.call(Helper::list_len, &[list])?;
        let length = length.one()?;
        let (head, body, done) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let index = self.builder.append_block_param(head, I64);
        let zero = self.word(0);
        let carried = match carried {
            Some(initial) => {
                let param = self.builder.append_block_param(head, I64);
                self.jump_with(head, &[zero, initial]);
                Some(param)
            }
            None => {
                self.jump_with(head, &[zero]);
                None
            }
        };
        self.start(head);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, index, length);
        self.brif(more, Edge::to(body), Edge::to(done));
        self.start(body);
        self.loops = self.loops.saturating_add(1);

        self.locate(fold.id);
        let fuel = self.builder.ins().load(I64, MEM, self.frame, frame::FUEL);
        let left = self.builder.ins().iadd_imm_s(fuel, -1);
        self.builder.ins().store(MEM, left, self.frame, frame::FUEL);
        let spent = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        self.fail_if(spent, ErrorKind::OutOfBudget, fold.id);

        let first = self.call_within(fold.id, Helper::list_at, &[list, index])?;
        self.scope.enter(fold.level, Binding { error: None, words: Words::One(first) });
        let mut second = None;
        if fold.pairs {
            let after = self.builder.ins().iadd_imm_s(index, 1);
            let value = self.call_within(fold.id, Helper::list_at, &[list, after])?;
            self.scope.enter(fold.level.saturating_add(1), Binding { error: None, words: Words::One(value) });
            second = Some(value);
        }
        Ok(Loop { head, index, carried, done, first, second })
    }

    /// Emits the end of the body. The loop is left.
    fn turn(&mut self, fold: &Fold, turn: &Loop, carried: Option<Value>) {
        let step = if fold.pairs { 2 } else { 1 };
        let next = self.builder.ins().iadd_imm_s(turn.index, step);
        match carried {
            Some(carried) => self.jump_with(turn.head, &[next, carried]),
            None => self.jump_with(turn.head, &[next]),
        }
        self.scope.leave(fold.level);
        self.loops = self.loops.saturating_sub(1);
    }
}
