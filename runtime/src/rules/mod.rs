//! Rules that are compiled and evaluated together.
//!
//! What a set answers is what its rules answer one by one, under the policy for errors. Rules are evaluated in their order by
//! functions of up to 64 rules each; a rule without native code, and the rules of a function whose answer can't be told apart
//! by rule, go to the interpreter one by one.

mod alone;
mod build;
mod evaluate;

pub use build::{RuleSetBuilder, RuleSetError};

use crate::error::EvalError;
use crate::native::{Groups, Part};
use alone::Alone;
use celero_frontend::Diagnostic;
use std::fmt;
use std::marker::PhantomData;

/// What a rule that fails counts as. Allow lists and deny lists fail in opposite directions, so this is asked for once a set.
/// Whatever it is, [`Scratch::errors`](crate::Scratch::errors) has the errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It does not match: for rules that allow.
    #[default]
    NoMatch,
    /// It matches: for rules that deny.
    Match,
    /// The evaluation of the set ends there, and its result is the error.
    Stop,
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
/// The answer is what [`Program::test`](crate::Program::test) of each rule would give, and errors are those too. Each rule has
/// the steps and the memory of [`Limits`](crate::Limits) for itself: one that spends too much takes nothing from the others.
///
/// ```
/// use celero::http::RequestContext;
/// use celero::{Engine, Env, OnError, Scratch};
///
/// let env = Env::<RequestContext>::new();
/// let rules = Engine::new()
///     .rules(&env)
///     .rule("admin", r#"request.path.startsWith("/admin") && request.headers["x-team"] != "ops""#, "deny")
///     .rule("bots", r#"request.headers["user-agent"].matches("(?i)curl|wget")"#, "challenge")
///     .on_error(OnError::Match)
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
    /// All rules, in order.
    parts: Box<[Part]>,
    native: Option<Groups>,
    alone: Alone,
    on_error: OnError,
    warnings: Box<[(usize, Diagnostic)]>,
    context: PhantomData<fn(&S)>,
}

#[derive(Debug)]
struct Rule<A> {
    name: Box<str>,
    text: alone::Text,
    action: A,
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

    /// The text of the rule of an index.
    #[must_use]
    pub fn source(&self, index: usize) -> Option<&str> {
        self.rules.get(index).map(|rule| rule.text.source())
    }

    /// What a rule that fails counts as.
    #[must_use]
    pub fn on_error(&self) -> OnError {
        self.on_error
    }

    /// What is valid in a rule, but probably not what its author means, with the rule's index.
    #[must_use]
    pub fn warnings(&self) -> &[(usize, Diagnostic)] {
        &self.warnings
    }

    /// How many of the rules native code evaluates.
    #[must_use]
    pub fn native_rules(&self) -> usize {
        let native = self.parts.iter().filter(|part| part.function.is_some());
        native.fold(0, |sum, part| sum.saturating_add(part.count))
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
