//! Types of the keys of maps, and of the elements of sets: how a value of a rule is looked up.

use super::field_type::FieldType;
use crate::accessors::entries::EntryKey;
use crate::value::Value;
use crate::value::order::Key;
use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::Field as Layout;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

/// A type of the keys of a map, or of the elements of a set, that rules read: text, an integer, or `bool`.
///
/// For a type of your own, also implement `Borrow` of its [`Form`](MapKey::Form):
///
/// ```
/// use celero::host::MapKey;
/// use celero::{Context, Engine, Env, Type, Value};
/// use std::borrow::Borrow;
/// use std::collections::HashMap;
///
/// #[derive(PartialEq, Eq, Hash)]
/// struct Tenant(String);
///
/// impl Borrow<str> for Tenant {
///     fn borrow(&self) -> &str {
///         &self.0
///     }
/// }
///
/// impl MapKey for Tenant {
///     type Form = str;
///
///     fn ty() -> Type {
///         String::ty()
///     }
///
///     fn key(&self) -> Value<'_> {
///         self.0.key()
///     }
///
///     fn lookup<R>(value: &Value<'_>, find: impl FnOnce(&str) -> R) -> Option<R> {
///         String::lookup(value, find)
///     }
/// }
///
/// #[derive(Context)]
/// struct Quotas {
///     quotas: HashMap<Tenant, u64>,
/// }
///
/// let rule = Engine::new().compile(&Env::<Quotas>::new(), "quotas['acme'] > 5u")?;
/// assert!(rule.test(&Quotas { quotas: [(Tenant("acme".into()), 7)].into() })?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "rules can't look up a key of type `{Self}`",
    label = "not a `celero::host::MapKey`",
    note = "keys of maps and elements of sets are text, integers or `bool`; `#[context(with = function)]` makes any type a field"
)]
pub trait MapKey {
    /// What a key is looked up as: `str` for text.
    type Form: ?Sized;

    /// The CEL type.
    fn ty() -> Type;

    /// The key as a value.
    fn key(&self) -> Value<'_>;

    /// How native code reads the key where it is, if it can. Nobody else can name the argument, so
    /// nobody else can say something wrong.
    #[doc(hidden)]
    fn layout(_: OfCelero) -> Option<Layout> {
        None
    }

    /// Calls `find` with what a value of a rule is as a key. `None` if no key equals the value.
    fn lookup<R>(value: &Value<'_>, find: impl FnOnce(&Self::Form) -> R) -> Option<R>;
}

/// The argument of [`MapKey::layout`].
#[derive(Clone, Copy, Debug)]
pub struct OfCelero;

/// The type of a key in native code, if that looks it up.
pub(super) fn key_type<K: MapKey>() -> Option<Ty> {
    match K::ty() {
        Type::String => Some(Ty::Str),
        Type::Int => Some(Ty::Int),
        Type::Uint => Some(Ty::Uint),
        Type::Bool => Some(Ty::Bool),
        _ => None,
    }
}

/// The key as a value of a rule.
pub(super) fn value_of(key: EntryKey<'_>) -> Value<'_> {
    match key {
        EntryKey::Text(text) => Value::String(text),
        EntryKey::Int(number) => Value::Int(number),
        EntryKey::Uint(number) => Value::Uint(number),
        EntryKey::Bool(truth) => Value::Bool(truth),
    }
}

macro_rules! texts {
    ($($rust:ty)*) => {$(
        impl MapKey for $rust {
            type Form = str;

            fn ty() -> Type {
                Type::String
            }

            fn key(&self) -> Value<'_> {
                Value::String(self)
            }

            fn layout(_: OfCelero) -> Option<Layout> {
                Some(<$rust as FieldType>::layout())
            }

            fn lookup<R>(value: &Value<'_>, find: impl FnOnce(&str) -> R) -> Option<R> {
                match value {
                    Value::String(text) => Some(find(text)),
                    _ => None,
                }
            }
        }
    )*};
}

texts! { &str String Box<str> Arc<str> Rc<str> Cow<'_, str> }

macro_rules! integers {
    ($($variant:ident: $($rust:ty)*;)*) => {$($(
        impl MapKey for $rust {
            type Form = Self;

            fn ty() -> Type {
                Type::$variant
            }

            fn key(&self) -> Value<'_> {
                Value::$variant(*self as _)
            }

            fn layout(_: OfCelero) -> Option<Layout> {
                Some(<$rust as FieldType>::layout())
            }

            fn lookup<R>(value: &Value<'_>, find: impl FnOnce(&Self) -> R) -> Option<R> {
                match Key::lookup(value) {
                    Some(Key::Number(number)) => Self::try_from(number).ok().map(|number| find(&number)),
                    _ => None,
                }
            }
        }
    )*)*};
}

integers! {
    Int: i8 i16 i32 i64 isize;
    Uint: u8 u16 u32 u64 usize;
}

impl MapKey for bool {
    type Form = Self;

    fn ty() -> Type {
        Type::Bool
    }

    fn key(&self) -> Value<'_> {
        Value::Bool(*self)
    }

    fn layout(_: OfCelero) -> Option<Layout> {
        Some(<Self as FieldType>::layout())
    }

    fn lookup<R>(value: &Value<'_>, find: impl FnOnce(&Self) -> R) -> Option<R> {
        match value {
            Value::Bool(value) => Some(find(value)),
            _ => None,
        }
    }
}
