//! The evaluation context: the budget of steps, the arena and the named lists of one evaluation.
//!
//! Invariant: one evaluation (of a program, a set, or live rules) reads named lists from one snapshot, loaded before it
//! begins. No list is read at compile time. Test: `runtime/tests/it/lists.rs::an_evaluation_sees_one_generation`.

use crate::arena::{Arena, EvalResult};
use celero_ir::ErrorKind;
use celero_lists::View as ListsView;
use celero_matching::pattern::Dialect;
use std::cell::Cell;

/// Bytes that a scan reads or writes for one step.
const BYTES_PER_STEP: usize = 64;

/// Bytes that are worked on one by one for one step.
const SINGLE_BYTES_PER_STEP: usize = 8;

/// How patterns of CEL are read, unless [`Env::patterns`](crate::Env::patterns) says otherwise.
pub(crate) const PATTERN_DIALECT: Dialect = Dialect::Re2;

/// What the evaluations of a program or set begin with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CxSettings {
    /// Budget of an evaluation, in steps.
    pub(crate) steps: i64,
    /// The dialect of the patterns of the environment.
    pub(crate) dialect: Dialect,
}

impl CxSettings {
    /// A context for one evaluation, with the named lists of this generation.
    #[inline]
    pub(crate) fn cx<'a>(self, arena: &'a Arena, lists: Option<&'a ListsView>) -> Cx<'a> {
        Cx { fuel: Cell::new(self.steps), arena, lists, dialect: self.dialect, is_partial: false }
    }
}

/// The evaluation context: what a library function or a function of the host may use besides its arguments.
///
/// It holds the *fuel*, the number of steps that the evaluation may still take, and the arena for
/// results. A function that scans or builds more than a fixed amount calls [`charge`](Self::charge)
/// or [`charge_bytes`](Self::charge_bytes) before it does, so that no chain of calls runs or grows
/// without bound.
///
/// Native code reads and writes the fuel in place: the layout is part of its contract (`celero_ir::layout::frame`).
#[derive(Debug)]
#[repr(C)]
pub struct Cx<'a> {
    fuel: Cell<i64>,
    arena: &'a Arena,
    /// The named lists; `None` if the expression asks none.
    lists: Option<&'a ListsView>,
    /// How patterns are read that are known at evaluation only.
    dialect: Dialect,
    /// Whether it is not an error that a value is not known yet.
    is_partial: bool,
}

impl<'a> Cx<'a> {
    /// Offset of the fuel in bytes: part of the contract with native code.
    pub(crate) const FUEL_OFFSET: usize = std::mem::offset_of!(Cx<'static>, fuel);

    /// Returns a context with a budget of `fuel` steps.
    #[must_use]
    #[inline]
    pub fn new(fuel: i64, arena: &'a Arena) -> Self {
        CxSettings { steps: fuel, dialect: PATTERN_DIALECT }.cx(arena, None)
    }

    /// A context for an evaluation that may come upon what is not known yet.
    pub(crate) fn partial(mut self) -> Self {
        self.is_partial = true;
        self
    }

    /// Whether it is not an error that a value is not known yet.
    pub(crate) fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Returns how patterns are read that are known at evaluation only.
    #[inline]
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the named lists.
    ///
    /// # Errors
    /// `host` if there are none: they are there wherever an expression that asks lists is evaluated.
    #[inline]
    pub(crate) fn lists(&self) -> EvalResult<&'a ListsView> {
        self.lists.ok_or(ErrorKind::Host)
    }

    /// Returns the arena for results.
    #[must_use]
    #[inline]
    pub fn arena(&self) -> &'a Arena {
        self.arena
    }

    /// Takes `steps` from the budget.
    ///
    /// # Errors
    /// `out_of_budget` if fewer steps are left. A budget that was exceeded stays exceeded: all later calls fail too.
    #[inline]
    pub fn charge(&self, steps: usize) -> EvalResult<()> {
        let steps = i64::try_from(steps).unwrap_or(i64::MAX);
        if self.fuel.get() < steps {
            return self.overspend(steps);
        }
        self.fuel.update(|fuel| fuel.wrapping_sub(steps));
        Ok(())
    }

    #[cold]
    fn overspend(&self, steps: i64) -> EvalResult<()> {
        self.fuel.update(|fuel| fuel.saturating_sub(steps));
        Err(ErrorKind::OutOfBudget)
    }

    /// Takes one step for every 64 bytes from the budget.
    ///
    /// # Errors
    /// As [`charge`](Self::charge).
    #[inline]
    pub fn charge_bytes(&self, bytes: usize) -> EvalResult<()> {
        self.charge(bytes / BYTES_PER_STEP)
    }

    /// Takes one step and one for every 8 bytes from the budget: for work on each single byte or character, where
    /// [`charge_bytes`](Self::charge_bytes) is for what is read, compared or copied in blocks.
    ///
    /// # Errors
    /// As [`charge`](Self::charge).
    #[inline]
    pub(crate) fn charge_each_byte(&self, bytes: usize) -> EvalResult<()> {
        self.charge((bytes / SINGLE_BYTES_PER_STEP).saturating_add(1))
    }

    /// As [`charge_bytes`](Self::charge_bytes), for functions that cannot fail: the next function
    /// that can fail reports the exceeded budget.
    #[inline]
    pub(crate) fn spend_bytes(&self, bytes: usize) {
        // The error is not lost: the fuel stays below zero.
        let _ = self.charge_bytes(bytes);
    }

    /// Returns the steps that are left: less than zero once the budget was exceeded.
    pub(crate) fn left(&self) -> i64 {
        self.fuel.get()
    }
}
