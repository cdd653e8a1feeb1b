//! How native code calls the functions of the library: the representations of operands and result, and what a call
//! needs. Every row of the table of builtins has such a signature, made from its types.

use crate::library::form_of;
use celero_frontend::Type;
use celero_frontend::stdlib::{Builtin, Row, TABLE};
use celero_ir::{CallForm, Ty};
use std::sync::LazyLock;

/// The signature of a function that is called with typed operands.
#[derive(Debug)]
pub(crate) struct CallSignature {
    pub(crate) params: Box<[Ty]>,
    pub(crate) result: Ty,
    pub(crate) form: CallForm,
}

static SIGNATURES: LazyLock<Vec<CallSignature>> = LazyLock::new(|| TABLE.rows().iter().map(signature).collect());

/// Returns the signature of a builtin.
pub(crate) fn signature_of(builtin: Builtin) -> Option<&'static CallSignature> {
    SIGNATURES.get(builtin as usize)
}

fn signature(row: &Row) -> CallSignature {
    let params: Box<[Ty]> = row.params.iter().map(representation).collect();
    let result = representation(&row.result);
    let form = match form_of(row.builtin) {
        _ if !row.pure => CallForm::Impure,
        form if form.needs_frame() || matches!(result, Ty::Value | Ty::Timestamp) => CallForm::Framed,
        // A value may be of another type than the function's.
        _ if params.contains(&Ty::Value) => CallForm::Partial,
        form => form,
    };
    CallSignature { params, result, form }
}

/// The representation of values of a type.
pub(super) fn representation(ty: &Type) -> Ty {
    match ty {
        Type::Bool => Ty::Bool,
        Type::Int => Ty::Int,
        Type::Uint => Ty::Uint,
        Type::Double => Ty::Double,
        Type::String => Ty::Str,
        Type::Bytes => Ty::Bytes,
        Type::Duration => Ty::Duration,
        Type::Timestamp => Ty::Timestamp,
        _ => Ty::Value,
    }
}

#[cfg(test)]
mod tests {
    use crate::function::Functions;
    use crate::lower::{Calls, Lowering};
    use celero_frontend::stdlib::{Builtin, TABLE};
    use celero_frontend::{Declarations, Limits, check, parse};
    use celero_ir::{Graph, Op, Origin};

    /// Functions whose calls are not made with their signature, and what they are instead.
    const LOWERED: &[(&[Builtin], &str)] = &[
        (&[Builtin::Equal, Builtin::NotEqual], "comparisons of the representations that the operands have"),
        (&[Builtin::ToDyn], "the operand"),
    ];

    /// Each function of the table, given operands of its types, is an operation, a call of a helper,
    /// or a call with its signature: none is dispatched.
    #[test]
    fn no_function_is_dispatched_for_operands_of_its_types() {
        let ast = parse("true", &Limits::default()).unwrap();
        let (checked, _) = check(ast, &Declarations::default(), &Limits::default()).unwrap();
        let functions = Functions::default();
        let (mut invoked, mut wrong) = (0, Vec::new());
        for row in TABLE.rows() {
            let mut lowering = Lowering {
                checked: &checked,
                ast: checked.ast(),
                functions: &functions,
                fields: &[],
                graph: Graph::new(),
                calls: Calls::default(),
                outer: 0,
                locals: Vec::new(),
                records: Vec::new(),
                sure: Vec::new(),
            };
            let signature = super::signature_of(row.builtin).unwrap();
            let operand = |(level, &ty)| lowering.graph.add(Op::Local(level), ty, &[], Origin::default());
            let operands: Vec<_> = (0..).zip(&signature.params).map(operand).collect();
            let call = lowering.builtin(checked.ast().root(), row.builtin, &operands);
            let other = LOWERED.iter().any(|(builtins, _)| builtins.contains(&row.builtin));
            match call.map(|call| (lowering.graph.op(call), lowering.graph.ty(call))) {
                Some((Op::Invoke { .. }, ty)) => {
                    assert_eq!(ty, signature.result, "{:?}", row.builtin);
                    invoked += 1;
                }
                Some((Op::Dispatch { .. }, _)) | None => wrong.push(row.builtin),
                Some((_, ty)) => assert!(other || ty == signature.result, "{:?} gives {ty}", row.builtin),
            }
        }
        assert!(wrong.is_empty(), "dispatched: {wrong:?}");
        assert!(invoked > 150, "{invoked}");
    }
}
