//! [`FromValue`]: the types that a parameter of a host function may have.

use super::explain;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{Duration, List, Map, Timestamp, Value};
use celero_frontend::Type;
use celero_ir::ErrorKind;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};
use std::net::IpAddr;

/// A type that a parameter of a host function may have.
///
/// | Rust | CEL |
/// |---|---|
/// | `bool`; `f64`, `f32`, which is the nearest one | `bool`; `double` |
/// | `i8` to `i64`, `isize` | `int` |
/// | `u8` to `u64`, `usize` | `uint` |
/// | `&str`, `String` | `string` |
/// | `&[u8]`, `Vec<u8>` | `bytes` |
/// | [`Duration`], [`Timestamp`] | `google.protobuf.Duration`, `google.protobuf.Timestamp` |
/// | `IpAddr` | `net.IP`, what `ip("..")` gives |
/// | `Option<T>` | `optional_type(T)`, what `m[?"key"]` and `optional.of(x)` give |
/// | `Vec<T>`; `&[T]` of `bool`, `i64`, `u64`, `f64`, `&str` or [`Value`] | `list(T)` |
/// | `HashMap<K, T>`, `BTreeMap<K, T>` | `map(K, T)` |
/// | [`List`], [`Map`], [`Value`] | `list(dyn)`, `map(dyn, dyn)`, `dyn` |
/// | `&T` of a struct without parameters that derives [`Context`](derive@crate::Context) | `map(string, dyn)` that is an element of the host's: no map of a rule |
/// | `serde_json::Value` (feature `serde_json`) | `dyn` |
///
/// Text and bytes behind references are not copied. Slices are built in the memory of the
/// evaluation, vectors and maps of their own; [`List`] and [`Map`] cost nothing. A number that does
/// not fit into the parameter's type is the evaluation error `host`, whose
/// [report](crate::diagnostics::Report) names the parameter and the range.
///
/// ```
/// use celero::{Bindings, Engine, Env};
///
/// let env = Env::dynamic()
///     .function("longest", |texts: Vec<&str>| texts.into_iter().map(str::len).max().map(|length| length as u64))
///     .function("port", |port: u16| port >= 1024);
/// let rule = "longest(['a', 'bc']) == optional.of(2u) && port(8080u)";
/// assert!(Engine::new().compile(&env, rule)?.test(&Bindings::new(&env))?);
/// assert!(Engine::new().compile(&env, "longest([1, 2]).hasValue()").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a function that rules call can't have a parameter of type `{Self}`",
    label = "not a `celero::host::FromValue`",
    note = "these fit: `bool`, integers up to 64 bits, `f32`, `f64`, `&str`, `String`, `&[u8]`, `Vec<u8>`, `celero::values::Duration`, \
            `celero::values::Timestamp`, `std::net::IpAddr`, `celero::values::List`, `celero::values::Map`, `celero::Value`",
    note = "of these types: `Option<T>`, `Vec<T>`, `HashMap<K, T>`, `BTreeMap<K, T>`; `&[T]` of `bool`, `i64`, `u64`, `f64`, \
            `&str` and `celero::Value`",
    note = "a struct of your own derives `celero::Context`; the function then takes `&T`",
    note = "with the feature `serde_json` of celero: `serde_json::Value`, without `&`"
)]
pub trait FromValue {
    /// The same type with another lifetime.
    type Of<'v>;

    /// The CEL type.
    fn ty() -> Type;

    /// Reads an argument. What is copied takes steps of the budget: the elements of a list may be the same ones.
    ///
    /// # Errors
    /// `no_such_overload` for a value of another type, `host` for one that this type cannot hold,
    /// `out_of_budget` when the budget or the arena does not suffice.
    fn from_value<'v>(value: &Value<'v>, cx: &Cx<'v>) -> EvalResult<Self::Of<'v>>;

    /// The CEL type of a vector of it.
    #[doc(hidden)]
    #[must_use]
    fn list_type() -> Type {
        Type::list(Self::ty())
    }

    /// Reads a vector.
    ///
    /// # Errors
    /// Those of [`from_value`](Self::from_value).
    #[doc(hidden)]
    fn list_from_value<'v>(value: &Value<'v>, cx: &Cx<'v>) -> EvalResult<Vec<Self::Of<'v>>> {
        let Value::List(list) = value else { return Err(ErrorKind::NoSuchOverload) };
        (0..list.len()).map(|index| Self::from_value(&element(list, index, cx)?, cx)).collect()
    }
}

/// An element of a list that has it.
fn element<'v>(list: &List<'v>, index: usize, cx: &Cx<'v>) -> EvalResult<Value<'v>> {
    cx.charge(1)?;
    list.get(index, cx.arena())?.ok_or(ErrorKind::Host)
}

macro_rules! same {
    ($([$($life:lifetime)?] $rust:ty, $of:ty: $variant:ident, $ty:expr;)*) => {$(
        impl<$($life)?> FromValue for $rust {
            type Of<'v> = $of;

            fn ty() -> Type {
                $ty
            }

            fn from_value<'v>(value: &Value<'v>, _: &Cx<'v>) -> EvalResult<Self::Of<'v>> {
                match value {
                    Value::$variant(inner) => Ok((*inner).into()),
                    _ => Err(ErrorKind::NoSuchOverload),
                }
            }
        }
    )*};
}

