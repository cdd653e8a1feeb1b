//! The evaluation frame: what native code and its helpers share during one call.

use crate::context::Host;
use crate::function::Functions;
use crate::library::Cx;
use crate::lower::Callee;
use crate::value::Value;
use std::cell::Cell;

/// What a compiled function gets beside the context. The offsets of the first three fields are `celero_ir::layout::frame`'s.
#[repr(C)]
pub(crate) struct Frame<'a> {
    pub(super) cx: Cx<'a>,
    pub(super) out: Cell<u64>,
    pub(super) result: Outcome<'a>,
    /// The context, for the helpers.
    pub(super) host: &'a dyn Host,
    pub(super) functions: &'a Functions,
    pub(super) callees: &'a [Callee],
    /// Set when a helper panicked: its answer, and so the evaluation's, is worthless.
    pub(super) panicked: Cell<bool>,
}

/// Where native code leaves a result that is not a truth value; which member is filled, the root's type says. For several
/// rules it is their group.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) union Outcome<'a> {
    pub(super) nothing: (),
    pub(super) value: Value<'a>,
    pub(super) group: Group,
    /// The address of the row of the rule that is evaluated: `celero_ir::layout::row` says where.
    pub(super) row: *const u64,
}

/// What a function of several rules is told and answers: laid out as `celero_ir::layout::group` says.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Group {
    pub(super) matched: u64,
    pub(super) failed: u64,
    pub(super) errors: *mut u64,
    pub(super) stop_on_match: u32,
    pub(super) stop_on_error: u32,
}

/// Two words in the integer result registers.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Pair(pub(super) u64, pub(super) u64);
