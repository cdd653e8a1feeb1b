//! Calls of library functions. A function has an operation or a helper of its own, or is called with
//! the types of its [signature](super::signature). A call is dispatched where the evaluation decides
//! about an overload, or about the type of an operand before a later operand that can fail. Dispatch
//! is always correct.

use super::signature::signature_of;
use super::{Callee, Lowering};
use crate::library::{takes_any_index, wildcard_of};
use crate::value::{Duration, Timestamp};
use celero_frontend::{NodeId as AstId, Overload, stdlib::Builtin};
use celero_ir::{Arith, Cmp, Constant, Helper, NodeId, Op, Ty};
use std::sync::Arc;

/// How a builtin is lowered: the representations of its operands, the operation, that of its result.
struct Shape {
    operands: &'static [Ty],
    op: Op,
    result: Ty,
}

const fn binary(operands: &'static [Ty; 2], op: Op, result: Ty) -> Option<Shape> {
    Some(Shape { operands, op, result })
}

const fn unary(operands: &'static [Ty; 1], op: Op, result: Ty) -> Option<Shape> {
    Some(Shape { operands, op, result })
}

const BOOLS: &[Ty; 2] = &[Ty::Bool, Ty::Bool];
const INTS: &[Ty; 2] = &[Ty::Int, Ty::Int];
const UINTS: &[Ty; 2] = &[Ty::Uint, Ty::Uint];
const DOUBLES: &[Ty; 2] = &[Ty::Double, Ty::Double];
const STRS: &[Ty; 2] = &[Ty::Str, Ty::Str];
const BYTES: &[Ty; 2] = &[Ty::Bytes, Ty::Bytes];
const DURATIONS: &[Ty; 2] = &[Ty::Duration, Ty::Duration];
const TIMES: &[Ty; 2] = &[Ty::Timestamp, Ty::Timestamp];

