//! Rules that are compiled and evaluated together.
//!
//! A set returns what its rules return one by one, under the policy for errors. Rules with a
//! selective test are found by an index (`index`); their residual predicates are evaluated by code
//! that similar rules share. All other rules are evaluated by a linear scan, in functions of up to
//! 64 rules. The interpreter evaluates one by one the rules without native code, and the rules of a
//! function that ran out of budget or panicked.
//!
//! Invariant: a set gives the result that `Program::test` gives for each rule, errors and their places included. Test:
//! `tests/tests/it/random_indexed_sets.rs::sets_answer_as_their_rules_alone`.
//!
//! Invariant: each rule has a budget of its own, and the search of the index is not charged to rules. A rule exceeds
//! its budget in a set only if it does so alone in some tier. Test:
//! `tests/tests/it/random_budgets.rs::a_set_gives_what_rules_give_without_a_limit_or_spends_their_budgets_as_they_do`.

mod build;
#[cfg(feature = "serde")]
mod configuration;
mod error;
mod evaluate;
mod evaluation;
mod excluded;
mod explain;
mod function_names;
mod implied;
mod index;
mod prepare;
mod results;
mod rule;
mod standalone;
mod warnings;

pub use build::RuleSetBuilder;
pub use error::RuleSetError;
pub(crate) use excluded::Excluded;
pub use explain::{IndexEntry, RuleExplanation, SetExplanation};
pub use index::Unindexed;
pub use rule::Rule;

use crate::counters::{Counters, Counts, RuleCounts};
use crate::native::{LinearBlock, SetCode};
use celero_frontend::Diagnostic;
use index::Index;
use standalone::{RuleSource, Standalone};
use std::fmt;
use std::marker::PhantomData;

/// What a rule that fails counts as: set for a [whole set](RuleSetBuilder::on_error) or for a [rule](Rule::on_error).
/// [`Scratch::errors`](crate::Scratch::errors) returns the errors.
///
/// A client can make most rules fail, by leaving out a header that they read. So rules that allow
/// need [`NoMatch`](Self::NoMatch), and rules that deny need [`Match`](Self::Match): with the other
/// policy a client passes by leaving a header out. A set does not know what its actions do. Its
/// default is [`Stop`](Self::Stop), which is safe for both: whoever evaluates the set gets the
/// error, as from a single rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "camelCase"))]
pub enum ErrorPolicy {
    /// The rule does not match: for rules that allow. Failures then change no answer, and failures
    /// of rules that the index does not find are not reported.
    NoMatch,
    /// The rule matches: for rules that deny.
    Match,
    /// The evaluation of the set ends at the rule, and its result is the error: the default. Refuse the request then.
    #[default]
    Stop,
}

impl ErrorPolicy {
    /// All policies, in the order in which they are documented.
    pub const ALL: [Self; 3] = [Self::NoMatch, Self::Match, Self::Stop];

    /// Returns the word for the policy in configuration files: `noMatch`, `match` or `stop`.
    /// Command lines write the same words in kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoMatch => "noMatch",
            Self::Match => "match",
            Self::Stop => "stop",
        }
    }
}

/// Which rules of a set are indexed. The answers are the same; for tests and measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Indexing {
    /// The rules for which that is expected to be faster than evaluating them.
    #[default]
    Auto,
    /// No rules.
    Off,
    /// All rules that can be indexed, even where that is slower.
    Always,
}

/// A rule that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<'r, A> {
    /// Its index in the set.
    pub index: usize,
    /// Its name.
    pub name: &'r str,
    /// Its action.
    pub action: &'r A,
}

