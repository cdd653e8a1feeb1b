//! From sources to a set: all of them or none.

use super::alone::{Alone, Text};
use super::index::Notes;
use super::prepare::{Prepared, Settings};
use super::{ErrorPolicy, Indexing, Rule, RuleSet, SetExplanation};
use crate::context::Context;
use crate::counters::Board;
use crate::engine::{CompileError, Engine, Tier};
use crate::env::Env;
use crate::trace::{event, span};
use celero_frontend::Diagnostic;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

#[derive(Debug)]
struct Ordered<A> {
    priority: i32,
    rule: Rule<A>,
}

/// Gathers the rules of a [`RuleSet`].
#[derive(Debug)]
#[must_use]
pub struct RuleSetBuilder<'e, C, A> {
    engine: Engine,
    env: &'e Env<C>,
    rules: Vec<Ordered<A>>,
    /// By tag, its number: how many were told before it.
    tags: HashMap<Box<str>, u32>,
    on_error: ErrorPolicy,
    indexing: Indexing,
    alone: bool,
    counters: bool,
}

impl<'e, C: Context, A> RuleSetBuilder<'e, C, A> {
    pub(crate) fn new(engine: Engine, env: &'e Env<C>) -> Self {
        Self {
            engine,
            env,
            rules: Vec::new(),
            tags: HashMap::new(),
            on_error: ErrorPolicy::default(),
            indexing: Indexing::Auto,
            alone: false,
            counters: false,
        }
    }

    /// Adds a rule after those before. The name is for people: two rules may have the same.
    pub fn rule(mut self, name: &str, source: &str, action: A) -> Self {
        let text = Text::new(source.into());
        self.rules.push(Ordered {
            priority: 0,
            rule: Rule { name: name.into(), text, action, tags: Box::default(), on_error: None },
        });
        self
    }

    /// Gives the rule that was added last a place among the others: those of smaller numbers come first, and of those with the
    /// same the one that was added first. Default 0.
    pub fn priority(mut self, priority: i32) -> Self {
        if let Some(last) = self.rules.last_mut() {
            last.priority = priority;
        }
        self
    }

    /// Gives the rule that was added last a tag: [`RuleSet::first_per_tag`] asks for the first match of each. A rule can
    /// have several.
    pub fn tag(mut self, tag: &str) -> Self {
        let next = u32::try_from(self.tags.len()).unwrap_or(u32::MAX);
        let number = *self.tags.entry(tag.into()).or_insert(next);
        if let Some(Ordered { rule, .. }) = self.rules.last_mut() {
            let mut tags = std::mem::take(&mut rule.tags).into_vec();
            tags.push(number);
            tags.sort_unstable();
            tags.dedup();
            rule.tags = tags.into();
        }
        self
    }

