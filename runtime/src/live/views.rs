//! The rules of a snapshot, and their evaluation: segment by segment, with the results merged in
//! the order of the rules.
//!
//! The public index of a rule is a handle, valid for the snapshot. Handles are not in the order of the rules.
//!
//! Invariant: the rules of a snapshot give the results that one set of these rules, in their order, would give, errors
//! included. Test: `runtime/tests/it/live/changes.rs::changed_rules_answer_as_rebuilt_ones`.

use super::segment::{RuleOrder, Segment};
use crate::context::Context;
use crate::counters::Counters;
use crate::error::RuleError;
use crate::function::with_lists;
use crate::report::Report;
use crate::rules::{ErrorPolicy, Excluded, Match, RuleSet};
use crate::scratch::{FirstPerTag, Scratch};
use celero_lists::View as ListsView;
use std::sync::Arc;

/// A segment of a snapshot.
pub(super) struct SegmentView<S, A> {
    pub(super) segment: Arc<Segment<S, A>>,
    pub(super) excluded: Option<Arc<Excluded>>,
    /// Handle of its first rule.
    pub(super) first: usize,
    /// Indexed by tag of the segment: the number of the tag among those of all segments.
    tags: Box<[u32]>,
}

/// All rules of a snapshot.
pub(super) struct SegmentViews<S, A> {
    views: Box<[SegmentView<S, A>]>,
    pub(super) on_error: ErrorPolicy,
    len: usize,
    /// The tags of all segments, sorted.
    tags: Box<[Box<str>]>,
}

impl<S, A> SegmentViews<S, A> {
    /// The rules of these segments, without excluded ones.
    pub(super) fn new<'s>(
        segments: impl Iterator<Item = (&'s Arc<Segment<S, A>>, Option<&'s Arc<Excluded>>)>,
        on_error: ErrorPolicy,
    ) -> Self
    where
        S: 's,
        A: 's,
    {
        let segments: Vec<_> = segments.collect();
        let of = |segment: &'s Arc<Segment<S, A>>| segment.set().map_or(&[][..], RuleSet::all_tags);
        let mut tags: Vec<&str> = segments.iter().flat_map(|(segment, _)| of(segment)).map(|tag| &**tag).collect();
        tags.sort_unstable();
        tags.dedup();
        let number = |tag: &str| tags.binary_search(&tag).ok().and_then(|number| u32::try_from(number).ok());
        let (mut first, mut len) = (0_usize, 0_usize);
        let views = segments.into_iter().map(|(segment, excluded)| {
            let tags = of(segment).iter().map(|tag| number(tag).unwrap_or(u32::MAX)).collect();
            let view = SegmentView { segment: Arc::clone(segment), excluded: excluded.map(Arc::clone), first, tags };
            let rules = segment.len();
            first = first.saturating_add(rules);
            let there = rules.saturating_sub(excluded.map_or(0, |excluded| excluded.count()));
            len = len.saturating_add(there);
            view
        });
        let views = views.collect();
        Self { views, on_error, len, tags: tags.into_iter().map(Into::into).collect() }
    }

    pub(super) fn segments(&self) -> impl ExactSizeIterator<Item = &SegmentView<S, A>> {
        self.views.iter()
    }

    /// Number of rules.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The segment with the rule of a handle, and the rule's index there.
    fn place(&self, handle: usize) -> Option<(&SegmentView<S, A>, usize)> {
        let view = self.views.get(self.views.partition_point(|view| view.first <= handle).checked_sub(1)?)?;
        Some((view, handle.checked_sub(view.first)?))
    }

    pub(super) fn get(&self, handle: usize) -> Option<Match<'_, A>> {
        let (view, rule) = self.place(handle)?;
        if view.excluded.as_ref().is_some_and(|excluded| excluded.has(rule)) {
            return None;
        }
        let Match { name, action, .. } = view.segment.rule(rule)?;
        Some(Match { index: handle, name, action: &action.action })
    }

    pub(super) fn source(&self, handle: usize) -> Option<&str> {
        self.get(handle)?;
        let (view, rule) = self.place(handle)?;
        view.segment.set()?.source(rule)
    }

    /// Puts an error of a rule into words.
    pub(super) fn describe<C: Context<Static = S>>(&self, error: &RuleError, context: &C) -> Option<Report>
    where
        S: Context + 'static,
    {
        self.get(error.rule)?;
        let (view, rule) = self.place(error.rule)?;
        view.segment.set()?.describe(&RuleError::new(rule, error.error), context)
    }

    /// The tags of a rule.
    pub(super) fn tags(&self, handle: usize) -> impl Iterator<Item = &str> {
        let (view, rule) = self.get(handle).and_then(|_| self.place(handle)).unzip();
        let set = view.and_then(|view: &SegmentView<S, A>| view.segment.set());
        set.zip(rule).into_iter().flat_map(|(set, rule)| set.tags(rule))
    }

    /// Notes the first rule of each tag. `matched` is in the order of the rules.
    pub(super) fn first_of_tags(&self, matched: &[usize], first: &mut FirstPerTag) {
        first.start(self.tags.len());
        for &handle in matched {
            let Some((view, rule)) = self.place(handle) else { continue };
            for &tag in view.segment.set().map_or(&[][..], |set| set.tag_numbers(rule)) {
                if let Some(&tag) = view.tags.get(tag as usize) {
                    first.add(tag, handle);
                }
            }
        }
    }

    /// All tags, as [`first_of_tags`](Self::first_of_tags) numbers them.
    pub(super) fn all_tags(&self) -> &[Box<str>] {
        &self.tags
    }

    /// The handles of all rules, in the order of the rules.
    pub(super) fn handles(&self) -> Vec<usize> {
        let all =
            self.views.iter().flat_map(|view| (0..view.segment.len()).map(|rule| view.first.saturating_add(rule)));
        let mut handles: Vec<usize> = all.filter(|&handle| self.get(handle).is_some()).collect();
        handles.sort_unstable_by_key(|&handle| self.key(handle));
        handles
    }

    /// The counter slot of a rule.
    pub(super) fn counted(&self, handle: usize) -> Option<u32> {
        let (view, rule) = self.place(handle)?;
        view.segment.rule(rule)?.action.place()
    }

    fn key(&self, handle: usize) -> RuleOrder {
        let rule = self.place(handle).and_then(|(view, rule)| view.segment.rule(rule));
        rule.map_or(RuleOrder::LAST, |rule| rule.action.key())
    }
}

