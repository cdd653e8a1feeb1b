//! Searches for several patterns that take turns after each byte.
//!
//! A search with an automaton waits for memory most of the time: each state is known only when the
//! one before was looked up. Searches that take turns wait at the same time.

use crate::pattern::analysis::reach::Near;
use crate::pattern::search::ascii_regex::{AsciiRegex, GoingSearch};
use crate::pattern::search::dfa_search::Search;
use crate::pattern::search::meter::Meter;
use std::ops::ControlFlow;

/// Most searches that take turns.
const LANES: usize = 4;

/// Searches of one text, each with a tag.
pub(crate) struct Interleaved<'s, T, M> {
    lanes: [Option<(T, GoingSearch<'s, M>)>; LANES],
}

impl<'s, T, M: Meter> Interleaved<'s, T, M> {
    pub(crate) fn new() -> Self {
        Self { lanes: [const { None }; LANES] }
    }

    /// Searches for a pattern in a text, which must be ASCII; only `near` its literals, if that is
    /// given. `done` gets the tag and the result of each search that ends, of this one or of those
    /// that were added before.
    pub(crate) fn add(
        &mut self,
        (tag, regex): (T, &'s AsciiRegex),
        (ascii, near): (&'s str, Option<Near<'s>>),
        meter: M,
        done: &mut impl FnMut(T, Result<bool, M::Error>),
    ) {
        let going = match regex.begin(ascii, near, meter) {
            ControlFlow::Break(result) => return done(tag, result),
            ControlFlow::Continue(going) => going,
        };
        while self.lanes.iter().all(Option::is_some) {
            self.take_turns(done);
        }
        if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.is_none()) {
            *lane = Some((tag, going));
        }
    }

    /// Ends all searches.
    pub(crate) fn finish(&mut self, done: &mut impl FnMut(T, Result<bool, M::Error>)) {
        while self.lanes.iter().any(Option::is_some) {
            self.take_turns(done);
        }
    }

    /// Lets the searches take turns until one of them needs a slow step, and lets that one take it, or end.
    fn take_turns(&mut self, done: &mut impl FnMut(T, Result<bool, M::Error>)) {
        let mut open = self.lanes.iter_mut().flatten().map(|(_, going)| &mut going.search);
        match [open.next(), open.next(), open.next(), open.next()] {
            [Some(a), Some(b), Some(c), Some(d)] => Search::follow_in_turns([a, b, c, d]),
            [Some(a), Some(b), Some(c), None] => Search::follow_in_turns([a, b, c]),
            [Some(a), Some(b), ..] => Search::follow_in_turns([a, b]),
            [Some(a), ..] => Search::follow_in_turns([a]),
            [None, ..] => {}
        }
        for lane in &mut self.lanes {
            let Some((_, going)) = lane else { continue };
            let outcome = match going.search.step_slow() {
                Ok(ControlFlow::Continue(())) => continue,
                Ok(ControlFlow::Break(found)) => Ok(found),
                Err(stop) => Err(stop),
            };
            let result = going.result(outcome);
            if let Some((tag, _)) = lane.take() {
                done(tag, result);
            }
        }
    }
}
