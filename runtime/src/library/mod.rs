//! The standard library, written once, as safe Rust: both tiers call these functions.
//!
//! Functions are grouped by theme and typed. [`invoke`] calls one by its row in the table of builtins, [`dispatch`] chooses
//! one by the types of its arguments, [`helpers`] gives those that native code calls under the names it knows.
//!
//! Every function that scans or builds more than a fixed amount takes it from the budget, one step for each element or 64
//! bytes, so that no chain of calls runs or grows for long.

mod arithmetic;
mod by_helper;
mod containers;
mod convert;
mod dispatch;
mod encoders;
mod form;
mod format;
mod gateway;
pub(crate) mod helpers;
mod invoke;
mod json;
mod lists;
mod literals;
mod network;
mod numbers;
mod optionals;
mod recent;
mod regex;
mod regex_library;
mod strings;
mod text;
mod time;
mod verbs;
mod views;

pub(crate) use self::by_helper::by_helper;
pub(crate) use self::dispatch::{dispatch, guard};
pub(crate) use self::invoke::invoke;
pub(crate) use self::json::{End, Parts, find, project};
pub(crate) use self::literals::{list_of, map_of};
pub(crate) use self::network::cidr_from_string;
pub(crate) use self::regex::regex_found;
#[cfg(feature = "http")]
pub(crate) use self::strings::lossy;
pub(crate) use self::verbs::{Malformed, Piece, pieces};
pub(crate) use self::views::View;

use crate::arena::{Arena, EvalResult};
use celero_ir::ErrorKind;
use std::cell::Cell;

/// What a function of the library may use besides its arguments. The first two fields are part of the frame's layout.
#[derive(Debug)]
#[repr(C)]
pub struct Cx<'a> {
    fuel: Cell<i64>,
    arena: &'a Arena,
}

impl<'a> Cx<'a> {
    /// Where the budget lies in it: part of the contract with native code.
    pub(crate) const FUEL_OFFSET: usize = std::mem::offset_of!(Cx<'static>, fuel);

    /// With a budget of `fuel` steps.
    #[must_use]
    #[inline]
    pub fn new(fuel: i64, arena: &'a Arena) -> Self {
        Self { fuel: Cell::new(fuel), arena }
    }

    /// Where results are built.
    #[must_use]
    #[inline]
    pub fn arena(&self) -> &'a Arena {
        self.arena
    }

    /// Takes `steps` from the budget.
    ///
    /// # Errors
    /// `out_of_budget` once the budget falls below zero.
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

    /// Takes a step for every 64 bytes from the budget.
    ///
    /// # Errors
    /// `out_of_budget` once the budget falls below zero.
    #[inline]
    pub fn charge_bytes(&self, bytes: usize) -> EvalResult<()> {
        self.charge(bytes / BYTES_PER_STEP)
    }

    /// As [`charge_bytes`](Self::charge_bytes), for functions that can't fail: the next one that can will.
    #[inline]
    pub(crate) fn spend_bytes(&self, bytes: usize) {
        // An error is not lost: what is left stays below zero.
        let _ = self.charge_bytes(bytes);
    }

    /// What is left of the budget.
    #[cfg(test)]
    pub(crate) fn left(&self) -> i64 {
        self.fuel.get()
    }
}

const BYTES_PER_STEP: usize = 64;

#[cfg(test)]
mod tests;
