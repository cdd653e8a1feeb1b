//! Rules that are compiled and evaluated together.
//!
//! What a set answers is what its rules answer one by one, under the policy for errors. Rules with a test that few requests pass
//! are found by an index (`index`), and what is left of them is evaluated by code that rules of one shape share; all others
//! are evaluated in their order by functions of up to 64 rules each. A rule without native code, and the rules of a function
//! whose answer can't be told apart by rule, go to the interpreter one by one.

mod alone;
mod build;
mod common;
mod evaluate;
mod explain;
mod implied;
mod index;
mod left_out;
mod prepare;
mod warnings;

pub(crate) use build::Given;
pub use build::{RuleSetBuilder, RuleSetError};
pub(crate) use common::{Common, Placed};
pub(crate) use evaluate::Verdict;
pub use explain::{EveryTime, RuleExplanation, SetExplanation, Way};
pub(crate) use index::{Row, Search, Shape};
pub(crate) use left_out::LeftOut;

use crate::counters::{Board, Counts, RuleCounts};
use crate::error::EvalError;
use crate::native::{Groups, Part};
use alone::Alone;
use celero_frontend::Diagnostic;
use index::Index;
use std::fmt;
use std::marker::PhantomData;

/// What a rule that fails counts as. Allow lists and deny lists fail in opposite directions, so this is asked for once a set,
/// and can be [said of a rule](RuleSetBuilder::rule_on_error).
/// [`Scratch::errors`](crate::Scratch::errors) has the errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorPolicy {
    /// It does not match: for rules that allow. Failures then change no answer, and of rules that an index finds only those
    /// are reported that it comes by.
    #[default]
    NoMatch,
    /// It matches: for rules that deny.
    Match,
    /// The evaluation of the set ends there, and its result is the error.
    Stop,
}

impl ErrorPolicy {
    /// All policies, in the order in which they are documented.
    pub const ALL: [Self; 3] = [Self::NoMatch, Self::Match, Self::Stop];

    /// Returns the word for the policy in configuration files: `noMatch`, `match` or `stop`. Command lines write the same words in
    /// kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoMatch => "noMatch",
            Self::Match => "match",
            Self::Stop => "stop",
        }
    }
}

/// Which rules of a set an index finds. The answers are the same; it is there to be tested and measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Indexing {
    /// Those for which that is expected to be faster than to evaluate them.
    #[default]
    Auto,
    /// None.
    Off,
    /// All that can be found by anything, however few they are.
    Always,
}

/// A rule that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The rule's index in its set.
    pub rule: usize,
    /// Why it has no answer, and where in its source.
    pub error: EvalError,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}: {}", self.rule, self.error)
    }
}

impl std::error::Error for RuleError {}

/// A rule that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<'r, A> {
    /// Its index in the set.
    pub index: usize,
    /// Its name.
    pub name: &'r str,
    /// What was given along with it.
    pub action: &'r A,
}

/// Rules for contexts of one type, each with a name and an action, compiled together: what several rules read, look up or
/// compute is shared. `Send` and `Sync` if actions are; evaluations share nothing that any of them writes.
///
/// An index, made from the rules themselves, finds those that may match: the time of an evaluation depends on what a request
/// matches, not on how many rules there are. [`RuleSetBuilder::explain`] tells what finds which rule.
///
/// The answer is what [`Program::test`](crate::Program::test) of each rule would give, and errors are those too, but that work
/// which is not done costs nothing: a rule that would run out of its budget before it came to a test that is false may be
/// false here. Each rule has
/// the steps and the memory of [`Limits`](crate::Limits) for itself: one that spends too much takes nothing from the others.
///
/// ```
/// use celero::http::RequestContext;
/// use celero::{Engine, Env, ErrorPolicy, Scratch};
///
/// let env = Env::<RequestContext>::new();
/// let rules = Engine::new()
///     .rules(&env)
///     .rule("admin", r#"request.path.startsWith("/admin") && request.headers["x-team"] != "ops""#, "deny")
///     .rule("bots", r#"request.headers["user-agent"].matches("(?i)curl|wget")"#, "challenge")
///     .on_error(ErrorPolicy::Match)
///     .build()?; // all or nothing; every diagnostic, not only the first
///
/// let mut scratch = Scratch::new(); // one per worker thread
/// let request = http::Request::get("/admin/users").header("x-team", "web").body(())?;
/// let call = RequestContext::new(&request);
/// let first = rules.first(&call, &mut scratch)?.expect("the first rule matches");
/// assert_eq!((first.name, *first.action), ("admin", "deny"));
/// // The second rule fails, because there is no such header; here that counts as a match.
/// assert_eq!(rules.all(&call, &mut scratch)?, [0, 1]);
/// assert_eq!(scratch.errors()[0].rule, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RuleSet<S, A = ()> {
    rules: Box<[Rule<A>]>,
    /// The tags that rules have.
    tags: Box<[Box<str>]>,
    /// Finds the rules that it has, if there are enough of them.
    index: Option<Index>,
    /// The other rules, in order.
    straight: Box<[u32]>,
    /// Whether these are all rules, in their order.
    in_order: bool,
    /// What evaluates them, in their order.
    parts: Box<[Part]>,
    native: Option<Groups>,
    /// By rule, the row of all of it, if it has native code by itself.
    whole: Box<[Option<u32>]>,
    alone: Alone,
    on_error: ErrorPolicy,
    /// Whether rules fail in different ways.
    mixed: bool,
    /// Where counts are kept, if they are wanted: the place of a rule is its index.
    board: Option<Box<Board>>,
    warnings: Box<[(usize, Diagnostic)]>,
    context: PhantomData<fn(&S)>,
}

