//! A naive evaluator of graphs, written from the documentation of the operations alone: what passes are tested against.

use celero_ir::{Arith, Catch, Cmp, Constant, ErrorKind, Graph, Helper, NodeId, Op, Ty, Wildcard};
use std::cmp::Ordering;
use std::collections::HashMap;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Val {
    Constant(Constant),
    Raw(Vec<u8>),
    Maybe(Option<Vec<u8>>),
}

pub(crate) type Answer = Result<Val, ErrorKind>;

/// The host's fields, by number; header 12 is what `maybe` headers give.
pub(crate) type Host = HashMap<u32, Answer>;

/// The value of a root.
pub(crate) fn evaluate(graph: &Graph, root: NodeId, host: &Host) -> Answer {
    let mut machine = Machine { graph, host, locals: Vec::new(), known: HashMap::new() };
    machine.value(root)
}

struct Machine<'m> {
    graph: &'m Graph,
    host: &'m Host,
    locals: Vec<(u32, Answer)>,
    /// Of closed nodes.
    known: HashMap<NodeId, Answer>,
}

fn truth(value: bool) -> Answer {
    Ok(Val::Constant(Constant::Bool(value)))
}

impl Machine<'_> {
    fn value(&mut self, id: NodeId) -> Answer {
        if let (Some(known), true) = (self.known.get(&id), self.locals.is_empty()) {
            return known.clone();
        }
        let answer = self.compute(id);
        if self.locals.is_empty() {
            self.known.insert(id, answer.clone());
        }
        answer
    }

    fn is_true(&mut self, id: NodeId) -> Result<bool, ErrorKind> {
        match self.value(id)? {
            Val::Constant(Constant::Bool(value)) => Ok(value),
            other => panic!("{id} is {other:?}, not a bool"),
        }
    }

    fn compute(&mut self, id: NodeId) -> Answer {
        let args = self.graph.args(id);
        match self.graph.op(id) {
            Op::Const(constant) => Ok(Val::Constant(self.graph.constant_at(constant).unwrap().clone())),
            Op::Fail(kind) => Err(kind),
            Op::Field(field) => self.host[&field].clone(),
            Op::Header { field, .. } => self.host[&field].clone(),
            Op::Local(level) => {
                self.locals.iter().rev().find(|(bound, _)| *bound == level).expect("a bound variable").1.clone()
            }
            Op::Let(level) => {
                let init = self.value(args[0]);
                if init == Err(ErrorKind::OutOfBudget) {
                    return init;
                }
                self.locals.push((level, init));
                let body = self.value(args[1]);
                self.locals.pop();
                body
            }
            op @ (Op::And | Op::Or) => {
                let mut error = None;
                for &arg in args {
                    match self.is_true(arg) {
                        Ok(value) if value == (op == Op::Or) => return truth(value),
                        Ok(_) => {}
                        Err(ErrorKind::OutOfBudget) => return Err(ErrorKind::OutOfBudget),
                        Err(kind) => error = error.or(Some(kind)),
                    }
                }
                error.map_or(truth(op == Op::And), Err)
            }
            Op::Cond => {
                let branch = if self.is_true(args[0])? { args[1] } else { args[2] };
                self.value(branch)
            }
            Op::Coalesce(Catch::Absence) => {
                let (last, before) = args.split_last().unwrap();
                for &arg in before {
                    match self.value(arg) {
                        Ok(Val::Constant(Constant::Null)) | Err(ErrorKind::NoSuchKey) => {}
                        answer => return answer,
                    }
                }
                self.value(*last)
            }
            Op::Coalesce(Catch::Any) => {
                let mut result = Ok(Val::Constant(Constant::Null));
                for &arg in args {
                    match self.value(arg) {
                        Ok(Val::Constant(Constant::Null)) => {}
                        Err(kind) if kind != ErrorKind::OutOfBudget => result = Err(kind),
                        answer => return answer,
                    }
                }
                result
            }
            op => {
                let mut operands = Vec::new();
                for &arg in args {
                    operands.push(self.value(arg)?);
                }
                let payload = op.constant().and_then(|id| self.graph.constant_at(id));
                apply(op, self.graph.ty(id), &operands, payload)
            }
        }
    }
}

