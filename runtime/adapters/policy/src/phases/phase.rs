//! Runs a phase: its rules are evaluated together, and those that match act in order until one ends the phase.
//!
//! Invariant: the rules of a phase read the message as it was when the phase began. Its edits are applied when it ends.
//! Test: `runtime/adapters/policy/tests/policy/actions.rs::rules_match_the_message_as_the_phase_found_it`.
//!
//! Invariant: all that a phase evaluates asks the named lists in one generation at one time. Test:
//! `runtime/adapters/policy/tests/policy/lists.rs::a_phase_asks_one_generation`.

use crate::auth::{LazyCredentials, UNVERIFIED, UnverifiedRead};
use crate::host::failure_log::{FailureLog, FailureSink};
use crate::host::outcome::{Phase, PolicyAnswer};
use crate::keys::error_policy::PhaseErrorPolicy;
use crate::limits::headers::LimitReport;
use crate::limits::remote::RemoteVerdict;
use crate::limits::request::PendingQuestion;
use crate::limits::settings::TellsClient;
use crate::phases::exchange::Effects;
use crate::phases::watch::{FailedActions, Noted};
use crate::rules::action_failure::{ActionFailure, ActionPart};
use crate::rules::actions::PhaseEnd;
use crate::rules::body_change::Message;
use crate::rules::limit::{OnLimit, RuleLimit};
use crate::rules::remote_limit::{RemoteLimit, RemoteStep};
use crate::rules::rule::Rule;
use crate::rules::target::NoPath;
use crate::rules::times::RuleTimes;
use celero::counting::{CounterShards, Counters};
use celero::lists::Lists;
use celero::{Context, RuleError, RuleSet, Scratch};
use http::{StatusCode, header};
use serde_json::Value as Json;
use std::cell::Cell;
use std::sync::Arc;

/// The rules of a phase.
#[derive(Debug)]
pub(crate) struct PhaseRules<S> {
    pub(crate) phase: Phase,
    /// The conditions, in the order of `rules`.
    pub(crate) set: RuleSet<S, ()>,
    pub(crate) rules: Box<[Rule<S>]>,
    /// Of a phase that reads a body: what each rule needs of the head. `None` if no head excludes all of them.
    pub(crate) needs: Option<RuleSet<S, ()>>,
    pub(crate) error_policy: PhaseErrorPolicy,
    pub(crate) error_status: StatusCode,
    /// What the rules did: a slot for each, by index.
    pub(crate) counters: Counters,
    pub(crate) times: RuleTimes,
    /// Where failing rules are reported, if the host has a log.
    pub(crate) failure_log: Option<FailureLog>,
    /// The named lists of the policy.
    pub(crate) lists: Option<Lists>,
}

/// The memory that the evaluations of a thread reuse.
#[derive(Default)]
pub(super) struct ThreadMemory {
    pub(super) scratch: Scratch,
    matched: Vec<usize>,
    /// The rules that matched (true) or failed, to be counted when the phase has an outcome.
    counted: Vec<(usize, bool)>,
    pub(super) shards: CounterShards,
}

/// The outcome of a phase depends on a verification that takes long, or on a service that is to be
/// asked. The phase had no effect.
pub(crate) struct NotReady;

thread_local! {
    pub(super) static MEMORY: Cell<Option<Box<ThreadMemory>>> = const { Cell::new(None) };
}

