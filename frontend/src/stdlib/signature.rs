//! Signatures of functions: parameter types, result type, and the implementation.

use super::Builtin;
use crate::types::Type;
use std::sync::Arc;

/// The implementation of an overload: a row of the standard library, a function of the host, or a
/// function defined in CEL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overload {
    /// Row of the standard library's table.
    Builtin(Builtin),
    /// Index of a host function, in the order of registration.
    Host(u32),
    /// Index of a function defined in CEL. It is the only candidate of its calls, and
    /// [`inline`](crate::inline) replaces these.
    Defined(u32),
}

/// One signature of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// What runs.
    pub overload: Overload,
    /// Whether the first parameter is the receiver: `x.f(y)`.
    pub receiver: bool,
    /// Parameter types, receiver first. May hold [`Type::Param`].
    pub params: Arc<[Type]>,
    /// Result type.
    pub result: Type,
}
