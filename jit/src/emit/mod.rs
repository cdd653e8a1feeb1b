//! Emits one CLIF function for a root or for a group of rules. Emission starts at the root, and
//! emits each node where it is first needed.
//!
//! A failing operation jumps to the current error target. `and`, `or`, `coalesce`, `let` and folds
//! set their own target while they emit an operand. A value is used again, for all nodes of its
//! class, wherever the block that computes it dominates; nothing else decides about sharing. So no
//! value of one branch is used in another, and the code is at most as long as the expression
//! written out as a tree. Each node that fails names its own place.
//!
//! Invariant: the size of the code is linear in the size of the rule. Test:
//! `jit/tests/native/limits.rs::chains_of_ten_thousand_additions`.
//!
//! # How to add a lowering
//!
//! Each operation has an arm in `Emitter::compute`, which calls a method in the file of its
//! subject: `arith.rs`, `text.rs`, `logic.rs` (truth values as jumps), `fold.rs`, `header.rs`, ..
//! Every jump goes through `block.rs`, every call through `call.rs`.
//!
//! **For one machine only** (an aarch64 instruction, say): emission writes the same CLIF for every
//! machine, and Cranelift selects the instructions. First look whether Cranelift has a CLIF
//! instruction that becomes the wanted one. If the CLIF itself must differ:
//!
//! 1. `target.rs` decides by instruction set. Add a field to its `TargetFacts` and compute it from
//!    the ISA's triple and flags.
//! 2. Branch on `self.machine` in the method that emits the operation, as `call.rs` does for the
//!    calling convention; the portable form stays the other branch.
//! 3. Tests: `jit/tests/native/` runs emitted code on the machine that builds it, so run it there
//!    too. `tests/filetests/passes/` compares CLIF, which must not differ between machines for the
//!    rules in it.

mod arith;
mod block;
mod boxes;
mod budget;
mod build;
mod call;
mod coalesce;
mod constant;
mod cursor;
mod divide;
mod entry;
mod field;
mod find;
mod fold;
mod group;
mod header;
mod ip;
mod literals;
mod logic;
mod scope;
mod seq;
mod text;
mod time;

use crate::dominators::{DominatorNode, DominatorTree};
use crate::error::{Bound, Error};
use crate::plan::Plan;
use crate::target::TargetFacts;
use crate::unit::{GroupedRule, HeaderBatch, Unit};
use block::{Edge, ErrorTarget, Words};
use celero_ir::{ErrorWord, NodeId, Op, Origin, Ty, layout};
use cranelift_codegen::ir::types::{F64, I8, I64};
use cranelift_codegen::ir::{
    Block, Function, InstBuilder, MemFlagsData, SourceLoc, StackSlot, StackSlotData, StackSlotKind, Type, Value,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use foldhash::{HashMap, HashSet};

/// Flags of all loads and stores: the memory that generated code accesses is mapped, so no access traps.
const MEM: MemFlagsData = MemFlagsData::new().with_notrap();
/// Flags of loads from a parameter row, which never changes.
const ROW: MemFlagsData = MemFlagsData::new().with_notrap().with_readonly().with_can_move();

/// Bytes of stack below which emission continues on a new stack: it recurses as deep as the expression nests.
const STACK_RESERVE: usize = 128 * 1024;
/// Bytes of such a stack.
const STACK_STEP: usize = 2 * 1024 * 1024;

/// The input of emission.
pub(crate) struct Task<'a> {
    pub(crate) unit: Unit<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) body: Body<'a>,
    /// The number of the first root, for errors.
    pub(crate) number: usize,
    /// Maximum number of instructions.
    pub(crate) instructions: usize,
    pub(crate) target: TargetFacts,
    pub(crate) rule_words: RuleWords,
}

