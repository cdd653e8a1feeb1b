//! Headers that are compared with the text of a network.

use crate::filter::binding::{FilterBinding, Source};
use crate::lint::NETWORK_AS_TEXT;
use crate::lint::networks::{AS_TEXT, is_network};
use celero_frontend::Diagnostic;
use celero_frontend::filter::{
    BytesLiteral, Comparison, FilterExpr, FilterLiteral, FilterNode, FilterTree, OrderOp, SetItems,
};
use celero_ir::layout;
use std::slice::from_ref;

pub(super) fn networks_as_text(
    tree: &FilterTree,
    node: &FilterNode,
    binding: &FilterBinding,
    fields: &[layout::Field],
    found: &mut Vec<Diagnostic>,
) {
    let FilterExpr::Compare { value, comparison } = &node.expr else { return };
    let base = match tree.expr(*value) {
        FilterExpr::Access { base, .. } => *base,
        _ => *value,
    };
    let FilterExpr::Field(index) = tree.expr(base) else { return };
    let is_header = match binding.source(*index) {
        Source::Header { .. } => true,
        Source::Variable(variable, _) => fields.get(*variable as usize).is_some_and(|field| field.headers.is_some()),
        _ => false,
    };
    let literals: &[BytesLiteral] = match comparison {
        Comparison::Order(OrderOp::Equal | OrderOp::NotEqual, FilterLiteral::Bytes(bytes)) => from_ref(bytes),
        Comparison::OneOf(SetItems::Bytes(items)) => items,
        _ => return,
    };
    if !is_header {
        return;
    }
    let texts = literals.iter().filter_map(|literal| std::str::from_utf8(&literal.value).ok());
    for text in texts.filter(|text| is_network(text)) {
        let help = vec![format!("only a field of type Ip is compared with a network, as in `ip.src in {{{text}}}`")];
        found.push(Diagnostic { help, ..Diagnostic::warning(NETWORK_AS_TEXT, node.span, AS_TEXT) });
    }
}
