//! Rules in Cloudflare's filter language, interpreted.
//!
//! ```
//! use celero::filter::{Filter, FilterHost, FilterOptions, FilterType, FilterValue, Scheme};
//! use std::sync::Arc;
//!
//! struct Request(FilterValue);
//!
//! impl FilterHost for Request {
//!     fn field(&self, index: u32) -> Option<&FilterValue> {
//!         (index == 0).then_some(&self.0)
//!     }
//! }
//!
//! let mut scheme = Scheme::new();
//! scheme.add_field("http.host", FilterType::Bytes)?;
//! let filter = Filter::compile(r#"lower(http.host) wildcard "*.example.com""#, &Arc::new(scheme), &FilterOptions::default())?;
//! assert!(filter.test(&Request("WWW.example.com".into()))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Filter`] is a checked rule with its patterns compiled. The interpreter walks the checked tree
//! ([`FilterTree`]) in the plainest way: it is the oracle that native code of this language is tested against, and shares with it
//! the functions in `functions/` only.
//!
//! Where a value is missing, there is no error: comparisons are false, and functions have no result. The only errors are spent
//! budgets, which the host bounds with [`Limits`].

mod compare;
mod functions;
mod interpret;
mod value;

pub use celero_frontend::filter::*;
pub use value::{FilterHost, FilterValue};

use crate::error::{CompileError, EvalError};
use crate::limits::Limits;
use celero_frontend::{Diagnostic, NodeId, Stage};
use celero_matching::Wildcard as PreparedWildcard;
use celero_matching::pattern::{ByteRegex, PatternError};
use interpret::Walk;
use std::collections::HashMap;
use std::sync::Arc;

/// A rule in the filter language, ready to be evaluated.
#[derive(Clone, Debug)]
pub struct Filter {
    tree: FilterTree,
    /// The compiled patterns, by the node that they belong to: a comparison, or the literal argument of a call.
    patterns: HashMap<NodeId, ByteRegex>,
    /// The prepared wildcards, by the comparison that they belong to.
    wildcards: HashMap<NodeId, Arc<PreparedWildcard>>,
    warnings: Vec<Diagnostic>,
    limits: Limits,
}

impl Filter {
    /// Compiles a condition.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the rule, or a pattern whose program is larger than 10 MiB.
    pub fn compile(source: &str, scheme: &Arc<Scheme>, options: &FilterOptions) -> Result<Self, CompileError> {
        Self::prepare(source, check_filter(source, scheme, options))
    }

    /// Compiles a value, such as `concat("/x", http.request.uri.path)`.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn compile_value(source: &str, scheme: &Arc<Scheme>, options: &FilterOptions) -> Result<Self, CompileError> {
        Self::prepare(source, check_value(source, scheme, options))
    }

    fn prepare(
        source: &str,
        checked: Result<(FilterTree, Vec<Diagnostic>), Vec<Diagnostic>>,
    ) -> Result<Self, CompileError> {
        let (tree, warnings) = checked.map_err(|diagnostics| CompileError::new(source, diagnostics))?;
        let (mut patterns, mut wildcards) = (HashMap::new(), HashMap::new());
        let mut errors = Vec::new();
        for (index, node) in tree.nodes().iter().enumerate() {
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            let pattern = match &node.expr {
                FilterExpr::Compare { comparison: Comparison::Matches(pattern), .. } => Some((id, &*pattern.text)),
                FilterExpr::Compare { comparison: Comparison::Wildcard(wildcard), .. } => {
                    wildcards.insert(id, Arc::new(prepared(wildcard, false)));
                    None
                }
                FilterExpr::Compare { comparison: Comparison::StrictWildcard(wildcard), .. } => {
                    wildcards.insert(id, Arc::new(prepared(wildcard, true)));
                    None
                }
                FilterExpr::Call { function, args } => pattern_argument(&tree, *function, tree.children(*args)),
                _ => None,
            };
            let Some((id, pattern)) = pattern else { continue };
            match ByteRegex::new(pattern) {
                Ok(regex) => drop(patterns.insert(id, regex)),
                Err(error) => {
                    let message = match error {
                        PatternError::TooLarge { limit } => {
                            format!("Compiled regex exceeds size limit of {limit} bytes.")
                        }
                        other => other.to_string(),
                    };
                    errors.push(Diagnostic::error(Stage::Limit, "filter-pattern", tree.node(id).span, message));
                }
            }
        }
        if errors.is_empty() {
            Ok(Self { tree, patterns, wildcards, warnings, limits: Limits::default() })
        } else {
            Err(CompileError::new(source, errors))
        }
    }

    /// Sets the bounds on steps and memory of an evaluation. By default those of [`Limits::default`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The checked tree.
    #[must_use]
    pub fn tree(&self) -> &FilterTree {
        &self.tree
    }

    /// The warnings, with [`FilterOptions::strict`].
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Evaluates the rule as a condition. A rule that is a value of another type than `Bool` is false.
    ///
    /// # Errors
    ///
    /// `out_of_budget` if the evaluation takes more steps or memory than the limits allow.
    pub fn test(&self, host: &dyn FilterHost) -> Result<bool, EvalError> {
        Ok(self.eval(host)? == Some(FilterValue::Bool(true)))
    }

    /// Evaluates the rule as a value; `None` if that is missing.
    ///
    /// # Errors
    ///
    /// As [`test`](Self::test).
    pub fn eval(&self, host: &dyn FilterHost) -> Result<Option<FilterValue>, EvalError> {
        Walk::new(&self.tree, &self.patterns, &self.wildcards, host, &self.limits).run()
    }
}

/// Prepares a wildcard pattern for matching.
fn prepared(wildcard: &Wildcard, strict: bool) -> PreparedWildcard {
    PreparedWildcard::new(wildcard.pieces().iter().map(|piece| &**piece), strict)
}

/// The pattern among the arguments of a call: the node of the literal, and its text.
fn pattern_argument<'t>(tree: &'t FilterTree, function: u32, args: &[NodeId]) -> Option<(NodeId, &'t str)> {
    let function = tree.function(function)?;
    let is_pattern =
        |index: usize| function.parameter(index).is_some_and(|parameter| parameter.rule == LiteralRule::Pattern);
    let (_, &id) = args.iter().enumerate().find(|(index, _)| is_pattern(*index))?;
    match tree.expr(id) {
        FilterExpr::Literal(FilterLiteral::Bytes(bytes)) => Some((id, std::str::from_utf8(&bytes.value).ok()?)),
        _ => None,
    }
}