fn shape(builtin: Builtin) -> Option<Shape> {
    use Builtin as B;
    let compare = |operands, cmp| binary(operands, Op::Cmp(cmp), Ty::Bool);
    match builtin {
        B::Not => unary(&[Ty::Bool], Op::Not, Ty::Bool),
        B::AddInt => binary(INTS, Op::Arith(Arith::Add), Ty::Int),
        B::SubInt => binary(INTS, Op::Arith(Arith::Sub), Ty::Int),
        B::MulInt => binary(INTS, Op::Arith(Arith::Mul), Ty::Int),
        B::DivInt => binary(INTS, Op::Arith(Arith::Div), Ty::Int),
        B::RemInt => binary(INTS, Op::Arith(Arith::Rem), Ty::Int),
        B::AddUint => binary(UINTS, Op::Arith(Arith::Add), Ty::Uint),
        B::SubUint => binary(UINTS, Op::Arith(Arith::Sub), Ty::Uint),
        B::MulUint => binary(UINTS, Op::Arith(Arith::Mul), Ty::Uint),
        B::DivUint => binary(UINTS, Op::Arith(Arith::Div), Ty::Uint),
        B::RemUint => binary(UINTS, Op::Arith(Arith::Rem), Ty::Uint),
        B::AddDouble => binary(DOUBLES, Op::Arith(Arith::Add), Ty::Double),
        B::SubDouble => binary(DOUBLES, Op::Arith(Arith::Sub), Ty::Double),
        B::MulDouble => binary(DOUBLES, Op::Arith(Arith::Mul), Ty::Double),
        B::DivDouble => binary(DOUBLES, Op::Arith(Arith::Div), Ty::Double),
        B::AddDurations => binary(DURATIONS, Op::Arith(Arith::Add), Ty::Duration),
        B::SubDurations => binary(DURATIONS, Op::Arith(Arith::Sub), Ty::Duration),
        B::NegInt => unary(&[Ty::Int], Op::Neg, Ty::Int),
        B::NegDouble => unary(&[Ty::Double], Op::Neg, Ty::Double),
        B::AddString => binary(STRS, Op::Call(Helper::string_add), Ty::Str),
        B::AddBytes => binary(BYTES, Op::Call(Helper::bytes_add), Ty::Bytes),
        B::AddTimestampDuration => binary(&[Ty::Timestamp, Ty::Duration], Op::TimeAdd, Ty::Timestamp),
        B::SubTimestampDuration => binary(&[Ty::Timestamp, Ty::Duration], Op::TimeSub, Ty::Timestamp),
        B::SubTimestamps => binary(TIMES, Op::TimeSince, Ty::Duration),
        B::LessBool => compare(BOOLS, Cmp::Lt),
        B::LessInt => compare(INTS, Cmp::Lt),
        B::LessUint => compare(UINTS, Cmp::Lt),
        B::LessDouble => compare(DOUBLES, Cmp::Lt),
        B::LessString => compare(STRS, Cmp::Lt),
        B::LessBytes => compare(BYTES, Cmp::Lt),
        B::LessTimestamp => compare(TIMES, Cmp::Lt),
        B::LessDuration => compare(DURATIONS, Cmp::Lt),
        B::LessEqualBool => compare(BOOLS, Cmp::Le),
        B::LessEqualInt => compare(INTS, Cmp::Le),
        B::LessEqualUint => compare(UINTS, Cmp::Le),
        B::LessEqualDouble => compare(DOUBLES, Cmp::Le),
        B::LessEqualString => compare(STRS, Cmp::Le),
        B::LessEqualBytes => compare(BYTES, Cmp::Le),
        B::LessEqualTimestamp => compare(TIMES, Cmp::Le),
        B::LessEqualDuration => compare(DURATIONS, Cmp::Le),
        B::GreaterBool => compare(BOOLS, Cmp::Gt),
        B::GreaterInt => compare(INTS, Cmp::Gt),
        B::GreaterUint => compare(UINTS, Cmp::Gt),
        B::GreaterDouble => compare(DOUBLES, Cmp::Gt),
        B::GreaterString => compare(STRS, Cmp::Gt),
        B::GreaterBytes => compare(BYTES, Cmp::Gt),
        B::GreaterTimestamp => compare(TIMES, Cmp::Gt),
        B::GreaterDuration => compare(DURATIONS, Cmp::Gt),
        B::GreaterEqualBool => compare(BOOLS, Cmp::Ge),
        B::GreaterEqualInt => compare(INTS, Cmp::Ge),
        B::GreaterEqualUint => compare(UINTS, Cmp::Ge),
        B::GreaterEqualDouble => compare(DOUBLES, Cmp::Ge),
        B::GreaterEqualString => compare(STRS, Cmp::Ge),
        B::GreaterEqualBytes => compare(BYTES, Cmp::Ge),
        B::GreaterEqualTimestamp => compare(TIMES, Cmp::Ge),
        B::GreaterEqualDuration => compare(DURATIONS, Cmp::Ge),
        B::IndexList => binary(&[Ty::Value, Ty::Int], Op::Call(Helper::index_list), Ty::Value),
        B::IndexMap => binary(&[Ty::Value, Ty::Value], Op::Call(Helper::index_map), Ty::Value),
        B::InList | B::InMap => binary(&[Ty::Value, Ty::Value], Op::Call(Helper::in_container), Ty::Bool),
        B::SizeString => unary(&[Ty::Str], Op::Call(Helper::string_size), Ty::Int),
        B::SizeBytes => unary(&[Ty::Bytes], Op::SeqSize, Ty::Int),
        B::SizeList | B::SizeMap => unary(&[Ty::Value], Op::Call(Helper::size), Ty::Int),
        B::Contains => binary(STRS, Op::Call(Helper::string_contains), Ty::Bool),
        B::StartsWith => binary(STRS, Op::StartsWith, Ty::Bool),
        B::EndsWith => binary(STRS, Op::EndsWith, Ty::Bool),
        B::Matches => binary(STRS, Op::Call(Helper::string_matches), Ty::Bool),
        B::JsonFromBytes => unary(&[Ty::Bytes], Op::Call(Helper::json_parse), Ty::Value),
        B::BytesFromString => unary(&[Ty::Str], Op::AsBytes, Ty::Bytes),
        _ => None,
    }
}

