//! The rules behind what is live: which segments there are, what is left out of them, and which of them are compiled anew
//! in the background.
//!
//! A rule that is added is a segment by itself. Segments are merged so that each is more than twice as large as all smaller ones
//! together: there are few of them, and a rule is compiled only about as often as a set of that size can be doubled.

use super::segment::{Item, Segment};
use super::views::Views;
use crate::rules::{ErrorPolicy, LeftOut};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A larger segment is merged with smaller ones that have more than this part of its rules together.
const MERGED_FROM: usize = 2;

/// A segment with more than this part of its rules removed is compiled anew.
const THINNED_FROM: usize = 4;

/// A segment, and what is left out of it.
struct Slot<S, A> {
    segment: Arc<Segment<S, A>>,
    left_out: Option<Arc<LeftOut>>,
}

impl<S, A> Clone for Slot<S, A> {
    fn clone(&self) -> Self {
        Self { segment: Arc::clone(&self.segment), left_out: self.left_out.clone() }
    }
}

/// The names that are disabled.
pub(super) type Disabled = BTreeSet<Box<str>>;

/// Segments that are asked as one set of rules.
pub(super) struct Layer<S, A> {
    slots: Vec<Slot<S, A>>,
    /// That of all its segments.
    pub(super) on_error: ErrorPolicy,
    /// How many rules it has been given.
    given: u64,
    /// Set when nobody waits for work on this layer any more. Says, by its address, which layer it is.
    pub(super) stale: Arc<AtomicBool>,
    /// Why the last work on it came to nothing: it would again.
    pub(super) stuck: Option<String>,
}

/// Work to be done: segments that are to be one.
pub(super) struct Plan<S, A> {
    chosen: Vec<Slot<S, A>>,
    pub(super) on_error: ErrorPolicy,
    pub(super) stale: Arc<AtomicBool>,
}

/// Where a rule of the outcome comes from: the number of the segment, and the rule's index there.
pub(super) struct Origin {
    segment: usize,
    rule: usize,
}

impl<S, A> Layer<S, A> {
    /// No rules.
    pub(super) fn empty(on_error: ErrorPolicy) -> Self {
        Self { slots: Vec::new(), on_error, given: 0, stale: Arc::default(), stuck: None }
    }

    /// The rules of a segment, which are numbered from 0.
    pub(super) fn new(segment: Segment<S, A>, on_error: ErrorPolicy) -> Self {
        let mut layer = Self::empty(on_error);
        layer.push(segment, &Disabled::new());
        layer
    }

    /// Adds a segment, of which the rules with a disabled name are. Its rules are numbered from 0, and come after all others of
    /// their priority.
    pub(super) fn push(&mut self, segment: Segment<S, A>, disabled: &Disabled) {
        if self.given > 0 {
            segment.follow(self.given);
        }
        self.given = self.given.saturating_add(u64::try_from(segment.len()).unwrap_or(u64::MAX));
        self.slots.push(Slot { segment: Arc::new(segment), left_out: None });
        self.stuck = None;
        if let Some(slot) = self.slots.last_mut() {
            slot.disable_all(disabled);
        }
    }

    /// Disables the rules of these names.
    pub(super) fn disable_all(&mut self, disabled: &Disabled) {
        self.slots.iter_mut().for_each(|slot| slot.disable_all(disabled));
    }

    /// Removes the rules of a name, and says how many there were.
    pub(super) fn remove(&mut self, name: &str) -> usize {
        let of_slot = |slot: &mut Slot<S, A>| slot.leave_out(name, LeftOut::remove);
        let removed = self.slots.iter_mut().fold(0_usize, |sum, slot| sum.saturating_add(of_slot(slot)));
        if removed > 0 {
            self.slots.retain(|slot| slot.removed() < slot.segment.len());
            self.stuck = None;
        }
        removed
    }

    /// Disables the rules of a name or enables them, and says how many there are.
    pub(super) fn disable(&mut self, name: &str, disabled: bool) -> usize {
        let of_slot = |slot: &mut Slot<S, A>| slot.leave_out(name, |left_out, rule| left_out.disable(rule, disabled));
        self.slots.iter_mut().fold(0_usize, |sum, slot| sum.saturating_add(of_slot(slot)))
    }

    pub(super) fn views(&self) -> Views<S, A> {
        Views::new(self.slots.iter().map(|slot| (&slot.segment, slot.left_out.as_ref())), self.on_error)
    }

    /// Whether there is work to be done.
    pub(super) fn is_unsettled(&self) -> bool {
        self.stuck.is_none() && !self.choice().is_empty()
    }