impl<S: Context + 'static> PhaseRules<S> {
    /// Runs the phase on this message. Returns the answer of the policy, if it gives one.
    pub(crate) fn run<C: Context<Static = S>>(
        &self,
        context: &C,
        message: Message<'_>,
        effects: &mut Effects,
    ) -> Option<PolicyAnswer> {
        // Without credentials to wait for, the phase has an outcome. Whatever happens, it ends closed.
        self.run_or_wait(context, message, effects, None, || true).unwrap_or_else(|NotReady| Some(self.stopped(0)))
    }

    /// Runs the phase on this message. `credentials` are those that may be unverified yet; `ready` says whether a
    /// phase that gives no answer may end now.
    ///
    /// # Errors
    /// [`NotReady`]: nothing was counted, and the effects are to be discarded.
    pub(crate) fn run_or_wait<C: Context<Static = S>>(
        &self,
        context: &C,
        message: Message<'_>,
        effects: &mut Effects,
        credentials: Option<&LazyCredentials<'_>>,
        ready: impl FnOnce() -> bool,
    ) -> Result<Option<PolicyAnswer>, NotReady> {
        if self.rules.is_empty() {
            return if ready() { Ok(None) } else { Err(NotReady) };
        }
        let run = || self.run_whole(context, message, effects, credentials, ready);
        if let Some(lists) = &self.lists { lists.pin(run) } else { run() }
    }

    /// Runs the phase: evaluates the conditions, what rules compute, and what says why they did what they did.
    fn run_whole<C: Context<Static = S>>(
        &self,
        context: &C,
        message: Message<'_>,
        effects: &mut Effects,
        credentials: Option<&LazyCredentials<'_>>,
        ready: impl FnOnce() -> bool,
    ) -> Result<Option<PolicyAnswer>, NotReady> {
        // Thread-local storage is gone if the thread is ending; then the memory is not reused.
        let mut memory = MEMORY.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let ThreadMemory { scratch, matched, counted, shards } = &mut *memory;
        let mut counting = shards.begin(&self.counters);
        counted.clear();
        let mut failed_actions = Vec::new();
        let answer = match self.run_with(
            context,
            message,
            effects,
            credentials,
            (scratch, matched, counted),
            &mut failed_actions,
        ) {
            Ok(None) if !ready() => Err(NotReady),
            answer => answer,
        };
        if answer.is_err() {
            counting.discard();
        } else {
            for (rule, matched) in &*counted {
                if *matched { counting.matched(slot(*rule)) } else { counting.failed(slot(*rule)) }
            }
            if let Some(log) = &self.failure_log {
                // All rules of the set were evaluated; those behind the one that ended the phase have not failed.
                for error in scratch.errors().iter().filter(|error| counted.contains(&(error.rule, false))) {
                    let start = self.rules.get(error.rule).map_or(0, |rule| rule.when_start);
                    let line = || Some(self.set.describe(error, context)?.of_part(start).log_line());
                    log.failed(error.rule, line);
                }
                for failures in failed_actions.chunk_by(|(rule, _), (next, _)| rule == next) {
                    let Some((rule, _)) = failures.first() else { continue };
                    log.failed(*rule, || failures.iter().map(|(_, failure)| self.action_line(*rule, failure, context)));
                }
            }
            if let Some(watch) = &mut effects.watch {
                let drawn = &effects.drawn;
                let noted = Noted { matched, counted, drawn, failed_actions: &failed_actions };
                self.watch(watch, context, &noted, answer.as_ref().ok().and_then(Option::as_ref), scratch);
            }
            if counting.end() {
                self.times.measure_next(|rule| self.set.test(rule, context, scratch));
            }
        }
        let _ = MEMORY.try_with(|kept| kept.set(Some(memory)));
        if !matches!(answer, Ok(None)) {
            effects.edits.clear();
        }
        answer
    }

    fn run_with<'r, C: Context<Static = S>>(
        &'r self,
        context: &C,
        message: Message<'_>,
        effects: &mut Effects,
        credentials: Option<&LazyCredentials<'_>>,
        (scratch, matched, counted): (&mut Scratch, &mut Vec<usize>, &mut Vec<(usize, bool)>),
        failed_actions: &mut FailedActions<'r, S>,
    ) -> Result<Option<PolicyAnswer>, NotReady> {
        let read = || credentials.map_or(UnverifiedRead::None, LazyCredentials::take_read);
        matched.clear();
        match self.set.indices(context, scratch) {
            Ok(rules) => matched.extend_from_slice(rules),
            // No rule of the set has the policy `Stop` today. Whatever stops an evaluation, the phase ends closed.
            Err(error) => {
                counted.push((error.rule, false));
                return Ok(Some(self.stopped(error.rule)));
            }
        }
        let some_unverified = match read() {
            UnverifiedRead::None => false,
            UnverifiedRead::Failed => true,
            UnverifiedRead::Empty => return Err(NotReady),
        };
        // A rule that has failed for want of a verification has no result yet.
        let waits = |error: &RuleError| some_unverified && error.error.kind == UNVERIFIED;
        let errors: smallvec::SmallVec<[(usize, bool); 4]> =
            scratch.errors().iter().map(|error| (error.rule, waits(error))).collect();
        let mut failed = errors.as_slice();
        let level = |index: usize| self.rules.get(index).map_or(0, |rule| rule.level);
        let last_level = self.rules.last().map_or(0, |rule| rule.level);
        // The level whose other rules are skipped, because a rule of it said `allow`.
        let mut allowed = None;
        for &index in &*matched {
            let Some(rule) = self.rules.get(index) else { return Ok(Some(self.stopped(index))) };
            while let [(next, waits), rest @ ..] = failed
                && *next <= index
            {
                failed = rest;
                if allowed == Some(level(*next)) {
                    continue;
                }
                if *waits {
                    return Err(NotReady);
                }
                counted.push((*next, false));
                if *next == index && self.error_policy.stops() {
                    return Ok(Some(self.stopped(index)));
                }
            }
            let may_run_again = self.phase.may_run_again();
            let mut acts = |share| if may_run_again { effects.draw(index, share) } else { fastrand::f64() < share };
            let is_skipped = allowed == Some(rule.level) || rule.sample.is_some_and(|share| !acts(share));
            if is_skipped {
                continue;
            }
            let mut failures = Vec::new();
            let is_met = rule.require.as_ref().is_some_and(|require| require.is_met(context, scratch, &mut failures));
            // What a requirement reads may be unverified yet.
            if read() != UnverifiedRead::None {
                return Err(NotReady);
            }
            if is_met {
                continue;
            }
            counted.push((index, true));
            let charge = rule
                .limit
                .as_ref()
                .map(|limit| (limit, limit.charge(effects.limits.client, context, scratch, &mut failures)));
            // The key may depend on a verification: nothing is counted before that.
            if read() != UnverifiedRead::None {
                return Err(NotReady);
            }
            let above = charge.and_then(|(limit, charge)| (!limit.count(charge, &mut effects.limits)).then_some(limit));
            let mut step = above.map_or(Step::Next, |limit| {
                let asked = effects.limits.decided(&limit.state);
                let failed = asked.is_some_and(|asked| asked.failed);
                let decision = asked.and_then(|asked| asked.decision);
                let report = decision.map(|decision| limit.state.report(&decision));
                let above = AboveLimit::local(limit, failed);
                self.above(rule, above, report, context, effects, scratch, &mut failures)
            });
            if let Some(limit) = rule.remote.as_ref().filter(|_| matches!(step, Step::Next)) {
                let next = limit.step(context, scratch, &mut failures, &effects.limits);
                // The descriptors may depend on a verification: nothing is asked before that.
                if read() != UnverifiedRead::None {
                    return Err(NotReady);
                }
                step = self.remote(rule, limit, next, context, effects, scratch, &mut failures)?;
            }
            if matches!(step, Step::Next) {
                step = self.act(rule, context, message, effects, scratch, &mut failures);
            }
            if read() != UnverifiedRead::None {
                return Err(NotReady);
            }
            let is_counted = failures.iter().any(ActionFailure::is_counted);
            failed_actions.extend(failures.into_iter().map(|failure| (index, failure)));
            if is_counted {
                counted.push((index, false));
                if self.error_policy.stops() {
                    return Ok(Some(self.stopped(index)));
                }
            }
            match step {
                Step::End(None) if rule.level < last_level => allowed = Some(rule.level),
                Step::End(answer) => return Ok(answer.map(|answer| *answer)),
                Step::Next => {}
            }
        }
        let failed = failed.iter().filter(|(rule, _)| allowed != Some(level(*rule)));
        if failed.clone().any(|(_, waits)| *waits) {
            return Err(NotReady);
        }
        counted.extend(failed.map(|(rule, _)| (*rule, false)));
        Ok(None)
    }

    /// Reports failing rules to a log.
    pub(crate) fn log_failures(&mut self, sink: &FailureSink) {
        self.failure_log = Some(FailureLog::new(self.phase, self.rules.len(), Arc::clone(sink)));
    }

    /// Returns the answer of a phase that a failing rule ends.
    #[cold]
    pub(crate) fn stopped(&self, rule: usize) -> PolicyAnswer {
        let name = self.rules.get(rule).map_or_else(|| Arc::from(self.phase.name()), |rule| Arc::clone(&rule.name));
        PolicyAnswer::empty(self.error_status, &name)
    }

    /// Returns the line about a failed action: it begins as a report about a failed condition does.
    fn action_line<C: Context<Static = S>>(&self, rule: usize, failure: &ActionFailure<'_, S>, context: &C) -> String {
        let name = self.rules.get(rule).map_or("", |rule| &rule.name);
        format!("rule \"{}\": {}", name.escape_debug(), failure.log_words(context))
    }

    /// Applies the actions of a rule to `effects`. Adds those that fail to `failures`.
    pub(super) fn act<'r, C: Context<Static = S>>(
        &self,
        rule: &'r Rule<S>,
        context: &C,
        message: Message<'_>,
        effects: &mut Effects,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
    ) -> Step {
        if let Some(delay) = &rule.delay {
            let time = delay.time(context, scratch, failures);
            if delay.dry_run {
                effects.log(&Arc::from("dryRunDelay"), Json::from(time.as_secs_f64()));
            } else {
                effects.delay(time);
            }
        }
        for edit in &rule.edits {
            if let Err(failure) = edit.collect(context, message.headers, &mut effects.edits, scratch) {
                failures.push(failure);
                if edit.ends_phase() {
                    return Step::End(Some(Box::new(PolicyAnswer::empty(self.error_status, &rule.name))));
                }
            }
        }
        if let Some(target) = &rule.target
            && let Err(NoPath) = target.collect(&rule.name, context, &mut effects.edits.target, scratch, failures)
        {
            return Step::End(Some(Box::new(PolicyAnswer::empty(self.error_status, &rule.name))));
        }
        if let Some(change) = &rule.body
            && let Err(failure) = change.collect(context, message, &mut effects.edits.body, scratch)
        {
            failures.push(failure);
            return Step::End(Some(Box::new(PolicyAnswer::empty(self.error_status, &rule.name))));
        }
        if let Some(status) = rule.status {
            effects.edits.set_status(status);
        }
        for (name, words) in &rule.labels {
            match words.text(ActionPart::Label(name), context, scratch) {
                Ok(text) => effects.labels.push((name.clone(), String::from_utf8_lossy(&text).into_owned())),
                Err(failure) => failures.push(failure),
            }
        }
        for (name, field) in &rule.fields {
            match field.json(ActionPart::LogField(name), context, scratch) {
                Ok(Some(json)) => effects.log(name, json),
                Ok(None) => {}
                Err(failure) => failures.push(failure),
            }
        }
        for (name, cost) in &rule.settled {
            match cost.value(ActionPart::Settle(name), context, scratch) {
                Ok(cost) => effects.limits.settle(name, cost),
                Err(failure) => failures.push(failure),
            }
        }
        rule.end.as_ref().map_or(Step::Next, |end| self.end(end, rule, context, scratch, failures))
    }

    /// Ends the phase with the answer of a rule.
    fn end<'r, C: Context<Static = S>>(
        &self,
        end: &'r PhaseEnd<S>,
        rule: &'r Rule<S>,
        context: &C,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
    ) -> Step {
        let (PhaseEnd::Deny(reply) | PhaseEnd::Respond(reply)) = end else { return Step::End(None) };
        let before = failures.len();
        let mut answer = reply.answer(context, &rule.name, scratch, failures);
        let is_complete = failures.len() == before;
        if answer.status.is_redirection() && !answer.headers.contains_key(header::LOCATION) && !is_complete {
            answer = PolicyAnswer::empty(self.error_status, &rule.name);
        }
        Step::End(Some(Box::new(answer)))
    }

    /// Returns what follows from a limit that a service counts.
    ///
    /// # Errors
    /// [`NotReady`]: the service is to be asked first.
    #[expect(clippy::too_many_arguments, reason = "the state of one evaluation")]
    fn remote<'r, C: Context<Static = S>>(
        &self,
        rule: &'r Rule<S>,
        limit: &'r RemoteLimit<S>,
        next: RemoteStep,
        context: &C,
        effects: &mut Effects,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
    ) -> Result<Step, NotReady> {
        let (state, tells_always) = (Arc::clone(&limit.state), limit.tells == TellsClient::Always);
        match next {
            RemoteStep::Ask(question) => {
                effects.limits.pending =
                    Some(PendingQuestion { question, state, tells_always, dry_run: limit.dry_run });
                Err(NotReady)
            }
            RemoteStep::Pass => Ok(Step::Next),
            RemoteStep::Unavailable => Ok(Step::End(Some(Box::new(PolicyAnswer::try_again(&rule.name))))),
            RemoteStep::Above => {
                let report = match effects.limits.remote_verdict(&limit.state) {
                    Some(RemoteVerdict::Answered(answer)) => Some(answer.report(&limit.state.name)),
                    _ => None,
                };
                let above = AboveLimit::remote(limit, report.is_none());
                Ok(self.above(rule, above, report, context, effects, scratch, failures))
            }
            RemoteStep::Failed(next) => {
                effects.limits.record(state, RemoteVerdict::Failed, tells_always, limit.dry_run);
                self.remote(rule, limit, *next, context, effects, scratch, failures)
            }
        }
    }

    /// Answers or delays a request above a limit, or only logs it in a dry run.
    #[cold]
    #[expect(clippy::too_many_arguments, reason = "the state of one evaluation")]
    fn above<'r, C: Context<Static = S>>(
        &self,
        rule: &'r Rule<S>,
        limit: AboveLimit<'r, S>,
        report: Option<LimitReport>,
        context: &C,
        effects: &mut Effects,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
    ) -> Step {
        if limit.dry_run {
            // A connection has no log entry.
            if self.phase != Phase::Connection {
                effects.log(&Arc::from("aboveLimit"), Json::from(&**limit.name));
            }
            return Step::Next;
        }
        if let Some(delay) = &limit.on_limit.delay {
            effects.delay(delay.time(context, scratch, failures));
        }
        let mut step = match &limit.on_limit.end {
            Some(end) => self.end(end, rule, context, scratch, failures),
            // How often the key came is not known: it is not let pass.
            None if limit.failed => {
                Step::End(Some(Box::new(PolicyAnswer::empty(StatusCode::TOO_MANY_REQUESTS, &rule.name))))
            }
            None => return Step::Next,
        };
        // Nobody reads headers about a connection.
        if let (Step::End(Some(answer)), Some(report)) = (&mut step, report)
            && self.phase != Phase::Connection
        {
            report.add_retry_after(&mut answer.headers);
            if limit.tells != TellsClient::Never {
                report.headers(|name, value| {
                    answer.headers.append(name, value);
                });
            }
        }
        step
    }
}

/// The slot of a rule in the counters of its phase.
pub(crate) fn slot(rule: usize) -> u32 {
    u32::try_from(rule).unwrap_or(u32::MAX)
}

/// What follows after a rule has acted.
pub(super) enum Step {
    Next,
    End(Option<Box<PolicyAnswer>>),
}

/// The limit that a request is above.
struct AboveLimit<'r, S> {
    name: &'r Arc<str>,
    on_limit: &'r OnLimit<S>,
    /// What the limit counts by has failed.
    failed: bool,
    dry_run: bool,
    tells: TellsClient,
}

impl<'r, S> AboveLimit<'r, S> {
    fn local(limit: &'r RuleLimit<S>, failed: bool) -> Self {
        let RuleLimit { state, on_limit, dry_run, tells, .. } = limit;
        Self { name: &state.name, on_limit, failed, dry_run: *dry_run, tells: *tells }
    }

    fn remote(limit: &'r RemoteLimit<S>, failed: bool) -> Self {
        let RemoteLimit { state, on_limit, dry_run, tells, .. } = limit;
        Self { name: &state.name, on_limit, failed, dry_run: *dry_run, tells: *tells }
    }
}