    /// What the rule that was added last counts as if it fails, whatever holds for the others.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env, ErrorPolicy, Scratch};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let team = r#"request.headers["x-team"] == "ops""#;
    /// let rules = Engine::new().rules(&env).rule("allow", team, 200).rule("deny", team, 403);
    /// let rules = rules.rule_on_error(ErrorPolicy::Match).build()?;
    /// let request = http::Request::new(());
    /// let found = rules.first(&RequestContext::new(&request), &mut Scratch::new())?;
    /// assert_eq!(found.map(|rule| *rule.action), Some(403));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rule_on_error(mut self, policy: ErrorPolicy) -> Self {
        if let Some(last) = self.rules.last_mut() {
            last.rule.on_error = Some(policy);
        }
        self
    }

    /// What rules that fail count as, but for those that are told [otherwise](Self::rule_on_error). Default
    /// [`ErrorPolicy::NoMatch`].
    pub fn on_error(mut self, policy: ErrorPolicy) -> Self {
        self.on_error = policy;
        self
    }

    /// Which rules an index finds. Default [`Indexing::Auto`].
    pub fn index(mut self, indexing: Indexing) -> Self {
        self.indexing = indexing;
        self
    }

    /// Whether native code is made of each rule by itself too, which [`RuleSet::test`] then uses. Default false. Rules that differ
    /// in constants only share it; patterns that no other code needs are compiled when they are first asked for, within
    /// [`Limits::patterns`](crate::Limits). [`explain`](Self::explain) leaves it out, and a [`Live`](crate::Live) makes none.
    pub fn alone(mut self, on: bool) -> Self {
        self.alone = on;
        self
    }

    /// Whether the set counts how often it is asked, and how often each rule matches and fails: [`RuleSet::counts`]. Default
    /// false, which costs nothing. Threads that count write no memory in common: each [`Scratch`](crate::Scratch) has counters
    /// of its own, of 16 bytes for each rule. A [`Live`](crate::Live) asks [elsewhere](crate::Live::with_counters).
    ///
    /// ```
    /// use celero::{Bindings, Engine, Env, Scratch, Type, Value};
    ///
    /// let env = Env::dynamic().variable("age", Type::Int);
    /// let rules = Engine::new().rules(&env).rule("adult", "age >= 18", ()).rule("share", "100 / (age - 17) > 60", ());
    /// let rules = rules.counters(true).build()?;
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

    /// How the set of these rules is evaluated: by which keys its index finds each rule, what is left of it then, or why it is
    /// evaluated every time. Compiles the rules; a set that is built keeps nothing of this.
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
    /// let way = &explanation.rules()[7].ways()[0];
    /// assert_eq!(way.keys(), [r#"request.host is "7.example""#]);
    /// assert_eq!(way.rest(), ["size(request.path) > 9"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RuleSetError`] with every rule that does not compile.
    pub fn explain(&self) -> Result<SetExplanation, RuleSetError> {
        let mut order: Vec<&Ordered<A>> = self.rules.iter().collect();
        order.sort_by_key(|ordered| ordered.priority);
        let rules: Vec<&Rule<A>> = order.into_iter().map(|ordered| &ordered.rule).collect();
        let settings = Settings {
            tier: self.engine.tier(),
            on_error: self.on_error,
            indexing: self.indexing,
            alone: false,
            stale: &|| false,
        };
        SetExplanation::new(&self.engine, self.env, &rules, settings)
    }

    /// Compiles the rules.
    ///
    /// # Errors
    /// [`RuleSetError`] with every rule that does not compile.
    pub fn build(self) -> Result<RuleSet<C::Static, A>, RuleSetError> {
        let tier = self.engine.tier();
        self.build_as(tier, &|| false)
    }

    /// The rules as they were given, and the policy.
    pub(crate) fn into_rules(self) -> (Vec<Given<A>>, ErrorPolicy) {
        let names: Vec<Arc<str>> = by_number(self.tags).into_iter().map(Arc::from).collect();
        let given = |Ordered { priority, rule: Rule { name, text, action, tags, on_error } }| {
            let tags = tags.iter().filter_map(|&tag| names.get(tag as usize).cloned()).collect();
            Given { name, source: text.into_source(), action, priority, tags, on_error }
        };
        (self.rules.into_iter().map(given).collect(), self.on_error)
    }

    /// Compiles the rules for a tier, unless the work is found to be `stale` in the middle of it.
    ///
    /// # Errors
    /// As [`build`](Self::build); an error without rules if the work is stale.
    pub(crate) fn build_as(self, tier: Tier, stale: &dyn Fn() -> bool) -> Result<RuleSet<C::Static, A>, RuleSetError> {
        span!("celero.build", rules = self.rules.len(), native = tier != Tier::Interpret);
        let start = Instant::now();
        let built = self.built(tier, stale);
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
            Err(error) => event!(debug, "refused", rules = error.failed.len(), microseconds = micros(start)),
        }
        built
    }

    fn built(self, tier: Tier, stale: &dyn Fn() -> bool) -> Result<RuleSet<C::Static, A>, RuleSetError> {
        let Self { engine, env, mut rules, tags, on_error, indexing, alone, counters } = self;
        rules.sort_by_key(|ordered| ordered.priority);
        let rules: Vec<Rule<A>> = rules.into_iter().map(|ordered| ordered.rule).collect();
        let order: Vec<&Rule<A>> = rules.iter().collect();
        let settings = Settings { tier, on_error, indexing, alone, stale };
        let Prepared { found, whole, compiled, warnings, .. } =
            Prepared::new(&engine, env, &order, settings, Notes::default())?;
        let straight: Box<[u32]> = compiled.straight.into();
        let in_order = found.is_none() && straight.is_sorted();
        let mixed = rules.iter().any(|rule| rule.on_error.is_some_and(|own| own != on_error));
        Ok(RuleSet {
            mixed,
            board: counters.then(|| Box::new(Board::new(rules.len()))),
            rules: rules.into(),
            tags: by_number(tags).into(),
            index: found.map(|found| found.index),
            in_order,
            straight,
            parts: compiled.parts.into(),
            native: compiled.native,
            whole: whole.into(),
            alone: Alone::new(env, *engine.limits()),
            on_error,
            warnings: warnings.into(),
            context: PhantomData,
        })
    }
}

/// Tags by their numbers.
fn by_number(tags: HashMap<Box<str>, u32>) -> Vec<Box<str>> {
    let mut tags: Vec<(Box<str>, u32)> = tags.into_iter().collect();
    tags.sort_unstable_by_key(|(_, number)| *number);
    tags.into_iter().map(|(tag, _)| tag).collect()
}

/// Microseconds since then.
fn micros(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// A rule as it was given.
#[derive(Debug)]
pub(crate) struct Given<A> {
    pub(crate) name: Box<str>,
    pub(crate) source: Box<str>,
    pub(crate) action: A,
    /// Smaller ones come first.
    pub(crate) priority: i32,
    pub(crate) tags: Vec<Arc<str>>,
    pub(crate) on_error: Option<ErrorPolicy>,
}

/// Why a set was rejected: every finding of every rule. Displays as the rendered diagnostics, each under its rule's name.
#[derive(Clone)]
pub struct RuleSetError {
    pub(super) failed: Vec<(usize, Box<str>, CompileError)>,
}

impl RuleSetError {
    /// The rules that do not compile, by name, in the order of the set.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&str, &CompileError)> {
        self.failed.iter().map(|(_, name, error)| (&**name, error))
    }

    /// Every finding, with the index that its rule would have in the set, in the order of the set.
    pub fn diagnostics(&self) -> impl Iterator<Item = (usize, &Diagnostic)> {
        self.failed.iter().flat_map(|(rule, _, error)| error.diagnostics().iter().map(|found| (*rule, found)))
    }

    /// The findings with the lines they are about; `color` asks for ANSI colours.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        self.failed.iter().map(|(_, name, error)| error.render(name, color)).collect()
    }
}

impl fmt::Display for RuleSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl fmt::Debug for RuleSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As `Display`, because people `unwrap` it.
        write!(f, "\n{self}")
    }
}

impl std::error::Error for RuleSetError {}
