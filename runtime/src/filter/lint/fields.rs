//! Fields of the filter language without a value: no comparison with them is true.

use crate::filter::binding::{FilterBinding, Source, expression_of};
use crate::lint::FIELD_MISSING;
use celero_frontend::filter::{FilterExpr, FilterTree, HttpFieldValue, http_fields};
use celero_frontend::{Diagnostic, Severity, Stage};
use std::collections::BTreeSet;

/// Adds a warning for each field that the host gives no value.
pub(super) fn missing_fields(tree: &FilterTree, binding: &FilterBinding, found: &mut Vec<Diagnostic>) {
    let mut nodes: Vec<_> = tree.nodes().iter().collect();
    nodes.sort_by_key(|node| node.span.start);
    let mut named = BTreeSet::new();
    for node in nodes {
        let FilterExpr::Field(index) = node.expr else { continue };
        if !matches!(binding.source(index), Source::Missing) || !named.insert(index) {
            continue;
        }
        let Some(field) = tree.field(index).filter(|field| field.constant.is_none()) else { continue };
        let name = &field.name;
        let no_comparison = match tree.scheme().nil_not_equal() {
            true => "no comparison with it but `ne` is true",
            false => "no comparison with it is true",
        };
        let reason = http_fields().find(|known| *known.name == **name).map(|known| match known.value {
            HttpFieldValue::Host(reason) => reason.to_owned(),
            HttpFieldValue::RequestBody(_) => "it is the body of a request, which is not read here".to_owned(),
            HttpFieldValue::Response(_) => "there is no response yet".to_owned(),
            HttpFieldValue::Tls(_) => "the connection is not known here".to_owned(),
            HttpFieldValue::Request(_) => match expression_of(name) {
                Some(expression) => format!("it is `{expression}`, which the host does not have"),
                None => "the host does not have what it follows from".to_owned(),
            },
        });
        let mut help: Vec<String> = reason.into_iter().collect();
        let of_host =
            http_fields().any(|known| *known.name == **name && matches!(known.value, HttpFieldValue::Host(_)));
        let in_policy = match of_host {
            true => format!("in a policy under `fields`, `{name}: ..`, of what the phase has; "),
            false => String::new(),
        };
        help.push(format!(
            "give it one by a CEL expression: {in_policy}outside of policies with the option `--field '{name} = ..'`, or \
             `FilterLanguage::field(\"{name}\", ..)`"
        ));
        found.push(Diagnostic {
            severity: Severity::Warning,
            stage: Stage::Check,
            code: FIELD_MISSING,
            message: format!("`{name}` has no value here, so {no_comparison}"),
            span: node.focus,
            labels: Vec::new(),
            help,
        });
    }
}
