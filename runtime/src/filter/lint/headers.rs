//! Keys of maps of headers with upper-case letters, which no header has.

use crate::filter::binding::{FilterBinding, Source};
use crate::lint::HEADER_NAME_CASE;
use celero_frontend::Diagnostic;
use celero_frontend::filter::{AccessStep, FilterExpr, FilterLiteral, FilterNode, FilterTree, StandardFunction};
use celero_ir::layout;

pub(super) fn header_names(
    tree: &FilterTree,
    node: &FilterNode,
    binding: &FilterBinding,
    fields: &[layout::Field],
    found: &mut Vec<Diagnostic>,
) {
    let (map, name) = match &node.expr {
        FilterExpr::Access { base, steps } => match steps.first() {
            Some(AccessStep::Key(name)) => (*base, name.as_bytes()),
            _ => return,
        },
        FilterExpr::Call { function, args } => {
            let standard = tree.function(*function).and_then(|function| function.standard);
            let (Some(StandardFunction::HasKey), [map, key]) = (standard, tree.children(*args)) else { return };
            match tree.expr(*key) {
                FilterExpr::Literal(FilterLiteral::Bytes(name)) => (*map, &*name.value),
                _ => return,
            }
        }
        _ => return,
    };
    let FilterExpr::Field(index) = tree.expr(map) else { return };
    let Source::Variable(variable, _) = binding.source(*index) else { return };
    let is_of_headers = fields.get(*variable as usize).is_some_and(|layout| layout.headers.is_some());
    if !is_of_headers || !name.iter().any(u8::is_ascii_uppercase) {
        return;
    }
    let map = tree.field(*index).map_or("the map", |field| &field.name);
    let message = format!("`{map}` never has this key: the names of headers are in lower case");
    let help = vec![format!("write `{}`", String::from_utf8_lossy(name).to_ascii_lowercase())];
    found.push(Diagnostic { help, ..Diagnostic::warning(HEADER_NAME_CASE, node.span, message) });
}
