//! Where the value of a field of the filter language comes from.

use super::types::filter_type;
use crate::fields::header_access;
use crate::function::Functions;
use crate::interpret::Constants;
use crate::language::{StaticCost, static_costs};
use crate::lower::calls_impure;
use celero_frontend::filter::FilterType;
use celero_frontend::{
    Checked, Declarations, Diagnostic, Expr, Limits, NodeId, Reference, Type, inline, inlined_nodes,
};
use celero_ir::layout::Field as Layout;
use std::sync::{Arc, OnceLock};

/// An expression with more nodes, the bodies of the definitions that it uses included, is no field
/// of the host, and its nodes count at each use.
const MAX_NODES_OF_FIELD: usize = 64;

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
    Expression(Arc<FieldExpression>),
    /// What follows from another source.
    Derived(Derivation, Box<Source>),
}

impl Source {
    /// The nodes that a rule takes for each use of the field; 0 for what is small.
    pub(super) fn counted_nodes(&self) -> usize {
        match self {
            Self::Expression(expression) => expression.counted_nodes(),
            Self::Derived(_, base) => base.counted_nodes(),
            Self::Missing | Self::Variable(..) | Self::Header { .. } => 0,
        }
    }

    /// What reading the value costs.
    pub(crate) fn static_cost(&self) -> StaticCost {
        match self {
            Self::Expression(expression) => expression.static_cost(),
            Self::Derived(_, base) => base.static_cost(),
            Self::Missing | Self::Variable(..) | Self::Header { .. } => StaticCost::ONE,
        }
    }

    /// Whether reading the value calls a function of the host that is not pure.
    pub(crate) fn calls_impure(&self, functions: &Functions) -> bool {
        match self {
            Self::Expression(expression) => calls_impure(expression.checked(), functions),
            Self::Derived(_, base) => base.calls_impure(functions),
            Self::Missing | Self::Variable(..) | Self::Header { .. } => false,
        }
    }

    /// Whether the value depends on lists of the host.
    pub(super) fn asks_lists(&self) -> bool {
        match self {
            Self::Expression(expression) => expression.asks_lists,
            Self::Derived(_, base) => base.asks_lists(),
            Self::Missing | Self::Variable(..) | Self::Header { .. } => false,
        }
    }
}

/// The CEL expression whose value a field has. The bodies of large definitions are put in the
/// places of their calls when a rule uses the field.
#[derive(Debug)]
pub(crate) struct FieldExpression {
    written: Checked,
    declarations: Arc<Declarations>,
    limits: Limits,
    /// See [`inlined_nodes`].
    inlined_nodes: usize,
    asks_lists: bool,
    /// Whether it is what this library gives a field that Cloudflare documents.
    is_documented: bool,
    evaluated: OnceLock<Option<Checked>>,
    static_cost: OnceLock<StaticCost>,
    /// Of the tree that is evaluated.
    pub(crate) constants: Constants,
}

impl FieldExpression {
    /// The tree that is evaluated.
    pub(crate) fn checked(&self) -> &Checked {
        let evaluated = self.evaluated.get_or_init(|| inline(&self.written, &self.declarations, &self.limits).ok()?);
        evaluated.as_ref().unwrap_or(&self.written)
    }

    /// What an evaluation costs. A documented field is one operation, whatever this library computes it from.
    fn static_cost(&self) -> StaticCost {
        *self.static_cost.get_or_init(|| {
            let checked = self.checked();
            let cost = static_costs(checked).get(checked.ast().root().0 as usize).copied();
            cost.filter(|cost| !self.is_documented && !cost.is_constant()).unwrap_or(StaticCost::ONE)
        })
    }

    /// The nodes that a rule takes for each use of the field; 0 for a small expression.
    pub(crate) fn counted_nodes(&self) -> usize {
        if self.inlined_nodes > MAX_NODES_OF_FIELD { self.inlined_nodes } else { 0 }
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
    /// The media type of a `content-type` header, in lower case, without parameters.
    MediaType,
    /// The media type of a body, by its first bytes; missing if they are of no known one.
    Mime,
    /// The fields of a form, from a content type and a body: their values by name. Nothing is decoded.
    Form,
    /// The names of the fields of a form.
    FormNames,
    /// The values of the fields of a form.
    FormValues,
    /// The parts of a body of several, from a content type and the body: their contents by name.
    Multipart,
    /// A value of each part of a body of several.
    Parts(PartValue),
}

/// What is known of a part of a body of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartValue {
    /// Its bytes.
    Content,
    /// The names in its `content-disposition`.
    Names,
    /// The file names in its `content-disposition`.
    FileNames,
    /// Its `content-disposition` fields.
    Dispositions,
    /// Its `content-type` fields.
    Types,
    /// Its `content-transfer-encoding` fields.
    Encodings,
}

/// The source that an expression is, and its type.
///
/// # Errors
/// The language has no such type, or the expression exceeds the limits.
pub(super) fn of_expression(
    written: Checked,
    declarations: &Arc<Declarations>,
    limits: &Limits,
    fields: &[Layout],
    is_documented: bool,
) -> Result<(FilterType, Source), String> {
    let first =
        |diagnostics: Vec<Diagnostic>| diagnostics.into_iter().next().map_or_else(String::new, |one| one.message);
    let expression = FieldExpression {
        inlined_nodes: inlined_nodes(&written, declarations, limits).map_err(first)?,
        asks_lists: declarations.asks_lists(&written),
        declarations: Arc::clone(declarations),
        limits: *limits,
        written,
        is_documented,
        evaluated: OnceLock::new(),
        static_cost: OnceLock::new(),
        constants: Constants::default(),
    };
    // What a host has under a name of its own is small.
    if expression.counted_nodes() == 0
        && let Some(found) = of_host(expression.checked(), fields)
    {
        return found;
    }
    match filter_type(expression.written.result_type(), None) {
        Some(ty) => Ok((ty, Source::Expression(Arc::new(expression)))),
        None => Err(no_type(&expression.written)),
    }
}

/// The source of an expression that is a variable or a header, and its type.
fn of_host(checked: &Checked, fields: &[Layout]) -> Option<Result<(FilterType, Source), String>> {
    let root = checked.ast().root();
    if let Reference::Variable(index) = *checked.reference(root)
        && !checked.ast().expr(root).is_test()
    {
        let ty = filter_type(checked.result_type(), fields.get(index as usize));
        let source = Source::Variable(index, checked.result_type().clone());
        return Some(ty.map(|ty| (ty, source)).ok_or_else(|| no_type(checked)));
    }
    let access = header_access(checked, fields, root).filter(|_| reads(checked, root))?;
    Some(Ok((FilterType::Bytes, Source::Header { map: access.field, name: access.name.into() })))
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
