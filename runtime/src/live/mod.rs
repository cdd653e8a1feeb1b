//! Rules that change while they are used.
//!
//! Readers see an immutable snapshot that is replaced as a whole ([`snapshot`], [`reader`]), so
//! that they never wait and never see half of a change. Writers change the [`state`] under a lock:
//! a list of segments and the rules excluded from them ([`layer`]). Compiling happens outside of
//! the lock: the writer checks new rules for the interpreter, and a background thread makes native
//! code ([`worker`]).
//!
//! Invariant: a change that has an error alters nothing. Test:
//! `runtime/tests/it/live/mod.rs::a_rejected_change_changes_nothing`.
//!
//! Invariant: no code of the host (actions, callbacks, subscribers) runs or is dropped under the lock. Test:
//! `runtime/tests/it/live/drops.rs::a_panic_of_an_action_that_is_dropped_is_contained`.

mod layer;
mod reader;
mod segment;
mod shadow;
mod snapshot;
mod state;
mod status;
mod views;
mod worker;

pub use reader::{Reader, Rules};
pub use shadow::Difference;
pub use status::{ShadowStatus, Status};

use crate::compilation::cancellation::Cancellation;
use crate::compilation::spans::{event, span};
use crate::context::Context;
use crate::counters::{CounterSlot, Counters};
use crate::engine::{Engine, Tier};
use crate::env::Env;
use crate::rules::{ErrorPolicy, Rule, RuleSet, RuleSetBuilder, RuleSetError};
use layer::Layer;
use segment::{LiveRule, NewRule, Segment, build};
use shadow::Watch;
use state::{Shared, State};
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use views::SegmentView;

/// A set of rules that changes while it is evaluated: all rules can be replaced, single rules
/// added, removed and disabled, and a candidate set evaluated in its shadow. `Send` and `Sync`.
///
/// # Evaluating
///
/// Each thread that answers requests has a [`Reader`]. [`load`](Reader::load) returns the current
/// [`Rules`], which are evaluated as a [`RuleSet`](crate::RuleSet) is. It takes no lock and never
/// waits. The rules that it returns do not change: all answers about a request come from one
/// generation.
///
/// ```
/// use celero::http::RequestContext;
/// use celero::{Engine, Env, ErrorPolicy, Live, Rule, Scratch};
///
/// let live = Live::new(Engine::new(), Env::<RequestContext>::new());
/// live.replace(|rules| {
///     rules
///         .rule("admin", r#"request.path.startsWith("/admin")"#, "deny")
///         .rule("bots", r#""x-bot" in request.headers"#, "challenge")
///         .on_error(ErrorPolicy::Match)
/// })?; // in effect now; native code follows
///
/// let reader = live.reader(); // one per worker thread
/// let mut scratch = Scratch::new(); // too
/// let request = http::Request::get("/admin/users").header("x-bot", "1").body(())?;
/// let call = RequestContext::new(&request);
/// let rules = reader.load(); // one per request
/// let first = rules.first(&call, &mut scratch)?.expect("the first rule matches");
/// assert_eq!((first.name, *first.action), ("admin", "deny"));
/// assert_eq!(rules.count(&call, &mut scratch)?, 2);
///
/// live.insert(Rule::new("mail", r#"request.path == "/mail""#, "allow"))?; // after the others
/// live.disable("bots"); // the kill switch
/// assert_eq!(reader.load().count(&call, &mut scratch)?, 1);
/// assert_eq!(rules.count(&call, &mut scratch)?, 2, "these are still the rules of that moment");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Changing
///
/// Changes by several threads are serialized. Each takes effect as a whole, and is visible to every
/// load after the call has returned. A refused change has no effect; its error names every rule
/// that is wrong, the place, and the limit if one is exceeded.
///
/// - [`replace`](Live::replace) replaces all rules. The new rules are checked, and interpreted
///   until the background thread has compiled them; another replacement cancels that work. With
///   [`Tier::Native`](crate::Tier::Native) the call compiles to native code itself.
/// - [`insert`](Live::insert), [`remove`](Live::remove) and [`edit`](Live::edit), for several
///   changes at once, change single rules. The cost depends on the rules that change, not on all
///   rules: well under a millisecond for one. In the background the new rules are compiled to
///   native code, and merged with the old ones when there are enough.
/// - [`disable`](Live::disable) and [`enable`](Live::enable) switch rules off and on by name.
///
/// Rules are sorted by priority, smaller numbers first, and rules of the same priority by
/// insertion. Names need not be unique: an operation by name applies to all rules with it.
///
/// # Shadowing
///
/// [`shadow`](Live::shadow) evaluates a candidate set on a share of the requests, after the live
/// rules, and reports the differences. It has no influence on answers: its errors, and panics of
/// the callback, are contained. [`promote`](Live::promote) makes it live. This also replaces rules
/// without an interpreted phase: a candidate with a share of 0, [`wait_idle`](Live::wait_idle),
/// `promote`.
///
/// ```
/// use celero::{Bindings, Engine, Env, Live, Scratch, Type, Value};
/// use std::sync::{Arc, Mutex};
///
/// let env = Env::dynamic().variable("age", Type::Int);
/// let live = Live::new(Engine::new(), env.clone());
/// live.replace(|rules| rules.rule("adult", "age >= 18", ()))?;
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let log = Arc::clone(&seen);
/// let candidate = "age >= 21";
/// live.shadow(1.0, |rules| rules.rule("adult", candidate, ()), move |difference| {
///     log.lock().unwrap().push(difference.to_string());
/// })?;
///
/// let mut call = Bindings::new(&env);
/// call.set("age", Value::Int(20))?;
/// assert!(live.load().any(&call, &mut Scratch::new())?);
/// assert_eq!(*seen.lock().unwrap(), ["lost `adult`"]);
/// live.promote();
/// assert!(!live.load().any(&call, &mut Scratch::new())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Memory and threads
///
/// A `Live` has one background thread, which sleeps when there is nothing to do and ends when the
/// `Live` is dropped. Old rules are dropped when nobody holds them any more, never in the thread of
/// a reader.
pub struct Live<S, A = ()> {
    shared: Arc<Shared<S, A>>,
}

