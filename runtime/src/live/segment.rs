//! Rules that were compiled together, as a part of what is live, and the place where such sets go to be dropped.
//!
//! Dropping a large set takes milliseconds, and the last one to hold it may be a thread that answers requests. So a segment
//! hands its set over when it goes, and a thread that changes rules, or the one in the background, drops it.

use crate::context::Context;
use crate::counters::Place;
use crate::engine::{Engine, Tier};
use crate::env::Env;
use crate::function::contained;
use crate::rules::{ErrorPolicy, Match, RuleSet, RuleSetError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::thread::Thread;

/// Where a rule stands among all rules, whatever segment it is in. No two rules have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    priority: i32,
    /// The order of insertion.
    sequence: u64,
}

impl Key {
    pub(super) const LAST: Self = Self { priority: i32::MAX, sequence: u64::MAX };
}

/// What a rule keeps when it moves from segment to segment.
#[derive(Debug)]
pub(super) struct Entry<A> {
    priority: i32,
    /// Written for the last time before the rule can be seen.
    sequence: AtomicU64,
    /// Where it is counted, if it is.
    place: Option<Place>,
    pub(super) action: A,
}

impl<A> Entry<A> {
    pub(super) fn new(priority: i32, sequence: u64, place: Option<Place>, action: A) -> Self {
        Self { priority, sequence: AtomicU64::new(sequence), place, action }
    }

    pub(super) fn place(&self) -> Option<u32> {
        self.place.as_ref().map(Place::number)
    }

    pub(super) fn key(&self) -> Key {
        Key { priority: self.priority, sequence: self.sequence.load(Ordering::Relaxed) }
    }
}

/// A rule to be compiled.
pub(super) struct Item<A> {
    pub(super) name: Box<str>,
    pub(super) source: Box<str>,
    pub(super) tags: Vec<Arc<str>>,
    pub(super) on_error: Option<ErrorPolicy>,
    pub(super) entry: Arc<Entry<A>>,
}

pub(super) type Set<S, A> = RuleSet<S, Arc<Entry<A>>>;

/// Compiles rules, which are in the order of their keys.
pub(super) fn build<S: Context<Static = S>, A>(
    engine: &Engine,
    env: &Env<S>,
    tier: Tier,
    stale: &dyn Fn() -> bool,
    items: &[Item<A>],
    on_error: ErrorPolicy,
) -> Result<Content<S, A>, RuleSetError> {
    let rules = items.iter().fold(engine.rules(env).on_error(on_error), |rules, item| {
        let rules = rules.rule(&item.name, &item.source, Arc::clone(&item.entry));
        let rules = match item.on_error {
            Some(own) => rules.rule_on_error(own),
            None => rules,
        };
        item.tags.iter().fold(rules, |rules, tag| rules.tag(tag))
    });
    let set = rules.build_as(tier, stale)?;
    let mut by_name: Box<[usize]> = (0..set.len()).collect();
    let name = |&rule: &usize| set.get(rule).map(|rule| rule.name);
    by_name.sort_by(|a, b| name(a).cmp(&name(b)));
    Ok(Content { set, by_name, is_final: tier == engine.tier() })
}

/// What a segment owns.
pub(super) struct Content<S, A> {
    set: Set<S, A>,
    /// The rules in the order of their names, those of the same name in theirs.
    by_name: Box<[usize]>,
    is_final: bool,
}

/// Rules that were compiled together.
pub(super) struct Segment<S, A> {
    /// There until it is dropped.
    content: Option<Box<Content<S, A>>>,
    graveyard: Arc<Graveyard<S, A>>,
}

impl<S, A> Segment<S, A> {
    pub(super) fn new(content: Content<S, A>, graveyard: &Arc<Graveyard<S, A>>) -> Self {
        Self { content: Some(Box::new(content)), graveyard: Arc::clone(graveyard) }
    }

    pub(super) fn set(&self) -> Option<&Set<S, A>> {
        self.content.as_ref().map(|content| &content.set)
    }

    /// How many rules there are.
    pub(super) fn len(&self) -> usize {
        self.set().map_or(0, RuleSet::len)
    }

    pub(super) fn rule(&self, rule: usize) -> Option<Match<'_, Arc<Entry<A>>>> {
        self.set()?.get(rule)
    }

    /// Puts rules that are numbered from 0 after so many others.
    pub(super) fn follow(&self, others: u64) {
        for rule in (0..self.len()).filter_map(|rule| self.rule(rule)) {
            rule.action.sequence.fetch_add(others, Ordering::Relaxed);
        }
    }

    /// Whether it is compiled for the tier that was asked for: else native code is yet to be made.
    pub(super) fn is_final(&self) -> bool {
        self.content.as_ref().is_some_and(|content| content.is_final)
    }

    /// The rules of a name.
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
            let _ = self.graveyard.bury.send(content);
            self.graveyard.wake();
        }
    }
}

/// Where sets wait to be dropped.
pub(super) struct Graveyard<S, A> {
    bury: Sender<Box<Content<S, A>>>,
    buried: Mutex<Receiver<Box<Content<S, A>>>>,
    /// The thread in the background, once there is one.
    pub(super) keeper: OnceLock<Thread>,
}

impl<S, A> Graveyard<S, A> {
    pub(super) fn new() -> Self {
        let (bury, buried) = channel();
        Self { bury, buried: Mutex::new(buried), keeper: OnceLock::new() }
    }

    /// Wakes the thread in the background.
    pub(super) fn wake(&self) {
        if let Some(keeper) = self.keeper.get() {
            keeper.unpark();
        }
    }

    /// Drops what waits, unless another thread is at it.
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
    use std::cell::Cell;

    #[test]
    fn stale_work_ends_soon() {
        let item = |n: u64| {
            let entry = Arc::new(Entry::new(0, n, None, ()));
            Item { name: "r".into(), source: format!("{n} > 1").into(), tags: Vec::new(), on_error: None, entry }
        };
        let items: Vec<Item<()>> = (0..100).map(item).collect();
        let (engine, env) = (Engine::new(), Env::dynamic());
        // Before the first rule, in the middle, and when the rules are all read.
        for wanted in [0, 50, 100] {
            let asked = Cell::new(0);
            let is_stale = || {
                asked.set(asked.get() + 1);
                asked.get() > wanted
            };
            let error = build(&engine, &env, Tier::Auto, &is_stale, &items, ErrorPolicy::Match).err().unwrap();
            assert_eq!(error.rules().len(), 0);
            assert!(asked.get() <= wanted + 2, "it went on after {wanted}");
        }
        assert_eq!(build(&engine, &env, Tier::Auto, &|| false, &items, ErrorPolicy::Match).unwrap().by_name.len(), 100);
    }
}
