//! [`Reader`]: the lists of evaluations that follow each other, without an atomic write for each.
//!
//! Invariant: a view that is made after a change has returned shows the change. The stamp is written before the
//! snapshot is published: who reads the old stamp comes before the change. Test:
//! `runtime/lists/tests/readers.rs::a_change_that_has_returned_is_seen`.
//!
//! Invariant: a thread keeps at most one generation beyond its evaluations, until it asks lists again or ends. Test:
//! `runtime/lists/tests/readers.rs::a_thread_keeps_one_generation`.

use super::Lists;
use super::view::View;
use std::cell::Cell;

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
    /// Returns the lists of the current generation for one evaluation. Never waits.
    #[inline]
    pub fn view(&mut self, lists: &Lists) -> &View {
        if !self.view.as_ref().is_some_and(|view| view.is_current(&lists.shared)) {
            self.clear();
        }
        let view = self.view.get_or_insert_with(|| lists.view());
        view.restart();
        view
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
    static OF_THREAD: Cell<Reader> = const { Cell::new(Reader { view: None }) };
}

/// Calls `f` with the lists of the current generation. A call during `f` has a reader of its own.
#[inline]
pub(super) fn with_view<R>(lists: &Lists, f: impl FnOnce(&View) -> R) -> R {
    // A thread that is ending keeps nothing.
    let mut reader = OF_THREAD.try_with(Cell::take).unwrap_or_default();
    let result = f(reader.view(lists));
    let _ = OF_THREAD.try_with(|kept| kept.set(reader));
    result
}
