//! Layers: the list of segments, the rules excluded from each, and the choice of segments to be merged.
//!
//! Added rules are a segment of their own. Segments are merged so that each is more than twice as
//! large as all smaller ones together. So there are few segments, and a rule is compiled a number
//! of times that is logarithmic in the number of rules.
//!
//! Background work identifies the layer that it began with by the address of a flag, which is set when the work is no
//! longer needed.
//!
//! Invariant: the cost of changing one rule does not grow with the number of rules, except for one bit for each rule in
//! the sets of excluded rules. Test: `tests/tests/process/live_load.rs::one_rule_costs_the_same_among_many`.

use super::segment::{NewRule, Segment};
use super::views::SegmentViews;
use crate::rules::{ErrorPolicy, Excluded, Rule};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A segment is merged with smaller ones that together have at least its rules divided by this.
const MERGED_FROM: usize = 2;

/// A segment is compiled anew when more than its rules divided by this are removed.
const THINNED_FROM: usize = 4;

/// A segment of a layer, and the rules excluded from it.
struct LayerSegment<S, A> {
    segment: Arc<Segment<S, A>>,
    excluded: Option<Arc<Excluded>>,
}

impl<S, A> Clone for LayerSegment<S, A> {
    fn clone(&self) -> Self {
        Self { segment: Arc::clone(&self.segment), excluded: self.excluded.clone() }
    }
}

/// The disabled names.
pub(super) type Disabled = BTreeSet<Box<str>>;

/// Segments that are evaluated as one set of rules.
pub(super) struct Layer<S, A> {
    segments: Vec<LayerSegment<S, A>>,
    /// The policy for errors of all its segments.
    pub(super) on_error: ErrorPolicy,
    /// Number of rules that were ever added.
    given: u64,
    /// Set when work on this layer is not wanted any more. Its address identifies the layer.
    pub(super) stale: Arc<AtomicBool>,
    /// Why the last work on it failed. It would fail again.
    pub(super) stuck: Option<String>,
}

/// Background work: segments that are to be merged to one.
pub(super) struct MergePlan<S, A> {
    chosen: Vec<LayerSegment<S, A>>,
    pub(super) on_error: ErrorPolicy,
    pub(super) stale: Arc<AtomicBool>,
}

/// Where a rule of the merged segment comes from: the number of the segment, and the rule's index in it.
pub(super) struct RuleOrigin {
    segment: usize,
    rule: usize,
}

impl<S, A> Layer<S, A> {
    /// A layer without rules.
    pub(super) fn empty(on_error: ErrorPolicy) -> Self {
        Self { segments: Vec::new(), on_error, given: 0, stale: Arc::default(), stuck: None }
    }

    /// A layer of one segment, whose rules are numbered from 0.
    pub(super) fn new(segment: Segment<S, A>, on_error: ErrorPolicy) -> Self {
        let mut layer = Self::empty(on_error);
        layer.push(segment, &Disabled::new());
        layer
    }

    /// Adds a segment and disables its rules with a disabled name. Its rules are numbered from 0,
    /// and come after all others of their priority.
    pub(super) fn push(&mut self, segment: Segment<S, A>, disabled: &Disabled) {
        if self.given > 0 {
            segment.follow(self.given);
        }
        self.given = self.given.saturating_add(u64::try_from(segment.len()).unwrap_or(u64::MAX));
        self.segments.push(LayerSegment { segment: Arc::new(segment), excluded: None });
        self.stuck = None;
        if let Some(slot) = self.segments.last_mut() {
            slot.disable_all(disabled);
        }
    }

    /// Disables the rules with these names.
    pub(super) fn disable_all(&mut self, disabled: &Disabled) {
        self.segments.iter_mut().for_each(|slot| slot.disable_all(disabled));
    }

    /// Removes the rules with a name. Returns how many there were.
    pub(super) fn remove(&mut self, name: &str) -> usize {
        let of_slot = |slot: &mut LayerSegment<S, A>| slot.exclude(name, Excluded::remove);
        let removed = self.segments.iter_mut().fold(0_usize, |sum, slot| sum.saturating_add(of_slot(slot)));
        if removed > 0 {
            self.segments.retain(|slot| slot.removed() < slot.segment.len());
            self.stuck = None;
        }
        removed
    }

    /// Disables or enables the rules with a name. Returns how many there are.
    pub(super) fn disable(&mut self, name: &str, disabled: bool) -> usize {
        let of_slot =
            |slot: &mut LayerSegment<S, A>| slot.exclude(name, |excluded, rule| excluded.disable(rule, disabled));
        self.segments.iter_mut().fold(0_usize, |sum, slot| sum.saturating_add(of_slot(slot)))
    }

    pub(super) fn views(&self) -> SegmentViews<S, A> {
        SegmentViews::new(self.segments.iter().map(|slot| (&slot.segment, slot.excluded.as_ref())), self.on_error)
    }

    /// Whether there is background work.
    pub(super) fn is_busy(&self) -> bool {
        self.stuck.is_none() && !self.choice().is_empty()
    }

