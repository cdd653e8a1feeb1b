//! Blocks, the jumps between them, and the values that are known in them.
//!
//! All jumps are emitted here, so the dominator of a block is known when the block is started: by
//! then all jumps to it have been emitted, except the back edge of a loop, which never changes a
//! dominator.

use super::{Emitter, KnownValue, broken};
use crate::dominators::DominatorNode;
use crate::error::Error;
use celero_ir::{ErrorKind, ErrorWord, NodeId, Origin, Ty};
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::{F64, I8, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, StackSlot, Type, Value};
use smallvec::SmallVec;

/// The words of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Words {
    One(Value),
    Two(Value, Value),
}

impl Words {
    pub(super) fn one(self) -> Result<Value, Error> {
        match self {
            Self::One(value) => Ok(value),
            Self::Two(..) => Err(broken("two words where one is needed")),
        }
    }

    pub(super) fn two(self) -> Result<(Value, Value), Error> {
        match self {
            Self::Two(first, second) => Ok((first, second)),
            Self::One(_) => Err(broken("one word where two are needed")),
        }
    }

    pub(super) fn list(self) -> SmallVec<[Value; 2]> {
        match self {
            Self::One(value) => SmallVec::from_slice(&[value]),
            Self::Two(first, second) => SmallVec::from_slice(&[first, second]),
        }
    }

    pub(super) fn of(values: &[Value]) -> Result<Self, Error> {
        match values {
            [one] => Ok(Self::One(*one)),
            [first, second] => Ok(Self::Two(*first, *second)),
            _ => Err(broken("a value of neither one nor two words")),
        }
    }
}

/// The CLIF types of a value's words.
pub(super) fn types(ty: Ty) -> &'static [Type] {
    match ty {
        Ty::Bool => &[I8],
        Ty::Double => &[F64],
        _ if ty.words() == 2 => &[I64, I64],
        _ => &[I64],
    }
}

/// Maximum number of jumps into a block that collects errors.
const FAN_IN: u32 = 16;

/// Where errors jump: to a block that starts with [`caught`](Emitter::caught), or out of the function.
///
/// A block with thousands of predecessors would cost time quadratic in their number, in the
/// register allocator (for a parameter) and for its dominators. So the word of the error is kept in
/// memory, and each group of at most 16 jumps shares a block that jumps on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorTarget {
    block: Option<Block>,
    /// The block to which errors jump now, and the number of jumps to it.
    collector: Option<Block>,
    jumps: u32,
}

impl ErrorTarget {
    pub(super) const CALLER: Self = Self { block: None, collector: None, jumps: 0 };

    pub(super) fn to(block: Block) -> Self {
        Self { block: Some(block), collector: Some(block), jumps: 0 }
    }
}

/// The target of a jump: a block, and its argument if it has a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) block: Block,
    pub(super) arg: Option<Value>,
}

impl Edge {
    pub(super) fn to(block: Block) -> Self {
        Self { block, arg: None }
    }

    pub(super) fn with(block: Block, arg: Value) -> Self {
        Self { block, arg: Some(arg) }
    }

    fn args(&self) -> SmallVec<[BlockArg; 1]> {
        self.arg.iter().map(|&value| value.into()).collect()
    }
}

impl Emitter<'_, '_> {
    /// Records a jump from the current block, for dominators and block placement.
    pub(super) fn reach(&mut self, block: Block) {
        let index = block.index();
        if self.reached.len() <= index {
            self.reached.resize(index.saturating_add(1), None);
        }
        if let Some(slot) = self.reached.get_mut(index) {
            *slot = Some(slot.map_or(self.place, |other| self.tree.nearest(other, self.place)));
        }
        if self.builder.current_block().is_some_and(|from| !self.is_cold(from)) {
            self.warm.insert(block);
        }
    }

    /// Puts a block out of line if all jumps to it so far are out of line.
    pub(super) fn cool(&mut self, block: Block) {
        if !self.warm.contains(&block) {
            self.builder.set_cold_block(block);
        }
    }

    pub(super) fn jump(&mut self, to: Edge) {
        self.reach(to.block);
        self.builder.ins().jump(to.block, &to.args());
    }

    pub(super) fn jump_with(&mut self, to: Block, args: &[Value]) {
        self.reach(to);
        let args: SmallVec<[BlockArg; 4]> = args.iter().map(|&value| value.into()).collect();
        self.builder.ins().jump(to, &args);
    }

    pub(super) fn brif(&mut self, condition: Value, yes: Edge, no: Edge) {
        self.reach(yes.block);
        self.reach(no.block);
        self.builder.ins().brif(condition, yes.block, &yes.args(), no.block, &no.args());
    }

    /// Continues in this block. The current block has ended.
    pub(super) fn start(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        let above = self.reached.get(block.index()).copied().flatten().unwrap_or(self.place);
        self.place = self.tree.add(above);
    }

    /// A block out of line.
    pub(super) fn cold_block(&mut self) -> Block {
        let block = self.builder.create_block();
        self.builder.set_cold_block(block);
        block
    }

    pub(super) fn is_cold(&self, block: Block) -> bool {
        self.builder.func.layout.is_cold(block)
    }

    /// A block whose parameters are a value of this type.
    pub(super) fn merge_block(&mut self, ty: Ty) -> (Block, SmallVec<[Value; 2]>) {
        let block = self.builder.create_block();
        let params = types(ty).iter().map(|&ty| self.builder.append_block_param(block, ty)).collect();
        (block, params)
    }

