//! Named values for an environment that is declared at run time: for hosts that have no Rust type for their data.

use crate::arena::{Arena, EvalResult};
use crate::context::{Context, Field, Host};
use crate::env::Env;
use crate::value::Value;
use crate::variables::Variables;
use celero_frontend::Type;
use std::fmt;
use std::sync::Arc;

/// Values for the variables of an [`Env::dynamic`]. A variable without a value is absent: reading
/// it is the error "no such key".
///
/// Rules must be compiled with the environment that the bindings were made for, or one that
/// declares the same variables in the same order: values are found by the position of their
/// declaration. With others every rule is the error `host`.
#[derive(Clone, Debug)]
pub struct Bindings<'a> {
    variables: Arc<Variables>,
    values: Vec<Option<Value<'a>>>,
}

/// A value that a variable cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// The environment declares no such variable.
    Undeclared {
        /// The name.
        name: String,
    },
    /// The value is not of the variable's type. Only the outermost type is looked at.
    WrongType {
        /// The variable.
        name: String,
        /// What it is declared as.
        declared: Type,
        /// What the value is.
        actual: &'static str,
    },
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared { name } => write!(f, "variable `{name}` is not declared"),
            Self::WrongType { name, declared, actual } => {
                write!(f, "variable `{name}` is declared as `{declared}`, but the value is a `{actual}`")
            }
        }
    }
}

impl std::error::Error for BindError {}

impl Env<Bindings<'static>> {
    /// An environment without variables, for [`Bindings`]; [`variable`](Env::variable) declares them.
    #[must_use]
    pub fn dynamic() -> Self {
        Self::empty()
    }

    /// Declares a variable. It is absent until [`Bindings::set`] gives it a value.
    #[must_use]
    pub fn variable(mut self, name: &str, ty: Type) -> Self {
        self.declare_by_index(name, ty);
        self
    }
}

impl<'a> Bindings<'a> {
    /// No values yet, for the variables of an environment.
    #[must_use]
    pub fn new(env: &Env<Bindings<'static>>) -> Self {
        let variables = env.variables();
        Self { values: vec![None; variables.len()], variables }
    }

    /// Gives a variable a value, in place of the one it may have.
    ///
    /// # Errors
    /// When the variable is not declared, or is declared with another type.
    pub fn set(&mut self, name: &str, value: Value<'a>) -> Result<(), BindError> {
        let (index, declared) = self.find(name)?;
        if !value.fits(declared) {
            let (name, declared) = (name.to_owned(), declared.clone());
            return Err(BindError::WrongType { name, declared, actual: value.type_name() });
        }
        self.put(index, Some(value));
        Ok(())
    }

    /// Takes a variable's value away.
    ///
    /// # Errors
    /// When the variable is not declared.
    pub fn unset(&mut self, name: &str) -> Result<(), BindError> {
        let (index, _) = self.find(name)?;
        self.put(index, None);
        Ok(())
    }

    /// Takes all values away.
    pub fn clear(&mut self) {
        self.values.fill(None);
    }

    fn find(&self, name: &str) -> Result<(usize, &Type), BindError> {
        self.variables.find(name).ok_or_else(|| BindError::Undeclared { name: name.to_owned() })
    }

    fn put(&mut self, index: usize, value: Option<Value<'a>>) {
        if let Some(place) = self.values.get_mut(index) {
            *place = value;
        }
    }
}

impl Host for Bindings<'_> {
    fn field<'s>(&'s self, index: u32, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(self.values.get(index as usize).copied().flatten())
    }
}

// SAFETY: there are no fields but those that an `Env::dynamic` declares, all of which are read through `Host::field`.
unsafe impl Context for Bindings<'_> {
    type Static = Bindings<'static>;

    fn fields() -> Vec<Field> {
        Vec::new()
    }

    fn declarations(&self) -> Option<u64> {
        Some(self.variables.fingerprint())
    }
}