/// Where a function has its rule words: what depends on the constants of one rule, and on places in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleWords {
    /// In its instructions.
    Code,
    /// In its instructions, at relocations: see [`code_template`](crate::code_template). Words that
    /// fit into 32 bits are in its instructions as with [`Code`](Self::Code), so that the function
    /// has the same instructions.
    Relocated,
    /// In the parameter row of the rule, whose address is its third parameter. The code is for all
    /// rules that differ in constants only.
    Row,
}

/// What a function computes.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    /// The value of one root.
    Root(NodeId),
    /// The same of a template: its error words have numbers of sites instead of places.
    Template(NodeId),
    /// Which of these rules are true. Each has a budget of `steps`.
    Rules { rules: &'a [GroupedRule<'a>], headers: &'a [HeaderBatch<'a>], steps: i64 },
}

/// What emission has found out of a function.
pub(crate) struct Emitted {
    /// Whether the function uses no evaluation frame.
    pub(crate) context_only: bool,
    /// The words of the parameter row that the function reads at its third parameter, or those of its relocations.
    pub(crate) words: Vec<u64>,
}

/// A value that can be used again where `place` dominates, if the variables on which it depends are
/// still bound as before.
#[derive(Clone, Copy)]
struct KnownValue {
    place: DominatorNode,
    stamp: u64,
    words: Words,
}

struct Emitter<'a, 'f> {
    unit: Unit<'a>,
    plan: &'a Plan,
    number: usize,
    instructions: usize,
    machine: TargetFacts,
    builder: FunctionBuilder<'f>,
    tree: DominatorTree,
    /// The current block.
    place: DominatorNode,
    /// Indexed by block: the nearest dominator of all jumps to it so far.
    reached: Vec<Option<DominatorNode>>,
    /// Blocks to which there is a jump from one that is not out of line.
    warm: HashSet<Block>,
    /// Where errors jump.
    target: ErrorTarget,
    /// Where errors jump that nothing absorbs.
    rule: ErrorTarget,
    /// Whether the function returns error words with places.
    has_places: bool,
    /// Origins in the source of the current rule that differ from those in the graph; sorted by node.
    origins: &'a [(NodeId, Origin)],
    /// The stack slot that holds an error on its way to a target.
    error: Option<StackSlot>,
    /// The evaluation frame. Taken through [`frame`](Self::frame).
    given_frame: Value,
    /// Whether the frame has not been used so far.
    context_only: bool,
    rule_words: RuleWords,
    /// The words of the parameter row or of relocations so far.
    words: Vec<u64>,
    /// The address of the parameter row, if there is one.
    row: Option<Value>,
    /// The host's data.
    host: Value,
    known: Vec<Option<KnownValue>>,
    calls: call::Calls,
    scope: scope::Scope,
    headers: HashMap<NodeId, header::Lookup>,
    /// Headers that are looked up together.
    batches: Vec<header::Batch>,
    /// For each lookup of a batch: the batch, and the offset of its answer.
    batched: HashMap<NodeId, (usize, i32)>,
    /// The searches of the unit's batches of literals.
    literals: Vec<literals::LiteralSearch>,
    /// For each field that an accessor reads into two words: their stack slot.
    filled: HashMap<u32, StackSlot>,
    /// What is known of the budget.
    budget: budget::KnownBudget,
    /// Whether any function is impure, so that operations stay in their order.
    impure: bool,
    /// Number of loops around the current block.
    loops: u32,
    /// The addresses of values whose types are known here: see [`where_true`](Self::where_true).
    shown: Vec<(Value, Ty)>,
    /// The stack slot for operands of `dispatch`, and the largest number of them.
    operands: Option<(StackSlot, u32)>,
}

