//! Evaluations that know only a part of the context: [`Unknowns`], [`Partial`].
//!
//! Reading what is not known is the error [`ErrorKind::Unknown`], which `&&`, `||`, `all` and
//! `exists` absorb as they absorb every error, and selections beside what is not known; nothing
//! else does. So a result that is
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
use std::collections::HashMap;

/// Variables, or parts of them, whose values are not known yet, such as those of the body while a
/// request's head is read. Made once for an environment; see
/// [`Program::decide`](crate::Program::decide).
#[derive(Clone, Debug)]
pub struct Unknowns {
    /// Indexed by variable: whether it is unknown, as a whole or in part.
    is_unknown: Box<[bool]>,
    /// The paths to the unknown parts of those that are unknown in part only.
    parts: HashMap<u32, Vec<Path>>,
    /// Of the environment.
    declarations: u64,
}

/// A text for each selection; [`ANY`] is every key.
type Path = Box<[Box<str>]>;

/// Stands for every key, field and index in the name of what is unknown.
const ANY: &str = "*";

impl Unknowns {
    /// Returns the unknown variables of these names. A name also stands for the variables whose
    /// names go on behind it, as `request` does for `request.path`.
    ///
    /// A name that goes on behind that of a variable is a part of it: `claims.groups`, `items.0`,
    /// `items.*.price`, where `*` is every key or index. In CEL, what is selected beside that part
    /// by constant keys is known, as `claims.sub` is, and `items[0].name`, as long as what is around
    /// the part is there; the variable as a whole is not known, and neither is a list with such a
    /// part, or what a key with a dot selects. Keys are compared in any letter case, as names of
    /// headers are. In other languages the variable is unknown.
    ///
    /// # Errors
    /// The environment has no variable for a name.
    pub fn new<C>(env: &Env<C>, names: &[&str]) -> Result<Self, EnvError> {
        let declared = env.variables();
        let mut is_unknown = vec![false; declared.len()];
        let mut parts = HashMap::<u32, Vec<Path>>::new();
        for name in names {
            let mut found = false;
            for (variable, unknown) in (0..).zip(&mut is_unknown) {
                let declared = declared.name(variable).unwrap_or_default();
                if behind(declared, name).is_some() {
                    (found, *unknown) = (true, true);
                    parts.remove(&variable);
                } else if let Some(path) = behind(name, declared) {
                    // A variable that is unknown as a whole has no parts.
                    if !*unknown || parts.contains_key(&variable) {
                        parts.entry(variable).or_default().push(path.split('.').map(Box::from).collect());
                    }
                    (found, *unknown) = (true, true);
                }
            }
            if !found {
                return Err(EnvError::new(format!("there is no variable `{name}` that could be unknown")));
            }
        }
        Ok(Self { is_unknown: is_unknown.into(), parts, declarations: declared.fingerprint() })
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
        KnownPart { host, unknowns: self }
    }

    /// Whether nothing that is unknown lies at the end of a path from a variable, before it or behind it.
    fn are_beside(&self, variable: u32, path: &[String]) -> bool {
        let differs = |part: &Path| {
            part.iter().zip(path).any(|(unknown, key)| **unknown != *ANY && !unknown.eq_ignore_ascii_case(key))
        };
        match self.is_unknown.get(variable as usize) {
            Some(false) => true,
            _ => self.parts.get(&variable).is_some_and(|parts| parts.iter().all(differs)),
        }
    }
}

/// What goes on behind the beginning of a name, which may be nothing.
fn behind<'n>(name: &'n str, beginning: &str) -> Option<&'n str> {
    let rest = name.strip_prefix(beginning)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

/// A context of which some variables are not known yet.
#[derive(Clone, Copy)]
pub(crate) struct KnownPart<'a> {
    host: &'a dyn Host,
    unknowns: &'a Unknowns,
}

impl Host for KnownPart<'_> {
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.field_around(index, &[], arena)
    }

    fn field_around<'s>(&'s self, index: u32, path: &[String], arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        if self.unknowns.are_beside(index, path) { self.host.field(index, arena) } else { Err(ErrorKind::Unknown) }
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
    /// Functions that are not pure are not called again in parts that are decided. In a language whose
    /// parts are no rules of their own, the residual is the rule.
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
