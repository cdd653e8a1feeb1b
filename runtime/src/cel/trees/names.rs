//! Names as texts: of paths in a tree, and of types that stand as values.

use celero_frontend::{Ast, Expr, NodeId, Type};

/// The text of names with dots between them, with the leading dot if it has one; `None` for another expression.
pub(super) fn path_of(ast: &Ast, mut id: NodeId) -> Option<String> {
    let mut parts = Vec::new();
    loop {
        match *ast.expr(id) {
            Expr::Select { operand, field, optional: false, .. } => {
                parts.push(ast.name(field));
                id = operand;
            }
            Expr::Ident { name, rooted, .. } => {
                parts.push(ast.name(name));
                parts.reverse();
                let dot = if rooted { "." } else { "" };
                return Some(format!("{dot}{}", parts.join(".")));
            }
            _ => return None,
        }
    }
}

/// The name of a type that stands as a value; `None` if it is the one that is written.
pub(super) fn type_name(ty: &Type) -> Option<String> {
    Some(match ty {
        Type::List(_) => "list".to_owned(),
        Type::Map(_) => "map".to_owned(),
        Type::Type(_) => "type".to_owned(),
        Type::Optional(_) => "optional_type".to_owned(),
        Type::Opaque(name, _) => name.to_string(),
        Type::Null
        | Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::String
        | Type::Bytes
        | Type::Duration
        | Type::Timestamp => ty.to_string(),
        Type::Error | Type::Dyn | Type::Wrapper(_) | Type::Param(_) | Type::Var(_) => return None,
    })
}