/// Emits into an empty function whose signature is set.
pub(crate) fn emit(
    func: &mut Function,
    context: &mut FunctionBuilderContext,
    task: &Task<'_>,
) -> Result<Emitted, Error> {
    let mut builder = FunctionBuilder::new(func, context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.func.layout.append_block(entry);
    let (host, frame, row) = match (builder.block_params(entry), task.rule_words) {
        (&[host, frame], RuleWords::Code | RuleWords::Relocated) => (host, frame, None),
        (&[host, frame, row], RuleWords::Row) => (host, frame, Some(row)),
        _ => return Err(Error::Internal("a function of another signature".into())),
    };
    let body = builder.create_block();

    let (tree, top) = DominatorTree::new();
    let mut emitter = Emitter {
        unit: task.unit,
        plan: task.plan,
        number: task.number,
        instructions: task.instructions,
        machine: task.target,
        builder,
        tree,
        place: top,
        reached: Vec::new(),
        warm: HashSet::default(),
        target: ErrorTarget::CALLER,
        rule: ErrorTarget::CALLER,
        has_places: matches!(task.body, Body::Root(_)),
        origins: &[],
        error: None,
        given_frame: frame,
        context_only: true,
        rule_words: task.rule_words,
        words: Vec::new(),
        row,
        host,
        known: vec![None; task.plan.len()],
        calls: call::Calls::default(),
        scope: scope::Scope::default(),
        headers: HashMap::default(),
        batches: Vec::new(),
        batched: HashMap::default(),
        literals: Vec::new(),
        filled: HashMap::default(),
        budget: budget::KnownBudget::default(),
        impure: task.plan.nodes().iter().any(|&id| !task.unit.graph.op(id).is_pure()),
        loops: 0,
        shown: Vec::new(),
        operands: None,
    };
    // Source locations are relative to this one; without it, to the first that Cranelift sees.
    emitter.builder.set_srcloc(SourceLoc::new(0));
    emitter.start(body);
    emitter.prepare_literals();
    match task.body {
        Body::Root(root) | Body::Template(root) => {
            emitter.budget = emitter.known_budget();
            emitter.root(root)?;
        }
        Body::Rules { rules, headers, steps } => {
            emitter.prepare_batches(headers);
            emitter.rules(rules, steps)?;
        }
    }
    emitter.check_size()?;
    emitter.enter(entry, body);
    emitter.builder.seal_all_blocks();
    let (machine, context_only, words) = (emitter.machine, emitter.context_only, emitter.words);
    emitter.builder.finalize(machine.config);
    Ok(Emitted { context_only, words })
}

impl Emitter<'_, '_> {
    /// Emits the entry block, last: only now is it known what it has to prepare.
    fn enter(&mut self, entry: Block, body: Block) {
        if let Some((slot, count)) = self.operands
            && let Some(data) = self.builder.func.sized_stack_slots.get_mut(slot)
        {
            data.size = count.saturating_mul(8);
        }
        self.builder.switch_to_block(entry);
        self.builder.set_srcloc(SourceLoc::default());
        self.forget_calls();
        self.forget_headers();
        self.forget_literals();
        self.builder.ins().jump(body, &[]);
    }

    fn root(&mut self, root: NodeId) -> Result<(), Error> {
        let ty = self.unit.graph.ty(root);
        if ty == Ty::Bool && !self.is_decided_by_jumps(root) {
            // A jump would depend on the answer, which the processor may predict wrongly. Truth
            // values are 0 or 1: any other word is an error.
            let answer = self.value(root)?.one()?;
            let answer = self.builder.ins().uextend(I64, answer);
            self.builder.ins().return_(&[answer]);
            return Ok(());
        }
        if ty == Ty::Bool {
            let (yes, no) = (self.builder.create_block(), self.builder.create_block());
            self.branch(root, Edge::to(yes), Edge::to(no))?;
            for (block, answer) in [(yes, 1), (no, 0)] {
                self.cool(block);
                self.start(block);
                let answer = self.word(answer);
                self.builder.ins().return_(&[answer]);
            }
            return Ok(());
        }
        let words = self.value(root)?;
        if layout::returns_text(ty) {
            let (address, length) = words.two()?;
            self.builder.ins().return_(&[address, length]);
            return Ok(());
        }
        let frame = self.frame();
        if ty == Ty::Value {
            let from = words.one()?;
            for at in (0..layout::value::SIZE.cast_signed()).step_by(8) {
                let word = self.builder.ins().load(I64, MEM, from, at);
                self.builder.ins().store(MEM, word, frame, layout::frame::RESULT.saturating_add(at));
            }
        } else {
            for (&word, at) in words.list().iter().zip([0, 8]) {
                self.builder.ins().store(MEM, word, frame, layout::frame::RESULT.saturating_add(at));
            }
        }
        let done = self.word(0);
        self.builder.ins().return_(&[done]);
        Ok(())
    }

    /// A node's value: a known one, or emitted now.
    fn value(&mut self, id: NodeId) -> Result<Words, Error> {
        if let Some(words) = self.recall(id) {
            return Ok(words);
        }
        self.check_size()?;
        let words = stacker::maybe_grow(STACK_RESERVE, STACK_STEP, || self.compute(id))?;
        // A number in the code takes no register until it is used, and each use of a relocation has
        // its own for the same reason.
        if self.rule_words != RuleWords::Relocated || !matches!(self.unit.graph.op(id), Op::Const(_)) {
            self.keep(id, words);
        }
        Ok(words)
    }

    fn compute(&mut self, id: NodeId) -> Result<Words, Error> {
        if let Some(attempt) = self.recall_attempt(self.attempted(id), id) {
            self.locate(id);
            self.check_failure(id, attempt)?;
            return Ok(attempt.words);
        }
        if self.is_test(id) {
            return self.materialise(id);
        }
        let (op, ty, args) = self.parts(id);
        self.locate(id);
        match op {
            Op::Const(constant) => self.constant(constant, ty),
            Op::Fail(kind) => {
                let word = self.rule_word(ErrorWord::new(kind, self.origin(id)).0);
                self.raise(word);
                Ok(self.unreachable(ty))
            }
            Op::Field(field) => self.field(id, field),
            Op::HasField(field) => self.has_field(id, field),
            Op::Elements(field) => self.elements(id, field),
            Op::Cursor(field) => self.cursor(field),
            Op::SeqSize => self.seq_size(args),
            Op::SeqAt => self.seq_at(id),
            Op::Member { field, member } => self.member(args, field, member),
            Op::Entry(field) => self.entry(id, field),
            Op::HasEntry => self.has_entry(args),
            Op::EntryValue(field) => self.entry_value(id, field),
            Op::Header { .. } => self.header(id),
            Op::IsPresent => self.is_present(args),
            Op::Require => self.require(id, args),
            Op::Decode => self.decode(id, args),
            Op::IpText => self.call_node(id, celero_ir::Helper::ip_text),
            Op::Call(helper) => self.call_node(id, helper),
            Op::Local(level) => self.local(id, level),
            Op::Let(level) => {
                let [init, body] = self.two_args(args)?;
                self.bind(level, init)?;
                let words = self.value(body);
                self.scope.leave(level);
                words
            }
            Op::Fold { .. } => self.fold_value(id),
            Op::Not => {
                let words = self.value(self.one_arg(args)?)?;
                let one = self.builder.ins().iconst(I8, 1);
                Ok(Words::One(self.builder.ins().bxor(words.one()?, one)))
            }
            Op::Cond => self.cond(id),
            Op::Coalesce(catch) => self.coalesce(id, catch),
            Op::Arith(op) => self.arith(id, op),
            Op::Neg => self.negate(id),
            Op::TimeAdd | Op::TimeSub => self.time_shifted(id, op == Op::TimeSub),
            Op::TimeSince => self.time_since(id),
            Op::Cmp(cmp) => self.compare(id, cmp),
            Op::StartsWith | Op::EndsWith => self.affix(id),
            Op::ContainsConst(constant) => self.call_prepared(id, celero_ir::Helper::searcher_find, constant),
            Op::MatchesConst(constant) => {
                let text = self.unit.graph.ty(self.one_arg(args)?) == Ty::Str;
                let helper = if text { celero_ir::Helper::regex_find } else { celero_ir::Helper::byte_regex_find };
                self.call_prepared(id, helper, constant)
            }
            Op::WildcardConst(constant) => self.call_prepared(id, celero_ir::Helper::wildcard_matches, constant),
            Op::InStrSet(constant) => self.call_prepared(id, celero_ir::Helper::str_set_has, constant),
            Op::InIntSet(constant) => self.call_prepared(id, celero_ir::Helper::int_set_has, constant),
            Op::InCidr(network) => self.in_cidr(id, network),
            Op::Project(parts) => self.call_prepared(id, celero_ir::Helper::json_project, parts),
            Op::Find(way) => self.call_prepared(id, celero_ir::Helper::json_find, way),
            Op::Reach(step) => self.step(id, step),
            Op::AsBytes => self.value(self.one_arg(args)?),
            Op::Box => self.boxed(id),
            Op::Unbox(to) => {
                let words = self.value(self.one_arg(args)?)?;
                self.locate(id);
                self.unboxed(id, words.one()?, to)
            }
            Op::HasTypes(types) => self.has_types(id, types),
            Op::List => self.list(id),
            Op::Map => self.map(id),
            Op::Dispatch { function, .. } => self.dispatch(id, function),
            Op::Invoke { function, form } => self.invoke(id, function, form),
            Op::And | Op::Or | Op::SeqHas | Op::SeqEqual => self.materialise(id),
        }
    }

    /// Starts a block that is never reached, and returns a value for it.
    fn unreachable(&mut self, ty: Ty) -> Words {
        let dead = self.builder.create_block();
        self.start(dead);
        self.zero(ty)
    }

    fn zero(&mut self, ty: Ty) -> Words {
        match block::types(ty) {
            [one] => Words::One(self.zero_of(*one)),
            _ => Words::Two(self.word(0), self.word(0)),
        }
    }

    fn zero_of(&mut self, ty: Type) -> Value {
        if ty == F64 { self.builder.ins().f64const(0.0) } else { self.builder.ins().iconst(ty, 0) }
    }

    fn frame(&mut self) -> Value {
        self.context_only = false;
        self.given_frame
    }

    fn word(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(I64, value)
    }

    fn address(&mut self, address: usize) -> Value {
        self.word((address as u64).cast_signed())
    }

    fn slot(&mut self, size: u32) -> StackSlot {
        self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3))
    }

    /// Marks the code that follows as code of this node.
    fn locate(&mut self, id: NodeId) {
        self.builder.set_srcloc(SourceLoc::new(id.0));
    }

    fn check_size(&self) -> Result<(), Error> {
        if self.builder.func.dfg.num_insts() > self.instructions {
            let limit = self.instructions as u64;
            return Err(Error::TooLarge { root: self.number, bound: Bound::Instructions, limit });
        }
        Ok(())
    }
}

impl<'a> Emitter<'a, '_> {
    fn parts(&self, id: NodeId) -> (Op, Ty, &'a [NodeId]) {
        let graph: &'a celero_ir::Graph = self.unit.graph;
        (graph.op(id), graph.ty(id), graph.args(id))
    }

    fn one_arg(&self, args: &[NodeId]) -> Result<NodeId, Error> {
        args.first().copied().ok_or_else(|| broken("an operand is missing"))
    }

    fn two_args(&self, args: &[NodeId]) -> Result<[NodeId; 2], Error> {
        match args {
            [a, b, ..] => Ok([*a, *b]),
            _ => Err(broken("an operand is missing")),
        }
    }
}

/// The error for a graph that is not well formed.
fn broken(why: &str) -> Error {
    Error::Internal(why.into())
}
