//! Which function a call means, decided by the types of the values: for calls that the checker could not decide.

use crate::arena::EvalResult;
use crate::value::Value;
use celero_frontend::Type;
use celero_frontend::stdlib::{Builtin, TABLE};
use celero_ir::ErrorKind;

/// Returns the only argument if it is of the type.
///
/// # Errors
/// `no_such_overload` if it is not.
pub(crate) fn guard<'a>(ty: &Type, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
    match args {
        [value] if value.fits(ty) => Ok(*value),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// Returns whether the second argument of a builtin is an index of a list, for which any value is accepted: whole
/// numbers of other types work, other values are an error of the function.
pub(crate) const fn takes_any_index(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::IndexList
            | Builtin::OptionalIndexList
            | Builtin::IndexOptionalList
            | Builtin::OptionalIndexOptionalList
    )
}

/// Returns whether a builtin accepts arguments of these types.
pub(crate) fn accepts(builtin: Builtin, args: &[Value<'_>]) -> bool {
    let Some(row) = TABLE.row(builtin) else { return false };
    match (&*row.params, args) {
        ([list, _], [arg, _]) if takes_any_index(builtin) => arg.fits(list),
        (params, args) => all_fit(params, args),
    }
}

/// Returns whether arguments are of the types of these parameters.
pub(crate) fn all_fit(params: &[Type], args: &[Value<'_>]) -> bool {
    params.len() == args.len() && params.iter().zip(args).all(|(param, arg)| arg.fits(param))
}
