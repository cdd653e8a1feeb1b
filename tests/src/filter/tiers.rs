//! The ways to evaluate a rule: the interpreter, and what is compared with it.

use super::Values;
use super::native::evaluate_native;
use celero::ErrorKind;
use celero::filter::{Filter, FilterValue};

/// A value, nothing where it is missing, or an error.
pub type Outcome = Result<Option<FilterValue>, ErrorKind>;

/// Evaluates a rule for each host in the interpreter.
#[must_use]
pub fn interpret(filter: &Filter, hosts: &[Values]) -> Vec<Outcome> {
    hosts.iter().map(|host| filter.eval(host).map_err(|error| error.kind)).collect()
}

/// Evaluates a rule for each host in native code. All hosts come in one call so that a rule is compiled once.
///
/// # Errors
/// Why the rule has no native code over an environment.
pub fn evaluate_other_tier(filter: &Filter, hosts: &[Values]) -> Result<Vec<Outcome>, &'static str> {
    evaluate_native(filter, hosts)
}
