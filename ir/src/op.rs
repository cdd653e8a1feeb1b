//! The operations of the graph.
//!
//! Invariant: a spent budget is final. Operations that absorb errors (`And`, `Or`, `Coalesce`, `Let`, folds) pass that
//! error on. Test: `jit/tests/native/coalesce.rs::spent_budget_ends_whatever_absorbs_errors`.
//!
//! # How to add an operation
//!
//! 1. Here: a variant of [`Op`] whose documentation states operands, result and errors; the
//!    verifier checks what it says. If a call of a function of the runtime is enough, add a helper
//!    instead (`helper.rs`), and nothing else of this list.
//! 2. `table.rs`: its row and its place in [`Op::EACH`]. Printer, parser, verifier and the
//!    compiler's failure analysis follow. A payload also needs an arm in `print.rs` and `parse.rs`,
//!    a constant one in `Op::constant` and `Op::with_constant`.
//! 3. `verify.rs`: what the table cannot say of its payload.
//! 4. an arm of `Emitter::compute` in `jit/src/emit/mod.rs`; `plan::ends` if it can exhaust the budget.
//! 5. `passes/scalar.rs`: its value for constants, if it works on scalars.
//! 6. Tests: a line in `ALL_OPS` of `ir/tests/ir/common.rs`, an arm of the generator in
//!    `ir/tests/ir/generate.rs`, and a test of the code in `jit/tests/native/`.
//!
//! The compiler reports every missing arm: no `match` on [`Op`] that has to know it has a wildcard,
//! except where operations without a payload are meant.

use crate::constant::ConstId;
use crate::error::ErrorKind;
use crate::helper::Helper;
use crate::ty::{Ty, Types};

/// Comparisons of two operands of one type. Doubles compare as IEEE 754 does (NaN is unequal to
/// everything), text and bytes bytewise, `false` before `true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Arithmetic of two operands of one type. On integers and durations a result out of range is the error
/// [`ErrorKind::Overflow`], division by zero [`ErrorKind::DivideByZero`], remainder [`ErrorKind::ModulusByZero`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// The errors after which [`Op::Coalesce`] evaluates its next operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Catch {
    /// [`ErrorKind::NoSuchKey`]. The last operand's value or error is the result.
    Absence,
    /// All errors that are not final. If the last operand is null, the last error is the result.
    Any,
}

impl Catch {
    /// Whether the next operand is evaluated after an error of this kind.
    #[must_use]
    pub const fn catches(self, kind: ErrorKind) -> bool {
        match self {
            Self::Absence => matches!(kind, ErrorKind::NoSuchKey),
            Self::Any => !kind.is_final(),
        }
    }
}

/// Comprehensions. The last operands are the filter (where the kind has one) and the transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoldKind {
    /// `(range, predicate) -> bool`: false as soon as one is false; else the first error; else
    /// true. A final error ends it.
    All,
    /// `(range, predicate) -> bool`: true as soon as one is true; else the first error; else false.
    /// A final error ends it.
    Exists,
    /// `(range, predicate) -> bool`: exactly one is true; the first error ends it.
    ExistsOne,
    /// `(range, predicate) -> int`: how many are true; the first error ends it.
    Count,
    /// `(range, predicate) -> value`: the list of those that are true.
    Filter,
    /// `(range, transform)` or `(range, predicate, transform) -> value`: a list.
    Map,
    /// As `Map`, but the transform's result is the value under the first variable as key of a map.
    TransformMap,
    /// As `Map`, but the transform gives maps, whose entries are joined.
    TransformMapEntry,
}

/// What an [`Op::Invoke`] needs, and how it can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallForm {
    /// It needs its operands only, and cannot fail.
    Total,
    /// It needs its operands only, and may fail with an error that is not [final](ErrorKind::is_final).
    Partial,
    /// It needs the evaluation frame, and may fail.
    Framed,
    /// As `Framed`; equal calls may return different results.
    Impure,
}

impl CallForm {
    /// All forms, in the order of their declaration.
    pub const ALL: [CallForm; 4] = [CallForm::Total, CallForm::Partial, CallForm::Framed, CallForm::Impure];

    /// The name in the text form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Partial => "partial",
            Self::Framed => "framed",
            Self::Impure => "impure",
        }
    }

    /// Whether the function gets the evaluation frame.
    #[must_use]
    pub const fn needs_frame(self) -> bool {
        matches!(self, Self::Framed | Self::Impure)
    }
}

