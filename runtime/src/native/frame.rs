//! The evaluation frame: what compiled code and its helpers share during one call.
//!
//! Compiled code addresses the members by the offsets in `celero_ir::layout::frame`; `layout.rs`
//! proves that these are right.

use super::{failure, ip_of_words};
use crate::context::Host;
use crate::error::EvalError;
use crate::function::Functions;
use crate::library::Cx;
use crate::lower::Callee;
use crate::value::{Duration, Timestamp, Value};
use celero_ir::Ty;
use celero_jit::TextWords;
use std::cell::Cell;
use std::ops::Deref;

/// The base of a frame: the budget, and what every helper needs.
///
/// Code with a `bool` result that calls neither the host nor functions chosen by the values' types
/// gets only this part (see [`EntryAbi::BaseFrame`](super::entry_abi::EntryAbi::BaseFrame)).
#[repr(C)]
pub(crate) struct BaseFrame<'a> {
    pub(super) cx: Cx<'a>,
    /// The second result word of a function that returns two and a status.
    pub(super) out: Cell<u64>,
    /// Set when a helper panicked. The result of the evaluation must then not be used.
    pub(super) panicked: Cell<bool>,
}

impl<'a> BaseFrame<'a> {
    /// Returns the text that compiled code returned for a root of type `ty`, or its error.
    ///
    /// # Errors
    /// The evaluation error; `host` if a helper panicked.
    ///
    /// # Safety
    /// Code whose root has type `ty`, which is [returned as text](celero_ir::layout::returns_text),
    /// was the last to run with this frame, and it returned `text`.
    #[inline]
    pub(super) unsafe fn text(&self, ty: Ty, text: TextWords) -> Result<Value<'a>, EvalError> {
        if self.panicked.get() {
            return Err(EvalError::HOST);
        }
        if text.address.is_null() {
            return Err(failure(text.length));
        }
        // SAFETY: the contract. Code without an error returns the address and the length of bytes
        // that outlive the evaluation, valid UTF-8 for `Str`.
        unsafe {
            let bytes = std::slice::from_raw_parts(text.address, usize::try_from(text.length).unwrap_or(0));
            match ty {
                Ty::Str => Ok(Value::String(std::str::from_utf8_unchecked(bytes))),
                _ => Ok(Value::Bytes(bytes)),
            }
        }
    }

    /// A base with the budget and the arena of `cx`.
    #[inline]
    pub(super) fn new(cx: Cx<'a>) -> Self {
        Self { cx, out: Cell::new(0), panicked: Cell::new(false) }
    }
}

/// A whole frame: the base, the result, and what helpers need that call the host or functions.
#[repr(C)]
pub(crate) struct Frame<'a> {
    pub(super) base: BaseFrame<'a>,
    pub(super) result: ResultSlot<'a>,
    /// The context.
    pub(super) host: &'a dyn Host,
    /// The host's functions.
    pub(super) functions: &'a Functions,
    /// The functions that the graph calls, indexed by their number in it.
    pub(super) callees: &'a [Callee],
}

impl<'a> Deref for Frame<'a> {
    type Target = BaseFrame<'a>;

    #[inline]
    fn deref(&self) -> &BaseFrame<'a> {
        &self.base
    }
}

impl<'a> Frame<'a> {
    /// A frame with the budget and the arena of `cx`, and no result yet.
    #[inline]
    pub(super) fn new(cx: Cx<'a>, host: &'a dyn Host, functions: &'a Functions, callees: &'a [Callee]) -> Self {
        Self { base: BaseFrame::new(cx), result: ResultSlot { nothing: () }, host, functions, callees }
    }

    /// Returns the value that compiled code left for a root of type `ty`; `word` is the word that
    /// the code returned. Never an error: the caller wants a `Result`, and wrapping the value there
    /// would copy it.
    ///
    /// # Safety
    /// Code whose root has type `ty` was the last to run with this frame, and it returned `word`, which is 0 or 1.
    #[inline]
    pub(super) unsafe fn value(&self, ty: Ty, word: u64) -> Result<Value<'a>, EvalError> {
        // SAFETY: the contract. Such code leaves as many words as a value of type `ty` has; a whole value for `Value`.
        unsafe {
            // Each arm makes the whole result. Put together after them, it would be copied in
            // pieces that stall the loads.
            match ty {
                Ty::Bool => Ok(Value::Bool(word == 1)),
                Ty::Int => Ok(Value::Int(self.word(0).cast_signed())),
                Ty::Uint => Ok(Value::Uint(self.word(0))),
                Ty::Double => Ok(Value::Double(f64::from_bits(self.word(0)))),
                Ty::Duration => Ok(Value::Duration(Duration(self.word(0).cast_signed()))),
                Ty::Timestamp => Ok(Value::Timestamp(Timestamp {
                    seconds: self.word(0).cast_signed(),
                    nanos: self.word(1).cast_signed(),
                })),
                // Text is returned in registers. No root has one of the other types.
                Ty::Str
                | Ty::Bytes
                | Ty::Raw
                | Ty::Maybe
                | Ty::Seq
                | Ty::Found
                | Ty::Entry
                | Ty::Cursor
                | Ty::Record => Ok(Value::Null),
                Ty::Ip => Ok(Value::Ip(ip_of_words([self.word(0), self.word(1)]))),
                Ty::Value => Ok(self.result.value),
            }
        }
    }

    /// Reads one of the first two words of the result.
    ///
    /// # Safety
    /// Compiled code has written that word; `number` is 0 or 1.
    #[inline]
    unsafe fn word(&self, number: usize) -> u64 {
        // Volatile, so that the words are read one by one, as they were written: one load of both
        // would wait for the stores.
        //
        // SAFETY: the contract; the slot has four words.
        unsafe { (&raw const self.result).cast::<u64>().add(number).read_volatile() }
    }
}

/// The part of a frame where compiled code leaves a result that is not a `bool`. The type of the
/// root says which member is written.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) union ResultSlot<'a> {
    pub(super) nothing: (),
    pub(super) value: Value<'a>,
    /// For code of several rules.
    pub(super) group: GroupSlot,
    /// For code that several rules share: the address of the rule's parameter row (`celero_ir::layout::parameter_row`).
    pub(super) row: *const u64,
}

/// Input and result of code of several rules, in the layout of `celero_ir::layout::group`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct GroupSlot {
    /// One bit per rule: whether it matched.
    pub(super) matched: u64,
    /// One bit per rule: whether it failed.
    pub(super) failed: u64,
    /// One [`ErrorWord`](celero_ir::ErrorWord) per rule; written for those that failed.
    pub(super) errors: *mut u64,
    /// Nonzero to stop after the first rule that matches.
    pub(super) stop_on_match: u32,
    /// Nonzero to stop after the first rule that fails.
    pub(super) stop_on_error: u32,
}

/// Two words in the integer result registers of the C ABI.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Pair(pub(super) u64, pub(super) u64);
