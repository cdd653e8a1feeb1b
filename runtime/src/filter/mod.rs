//! Cloudflare's filter language, the language of Wirefilter.
//!
//! [`Env::filter_language`](crate::Env::filter_language) makes it the language of an environment:
//! programs, rule sets and live rules are then compiled from its rules as they are from CEL.
//! [`FilterLanguage`] says which fields there are.
//!
//! ```
//! use celero::filter::FilterLanguage;
//! use celero::http::RequestContext;
//! use celero::{Engine, Env, Scratch};
//!
//! let env = Env::<RequestContext>::new().filter_language(FilterLanguage::http());
//! let rules = Engine::new()
//!     .rules(&env)
//!     .rule("scanner", r#"http.user_agent contains "nikto" or http.request.uri.path eq "/.env""#, 404)
//!     .rule("network", r#"ip.src in {192.0.2.0/24} and any(http.request.headers["x-tag"][*] eq "a")"#, 403)
//!     .build()?;
//! let request = http::Request::get("/.env").body(()).unwrap();
//! let found = rules.first(&RequestContext::new(&request), &mut Scratch::new())?;
//! assert_eq!(found.map(|rule| *rule.action), Some(404));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where a value is missing, there is no error: comparisons are false, and functions have no
//! result. The only errors are spent budgets, which the host bounds with [`Limits`], and a rule
//! that is a value which is missing.
//!
//! # Without an environment
//!
//! [`Filter`] is a rule over a [`Scheme`], for hosts that keep values of this language: it is interpreted.
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
//! # Tiers
//!
//! The interpreter (`interpret.rs`) walks the checked tree ([`FilterTree`]) in the plainest way: it
//! is the oracle that native code is tested against. Native code is compiled from the graph that
//! `lower/` makes of the same tree. Both call the functions in `functions/`.

pub(crate) mod binding;
mod compare;
mod convert;
mod data;
mod derive;
#[cfg(feature = "serde_json")]
mod from_json;
mod functions;
mod interpret;
mod language;
mod letter_cases;
mod lint;
mod lower;
mod mime;
mod multipart;
mod named_lists;
mod necessary;
pub(crate) mod pattern;
mod prepared;
mod reads;
mod rule;
mod static_cost;
mod value;

pub(crate) use binding::FilterBinding;
pub use binding::FilterLanguage;
pub use celero_frontend::filter::*;
#[cfg(feature = "serde_json")]
pub(crate) use from_json::read;
#[cfg(feature = "serde_json")]
pub use from_json::{JsonError, read_filter_json};
pub use named_lists::list_entries;
pub(crate) use rule::FilterRule;
pub use static_cost::static_costs;
pub use value::{FilterHost, FilterValue};

use crate::arena::Arena;
use crate::context::Host;
use crate::cx::Cx;
use crate::error::{CompileError, ErrorKind, EvalError};
use crate::function::Functions;
use crate::interpret::Recorder;
use crate::limits::Limits;
use crate::value::Value;
use celero_frontend::Diagnostic;
use interpret::{Record, RecordedResult, Walk};
use prepared::Prepared;
use std::cell::Cell;
use std::sync::Arc;

/// Bytes of memory for each step that is left.
const BYTES_PER_STEP: usize = 64;

/// Most bytes of values that a trace keeps. Each is copied.
const RECORDED_BYTES: usize = 1 << 20;

/// A rule in the filter language, ready to be evaluated.
#[derive(Clone, Debug)]
pub struct Filter {
    tree: FilterTree,
    prepared: Prepared,
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
        Self::of_tree(tree, warnings).map_err(|errors| CompileError::new(source, errors))
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

    /// The warnings: more with [`FilterOptions::strict`].
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
        let arena = Arena::new(self.limits.memory);
        let cx = Cx::new(i64::from(self.limits.steps), &arena);
        Walk::new(&self.tree, &self.prepared, &data::Own(host), &cx, self.limits.memory).run()
    }

    /// Prepares a checked tree.
    ///
    /// # Errors
    /// Patterns whose programs are too large.
    pub(crate) fn of_tree(tree: FilterTree, warnings: Vec<Diagnostic>) -> Result<Self, Vec<Diagnostic>> {
        let prepared = Prepared::of(&tree)?;
        Ok(Self { tree, prepared, warnings, limits: Limits::default() })
    }

    /// Evaluates the rule on a host of its environment.
    ///
    /// # Errors
    /// `out_of_budget`, and `no_such_key` if the value is missing.
    pub(crate) fn interpret<'a>(
        &self,
        binding: &'a FilterBinding,
        functions: &Functions,
        host: &'a dyn Host,
        cx: &Cx<'a>,
    ) -> Result<Value<'a>, EvalError> {
        self.interpret_for(None, binding, functions, host, cx)
    }

    /// Evaluates the rule as [`interpret`](Self::interpret) does, and records the result of each node.
    ///
    /// # Errors
    /// As [`interpret`](Self::interpret).
    pub(crate) fn interpret_recorded<'a>(
        &self,
        recorder: &Recorder<'a>,
        binding: &'a FilterBinding,
        functions: &Functions,
        host: &'a dyn Host,
        cx: &Cx<'a>,
    ) -> Result<Value<'a>, EvalError> {
        let left = Cell::new(RECORDED_BYTES);
        let record = |id, result: RecordedResult<'_>| {
            recorder.record_with(id, || {
                let Ok(Some(value)) = result else { return Some(result.map(|_| None)) };
                // What is left of a rule follows from its conditions: none is without its result.
                if !matches!(value, FilterValue::Bool(_)) {
                    left.set(left.get().checked_sub(value.size())?);
                }
                convert::engine_value(value, cx.arena()).ok().map(|value| Ok(Some(value)))
            });
        };
        self.interpret_for(Some(&record), binding, functions, host, cx)
    }

    fn interpret_for<'a>(
        &self,
        record: Option<&Record<'_>>,
        binding: &'a FilterBinding,
        functions: &Functions,
        host: &'a dyn Host,
        cx: &Cx<'a>,
    ) -> Result<Value<'a>, EvalError> {
        let data = data::Bound { binding, functions, host, cx };
        let memory = usize::try_from(cx.left()).unwrap_or(0).saturating_mul(BYTES_PER_STEP);
        let value = Walk::new(&self.tree, &self.prepared, &data, cx, memory).recording(record).run()?;
        let span = self.tree.node(self.tree.root()).span;
        let at = |kind| EvalError { kind, start: span.start, end: span.end };
        convert::engine_value(&value.ok_or_else(|| at(ErrorKind::NoSuchKey))?, cx.arena()).map_err(at)
    }
}
