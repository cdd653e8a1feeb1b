//! Comprehensions: a counting loop over the range as a list. Each iteration costs one step of the budget.

use super::block::{Edge, ErrorTarget, Words};
use super::budget::LoopCharge;
use super::cursor::Begun;
use super::scope::Binding;
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::layout::value::SIZE;
use celero_ir::layout::{Elements, Items};
use celero_ir::{FoldKind, Helper, NodeId, Op, Ty};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use smallvec::SmallVec;

/// The parts of a comprehension.
struct FoldParts {
    id: NodeId,
    kind: FoldKind,
    level: u32,
    pairs: bool,
    range: NodeId,
    filter: Option<NodeId>,
    transform: Option<NodeId>,
}

/// What a loop iterates over.
enum LoopRange<'a> {
    /// A list of values, its length, and the address of the first value; 0 if a helper makes the
    /// values. The length is asked for once: a list of the host may say another one the next time.
    List(Value, Value, Value),
    /// Contiguous elements in the host: the address of the first, and their number.
    Elements(&'a Elements, Value, Value),
    /// A list, a map or a set of the host that a cursor goes over.
    Cursor(Begun<'a>),
}

/// A variable of a loop.
#[derive(Clone, Copy)]
struct Variable {
    ty: Ty,
    words: Words,
}

/// A loop that is being emitted, from the start of its body.
struct Loop {
    body: Block,
    /// The index of the element, or its address.
    position: Value,
    /// The position after the last element.
    end: Value,
    /// The difference between one position and the next.
    step: i64,
    /// The charge that is due when the loop is left, if iterations are charged together.
    charge: Option<LoopCharge>,
    /// A value that is passed from iteration to iteration: a count, or a pending error.
    carried: Option<Value>,
    done: Block,
    /// That value after the last iteration.
    left: Option<Value>,
    /// The values of the first and of the last variable, which may be the same.
    first: Variable,
    last: Variable,
}

impl<'a> Emitter<'a, '_> {
    fn fold_parts(&self, id: NodeId) -> Result<FoldParts, Error> {
        let (op, _, args) = self.parts(id);
        let Op::Fold { kind, level, pairs, filtered } = op else { return Err(broken("the operation is not a fold")) };
        let tests =
            matches!(kind, FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne | FoldKind::Count | FoldKind::Filter);
        let (range, filter, transform) = match (tests, filtered, args) {
            (true, _, [range, filter]) => (*range, Some(*filter), None),
            (false, true, [range, filter, transform]) => (*range, Some(*filter), Some(*transform)),
            (false, false, [range, transform]) => (*range, None, Some(*transform)),
            _ => return Err(broken("a fold with other operands than its kind has")),
        };
        Ok(FoldParts { id, kind, level, pairs, range, filter, transform })
    }

    /// `all` and `exists`: leave the loop at the first deciding element. An error is kept pending,
    /// because a later element may decide.
    pub(super) fn fold_test(&mut self, id: NodeId, yes: Edge, no: Edge) -> Result<(), Error> {
        let fold = self.fold_parts(id)?;
        let filter = fold.filter.ok_or_else(|| broken("a test without a predicate"))?;
        let all = fold.kind == FoldKind::All;
        let fails = self.plan.facts(filter).fails;
        let range = self.range(&fold)?;
        let none = fails.then(|| self.word(0));
        let current = self.enter_loop(&fold, &range, none)?;
        // The exit at a deciding element is out of line, so that the code of an iteration is contiguous.
        let out = self.cold_block();
        let (yes_in, no_in) = if all { (yes, Edge::to(out)) } else { (Edge::to(out), no) };

        let next = self.builder.create_block();
        let outer = self.target;
        let mut go = Edge::to(next);
        let mut handed_on = None;
        if let Some(pending) = current.carried {
            handed_on = Some(self.builder.append_block_param(next, I64));
            go = Edge::with(next, pending);
            let caught = self.cold_block();
            self.target = ErrorTarget::to(caught);
            self.predicate(filter, all, go, yes_in, no_in)?;
            self.target = outer;
            let word = self.caught(caught);
            self.locate(filter);
            self.raise_if_final(word, filter);
            let first = self.builder.ins().select(pending, pending, word);
            self.jump(Edge::with(next, first));
        } else {
            self.predicate(filter, all, go, yes_in, no_in)?;
        }
        self.start(out);
        self.locate(id);
        if let Some(charge) = current.charge {
            self.charge_through(charge, current.position, current.step);
        }
        self.jump(if all { no } else { yes });
        self.start(next);
        self.end_iteration(&fold, &current, handed_on);
        self.start(current.done);
        self.finish_charge(current.charge, current.end, current.step, id);
        let neutral = if all { yes } else { no };
        match current.left {
            Some(pending) => self.raise_or(pending, neutral),
            None => self.jump(neutral),
        }
        Ok(())
    }

    fn predicate(&mut self, filter: NodeId, all: bool, go: Edge, yes: Edge, no: Edge) -> Result<(), Error> {
        if all { self.branch(filter, go, no) } else { self.branch(filter, yes, go) }
    }

    /// The kinds of comprehensions that visit every element.
    pub(super) fn fold_value(&mut self, id: NodeId) -> Result<Words, Error> {
        let fold = self.fold_parts(id)?;
        let range = self.range(&fold)?;
        if let FoldKind::ExistsOne | FoldKind::Count = fold.kind {
            let count = self.count(&fold, &range)?;
            let one = fold.kind == FoldKind::ExistsOne;
            return Ok(Words::One(if one { self.builder.ins().icmp_imm_s(IntCC::Equal, count, 1) } else { count }));
        }
        let map = matches!(fold.kind, FoldKind::TransformMap | FoldKind::TransformMapEntry);
        let capacity = match fold.filter {
            Some(_) => self.word(0),
            None => self.turns(&fold, &range),
        };
        if let (FoldKind::Map, None, Some(transform)) = (fold.kind, fold.filter, fold.transform) {
            return self.list_of_all(&fold, &range, capacity, transform);
        }
        let begin = if map { Helper::map_begin } else { Helper::list_begin };
        let builder = self.call_within(id, begin, &[capacity])?;
        let current = self.enter_loop(&fold, &range, None)?;
        let next = self.builder.create_block();
        if let Some(filter) = fold.filter {
            let take = self.builder.create_block();
            self.branch(filter, Edge::to(take), Edge::to(next))?;
            self.start(take);
        }
        let element = match fold.transform {
            Some(transform) => self.element(transform)?,
            None => self.variable_value(current.last)?,
        };
        match fold.kind {
            FoldKind::TransformMap => {
                let key = self.variable_value(current.first)?;
                self.call_within(id, Helper::map_insert, &[builder, key, element])?;
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
        self.end_iteration(&fold, &current, None);
        self.start(current.done);
        self.call_for(id, if map { Helper::map_finish } else { Helper::list_finish }, &[builder])
    }

    /// The number of iterations.
    fn turns(&mut self, fold: &FoldParts, range: &LoopRange<'a>) -> Value {
        match *range {
            LoopRange::Elements(_, _, count) | LoopRange::Cursor(Begun { count, .. }) => count,
            LoopRange::List(_, length, _) if fold.pairs => self.builder.ins().ushr_imm_u(length, 1),
            LoopRange::List(_, length, _) => length,
        }
    }

    /// A list with a value for each element, which are written to memory that is reserved at once.
    fn list_of_all(
        &mut self,
        fold: &FoldParts,
        range: &LoopRange<'a>,
        count: Value,
        transform: NodeId,
    ) -> Result<Words, Error> {
        let block = self.call_within(fold.id, Helper::list_block, &[count])?;
        let current = self.enter_loop(fold, range, Some(block))?;
        let at = current.carried.ok_or_else(|| broken("an address that is not carried"))?;
        self.write_value(transform, at)?;
        let after = self.builder.ins().iadd_imm_s(at, i64::from(SIZE));
        self.end_iteration(fold, &current, Some(after));
        self.start(current.done);
        self.call_for(fold.id, Helper::list_of_block, &[block, count])
    }

    /// The number of elements for which the predicate is true.
    fn count(&mut self, fold: &FoldParts, range: &LoopRange<'a>) -> Result<Value, Error> {
        let filter = fold.filter.ok_or_else(|| broken("a test without a predicate"))?;
        let zero = self.word(0);
        let current = self.enter_loop(fold, range, Some(zero))?;
        let count = current.carried.ok_or_else(|| broken("a count that is not carried"))?;
        let more = self.builder.ins().iadd_imm_s(count, 1);
        let next = self.builder.create_block();
        let counted = self.builder.append_block_param(next, I64);
        self.branch(filter, Edge::with(next, more), Edge::with(next, count))?;
        self.start(next);
        self.end_iteration(fold, &current, Some(counted));
        self.start(current.done);
        self.finish_charge(current.charge, current.end, current.step, fold.id);
        current.left.ok_or_else(|| broken("a count that is not carried"))
    }

    /// The elements in the host, or the range as a list: of elements or keys, or of index, element (key, value), ..
    fn range(&mut self, fold: &FoldParts) -> Result<LoopRange<'a>, Error> {
        if let Op::Elements(field) = self.unit.graph.op(fold.range) {
            let (first, count) = self.value(fold.range)?.two()?;
            return Ok(LoopRange::Elements(self.elements_of(field)?, first, count));
        }
        if let Op::Cursor(_) = self.unit.graph.op(fold.range) {
            return Ok(LoopRange::Cursor(self.begin_cursor(fold.range)?));
        }
        let range = self.element(fold.range)?;
        let helper = if fold.pairs { Helper::range_pairs } else { Helper::range_items };
        let list = self.call_within(fold.id, helper, &[range])?;
        let (length, _) = self.call(Helper::list_len, &[list])?;
        let (first, _) = self.call(Helper::list_first, &[list])?;
        Ok(LoopRange::List(list, length.one()?, first.one()?))
    }

    /// Emits the head of the loop and the start of its body, and binds the variables.
    fn enter_loop(&mut self, fold: &FoldParts, range: &LoopRange<'a>, carried: Option<Value>) -> Result<Loop, Error> {
        let (start, end, step, charge) = match *range {
            LoopRange::List(_, length, _) => (self.word(0), length, if fold.pairs { 2 } else { 1 }, None),
            LoopRange::Elements(elements, first, count) if !fold.pairs => {
                let step = i64::from(elements.stride);
                let (count, charge) = self.charge_loop(fold, first, count, false);
                let size = self.builder.ins().imul_imm_s(count, step);
                (first, self.builder.ins().iadd(first, size), step, charge)
            }
            // An index is a variable, so the loop counts.
            LoopRange::Elements(_, _, count) => {
                let start = self.word(0);
                let (count, charge) = self.charge_loop(fold, start, count, true);
                (start, count, 1, charge)
            }
            LoopRange::Cursor(begun) => {
                let start = self.word(0);
                // The entries of a map are collected first, as pairs are.
                let collected = fold.pairs || !matches!(begun.cursor.items, Items::Elements(_));
                let (count, charge) = self.charge_loop(fold, start, begun.count, collected);
                (start, count, 1, charge)
            }
        };
        let (body, done) = (self.builder.create_block(), self.builder.create_block());
        let position = self.builder.append_block_param(body, I64);
        let initial = carried;
        let carried = initial.map(|_| self.builder.append_block_param(body, I64));
        let left = initial.map(|_| self.builder.append_block_param(done, I64));
        self.iterate_or_leave((start, end), initial, body, done);
        self.start(body);
        self.loops = self.loops.saturating_add(1);

        self.locate(fold.id);
        if charge.is_none() {
            self.charge_iteration(fold.id);
        }

        let (first, last) = match *range {
            LoopRange::Elements(elements, start, _) => {
                let at = if fold.pairs {
                    let offset = self.builder.ins().imul_imm_s(position, i64::from(elements.stride));
                    self.builder.ins().iadd(start, offset)
                } else {
                    position
                };
                let element = Variable { ty: elements.ty, words: self.element_at(elements, at)? };
                (if fold.pairs { Variable { ty: Ty::Int, words: Words::One(position) } } else { element }, element)
            }
            LoopRange::Cursor(begun) => {
                let (at, beside) = self.next_of(begun)?;
                let items = &begun.cursor.items;
                let first = Variable { ty: items.first().ty, words: self.item(items.first(), at)? };
                match items {
                    _ if !fold.pairs => (first, first),
                    Items::Entries(_, value) => (first, Variable { ty: value.ty, words: self.item(value, beside)? }),
                    Items::Elements(_) => (Variable { ty: Ty::Int, words: Words::One(position) }, first),
                    Items::Keys(_) => return Err(broken("a loop over values that are not read")),
                }
            }
            LoopRange::List(list, _, start) => {
                let first = self.item_at(fold, (list, start), position)?;
                if fold.pairs {
                    let after = self.builder.ins().iadd_imm_s(position, 1);
                    (first, self.item_at(fold, (list, start), after)?)
                } else {
                    (first, first)
                }
            }
        };
        self.scope.enter(fold.level, Binding { error: None, words: first.words });
        if fold.pairs {
            self.scope.enter(fold.level.saturating_add(1), Binding { error: None, words: last.words });
        }
        Ok(Loop { body, position, end, step, charge, carried, done, left, first, last })
    }

    /// Prepares what the iterations of a loop cost, and a step for each item before the first
    /// iteration if the items are `collected`. Returns the number of iterations before the budget
    /// is spent, and the charge that is due when the loop is left.
    fn charge_loop(
        &mut self,
        fold: &FoldParts,
        start: Value,
        count: Value,
        collected: bool,
    ) -> (Value, Option<LoopCharge>) {
        let paid = collected.then_some(count);
        if self.charges_together(fold) {
            let (charge, allowed) = self.begin_charge(start, count, paid, fold.id);
            return (allowed, Some(charge));
        }
        if let Some(paid) = paid {
            self.charge_steps(paid, fold.id);
        }
        (count, None)
    }

    /// Whether iterations are charged together: nothing else spends budget in them, and no error
    /// leaves the loop early, as in `exists_one` and counts (`all` and `exists` keep errors until
    /// the end).
    fn charges_together(&self, fold: &FoldParts) -> bool {
        fold.filter.is_some_and(|filter| {
            let leaves = matches!(fold.kind, FoldKind::ExistsOne | FoldKind::Count) && self.plan.facts(filter).fails;
            !leaves && self.is_quiet(filter)
        })
    }

    /// An item of a list, in the place of which the first value is, or made.
    fn item_at(&mut self, fold: &FoldParts, (list, first): (Value, Value), index: Value) -> Result<Variable, Error> {
        let (join, _) = self.merge_block(Ty::Value);
        let made = self.cold_block();
        let offset = self.builder.ins().imul_imm_s(index, i64::from(SIZE));
        let at = self.builder.ins().iadd(first, offset);
        self.brif(first, Edge::with(join, at), Edge::to(made));
        self.start(made);
        let item = self.call_within(fold.id, Helper::list_at, &[list, index])?;
        self.jump(Edge::with(join, item));
        self.start(join);
        let words = Words::of(self.builder.block_params(join))?;
        Ok(Variable { ty: Ty::Value, words })
    }

    /// The address of a variable's value, for a helper that copies it.
    fn variable_value(&mut self, variable: Variable) -> Result<Value, Error> {
        match variable.ty {
            Ty::Value => variable.words.one(),
            ty => self.boxed_on_stack(ty, variable.words),
        }
    }

    /// Emits the end of the body, and leaves the scope of the loop.
    fn end_iteration(&mut self, fold: &FoldParts, current: &Loop, carried: Option<Value>) {
        let next = self.builder.ins().iadd_imm_s(current.position, current.step);
        self.iterate_or_leave((next, current.end), carried, current.body, current.done);
        self.scope.leave(fold.level);
        self.loops = self.loops.saturating_sub(1);
    }

    /// Jumps to the body with a position, or out of the loop if the position is the end.
    pub(super) fn iterate_or_leave(
        &mut self,
        (position, end): (Value, Value),
        carried: Option<Value>,
        body: Block,
        done: Block,
    ) {
        self.reach(body);
        self.reach(done);
        let more = self.builder.ins().icmp(IntCC::NotEqual, position, end);
        let inside: SmallVec<[BlockArg; 2]> = std::iter::once(position).chain(carried).map(BlockArg::from).collect();
        let outside: SmallVec<[BlockArg; 1]> = carried.into_iter().map(BlockArg::from).collect();
        self.builder.ins().brif(more, body, &inside, done, &outside);
    }
}
