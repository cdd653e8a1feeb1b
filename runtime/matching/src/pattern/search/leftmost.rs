//! The leftmost match, found with two automata.

use crate::pattern::search::lazy_dfa::{LazyDfa, Stop};
use crate::pattern::search::meter::Meter;
use std::ops::Range;

/// Finds the leftmost match that begins at byte `at` or later: its end with one automaton, its start with another.
///
/// # Errors
/// As [`LazyDfa::search`].
pub(in crate::pattern) fn find_with<M: Meter>(
    forward: &LazyDfa,
    backward: &LazyDfa,
    bytes: &[u8],
    at: usize,
    meter: &M,
) -> Result<Option<Range<usize>>, Stop<M::Error>> {
    let Some(end) = forward.search(bytes, at..bytes.len(), false, meter)? else { return Ok(None) };
    match backward.search(bytes, at..end, false, meter)? {
        Some(start) => Ok(Some(start..end)),
        None => Err(Stop::Undecided),
    }
}
