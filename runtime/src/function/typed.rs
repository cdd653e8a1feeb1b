//! Closures as functions of rules: CEL's types follow from Rust's.

use super::{DynFunction, FromValue, IntoValue, in_parameter};
use celero_frontend::Type;
use celero_ir::ErrorKind;
use std::sync::Arc;

/// A closure or `fn` that rules can call: up to six parameters, each a [`FromValue`], and a result
/// that is [`IntoValue`]. `M` is the closure's signature and is always inferred; write the types of
/// the parameters: `|path: &str, depth: i64| ..`. A result cannot borrow from a parameter: return
/// `String` instead of `&str`.
///
/// Implemented for every closure of such types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that rules can call",
    note = "write a closure or the name of a `fn`, with the types of its parameters, at most six: `|text: &str, n: i64| ..`"
)]
pub trait HostFunction<M>: Sized + Send + Sync + 'static {
    /// The CEL types of the parameters.
    fn params() -> Vec<Type>;

    /// The CEL type of the result.
    fn result() -> Type;

    /// The function with its types erased.
    fn erase(self) -> Arc<DynFunction>;
}

/// A closure whose signature is `M`. Apart from [`Signature`], so that the compiler knows the
/// signature before it looks at the types in it, and names the one that does not fit.
#[doc(hidden)]
pub trait Closure<M> {}

/// A signature `fn(A, B) -> Out` of a closure `F`.
#[doc(hidden)]
pub trait Signature<F> {
    /// The CEL types of the parameters.
    fn params() -> Vec<Type>;

    /// The CEL type of the result.
    fn result() -> Type;

    /// The function with its types erased.
    fn erase(function: F) -> Arc<DynFunction>;
}

impl<M: Signature<F>, F: Closure<M> + Send + Sync + 'static> HostFunction<M> for F {
    fn params() -> Vec<Type> {
        M::params()
    }

    fn result() -> Type {
        M::result()
    }

    fn erase(self) -> Arc<DynFunction> {
        M::erase(self)
    }
}

macro_rules! arities {
    ($(($($name:ident: $param:ident $number:literal),*);)*) => {$(
        impl<Func, Out, $($param),*> Closure<fn($($param),*) -> Out> for Func where Func: Fn($($param),*) -> Out {}

        impl<Func, Out, $($param),*> Signature<Func> for fn($($param),*) -> Out
        where
            // The signature has one lifetime for each reference; this bound admits every lifetime.
            Func: for<'v> Fn($($param::Of<'v>),*) -> Out + Send + Sync + 'static,
            Out: IntoValue,
            $($param: FromValue,)*
        {
            fn params() -> Vec<Type> {
                vec![$($param::ty()),*]
            }

            fn result() -> Type {
                Out::ty()
            }

            fn erase(function: Func) -> Arc<DynFunction> {
                Arc::new(move |cx, args| {
                    let [$($name),*] = args else { return Err(ErrorKind::NoSuchOverload) };
                    $(
                        let $name = match $param::from_value($name, cx) {
                            Ok(argument) => argument,
                            Err(kind) => return Err(in_parameter($number, kind)),
                        };
                    )*
                    function($($name),*).into_value(cx.arena())
                })
            }
        }
    )*};
}

arities! {
    ();
    (a: A 1);
    (a: A 1, b: B 2);
    (a: A 1, b: B 2, c: C 3);
    (a: A 1, b: B 2, c: C 3, d: D 4);
    (a: A 1, b: B 2, c: C 3, d: D 4, e: E 5);
    (a: A 1, b: B 2, c: C 3, d: D 4, e: E 5, f: F 6);
}
