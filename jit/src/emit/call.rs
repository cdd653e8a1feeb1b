//! Calls of helpers, as their table declares them, and of the host's accessors.
//!
//! A call that can fail is recorded before its failure is checked. Where the call dominates but its
//! success does not (the next operand of an `or` that absorbs the failure), only the check is
//! emitted again.

use super::block::{Edge, Words, types};
use super::{Emitter, MEM, broken};
use crate::dominators::DominatorNode;
use crate::error::Error;
use celero_ir::{CallForm, ConstId, Helper, NodeId, Param, Ty, layout};
use cranelift_codegen::ir::types::{F64, I8, I64};
use cranelift_codegen::ir::{AbiParam, Inst, InstBuilder, MemFlagsData, SigRef, Signature, StackSlot, Type, Value};
use foldhash::HashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// What is called: each has its own signature.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Callee {
    Helper(Helper),
    /// A function of the graph, by its number: takes the frame's address and the words of its
    /// operands, returns two words.
    Function(u32),
    /// An accessor of the host: takes an address, returns an address and a length.
    Text,
    /// An accessor of the host: takes an address and that of memory which it fills; returns a word.
    Fill,
}

/// What a call is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Attempted {
    /// The node of this class.
    Node(NodeId),
    /// The accessor of a field, for its value or its presence.
    Field(u32),
}

/// How a call reports failure.
#[derive(Clone, Copy)]
pub(super) enum Failure {
    /// It cannot fail.
    Never,
    /// A status that is not 0: the code.
    Status(Value),
    /// A null address; the length is the code.
    Null,
    /// A null address with a length that is not 0: the code.
    NullWithCode,
}

/// A call that was made.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    pub(super) words: Words,
    pub(super) failure: Failure,
    place: DominatorNode,
    stamp: u64,
}

/// The calls of a function so far.
#[derive(Default)]
pub(super) struct Calls {
    attempts: HashMap<Attempted, Attempt>,
    signatures: HashMap<Callee, SigRef>,
    /// The stack slots of calls that are made once, by class.
    once: BTreeMap<NodeId, StackSlot>,
}

type Args = SmallVec<[Value; 8]>;
type ParamTypes = SmallVec<[Type; 8]>;

impl Emitter<'_, '_> {
    /// A call that is made for a node: the same for all nodes of its class.
    pub(super) fn attempted(&self, id: NodeId) -> Attempted {
        Attempted::Node(self.unit.graph.class(id))
    }

    pub(super) fn recall_attempt(&self, what: Attempted, id: NodeId) -> Option<Attempt> {
        self.calls.attempts.get(&what).copied().filter(|attempt| self.holds(attempt.place, attempt.stamp, id))
    }

    pub(super) fn note_attempt(&mut self, what: Attempted, id: NodeId, words: Words, failure: Failure) -> Attempt {
        let attempt = Attempt { words, failure, place: self.place, stamp: self.stamp(id) };
        self.calls.attempts.insert(what, attempt);
        attempt
    }

    /// Jumps to the error target if the call failed, and continues otherwise.
    pub(super) fn check_failure(&mut self, id: NodeId, attempt: Attempt) -> Result<(), Error> {
        match attempt.failure {
            Failure::Never => {}
            Failure::Status(status) => self.check_status(status, id),
            Failure::Null => {
                let (address, code) = attempt.words.two()?;
                let (fail, go) = (self.cold_block(), self.builder.create_block());
                self.brif(address, Edge::to(go), Edge::to(fail));
                self.fail_with(fail, code, id);
                self.start(go);
            }
            Failure::NullWithCode => {
                let (address, length) = attempt.words.two()?;
                let (null, fail, go) = (self.cold_block(), self.cold_block(), self.builder.create_block());
                self.brif(address, Edge::to(go), Edge::to(null));
                self.start(null);
                self.brif(length, Edge::to(fail), Edge::to(go));
                self.fail_with(fail, length, id);
                self.start(go);
            }
        }
        Ok(())
    }

    /// Fails if the status is not 0.
    pub(super) fn check_status(&mut self, status: Value, id: NodeId) {
        let (fail, go) = (self.cold_block(), self.builder.create_block());
        self.brif(status, Edge::to(fail), Edge::to(go));
        self.fail_with(fail, status, id);
        self.start(go);
    }

