//! [`IntoValue`]: the types that a host function may return.

use super::explain;
use crate::arena::{Arena, EvalResult};
use crate::value::{Duration, List, Map, Timestamp, Value, collect_list, collect_map};
use celero_frontend::Type;
use celero_ir::ErrorKind;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::Poll;

/// A type that a host function may return.
///
/// | Rust | CEL |
/// |---|---|
/// | `bool`; `f32`, `f64` | `bool`; `double` |
/// | `i8` to `i64`, `isize` | `int` |
/// | `u8` to `u64`, `usize` | `uint` |
/// | `String`, `&'static str`, `Cow<'static, str>`, `Box<str>`, `Arc<str>` | `string` |
/// | `Vec<u8>`, `&'static [u8]` | `bytes` |
/// | [`Duration`], [`Timestamp`] | `google.protobuf.Duration`, `google.protobuf.Timestamp` |
/// | `IpAddr` | `net.IP` |
/// | `Option<T>` | `optional_type(T)`: rules write `f(x).orValue(..)` |
/// | `Vec<T>` | `list(T)` |
/// | `HashMap<K, T>`, `BTreeMap<K, T>` with keys of text, integers or `bool` | `map(K, T)` |
/// | a struct that derives [`Context`](derive@crate::Context) | `map(string, dyn)` |
/// | [`List`], [`Map`], [`Value`] that are `'static` | `list(dyn)`, `map(dyn, dyn)`, `dyn` |
/// | `serde_json::Value`; `serde_json::Map` (feature `serde_json`) | `dyn`; `map(string, dyn)` |
/// | [`Poll<T>`](Poll) | as `T`; `Pending` is not known yet: [`Program::decide`](crate::Program::decide) decides without it where it can, every other evaluation has the error `host` |
/// | `Result<T, E>` | as `T`; an `Err` is the evaluation error `host`, with the error's text in its [report](crate::diagnostics::Report) |
///
/// What owns its content is copied into the memory of the evaluation, which
/// [`Limits::memory`](crate::Limits::memory) bounds.
///
/// ```
/// use celero::{Bindings, Engine, Env};
///
/// let env = Env::dynamic().function("groups", |user: &str| vec![format!("{user}s"), "all".to_owned()]);
/// let rule = Engine::new().compile(&env, "'admins' in groups('admin') && groups('ann').size() == 2")?;
/// assert!(rule.test(&Bindings::new(&env))?);
/// assert!(Engine::new().compile(&env, "1 in groups('admin')").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a function that rules call can't return `{Self}`",
    label = "not a `celero::host::IntoValue`",
    note = "these fit: `bool`, integers up to 64 bits, `f32`, `f64`, `String`, `&'static str`, `Arc<str>`, `Vec<u8>`, \
            `celero::values::Duration`, `celero::values::Timestamp`, `std::net::IpAddr`, `celero::Value<'static>`",
    note = "of these types: `Option<T>`, `Vec<T>`, `HashMap<K, T>`, `BTreeMap<K, T>`, and `Result<T, E>` of any `E` that is `Display`",
    note = "a struct of your own derives `celero::Context`",
    note = "with the feature `serde_json` of celero: `serde_json::Value`"
)]
pub trait IntoValue {
    /// The CEL type.
    fn ty() -> Type;

    /// The value.
    ///
    /// # Errors
    /// `host` when the function failed, `out_of_budget` when the arena is full.
    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>>;

    /// The CEL type of a vector of it.
    #[doc(hidden)]
    #[must_use]
    fn list_type() -> Type {
        Type::list(Self::ty())
    }

    /// The value of a vector.
    ///
    /// # Errors
    /// Those of [`into_value`](Self::into_value).
    #[doc(hidden)]
    fn list_into_value<'v>(list: Vec<Self>, arena: &'v Arena) -> EvalResult<Value<'v>>
    where
        Self: Sized,
    {
        collect_list(list.into_iter().map(|element| element.into_value(arena)), arena)
    }
}