impl Lowering<'_> {
    /// The node of a call to `builtin`, if it has a cheaper form than dispatch for operands represented as these are.
    pub(super) fn builtin(&mut self, id: AstId, builtin: Builtin, operands: &[NodeId]) -> Option<NodeId> {
        match (builtin, operands) {
            (Builtin::Equal, &[a, b]) => return Some(self.equality(id, Cmp::Eq, a, b)),
            (Builtin::NotEqual, &[a, b]) => return Some(self.equality(id, Cmp::Ne, a, b)),
            (Builtin::ToDyn, &[a]) => return Some(a),
            (Builtin::JsonFromString, &[text]) => {
                let text = self.convert(text, Ty::Str, id)?;
                let json = self.add(Op::AsBytes, Ty::Bytes, &[text], id);
                return Some(self.add(Op::Call(Helper::json_parse), Ty::Value, &[json], id));
            }
            (Builtin::Wildcard | Builtin::StrictWildcard, &[text, pattern]) => {
                let pattern = self.constant_text(pattern);
                let wildcard = pattern.and_then(|pattern| wildcard_of(&pattern, builtin == Builtin::StrictWildcard));
                if let Some(wildcard) = wildcard {
                    let text = self.convert(text, Ty::Str, id)?;
                    let wildcard = self.graph.constant(Constant::Wildcard(wildcard));
                    return Some(self.add(Op::WildcardConst(wildcard), Ty::Bool, &[text], id));
                }
            }
            // Any whole number is an index of a list: unless it is known to be an `int`, the library converts it.
            (_, &[_, index]) if takes_any_index(builtin) && self.graph.ty(index) != Ty::Int => return None,
            _ => {}
        }
        if let (Some(ty), &[a]) = (identity(builtin), operands) {
            return self.convert(a, ty, id);
        }
        let (params, result) = match shape(builtin) {
            Some(shape) => (shape.operands, shape.result),
            None => signature_of(builtin).map(|signature| (&*signature.params, signature.result))?,
        };
        // Unboxing checks a type, and must not come before an error of a later operand.
        let early = operands.iter().zip(params).enumerate().any(|(i, (&operand, &ty))| {
            self.graph.ty(operand) == Ty::Value
                && ty != Ty::Value
                && operands.iter().skip(i).skip(1).any(|&later| self.may_fail(later))
        });
        if early || operands.len() != params.len() {
            return None;
        }
        let mut converted = Vec::with_capacity(operands.len());
        for (&operand, &ty) in operands.iter().zip(params) {
            converted.push(self.convert(operand, ty, id)?);
        }
        let op = match shape(builtin) {
            Some(shape) => shape.op,
            None => {
                let function = self.calls.number(Callee::builtin(builtin), &mut self.graph);
                Op::Invoke { function, form: signature_of(builtin)?.form }
            }
        };
        Some(self.add(op, result, &converted, id))
    }

    /// The node of a call to `builtin`, dispatched if it has no cheaper form for these operands.
    pub(super) fn library_call(&mut self, id: AstId, builtin: Builtin, operands: &[NodeId]) -> NodeId {
        let cheaper = self.builtin(id, builtin, operands);
        cheaper.unwrap_or_else(|| self.dispatch(id, Callee::builtin(builtin), operands))
    }

    /// The overload for operands that are represented as these are, if none of their types is left to the evaluation.
    pub(super) fn exact(&self, overloads: &[Overload], operands: &[NodeId]) -> Option<Builtin> {
        let fits = |(&operand, &ty): (&NodeId, &Ty)| ty != Ty::Value && self.graph.ty(operand) == ty;
        overloads.iter().find_map(|overload| {
            let Overload::Builtin(builtin) = overload else { return None };
            let wanted = &signature_of(*builtin)?.params;
            (wanted.len() == operands.len() && operands.iter().zip(&**wanted).all(fits)).then_some(*builtin)
        })
    }

    /// The text of a node that is constant text.
    fn constant_text(&self, node: NodeId) -> Option<Arc<str>> {
        match self.graph.op(node) {
            Op::Const(id) => match self.graph.constant_at(id)? {
                Constant::Str(text) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether evaluating the node can fail, erring on the side of yes.
    fn may_fail(&self, node: NodeId) -> bool {
        match self.graph.op(node) {
            Op::Const(_) => false,
            Op::Field(field) => self.sure.get(field as usize).is_none_or(|sure| *sure != Some(node)),
            _ => true,
        }
    }

    /// If a node is the text that `string` makes of a scalar, and another the text of a known one: the
    /// scalar, and the known one. No two scalars of a type have the same text, so that they are
    /// compared instead.
    fn shown(&self, text: NodeId, known: NodeId) -> Option<(NodeId, Constant)> {
        let Op::Invoke { function, .. } = self.graph.op(text) else { return None };
        let (callee, known) = (self.graph.functions().get(function as usize)?, self.constant_text(known)?);
        let (shown, constant) = match self.calls.by_name(callee)?.only_builtin()? {
            Builtin::StringFromInt => known.parse::<i64>().ok().map(|n| (n.to_string(), Constant::Int(n))),
            Builtin::StringFromUint => known.parse::<u64>().ok().map(|n| (n.to_string(), Constant::Uint(n))),
            Builtin::StringFromTimestamp => {
                let time = Timestamp::parse(&known).ok()?;
                let nanos = u32::try_from(time.nanos).ok()?;
                Some((time.to_string(), Constant::Timestamp(time.seconds, nanos)))
            }
            Builtin::StringFromDuration => {
                let duration = Duration::parse(&known).ok()?;
                Some((duration.to_string(), Constant::Duration(duration.0)))
            }
            _ => None,
        }?;
        let &[scalar] = self.graph.args(text) else { return None };
        // Another spelling is the text of none.
        (shown == *known).then_some((scalar, constant))
    }

    /// Values of different types are unequal, never an error.
    fn equality(&mut self, id: AstId, cmp: Cmp, a: NodeId, b: NodeId) -> NodeId {
        let (ta, tb) = (self.graph.ty(a), self.graph.ty(b));
        if let Some((scalar, same)) = self.shown(a, b).or_else(|| self.shown(b, a)) {
            let same = self.constant(same, self.graph.ty(scalar), id);
            return self.add(Op::Cmp(cmp), Ty::Bool, &[scalar, same], id);
        }
        if ta == tb && ta != Ty::Value {
            return self.add(Op::Cmp(cmp), Ty::Bool, &[a, b], id);
        }
        let (a, b) = (self.boxed(a, id), self.boxed(b, id));
        let equal = self.add(Op::Call(Helper::value_equal), Ty::Bool, &[a, b], id);
        match cmp {
            Cmp::Ne => self.add(Op::Not, Ty::Bool, &[equal], id),
            _ => equal,
        }
    }
}

/// Conversions of a type to itself.
fn identity(builtin: Builtin) -> Option<Ty> {
    Some(match builtin {
        Builtin::BoolFromBool => Ty::Bool,
        Builtin::BytesFromBytes => Ty::Bytes,
        Builtin::DoubleFromDouble => Ty::Double,
        Builtin::DurationFromDuration => Ty::Duration,
        Builtin::IntFromInt => Ty::Int,
        Builtin::StringFromString => Ty::Str,
        Builtin::TimestampFromTimestamp => Ty::Timestamp,
        Builtin::UintFromUint => Ty::Uint,
        _ => return None,
    })
}
