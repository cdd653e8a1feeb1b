//! Finds out what became of the rules of a phase that a case asks about.

use crate::host::outcome::PolicyAnswer;
use crate::phases::phase::PhaseRules;
use crate::phases::watch::{Extent, Fate, Noted, RuleWatch, WatchedRule};
use crate::rules::action_failure::WhyFailed;
use crate::rules::actions::PhaseEnd;
use crate::rules::rule::Rule;
use celero::host::ONLY_DECLARED;
use celero::{Context, Scratch};
use std::cmp::Reverse;
use std::sync::Arc;

/// Most rules of a phase that are watched because they answer with the status, or let a message pass: those that were
/// closest to a match.
const MAX_OF_STATUS: usize = 3;
/// Most rules among which these are looked for, the first ones.
const MAX_COMPARED: usize = 64;

impl<S: Context + 'static> PhaseRules<S> {
    /// Notes what became of the rules that a case asks about.
    #[cold]
    pub(crate) fn watch<C: Context<Static = S>>(
        &self,
        watch: &mut RuleWatch,
        context: &C,
        noted: &Noted<'_, '_, S>,
        answer: Option<&PolicyAnswer>,
        scratch: &mut Scratch,
    ) {
        self.watch_functions(watch, context, noted, scratch);
        let failed: Vec<usize> = scratch.errors().iter().map(|error| error.rule).collect();
        // An answer names its rule; `allow` gives none.
        let answered =
            self.rules.iter().position(|rule| answer.is_some_and(|answer| Arc::ptr_eq(&answer.rule, &rule.name)));
        // Other phases do not keep what they draw.
        let keeps = self.phase.may_run_again();
        let drawn = if keeps { noted.drawn } else { &[] };
        let (mut seen, mut of_status) = (Vec::new(), Vec::new());
        for (index, rule) in self.rules.iter().enumerate() {
            let end = self.end_of(index, rule, answered, noted);
            let has_status =
                watch.status.is_some() && rule.status_of_answer() == watch.status || watch.passes && rule.may_allow();
            let is_certain = watch.name.as_deref() == Some(&*rule.name) || matches!(end, Some(Fate::Ended(_)));
            let is_asked = is_certain || has_status;
            let acts = watch.acting && noted.counted.contains(&(index, true));
            if !(is_asked || acts) {
                continue;
            }
            let is_one_of_many = !(is_certain || acts);
            if is_one_of_many && of_status.len() >= MAX_COMPARED {
                watch.more_of_status = watch.more_of_status.saturating_add(1);
                continue;
            }
            let fate = match end {
                Some(end @ Fate::Ended(_)) => end,
                _ if !noted.matched.contains(&index) && !failed.contains(&index) => Fate::NoMatch,
                Some(overtaken) => overtaken,
                None if !noted.matched.contains(&index) => Fate::NoMatch,
                None if noted.counted.contains(&(index, true)) => Fate::Acted,
                None => Fate::Idle(why_idle(index, rule, drawn)),
            };
            let traced = self.set.trace(index, context, scratch).and_then(Result::ok);
            let why = traced.as_ref().map_or_else(String::new, |trace| trace.render());
            let failed = failed.contains(&index);
            let held = traced.iter().flat_map(|trace| trace.parts()).filter(|part| part.is_true()).count();
            let closeness = (fate != Fate::NoMatch, failed, held);
            let name = Arc::clone(&rule.name);
            let watched = WatchedRule { phase: self.phase, name, is_asked, fate, failed, why };
            if is_one_of_many {
                of_status.push((closeness, watched));
            } else {
                seen.push(watched);
            }
        }
        of_status.sort_by_key(|(closeness, _)| Reverse(*closeness));
        watch.more_of_status = watch.more_of_status.saturating_add(of_status.len().saturating_sub(MAX_OF_STATUS));
        watch.seen.extend(of_status.into_iter().take(MAX_OF_STATUS).map(|(_, watched)| watched).chain(seen));
    }

    /// Returns whether a rule ended the phase or its level, or which rule did so before it.
    fn end_of(&self, index: usize, rule: &Rule<S>, answered: Option<usize>, noted: &Noted<'_, '_, S>) -> Option<Fate> {
        let last_level = self.rules.last().map_or(0, |rule| rule.level);
        if answered == Some(index) {
            return Some(Fate::Ended(Extent::Phase));
        }
        // `allow` ends only the level of its rule.
        let allows = |other: &Rule<S>| other.level == rule.level && matches!(other.end, Some(PhaseEnd::Allow));
        let mut allowing = noted.counted.iter().filter(|(_, acted)| *acted).map(|(other, _)| *other);
        let allowed = allowing.find(|other| answered != Some(*other) && self.rules.get(*other).is_some_and(allows));
        let extent = if rule.level < last_level { Extent::Level } else { Extent::Phase };
        match (allowed, answered) {
            (Some(other), _) if other == index => Some(Fate::Ended(extent)),
            (Some(other), _) if other < index => Some(Fate::Overtaken(self.name_of(other), extent)),
            (_, Some(other)) if other < index => Some(Fate::Overtaken(self.name_of(other), Extent::Phase)),
            _ => None,
        }
    }

    fn name_of(&self, index: usize) -> Arc<str> {
        self.rules.get(index).map_or_else(|| Arc::from(""), |rule| Arc::clone(&rule.name))
    }

    /// Notes the functions without code that were called and made a rule fail.
    fn watch_functions<C: Context<Static = S>>(
        &self,
        watch: &mut RuleWatch,
        context: &C,
        noted: &Noted<'_, '_, S>,
        scratch: &Scratch,
    ) {
        let mut note = |index: usize, message: &str| {
            // The message begins with the name: "`plan` failed; ..".
            if let Some(name) = message.split('`').nth(1).filter(|_| message.contains(ONLY_DECLARED)) {
                watch.without_code.push((self.name_of(index), name.to_owned()));
            }
        };
        // A rule behind the one that ended the phase decided nothing.
        for error in scratch.errors().iter().filter(|error| noted.counted.contains(&(error.rule, false))) {
            if let Some(report) = self.set.describe(error, context) {
                note(error.rule, report.message());
            }
        }
        for (index, failure) in noted.failed_actions {
            if let (WhyFailed::Error(error), Some(program)) = (&failure.why, failure.program) {
                note(*index, program.describe(error, context).message());
            }
        }
    }
}

/// Returns why a rule that matches, and that nothing ended before, did not act.
fn why_idle<S>(index: usize, rule: &Rule<S>, drawn: &[(usize, bool)]) -> &'static str {
    let meets = "the message meets its `require`";
    let left_out = "its `sample` leaves the message out";
    match drawn.iter().find(|(other, _)| *other == index) {
        Some((_, true)) => meets,
        Some((_, false)) => left_out,
        None if rule.sample.is_none() => meets,
        None if rule.require.is_none() => left_out,
        None => "the message meets its `require`, or its `sample` leaves the message out",
    }
}
