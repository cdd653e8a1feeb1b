//! Calls whose overload the values' types choose.

use crate::arena::EvalResult;
use crate::function::Functions;
use crate::library::{Cx, invoke};
use crate::value::Value;
use celero_frontend::stdlib::{Builtin, TABLE};
use celero_frontend::{Overload, Type};
use celero_ir::ErrorKind;

/// The value, which must be of the type.
///
/// # Errors
/// `no_such_overload` when it is not.
pub(crate) fn guard<'a>(ty: &Type, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
    match args {
        [value] if value.fits(ty) => Ok(*value),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// Calls the first overload that takes values of these types.
///
/// # Errors
/// `no_such_overload` when none does; what the function fails with.
pub(crate) fn dispatch<'a>(
    cx: &Cx<'a>,
    functions: &Functions,
    overloads: &[Overload],
    args: &[Value<'a>],
) -> EvalResult<Value<'a>> {
    for overload in overloads {
        match *overload {
            Overload::Builtin(builtin) if takes(builtin, args) => return invoke(cx, builtin, args),
            Overload::Host(index) if functions.params(index).is_some_and(|params| fit(params, args)) => {
                return functions.call(index, cx, args);
            }
            _ => {}
        }
    }
    Err(ErrorKind::NoSuchOverload)
}

fn takes(builtin: Builtin, args: &[Value<'_>]) -> bool {
    let Some(row) = TABLE.row(builtin) else { return false };
    match (builtin, &*row.params, args) {
        // A list takes any index: a whole number of another type works, all else is its own error.
        (
            Builtin::IndexList
            | Builtin::OptionalIndexList
            | Builtin::IndexOptionalList
            | Builtin::OptionalIndexOptionalList,
            [list, _],
            [arg, _],
        ) => arg.fits(list),
        (_, params, args) => fit(params, args),
    }
}

fn fit(params: &[Type], args: &[Value<'_>]) -> bool {
    params.len() == args.len() && params.iter().zip(args).all(|(param, arg)| arg.fits(param))
}
