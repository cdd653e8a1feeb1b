//! Several rules in one function, one after the other.
//!
//! Values that one rule has loaded, looked up or computed in a block that dominates are known to
//! the later rules. Each rule has its own budget and its own error target, after which the next
//! rule is evaluated.
//!
//! Invariant: in a function of several rules an error ends only its own rule, and its place is a place in the source of
//! that rule. Test: `runtime/tests/it/rules.rs::an_error_is_of_its_rule`.

use super::block::{Edge, ErrorTarget};
use super::{Emitter, MEM};
use crate::error::Error;
use crate::unit::GroupedRule;
use celero_ir::layout::{frame, group};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder};

impl<'a> Emitter<'a, '_> {
    pub(super) fn rules(&mut self, rules: &[GroupedRule<'a>], steps: i64) -> Result<(), Error> {
        let end = self.builder.create_block();
        for (number, rule) in (0_u8..).zip(rules) {
            let next = self.builder.create_block();
            self.rule(number, rule, steps, next, end)?;
            self.start(next);
        }
        self.jump(Edge::to(end));
        self.start(end);
        let done = self.word(0);
        self.builder.ins().return_(&[done]);
        Ok(())
    }

    fn rule(&mut self, number: u8, rule: &GroupedRule<'a>, steps: i64, next: Block, end: Block) -> Result<(), Error> {
        self.origins = rule.origins;
        self.locate(rule.root);
        let facts = self.plan.facts(rule.root);
        if facts.ends {
            let given = self.frame();
            let steps = self.word(steps);
            self.builder.ins().store(MEM, steps, given, frame::FUEL);
        }
        let matched = self.builder.create_block();
        let failed = facts.fails.then(|| self.cold_block());
        (self.target, self.rule) =
            failed.map_or((ErrorTarget::CALLER, ErrorTarget::CALLER), |to| (ErrorTarget::to(to), ErrorTarget::to(to)));
        self.branch(rule.root, Edge::to(matched), Edge::to(next))?;
        (self.target, self.rule) = (ErrorTarget::CALLER, ErrorTarget::CALLER);

        self.start(matched);
        self.note(number, group::MATCHED);
        self.stop_if(group::STOP_ON_MATCH, next, end);
        if let Some(failed) = failed {
            let word = self.caught(failed);
            let given = self.frame();
            let errors = self.builder.ins().load(I64, MEM, given, group::ERRORS);
            self.builder.ins().store(MEM, word, errors, i32::from(number).saturating_mul(8));
            self.note(number, group::FAILED);
            self.stop_if(group::STOP_ON_ERROR, next, end);
        }
        Ok(())
    }

    /// Sets the rule's bit in a word of the frame.
    fn note(&mut self, number: u8, at: i32) {
        let given = self.frame();
        let bit = self.word(1_i64.wrapping_shl(u32::from(number)));
        let before = self.builder.ins().load(I64, MEM, given, at);
        let after = self.builder.ins().bor(before, bit);
        self.builder.ins().store(MEM, after, given, at);
    }

    /// Ends the function if the frame says so, and continues otherwise.
    fn stop_if(&mut self, at: i32, next: Block, end: Block) {
        let given = self.frame();
        let stop = self.builder.ins().uload32(MEM, given, at);
        self.brif(stop, Edge::to(end), Edge::to(next));
    }
}
