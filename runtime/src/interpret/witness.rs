//! Witnesses of failures: on which operands an operation failed. Reports need one; evaluations have none.

use crate::error::ErrorKind;
use crate::function;
use crate::value::Value;
use celero_frontend::NodeId;
use smallvec::SmallVec;
use std::cell::RefCell;

/// Most failures that a witness keeps. A loop can fail in each iteration; the first error is the one that counts.
const MAX: usize = 4096;

/// A failed operation.
#[derive(Clone, Debug)]
pub(crate) struct Seen<'a> {
    /// The node that failed.
    pub(crate) id: NodeId,
    pub(crate) kind: ErrorKind,
    /// The values of its operands, as far as they decided.
    pub(crate) operands: SmallVec<[Value<'a>; 2]>,
    /// What was needed instead of the only operand, if any function would do with another value: `a bool`, say.
    pub(crate) needed: Option<&'static str>,
    /// What the function of the host says about it.
    pub(crate) message: Option<Box<str>>,
}

/// The failures of an evaluation, the absorbed ones included.
#[derive(Debug, Default)]
pub(crate) struct Witness<'a> {
    seen: RefCell<Vec<Seen<'a>>>,
}

impl<'a> Witness<'a> {
    /// Takes a failure. Returns its number.
    pub(super) fn see(&self, id: NodeId, kind: ErrorKind, operands: &[Value<'a>], needed: Option<&'static str>) -> u32 {
        let mut all = self.seen.borrow_mut();
        if all.len() >= MAX {
            return u32::MAX;
        }
        let message = if kind == ErrorKind::Host { function::last_message() } else { None };
        all.push(Seen { id, kind, operands: operands.into(), needed, message });
        u32::try_from(all.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// The failure with this number.
    pub(crate) fn seen(&self, number: u32) -> Option<Seen<'a>> {
        self.seen.borrow().get(number as usize).cloned()
    }
}
