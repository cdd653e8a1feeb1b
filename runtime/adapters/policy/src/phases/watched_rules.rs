//! Finds out what became of the rules of a phase that a case asks about.

use crate::host::outcome::PolicyAnswer;
use crate::phases::phase::PhaseRules;
use crate::phases::watch::{Fate, RuleWatch, WatchedRule};
use crate::rules::actions::PhaseEnd;
use celero::{Context, Scratch};
use std::sync::Arc;

/// Most rules of a phase that are watched because of their status.
const MAX_OF_STATUS: usize = 3;

impl<S: Context + 'static> PhaseRules<S> {
    /// Notes what became of the rules that a case asks about.
    #[cold]
    pub(crate) fn watch<C: Context<Static = S>>(
        &self,
        watch: &mut RuleWatch,
        context: &C,
        (matched, counted): (&[usize], &[(usize, bool)]),
        answer: Option<&PolicyAnswer>,
        scratch: &mut Scratch,
    ) {
        let failed: Vec<usize> = scratch.errors().iter().map(|error| error.rule).collect();
        // An answer names its rule; `allow` gives none.
        let answered =
            self.rules.iter().position(|rule| answer.is_some_and(|answer| Arc::ptr_eq(&answer.rule, &rule.name)));
        let ended = answered.or_else(|| {
            let acted = counted.iter().rev().filter(|(_, acted)| *acted);
            let rules = acted.filter_map(|(index, _)| Some((*index, self.rules.get(*index)?)));
            rules.filter(|(_, rule)| matches!(rule.end, Some(PhaseEnd::Allow))).map(|(index, _)| index).next()
        });
        let mut of_status = 0_usize;
        for (index, rule) in self.rules.iter().enumerate() {
            let is_named = watch.name.as_deref() == Some(&*rule.name);
            let has_status =
                watch.status.is_some() && rule.status_of_answer() == watch.status && of_status < MAX_OF_STATUS;
            of_status = of_status.saturating_add(usize::from(has_status));
            if !is_named && !has_status && ended != Some(index) {
                continue;
            }
            let fate = match ended.and_then(|ended| Some((ended, self.rules.get(ended)?))) {
                _ if ended == Some(index) => Fate::Ended,
                _ if failed.contains(&index) => Fate::Failed,
                _ if !matched.contains(&index) => Fate::NoMatch,
                _ if counted.contains(&(index, true)) => Fate::Acted,
                Some((ended, other)) if ended < index => Fate::Overtaken(Arc::clone(&other.name)),
                _ => Fate::Idle,
            };
            let traced = self.set.trace(index, context, scratch).and_then(Result::ok);
            let why = traced.map_or_else(String::new, |trace| trace.render());
            watch.seen.push(WatchedRule { name: Arc::clone(&rule.name), fate, why });
        }
    }
}
