//! Rules that change while they are used.
//!
//! What is published is immutable and swapped as one ([`reader`]), so that a reader never waits and never sees half of a
//! change. Behind it ([`state`]) is what writers change under a lock: segments and what is left out of them ([`layer`]). Compiling is
//! done outside of the lock, by the thread that changes rules as far as the interpreter needs it, and by one in the background
//! ([`worker`]) for the rest.

mod layer;
mod reader;
mod segment;
mod shadow;
mod state;
mod status;
mod views;
mod worker;

pub use reader::{Reader, Rules};
pub use shadow::Difference;
pub use status::{ShadowStatus, Status};

use crate::context::Context;
use crate::counters::{Board, Place};
use crate::engine::{Engine, Tier};
use crate::env::Env;
use crate::rules::{ErrorPolicy, Given, RuleSet, RuleSetBuilder, RuleSetError};
use crate::trace::{event, span};
use layer::Layer;
use segment::{Entry, Item, Segment, build};
use shadow::Watch;
use state::{Shared, State};
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use views::View;

/// A set of rules that changes while others ask it: it can be replaced, single rules can be added, removed and switched off, and a
/// candidate can be tried in its shadow. `Send` and `Sync`.
///
/// # Asking
///
/// Threads that answer requests have a [`Reader`] each. [`load`](Reader::load) gives the [`Rules`] of the moment, which are asked as a
/// [`RuleSet`](crate::RuleSet) is. It takes no lock and never waits, and what it gives does not change any more: all answers
/// about a request are of one generation.
///
/// ```
/// use celero::http::RequestContext;
/// use celero::{Engine, Env, Live, ErrorPolicy, Scratch};
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
/// live.insert("mail", r#"request.path == "/mail""#, "allow")?; // after the others
/// live.disable("bots"); // the kill switch
/// assert_eq!(reader.load().count(&call, &mut scratch)?, 1);
/// assert_eq!(rules.count(&call, &mut scratch)?, 2, "these are still the rules of that moment");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Changing
///
/// Changes by several threads happen one after the other. Each takes effect as a whole and at once, and is visible to each load after
/// the call has returned. One that is refused changes nothing, and its error names every rule that is at fault, the place, and the
/// limit if it exceeds one.
///
/// - [`replace`](Live::replace) puts a new set in the place of the old one. Its rules are checked, and interpreted, until a thread
///   in the background has compiled them; one more replacement ends that work. An engine with [`Tier::Native`](crate::Tier::Native)
///   asks for native code or an error: there the call takes as long as compiling does.
/// - [`insert`](Live::insert), [`remove`](Live::remove) and, for several as one, [`edit`](Live::edit) change single rules. They cost
///   what the rules in question cost, not what all rules do: well under a millisecond for one. In the background, the new
///   rules become native code, and are merged with the old ones when there are enough.
/// - [`disable`](Live::disable) and [`enable`](Live::enable) switch by name.
///
/// Rules are in the order of their priorities, smaller numbers first, and those of the same in the order of their insertion. Names
/// need not be unique: what is done by name is done to all rules of it.
///
/// # Trying
///
/// [`shadow`](Live::shadow) has a candidate asked what the live rules are asked, on a share of the requests, and tells the
/// differences. It answers nothing: its errors, and panics of the callback, are no business of the request's. [`promote`](Live::promote)
/// makes it live. So rules can also be replaced by native code that is there already: a candidate with a share of 0,
/// [`settle`](Live::settle), `promote`.
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
/// A `Live` has one thread, which sleeps when there is nothing to do, and ends when the `Live` is dropped. Old rules go when nobody
/// holds them any more, and not in the thread of a reader.
pub struct Live<S, A = ()> {
    shared: Arc<Shared<S, A>>,
}

