//! The evaluation frame: what native code and its helpers share during one call.

use crate::context::Host;
use crate::function::Functions;
use crate::library::Cx;
use crate::lower::Callee;
use crate::value::Value;
use std::cell::Cell;
use std::ops::Deref;

/// What a compiled function gets beside the context, if its result is a truth value and it asks neither the host nor functions
/// of no fixed type. Where `fuel` of the first field and the second lie, `celero_ir::layout::frame` says.
#[repr(C)]
pub(crate) struct Base<'a> {
    pub(super) cx: Cx<'a>,
    pub(super) out: Cell<u64>,
    /// Set when a helper panicked: its answer, and so the evaluation's, is worthless.
    pub(super) panicked: Cell<bool>,
}

impl<'a> Base<'a> {
    #[inline]
    pub(super) fn new(cx: Cx<'a>) -> Self {
        Self { cx, out: Cell::new(0), panicked: Cell::new(false) }
    }
}

/// What any compiled function gets. Where the result lies, `celero_ir::layout::frame` says.
#[repr(C)]
pub(crate) struct Frame<'a> {
    pub(super) base: Base<'a>,
    pub(super) result: Outcome<'a>,
    /// The context, for the helpers.
    pub(super) host: &'a dyn Host,
    pub(super) functions: &'a Functions,
    pub(super) callees: &'a [Callee],
}

impl<'a> Deref for Frame<'a> {
    type Target = Base<'a>;

    #[inline]
    fn deref(&self) -> &Base<'a> {
        &self.base
    }
}

impl<'a> Frame<'a> {
    /// A word of the result, of which there are two at most.
    ///
    /// # Safety
    /// Native code has left as many there.
    #[inline]
    pub(super) unsafe fn word(&self, number: usize) -> u64 {
        // Volatile, so that the words are read as they were written, one by one: a load of both waits for the stores.
        //
        // SAFETY: the contract; the outcome has room for four.
        unsafe { (&raw const self.result).cast::<u64>().add(number).read_volatile() }
    }

    /// The result as bytes.
    ///
    /// # Safety
    /// Native code has left the two words of a node that is text or bytes: they outlive the evaluation's borrow `'a`.
    #[inline]
    pub(super) unsafe fn bytes(&self) -> &'a [u8] {
        // SAFETY: the contract.
        unsafe { std::slice::from_raw_parts(self.word(0) as *const u8, usize::try_from(self.word(1)).unwrap_or(0)) }
    }
}

/// Where native code leaves a result that is not a truth value; which member is filled, the root's type says. For several
/// rules it is their group.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) union Outcome<'a> {
    pub(super) nothing: (),
    pub(super) value: Value<'a>,
    pub(super) group: Group,
    /// The address of the row of the rule that is evaluated: `celero_ir::layout::parameter_row` says where.
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
