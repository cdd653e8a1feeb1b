//! [`RuleSetBuilder`]: collects rules and compiles them to a set, all or none.

use super::index::PlanTrace;
use super::prepare::{Prepared, RuleInput, Settings};
use super::rule::{Condition, Rule};
use super::standalone::{RuleSource, Standalone};
use super::{ErrorPolicy, Indexing, RuleSet, RuleSetError, SetExplanation, SetRule};
use crate::compilation::cancellation::Cancellation;
use crate::compilation::parallel::both;
use crate::compilation::spans::{event, span};
use crate::context::Context;
use crate::counters::Counters;
use crate::engine::{Engine, Tier};
use crate::env::Env;
use celero_ir::passes::StageObserver;
use std::collections::{BTreeSet, HashMap};
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Fewest rules of a set for which a thread drops what only the compilation needed: starting it
/// takes as long as dropping that of some hundred rules.
const MIN_DROPPED_APART: usize = 4_096;

/// Collects the rules of a [`RuleSet`]. Made by [`Engine::rules`].
#[derive(Debug)]
#[must_use]
pub struct RuleSetBuilder<'e, C, A> {
    engine: Engine,
    env: &'e Env<C>,
    rules: Vec<Rule<A>>,
    on_error: ErrorPolicy,
    indexing: Indexing,
    standalone: bool,
    counters: bool,
    cancellation: Cancellation,
}

impl Engine {
    /// Returns a builder for rules that are compiled and evaluated together: a [`RuleSet`].
    pub fn rules<'e, C: Context, A>(&self, env: &'e Env<C>) -> RuleSetBuilder<'e, C, A> {
        RuleSetBuilder::new(self.clone(), env)
    }
}

impl<'e, C: Context, A> RuleSetBuilder<'e, C, A> {
    fn new(engine: Engine, env: &'e Env<C>) -> Self {
        Self {
            engine,
            env,
            rules: Vec::new(),
            on_error: ErrorPolicy::default(),
            indexing: Indexing::Auto,
            standalone: false,
            counters: false,
            cancellation: Cancellation::default(),
        }
    }

    /// Adds a rule of priority 0 without tags: short for [`with_rule`](Self::with_rule) of [`Rule::new`].
    pub fn rule(self, name: &str, source: &str, action: A) -> Self {
        self.with_rule(Rule::new(name, source, action))
    }