/// Rules for contexts of one type, compiled together, so that what several rules read, look up or
/// compute is shared. `Send` and `Sync` if the actions are. Evaluations do not lock and share no
/// memory that they write.
///
/// An index built from the rules finds those that may match: the time of an evaluation depends on
/// how many rules match, hardly on how many exist. [`RuleSetBuilder::explain`] returns how each
/// rule is found.
///
/// Each rule has the result, or the error, of [`Program::test`](crate::Program::test), with one
/// exception: a rule that would exceed its budget before it reaches a test that is false may be
/// false here, because the index skips that work. Each rule has the steps and the memory of
/// [`Limits`](crate::Limits) for itself.
///
/// ```
/// use celero::http::RequestContext;
/// use celero::{Engine, Env, ErrorPolicy, Scratch};
///
/// let env = Env::<RequestContext>::new();
/// let rules = Engine::new()
///     .rules(&env)
///     .rule("writers", r#"request.method != "GET" && request.headers["x-team"] != "ops""#, "deny")
///     .rule("bots", r#"request.headers["user-agent"].matches("(?i)curl|wget")"#, "challenge")
///     .on_error(ErrorPolicy::Match)
///     .build()?; // all or nothing; every diagnostic, not only the first
///
/// let mut scratch = Scratch::new(); // one per worker thread
/// let request = http::Request::post("/users").header("x-team", "web").body(())?;
/// let call = RequestContext::new(&request);
/// let first = rules.first(&call, &mut scratch)?.expect("the first rule matches");
/// assert_eq!((first.name, *first.action), ("writers", "deny"));
/// // The second rule fails, because there is no such header; here that counts as a match.
/// let names: Vec<&str> = rules.all(&call, &mut scratch)?.map(|rule| rule.name).collect();
/// assert_eq!(names, ["writers", "bots"]);
/// assert_eq!(scratch.errors()[0].rule, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RuleSet<S, A = ()> {
    rules: Box<[SetRule<A>]>,
    /// The tags that rules have, sorted.
    tags: Box<[Box<str>]>,
    /// The index; `None` if indexing no rule saves time.
    index: Option<Index>,
    /// The unindexed rules, in order.
    linear: Box<[u32]>,
    /// Whether `linear` holds all rules, in their order.
    in_order: bool,
    /// The blocks that evaluate the unindexed rules.
    parts: Box<[LinearBlock]>,
    native: Option<SetCode>,
    /// Indexed by rule: the parameter row of its whole condition, if it has standalone native code.
    whole: Box<[Option<u32>]>,
    standalone: Standalone,
    on_error: ErrorPolicy,
    /// Whether rules have different policies for errors.
    mixed: bool,
    /// The counters, if they are wanted. The slot of a rule is its index.
    counters: Option<Box<Counters>>,
    warnings: Box<[(usize, Diagnostic)]>,
    /// Rules that an earlier one makes pointless, with that one, in order.
    shadowed: Box<[(u32, u32)]>,
    context: PhantomData<fn(&S)>,
}

/// A rule of a set.
#[derive(Debug)]
struct SetRule<A> {
    name: Box<str>,
    source: RuleSource,
    action: A,
    /// Numbers of its tags, sorted.
    tags: Box<[u32]>,
    /// Its own policy for errors, if any.
    on_error: Option<ErrorPolicy>,
}