    /// A node that is a call with its operands.
    pub(super) fn call_node(&mut self, id: NodeId, helper: Helper) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let mut words = Args::new();
        for &arg in args {
            self.push(&mut words, arg)?;
        }
        if helper == Helper::message_fields && self.plan.facts(id).shared {
            return self.call_once(id, helper, &words);
        }
        self.call_for(id, helper, &words)
    }

    /// A call that is made at most once in an evaluation, also where no earlier one dominates: its result, the address
    /// of a value, is kept in a stack slot.
    fn call_once(&mut self, id: NodeId, helper: Helper, args: &[Value]) -> Result<Words, Error> {
        let class = self.unit.graph.class(id);
        let known = self.calls.once.get(&class).copied();
        let slot = known.unwrap_or_else(|| self.slot(8));
        self.calls.once.insert(class, slot);
        let (call, join) = (self.builder.create_block(), self.builder.create_block());
        let result = self.builder.append_block_param(join, I64);
        let kept = self.builder.create_block();
        let before = self.builder.ins().stack_load(I64, I64, slot, 0);
        self.brif(before, Edge::to(kept), Edge::to(call));
        self.start(kept);
        self.jump_with(join, &[before]);
        self.start(call);
        let now = self.call_for(id, helper, args)?.one()?;
        self.builder.ins().stack_store(I64, now, slot, 0);
        self.jump_with(join, &[now]);
        self.start(join);
        Ok(Words::One(result))
    }

    /// Marks the slots of calls that are made once as having no result yet. It is the last use of them.
    pub(super) fn forget_calls(&mut self) {
        for slot in std::mem::take(&mut self.calls.once).into_values() {
            let none = self.word(0);
            self.builder.ins().stack_store(I64, none, slot, 0);
        }
    }

    /// A node that is a call of a function with the operands' types. It returns what a helper that can
    /// fail returns; without a frame, its first parameter is 0.
    pub(super) fn invoke(&mut self, id: NodeId, function: u32, form: CallForm) -> Result<Words, Error> {
        let (_, ty, args) = self.parts(id);
        let mut words = Args::new();
        for &arg in args {
            self.push(&mut words, arg)?;
        }
        self.locate(id);
        let address = self.unit.function(function).ok_or_else(|| broken("no address for a function"))?;
        let params = words.iter().map(|&word| self.builder.func.dfg.value_type(word)).collect();
        let signature = self.signature(Callee::Function(function), params);
        let frame = if form.needs_frame() { self.frame() } else { self.word(0) };
        let inst = self.call_address(signature, address, Some(frame), &words)?;
        let (words, failure) = self.outcome(inst, ty)?;
        if form == CallForm::Total {
            return Ok(words);
        }
        let attempt = self.note_attempt(self.attempted(id), id, words, failure);
        self.check_failure(id, attempt)?;
        Ok(words)
    }

    /// A node that is a call with a prepared constant and its operands.
    pub(super) fn call_prepared(&mut self, id: NodeId, helper: Helper, constant: ConstId) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let mut words = Args::new();
        for &arg in args {
            self.push(&mut words, arg)?;
        }
        words.insert(0, self.prepared(constant)?);
        self.call_for(id, helper, &words)
    }

    /// Emits an operand as the words that a helper accepts.
    fn push(&mut self, args: &mut Args, id: NodeId) -> Result<(), Error> {
        let words = self.value(id)?;
        if self.unit.graph.ty(id) == Ty::Bool {
            let wide = self.builder.ins().uextend(I64, words.one()?);
            args.push(wide);
        } else {
            args.extend(words.list());
        }
        Ok(())
    }

    /// The call that is this node's value.
    pub(super) fn call_for(&mut self, id: NodeId, helper: Helper, args: &[Value]) -> Result<Words, Error> {
        self.locate(id);
        let (words, failure) = self.call(helper, args)?;
        if let Failure::Never = failure {
            return Ok(words);
        }
        if self.budget.suffices
            && let Failure::Status(status) = failure
        {
            self.end_after_panic(status);
        }
        let attempt = self.note_attempt(self.attempted(id), id, words, failure);
        self.check_failure(id, attempt)?;
        Ok(words)
    }

    /// A call that is part of computing a node; its failure is the node's.
    pub(super) fn call_within(&mut self, id: NodeId, helper: Helper, args: &[Value]) -> Result<Value, Error> {
        self.locate(id);
        let (words, failure) = self.call(helper, args)?;
        if let Failure::Status(status) = failure {
            self.check_status(status, id);
        }
        words.one()
    }

    /// Emits the call itself. A helper without a result returns 0.
    pub(super) fn call(&mut self, helper: Helper, args: &[Value]) -> Result<(Words, Failure), Error> {
        let decl = helper.decl();
        let address = self.unit.helper(helper).ok_or_else(|| broken("no address for a helper"))?;
        let signature = self.signature(Callee::Helper(helper), ParamTypes::new());
        let frame = if decl.frameless && self.budget.suffices { self.word(0) } else { self.frame() };
        let inst = self.call_address(signature, address, Some(frame), args)?;
        let results: SmallVec<[Value; 2]> = self.builder.inst_results(inst).iter().copied().collect();
        let Param::Node(ty) = decl.result else {
            return Ok(match (decl.fails, results.as_slice()) {
                (true, [status, word]) => (Words::One(*word), Failure::Status(*status)),
                _ => (Words::of(&results)?, Failure::Never),
            });
        };
        if !decl.fails {
            return match results.as_slice() {
                [word] => Ok((Words::One(self.narrow(*word, ty)), Failure::Never)),
                _ => Ok((Words::of(&results)?, Failure::Never)),
            };
        }
        self.outcome(inst, ty)
    }

    /// The result of type `ty` of a call that can fail.
    fn outcome(&mut self, inst: Inst, ty: Ty) -> Result<(Words, Failure), Error> {
        let words = Words::of(self.builder.inst_results(inst))?;
        if matches!(ty, Ty::Str | Ty::Bytes | Ty::Raw) {
            return Ok((words, Failure::Null));
        }
        let (status, first) = words.two()?;
        let words = if ty.words() == 2 {
            let frame = self.frame();
            Words::Two(first, self.builder.ins().load(I64, MEM, frame, layout::frame::OUT))
        } else {
            Words::One(self.narrow(first, ty))
        };
        Ok((words, Failure::Status(status)))
    }

    /// An accessor of the host.
    pub(super) fn call_accessor(&mut self, callee: Callee, accessor: usize, args: &[Value]) -> Result<Words, Error> {
        let signature = self.signature(callee, ParamTypes::new());
        let inst = self.call_address(signature, accessor, None, args)?;
        Words::of(self.builder.inst_results(inst))
    }

    fn call_address(
        &mut self,
        signature: SigRef,
        address: usize,
        frame: Option<Value>,
        args: &[Value],
    ) -> Result<Inst, Error> {
        let all: SmallVec<[Value; 8]> = frame.into_iter().chain(args.iter().copied()).collect();
        let func = &self.builder.func;
        let wanted = func.dfg.signatures.get(signature).map(|s| s.params.iter().map(|p| p.value_type));
        let given = all.iter().map(|&value| func.dfg.value_type(value));
        if !wanted.is_some_and(|wanted| wanted.eq(given)) {
            return Err(broken("operands that a helper does not take"));
        }
        let callee = self.address(address);
        Ok(self.builder.ins().call_indirect(signature, callee, &all))
    }

    /// The signature of a callee. A function of the graph also takes parameters of the types `given`.
    fn signature(&mut self, callee: Callee, given: ParamTypes) -> SigRef {
        if let Some(&known) = self.calls.signatures.get(&callee) {
            return known;
        }
        let mut signature = Signature::new(self.machine.config.default_call_conv);
        let (mut params, mut returns) = (vec![I64], vec![]);
        match callee {
            Callee::Text => returns.extend([I64, I64]),
            Callee::Function(_) => {
                params.extend(given);
                returns.extend([I64, I64]);
            }
            Callee::Fill => {
                params.push(I64);
                returns.push(I64);
            }
            Callee::Helper(helper) => {
                let decl = helper.decl();
                for param in decl.params {
                    match param {
                        Param::Node(Ty::Bool) => params.push(I64),
                        Param::Node(ty) => params.extend(types(*ty)),
                        Param::Word | Param::Nothing => params.push(I64),
                    }
                }
                // With a status every result is two words.
                match decl.result {
                    _ if decl.fails => returns.extend([I64, I64]),
                    Param::Node(Ty::Double) => returns.push(F64),
                    Param::Node(ty) if ty.words() == 2 => returns.extend([I64, I64]),
                    _ => returns.push(I64),
                }
            }
        }
        signature.params.extend(params.into_iter().map(AbiParam::new));
        signature.returns.extend(returns.into_iter().map(AbiParam::new));
        let reference = self.builder.import_signature(signature);
        self.calls.signatures.insert(callee, reference);
        reference
    }

    /// A word of a result as a value of this type. Helpers return truth values as 0 or 1.
    fn narrow(&mut self, word: Value, ty: Ty) -> Value {
        match ty {
            Ty::Bool => self.builder.ins().ireduce(I8, word),
            Ty::Double if self.builder.func.dfg.value_type(word) == I64 => {
                self.builder.ins().bitcast(F64, MemFlagsData::new(), word)
            }
            _ => word,
        }
    }
}
