//! The table of operations: for each its name, operands, result type and ways to fail. Printer,
//! parser, verifier, passes and compiler read it; nothing else states these facts.

use crate::constant::ConstId;
use crate::error::ErrorKind;
use crate::helper::{Helper, Param};
use crate::op::{Arith, CallForm, Catch, Cmp, FoldKind, Op};
use crate::ty::{Ty, Types};

/// What is known of an operation: a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpDecl {
    /// Name in the text form.
    pub name: &'static str,
    /// What the operands are.
    pub operands: Operands,
    /// The type of the result.
    pub result: ResultType,
    /// When the operation itself fails, its operands having values.
    pub fails: Fails,
    /// Whether it also accepts a `raw` and, as second operand, a constant `str` without U+FFFD.
    pub raw_and_constant: bool,
}

/// The operands of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// These, in order.
    Each(&'static [OperandType]),
    /// At least this many, all of this type.
    Many(usize, Ty),
    /// At least this many, all of the type of the first.
    Alike(usize),
    /// An even number, all of this type.
    Pairs(Ty),
    /// Any number, each of one of these types.
    AnyOf(&'static [Ty]),
    /// The parameters of a helper.
    Params(&'static [Param]),
}

/// One operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandType {
    /// Of this type.
    Is(Ty),
    /// Of one of these types.
    OneOf(&'static [Ty]),
    /// Of any type.
    Any,
    /// Of the type of the operand of this index.
    SameAs(usize),
}

/// The type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// This one.
    Is(Ty),
    /// The type of the operand of this index.
    SameAs(usize),
    /// The type that the node declares; the payload limits which types it may declare.
    Declared,
    /// No result: a helper that only the compiler calls.
    None,
}

/// When an operation fails, its operands having values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// Never.
    Never,
    /// Only with [`ErrorKind::OutOfBudget`].
    OnBudget,
    /// It may fail.
    Maybe,
    /// It may fail unless the operands are doubles.
    UnlessDouble,
    /// When the field is absent, or when reading it exceeds the budget.
    WhenAbsent,
    /// When the variable was bound to an error by a `Let`.
    WhenBoundToError,
}

use OperandType::{Any, Is, OneOf, SameAs};

const SCALARS: &[Ty] = &[Ty::Bool, Ty::Int, Ty::Uint, Ty::Double, Ty::Str, Ty::Bytes, Ty::Duration, Ty::Timestamp];
const VALUES: &[Ty] =
    &[Ty::Bool, Ty::Int, Ty::Uint, Ty::Double, Ty::Str, Ty::Bytes, Ty::Duration, Ty::Timestamp, Ty::Value];
const TEXT: &[Ty] = &[Ty::Str, Ty::Raw];
const TEXT_OR_BYTES: &[Ty] = &[Ty::Str, Ty::Raw, Ty::Bytes];
const KEY: &[OperandType] = &[OneOf(&[Ty::Str, Ty::Int, Ty::Uint, Ty::Bool])];
const LATER: &[OperandType] = &[Is(Ty::Timestamp), Is(Ty::Duration)];
const AFFIX: &[OperandType] = &[OneOf(&[Ty::Str, Ty::Bytes]), SameAs(0)];

const fn row(name: &'static str, operands: &'static [OperandType], result: ResultType, fails: Fails) -> OpDecl {
    OpDecl { name, operands: Operands::Each(operands), result, fails, raw_and_constant: false }
}

