//! Where the value of a field of the filter language comes from.

use super::types::filter_type;
use crate::fields::header_access;
use celero_frontend::filter::FilterType;
use celero_frontend::{Checked, Expr, NodeId, Reference, Type};
use celero_ir::layout::Field as Layout;
use std::sync::Arc;

/// Where the value of a field comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The host does not know it: it is always missing.
    Missing,
    /// A variable of the environment, and the type of its values.
    Variable(u32, Type),
    /// The lines of a header, joined, of the header map that is a variable.
    Header {
        /// The variable.
        map: u32,
        /// The name as written.
        name: Box<str>,
    },
    /// The value of a CEL expression.
    Expression(Arc<Checked>),
    /// What follows from another source.
    Derived(Derivation, Box<Source>),
}

impl Source {
    /// Whether the value depends on lists of the host.
    pub(super) fn asks_lists(&self) -> bool {
        match self {
            Self::Expression(checked) => checked.asks_lists(),
            Self::Derived(_, base) => base.asks_lists(),
            Self::Missing | Self::Variable(..) | Self::Header { .. } => false,
        }
    }
}

/// How a value follows from that of another source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derivation {
    /// The names of a header map.
    HeaderNames,
    /// The lines of a header map.
    HeaderValues,
    /// The cookies of a `cookie` header: their values by name. Names are URL-decoded.
    Cookies,
    /// The arguments of a query: their values by name. Nothing is decoded.
    Arguments,
    /// The names of the arguments of a query.
    ArgumentNames,
    /// The values of the arguments of a query.
    ArgumentValues,
    /// The extension of the last segment of a path, in lower case; empty if it has none.
    Extension,
    /// The languages of an `accept-language` header, the preferred first.
    Languages,
}

/// The source that an expression is, and its type.
///
/// # Errors
/// The language has no such type.
pub(super) fn of_expression(checked: Checked, fields: &[Layout]) -> Result<(FilterType, Source), String> {
    let root = checked.ast().root();
    if let Reference::Variable(index) = *checked.reference(root)
        && !matches!(checked.ast().expr(root), Expr::Select { test: true, .. })
    {
        let ty = filter_type(checked.result_type(), fields.get(index as usize));
        let source = Source::Variable(index, checked.result_type().clone());
        return ty.map(|ty| (ty, source)).ok_or_else(|| no_type(&checked));
    }
    if reads(&checked, root)
        && let Some(access) = header_access(&checked, fields, root)
    {
        return Ok((FilterType::Bytes, Source::Header { map: access.field, name: access.name.into() }));
    }
    match filter_type(checked.result_type(), None) {
        Some(ty) => Ok((ty, Source::Expression(Arc::new(checked)))),
        None => Err(no_type(&checked)),
    }
}

/// Whether a node is a plain selection or index: no test, and no optional.
fn reads(checked: &Checked, id: NodeId) -> bool {
    matches!(
        checked.ast().expr(id),
        Expr::Select { test: false, optional: false, .. } | Expr::Index { optional: false, .. }
    )
}

fn no_type(checked: &Checked) -> String {
    format!("a value of type `{}` is none of the filter language", checked.result_type())
}