    /// Ends the block with an error.
    pub(super) fn raise(&mut self, word: Value) {
        let slot = self.error_slot();
        self.builder.ins().stack_store(I64, word, slot, 0);
        if let Some(block) = self.target.block {
            self.reach(block);
        }
        if let Some(collector) = self.target.collector.filter(|_| self.target.jumps < FAN_IN) {
            self.target.jumps = self.target.jumps.saturating_add(1);
            self.builder.ins().jump(collector, &[]);
            return;
        }
        let collector = self.cold_block();
        self.builder.ins().jump(collector, &[]);
        self.builder.switch_to_block(collector);
        match self.target.block {
            Some(block) => {
                self.builder.ins().jump(block, &[]);
            }
            None => {
                let word = self.builder.ins().stack_load(I64, I64, slot, 0);
                self.return_error(word);
            }
        }
        self.target = ErrorTarget { collector: Some(collector), jumps: 1, ..self.target };
    }

    /// Returns an error from the function.
    fn return_error(&mut self, word: Value) {
        if self.builder.func.signature.returns.len() == 2 {
            let null = self.word(0);
            self.builder.ins().return_(&[null, word]);
        } else {
            self.builder.ins().return_(&[word]);
        }
    }

    /// Ends the block with an error that nothing absorbs, which ends the rule.
    pub(super) fn raise_finally(&mut self, word: Value) {
        if self.rule.block.is_none() {
            self.return_error(word);
            return;
        }
        std::mem::swap(&mut self.target, &mut self.rule);
        self.raise(word);
        std::mem::swap(&mut self.target, &mut self.rule);
    }

    /// The origin of a node in the source of the rule that is being emitted.
    pub(super) fn origin(&self, id: NodeId) -> Origin {
        let elsewhere = self.origins.binary_search_by_key(&id, |(node, _)| *node);
        let here = elsewhere.ok().and_then(|at| self.origins.get(at)).map(|(_, origin)| *origin);
        here.unwrap_or_else(|| self.unit.graph.origin(id))
    }

    /// Ends the block: with the error, unless the word is 0.
    pub(super) fn raise_or(&mut self, word: Value, go: Edge) {
        let fail = self.cold_block();
        self.brif(word, Edge::to(fail), go);
        let here = self.place;
        self.start(fail);
        self.raise(word);
        self.place = here;
    }

    /// Starts a block that is an error target, and returns the error.
    pub(super) fn caught(&mut self, block: Block) -> Value {
        self.start(block);
        let slot = self.error_slot();
        self.builder.ins().stack_load(I64, I64, slot, 0)
    }

    fn error_slot(&mut self) -> StackSlot {
        match self.error {
            Some(slot) => slot,
            None => {
                let slot = self.slot(8);
                self.error = Some(slot);
                slot
            }
        }
    }

    /// Fails with an error of this node if the condition is true, and continues otherwise.
    pub(super) fn fail_if(&mut self, condition: Value, kind: ErrorKind, id: NodeId) {
        let (fail, go) = (self.cold_block(), self.builder.create_block());
        self.brif(condition, Edge::to(fail), Edge::to(go));
        self.fail_in(fail, kind, id);
        self.start(go);
    }

    /// The reverse of [`fail_if`](Self::fail_if).
    pub(super) fn fail_unless(&mut self, condition: Value, kind: ErrorKind, id: NodeId) {
        let (fail, go) = (self.cold_block(), self.builder.create_block());
        self.brif(condition, Edge::to(go), Edge::to(fail));
        self.fail_in(fail, kind, id);
        self.start(go);
    }

    /// Starts the block, which fails.
    pub(super) fn fail_in(&mut self, block: Block, kind: ErrorKind, id: NodeId) {
        self.start(block);
        let word = self.rule_word(ErrorWord::new(kind, self.origin(id)).0);
        self.raise(word);
    }

    /// Starts the block, which fails with the kind whose code is `status`.
    pub(super) fn fail_with(&mut self, block: Block, status: Value, id: NodeId) {
        self.start(block);
        let place = self.rule_word(ErrorWord::place(self.origin(id)));
        let word = self.builder.ins().bor(status, place);
        self.raise(word);
    }

    /// The value of a node, if one is known here.
    pub(super) fn recall(&self, id: NodeId) -> Option<Words> {
        let known = self.plan.number(id).and_then(|n| self.known.get(n)).copied().flatten()?;
        self.holds(known.place, known.stamp, id).then_some(known.words)
    }

    /// Whether what was emitted for a node at `place`, with the bindings of `stamp`, can be used here.
    pub(super) fn holds(&self, place: DominatorNode, stamp: u64, id: NodeId) -> bool {
        stamp == self.stamp(id) && self.tree.dominates(place, self.place)
    }

    /// A number that identifies the current bindings of the variables on which a node depends.
    pub(super) fn stamp(&self, id: NodeId) -> u64 {
        self.scope.stamp(self.plan.facts(id).free)
    }

    pub(super) fn keep(&mut self, id: NodeId, words: Words) {
        let known = KnownValue { place: self.place, stamp: self.stamp(id), words };
        if let Some(slot) = self.plan.number(id).and_then(|n| self.known.get_mut(n)) {
            *slot = Some(known);
        }
    }
}