impl<S, A> RuleSet<S, A> {
    /// Returns the number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the rule with this index; `None` if there is none.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Match<'_, A>> {
        self.rules.get(index).map(|rule| Match { index, name: &rule.name, action: &rule.action })
    }

    /// Returns the tags of a rule, in alphabetical order.
    pub fn tags(&self, index: usize) -> impl Iterator<Item = &str> {
        self.tag_numbers(index).iter().filter_map(|&tag| self.tags.get(tag as usize)).map(|tag| &**tag)
    }

    /// The numbers of the tags of a rule, sorted.
    pub(crate) fn tag_numbers(&self, index: usize) -> &[u32] {
        self.rules.get(index).map_or(&[], |rule| &rule.tags)
    }

    /// The tags of all rules, indexed by their numbers; sorted.
    pub(crate) fn all_tags(&self) -> &[Box<str>] {
        &self.tags
    }

    /// Returns the source of a rule.
    #[must_use]
    pub fn source(&self, index: usize) -> Option<&str> {
        self.rules.get(index).map(|rule| rule.source.text())
    }

    /// Returns what a rule that fails counts as, unless it has a [policy of its own](Rule::on_error).
    #[must_use]
    pub fn on_error(&self) -> ErrorPolicy {
        self.on_error
    }

    /// What a rule counts as if it fails.
    pub(crate) fn policy(&self, index: usize) -> ErrorPolicy {
        self.rules.get(index).and_then(|rule| rule.on_error).unwrap_or(self.on_error)
    }

    /// Returns the warnings with the indices of their rules, in the order of the rules: what is
    /// valid, but probably not what the author means. In addition to the warnings of a
    /// [`Program`](crate::Program), at most 1,000 are about rules that are never true, repeat an
    /// earlier rule, or are never the first match.
    #[must_use]
    pub fn warnings(&self) -> &[(usize, Diagnostic)] {
        &self.warnings
    }

    /// Returns the earlier rule because of which a rule is never the first match, or repeats it;
    /// `None` if the [warnings](Self::warnings) say neither of the rule.
    #[must_use]
    pub fn shadowed_by(&self, rule: usize) -> Option<usize> {
        let rule = u32::try_from(rule).ok()?;
        let found = self.shadowed.binary_search_by_key(&rule, |(rule, _)| *rule).ok()?;
        self.shadowed.get(found).map(|(_, other)| *other as usize)
    }

    /// Returns the number of rules that are evaluated without the interpreter.
    #[must_use]
    pub fn native_rules(&self) -> usize {
        let native = self.parts.iter().filter(|part| part.function.is_some());
        let linear = native.fold(0, |sum: usize, part| sum.saturating_add(part.count));
        let Some(groups) = &self.native else { return linear };
        let indexed = self.index.as_ref().map_or(0, |index| index.len_with(|row| groups.builds(row).is_some()));
        linear.saturating_add(indexed)
    }

    /// Returns the number of indexed rules, which usually cost nothing where they are false. The
    /// others are evaluated every time.
    #[must_use]
    pub fn indexed_rules(&self) -> usize {
        self.index.as_ref().map_or(0, Index::len)
    }

    /// Returns the indices of the unindexed rules, in order. They are evaluated every time;
    /// [`RuleSetBuilder::explain`] returns why.
    pub fn unindexed(&self) -> impl Iterator<Item = usize> {
        let mut rules: Vec<usize> = self.linear.iter().map(|&rule| rule as usize).collect();
        rules.sort_unstable();
        rules.into_iter()
    }

    /// Returns the counters; `None` unless they were [switched on](RuleSetBuilder::counters). Takes
    /// time linear in the number of rules.
    #[must_use]
    pub fn counts(&self) -> Option<Counts<'_>> {
        let counters = self.counters.as_ref()?;
        let counted = counters.slots(0..u32::try_from(self.len()).unwrap_or(u32::MAX));
        let rules = self.rules.iter().zip(counted).enumerate();
        let rules = rules.map(|(index, (rule, counts))| RuleCounts::new(index, &rule.name, counts)).collect();
        Some(Counts::new(counters, rules))
    }

    /// Returns the bytes of memory of the index, without machine code and the sources of the rules.
    #[must_use]
    pub fn index_size(&self) -> usize {
        let rows = self.native.as_ref().map_or(0, |native| native.templates().bytes());
        self.index.as_ref().map_or(0, Index::bytes).saturating_add(rows)
    }

    /// Returns the bytes of machine code.
    #[must_use]
    pub fn code_size(&self) -> usize {
        self.native.as_ref().map_or(0, SetCode::size)
    }
}

impl<S, A> fmt::Debug for RuleSet<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleSet")
            .field("rules", &self.len())
            .field("native", &self.native_rules())
            .field("on_error", &self.on_error)
            .finish_non_exhaustive()
    }
}
