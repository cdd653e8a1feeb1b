//! Named values for an environment that is declared at run time: for hosts that have no Rust type for their data.

use super::Env;
use crate::accessors::vec_layout::vec_offsets;
use crate::arena::{Arena, EvalResult};
use crate::context::{Context, Field, Host, read_by_call};
use crate::value::Value;
use crate::variables::Variables;
use celero_frontend::Type;
use celero_ir::layout::{AbsentIf, Access, Field as Layout, Path, Repr};
use celero_ir::{ErrorKind, Ty};
use std::fmt;
use std::mem::offset_of;
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
    /// As many as there are variables.
    slots: Vec<Slot<'a>>,
}

/// The place of a variable's value, which native code reads.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Slot<'a> {
    bound: bool,
    /// Null if there is no value.
    value: Value<'a>,
}

impl<'a> Slot<'a> {
    fn new(value: Option<Value<'a>>) -> Self {
        Self { bound: value.is_some(), value: value.unwrap_or(Value::Null) }
    }
}

/// Why a variable does not get a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
        actual: Box<str>,
    },
    /// The text of a document is no value of the variable's type.
    Malformed {
        /// The variable.
        name: String,
        /// What it is declared as.
        declared: Type,
        /// The text.
        text: String,
        /// Why it is none.
        reason: ErrorKind,
    },
    /// The variable is a map whose keys are not text, unlike those of the objects of a document.
    WrongKeys {
        /// The variable.
        name: String,
        /// What it is declared as.
        declared: Type,
    },
    /// A document, or the member of one that other variables are inside of, is no object.
    NotAnObject {
        /// The name of the member; empty for the document.
        name: String,
        /// A variable that would be inside.
        inside: Option<String>,
        /// What it is.
        actual: Box<str>,
    },
    /// A document has two members for one variable: `user.age`, and `age` inside of `user`.
    Twice {
        /// The variable.
        name: String,
    },
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared { name } => write!(f, "variable `{name}` is not declared"),
            Self::WrongType { name, declared, actual } => {
                write!(f, "variable `{name}` is declared as `{declared}`, but the value is a `{actual}`")
            }
            Self::Malformed { name, declared, text, reason } => {
                write!(f, "variable `{name}` is declared as `{declared}`, but {text:?} is none: {reason}")
            }
            Self::WrongKeys { name, declared } => {
                let why = "but the keys of an object are of type `string`";
                write!(f, "variable `{name}` is declared as `{declared}`, {why}")
            }
            Self::NotAnObject { name, inside: Some(inside), actual } => {
                write!(
                    f,
                    "`{name}` must be an object with the variable `{inside}` inside, but it is of type `{actual}`"
                )
            }
            Self::NotAnObject { actual, .. } => {
                let what = "an object with a member for each variable";
                write!(f, "the document must be {what}, but it is of type `{actual}`")
            }
            Self::Twice { name } => write!(f, "variable `{name}` has two values in the document"),
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
        let layout = layout(self.fields().len()).unwrap_or_else(|| read_by_call(true));
        self.declare_known(name, ty, layout);
        self
    }
}

/// How native code reads the variable of this index; `None` if by a call.
///
/// The slot exists: no evaluation begins with bindings of another number of variables
/// ([`Variables::fingerprint`]).
fn layout(index: usize) -> Option<Layout> {
    let (address, _) = vec_offsets::<Slot<'static>>()?;
    let slots = u32::try_from(offset_of!(Bindings<'static>, slots)).ok()?.checked_add(address)?;
    let slot = index.checked_mul(size_of::<Slot<'static>>()).filter(|_| index < Variables::MAX_COUNTED)?;
    let member = |offset: usize| Some(Path(vec![slots, u32::try_from(slot.checked_add(offset)?).ok()?]));
    let value = member(offset_of!(Slot<'static>, value))?;
    let unbound = AbsentIf { path: member(offset_of!(Slot<'static>, bound))?, repr: Repr::U8, number: 0 };
    let layout = Layout::new(Ty::Value, true, Access::Load(value, Repr::Value));
    Some(Layout { absent_if: vec![unbound], ..layout })
}

impl<'a> Bindings<'a> {
    /// No values yet, for the variables of an environment.
    #[must_use]
    pub fn new(env: &Env<Bindings<'static>>) -> Self {
        let variables = env.variables();
        Self { slots: vec![Slot::new(None); variables.len()], variables }
    }

    /// Gives a variable a value, in place of the one it may have: a number, a truth value, a
    /// reference to a text, to bytes or to an [`OwnedValue`](crate::OwnedValue), a [`Value`]. With
    /// the feature `serde_json` also a reference to a document, which rules read in place, and with
    /// `serde` to a `host::Serialized`.
    ///
    /// ```
    /// use celero::{Bindings, Engine, Env, Type};
    ///
    /// let env = Env::dynamic().variable("name", Type::String).variable("age", Type::Int);
    /// let name = String::from("ada");
    /// let mut bindings = Bindings::new(&env);
    /// bindings.set("name", &name)?;
    /// bindings.set("age", 41)?;
    /// assert!(Engine::new().compile(&env, "name == 'ada' && age == 41")?.test(&bindings)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the variable is not declared, or is declared with another type: signed integers are
    /// `int`, unsigned ones `uint`.
    #[inline]
    pub fn set(&mut self, name: &str, value: impl Into<Value<'a>>) -> Result<(), BindError> {
        self.set_value(name, value.into())
    }

    fn set_value(&mut self, name: &str, value: Value<'a>) -> Result<(), BindError> {
        let (index, declared) = self.find(name)?;
        if !value.fits(declared) {
            let (name, declared) = (name.to_owned(), declared.clone());
            return Err(BindError::WrongType { name, declared, actual: value.type_name().into() });
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
        self.slots.fill(Slot::new(None));
    }

    #[cfg(feature = "serde_json")]
    pub(super) fn variables(&self) -> &Variables {
        &self.variables
    }

    fn find(&self, name: &str) -> Result<(usize, &Type), BindError> {
        self.variables.find(name).ok_or_else(|| BindError::Undeclared { name: name.to_owned() })
    }

    /// Whether the variable of this index has a value.
    #[cfg(feature = "serde_json")]
    pub(super) fn is_bound(&self, index: usize) -> bool {
        self.slots.get(index).is_some_and(|slot| slot.bound)
    }

    pub(super) fn put(&mut self, index: usize, value: Option<Value<'a>>) {
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = Slot::new(value);
        }
    }
}

impl Host for Bindings<'_> {
    fn field<'s>(&'s self, index: u32, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(self.slots.get(index as usize).filter(|slot| slot.bound).map(|slot| slot.value))
    }
}

// SAFETY: there are no fields but those that an `Env::dynamic` declares, which `layout` describes.
unsafe impl Context for Bindings<'_> {
    type Static = Bindings<'static>;

    fn fields() -> Vec<Field> {
        Vec::new()
    }

    fn declarations(&self) -> Option<u64> {
        Some(self.variables.fingerprint())
    }
}
