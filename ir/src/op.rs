//! The operations of the graph.

use crate::constant::ConstId;
use crate::error::ErrorKind;
use crate::helper::Helper;
use crate::ty::Ty;

/// Comparisons of two operands of one type. Doubles compare as IEEE 754 does (NaN is unequal to everything), text and bytes
/// bytewise, `false` before `true`.
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

/// The errors that [`Op::Coalesce`] goes on after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Catch {
    /// [`ErrorKind::NoSuchKey`]. The last operand's result stands as it is.
    Absence,
    /// All but the final ones. If the last operand is null, the last error is the result.
    Any,
}

impl Catch {
    /// Whether an operand's error of this kind makes the next operand be evaluated.
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
    /// `(range, predicate) -> bool`: false as soon as one is false; else the first error; else true. A final error ends it.
    All,
    /// `(range, predicate) -> bool`: true as soon as one is true; else the first error; else false. A final error ends it.
    Exists,
    /// `(range, predicate) -> bool`: exactly one is true; the first error ends it.
    ExistsOne,
    /// `(range, predicate) -> value`: the list of those that are true.
    Filter,
    /// `(range, transform)` or `(range, predicate, transform) -> value`: a list.
    Map,
    /// As `Map`, but the transform's result is the value under the first variable as key of a map.
    TransformMap,
    /// As `Map`, but the transform gives maps, whose entries are joined.
    TransformMapEntry,
}

/// An operation. Payloads are compile-time data; operands are nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant. With the type [`Ty::Value`] it is the address of the prepared value, else the constant itself.
    Const(ConstId),
    /// The error of this kind, in place of a value of any type.
    Fail(ErrorKind),

    /// A field of the host, in the type of its layout. Fails with [`ErrorKind::NoSuchKey`] if it is optional and absent.
    Field(u32),
    /// Whether an optional field of the host is present.
    HasField(u32),
    /// `-> seq`: the elements of the list that is this field.
    Elements(u32),
    /// `-> maybe`: the header of this name in the header map that is field `field`; several lines of one name are joined
    /// with `,`. Fails with [`ErrorKind::OutOfBudget`] only.
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
    /// `(raw) -> str`: replaces invalid sequences by U+FFFD where there are any; the same bytes where there are none.
    Decode,
    /// `(ip) -> str`: the address as text.
    IpText,

    /// The variable bound at this level by an enclosing `Let` or `Fold`. Levels count from the root inwards.
    Local(u32),
    /// `(init, body)`: evaluates `init` once, before `body`, and binds it at this level; its error surfaces where the
    /// variable is used, or not at all, unless it is [final](ErrorKind::is_final).
    Let(u32),
    /// `(range, ..)`: see [`FoldKind`]. The range is a list or a map (else [`ErrorKind::NoSuchOverload`]). Without `pairs`
    /// the elements (keys, for a map) are bound at `level`; with it index and element (key and value) at `level` and
    /// `level + 1`. All are of type [`Ty::Value`]. Each turn costs one unit of the budget.
    ///
    /// The tests (`All`, `Exists`, `ExistsOne`) without `pairs` also take an [`Elements`](Op::Elements) as their range; the
    /// variable is of the elements' type then.
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
    /// `(bool, bool, ..) -> bool`, two or more: false if any is false, else the first error, else true. Stops at the first
    /// false, and at an error that is [final](ErrorKind::is_final).
    And,
    /// `(bool, bool, ..) -> bool`, two or more: true if any is true, else the first error, else false. Stops at the first
    /// true, and at an error that is [final](ErrorKind::is_final).
    Or,
    /// `(bool, T, T) -> T`: evaluates the condition and one branch.
    Cond,
    /// `(T, T, ..) -> T`, two or more: the first operand that is not null; one that is null, or fails with an error that is
    /// [caught](Catch::catches), is passed over for the next. Of the last operand see [`Catch`].
    Coalesce(Catch),

    /// `(T, T) -> T` of `int`, `uint`, `double`, and `duration` for `Add` and `Sub`. Doubles have no `Rem`.
    Arith(Arith),
    /// `(int) -> int` or `(double) -> double`.
    Neg,
    /// `(T, T) -> bool` of `bool int uint double str bytes duration timestamp`; `Eq` and `Ne` also of a `raw` and a constant
    /// `str` without U+FFFD.
    Cmp(Cmp),
    /// `(str, str) -> bool`; or a `raw` and a constant `str` without U+FFFD.
    StartsWith,
    /// `(str, str) -> bool`; or a `raw` and a constant `str` without U+FFFD.
    EndsWith,
    /// `(str or raw) -> bool`: holds the needle of a [`Constant::Searcher`](crate::Constant::Searcher). The search is
    /// taken from the budget.
    ContainsConst(ConstId),
    /// `(str) -> bool`: matches a [`Constant::Regex`](crate::Constant::Regex) somewhere. The search is taken from the
    /// budget.
    MatchesConst(ConstId),
    /// `(str or raw) -> bool`: is in a [`Constant::StrSet`](crate::Constant::StrSet).
    InStrSet(ConstId),
    /// `(int) -> bool`: is in a [`Constant::IntSet`](crate::Constant::IntSet).
    InIntSet(ConstId),
    /// `(ip) -> bool`: lies in a [`Constant::Cidr`](crate::Constant::Cidr).
    InCidr(ConstId),
    /// `(str) -> bytes`: the same bytes.
    AsBytes,
    /// `(bytes) -> value`: what the helper `json_parse` gives, but with those parts only that a
    /// [`Constant::Projection`](crate::Constant::Projection) names. Fails where that fails.
    Project(ConstId),
    /// `(bytes) -> found`: as [`Project`](Op::Project), where the [`Constant::Projection`](crate::Constant::Projection) is a
    /// single way of keys: follows it as far as it goes.
    Find(ConstId),
    /// `(found) -> found or value`: the step of this number of a way, the first being 0, or the failure that it ends with.
    /// The last step gives the value.
    Reach(u32),

    /// `(T) -> value`.
    Box,
    /// `(value) -> T`, or [`ErrorKind::NoSuchOverload`] when the value is of another type. `T` is one of
    /// `bool int uint double str bytes duration timestamp`.
    Unbox(Ty),
    /// `(value, ..) -> value`: a list of these.
    List,
    /// `(key, value, key, value, ..) -> value`: a map. After all operands are evaluated, [`ErrorKind::NoSuchOverload`] for a
    /// key that is not `int uint bool string`, or [`ErrorKind::DuplicateKey`].
    Map,

    /// A function of the runtime, by its row in the table of helpers.
    Call(Helper),
    /// `(value, ..) -> value`: a function chosen by the types that its operands have at evaluation; the index is of
    /// [`Graph::function`](crate::Graph::function). `pure` is false where equal calls may differ.
    Dispatch {
        /// Which function.
        function: u32,
        /// Whether it may be folded, shared and dropped.
        pure: bool,
    },
}