    /// Adds a rule after all others of its [priority](Rule::priority).
    pub fn with_rule(mut self, rule: Rule<A>) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds rules, in their order.
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule<A>>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Adds a rule in the language of another environment, which must declare the same variables,
    /// functions and libraries in the same order as that of the set. The rule is checked now; its
    /// errors are among those of [`build`](Self::build).
    ///
    /// ```
    /// use celero::filter::FilterLanguage;
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env, Rule, Scratch};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let filter = env.clone().filter_language(FilterLanguage::http());
    /// let rules = Engine::new()
    ///     .rules(&env)
    ///     .rule("cel", "request.path.startsWith('/admin')", ())
    ///     .with_rule_in(&filter, Rule::new("filter", r#"http.request.method in {"GET" "HEAD"}"#, ()))
    ///     .build()?;
    /// let request = http::Request::get("/admin").body(())?;
    /// assert_eq!(rules.count(&RequestContext::new(&request), &mut Scratch::new())?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_rule_in(self, env: &Env<C>, mut rule: Rule<A>) -> Self {
        if let Condition::Source(source) = &rule.condition {
            rule.condition = match self.engine.check(env, source) {
                Ok(checked) => Condition::Checked(checked),
                Err(error) => Condition::Refused { source: source.clone(), error },
            };
        }
        self.with_rule(rule)
    }

    /// Sets what a rule that fails counts as, unless it has a [policy of its own](Rule::on_error). Default:
    /// [`ErrorPolicy::Stop`].
    pub fn on_error(mut self, policy: ErrorPolicy) -> Self {
        self.on_error = policy;
        self
    }

    /// Sets which rules are indexed. Default: [`Indexing::Auto`].
    pub fn index(mut self, indexing: Indexing) -> Self {
        self.indexing = indexing;
        self
    }

    /// Sets whether each rule also gets standalone native code, which [`RuleSet::test`] uses.
    /// Default: false. Rules that differ in constants only share it. Patterns that only this code
    /// needs are compiled on first use, within [`Limits::patterns`](crate::Limits).
    /// [`explain`](Self::explain) and [`Live`](crate::Live) ignore this.
    pub fn standalone(mut self, on: bool) -> Self {
        self.standalone = on;
        self
    }

    /// Sets whether the set counts its evaluations, and how often each rule matches and fails:
    /// [`RuleSet::counts`]. Default: false. Threads do not contend: each
    /// [`Scratch`](crate::Scratch) has its own counters, 16 bytes per rule. For live rules use
    /// [`Live::with_counters`](crate::Live::with_counters) instead.
    ///
    /// ```
    /// use celero::{Bindings, Engine, Env, ErrorPolicy, Scratch, Type, Value};
    ///
    /// let env = Env::dynamic().variable("age", Type::Int);
    /// let rules = Engine::new().rules(&env).rule("adult", "age >= 18", ()).rule("share", "100 / (age - 17) > 60", ());
    /// let rules = rules.on_error(ErrorPolicy::NoMatch).counters(true).build()?;
    /// let mut call = Bindings::new(&env);
    /// for age in [17, 18, 19] {
    ///     call.set("age", Value::Int(age))?;
    ///     rules.count(&call, &mut Scratch::new())?;
    /// }
    /// let counts = rules.counts().expect("counters are on");
    /// assert_eq!(counts.evaluations, 3);
    /// let counted: Vec<_> = counts.rules.iter().map(|rule| (rule.name, rule.matches, rule.errors)).collect();
    /// assert_eq!(counted, [("adult", 2, 0), ("share", 1, 1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn counters(mut self, on: bool) -> Self {
        self.counters = on;
        self
    }

    /// Cancels the compilation when `cancelled` returns true: [`build`](Self::build) then ends soon
    /// with an error that [is cancelled](RuleSetError::is_cancelled). For a shutdown, a deadline,
    /// or rules that newer ones have replaced meanwhile.
    ///
    /// The function is called before each rule and between the later stages, also on the
    /// [threads](crate::settings::EngineBuilder::threads) that compile with this one, so it must be fast.
    /// Once it has returned true, the compilation is cancelled for good. Between two calls at most
    /// one rule is checked, the index is planned, one function is compiled for up to 64 rules, the
    /// constants of 1,024 rules are prepared, or the code is made executable; planning takes about
    /// a quarter of the time of a large set. If the function panics, [`build`](Self::build) panics
    /// with it. [`Live`](crate::Live) asks it until [`replace`](crate::Live::replace) or
    /// [`shadow`](crate::Live::shadow) returns, not for the work in the background, which a later
    /// change cancels.
    ///
    /// ```
    /// use celero::{Engine, Env};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// let stopping = Arc::new(AtomicBool::new(false));
    /// let flag = Arc::clone(&stopping);
    /// let env = Env::dynamic();
    /// let rules = Engine::new().rules(&env).rule("all", "true", ()).cancel_if(move || flag.load(Ordering::Relaxed));
    /// stopping.store(true, Ordering::Relaxed); // usually on another thread
    /// assert!(rules.build().is_err_and(|error| error.is_cancelled()));
    /// ```
    pub fn cancel_if(mut self, cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.cancellation = Cancellation::when(cancelled);
        self
    }

    /// Returns how the set of these rules is evaluated: by which keys the index finds each rule and
    /// which conditions remain, or why the rule is unindexed. Compiles the rules, which takes as
    /// long as [`build`](Self::build).
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let rules = (0..100).fold(Engine::new().rules(&env), |rules, n| {
    ///     rules.rule("host", &format!(r#"request.host == "{n}.example" && size(request.path) > 9"#), ())
    /// });
    /// let explanation = rules.explain()?;
    /// let entry = &explanation.rules()[7].entries()[0];
    /// assert_eq!(entry.keys(), [r#"request.host is "7.example""#]);
    /// assert_eq!(entry.residual(), ["size(request.path) > 9"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn explain(&self) -> Result<SetExplanation, RuleSetError> {
        let mut rules: Vec<&Rule<A>> = self.rules.iter().collect();
        rules.sort_by_key(|rule| rule.priority);
        let tags = Tags::of(rules.iter().copied());
        let settings = Settings {
            tier: self.engine.tier(),
            on_error: self.on_error,
            indexing: self.indexing,
            standalone: false,
            threads: self.engine.threads(self.env.functions()),
            cancellation: &self.cancellation,
        };
        SetExplanation::new(&self.engine, self.env, &inputs(rules.into_iter(), &tags.of_rules), settings)
    }

    /// Compiles the rules to a set.
    ///
    /// # Errors
    /// [`RuleSetError`] with every rule that does not compile, or that the compilation was
    /// [cancelled](Self::cancel_if).
    pub fn build(self) -> Result<RuleSet<C::Static, A>, RuleSetError> {
        let (tier, threads) = (self.engine.tier(), self.engine.threads(self.env.functions()));
        self.build_as(tier, threads)
    }

    /// Compiles the rules as [`build`](Self::build) does, for whoever measures its stages: those of
    /// [`Engine::compile_observed`] up to code generation for each rule, then `index` (planning and
    /// building it) and `codegen` for the set. Works on one thread.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_observed(self, observer: &mut dyn StageObserver) -> Result<RuleSet<C::Static, A>, RuleSetError> {
        let tier = self.engine.tier();
        self.built(tier, 1, observer)
    }

    /// As [`cancel_if`](Self::cancel_if).
    pub(crate) fn cancelled_by(mut self, cancellation: Cancellation) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// The rules in the order in which they were added, the policy, and what cancels their compilation.
    pub(crate) fn into_rules(self) -> (Vec<Rule<A>>, ErrorPolicy, Cancellation) {
        (self.rules, self.on_error, self.cancellation)
    }

    /// Compiles the rules for a tier on some threads.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub(crate) fn build_as(self, tier: Tier, threads: usize) -> Result<RuleSet<C::Static, A>, RuleSetError> {
        span!("celero.build", rules = self.rules.len(), native = tier != Tier::Interpret);
        let start = Instant::now();
        let built = self.built(tier, threads, &mut ());
        match &built {
            Ok(set) => event!(
                debug,
                "built",
                rules = set.len(),
                native = set.native_rules(),
                indexed = set.indexed_rules(),
                code_bytes = set.code_size(),
                microseconds = micros(start)
            ),
            Err(error) if error.is_cancelled() => event!(debug, "cancelled", microseconds = micros(start)),
            Err(error) => event!(debug, "refused", rules = error.rules().len(), microseconds = micros(start)),
        }
        built
    }

    fn built(
        self,
        tier: Tier,
        threads: usize,
        observer: &mut dyn StageObserver,
    ) -> Result<RuleSet<C::Static, A>, RuleSetError> {
        let Self { engine, env, mut rules, on_error, indexing, standalone, counters, cancellation } = self;
        rules.sort_by_key(|rule| rule.priority);
        let Tags { names: tags, of_rules } = Tags::of(rules.iter());
        let settings = Settings { tier, on_error, indexing, standalone, threads, cancellation: &cancellation };
        let inputs = inputs(rules.iter(), &of_rules);
        let Prepared {
            threads,
            mut expressions,
            merged,
            templates,
            found,
            whole,
            compiled,
            asks_lists,
            warnings,
            shadowed,
            ..
        } = Prepared::new(&engine, env, &inputs, settings, PlanTrace::default(), observer)?;
        expressions.resize(rules.len(), None);
        // Dropping what only the compilation of a large set needed takes about as long as the rest.
        let threads = if rules.len() >= MIN_DROPPED_APART { threads } else { 1 };
        let tagged = rules.into_iter().zip(of_rules).zip(expressions);
        let unneeded = Mutex::new(Some((merged, templates)));
        let free = || drop(unneeded.lock().unwrap_or_else(PoisonError::into_inner).take());
        let ((), rules) = both(threads, free, || -> Vec<SetRule<A>> {
            let rules = tagged.map(|((rule, tags), expression)| {
                let source = RuleSource::new(rule.condition.into_source(), expression);
                SetRule { name: rule.name, source, action: rule.action, tags: tags.into(), on_error: rule.on_error }
            });
            rules.collect()
        });
        let linear: Box<[u32]> = compiled.linear.into();
        let in_order = found.is_none() && linear.is_sorted();
        let mixed = rules.iter().any(|rule| rule.on_error.is_some_and(|own| own != on_error));
        Ok(RuleSet {
            mixed,
            counters: counters.then(|| Box::new(Counters::new(rules.len()))),
            rules: rules.into(),
            tags: tags.into(),
            index: found.map(|found| found.index),
            in_order,
            linear,
            parts: compiled.parts.into(),
            native: compiled.native,
            whole: whole.into(),
            standalone: Standalone::new(env, *engine.limits(), asks_lists),
            on_error,
            warnings: warnings.into(),
            shadowed: shadowed.into(),
            context: PhantomData,
        })
    }
}

