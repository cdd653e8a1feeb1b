//! A phase: its rules are asked together, and those that match act in their order until one ends the phase.

use crate::counters::{Own, Tally};
use crate::error_policy::PhaseErrorPolicy;
use crate::exchange::Effects;
use crate::outcome::{Answer, Phase, PhaseInfo, RuleInfo};
use crate::rule::{End, Failed, Rule};
use crate::rule_times::RuleTimes;
use celero::{Context, RuleSet, Scratch};
use http::{HeaderMap, StatusCode, header};
use std::cell::Cell;
use std::sync::Arc;

/// The rules of a phase.
#[derive(Debug)]
pub(crate) struct Rules<S> {
    pub(crate) phase: Phase,
    /// The conditions, in the order of `rules`.
    pub(crate) set: RuleSet<S, ()>,
    pub(crate) rules: Box<[Rule<S>]>,
    pub(crate) error_policy: PhaseErrorPolicy,
    pub(crate) error_status: StatusCode,
    pub(crate) tally: Tally,
    pub(crate) times: RuleTimes,
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
    ) -> Option<Answer> {
        if self.rules.is_empty() {
            return None;
        }
        // A thread that is ending has no place to keep it.
        let mut memory = MEMORY.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let own = self.tally.own();
        let (answer, timed) = own.evaluation(|| self.run_with(context, headers, effects, own, &mut memory));
        if timed {
            self.times.measure_next(|rule| self.set.test(rule, context, &mut memory.scratch));
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
        own: Own<'_>,
        memory: &mut Memory,
    ) -> Option<Answer> {
        let Memory { scratch, matched, .. } = memory;
        matched.clear();
        // Under the set's policies in use here the evaluation has no error.
        matched.extend_from_slice(self.set.all(context, scratch).unwrap_or(&[]));
        let errors: smallvec::SmallVec<[usize; 4]> = scratch.errors().iter().map(|error| error.rule).collect();
        let mut failed = errors.as_slice();
        for &index in &*matched {
            let Some(rule) = self.rules.get(index) else { continue };
            while let [next, rest @ ..] = failed
                && *next <= index
            {
                own.failed(*next);
                failed = rest;
                if *next == index && self.error_policy.stops() {
                    return Some(Answer::empty(self.error_status, &rule.name));
                }
            }
            if rule.sample.is_some_and(|share| fastrand::f64() >= share) {
                continue;
            }
            own.matched(index);
            match self.act(rule, context, headers, effects, scratch) {
                (Step::Next, Ok(())) => {}
                (Step::End(answer), Ok(())) => return answer.map(|answer| *answer),
                (step, Err(Failed)) => {
                    own.failed(index);
                    match step {
                        _ if self.error_policy.stops() => {
                            return Some(Answer::empty(self.error_status, &rule.name));
                        }
                        Step::Next => {}
                        Step::End(answer) => return answer.map(|answer| *answer),
                    }
                }
            }
        }
        failed.iter().for_each(|rule| own.failed(*rule));
        None
    }

    fn act<C: Context<Static = S>>(
        &self,
        rule: &Rule<S>,
        context: &C,
        headers: &HeaderMap,
        effects: &mut Effects,
        scratch: &mut Scratch,
    ) -> (Step, Result<(), Failed>) {
        let mut done = Ok(());
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

    /// The rules, and what was counted of each.
    pub(crate) fn infos(&self) -> impl Iterator<Item = RuleInfo> {
        let evaluated = self.tally.of_all(self.phase).evaluated;
        self.rules.iter().enumerate().map(move |(index, rule)| {
            let ((matched, failed), (timed, time)) = (self.tally.of_rule(index), self.times.of(index));
            RuleInfo { phase: self.phase, name: Arc::clone(&rule.name), index, evaluated, matched, failed, timed, time }
        })
    }

    /// What was counted of all rules, if there are any.
    pub(crate) fn info(&self) -> Option<PhaseInfo> {
        (!self.rules.is_empty()).then(|| self.tally.of_all(self.phase))
    }

    /// Adds what rules count to the counters that they name: each goes up where its rule acts.
    pub(crate) fn add_named(&self, counters: &mut [u64]) {
        for (index, rule) in self.rules.iter().enumerate() {
            if let Some(counter) = rule.counter.and_then(|counter| counters.get_mut(counter)) {
                *counter = counter.wrapping_add(self.tally.of_rule(index).0);
            }
        }
    }
}

/// What comes after a rule.
enum Step {
    Next,
    End(Option<Box<Answer>>),
}
