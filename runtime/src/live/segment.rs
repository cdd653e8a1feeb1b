//! Segments: rules that were compiled together, as a part of the live rules; and the deferred-drop queue.
//!
//! Dropping a large set takes milliseconds, and its last owner may be a thread that answers
//! requests. A dropped segment therefore puts its set into a queue, which the background thread, or
//! a thread that changes rules, empties.
//!
//! Invariant: readers never drop a set; the background thread does, or a thread that replaces rules. Test:
//! `runtime/tests/it/live/drops.rs::a_reader_does_not_drop_what_it_was_the_last_to_hold`.
//!
//! Invariant: work for a list of rules that was replaced meanwhile ends early and publishes nothing. Test:
//! `runtime/src/live/segment.rs::stale_work_ends`.

use crate::compilation::cancellation::Cancellation;
use crate::context::Context;
use crate::counters::CounterSlot;
use crate::engine::{Engine, Tier};
use crate::env::Env;
use crate::function::contained;
use crate::rules::{ErrorPolicy, Match, Rule, RuleSet, RuleSetError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::thread::Thread;

/// The position of a rule among all rules, in whatever segment. Unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RuleOrder {
    priority: i32,
    /// The order of insertion.
    sequence: u64,
}

impl RuleOrder {
    pub(super) const LAST: Self = Self { priority: i32::MAX, sequence: u64::MAX };
}

/// The parts of a rule that stay when it moves from segment to segment.
#[derive(Debug)]
pub(super) struct LiveRule<A> {
    priority: i32,
    /// Not written any more once the rule is visible.
    sequence: AtomicU64,
    /// Its counters, if there are any.
    place: Option<CounterSlot>,
    pub(super) action: A,
}

impl<A> LiveRule<A> {
    pub(super) fn new(priority: i32, sequence: u64, place: Option<CounterSlot>, action: A) -> Self {
        Self { priority, sequence: AtomicU64::new(sequence), place, action }
    }

    pub(super) fn place(&self) -> Option<u32> {
        self.place.as_ref().map(CounterSlot::number)
    }

    pub(super) fn key(&self) -> RuleOrder {
        RuleOrder { priority: self.priority, sequence: self.sequence.load(Ordering::Relaxed) }
    }
}

/// A rule to be compiled.
pub(super) type NewRule<A> = Rule<Arc<LiveRule<A>>>;

pub(super) type Set<S, A> = RuleSet<S, Arc<LiveRule<A>>>;

/// Compiles rules, which are sorted.
pub(super) fn build<S: Context<Static = S>, A>(
    engine: &Engine,
    env: &Env<S>,
    tier: Tier,
    threads: usize,
    cancellation: Cancellation,
    rules: &[NewRule<A>],
    on_error: ErrorPolicy,
) -> Result<Content<S, A>, RuleSetError> {
    let rules = engine.rules(env).on_error(on_error).with_rules(rules.iter().cloned());
    let set = rules.cancelled_by(cancellation).build_as(tier, threads)?;
    let mut by_name: Box<[usize]> = (0..set.len()).collect();
    let name = |&rule: &usize| set.get(rule).map(|rule| rule.name);
    by_name.sort_by(|a, b| name(a).cmp(&name(b)));
    Ok(Content { set, by_name, is_final: tier == engine.tier() })
}

/// The content of a segment.
pub(super) struct Content<S, A> {
    set: Set<S, A>,
    /// The rules sorted by name, then by position.
    by_name: Box<[usize]>,
    is_final: bool,
}

/// Rules that were compiled together.
pub(super) struct Segment<S, A> {
    /// `Some` until the segment is dropped.
    content: Option<Box<Content<S, A>>>,
    drop_queue: Arc<DropQueue<S, A>>,
}

impl<S, A> Segment<S, A> {
    pub(super) fn new(content: Content<S, A>, drop_queue: &Arc<DropQueue<S, A>>) -> Self {
        Self { content: Some(Box::new(content)), drop_queue: Arc::clone(drop_queue) }
    }

    pub(super) fn set(&self) -> Option<&Set<S, A>> {
        self.content.as_ref().map(|content| &content.set)
    }

    /// Number of rules.
    pub(super) fn len(&self) -> usize {
        self.set().map_or(0, RuleSet::len)
    }

    pub(super) fn rule(&self, rule: usize) -> Option<Match<'_, Arc<LiveRule<A>>>> {
        self.set()?.get(rule)
    }

    /// Moves the rules, which are numbered from 0, behind this number of others.
    pub(super) fn follow(&self, others: u64) {
        for rule in (0..self.len()).filter_map(|rule| self.rule(rule)) {
            rule.action.sequence.fetch_add(others, Ordering::Relaxed);
        }
    }

    /// Whether the segment is compiled for the engine's tier; otherwise native code is still to be made.
    pub(super) fn is_final(&self) -> bool {
        self.content.as_ref().is_some_and(|content| content.is_final)
    }

    /// The rules with a name.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = usize> {
        let by_name = self.content.as_ref().map_or(&[][..], |content| &content.by_name);
        let of = |&rule: &usize| self.rule(rule).map_or("", |rule| rule.name);
        let first = by_name.partition_point(|rule| of(rule) < name);
        by_name.iter().skip(first).take_while(move |rule| of(rule) == name).copied()
    }
}

impl<S, A> Drop for Segment<S, A> {
    fn drop(&mut self) {
        if let Some(content) = self.content.take() {
            // The receiver lives as long as the sender.
            let _ = self.drop_queue.bury.send(content);
            self.drop_queue.wake();
        }
    }
}

/// The deferred-drop queue: sets that wait to be dropped.
pub(super) struct DropQueue<S, A> {
    bury: Sender<Box<Content<S, A>>>,
    buried: Mutex<Receiver<Box<Content<S, A>>>>,
    /// The reclaimer, once it runs: the background thread, which drops what is queued.
    pub(super) reclaimer: OnceLock<Thread>,
}

impl<S, A> DropQueue<S, A> {
    pub(super) fn new() -> Self {
        let (bury, buried) = channel();
        Self { bury, buried: Mutex::new(buried), reclaimer: OnceLock::new() }
    }

    /// Wakes the reclaimer.
    pub(super) fn wake(&self) {
        if let Some(reclaimer) = self.reclaimer.get() {
            reclaimer.unpark();
        }
    }

    /// Drops all queued sets, unless another thread is doing so.
    pub(super) fn clear(&self) {
        let buried = match self.buried.try_lock() {
            Ok(buried) => buried,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        while let Ok(content) = buried.try_recv() {
            // An action may panic when it is dropped.
            let _ = contained(|| drop(content));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_work_ends() {
        let item = |n: u64| {
            let entry = Arc::new(LiveRule::new(0, n, None, ()));
            Rule::new("r", &format!("{n} > 1"), entry)
        };
        let items: Vec<NewRule<()>> = (0..100).map(item).collect();
        let (engine, env) = (Engine::new(), Env::dynamic());
        let work = |cancellation| build(&engine, &env, Tier::Auto, 1, cancellation, &items, ErrorPolicy::Match);
        assert!(work(Cancellation::when(|| true)).is_err_and(|error| error.is_cancelled()));
        assert_eq!(work(Cancellation::default()).unwrap().by_name.len(), 100);
    }
}