impl Op {
    /// The operation's row. The payload matters only for the rows of `Call` and `Unbox`.
    #[must_use]
    pub const fn decl(self) -> OpDecl {
        use Fails::{Maybe, Never, OnBudget, UnlessDouble, WhenAbsent, WhenBoundToError};
        use ResultType::{Declared, Is as Gives, SameAs as Like};
        const BOOL: ResultType = ResultType::Is(Ty::Bool);
        const VALUE: ResultType = ResultType::Is(Ty::Value);
        match self {
            Op::Const(_) => row("const", &[], Declared, Never),
            Op::Fail(_) => row("fail", &[], Declared, Maybe),
            Op::Field(_) => row("field", &[], Declared, WhenAbsent),
            Op::HasField(_) => row("has_field", &[], BOOL, Never),
            Op::Elements(_) => row("elements", &[], Gives(Ty::Seq), WhenAbsent),
            Op::Cursor(_) => row("cursor", &[], Gives(Ty::Cursor), WhenAbsent),
            Op::SeqSize => row("seq_size", &[OneOf(&[Ty::Seq, Ty::Cursor, Ty::Bytes])], Gives(Ty::Int), Never),
            Op::SeqAt => row("seq_at", &[Is(Ty::Seq), Is(Ty::Int)], Declared, Maybe),
            Op::Member { .. } => row("member", &[Is(Ty::Record)], Declared, Never),
            Op::SeqEqual => row("seq_equal", &[Is(Ty::Seq), Is(Ty::Seq)], BOOL, OnBudget),
            Op::SeqHas => row("seq_has", &[OneOf(SCALARS), Is(Ty::Seq)], BOOL, OnBudget),
            Op::Entry(_) => row("entry", KEY, Gives(Ty::Entry), Maybe),
            Op::HasEntry => row("has_entry", &[Is(Ty::Entry)], BOOL, Never),
            Op::EntryValue(_) => row("entry_value", &[Is(Ty::Entry)], Declared, Maybe),
            Op::Header { .. } => row("header", &[], Gives(Ty::Maybe), OnBudget),
            Op::IsPresent => row("is_present", &[Is(Ty::Maybe)], BOOL, Never),
            Op::Require => row("require", &[Is(Ty::Maybe)], Gives(Ty::Raw), Maybe),
            Op::Decode => row("decode", &[Is(Ty::Raw)], Gives(Ty::Str), OnBudget),
            Op::IpText => row("ip_text", &[Is(Ty::Ip)], Gives(Ty::Str), OnBudget),
            Op::Local(_) => row("local", &[], Declared, WhenBoundToError),
            Op::Let(_) => row("let", &[Any, Any], Like(1), Never),
            Op::Fold { kind, filtered, .. } => fold(kind, filtered),
            Op::Not => row("not", &[Is(Ty::Bool)], BOOL, Never),
            Op::And => OpDecl { operands: Operands::Many(2, Ty::Bool), ..row("and", &[], BOOL, Never) },
            Op::Or => OpDecl { operands: Operands::Many(2, Ty::Bool), ..row("or", &[], BOOL, Never) },
            Op::Cond => row("cond", &[Is(Ty::Bool), Any, SameAs(1)], Like(1), Never),
            Op::Coalesce(catch) => {
                let name = match catch {
                    Catch::Absence => "default",
                    Catch::Any => "coalesce",
                };
                OpDecl { operands: Operands::Alike(2), ..row(name, &[], Like(0), Never) }
            }
            Op::Arith(arith) => {
                const SUM: &[OperandType] = &[OneOf(&[Ty::Int, Ty::Uint, Ty::Double, Ty::Duration]), SameAs(0)];
                const PRODUCT: &[OperandType] = &[OneOf(&[Ty::Int, Ty::Uint, Ty::Double]), SameAs(0)];
                const REMAINDER: &[OperandType] = &[OneOf(&[Ty::Int, Ty::Uint]), SameAs(0)];
                match arith {
                    Arith::Add => row("arith.add", SUM, Like(0), UnlessDouble),
                    Arith::Sub => row("arith.sub", SUM, Like(0), UnlessDouble),
                    Arith::Mul => row("arith.mul", PRODUCT, Like(0), UnlessDouble),
                    Arith::Div => row("arith.div", PRODUCT, Like(0), UnlessDouble),
                    Arith::Rem => row("arith.rem", REMAINDER, Like(0), Maybe),
                }
            }
            Op::Neg => row("neg", &[OneOf(&[Ty::Int, Ty::Double])], Like(0), UnlessDouble),
            Op::TimeAdd => row("time.add", LATER, Gives(Ty::Timestamp), Maybe),
            Op::TimeSub => row("time.sub", LATER, Gives(Ty::Timestamp), Maybe),
            Op::TimeSince => row("time.since", &[Is(Ty::Timestamp), Is(Ty::Timestamp)], Gives(Ty::Duration), Maybe),
            Op::Cmp(cmp) => {
                const SAME: &[OperandType] = &[OneOf(SCALARS), SameAs(0)];
                let equality = matches!(cmp, Cmp::Eq | Cmp::Ne);
                OpDecl { raw_and_constant: equality, ..row(cmp_name(cmp), SAME, BOOL, Never) }
            }
            Op::StartsWith => OpDecl { raw_and_constant: true, ..row("starts_with", AFFIX, BOOL, Never) },
            Op::EndsWith => OpDecl { raw_and_constant: true, ..row("ends_with", AFFIX, BOOL, Never) },
            Op::ContainsConst(_) => row("contains_const", &[OneOf(TEXT_OR_BYTES)], BOOL, OnBudget),
            Op::MatchesConst(_) => row("matches_const", &[OneOf(&[Ty::Str, Ty::Bytes])], BOOL, OnBudget),
            Op::WildcardConst(_) => row("wildcard_const", &[OneOf(TEXT_OR_BYTES)], BOOL, OnBudget),
            Op::InStrSet(_) => row("in_str_set", &[OneOf(TEXT_OR_BYTES)], BOOL, Never),
            Op::InIntSet(_) => row("in_int_set", &[Is(Ty::Int)], BOOL, Never),
            Op::InCidr(_) => row("in_cidr", &[Is(Ty::Ip)], BOOL, Never),
            Op::AsBytes => row("as_bytes", &[OneOf(TEXT)], Gives(Ty::Bytes), Never),
            Op::Project(_) => row("project", &[Is(Ty::Bytes)], VALUE, Maybe),
            Op::Find(_) => row("find", &[Is(Ty::Bytes)], Gives(Ty::Found), Maybe),
            Op::Reach(_) => row("reach", &[Is(Ty::Found)], Declared, Maybe),
            Op::Box => row("box", &[OneOf(SCALARS)], VALUE, OnBudget),
            Op::Unbox(ty) => row("unbox", &[Is(Ty::Value)], Gives(ty), Maybe),
            Op::HasTypes(_) => OpDecl { operands: Operands::AnyOf(VALUES), ..row("has_types", &[], BOOL, Never) },
            Op::List => OpDecl { operands: Operands::Many(0, Ty::Value), ..row("list", &[], VALUE, OnBudget) },
            Op::Map => OpDecl { operands: Operands::Pairs(Ty::Value), ..row("map", &[], VALUE, Maybe) },
            Op::Call(helper) => {
                let decl = helper.decl();
                let result = match decl.result {
                    Param::Node(ty) => Gives(ty),
                    Param::Word | Param::Nothing => ResultType::None,
                };
                let fails = if decl.fails { Maybe } else { Never };
                OpDecl { operands: Operands::Params(decl.params), ..row("call", &[], result, fails) }
            }
            Op::Dispatch { .. } => {
                OpDecl { operands: Operands::Many(0, Ty::Value), ..row("dispatch", &[], VALUE, Maybe) }
            }
            Op::Invoke { form, .. } => {
                let fails = if matches!(form, CallForm::Total) { Never } else { Maybe };
                OpDecl { operands: Operands::AnyOf(VALUES), ..row("invoke", &[], Declared, fails) }
            }
        }
    }

