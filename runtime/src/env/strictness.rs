//! What an environment knows or refuses beyond the declared types: validators, domains, narrower types.

use super::Env;
use crate::lint::Validator;
use celero_frontend::Type;
use celero_ir::Domain;
use std::mem::discriminant;

impl<C> Env<C> {
    /// Turns a validator on: rules in CEL that it refuses do not compile. All are off at first. Of one with a limit,
    /// the last limit counts. The bodies of functions that are defined in CEL are tested on their own.
    ///
    /// ```
    /// # use celero::settings::Validator;
    /// # use celero::{Engine, Env};
    /// let env = Env::dynamic().validator(Validator::ComprehensionNesting(1));
    /// assert!(Engine::new().check(&env, "[1].exists(n, n > 0)").is_ok());
    /// assert!(Engine::new().check(&env, "[[1]].exists(l, l.exists(n, n > 0))").is_err());
    /// ```
    #[must_use]
    pub fn validator(mut self, validator: Validator) -> Self {
        self.validators.retain(|other| discriminant(other) != discriminant(&validator));
        self.validators.push(validator);
        self
    }

    /// The validators that are on.
    pub(crate) fn validators(&self) -> &[Validator] {
        &self.validators
    }

    /// Changes which values a variable is known to have, where the host knows more than its type says, or less (`None`:
    /// any value of the type). Warnings about comparisons follow it, results do not. Nothing changes for a variable
    /// without a [`Domain`].
    #[must_use]
    pub fn with_domain(mut self, variable: &str, change: impl FnOnce(Domain) -> Option<Domain>) -> Self {
        let found = self.declarations.variable(variable).map(|(index, _)| index as usize);
        if let Some(field) = found.and_then(|index| self.fields.get_mut(index)) {
            field.domain = field.domain.and_then(change);
        }
        self
    }

    /// Narrows the static type of a variable of type `dyn`, for rules that run only where the host gives it values of
    /// this type. An operation that needs the type fails for other values. A name that is not declared, or has another
    /// type, changes nothing. One set may have rules for this environment and the one before.
    #[must_use]
    pub fn narrow(mut self, variable: &str, ty: Type) -> Self {
        self.declarations.narrow_variable(variable, ty);
        self
    }
}