impl<S, A> Live<S, A>
where
    S: Context<Static = S> + 'static,
    A: Send + Sync + 'static,
{
    /// Creates a set without rules, and starts its background thread. If that fails, the
    /// interpreter evaluates all rules, and [`status`](Live::status) says so.
    #[must_use]
    pub fn new(engine: Engine, env: Env<S>) -> Self {
        Self::start(engine, env, None)
    }

    /// As [`new`](Self::new), with counters of evaluations, and of matches and failures of each
    /// rule: [`Rules::counts`]. A [candidate](Live::shadow) is not counted.
    #[must_use]
    pub fn with_counters(engine: Engine, env: Env<S>) -> Self {
        Self::start(engine, env, Some(Arc::new(Counters::new(0))))
    }

    fn start(engine: Engine, env: Env<S>, counters: Option<Arc<Counters>>) -> Self {
        let shared = Arc::new(Shared::new(engine, env, counters));
        match worker::start(&shared) {
            // There was none before.
            Ok(thread) => drop(shared.drop_queue.reclaimer.set(thread)),
            Err(error) => shared.lock().threadless = Some(format!("there is no thread in the background: {error}")),
        }
        Self { shared }
    }

    /// Replaces all rules, and the policy for errors. Names that are [disabled](Live::disable) stay disabled.
    ///
    /// # Errors
    /// [`RuleSetError`] with every rule that does not compile, or that the compilation was
    /// [cancelled](RuleSetBuilder::cancel_if). The rules are then what they were.
    pub fn replace(
        &self,
        rules: impl FnOnce(RuleSetBuilder<'_, S, A>) -> RuleSetBuilder<'_, S, A>,
    ) -> Result<(), RuleSetError> {
        span!("celero.replace");
        let mut layer = self.layer(rules)?;
        let rules = self.shared.change(|state| {
            layer.disable_all(&state.disabled);
            state.live = layer;
            state.live.views().len()
        });
        event!(info, "rules replaced", rules = rules);
        // Memory must not grow if rules are replaced faster than the background thread drops them.
        self.shared.drop_queue.clear();
        Ok(())
    }

    /// Adds a rule after all others of its priority.
    ///
    /// # Errors
    /// As [`replace`](Live::replace).
    pub fn insert(&self, rule: Rule<A>) -> Result<(), RuleSetError> {
        self.edit(&[], [rule]).map(drop)
    }

    /// Removes all rules with a name. Returns how many there were.
    pub fn remove(&self, name: &str) -> usize {
        let removed = self.shared.change(|state| state.live.remove(name));
        event!(info, "rule removed", name = name, rules = removed);
        removed
    }

    /// Removes all rules with these names and adds others, as one change. Returns the number of
    /// removed rules. Each new rule comes after all others of its [priority](Rule::priority). The
    /// policy for errors does not change.
    ///
    /// ```
    /// # use celero::{Bindings, Engine, Env, Live, Rule, Scratch};
    /// # let env = Env::dynamic();
    /// # let live = Live::new(Engine::new(), env.clone());
    /// # live.replace(|rules| rules.rule("old", "true", 1).rule("other", "true", 1))?;
    /// let added = [Rule::new("new", "1 < 2", 2), Rule::new("newer", "2 < 3", 3).priority(-1)];
    /// let removed = live.edit(&["old"], added)?;
    /// assert_eq!(removed, 1);
    /// assert!(live.load().iter().map(|rule| rule.name).eq(["newer", "other", "new"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`replace`](Live::replace).
    pub fn edit(&self, removed: &[&str], added: impl IntoIterator<Item = Rule<A>>) -> Result<usize, RuleSetError> {
        span!("celero.edit");
        let added = self.numbered(added);
        loop {
            let on_error = self.shared.lock().live.on_error;
            let mut segment = None;
            if !added.is_empty() {
                segment = Some(self.build(&added, on_error, Cancellation::default())?);
            }
            let done = self.shared.change(|state| {
                let State { live, disabled, .. } = state;
                // Another thread may have replaced all rules meanwhile.
                if live.on_error != on_error {
                    return None;
                }
                let removed = removed.iter().fold(0_usize, |sum, name| sum.saturating_add(live.remove(name)));
                if let Some(segment) = segment.take() {
                    live.push(segment, disabled);
                }
                Some(removed)
            });
            if let Some(removed) = done {
                event!(info, "rules edited", removed = removed, added = added.len());
                return Ok(removed);
            }
        }
    }

    /// Disables a name. Returns the number of live rules with it. They are not evaluated, as if
    /// they did not exist, until the name is [enabled](Live::enable). This includes rules of the
    /// name that are added later, and those of a candidate.
    pub fn disable(&self, name: &str) -> usize {
        let rules = self.shared.change(|state| {
            state.disabled.insert(name.into());
            state.switch(name, true)
        });
        event!(info, "rule disabled", name = name, rules = rules);
        rules
    }

    /// Enables a name again. Returns the number of live rules with it.
    pub fn enable(&self, name: &str) -> usize {
        let rules = self.shared.change(|state| {
            state.disabled.remove(name);
            state.switch(name, false)
        });
        event!(info, "rule enabled", name = name, rules = rules);
        rules
    }

    /// Returns the disabled names, in alphabetical order.
    #[must_use]
    pub fn disabled(&self) -> Vec<String> {
        self.shared.lock().disabled.iter().map(|name| name.to_string()).collect()
    }

    /// Evaluates a candidate set in the shadow of the live rules, in place of a previous candidate.
    /// On a share of the evaluations, from 0 to 1 in steps of one millionth and spread evenly, the
    /// candidate is evaluated after the live rules in the same thread, and `on_difference` is
    /// called if the results differ. The callback delays the thread that answers the request: it
    /// should be fast.
    ///
    /// Impure functions of the host are called by both sets, and each set asks named lists as they
    /// are when its evaluation begins.
    ///
    /// # Errors
    /// As [`replace`](Live::replace). A previous candidate stays then.
    pub fn shadow(
        &self,
        share: f64,
        rules: impl FnOnce(RuleSetBuilder<'_, S, A>) -> RuleSetBuilder<'_, S, A>,
        on_difference: impl Fn(&Difference<'_>) + Send + Sync + 'static,
    ) -> Result<(), RuleSetError> {
        span!("celero.shadow");
        let mut layer = self.layer(rules)?;
        let watch = Arc::new(Watch::new(share, Box::new(on_difference)));
        let old = self.shared.change(|state| {
            layer.disable_all(&state.disabled);
            state.candidate.replace((layer, watch))
        });
        drop(old);
        event!(info, "candidate shadows", share = share);
        Ok(())
    }

    /// Drops the candidate. Returns whether there was one.
    pub fn end_shadow(&self) -> bool {
        let old = self.shared.change(|state| state.candidate.take());
        event!(info, "candidate dropped", found = old.is_some());
        old.is_some()
    }

    /// Makes the candidate live, in place of all live rules. Returns whether there was one. It is not compiled again.
    pub fn promote(&self) -> bool {
        let old = self.shared.change(|state| {
            let (layer, watch) = state.candidate.take()?;
            state.live = layer;
            Some(watch)
        });
        event!(info, "candidate promoted", found = old.is_some());
        old.is_some()
    }

    /// Returns the current rules.
    #[must_use]
    pub fn load(&self) -> Rules<S, A> {
        self.reader().load()
    }

    /// Returns a reader, for a thread that evaluates the rules.
    #[must_use]
    pub fn reader(&self) -> Reader<S, A> {
        Reader { shared: Arc::clone(&self.shared) }
    }

    /// Returns the state of the rules and of the background work.
    #[must_use]
    pub fn status(&self) -> Status {
        let state = self.shared.lock();
        let views = state.live.views();
        let native = |view: &SegmentView<S, A>| view.segment.set().map_or(0, RuleSet::native_rules);
        let native_rules = views.segments().fold(0_usize, |sum, view| sum.saturating_add(native(view)));
        let stuck = || state.layers().find_map(|layer| layer.stuck.clone());
        let shadow = state.candidate.as_ref().map(|(layer, watch)| ShadowStatus {
            rules: layer.views().len(),
            compared: watch.compared.load(Ordering::Relaxed),
            different: watch.different.load(Ordering::Relaxed),
        });
        Status {
            generation: state.generation,
            rules: views.len(),
            native_rules,
            sets: views.segments().len(),
            is_working: state.is_busy(),
            failure: state.threadless.clone().or_else(stuck),
            shadow,
        }
    }

    /// Waits until the background work is done, at most for `timeout`. Returns whether it is done.
    /// All rules that can be native code are then, or [`status`](Live::status) returns why not.
    pub fn wait_idle(&self, timeout: Duration) -> bool {
        let idle = &self.shared.idle;
        let waited = idle.wait_timeout_while(self.shared.lock(), timeout, |state| state.is_busy());
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// A layer of these rules.
    fn layer(
        &self,
        rules: impl FnOnce(RuleSetBuilder<'_, S, A>) -> RuleSetBuilder<'_, S, A>,
    ) -> Result<Layer<S, A>, RuleSetError> {
        let Shared { engine, env, .. } = &*self.shared;
        let (rules, on_error, cancellation) = rules(engine.rules(env)).into_rules();
        Ok(Layer::new(self.build(&self.numbered(rules), on_error, cancellation)?, on_error))
    }

    /// Rules numbered from 0, in their order.
    fn numbered(&self, rules: impl IntoIterator<Item = Rule<A>>) -> Vec<NewRule<A>> {
        let counters = self.shared.counters.as_ref();
        let live = |(sequence, rule): (u64, Rule<A>)| {
            let Rule { name, condition, action, priority, tags, on_error, shadows_until } = rule;
            let action = Arc::new(LiveRule::new(priority, sequence, counters.map(CounterSlot::new), action));
            Rule { name, condition, action, priority, tags, on_error, shadows_until }
        };
        let mut rules: Vec<NewRule<A>> = (0..).zip(rules).map(live).collect();
        rules.sort_by_key(|rule| rule.action.key());
        rules
    }

    /// A segment of rules, ready to be evaluated.
    fn build(
        &self,
        rules: &[NewRule<A>],
        on_error: ErrorPolicy,
        cancellation: Cancellation,
    ) -> Result<Segment<S, A>, RuleSetError> {
        let Shared { engine, env, drop_queue, .. } = &*self.shared;
        let tier = if engine.tier() == Tier::Native { Tier::Native } else { Tier::Interpret };
        let threads = engine.threads(env.functions());
        let content = build(engine, env, tier, threads, cancellation, rules, on_error)?;
        Ok(Segment::new(content, drop_queue))
    }
}

impl<S, A> Drop for Live<S, A> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        self.shared.lock().layers().for_each(|layer| layer.stale.store(true, Ordering::Relaxed));
        self.shared.drop_queue.wake();
    }
}

impl<S, A> fmt::Debug for Live<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        let views = state.live.views();
        f.debug_struct("Live")
            .field("generation", &state.generation)
            .field("rules", &views.len())
            .field("sets", &views.segments().len())
            .field("disabled", &state.disabled)
            .finish_non_exhaustive()
    }
}
