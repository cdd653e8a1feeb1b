//! Closures as functions of rules: CEL's types follow from Rust's.

use super::DynFunction;
use crate::arena::{Arena, EvalResult};
use crate::value::{Duration, List, Map, Timestamp, Value};
use celero_frontend::Type;
use celero_ir::ErrorKind;
use std::fmt::Display;
use std::net::IpAddr;
use std::sync::Arc;

/// A type that a parameter of a host function may have: `bool`, `i64` (CEL's `int`), `u64`
/// (`uint`), `f64` (`double`), `&str`, `&[u8]` (`bytes`), [`Duration`], [`Timestamp`], [`IpAddr`]
/// (`net.IP`, what `ip("..")` gives), [`List`] (`list(dyn)`), [`Map`] (`map(dyn, dyn)`), [`Value`]
/// (`dyn`).
pub trait FromValue {
    /// The same type with another lifetime.
    type Of<'v>;

    /// The CEL type.
    fn ty() -> Type;

    /// Reads a value, `None` if it is of another type.
    fn from_value<'v>(value: &Value<'v>) -> Option<Self::Of<'v>>;
}

/// A type that a host function may return: those of [`FromValue`] (borrowed ones only if they are
/// `'static`), `String` and `Vec<u8>` (copied into the evaluation's memory), and `Result` of one of
/// these with any error that can be displayed: the evaluation error `host`, with the error's text
/// in its [report](crate::Report).
pub trait IntoValue {
    /// The CEL type.
    fn ty() -> Type;

    /// The value.
    ///
    /// # Errors
    /// `host` when the function failed, `out_of_budget` when the arena is full.
    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>>;
}

/// The type of the result of `ip("..")`.
fn ip_type() -> Type {
    Type::Opaque("net.IP".into(), Arc::new([]))
}

macro_rules! types {
    ($([$($life:lifetime)?] $rust:ty, $of:ty, $answer:ty: $variant:ident, $ty:expr;)*) => {$(
        impl<$($life)?> FromValue for $rust {
            type Of<'v> = $of;

            fn ty() -> Type {
                $ty
            }

            fn from_value<'v>(value: &Value<'v>) -> Option<Self::Of<'v>> {
                match value {
                    Value::$variant(inner) => Some(*inner),
                    _ => None,
                }
            }
        }

        impl IntoValue for $answer {
            fn ty() -> Type {
                $ty
            }

            fn into_value<'v>(self, _: &'v Arena) -> EvalResult<Value<'v>> {
                Ok(Value::$variant(self))
            }
        }
    )*};
}

types! {
    [] bool, bool, bool: Bool, Type::Bool;
    [] i64, i64, i64: Int, Type::Int;
    [] u64, u64, u64: Uint, Type::Uint;
    [] f64, f64, f64: Double, Type::Double;
    ['x] &'x str, &'v str, &'static str: String, Type::String;
    ['x] &'x [u8], &'v [u8], &'static [u8]: Bytes, Type::Bytes;
    [] Duration, Duration, Duration: Duration, Type::Duration;
    [] Timestamp, Timestamp, Timestamp: Timestamp, Type::Timestamp;
    [] IpAddr, IpAddr, IpAddr: Ip, ip_type();
    ['x] List<'x>, List<'v>, List<'static>: List, Type::list(Type::Dyn);
    ['x] Map<'x>, Map<'v>, Map<'static>: Map, Type::map(Type::Dyn, Type::Dyn);
}

impl FromValue for Value<'_> {
    type Of<'v> = Value<'v>;

    fn ty() -> Type {
        Type::Dyn
    }

    fn from_value<'v>(value: &Value<'v>) -> Option<Self::Of<'v>> {
        Some(*value)
    }
}

impl IntoValue for Value<'static> {
    fn ty() -> Type {
        Type::Dyn
    }

    fn into_value<'v>(self, _: &'v Arena) -> EvalResult<Value<'v>> {
        Ok(self)
    }
}

impl IntoValue for String {
    fn ty() -> Type {
        Type::String
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        arena.alloc_str(&self).map(Value::String)
    }
}

impl IntoValue for Vec<u8> {
    fn ty() -> Type {
        Type::Bytes
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        arena.alloc_slice(&self).map(Value::Bytes)
    }
}

impl<T: IntoValue, E: Display> IntoValue for Result<T, E> {
    fn ty() -> Type {
        T::ty()
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        match self {
            Ok(value) => value.into_value(arena),
            Err(error) => {
                super::explain(&error);
                Err(ErrorKind::Host)
            }
        }
    }
}

/// A closure or `fn` that rules can call: up to six parameters, each a [`FromValue`], and a result
/// that is [`IntoValue`]. `M` is the closure's signature and is always inferred; write the types of
/// the parameters: `|path: &str, depth: i64| ..`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that rules can call",
    note = "its parameters must be `celero::FromValue`s with their types written out (`|text: &str, n: i64| ..`), at most six",
    note = "its result must be a `celero::IntoValue`; what it builds it gives away (`String`), it cannot borrow from a parameter"
)]
pub trait HostFunction<M>: Send + Sync + 'static {
    /// The CEL types of the parameters.
    fn params() -> Vec<Type>;

    /// The CEL type of the result.
    fn result() -> Type;

    /// The function with its types erased.
    fn erase(self) -> Arc<DynFunction>;
}

macro_rules! arities {
    ($(($($name:ident: $param:ident),*);)*) => {$(
        impl<Func, Out, $($param),*> HostFunction<fn($($param),*) -> Out> for Func
        where
            // From the first bound the compiler infers the types of the parameters; the second one
            // admits every lifetime.
            Func: Fn($($param),*) -> Out + for<'v> Fn($($param::Of<'v>),*) -> Out + Send + Sync + 'static,
            Out: IntoValue,
            $($param: FromValue,)*
        {
            fn params() -> Vec<Type> {
                vec![$($param::ty()),*]
            }

            fn result() -> Type {
                Out::ty()
            }

            fn erase(self) -> Arc<DynFunction> {
                Arc::new(move |cx, args| {
                    let [$($name),*] = args else { return Err(ErrorKind::NoSuchOverload) };
                    $(let Some($name) = $param::from_value($name) else { return Err(ErrorKind::NoSuchOverload) };)*
                    (self)($($name),*).into_value(cx.arena())
                })
            }
        }
    )*};
}

arities! {
    ();
    (a: A);
    (a: A, b: B);
    (a: A, b: B, c: C);
    (a: A, b: B, c: C, d: D);
    (a: A, b: B, c: C, d: D, e: E);
    (a: A, b: B, c: C, d: D, e: E, f: F);
}