/// Whether a wildcard pattern matches, by trying all places.
pub(crate) fn wildcard_matches(wildcard: &Wildcard, bytes: &[u8]) -> bool {
    fn all(pieces: &[std::sync::Arc<[u8]>], bytes: &[u8]) -> bool {
        match pieces {
            [] => bytes.is_empty(),
            [only] => bytes == &**only,
            [first, rest @ ..] => bytes
                .strip_prefix(&**first)
                .is_some_and(|after| (0..=after.len()).any(|skipped| all(rest, &after[skipped..]))),
        }
    }
    all(&wildcard.pieces, &if wildcard.strict { bytes.to_vec() } else { bytes.to_ascii_lowercase() })
}

fn apply(op: Op, ty: Ty, operands: &[Val], payload: Option<&Constant>) -> Answer {
    use Constant::{Bool, Bytes, Double, Duration, Int, List, Str, Uint};
    let bytes = |value: &Val| match value {
        Val::Constant(Str(text)) => text.as_bytes().to_vec(),
        Val::Constant(Bytes(bytes)) => bytes.to_vec(),
        Val::Raw(bytes) => bytes.clone(),
        other => panic!("{other:?} is no text"),
    };
    match (op, operands) {
        (Op::IsPresent, [Val::Maybe(value)]) => truth(value.is_some()),
        (Op::Require, [Val::Maybe(value)]) => value.clone().map(Val::Raw).ok_or(ErrorKind::NoSuchKey),
        (Op::Decode, [Val::Raw(bytes)]) => Ok(Val::Constant(Str(String::from_utf8_lossy(bytes).into()))),
        (Op::Not, [Val::Constant(Bool(value))]) => truth(!value),
        (Op::StartsWith, [text, start]) => truth(bytes(text).starts_with(&bytes(start))),
        (Op::EndsWith, [text, end]) => truth(bytes(text).ends_with(&bytes(end))),
        (Op::ContainsConst(_), [text]) => {
            let Some(Constant::Searcher(needle)) = payload else { panic!("{payload:?}") };
            let text = bytes(text);
            truth(needle.is_empty() || text.windows(needle.len()).any(|window| window == &**needle))
        }
        (Op::WildcardConst(_), [text]) => {
            let Some(Constant::Wildcard(wildcard)) = payload else { panic!("{payload:?}") };
            truth(wildcard_matches(wildcard, &bytes(text)))
        }
        (Op::InStrSet(_), [text]) => {
            let Some(Constant::StrSet(set)) = payload else { panic!("{payload:?}") };
            truth(set.iter().any(|member| **member == *bytes(text)))
        }
        (Op::InIntSet(_), [Val::Constant(Int(number))]) => {
            let Some(Constant::IntSet(set)) = payload else { panic!("{payload:?}") };
            truth(set.contains(number))
        }
        (Op::Cmp(cmp), [a, b]) if matches!(a, Val::Raw(_)) => truth((bytes(a) == bytes(b)) == (cmp == Cmp::Eq)),
        (Op::Call(Helper::in_container), [Val::Constant(item), Val::Constant(List(items))]) => {
            truth(items.iter().any(|other| other == item))
        }
        (Op::AsBytes, [text]) => Ok(Val::Constant(Bytes(bytes(text).into()))),
        (Op::Box, [value]) => Ok(value.clone()),
        (Op::HasTypes(types), values) => {
            let is = |(ty, value): (Ty, &Val)| match value {
                Val::Constant(value) => ty == Ty::Value || value.ty() == Some(ty),
                _ => panic!("{value:?}"),
            };
            truth(types.iter().zip(values).all(is))
        }
        (Op::Unbox(ty), [Val::Constant(value)]) => {
            if value.ty() == Some(ty) {
                Ok(operands[0].clone())
            } else {
                Err(ErrorKind::NoSuchOverload)
            }
        }
        (Op::Neg, [Val::Constant(Double(bits))]) => number(-f64::from_bits(*bits)),
        (Op::Neg, [Val::Constant(Int(value))]) => integer(ty, -i128::from(*value)),
        (Op::Cmp(cmp), [Val::Constant(a), Val::Constant(b)]) => {
            let order = match (a, b) {
                (Double(a), Double(b)) => f64::from_bits(*a).partial_cmp(&f64::from_bits(*b)),
                (Bool(a), Bool(b)) => a.partial_cmp(b),
                (Int(a), Int(b)) | (Duration(a), Duration(b)) => a.partial_cmp(b),
                (Uint(a), Uint(b)) => a.partial_cmp(b),
                (Str(a), Str(b)) => a.as_bytes().partial_cmp(b.as_bytes()),
                (Bytes(a), Bytes(b)) => a.partial_cmp(b),
                (Constant::Timestamp(a, m), Constant::Timestamp(b, n)) => (a, m).partial_cmp(&(b, n)),
                _ => panic!("{a:?} and {b:?} are not compared"),
            };
            truth(match cmp {
                Cmp::Eq => order == Some(Ordering::Equal),
                Cmp::Ne => order != Some(Ordering::Equal),
                Cmp::Lt => order == Some(Ordering::Less),
                Cmp::Gt => order == Some(Ordering::Greater),
                Cmp::Le => order.is_some_and(Ordering::is_le),
                Cmp::Ge => order.is_some_and(Ordering::is_ge),
            })
        }
        (Op::SeqSize, [Val::Constant(Bytes(bytes))]) => integer(ty, bytes.len() as i128),
        (
            Op::TimeAdd | Op::TimeSub,
            [Val::Constant(Constant::Timestamp(seconds, nanos)), Val::Constant(Duration(span))],
        ) => {
            let span = i128::from(*span) * if op == Op::TimeSub { -1 } else { 1 };
            let (more, nanos) = ((i128::from(*nanos) + span).div_euclid(1_000_000_000), i128::from(*nanos) + span);
            let seconds = i128::from(*seconds) + more;
            // From the year 1 to the year 9999.
            if !(-62_135_596_800..=253_402_300_799).contains(&seconds) {
                return Err(ErrorKind::Overflow);
            }
            Ok(Val::Constant(Constant::Timestamp(seconds as i64, nanos.rem_euclid(1_000_000_000) as u32)))
        }
        (Op::TimeSince, [Val::Constant(Constant::Timestamp(a, m)), Val::Constant(Constant::Timestamp(b, n))]) => {
            let seconds = i128::from(*a) - i128::from(*b);
            integer(ty, seconds * 1_000_000_000 + i128::from(*m) - i128::from(*n))
        }
        (Op::Arith(arith), [Val::Constant(Double(a)), Val::Constant(Double(b))]) => {
            let (a, b) = (f64::from_bits(*a), f64::from_bits(*b));
            number(match arith {
                Arith::Add => a + b,
                Arith::Sub => a - b,
                Arith::Mul => a * b,
                Arith::Div => a / b,
                Arith::Rem => panic!("doubles have no remainder"),
            })
        }
        (Op::Arith(arith), [a, b]) => {
            let wide = |value: &Val| match value {
                Val::Constant(Int(value) | Duration(value)) => i128::from(*value),
                Val::Constant(Uint(value)) => i128::from(*value),
                other => panic!("{other:?} is no number"),
            };
            let (a, b) = (wide(a), wide(b));
            match arith {
                Arith::Add => integer(ty, a + b),
                Arith::Sub => integer(ty, a - b),
                // Two of 64 bits each fit, but for the product of the largest unsigned ones.
                Arith::Mul => integer(ty, a.saturating_mul(b)),
                Arith::Div if b == 0 => Err(ErrorKind::DivideByZero),
                Arith::Rem if b == 0 => Err(ErrorKind::ModulusByZero),
                Arith::Div => integer(ty, a / b),
                Arith::Rem => integer(ty, a % b),
            }
        }
        _ => panic!("{op:?} of {operands:?} is not covered"),
    }
}

fn number(value: f64) -> Answer {
    Ok(Val::Constant(Constant::Double(if value.is_nan() { f64::NAN } else { value }.to_bits())))
}

fn integer(ty: Ty, value: i128) -> Answer {
    let constant = match ty {
        Ty::Uint => u64::try_from(value).map(Constant::Uint),
        Ty::Duration => i64::try_from(value).map(Constant::Duration),
        _ => i64::try_from(value).map(Constant::Int),
    };
    constant.map(Val::Constant).map_err(|_| ErrorKind::Overflow)
}
