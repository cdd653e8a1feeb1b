//! [`Reader`]: the lists of evaluations that follow each other, without an atomic write for each.
//!
//! Invariant: a view that is made after a change has returned shows the change. The stamp is written before the
//! snapshot is published: who reads the old stamp comes before the change. Test:
//! `runtime/lists/tests/readers.rs::a_change_that_has_returned_is_seen`.
//!
//! Invariant: while lists are pinned, evaluations that follow each other ask one generation at one time. Test:
//! `runtime/lists/tests/readers.rs::what_is_pinned_stays`.
//!
//! Invariant: when a pin ends, also by a panic, the thread asks the newest generation again. Test:
//! `runtime/lists/tests/readers.rs::a_pin_ends_with_a_panic`.
//!
//! Invariant: a thread keeps at most one generation beyond its evaluations, until it asks lists again or ends. Test:
//! `runtime/lists/tests/readers.rs::a_thread_keeps_one_generation`.

use super::Lists;
use super::snapshot::Snapshot;
use super::view::View;
use crate::clock::PinnedClock;
use arc_swap::Guard;
use std::cell::Cell;
use std::sync::Arc;

/// Returns [`View`]s, and keeps the last one: as long as the lists do not change, the next one costs the load of a
/// number, and the counter of references is not written.
///
/// It keeps that generation in memory until it is [cleared](Self::clear), dropped, or asked for a newer one.
///
/// ```
/// use celero_lists::{Kind, Limits, Lists, Reader};
///
/// let lists = Lists::new(Limits::default());
/// let ports = lists.declare("ports", Kind::Integers)?;
/// let mut reader = Reader::default();
/// assert_eq!(reader.view(&lists).has_integer(ports, 443), Some(false));
/// lists.change().insert("ports", "443").commit()?;
/// assert_eq!(reader.view(&lists).has_integer(ports, 443), Some(true));
/// # Ok::<(), celero_lists::ListsError>(())
/// ```
#[derive(Debug, Default)]
pub struct Reader {
    view: Option<View>,
}

impl Reader {
    /// Returns the lists of the current generation for one evaluation, or those that are [pinned](Lists::pin). Never
    /// waits.
    #[inline(always)]
    pub fn view(&mut self, lists: &Lists) -> &View {
        match &mut self.view {
            Some(view) if !IS_PINNED.get() && view.is_current(&lists.shared) => view.restart(),
            _ => self.renew(lists),
        }
        self.view.get_or_insert_with(|| lists.view())
    }

    #[cold]
    #[inline(never)]
    fn renew(&mut self, lists: &Lists) {
        self.view = take_pinned(lists).and_then(|pinned| Some(pinned.view()?.copy()));
    }

    /// Lets go of the generation that it keeps.
    #[inline]
    pub fn clear(&mut self) {
        // Mostly there is none: then this is a test.
        if self.view.is_some() {
            self.drop_view();
        }
    }

    #[cold]
    fn drop_view(&mut self) {
        self.view = None;
    }
}

thread_local! {
    /// The generation of the thread's last evaluation.
    static LAST: Cell<Option<Arc<Snapshot>>> = const { Cell::new(None) };
    /// What evaluations ask while something is [pinned](pin): the views of the pins that have not ended, the first one
    /// first, each of other lists.
    static PINNED: Cell<Vec<View>> = const { Cell::new(Vec::new()) };
    /// Without a destructor: quick to read.
    static IS_PINNED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f` with the pinned lists, or those of the current generation. A call during `f` has a view of its own.
#[inline]
pub(super) fn with_view<R>(lists: &Lists, f: impl FnOnce(&View) -> R) -> R {
    let pinned = take_pinned(lists);
    if let Some(view) = pinned.as_ref().and_then(Pinned::view) {
        return f(view);
    }
    let view = last_view(lists);
    let result = f(&view);
    keep(view);
    result
}

/// A view of the current generation, which is that of the thread's last evaluation if it can be.
#[inline]
fn last_view(lists: &Lists) -> View {
    // A thread that is ending keeps nothing.
    let last = LAST.try_with(Cell::take).unwrap_or_default();
    let current = last.filter(|snapshot| snapshot.stamp == lists.shared.stamp());
    View::new(current.unwrap_or_else(|| current_snapshot(lists)), PinnedClock::default())
}

#[cold]
#[inline(never)]
fn current_snapshot(lists: &Lists) -> Arc<Snapshot> {
    Guard::into_inner(lists.load())
}

/// Keeps the generation of a view for the thread's next evaluation.
#[inline]
fn keep(view: View) {
    let _ = LAST.try_with(|last| last.set(Some(view.into_snapshot())));
}

/// Calls `f` while all evaluations of this thread ask one view of these lists.
pub(super) fn pin<R>(lists: &Lists, f: impl FnOnce() -> R) -> R {
    if take_pinned(lists).is_some() {
        return f();
    }
    let view = last_view(lists);
    let mut views = pinned_views();
    let _unpin = Unpin { outer: views.len(), is_pinned: IS_PINNED.replace(true) };
    views.push(view);
    set_pinned(views);
    f()
}

/// Ends a pin, also if what was called panics.
struct Unpin {
    /// The number of pins around it.
    outer: usize,
    is_pinned: bool,
}

impl Drop for Unpin {
    fn drop(&mut self) {
        let mut views = pinned_views();
        let view = views.drain(self.outer.min(views.len())..).next();
        set_pinned(views);
        IS_PINNED.set(self.is_pinned);
        if let Some(view) = view {
            keep(view);
        }
    }
}

/// The pinned views, taken for one call, so that calls during it have views of their own. They are given back also
/// if it panics.
struct Pinned {
    views: Vec<View>,
    /// That of the lists that are asked.
    asked: usize,
}

impl Pinned {
    #[inline]
    fn view(&self) -> Option<&View> {
        self.views.get(self.asked)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        set_pinned(std::mem::take(&mut self.views));
    }
}

/// The pinned views, if one is of these lists.
#[inline]
fn take_pinned(lists: &Lists) -> Option<Pinned> {
    if IS_PINNED.get() { take_pinned_of(lists) } else { None }
}

#[cold]
fn take_pinned_of(lists: &Lists) -> Option<Pinned> {
    let views = pinned_views();
    let asked = views.iter().position(|view| view.is_of(&lists.shared));
    if let Some(asked) = asked {
        return Some(Pinned { views, asked });
    }
    set_pinned(views);
    None
}

fn pinned_views() -> Vec<View> {
    PINNED.try_with(Cell::take).unwrap_or_default()
}

fn set_pinned(views: Vec<View>) {
    let _ = PINNED.try_with(|pinned| pinned.set(views));
}
