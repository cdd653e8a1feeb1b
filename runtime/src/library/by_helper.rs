//! Helpers called with plain values: how the passes evaluate a call of constants. Made from the table in `celero_ir`, as
//! the native shims are.

use super::{Cx, helpers};
use crate::arena::EvalResult;
use crate::value::{Duration, Timestamp, Value};
use celero_ir::{ErrorKind, Helper};
use std::net::IpAddr;

/// An operand taken out of a value; `None` when the value is of another type.
trait Take<'a>: Sized {
    fn take(value: Value<'a>) -> Option<Self>;
}

/// A result as a value.
trait Give<'a> {
    fn give(self) -> Value<'a>;
}

macro_rules! scalar {
    ($($ty:ty, $variant:ident;)*) => {$(
        impl<'a> Take<'a> for $ty {
            fn take(value: Value<'a>) -> Option<Self> {
                match value {
                    Value::$variant(v) => Some(v),
                    _ => None,
                }
            }
        }
        impl<'a> Give<'a> for $ty {
            fn give(self) -> Value<'a> {
                Value::$variant(self)
            }
        }
    )*};
}

scalar! {
    bool, Bool;
    i64, Int;
    &'a str, String;
    &'a [u8], Bytes;
    Duration, Duration;
    Timestamp, Timestamp;
    IpAddr, Ip;
}

impl<'a> Take<'a> for Value<'a> {
    fn take(value: Value<'a>) -> Option<Self> {
        Some(value)
    }
}

impl<'a> Give<'a> for Value<'a> {
    fn give(self) -> Value<'a> {
        self
    }
}

macro_rules! call {
    // Rows with a word are generated code's own.
    (@types $name:ident $result:tt [word $($rest:ident)*] $cx:ident $args:ident ($($done:tt)*)) => { None };
    (@types $name:ident [$(try)? word] $types:tt $cx:ident $args:ident $done:tt) => { None };
    (@types $name:ident [$(try)? maybe] $types:tt $cx:ident $args:ident $done:tt) => { None };
    (@types $name:ident $result:tt [$ty:ident $($rest:ident)*] $cx:ident $args:ident ($($done:tt)*)) => {
        call!(@types $name $result [$($rest)*] $cx $args ($($done)* Take::take(*$args.next()?)?,))
    };
    (@types $name:ident [try $result:ident] [] $cx:ident $args:ident ($($done:tt)*)) => {
        Some(helpers::$name($cx, $($done)*).map(Give::give))
    };
    (@types $name:ident [$result:ident] [] $cx:ident $args:ident ($($done:tt)*)) => {
        Some(Ok(helpers::$name($cx, $($done)*).give()))
    };
}

macro_rules! by_helper {
    ($($(#[doc = $doc:literal])* $name:ident($($param:ident: $ty:ident),*) -> $($result:ident)+;)*) => {
        fn run<'a>(cx: &Cx<'a>, helper: Helper, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
            let mut args = args.iter();
            match helper {
                $(Helper::$name => call!(@types $name [$($result)+] [$($ty)*] cx args ())),*
            }
        }
    };
}

celero_ir::for_each_helper!(by_helper);

/// Calls the helper with these operands; "no such overload" where it can't be called with plain values like these.
pub(crate) fn by_helper<'a>(cx: &Cx<'a>, helper: Helper, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
    run(cx, helper, args).unwrap_or(Err(ErrorKind::OutOfBudget))
}