    /// One operation of each name, with an arbitrary payload: what the parser reads names with.
    pub const EACH: &'static [Op] = &[
        Op::Const(ConstId(0)),
        Op::Fail(ErrorKind::Host),
        Op::Field(0),
        Op::HasField(0),
        Op::Elements(0),
        Op::Cursor(0),
        Op::SeqSize,
        Op::SeqAt,
        Op::Member { field: 0, member: 0 },
        Op::SeqHas,
        Op::SeqEqual,
        Op::Entry(0),
        Op::HasEntry,
        Op::EntryValue(0),
        Op::Header { field: 0, name: ConstId(0) },
        Op::IsPresent,
        Op::Require,
        Op::Decode,
        Op::IpText,
        Op::Local(0),
        Op::Let(0),
        Op::Fold { kind: FoldKind::All, level: 0, pairs: false, filtered: false },
        Op::Fold { kind: FoldKind::Exists, level: 0, pairs: false, filtered: false },
        Op::Fold { kind: FoldKind::ExistsOne, level: 0, pairs: false, filtered: false },
        Op::Fold { kind: FoldKind::Count, level: 0, pairs: false, filtered: false },
        Op::Fold { kind: FoldKind::Filter, level: 0, pairs: false, filtered: false },
        Op::Fold { kind: FoldKind::Map, level: 0, pairs: false, filtered: false },
        Op::Fold { kind: FoldKind::TransformMap, level: 0, pairs: false, filtered: false },
        Op::Fold { kind: FoldKind::TransformMapEntry, level: 0, pairs: false, filtered: false },
        Op::Not,
        Op::And,
        Op::Or,
        Op::Cond,
        Op::Coalesce(Catch::Absence),
        Op::Coalesce(Catch::Any),
        Op::Arith(Arith::Add),
        Op::Arith(Arith::Sub),
        Op::Arith(Arith::Mul),
        Op::Arith(Arith::Div),
        Op::Arith(Arith::Rem),
        Op::Neg,
        Op::TimeAdd,
        Op::TimeSub,
        Op::TimeSince,
        Op::Cmp(Cmp::Eq),
        Op::Cmp(Cmp::Ne),
        Op::Cmp(Cmp::Lt),
        Op::Cmp(Cmp::Le),
        Op::Cmp(Cmp::Gt),
        Op::Cmp(Cmp::Ge),
        Op::StartsWith,
        Op::EndsWith,
        Op::ContainsConst(ConstId(0)),
        Op::MatchesConst(ConstId(0)),
        Op::WildcardConst(ConstId(0)),
        Op::InStrSet(ConstId(0)),
        Op::InIntSet(ConstId(0)),
        Op::InCidr(ConstId(0)),
        Op::AsBytes,
        Op::Project(ConstId(0)),
        Op::Find(ConstId(0)),
        Op::Reach(0),
        Op::Box,
        Op::Unbox(Ty::Bool),
        Op::HasTypes(Types::ANY),
        Op::List,
        Op::Map,
        Op::Call(Helper::size),
        Op::Dispatch { function: 0, pure: true },
        Op::Invoke { function: 0, form: CallForm::Total },
    ];

    /// The constant in the payload.
    #[must_use]
    pub const fn constant(self) -> Option<ConstId> {
        match self {
            Op::Const(id)
            | Op::Header { name: id, .. }
            | Op::ContainsConst(id)
            | Op::MatchesConst(id)
            | Op::WildcardConst(id)
            | Op::InStrSet(id)
            | Op::InIntSet(id)
            | Op::InCidr(id)
            | Op::Project(id)
            | Op::Find(id) => Some(id),
            _ => None,
        }
    }

    /// The same operation with another constant in the payload; unchanged if its payload has none.
    #[must_use]
    pub const fn with_constant(self, id: ConstId) -> Op {
        match self {
            Op::Const(_) => Op::Const(id),
            Op::Header { field, .. } => Op::Header { field, name: id },
            Op::ContainsConst(_) => Op::ContainsConst(id),
            Op::MatchesConst(_) => Op::MatchesConst(id),
            Op::WildcardConst(_) => Op::WildcardConst(id),
            Op::InStrSet(_) => Op::InStrSet(id),
            Op::InIntSet(_) => Op::InIntSet(id),
            Op::InCidr(_) => Op::InCidr(id),
            Op::Project(_) => Op::Project(id),
            Op::Find(_) => Op::Find(id),
            other => other,
        }
    }

    /// Whether equal evaluations return equal results, so that nodes may be folded, shared and dropped.
    #[must_use]
    pub const fn is_pure(self) -> bool {
        !matches!(self, Op::Dispatch { pure: false, .. } | Op::Invoke { form: CallForm::Impure, .. })
    }

    /// The function of the graph in the payload.
    #[must_use]
    pub const fn function(self) -> Option<u32> {
        match self {
            Op::Dispatch { function, .. } | Op::Invoke { function, .. } => Some(function),
            _ => None,
        }
    }

    /// The same operation with another function in the payload; unchanged if its payload has none.
    #[must_use]
    pub const fn with_function(self, function: u32) -> Op {
        match self {
            Op::Dispatch { pure, .. } => Op::Dispatch { function, pure },
            Op::Invoke { form, .. } => Op::Invoke { function, form },
            other => other,
        }
    }

    /// Whether the operation can fail with anything but [`ErrorKind::OutOfBudget`] when its
    /// operands have values. Assumes the worst of the host's fields.
    #[must_use]
    pub fn fails_within_budget(self, ty: Ty) -> bool {
        match self.decl().fails {
            Fails::Never | Fails::OnBudget => false,
            Fails::UnlessDouble => ty != Ty::Double,
            Fails::Maybe | Fails::WhenAbsent | Fails::WhenBoundToError => true,
        }
    }

    /// Whether an error of the operation itself names its place: it can fail with another error than
    /// [`ErrorKind::OutOfBudget`], which has no place, and the error is its own, not that of a variable.
    pub(crate) fn has_place(self, ty: Ty) -> bool {
        self.fails_within_budget(ty) && self.decl().fails != Fails::WhenBoundToError
    }

    /// The variables that it binds: level of the first, their number, and the index of the first
    /// operand that can use them.
    #[must_use]
    pub const fn binds(self) -> Option<(u32, u32, usize)> {
        match self {
            Op::Let(level) => Some((level, 1, 1)),
            Op::Fold { level, pairs, .. } => Some((level, if pairs { 2 } else { 1 }, 1)),
            _ => None,
        }
    }
}