macro_rules! into_values {
    ($($rust:ty: $ty:expr, |$value:ident, $arena:ident| $made:expr;)*) => {$(
        impl IntoValue for $rust {
            fn ty() -> Type {
                $ty
            }

            fn into_value<'v>(self, $arena: &'v Arena) -> EvalResult<Value<'v>> {
                let $value = self;
                $made
            }
        }
    )*};
}

into_values! {
    bool: Type::Bool, |value, _arena| Ok(Value::Bool(value));
    f32: Type::Double, |value, _arena| Ok(Value::Double(value.into()));
    f64: Type::Double, |value, _arena| Ok(Value::Double(value));
    &'static str: Type::String, |text, _arena| Ok(Value::String(text));
    String: Type::String, |text, arena| arena.alloc_str(&text).map(Value::String);
    Box<str>: Type::String, |text, arena| arena.alloc_str(&text).map(Value::String);
    Arc<str>: Type::String, |text, arena| arena.alloc_str(&text).map(Value::String);
    Cow<'static, str>: Type::String, |text, arena| match text {
        Cow::Borrowed(text) => Ok(Value::String(text)),
        Cow::Owned(text) => text.into_value(arena),
    };
    &'static [u8]: Type::Bytes, |bytes, _arena| Ok(Value::Bytes(bytes));
    Duration: Type::Duration, |span, _arena| Ok(Value::Duration(span));
    Timestamp: Type::Timestamp, |time, _arena| Ok(Value::Timestamp(time));
    IpAddr: super::ip_type(), |address, _arena| Ok(Value::Ip(address));
    List<'static>: Type::list(Type::Dyn), |list, _arena| Ok(Value::List(list));
    Map<'static>: Type::map(Type::Dyn, Type::Dyn), |map, _arena| Ok(Value::Map(map));
    Value<'static>: Type::Dyn, |value, _arena| Ok(value);
}

macro_rules! integers {
    ($($variant:ident: $($rust:ident)*;)*) => {$($(
        impl IntoValue for $rust {
            fn ty() -> Type {
                Type::$variant
            }

            fn into_value<'v>(self, _: &'v Arena) -> EvalResult<Value<'v>> {
                // No integer of the language has more than 64 bits.
                Ok(Value::$variant(self as _))
            }

            integers!(@list $rust);
        }
    )*)*};
    (@list u8) => {
        fn list_type() -> Type {
            Type::Bytes
        }

        fn list_into_value<'v>(list: Vec<Self>, arena: &'v Arena) -> EvalResult<Value<'v>> {
            arena.alloc_slice(&list).map(Value::Bytes)
        }
    };
    (@list $rust:ident) => {};
}

integers! {
    Int: i8 i16 i32 i64 isize;
    Uint: u8 u16 u32 u64 usize;
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn ty() -> Type {
        Type::optional(T::ty())
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        let inner = self.map(|value| arena.alloc(value.into_value(arena)?)).transpose()?;
        Ok(Value::Optional(inner))
    }
}

impl<T: IntoValue> IntoValue for Vec<T> {
    fn ty() -> Type {
        T::list_type()
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        T::list_into_value(self, arena)
    }
}

macro_rules! maps {
    ($($map:ident[$($hasher:ident)?];)*) => {$(
        impl<K: IntoValue, T: IntoValue, $($hasher)?> IntoValue for $map<K, T, $($hasher)?> {
            fn ty() -> Type {
                Type::map(K::ty(), T::ty())
            }

            fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
                let entry = |(key, value): (K, T)| Ok((key.into_value(arena)?, value.into_value(arena)?));
                collect_map(self.into_iter().map(entry), arena)
            }
        }
    )*};
}

maps! {
    HashMap[S];
    BTreeMap[];
}

impl<T: IntoValue, E: Display> IntoValue for Result<T, E> {
    fn ty() -> Type {
        T::ty()
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        match self {
            Ok(value) => value.into_value(arena),
            Err(error) => {
                explain(&error);
                Err(ErrorKind::Host)
            }
        }
    }
}

impl<T: IntoValue> IntoValue for Poll<T> {
    fn ty() -> Type {
        T::ty()
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        match self {
            Self::Ready(value) => value.into_value(arena),
            Self::Pending => Err(ErrorKind::Unknown),
        }
    }
}
