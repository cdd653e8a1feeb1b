//! [`Rule`]: what a rule set is built from.

use super::ErrorPolicy;
use crate::error::CompileError;
use crate::expression::CheckedRule;
use std::sync::Arc;

/// A rule for a [`RuleSet`](crate::RuleSet) or a [`Live`](crate::Live): a name, a condition and an action.
///
/// ```
/// use celero::{ErrorPolicy, Rule};
///
/// let rule = Rule::new("admin", r#"request.path.startsWith("/admin")"#, "deny")
///     .priority(-1)
///     .tag("security")
///     .on_error(ErrorPolicy::Match);
/// assert_eq!(rule.name(), "admin");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Rule<A> {
    pub(crate) name: Box<str>,
    pub(crate) condition: Condition,
    pub(crate) action: A,
    pub(crate) priority: i32,
    /// Sorted, each once.
    pub(crate) tags: Vec<Arc<str>>,
    pub(crate) on_error: Option<ErrorPolicy>,
    pub(crate) shadows_until: usize,
}

/// The condition of a rule.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Source(Box<str>),
    Checked(CheckedRule),
    /// A source that was checked for another environment and has errors.
    Refused {
        source: Box<str>,
        error: CompileError,
    },
}

impl Condition {
    pub(crate) fn source(&self) -> &str {
        match self {
            Self::Source(source) | Self::Refused { source, .. } => source,
            Self::Checked(rule) => rule.source(),
        }
    }

    pub(super) fn into_source(self) -> Box<str> {
        match self {
            Self::Source(source) | Self::Refused { source, .. } => source,
            Self::Checked(rule) => rule.source().into(),
        }
    }
}

impl<A> Rule<A> {
    /// Creates a rule of priority 0 without tags. The name is for people: several rules may have
    /// the same. The source must be a `bool` expression. It is checked when the set is built.
    pub fn new(name: &str, source: &str, action: A) -> Self {
        Self::of(name, Condition::Source(source.into()), action)
    }

    /// Creates a rule from an expression that was [checked](crate::Engine::check), which is then not parsed again.
    pub fn checked(name: &str, rule: CheckedRule, action: A) -> Self {
        Self::of(name, Condition::Checked(rule), action)
    }

    fn of(name: &str, condition: Condition, action: A) -> Self {
        Self {
            name: name.into(),
            condition,
            action,
            priority: 0,
            tags: Vec::new(),
            on_error: None,
            shadows_until: usize::MAX,
        }
    }

    /// Sets the priority. Rules with smaller numbers come first, and rules with the same number in
    /// the order in which they were added. Default: 0.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Adds a tag. [`RuleSet::first_per_tag`](crate::RuleSet::first_per_tag) returns the first
    /// match of each tag. A rule can have several.
    pub fn tag(mut self, tag: &str) -> Self {
        if let Err(position) = self.tags.binary_search_by(|known| (**known).cmp(tag)) {
            self.tags.insert(position, tag.into());
        }
        self
    }

    /// Sets what this rule counts as if it fails, whatever the
    /// [policy of the set](crate::sets::RuleSetBuilder::on_error) is.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env, ErrorPolicy, Rule, Scratch};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let team = r#"request.headers["x-team"] == "ops""#;
    /// let deny = Rule::new("deny", team, 403).on_error(ErrorPolicy::Match);
    /// let rules = Engine::new().rules(&env).on_error(ErrorPolicy::NoMatch).rule("allow", team, 200).with_rule(deny).build()?;
    /// let request = http::Request::new(());
    /// let found = rules.first(&RequestContext::new(&request), &mut Scratch::new())?;
    /// assert_eq!(found.map(|rule| *rule.action), Some(403));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_error(mut self, policy: ErrorPolicy) -> Self {
        self.on_error = Some(policy);
        self
    }

    /// Sets the index in the set from which on rules are asked even where this rule matches, for
    /// the [warnings of the set](crate::RuleSet::warnings): 0 for a rule whose action does not end
    /// anything, such as one that only adds a label. It makes no rule from there on pointless, so
    /// none is reported because of it. Default: `usize::MAX`, the first match decides. It does not
    /// change what matches.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env, Rule};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let set = |until| {
    ///     let label = Rule::new("label", "request.method == 'GET'", ()).shadows_until(until);
    ///     let deny = Rule::new("deny", "request.method == 'GET' && request.path == '/x'", ());
    ///     Engine::new().rules(&env).with_rules([label, deny]).build()
    /// };
    /// assert!(set(0)?.warnings().is_empty());
    /// assert_eq!(set(usize::MAX)?.shadowed_by(1), Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shadows_until(mut self, index: usize) -> Self {
        self.shadows_until = index;
        self
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text of the condition.
    #[must_use]
    pub fn source(&self) -> &str {
        self.condition.source()
    }
}