impl<S: Context + 'static, A> SegmentViews<S, A> {
    /// Evaluates the rules; with `once`, until the first match. Leaves the handles of the rules
    /// that match, and the errors, in the scratch, both in the order of the rules.
    pub(super) fn evaluate<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
        once: bool,
    ) -> Result<(), RuleError> {
        let (mut matched, mut errors) = (std::mem::take(&mut scratch.matched), std::mem::take(&mut scratch.gathered));
        matched.clear();
        errors.clear();
        let mut stopped: Option<(RuleOrder, RuleError)> = None;
        // One generation of lists for all segments.
        with_lists(self.views.iter().find_map(|view| view.segment.set()?.lists()), |lists| {
            for view in &self.views {
                let result = view.evaluate(context, scratch, once, lists, &mut matched);
                let at = |error: &RuleError| RuleError::new(view.first.saturating_add(error.rule), error.error);
                errors.extend(scratch.errors.iter().map(at));
                if let Err(error) = result.as_ref().map_err(at) {
                    let key = self.key(error.rule);
                    if stopped.as_ref().is_none_or(|(first, _)| key < *first) {
                        stopped = Some((key, error));
                    }
                }
            }
        });
        let result = self.merged(&mut matched, &mut errors, stopped, once);
        scratch.gathered = std::mem::replace(&mut scratch.errors, errors);
        scratch.matched = matched;
        result
    }

    /// As [`evaluate`](Self::evaluate), with counters.
    pub(super) fn evaluate_counted<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
        once: bool,
        counters: &Counters,
    ) -> Result<(), RuleError> {
        let mut shards = std::mem::take(&mut scratch.shards);
        let mut counting = shards.begin(counters);
        let result = self.evaluate(context, scratch, once);
        let place = |&handle: &usize| self.counted(handle);
        scratch.matched.iter().filter_map(place).for_each(|place| counting.matched(place));
        scratch.errors.iter().filter_map(|error| place(&error.rule)).for_each(|place| counting.failed(place));
        counting.end();
        scratch.shards = shards;
        result
    }

    /// Merges the results of all segments to those of one set.
    fn merged(
        &self,
        matched: &mut Vec<usize>,
        errors: &mut Vec<RuleError>,
        stopped: Option<(RuleOrder, RuleError)>,
        once: bool,
    ) -> Result<(), RuleError> {
        if self.views.len() > 1 {
            matched.sort_unstable_by_key(|&handle| self.key(handle));
            errors.sort_unstable_by_key(|error| self.key(error.rule));
        }
        // The rule at which a sequential evaluation of all rules would have ended.
        let found = matched.first().filter(|_| once).map(|&handle| self.key(handle));
        let (end, result) = match (found, stopped) {
            (Some(found), Some((at, error))) if at < found => (at, Err(error)),
            (Some(found), _) => (found, Ok(())),
            (None, Some((at, error))) => (at, Err(error)),
            (None, None) => return Ok(()),
        };
        matched.retain(|&handle| self.key(handle) <= end);
        if once {
            matched.truncate(1);
        }
        errors.retain(|error| self.key(error.rule) <= end);
        result
    }
}

impl<S: Context + 'static, A> SegmentView<S, A> {
    /// Evaluates the rules of the segment. Adds the handles of those that match.
    fn evaluate<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
        once: bool,
        lists: Option<&ListsView>,
        matched: &mut Vec<usize>,
    ) -> Result<(), RuleError> {
        let Some(set) = self.segment.set() else { return Ok(()) };
        let on_match = |rule| matched.push(self.first.saturating_add(rule));
        set.evaluate(context, scratch, self.excluded.as_deref(), once, lists, on_match)
    }
}
