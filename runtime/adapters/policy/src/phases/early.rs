//! Tries the rules of a phase that reads a body before the body has come.
//!
//! Invariant: a phase ends without its body as with any body that its settings (`limit`, `encoded`) let rules read.
//! Test: `runtime/adapters/policy/tests/policy/early.rs::phases_without_bodies_end_as_with_them`.

use crate::bodies::buffering::BodyNeed;
use crate::host::outcome::PolicyAnswer;
use crate::phases::exchange::Effects;
use crate::phases::phase::{MEMORY, PhaseRules, Step, ThreadMemory, slot};
use crate::phases::watch::{Noted, RuleWatch};
use crate::rules::body_change::Message;
use crate::rules::rule::Rule;
use celero::{Context, Scratch};
use smallvec::SmallVec;
use std::cell::Cell;

/// When the messages of a stream are judged one at a time, in hosts that can do that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OneByOne {
    Always,
    /// Unless a rule without a method may match the call by its head.
    UnlessOthersMatch,
    /// A rule reads more than messages, or keeps them waiting.
    Never,
}

impl<S: Context + 'static> PhaseRules<S> {
    /// Returns what the phase needs of the body, which `context` lacks.
    pub(crate) fn body_need<C: Context<Static = S>>(&self, context: &C, watch: Option<&mut RuleWatch>) -> BodyNeed {
        if self.rules.is_empty() {
            return BodyNeed::NoPhase;
        }
        let Some(needs) = &self.needs else { return BodyNeed::Body };
        self.with_memory(|ThreadMemory { scratch, shards, .. }| {
            let counting = shards.begin(&self.counters);
            // What stops the evaluation counts as a match of a rule that reads the body.
            let need = match needs.indices(context, scratch) {
                Ok([]) => BodyNeed::NoPhase,
                Ok(may_match) => match self.answers_before_body(may_match) {
                    None => BodyNeed::NoBody,
                    Some(answers) if answers.iter().any(|rule| self.matches(*rule, context, scratch)) => {
                        BodyNeed::NoBody
                    }
                    Some(_) => BodyNeed::Body,
                },
                Err(_) => BodyNeed::Body,
            };
            if need == BodyNeed::NoPhase {
                counting.end();
                if let Some(watch) = watch {
                    let noted = Noted { matched: &[], counted: &[], drawn: &[], failed_actions: &Vec::new() };
                    self.watch(watch, context, &noted, None, scratch);
                }
            } else {
                counting.discard();
            }
            need
        })
    }

    /// Returns which of these rules end the phase, if they match, before the first one that reads the body; `None` if
    /// none reads it.
    fn answers_before_body(&self, may_match: &[usize]) -> Option<SmallVec<[usize; 4]>> {
        let (mut answers, mut earlier_may_allow) = (SmallVec::new(), false);
        for index in may_match {
            let Some(rule) = self.rules.get(*index) else { return Some(SmallVec::new()) };
            if rule.reads_body() || rule.is_unconditional {
                return Some(answers);
            }
            if !earlier_may_allow && rule.answers_by_head() && rule.is_pure {
                answers.push(*index);
            }
            earlier_may_allow |= rule.may_allow();
        }
        None
    }

    fn matches<C: Context<Static = S>>(&self, rule: usize, context: &C, scratch: &mut Scratch) -> bool {
        matches!(self.set.test(rule, context, scratch), Some(Ok(true)))
    }

    /// Calls `run` with the memory of this thread, and with one view of the lists.
    fn with_memory<R>(&self, run: impl FnOnce(&mut ThreadMemory) -> R) -> R {
        let run = || {
            let mut memory = MEMORY.try_with(Cell::take).ok().flatten().unwrap_or_default();
            let result = run(&mut memory);
            let _ = MEMORY.try_with(|kept| kept.set(Some(memory)));
            result
        };
        if let Some(lists) = &self.lists { lists.pin(run) } else { run() }
    }

    /// Returns when the messages of a stream of this method are judged one at a time.
    pub(crate) fn judges_one_by_one(&self, method: &str) -> OneByOne {
        let reads_more = |rule: &Rule<S>| rule.method.as_deref() == Some(method) && !rule.reads_messages_only();
        if self.needs.is_none() || self.rules.iter().any(reads_more) {
            OneByOne::Never
        } else if self.rules.iter().any(|rule| rule.method.is_none()) {
            OneByOne::UnlessOthersMatch
        } else {
            OneByOne::Always
        }
    }

    /// Returns the answer to a call that a rule denies whatever its messages are: then the server need not see its
    /// head. `context` lacks messages, and `message` the body.
    pub(crate) fn answer_by_head<C: Context<Static = S>>(
        &self,
        context: &C,
        message: Message<'_>,
        effects: &mut Effects,
    ) -> Option<PolicyAnswer> {
        let needs = self.needs.as_ref().filter(|_| self.rules.iter().any(Rule::answers_by_head))?;
        let answer = self.with_memory(|ThreadMemory { scratch, shards, .. }| {
            let may_match = needs.indices(context, scratch).map(<[usize]>::to_vec).unwrap_or_default();
            let mut found = None;
            for index in may_match {
                let Some(rule) = self.rules.get(index) else { break };
                if rule.answers_by_head() && self.matches(index, context, scratch) {
                    found = Some((index, rule));
                    break;
                }
                // What such a rule does before this one, it does with the first message.
                if rule.may_allow() || rule.leaves_traces() {
                    break;
                }
            }
            let (index, rule) = found?;
            let Step::End(answer) = self.act(rule, context, message, effects, scratch, &mut Vec::new()) else {
                return None;
            };
            let mut counting = shards.begin(&self.counters);
            counting.matched(slot(index));
            counting.end();
            answer
        });
        answer.map(|answer| *answer)
    }

    /// Returns whether the rules that may match, which the head does not exclude, read nothing of the body but the
    /// messages of a call. `context` lacks these.
    pub(crate) fn reads_messages_only<C: Context<Static = S>>(&self, context: &C) -> bool {
        let Some(needs) = &self.needs else { return false };
        self.with_memory(|ThreadMemory { scratch, .. }| {
            let may_match = needs.indices(context, scratch);
            may_match.is_ok_and(|rules| {
                rules.iter().all(|index| self.rules.get(*index).is_some_and(Rule::reads_messages_only))
            })
        })
    }
}
