//! Calls whose overload is chosen by the types of the values, among builtins and functions of the host.

use super::Functions;
use crate::arena::EvalResult;
use crate::library::{Cx, accepts, all_fit, invoke};
use crate::value::Value;
use celero_frontend::Overload;
use celero_ir::ErrorKind;

/// Calls the first overload that accepts values of these types.
///
/// # Errors
/// `no_such_overload` if none does; otherwise those of the function.
pub(crate) fn dispatch<'a>(
    cx: &Cx<'a>,
    functions: &Functions,
    overloads: &[Overload],
    args: &[Value<'a>],
) -> EvalResult<Value<'a>> {
    for overload in overloads {
        match *overload {
            Overload::Builtin(builtin) if accepts(builtin, args) => return invoke(cx, builtin, args),
            Overload::Host(index) if functions.params(index).is_some_and(|params| all_fit(params, args)) => {
                return functions.call(index, cx, args);
            }
            _ => {}
        }
    }
    Err(ErrorKind::NoSuchOverload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_functions_take_part_in_dispatch() {
        let mut functions = Functions::default();
        let name = |text: &'static str| -> std::sync::Arc<crate::function::DynFunction> {
            std::sync::Arc::new(move |_: &Cx<'_>, _: &[Value<'_>]| Ok(Value::String(text)))
        };
        functions.add("f", [celero_frontend::Type::Int].into(), true, name("int"));
        functions.add("f", [celero_frontend::Type::Dyn].into(), true, name("dyn"));
        let both = [Overload::Host(0), Overload::Host(1)];
        let arena = crate::arena::Arena::new(1 << 10);
        let cx = Cx::new(1_000, &arena);
        let f = |args: &[Value<'static>], overloads| format!("{:?}", dispatch(&cx, &functions, overloads, args));
        assert_eq!(f(&[Value::Int(1)], &both), r#"Ok(String("int"))"#);
        assert_eq!(f(&[Value::Uint(1)], &both), r#"Ok(String("dyn"))"#);
        assert_eq!(f(&[Value::Uint(1)], &both[..1]), "Err(NoSuchOverload)");
        assert_eq!(f(&[Value::Int(1), Value::Int(1)], &both), "Err(NoSuchOverload)");
        assert_eq!(f(&[Value::Int(1)], &[Overload::Host(7)]), "Err(NoSuchOverload)");
        assert_eq!(f(&[Value::Int(1)], &[]), "Err(NoSuchOverload)");
    }
}
