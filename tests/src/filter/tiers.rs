//! The ways to evaluate a rule: the interpreter, and what is compared with it.

use super::Values;
use celero::ErrorKind;
use celero::filter::{Filter, FilterValue};

/// A value, nothing where it is missing, or an error.
pub type Outcome = Result<Option<FilterValue>, ErrorKind>;

/// Evaluates a rule for each host in the interpreter.
#[must_use]
pub fn interpret(filter: &Filter, hosts: &[Values]) -> Vec<Outcome> {
    hosts.iter().map(|host| filter.eval(host).map_err(|error| error.kind)).collect()
}
