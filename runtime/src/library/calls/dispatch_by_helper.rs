//! Calls of helpers with values as operands: how the passes fold a call of constants. Generated
//! from the table of helpers in `celero_ir`, as the wrappers for native code are.

use super::helper_functions;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{Duration, Timestamp, Value};
use celero_ir::{ErrorKind, Helper};
use std::net::IpAddr;

/// Types that operands of helpers, and operands and results of functions have.
pub(crate) trait Take<'a>: Sized {
    /// Returns what the value holds, `None` if it is of another type.
    fn take(value: Value<'a>) -> Option<Self>;
}

/// Types that results of helpers have.
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
    u64, Uint;
    f64, Double;
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

impl<'a> Give<'a> for &'a Value<'a> {
    fn give(self) -> Value<'a> {
        *self
    }
}

macro_rules! call {
    // Rows with a `word` or a `maybe` are for generated code only.
    (@types $name:ident $result:tt [word $($rest:ident)*] $cx:ident $args:ident ($($done:tt)*)) => { None };
    (@types $name:ident [$(try)? word] $types:tt $cx:ident $args:ident $done:tt) => { None };
    (@types $name:ident [$(try)? maybe] $types:tt $cx:ident $args:ident $done:tt) => { None };
    (@types $name:ident $result:tt [$ty:ident $($rest:ident)*] $cx:ident $args:ident ($($done:tt)*)) => {
        call!(@types $name $result [$($rest)*] $cx $args ($($done)* Take::take(*$args.next()?)?,))
    };
    (@types $name:ident [try $result:ident] [] $cx:ident $args:ident ($($done:tt)*)) => {
        Some(helper_functions::$name($cx, $($done)*).map(Give::give))
    };
    (@types $name:ident [frameless $result:ident] [] $cx:ident $args:ident ($($done:tt)*)) => {
        Some(Ok(helper_functions::$name(Some($cx), $($done)*).give()))
    };
    (@types $name:ident [$result:ident] [] $cx:ident $args:ident ($($done:tt)*)) => {
        Some(Ok(helper_functions::$name($cx, $($done)*).give()))
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

/// Calls the library function behind a helper.
///
/// # Errors
/// Those of the function; `out_of_budget` also for operands of other types and for helpers that
/// take words of generated code. Constant folding then leaves the call to the evaluation.
pub(crate) fn dispatch_by_helper<'a>(cx: &Cx<'a>, helper: Helper, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
    run(cx, helper, args).unwrap_or(Err(ErrorKind::OutOfBudget))
}