/// The tags of a set, numbered in alphabetical order.
struct Tags {
    names: Vec<Box<str>>,
    /// Indexed by rule: the numbers of its tags, sorted.
    of_rules: Vec<Vec<u32>>,
}

impl Tags {
    fn of<'r, A: 'r>(rules: impl Iterator<Item = &'r Rule<A>> + Clone) -> Self {
        let names: BTreeSet<&str> = rules.clone().flat_map(|rule| &rule.tags).map(|tag| &**tag).collect();
        let numbers: HashMap<&str, u32> = names.iter().copied().zip(0..).collect();
        let of = |rule: &Rule<A>| rule.tags.iter().filter_map(|tag| numbers.get(&**tag).copied()).collect();
        let of_rules = rules.map(of).collect();
        Self { names: names.into_iter().map(Into::into).collect(), of_rules }
    }
}

fn inputs<'r, A: 'r>(rules: impl Iterator<Item = &'r Rule<A>>, tags: &'r [Vec<u32>]) -> Vec<RuleInput<'r>> {
    let input = |(rule, tags): (&'r Rule<A>, &'r Vec<u32>)| RuleInput {
        name: &rule.name,
        condition: &rule.condition,
        tags,
        on_error: rule.on_error,
        shadows_until: rule.shadows_until,
    };
    rules.zip(tags).map(input).collect()
}

/// Microseconds since `start`.
fn micros(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}