impl<S, A> Live<S, A>
where
    S: Context<Static = S> + 'static,
    A: Send + Sync + 'static,
{
    /// No rules yet. Starts a thread; without one, which [`status`](Live::status) tells, the interpreter evaluates all rules.
    #[must_use]
    pub fn new(engine: Engine, env: Env<S>) -> Self {
        Self::start(engine, env, None)
    }

    /// As [`new`](Self::new), and counts how often the rules are asked, and how often each matches and fails:
    /// [`Rules::counts`]. What a [candidate](Live::shadow) does is not counted.
    #[must_use]
    pub fn with_counters(engine: Engine, env: Env<S>) -> Self {
        Self::start(engine, env, Some(Arc::new(Board::new(0))))
    }

    fn start(engine: Engine, env: Env<S>, board: Option<Arc<Board>>) -> Self {
        let shared = Arc::new(Shared::new(engine, env, board));
        match worker::start(&shared) {
            // There was none before.
            Ok(thread) => drop(shared.graveyard.keeper.set(thread)),
            Err(error) => shared.lock().threadless = Some(format!("there is no thread in the background: {error}")),
        }
        Self { shared }
    }

    /// Puts these rules, and their policy for errors, in the place of all others. Names that are [disabled](Live::disable) stay so.
    ///
    /// # Errors
    /// [`RuleSetError`] with every rule that does not compile. The rules are then what they were.
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
        // Where rules are replaced faster than the thread in the background drops them, memory must not grow.
        self.shared.graveyard.clear();
        Ok(())
    }

    /// Adds a rule after all others of priority 0.
    ///
    /// # Errors
    /// As [`replace`](Live::replace).
    pub fn insert(&self, name: &str, source: &str, action: A) -> Result<(), RuleSetError> {
        self.edit(&[], |rules| rules.rule(name, source, action)).map(drop)
    }

    /// Removes all rules of a name, and says how many there were.
    pub fn remove(&self, name: &str) -> usize {
        let removed = self.shared.change(|state| state.live.remove(name));
        event!(info, "rule removed", name = name, rules = removed);
        removed
    }

    /// Removes all rules of these names and adds others, as one change, and says how many it has removed. Each new rule comes after all
    /// others of its [priority](RuleSetBuilder::priority) and before those of greater ones. The policy for errors is what it was.
    ///
    /// ```
    /// # use celero::{Bindings, Engine, Env, Live, Scratch};
    /// # let env = Env::dynamic();
    /// # let live = Live::new(Engine::new(), env.clone());
    /// # live.replace(|rules| rules.rule("old", "true", 1).rule("other", "true", 1))?;
    /// let removed = live.edit(&["old"], |rules| rules.rule("new", "1 < 2", 2).rule("newer", "2 < 3", 3).priority(-1))?;
    /// assert_eq!(removed, 1);
    /// assert!(live.load().iter().map(|rule| rule.name).eq(["newer", "other", "new"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`replace`](Live::replace).
    pub fn edit(
        &self,
        removed: &[&str],
        added: impl FnOnce(RuleSetBuilder<'_, S, A>) -> RuleSetBuilder<'_, S, A>,
    ) -> Result<usize, RuleSetError> {
        span!("celero.edit");
        let (added, _) = self.given(added);
        loop {
            let on_error = self.shared.lock().live.on_error;
            let mut segment = if added.is_empty() { None } else { Some(self.build(&added, on_error)?) };
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

    /// Switches a name off, and says how many live rules have it: they count as not there and are not evaluated, also those that get
    /// the name later, by whatever change, and those of a candidate, until the name is [enabled](Live::enable).
    pub fn disable(&self, name: &str) -> usize {
        let rules = self.shared.change(|state| {
            state.disabled.insert(name.into());
            state.switch(name, true)
        });
        event!(info, "rule disabled", name = name, rules = rules);
        rules
    }

    /// Switches a name on again, and says how many live rules have it.
    pub fn enable(&self, name: &str) -> usize {
        let rules = self.shared.change(|state| {
            state.disabled.remove(name);
            state.switch(name, false)
        });
        event!(info, "rule enabled", name = name, rules = rules);
        rules
    }

    /// The names that are switched off, in alphabetical order.
    #[must_use]
    pub fn disabled(&self) -> Vec<String> {
        self.shared.lock().disabled.iter().map(|name| name.to_string()).collect()
    }

    /// Tries these rules in the shadow of the live ones, in the place of a candidate that is there already. On this share of the
    /// requests, from 0 to 1 and to the millionth, spread evenly, they are asked what the live ones are asked, after these and in the same thread, and
    /// `on_difference` is called with what differs. It is called by the threads that answer requests: it should be quick.
    ///
    /// Impure functions of the host are called by both.
    ///
    /// # Errors
    /// As [`replace`](Live::replace). A candidate that was there before stays then.
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

    /// Drops the candidate, and says whether there was one.
    pub fn end_shadow(&self) -> bool {
        let old = self.shared.change(|state| state.candidate.take());
        event!(info, "candidate dropped", found = old.is_some());
        old.is_some()
    }

    /// Makes the candidate live, in the place of all rules that were, and says whether there was one. It is not compiled again.
    pub fn promote(&self) -> bool {
        let old = self.shared.change(|state| {
            let (layer, watch) = state.candidate.take()?;
            state.live = layer;
            Some(watch)
        });
        event!(info, "candidate promoted", found = old.is_some());
        old.is_some()
    }

    /// The rules of this moment.
    #[must_use]
    pub fn load(&self) -> Rules<S, A> {
        self.reader().load()
    }

    /// A way to the rules for a thread that evaluates them.
    #[must_use]
    pub fn reader(&self) -> Reader<S, A> {
        Reader { shared: Arc::clone(&self.shared) }
    }

    /// How it is doing.
    #[must_use]
    pub fn status(&self) -> Status {
        let state = self.shared.lock();
        let views = state.live.views();
        let native = |view: &View<S, A>| view.segment.set().map_or(0, RuleSet::native_rules);
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
            is_working: state.is_unsettled(),
            failure: state.threadless.clone().or_else(stuck),
            shadow,
        }
    }

    /// Waits until there is no work left in the background, but no longer than so long, and says whether there is none. After it,
    /// what can be native code is, or [`status`](Live::status) tells why not.
    pub fn settle(&self, timeout: Duration) -> bool {
        let settled = &self.shared.settled;
        let waited = settled.wait_timeout_while(self.shared.lock(), timeout, |state| state.is_unsettled());
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// A layer of these rules alone.
    fn layer(
        &self,
        rules: impl FnOnce(RuleSetBuilder<'_, S, A>) -> RuleSetBuilder<'_, S, A>,
    ) -> Result<Layer<S, A>, RuleSetError> {
        let (items, on_error) = self.given(rules);
        Ok(Layer::new(self.build(&items, on_error)?, on_error))
    }

    /// The rules that a closure gives, numbered from 0 and in their order, and their policy.
    fn given(
        &self,
        rules: impl FnOnce(RuleSetBuilder<'_, S, A>) -> RuleSetBuilder<'_, S, A>,
    ) -> (Vec<Item<A>>, ErrorPolicy) {
        let Shared { engine, env, board, .. } = &*self.shared;
        let (rules, on_error) = rules(engine.rules(env)).into_rules();
        let item = |(sequence, Given { name, source, action, priority, tags, on_error })| Item {
            name,
            source,
            tags,
            on_error,
            entry: Arc::new(Entry::new(priority, sequence, board.as_ref().map(Place::new), action)),
        };
        let mut items: Vec<Item<A>> = (0..).zip(rules).map(item).collect();
        items.sort_by_key(|item| item.entry.key());
        (items, on_error)
    }

    /// A segment of rules, ready to be evaluated.
    fn build(&self, items: &[Item<A>], on_error: ErrorPolicy) -> Result<Segment<S, A>, RuleSetError> {
        let Shared { engine, env, graveyard, .. } = &*self.shared;
        let tier = if engine.tier() == Tier::Native { Tier::Native } else { Tier::Interpret };
        let content = build(engine, env, tier, &|| false, items, on_error)?;
        Ok(Segment::new(content, graveyard))
    }
}

impl<S, A> Drop for Live<S, A> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        self.shared.lock().layers().for_each(|layer| layer.stale.store(true, Ordering::Relaxed));
        self.shared.graveyard.wake();
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
