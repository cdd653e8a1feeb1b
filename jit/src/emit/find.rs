//! Steps of a path of keys into a document: one helper follows the whole path, and each step passes
//! its result on or fails.

use super::Emitter;
use super::block::{Edge, Words};
use crate::error::Error;
use celero_ir::layout::found::{FAILED, KIND_SHIFT, STEP_SHIFT};
use celero_ir::{NodeId, Ty};
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;

impl Emitter<'_, '_> {
    /// Emits a step. The last step lets no failure through, so its result is the address of a value.
    pub(super) fn step(&mut self, id: NodeId, step: u32) -> Result<Words, Error> {
        let (_, ty, args) = self.parts(id);
        let found = self.value(self.one_arg(args)?)?.one()?;
        self.locate(id);
        let failed = if ty == Ty::Value {
            self.builder.ins().band_imm_s(found, FAILED.cast_signed())
        } else {
            let number = self.builder.ins().ushr_imm_u(found, i64::from(STEP_SHIFT));
            let failed = self.builder.ins().band_imm_s(found, FAILED.cast_signed());
            let here = self.builder.ins().icmp_imm_s(IntCC::Equal, number, i64::from(step));
            let here = self.builder.ins().uextend(I64, here);
            self.builder.ins().band(here, failed)
        };
        let (fail, raise, go) = (self.cold_block(), self.cold_block(), self.builder.create_block());
        self.brif(failed, Edge::to(fail), Edge::to(go));
        self.start(fail);
        let kind = self.builder.ins().ushr_imm_u(found, i64::from(KIND_SHIFT));
        let kind = self.builder.ins().band_imm_s(kind, 0xff);
        self.jump(Edge::to(raise));
        self.fail_with(raise, kind, id);
        self.start(go);
        Ok(Words::One(found))
    }
}
