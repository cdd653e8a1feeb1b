//! Constants: numbers and addresses in the code; or words of the parameter row of the rule that is
//! evaluated, in templates of sets (the row's address is in the frame) and in shared code (it is
//! the third argument).

use super::block::Words;
use super::{Emitter, MEM, ROW, RuleWords, broken};
use crate::code_template;
use crate::error::Error;
use celero_ir::layout::{self, parameter_row};
use celero_ir::{ConstId, Constant, Parameter, ParameterKind, Ty};
use cranelift_codegen::ir::types::{F64, I8, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value};

impl Emitter<'_, '_> {
    pub(super) fn constant(&mut self, id: ConstId, ty: Ty) -> Result<Words, Error> {
        let constant = self.unit.graph.constant_at(id).ok_or_else(|| broken("no such constant"))?;
        if let Constant::Parameter(parameter) = constant {
            return Ok(self.parameter(*parameter));
        }
        let address = self.unit.address(id).ok_or_else(|| broken("no address for a constant"))?;
        if ty == Ty::Value {
            return Ok(Words::One(self.rule_word(address.value as u64)));
        }
        Ok(match (ty, constant) {
            (Ty::Bool, Constant::Bool(b)) => Words::One(self.builder.ins().iconst(I8, i64::from(*b))),
            (Ty::Int, Constant::Int(n)) | (Ty::Duration, Constant::Duration(n)) => {
                Words::One(self.rule_word(n.cast_unsigned()))
            }
            (Ty::Uint, Constant::Uint(n)) => Words::One(self.rule_word(*n)),
            (Ty::Double, Constant::Double(bits)) => {
                if self.row.is_some() {
                    let word = self.rule_word(*bits);
                    return Ok(Words::One(self.builder.ins().bitcast(F64, MemFlagsData::new(), word)));
                }
                let bits = cranelift_codegen::ir::immediates::Ieee64::with_bits(*bits);
                Words::One(self.builder.ins().f64const(bits))
            }
            (Ty::Timestamp, Constant::Timestamp(seconds, nanos)) => {
                Words::Two(self.rule_word(seconds.cast_unsigned()), self.rule_word(u64::from(*nanos)))
            }
            (Ty::Str | Ty::Raw | Ty::Maybe, Constant::Str(_)) | (Ty::Bytes, Constant::Bytes(_)) => {
                Words::Two(self.rule_word(address.data as u64), self.rule_word(address.len as u64))
            }
            (Ty::Maybe, Constant::Null) => Words::Two(self.word(0), self.word(0)),
            (Ty::Ip, Constant::Ip(ip)) => {
                let [high, low] = layout::ip_words(*ip);
                Words::Two(self.rule_word(high), self.rule_word(low))
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
        Ok(self.rule_word(address.data as u64))
    }

    /// A word that depends on the rule's constants or on places in its source. It is where [`RuleWords`] says.
    pub(super) fn rule_word(&mut self, word: u64) -> Value {
        if let Some(row) = self.row {
            // A rule with more words exceeds the number of instructions.
            let at = i32::try_from(self.words.len().saturating_mul(8)).unwrap_or(i32::MAX);
            self.words.push(word);
            return self.builder.ins().load(I64, ROW, row, at);
        }
        let number = word.cast_signed();
        if self.rule_words == RuleWords::Code || i32::try_from(number).is_ok() {
            return self.word(number);
        }
        let symbol = code_template::symbol(self.builder.func, self.words.len());
        self.words.push(word);
        self.builder.ins().symbol_value(I64, symbol)
    }

    /// A word of a template's parameter row.
    pub(super) fn row_word(&mut self, at: u16) -> Value {
        self.row_load(I64, at)
    }

    fn row_load(&mut self, ty: Type, at: u16) -> Value {
        let frame = self.frame();
        let words = self.builder.ins().load(I64, MEM, frame, parameter_row::ADDRESS);
        self.builder.ins().load(ty, MEM, words, i32::from(at).saturating_mul(8))
    }
}