same! {
    [] bool, bool: Bool, Type::Bool;
    [] i64, i64: Int, Type::Int;
    [] u64, u64: Uint, Type::Uint;
    [] f64, f64: Double, Type::Double;
    ['x] &'x str, &'v str: String, Type::String;
    ['x] &'x [u8], &'v [u8]: Bytes, Type::Bytes;
    [] Duration, Duration: Duration, Type::Duration;
    [] Timestamp, Timestamp: Timestamp, Type::Timestamp;
    [] IpAddr, IpAddr: Ip, super::ip_type();
    ['x] List<'x>, List<'v>: List, Type::list(Type::Dyn);
    ['x] Map<'x>, Map<'v>: Map, Type::map(Type::Dyn, Type::Dyn);
}

macro_rules! narrower {
    ($($variant:ident: $($rust:ident)*;)*) => {$($(
        impl FromValue for $rust {
            type Of<'v> = Self;

            fn ty() -> Type {
                Type::$variant
            }

            fn from_value<'v>(value: &Value<'v>, _: &Cx<'v>) -> EvalResult<Self> {
                let Value::$variant(number) = *value else { return Err(ErrorKind::NoSuchOverload) };
                Self::try_from(number).map_err(|_| {
                    let (name, least, most) = (stringify!($rust), Self::MIN, Self::MAX);
                    explain(&format_args!("a number of type `{name}`, {least} to {most}, not {number}"));
                    ErrorKind::Host
                })
            }

            narrower!(@list $rust);
        }
    )*)*};
    (@list u8) => {
        fn list_type() -> Type {
            Type::Bytes
        }

        fn list_from_value<'v>(value: &Value<'v>, cx: &Cx<'v>) -> EvalResult<Vec<Self>> {
            let Value::Bytes(bytes) = value else { return Err(ErrorKind::NoSuchOverload) };
            cx.charge_bytes(bytes.len())?;
            Ok(bytes.to_vec())
        }
    };
    (@list $rust:ident) => {};
}

narrower! {
    Int: i8 i16 i32 isize;
    Uint: u8 u16 u32 usize;
}

impl FromValue for f32 {
    type Of<'v> = Self;

    fn ty() -> Type {
        Type::Double
    }

    fn from_value<'v>(value: &Value<'v>, _: &Cx<'v>) -> EvalResult<Self> {
        let Value::Double(number) = *value else { return Err(ErrorKind::NoSuchOverload) };
        Ok(number as Self)
    }
}

impl FromValue for String {
    type Of<'v> = Self;

    fn ty() -> Type {
        Type::String
    }

    fn from_value<'v>(value: &Value<'v>, cx: &Cx<'v>) -> EvalResult<Self> {
        let Value::String(text) = value else { return Err(ErrorKind::NoSuchOverload) };
        cx.charge_bytes(text.len())?;
        Ok((*text).to_owned())
    }
}

impl FromValue for Value<'_> {
    type Of<'v> = Value<'v>;

    fn ty() -> Type {
        Type::Dyn
    }

    fn from_value<'v>(value: &Value<'v>, _: &Cx<'v>) -> EvalResult<Self::Of<'v>> {
        Ok(*value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    type Of<'v> = Option<T::Of<'v>>;

    fn ty() -> Type {
        Type::optional(T::ty())
    }

    fn from_value<'v>(value: &Value<'v>, cx: &Cx<'v>) -> EvalResult<Self::Of<'v>> {
        let Value::Optional(inner) = value else { return Err(ErrorKind::NoSuchOverload) };
        inner.map(|inner| T::from_value(inner, cx)).transpose()
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    type Of<'v> = Vec<T::Of<'v>>;

    fn ty() -> Type {
        T::list_type()
    }

    fn from_value<'v>(value: &Value<'v>, cx: &Cx<'v>) -> EvalResult<Self::Of<'v>> {
        T::list_from_value(value, cx)
    }
}

macro_rules! slices {
    ($([$($life:lifetime)?] $rust:ty, $of:ty;)*) => {$(
        impl<'x, $($life)?> FromValue for &'x [$rust] {
            type Of<'v> = &'v [$of];

            fn ty() -> Type {
                Type::list(<$rust>::ty())
            }

            fn from_value<'v>(value: &Value<'v>, cx: &Cx<'v>) -> EvalResult<Self::Of<'v>> {
                let Value::List(list) = value else { return Err(ErrorKind::NoSuchOverload) };
                let mut elements = cx.arena().vec();
                for index in 0..list.len() {
                    elements.push(<$rust>::from_value(&element(list, index, cx)?, cx)?)?;
                }
                Ok(elements.finish())
            }
        }
    )*};
}

slices! {
    [] bool, bool;
    [] i64, i64;
    [] u64, u64;
    [] f64, f64;
    ['y] &'y str, &'v str;
    ['y] Value<'y>, Value<'v>;
}

macro_rules! maps {
    ($($map:ident[$($hasher:ident: $bound:ident)?] where $($key:ident)*;)*) => {$(
        impl<K: FromValue, T: FromValue, $($hasher: $bound + Default)?> FromValue for $map<K, T, $($hasher)?>
        where
            for<'v> K::Of<'v>: $($key +)*,
        {
            type Of<'v> = $map<K::Of<'v>, T::Of<'v>, $($hasher)?>;

            fn ty() -> Type {
                Type::map(K::ty(), T::ty())
            }

            fn from_value<'v>(value: &Value<'v>, cx: &Cx<'v>) -> EvalResult<Self::Of<'v>> {
                let Value::Map(map) = value else { return Err(ErrorKind::NoSuchOverload) };
                let entries = map.entries(cx.arena())?;
                cx.charge(entries.len())?;
                entries.iter().map(|(key, value)| Ok((K::from_value(key, cx)?, T::from_value(value, cx)?))).collect()
            }
        }
    )*};
}

maps! {
    HashMap[S: BuildHasher] where Eq Hash;
    BTreeMap[] where Ord;
}