    /// The slots to be merged.
    fn choice(&self) -> Vec<&Slot<S, A>> {
        let mut slots: Vec<_> = self.slots.iter().collect();
        slots.sort_by_key(|slot| slot.segment.len());
        let (mut smaller, mut chosen) = (0_usize, 0);
        for (number, slot) in (1_usize..).zip(&slots) {
            let rules = slot.segment.len();
            let merged = smaller > 0 && rules <= smaller.saturating_mul(MERGED_FROM);
            let thinned = slot.removed().saturating_mul(THINNED_FROM) > rules;
            if merged || thinned || !slot.segment.is_final() {
                chosen = number;
            }
            smaller = smaller.saturating_add(rules);
        }
        slots.truncate(chosen);
        slots
    }

    /// The work to be done.
    pub(super) fn plan(&self) -> Option<Plan<S, A>> {
        if self.stuck.is_some() {
            return None;
        }
        let chosen: Vec<Slot<S, A>> = self.choice().into_iter().cloned().collect();
        (!chosen.is_empty()).then(|| Plan { chosen, on_error: self.on_error, stale: Arc::clone(&self.stale) })
    }

    /// Puts the outcome of a plan for this layer in the place of what it was made from. What has been removed, disabled or
    /// enabled in the meantime is so in the outcome.
    pub(super) fn merge(&mut self, plan: &Plan<S, A>, outcome: Segment<S, A>, origins: &[Origin]) {
        let (chosen, kept): (Vec<_>, Vec<_>) = self.slots.drain(..).partition(|slot| plan.place(slot).is_some());
        self.slots = kept;
        // A segment is gone if all of its rules have been removed.
        let mut now: Vec<Option<Option<&LeftOut>>> = vec![None; plan.chosen.len()];
        for slot in &chosen {
            if let Some(now) = plan.place(slot).and_then(|place| now.get_mut(place)) {
                *now = Some(slot.left_out.as_deref());
            }
        }
        let mut left_out = LeftOut::default();
        if now.iter().any(|slot| !matches!(slot, Some(None))) {
            for (rule, origin) in origins.iter().enumerate() {
                match now.get(origin.segment).copied().flatten() {
                    None => left_out.remove(rule),
                    Some(Some(now)) if now.is_removed(origin.rule) => left_out.remove(rule),
                    Some(Some(now)) => left_out.disable(rule, now.is_disabled(origin.rule)),
                    Some(None) => (),
                }
            }
        }
        let left_out = (left_out.count() > 0).then(|| Arc::new(left_out));
        let slot = Slot { segment: Arc::new(outcome), left_out };
        if slot.removed() < slot.segment.len() {
            self.slots.push(slot);
        }
    }
}

impl<S, A> Drop for Layer<S, A> {
    fn drop(&mut self) {
        self.stale.store(true, Ordering::Relaxed);
    }
}

impl<S, A> Slot<S, A> {
    fn disable_all(&mut self, disabled: &Disabled) {
        for name in disabled {
            self.leave_out(name, |left_out, rule| left_out.disable(rule, true));
        }
    }

    /// How many of its rules are removed.
    fn removed(&self) -> usize {
        self.left_out.as_ref().map_or(0, |left_out| left_out.count_removed())
    }

    /// Changes what is left out, for the rules of a name, and says how many there are.
    fn leave_out(&mut self, name: &str, change: impl Fn(&mut LeftOut, usize)) -> usize {
        let is_removed = |rule| self.left_out.as_ref().is_some_and(|left_out| left_out.is_removed(rule));
        let rules: Vec<usize> = self.segment.named(name).filter(|&rule| !is_removed(rule)).collect();
        if rules.is_empty() {
            return 0;
        }
        let left_out = Arc::make_mut(self.left_out.get_or_insert_default());
        rules.iter().for_each(|&rule| change(left_out, rule));
        if left_out.count() == 0 {
            self.left_out = None;
        }
        rules.len()
    }
}

impl<S, A> Plan<S, A> {
    fn place(&self, slot: &Slot<S, A>) -> Option<usize> {
        self.chosen.iter().position(|chosen| Arc::ptr_eq(&chosen.segment, &slot.segment))
    }

    /// The rules that are to be one segment, in their order.
    pub(super) fn rules(&self) -> (Vec<Item<A>>, Vec<Origin>) {
        let mut rules = Vec::new();
        for (number, slot) in self.chosen.iter().enumerate() {
            let Some(set) = slot.segment.set() else { continue };
            for rule in 0..set.len() {
                let is_removed = slot.left_out.as_ref().is_some_and(|left_out| left_out.is_removed(rule));
                if let (Some(found), Some(source), false) = (set.get(rule), set.source(rule), is_removed) {
                    let entry = Arc::clone(found.action);
                    let tags = set.tags(rule).map(Arc::from).collect();
                    let on_error = Some(set.policy(rule));
                    let item = Item { name: found.name.into(), source: source.into(), tags, on_error, entry };
                    rules.push((item, Origin { segment: number, rule }));
                }
            }
        }
        rules.sort_unstable_by_key(|(item, _)| item.entry.key());
        rules.into_iter().unzip()
    }
}