/// An operation. Payloads are data that is known at compile time; operands are nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant. With the type [`Ty::Value`] it is the address of the prepared value, else the constant itself.
    Const(ConstId),
    /// Fails with this kind; of any type.
    Fail(ErrorKind),

    /// A field of the host, of the type that its layout says. Fails with [`ErrorKind::NoSuchKey`]
    /// if it is optional and absent.
    Field(u32),
    /// Whether an optional field of the host is present.
    HasField(u32),
    /// `-> seq`: the elements of the list that is this field. Fails with [`ErrorKind::NoSuchKey`]
    /// if it is optional and absent.
    Elements(u32),
    /// `-> cursor`: the list, the map or the set that is this field, for loops over what is not
    /// contiguous. Fails with [`ErrorKind::NoSuchKey`] if it is optional and absent.
    Cursor(u32),
    /// `(seq, cursor or bytes) -> int`: the number of elements, entries or bytes.
    SeqSize,
    /// `(seq, int) -> T`: the element at this index, of the elements' type;
    /// [`ErrorKind::InvalidArgument`] if there is none.
    SeqAt,
    /// `(record) -> T`: a member of an element of the list that is field `field`. The operand is
    /// the variable of a fold over these elements, or [`SeqAt`](Self::SeqAt) of them.
    Member {
        /// The field that is the list.
        field: u32,
        /// The number of the member in [`Elements::members`](crate::layout::Elements::members).
        member: u32,
    },
    /// `(T, seq) -> bool`: an element equals the value, which is of the elements' type. Equality is
    /// that of [`Cmp::Eq`]. Each element that is visited costs one unit of the budget.
    SeqHas,
    /// `(seq, seq) -> bool`: the elements, which are of one type, are as many and equal one by one,
    /// as [`Cmp::Eq`] says. Each element that is visited costs one unit of the budget.
    SeqEqual,
    /// `(key) -> entry`: looks a key of the type that its layout says up in the map or the set that
    /// is this field. Fails if the host does, and with [`ErrorKind::NoSuchKey`] if the field is
    /// optional and absent.
    Entry(u32),
    /// `(entry) -> bool`: whether there is one.
    HasEntry,
    /// `(entry) -> T`: the value of an entry of the map that is this field, of the type that its
    /// layout says; without an entry, [`ErrorKind::NoSuchKey`]. The operand is the
    /// [`Entry`](Op::Entry) itself.
    EntryValue(u32),
    /// `-> maybe`: the header of this name in the header map that is field `field`; several lines
    /// of one name are joined with `,`. Fails with [`ErrorKind::OutOfBudget`] only.
    Header {
        /// The field that holds the header map.
        field: u32,
        /// A [`Constant::HeaderName`](crate::Constant::HeaderName).
        name: ConstId,
    },
    /// `(maybe) -> bool`
    IsPresent,
    /// `(maybe) -> raw`, or [`ErrorKind::NoSuchKey`].
    Require,
    /// `(raw) -> str`: the text, with U+FFFD in place of invalid sequences.
    Decode,
    /// `(ip) -> str`: the address as text.
    IpText,

    /// The variable bound at this level by an enclosing `Let` or `Fold`. Levels count from the root inwards.
    Local(u32),
    /// `(init, body)`: evaluates `init` once, before `body`, and binds it at this level; its error surfaces where the
    /// variable is used (so not at all if it is not used), unless it is [final](ErrorKind::is_final).
    Let(u32),
    /// `(range, ..)`: see [`FoldKind`]. The range is a list or a map (else
    /// [`ErrorKind::NoSuchOverload`]). Without `pairs` the elements (keys, for a map) are bound at
    /// `level`; with it index and element (key and value) at `level` and `level + 1`. All are of
    /// type [`Ty::Value`]. Each iteration costs one unit of the budget, and with `pairs` another
    /// one before the first iteration.
    ///
    /// The range may also be an [`Elements`](Op::Elements) or a [`Cursor`](Op::Cursor); elements,
    /// keys and values are of the types that the layout says then, and an index is an `int`.
    /// `Filter` takes no [`Ty::Record`]s, which are no values.
    Fold {
        /// What is computed.
        kind: FoldKind,
        /// The level of the first variable.
        level: u32,
        /// Whether there are two variables.
        pairs: bool,
        /// Whether a filter stands before the transform (`Map` and its kin only).
        filtered: bool,
    },

    /// `(bool) -> bool`
    Not,
    /// `(bool, bool, ..) -> bool`, two or more: false if any is false, else the first error, else
    /// true. Stops at the first false, and at an error that is [final](ErrorKind::is_final).
    And,
    /// `(bool, bool, ..) -> bool`, two or more: true if any is true, else the first error, else
    /// false. Stops at the first true, and at an error that is [final](ErrorKind::is_final).
    Or,
    /// `(bool, T, T) -> T`: evaluates the condition and one branch.
    Cond,
    /// `(T, T, ..) -> T`, two or more: the first operand that is not null; one that is null, or
    /// fails with an error that is [caught](Catch::catches), is skipped. For the last operand see
    /// [`Catch`].
    Coalesce(Catch),

    /// `(T, T) -> T` of `int`, `uint`, `double`, and `duration` for `Add` and `Sub`. Doubles have no `Rem`.
    Arith(Arith),
    /// `(int) -> int` or `(double) -> double`.
    Neg,
    /// `(timestamp, duration) -> timestamp`: the time that much later; outside
    /// [`TIMESTAMP_SECONDS`](crate::TIMESTAMP_SECONDS), or if the nanoseconds of both have a sum of
    /// more than 64 bits, [`ErrorKind::Overflow`].
    TimeAdd,
    /// `(timestamp, duration) -> timestamp`: the time that much earlier; fails as [`TimeAdd`](Self::TimeAdd).
    TimeSub,
    /// `(timestamp, timestamp) -> duration`: from the second to the first, or [`ErrorKind::Overflow`].
    TimeSince,
    /// `(T, T) -> bool` of `bool int uint double str bytes duration timestamp`; `Eq` and `Ne` also
    /// of a `raw` and a constant `str` without U+FFFD.
    Cmp(Cmp),
    /// `(T, T) -> bool` of `str bytes`; or a `raw` and a constant `str` without U+FFFD.
    StartsWith,
    /// `(T, T) -> bool` of `str bytes`; or a `raw` and a constant `str` without U+FFFD.
    EndsWith,
    /// `(str, bytes or raw) -> bool`: holds the needle of a
    /// [`Constant::Searcher`](crate::Constant::Searcher). The search is taken from the budget.
    ContainsConst(ConstId),
    /// `(str) -> bool`: matches a [`Constant::Regex`](crate::Constant::Regex) somewhere; or `(bytes) -> bool` with a
    /// [`Constant::ByteRegex`](crate::Constant::ByteRegex). The search is taken from the budget. Raw text has its
    /// [bytes](Op::AsBytes) searched: a pattern tells them from those of decoded text.
    MatchesConst(ConstId),
    /// `(str, bytes or raw) -> bool`: a [`Constant::Wildcard`](crate::Constant::Wildcard) matches
    /// the whole. The match is taken from the budget.
    WildcardConst(ConstId),
    /// `(str, bytes or raw) -> bool`: is in a [`Constant::StrSet`](crate::Constant::StrSet).
    InStrSet(ConstId),
    /// `(int) -> bool`: is in a [`Constant::IntSet`](crate::Constant::IntSet).
    InIntSet(ConstId),
    /// `(ip) -> bool`: is in a [`Constant::Cidr`](crate::Constant::Cidr).
    InCidr(ConstId),
    /// `(str or raw) -> bytes`: the same bytes; those of a `raw` as the host has them, which are not those of its
    /// [decoded](Op::Decode) text where they are not UTF-8.
    AsBytes,
    /// `(bytes) -> value`: what the helper `json_parse` gives, but with those parts only that a
    /// [`Constant::Projection`](crate::Constant::Projection) names. Fails where that fails.
    Project(ConstId),
    /// `(bytes) -> found`: as [`Project`](Op::Project), where the
    /// [`Constant::Projection`](crate::Constant::Projection) is a path of keys to a single part:
    /// follows it as far as possible.
    Find(ConstId),
    /// `(found) -> found or value`: the step of this number on a path of keys, from 0. It fails if
    /// the path ended in a failure at this step. The last step has the value.
    Reach(u32),

    /// `(T) -> value`.
    Box,
    /// `(value) -> T`, or [`ErrorKind::NoSuchOverload`] when the value is of another type. `T` is one of
    /// `bool int uint double str bytes duration timestamp`.
    Unbox(Ty),
    /// `(T or value, ..) -> bool`, at most [`Types::MAX`] operands: whether each operand is of the type in its place,
    /// so that [`Unbox`](Op::Unbox) would not fail. All operands are evaluated before the first is looked at.
    HasTypes(Types),
    /// `(value, ..) -> value`: a list of these.
    List,
    /// `(key, value, key, value, ..) -> value`: a map. After all operands are evaluated,
    /// [`ErrorKind::NoSuchOverload`] for a key that is not `int uint bool string`, or
    /// [`ErrorKind::DuplicateKey`].
    Map,

    /// Calls a function of the runtime: a row of the table of helpers.
    Call(Helper),
    /// `(value, ..) -> value`: calls a function whose overload is chosen by the operands' types at evaluation.
    Dispatch {
        /// The index from [`Graph::function`](crate::Graph::function).
        function: u32,
        /// Whether equal calls return equal results, so that calls may be folded, shared and dropped.
        pure: bool,
    },
    /// `(T, ..) -> T`: calls a function of the runtime with operands and a result of the types that
    /// it has: scalars and values.
    Invoke {
        /// The index from [`Graph::function`](crate::Graph::function).
        function: u32,
        /// What the call needs. With the form [`Partial`](CallForm::Partial) or
        /// [`Total`](CallForm::Total) the result is one word or text.
        form: CallForm,
    },
}
