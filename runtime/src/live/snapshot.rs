//! Snapshots: the live rules and the candidate of one generation, published as a whole.
//!
//! Invariant: a published snapshot never changes. Test: `runtime/tests/it/live/mod.rs::a_moment_stays_what_it_was`.
//!
//! Invariant: one evaluation uses one snapshot. Test:
//! `tests/tests/process/live_load.rs::readers_see_whole_generations_while_rules_are_replaced`.

use super::shadow::Shadow;
use super::views::SegmentViews;
use crate::counters::Counters;
use std::sync::Arc;

/// An immutable version of the rules.
pub(super) struct Snapshot<S, A> {
    pub(super) generation: u64,
    /// The counters, if they are wanted.
    pub(super) counters: Option<Arc<Counters>>,
    pub(super) live: SegmentViews<S, A>,
    pub(super) shadow: Option<Shadow<S, A>>,
}