const fn cmp_name(cmp: Cmp) -> &'static str {
    match cmp {
        Cmp::Eq => "cmp.eq",
        Cmp::Ne => "cmp.ne",
        Cmp::Lt => "cmp.lt",
        Cmp::Le => "cmp.le",
        Cmp::Gt => "cmp.gt",
        Cmp::Ge => "cmp.ge",
    }
}

const fn fold(kind: FoldKind, filtered: bool) -> OpDecl {
    const RANGE: OperandType = OneOf(&[Ty::Value, Ty::Seq, Ty::Cursor]);
    const TEST: &[OperandType] = &[RANGE, Is(Ty::Bool)];
    const TRANSFORM: &[OperandType] = &[RANGE, Is(Ty::Value)];
    const FILTERED: &[OperandType] = &[RANGE, Is(Ty::Bool), Is(Ty::Value)];
    let transform = if filtered { FILTERED } else { TRANSFORM };
    let (name, operands, ty) = match kind {
        FoldKind::All => ("fold.all", TEST, Ty::Bool),
        FoldKind::Exists => ("fold.exists", TEST, Ty::Bool),
        FoldKind::ExistsOne => ("fold.exists_one", TEST, Ty::Bool),
        FoldKind::Count => ("fold.count", TEST, Ty::Int),
        FoldKind::Filter => ("fold.filter", TEST, Ty::Value),
        FoldKind::Map => ("fold.map", transform, Ty::Value),
        FoldKind::TransformMap => ("fold.transform_map", transform, Ty::Value),
        FoldKind::TransformMapEntry => ("fold.transform_map_entry", transform, Ty::Value),
    };
    row(name, operands, ResultType::Is(ty), Fails::Maybe)
}
