//! Constants: numbers and addresses in the code, or words that are read from the parameter row of the rule that is evaluated.

use super::block::Words;
use super::{Emitter, MEM, broken};
use crate::error::Error;
use celero_ir::layout::{self, parameter_row};
use celero_ir::{ConstId, Constant, Parameter, ParameterKind, Ty};
use cranelift_codegen::ir::types::{F64, I8, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value};

impl Emitter<'_, '_> {
    pub(super) fn constant(&mut self, id: ConstId, ty: Ty) -> Result<Words, Error> {
        let constant = self.unit.graph.constant_at(id).ok_or_else(|| broken("no such constant"))?;
        if let Constant::Parameter(parameter) = constant {
            return Ok(self.parameter(*parameter));
        }
        let address = self.unit.address(id).ok_or_else(|| broken("no address for a constant"))?;
        if ty == Ty::Value {
            return Ok(Words::One(self.address(address.value)));
        }
        Ok(match (ty, constant) {
            (Ty::Bool, Constant::Bool(b)) => Words::One(self.builder.ins().iconst(I8, i64::from(*b))),
            (Ty::Int, Constant::Int(n)) | (Ty::Duration, Constant::Duration(n)) => Words::One(self.word(*n)),
            (Ty::Uint, Constant::Uint(n)) => Words::One(self.word(n.cast_signed())),
            (Ty::Double, Constant::Double(bits)) => {
                let bits = cranelift_codegen::ir::immediates::Ieee64::with_bits(*bits);
                Words::One(self.builder.ins().f64const(bits))
            }
            (Ty::Timestamp, Constant::Timestamp(seconds, nanos)) => {
                Words::Two(self.word(*seconds), self.word(i64::from(*nanos)))
            }
            (Ty::Str | Ty::Raw | Ty::Maybe, Constant::Str(_)) | (Ty::Bytes, Constant::Bytes(_)) => {
                Words::Two(self.address(address.data), self.address(address.len))
            }
            (Ty::Maybe, Constant::Null) => Words::Two(self.word(0), self.word(0)),
            (Ty::Ip, Constant::Ip(ip)) => {
                let [high, low] = layout::ip_words(*ip);
                Words::Two(self.word(high.cast_signed()), self.word(low.cast_signed()))
            }
            _ => return Err(broken("a constant of another type than its node")),
        })
    }

    fn parameter(&mut self, parameter: Parameter) -> Words {
        let Parameter { kind, at, .. } = parameter;
        match kind {
            ParameterKind::Str | ParameterKind::Bytes => {
                Words::Two(self.row_word(at), self.row_word(at.saturating_add(1)))
            }
            ParameterKind::Double => Words::One(self.row_load(F64, at)),
            _ => Words::One(self.row_word(at)),
        }
    }

    /// The address of a prepared object.
    pub(super) fn prepared(&mut self, id: ConstId) -> Result<Value, Error> {
        if let Some(Constant::Parameter(parameter)) = self.unit.graph.constant_at(id) {
            return Ok(self.row_word(parameter.at));
        }
        let address = self.unit.address(id).ok_or_else(|| broken("no address for a constant"))?;
        Ok(self.address(address.data))
    }

    /// A word of the parameter row.
    pub(super) fn row_word(&mut self, at: u16) -> Value {
        self.row_load(I64, at)
    }

    fn row_load(&mut self, ty: Type, at: u16) -> Value {
        let frame = self.frame();
        let words = self.builder.ins().load(I64, MEM, frame, parameter_row::ADDRESS);
        self.builder.ins().load(ty, MEM, words, i32::from(at).saturating_mul(8))
    }
}