    /// The segments to be merged.
    fn choice(&self) -> Vec<&LayerSegment<S, A>> {
        let mut segments: Vec<_> = self.segments.iter().collect();
        segments.sort_by_key(|slot| slot.segment.len());
        let (mut smaller, mut chosen) = (0_usize, 0);
        for (number, slot) in (1_usize..).zip(&segments) {
            let rules = slot.segment.len();
            let merged = smaller > 0 && rules <= smaller.saturating_mul(MERGED_FROM);
            let thinned = slot.removed().saturating_mul(THINNED_FROM) > rules;
            if merged || thinned || !slot.segment.is_final() {
                chosen = number;
            }
            smaller = smaller.saturating_add(rules);
        }
        segments.truncate(chosen);
        segments
    }

    /// The next background work, if any.
    pub(super) fn plan(&self) -> Option<MergePlan<S, A>> {
        if self.stuck.is_some() {
            return None;
        }
        let chosen: Vec<LayerSegment<S, A>> = self.choice().into_iter().cloned().collect();
        (!chosen.is_empty()).then(|| MergePlan { chosen, on_error: self.on_error, stale: Arc::clone(&self.stale) })
    }

    /// Replaces the segments of a plan by the merged one. Applies what has been removed, disabled or enabled meanwhile.
    pub(super) fn merge(&mut self, plan: &MergePlan<S, A>, outcome: Segment<S, A>, origins: &[RuleOrigin]) {
        let (chosen, kept): (Vec<_>, Vec<_>) = self.segments.drain(..).partition(|slot| plan.place(slot).is_some());
        self.segments = kept;
        // A segment is absent if all its rules have been removed meanwhile.
        let mut now: Vec<Option<Option<&Excluded>>> = vec![None; plan.chosen.len()];
        for slot in &chosen {
            if let Some(now) = plan.place(slot).and_then(|place| now.get_mut(place)) {
                *now = Some(slot.excluded.as_deref());
            }
        }
        let mut excluded = Excluded::default();
        if now.iter().any(|slot| !matches!(slot, Some(None))) {
            for (rule, origin) in origins.iter().enumerate() {
                match now.get(origin.segment).copied().flatten() {
                    None => excluded.remove(rule),
                    Some(Some(now)) if now.is_removed(origin.rule) => excluded.remove(rule),
                    Some(Some(now)) => excluded.disable(rule, now.is_disabled(origin.rule)),
                    Some(None) => (),
                }
            }
        }
        let excluded = (excluded.count() > 0).then(|| Arc::new(excluded));
        let slot = LayerSegment { segment: Arc::new(outcome), excluded };
        if slot.removed() < slot.segment.len() {
            self.segments.push(slot);
        }
    }
}

impl<S, A> Drop for Layer<S, A> {
    fn drop(&mut self) {
        self.stale.store(true, Ordering::Relaxed);
    }
}

impl<S, A> LayerSegment<S, A> {
    fn disable_all(&mut self, disabled: &Disabled) {
        for name in disabled {
            self.exclude(name, |excluded, rule| excluded.disable(rule, true));
        }
    }

    /// Number of removed rules.
    fn removed(&self) -> usize {
        self.excluded.as_ref().map_or(0, |excluded| excluded.count_removed())
    }

    /// Excludes or includes the rules with a name. Returns how many there are.
    fn exclude(&mut self, name: &str, change: impl Fn(&mut Excluded, usize)) -> usize {
        let is_removed = |rule| self.excluded.as_ref().is_some_and(|excluded| excluded.is_removed(rule));
        let rules: Vec<usize> = self.segment.named(name).filter(|&rule| !is_removed(rule)).collect();
        if rules.is_empty() {
            return 0;
        }
        let excluded = Arc::make_mut(self.excluded.get_or_insert_default());
        rules.iter().for_each(|&rule| change(excluded, rule));
        if excluded.count() == 0 {
            self.excluded = None;
        }
        rules.len()
    }
}

impl<S, A> MergePlan<S, A> {
    fn place(&self, slot: &LayerSegment<S, A>) -> Option<usize> {
        self.chosen.iter().position(|chosen| Arc::ptr_eq(&chosen.segment, &slot.segment))
    }

    /// The rules of the merged segment, in their order, and where they come from.
    pub(super) fn rules(&self) -> (Vec<NewRule<A>>, Vec<RuleOrigin>) {
        let mut rules = Vec::new();
        for (number, slot) in self.chosen.iter().enumerate() {
            let Some(set) = slot.segment.set() else { continue };
            for rule in 0..set.len() {
                let is_removed = slot.excluded.as_ref().is_some_and(|excluded| excluded.is_removed(rule));
                if let (Some(found), Some(source), false) = (set.get(rule), set.source(rule), is_removed) {
                    let item = Rule::new(found.name, source, Arc::clone(found.action)).on_error(set.policy(rule));
                    let item = set.tags(rule).fold(item, Rule::tag);
                    rules.push((item, RuleOrigin { segment: number, rule }));
                }
            }
        }
        rules.sort_unstable_by_key(|(item, _)| item.action.key());
        rules.into_iter().unzip()
    }
}
