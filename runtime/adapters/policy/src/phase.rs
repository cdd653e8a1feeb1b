//! A phase: its rules are asked together, and those that match act in their order until one ends the phase.

use crate::counters::{Tally, Turns};
use crate::exchange::Effects;
use crate::outcome::{Answer, Phase};
use crate::rule::{End, Failed, Rule};
use celero::{Context, RuleSet, Scratch};
use http::{HeaderMap, StatusCode, header};
use std::cell::Cell;

/// What a rule that fails counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// It matches if it denies.
    #[default]
    Closed,
    NoMatch,
    Match,
    /// The phase ends with an error.
    Stop,
}

impl OnFailure {
    /// Whether a rule whose condition fails is to be among those that match.
    pub(crate) fn selects<S>(self, rule: &Rule<S>) -> bool {
        match self {
            Self::Closed => matches!(rule.end, Some(End::Deny(_))),
            Self::NoMatch => false,
            Self::Match | Self::Stop => true,
        }
    }

    /// As files name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::NoMatch => "noMatch",
            Self::Match => "match",
            Self::Stop => "stop",
        }
    }
}

/// The rules of a phase.
#[derive(Debug)]
pub(crate) struct Rules<S> {
    pub(crate) phase: Phase,
    /// The conditions, in the order of `rules`.
    pub(crate) set: RuleSet<S, ()>,
    pub(crate) rules: Box<[Rule<S>]>,
    pub(crate) on_failure: OnFailure,
    pub(crate) error_status: StatusCode,
    /// Where the counters of the first rule lie; each has two.
    pub(crate) counters: usize,
    /// What the conditions take by themselves.
    pub(crate) turns: Turns,
}

/// What evaluations reuse.
#[derive(Default)]
struct Memory {
    scratch: Scratch,
    matched: Vec<usize>,
}

thread_local! {
    static MEMORY: Cell<Option<Box<Memory>>> = const { Cell::new(None) };
}

impl<S: Context + 'static> Rules<S> {
    /// Runs the phase on a message with these headers. The answer is one in place of a server's.
    pub(crate) fn run<C: Context<Static = S>>(
        &self,
        context: &C,
        headers: &HeaderMap,
        effects: &mut Effects,
        tally: &Tally,
    ) -> Option<Answer> {
        if self.rules.is_empty() {
            return None;
        }
        // A thread that is ending has no place to keep it.
        let mut memory = MEMORY.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let (answer, timed) = tally.phase(self.phase, || self.run_with(context, headers, effects, tally, &mut memory));
        if timed {
            self.turns.take(|rule| self.set.test(rule, context, &mut memory.scratch));
        }
        let _ = MEMORY.try_with(|kept| kept.set(Some(memory)));
        if answer.is_some() {
            effects.edits.clear();
        }
        answer
    }

    fn run_with<C: Context<Static = S>>(
        &self,
        context: &C,
        headers: &HeaderMap,
        effects: &mut Effects,
        tally: &Tally,
        memory: &mut Memory,
    ) -> Option<Answer> {
        let Memory { scratch, matched, .. } = memory;
        matched.clear();
        // Under the set's policies in use here the evaluation has no error.
        matched.extend_from_slice(self.set.all(context, scratch).unwrap_or(&[]));
        let errors: smallvec::SmallVec<[usize; 4]> = scratch.errors().iter().map(|error| error.rule).collect();
        let mut failed = errors.as_slice();
        for &index in &*matched {
            let before = failed.iter().take_while(|rule| **rule < index).count();
            let rest = failed.get(before..).unwrap_or(&[]);
            failed.iter().take(before).for_each(|rule| self.count_failure(*rule, tally));
            failed = rest;
            let Some(rule) = self.rules.get(index) else { continue };
            if failed.first() == Some(&index) {
                failed = failed.get(1..).unwrap_or(&[]);
                self.count_failure(index, tally);
                if self.on_failure == OnFailure::Stop {
                    return Some(Answer::empty(self.error_status, &rule.name));
                }
            }
            if rule.sample.is_some_and(|share| fastrand::f64() >= share) {
                continue;
            }
            tally.rules.add(self.counter(index));
            match self.act(rule, context, headers, effects, scratch, tally) {
                (Step::Next, Ok(())) => {}
                (Step::End(answer), Ok(())) => return answer.map(|answer| *answer),
                (step, Err(Failed)) => {
                    self.count_failure(index, tally);
                    match step {
                        _ if self.on_failure == OnFailure::Stop => {
                            return Some(Answer::empty(self.error_status, &rule.name));
                        }
                        Step::Next => {}
                        Step::End(answer) => return answer.map(|answer| *answer),
                    }
                }
            }
        }
        failed.iter().for_each(|rule| self.count_failure(*rule, tally));
        None
    }

    fn act<C: Context<Static = S>>(
        &self,
        rule: &Rule<S>,
        context: &C,
        headers: &HeaderMap,
        effects: &mut Effects,
        scratch: &mut Scratch,
        tally: &Tally,
    ) -> (Step, Result<(), Failed>) {
        let mut done = Ok(());
        if let Some(counter) = rule.counter {
            tally.named.add(counter);
        }
        for edit in &rule.edits {
            done = edit.collect(context, headers, &mut effects.edits, scratch).and(done);
        }
        for (name, words) in &rule.labels {
            match words.text(context, scratch) {
                Ok(text) => effects.labels.push((name.clone(), String::from_utf8_lossy(&text).into_owned())),
                Err(failed) => done = Err(failed),
            }
        }
        for (name, field) in &rule.fields {
            if let Some(json) = field.json(context, scratch) {
                effects.log(name, json);
            }
        }
        let step = match &rule.end {
            None => Step::Next,
            Some(End::Allow) => Step::End(None),
            Some(End::Deny(reply) | End::Answer(reply)) => {
                let (mut answer, complete) = reply.answer(context, &rule.name, scratch);
                if answer.status.is_redirection() && !answer.headers.contains_key(header::LOCATION) && complete.is_err()
                {
                    answer = Answer::empty(self.error_status, &rule.name);
                }
                done = complete.and(done);
                Step::End(Some(Box::new(answer)))
            }
        };
        (step, done)
    }

    /// Where the matches of a rule are counted.
    pub(crate) fn counter(&self, rule: usize) -> usize {
        self.counters.saturating_add(rule.saturating_mul(2))
    }

    fn count_failure(&self, rule: usize, tally: &Tally) {
        tally.rules.add(self.counter(rule).saturating_add(1));
    }
}

/// What comes after a rule.
enum Step {
    Next,
    End(Option<Box<Answer>>),
}