#[derive(Debug)]
struct Rule<A> {
    name: Box<str>,
    text: alone::Text,
    action: A,
    /// By number, each once.
    tags: Box<[u32]>,
    /// What it counts as if it fails, unless it is as the set says.
    on_error: Option<ErrorPolicy>,
}

impl<S, A> RuleSet<S, A> {
    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rule of an index, as a match.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Match<'_, A>> {
        self.rules.get(index).map(|rule| Match { index, name: &rule.name, action: &rule.action })
    }

    /// The tags of the rule of an index.
    pub fn tags(&self, index: usize) -> impl Iterator<Item = &str> {
        self.tag_numbers(index).iter().filter_map(|&tag| self.tags.get(tag as usize)).map(|tag| &**tag)
    }

    /// The numbers of the tags of the rule of an index, each once.
    pub(crate) fn tag_numbers(&self, index: usize) -> &[u32] {
        self.rules.get(index).map_or(&[], |rule| &rule.tags)
    }

    /// The tags that rules have, by number.
    pub(crate) fn all_tags(&self) -> &[Box<str>] {
        &self.tags
    }

    /// The text of the rule of an index.
    #[must_use]
    pub fn source(&self, index: usize) -> Option<&str> {
        self.rules.get(index).map(|rule| rule.text.source())
    }

    /// What a rule that fails counts as, unless [it was given](RuleSetBuilder::rule_on_error) a policy of its own.
    #[must_use]
    pub fn on_error(&self) -> ErrorPolicy {
        self.on_error
    }

    /// What the rule of an index counts as if it fails.
    pub(crate) fn policy(&self, index: usize) -> ErrorPolicy {
        self.rules.get(index).and_then(|rule| rule.on_error).unwrap_or(self.on_error)
    }

    /// What is valid in a rule, but probably not what its author means, with the rule's index, in the order of the rules.
    /// Beside what a [`Program`](crate::Program) warns of these are rules that are never true, that have the condition of one
    /// before them, or that are never the first match: at most 1000 of them.
    #[must_use]
    pub fn warnings(&self) -> &[(usize, Diagnostic)] {
        &self.warnings
    }

    /// How many of the rules native code evaluates, or the index alone.
    #[must_use]
    pub fn native_rules(&self) -> usize {
        let native = self.parts.iter().filter(|part| part.function.is_some());
        let straight = native.fold(0, |sum: usize, part| sum.saturating_add(part.count));
        let Some(groups) = &self.native else { return straight };
        let indexed = self.index.as_ref().map_or(0, |index| index.len_with(|row| groups.builds(row).is_some()));
        straight.saturating_add(indexed)
    }

    /// How many of the rules an index finds, so that they cost nothing where they are false. The others are evaluated every
    /// time.
    #[must_use]
    pub fn indexed_rules(&self) -> usize {
        self.index.as_ref().map_or(0, Index::len)
    }

    /// The rules that the index leaves out, so that they are evaluated every time, in order.
    pub fn every_time(&self) -> impl Iterator<Item = usize> {
        let mut rules: Vec<usize> = self.straight.iter().map(|&rule| rule as usize).collect();
        rules.sort_unstable();
        rules.into_iter()
    }

    /// What was counted so far; `None` unless the builder was [asked](RuleSetBuilder::counters) to count.
    #[must_use]
    pub fn counts(&self) -> Option<Counts<'_>> {
        let board = self.board.as_ref()?;
        let mut rules = Vec::with_capacity(self.len());
        board.read(0..u32::try_from(self.len()).unwrap_or(u32::MAX), |matches, errors| {
            let index = rules.len();
            let name = self.rules.get(index).map_or("", |rule| &*rule.name);
            rules.push(RuleCounts { index, name, matches, errors });
        });
        let (evaluations, mean_time) = board.evaluations();
        Some(Counts { evaluations, mean_time, rules })
    }

    /// Bytes that the index holds, beside code and the text of the rules.
    #[must_use]
    pub fn index_size(&self) -> usize {
        let rows = self.native.as_ref().map_or(0, |native| native.shapes().bytes());
        self.index.as_ref().map_or(0, Index::bytes).saturating_add(rows)
    }

    /// Bytes of machine code.
    #[must_use]
    pub fn code_size(&self) -> usize {
        self.native.as_ref().map_or(0, Groups::size)
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
