//! Evaluations that know only a part of the context: [`Unknowns`], [`Partial`].
//!
//! Reading what is not known is the error [`ErrorKind::Unknown`], which `&&`, `||`, `all` and
//! `exists` absorb as they absorb every error, and which nothing else does. So a result that is
//! not this error is the result whatever the values are that come later.

use super::Expression;
use super::trace::Trace;
use crate::arena::{Arena, EvalResult};
use crate::context::Host;
use crate::env::{Env, EnvError};
use crate::error::{ErrorKind, EvalError};
use crate::fields::Fields;
use crate::function::Functions;
use crate::language::KnownNames;
use crate::library::Cx;
use crate::value::Value;

/// Variables whose values are not known yet, such as those of the body while a request's head is
/// read. Made once for an environment; see [`Program::decide`](crate::Program::decide).
#[derive(Clone, Debug)]
pub struct Unknowns {
    /// Indexed by variable.
    is_unknown: Box<[bool]>,
    /// Of the environment.
    declarations: u64,
}

impl Unknowns {
    /// Returns the unknown variables of these names. A name also stands for the variables whose
    /// names go on behind it, as `request` does for `request.path`, and for the variable that it
    /// is a part of: the whole of that is unknown.
    ///
    /// # Errors
    /// The environment has no variable for a name.
    pub fn new<C>(env: &Env<C>, names: &[&str]) -> Result<Self, EnvError> {
        let variables = env.variables();
        let mut is_unknown = vec![false; variables.len()];
        for name in names {
            let mut found = false;
            for (variable, unknown) in (0..).zip(&mut is_unknown) {
                let declared = variables.name(variable).unwrap_or_default();
                if is_within(declared, name) || is_within(name, declared) {
                    (found, *unknown) = (true, true);
                }
            }
            if !found {
                return Err(EnvError::new(format!("there is no variable `{name}` that could be unknown")));
            }
        }
        Ok(Self { is_unknown: is_unknown.into(), declarations: variables.fingerprint() })
    }

    /// Whether the variables are those of the environment with this fingerprint.
    pub(crate) fn is_for(&self, declarations: u64) -> bool {
        self.declarations == declarations
    }

    /// Whether none of them is among these fields.
    pub(crate) fn are_unread<C>(&self, fields: &Fields, env: &Env<C>) -> bool {
        let variables = env.variables();
        (0..)
            .zip(&self.is_unknown)
            .all(|(variable, unknown)| !unknown || variables.name(variable).is_some_and(|name| !fields.reads(name)))
    }

    /// What is known of an environment: the one that these are the unknown variables of.
    pub(crate) fn known_names<'k, C>(&'k self, env: &'k Env<C>) -> Option<KnownNames<'k>> {
        let names =
            KnownNames { is_unknown: &self.is_unknown, declarations: env.declarations(), functions: env.functions() };
        self.is_for(env.variables().fingerprint()).then_some(names)
    }

    /// The context as far as it is known.
    pub(crate) fn known<'a>(&'a self, host: &'a dyn Host) -> KnownPart<'a> {
        KnownPart { host, is_unknown: &self.is_unknown }
    }
}

/// Whether a name is another one, or goes on behind it.
fn is_within(name: &str, other: &str) -> bool {
    name.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A context of which some variables are not known yet.
#[derive(Clone, Copy)]
pub(crate) struct KnownPart<'a> {
    host: &'a dyn Host,
    is_unknown: &'a [bool],
}

impl Host for KnownPart<'_> {
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        match self.is_unknown.get(index as usize) {
            Some(false) => self.host.field(index, arena),
            _ => Err(ErrorKind::Unknown),
        }
    }
}

/// What an evaluation came to that knows only a part of the context. Made by
/// [`Program::partial`](crate::Program::partial).
#[derive(Clone, Debug)]
pub struct Partial<'a> {
    trace: Trace<'a>,
}

impl<'a> Partial<'a> {
    /// Returns the result, if it is the same whatever the unknown values are.
    #[must_use]
    pub fn result(&self) -> Option<Result<Value<'a>, EvalError>> {
        decided(self.trace.result())
    }

    /// Returns the source of an expression that has the same results for this context once
    /// everything is known, without the parts that are decided: compile it in the same environment.
    /// Operands of `&&` and `||` that don't decide are left out; in CEL, known values of at most 256
    /// bytes stand in the places of what they come from.
    ///
    /// Functions that are not pure are not called again in parts that are decided. The residual of a
    /// rule in a language other than CEL and the filter language is the rule.
    #[must_use]
    pub fn residual(&self) -> String {
        self.trace.residual()
    }

    /// Returns what each part of the expression evaluated to.
    #[must_use]
    pub fn trace(&self) -> &Trace<'a> {
        &self.trace
    }
}

/// The result, unless it depends on what is not known.
pub(crate) fn decided<T>(result: Result<T, EvalError>) -> Option<Result<T, EvalError>> {
    match result {
        Err(EvalError { kind: ErrorKind::Unknown, .. }) => None,
        result => Some(result),
    }
}

impl Expression {
    /// Evaluates the expression with the interpreter, as far as the context is known.
    pub(crate) fn partial<'a>(
        &'a self,
        functions: &'a Functions,
        known: &'a KnownPart<'a>,
        cx: &Cx<'a>,
    ) -> Partial<'a> {
        Partial { trace: self.trace(functions, known, cx) }
    }
}
