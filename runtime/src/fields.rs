//! What an expression can read of its context, for hosts that gather only that.

use celero_frontend::stdlib::Builtin;
use celero_frontend::{BinaryOp, Checked, Expr, Literal, NodeId, Overload, Reference, Variable};
use celero_ir::layout;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What an expression can read of its context, whichever way its evaluation goes: the fields by
/// name, and of header maps the names of headers. Asking whether a field or a header is present
/// counts as reading, and so does reading a view of a header map (`split()`, `raw()`, `join()`,
/// `redacted()`).
///
/// ```
/// # use celero::{Engine, Env};
/// # #[cfg(feature = "http")] {
/// let env = Env::<celero::http::RequestContext>::new();
/// let rule = r#"request.method == "POST" && request.headers["x-team"] != "ops""#;
/// let program = Engine::new().compile(&env, rule).unwrap();
/// let fields = program.fields();
/// assert!(fields.names().eq(["request.headers", "request.method"]));
/// assert!(fields.headers("request.headers").eq(["x-team"]));
/// assert!(!fields.reads("request.body") && !fields.reads_any_header("request.headers"));
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    names: BTreeMap<Arc<str>, Headers>,
}

/// What is read of a header map; nothing of other fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Headers {
    /// In lower case.
    names: BTreeSet<Box<str>>,
    /// Whether names are computed, or the map is used as a whole.
    any: bool,
}

impl Fields {
    /// Of an expression over these variables, which lie as `fields` says.
    pub(crate) fn of(checked: &Checked, variables: &[Variable], fields: &[layout::Field]) -> Self {
        let ids = || (0..u32::try_from(checked.ast().nodes().len()).unwrap_or(u32::MAX)).map(NodeId);
        let mut found = Self::default();
        // Maps of which one header is read, by node.
        let mut single = BTreeSet::new();
        for id in ids() {
            let key = named_key(checked, id).map(|(map, name)| (behind_views(checked, map), name));
            if let Some(access) = key.and_then(|(map, name)| access_of(checked, fields, map, name)) {
                single.insert(access.map);
                if let Some(headers) = found.of_variable(variables, access.field) {
                    headers.names.insert(access.name.to_ascii_lowercase().into());
                }
            }
        }
        for id in ids() {
            let Reference::Variable(field) = *checked.reference(id) else { continue };
            let is_map = fields.get(field as usize).is_some_and(|f| f.headers.is_some());
            let is_test = checked.ast().expr(id).is_test();
            if let Some(headers) = found.of_variable(variables, field) {
                headers.any |= is_map && !is_test && !single.contains(&id.0);
            }
        }
        found
    }

    /// Adds a variable that is read; `any_header` if it may be a header map that is used as a whole.
    pub(crate) fn add_variable(&mut self, variables: &[Variable], index: u32, any_header: bool) {
        if let Some(headers) = self.of_variable(variables, index) {
            headers.any |= any_header;
        }
    }

    /// Adds a header that is read of the header map that is a variable.
    pub(crate) fn add_header(&mut self, variables: &[Variable], map: u32, name: &str) {
        if let Some(headers) = self.of_variable(variables, map) {
            headers.names.insert(name.to_ascii_lowercase().into());
        }
    }

    /// Adds all that is read elsewhere.
    pub(crate) fn merge(&mut self, other: Self) {
        for (name, headers) in other.names {
            let own = self.names.entry(name).or_default();
            own.names.extend(headers.names);
            own.any |= headers.any;
        }
    }

    fn of_variable(&mut self, variables: &[Variable], index: u32) -> Option<&mut Headers> {
        let variable = variables.get(index as usize)?;
        Some(self.names.entry(variable.name.clone()).or_default())
    }

    /// The names of the fields, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(|name| &**name)
    }

    /// Whether the field of this name is read.
    #[must_use]
    pub fn reads(&self, field: &str) -> bool {
        self.names.contains_key(field)
    }

    /// The names of headers that are read of a header map, in lower case, sorted. All of them, unless
    /// [`reads_any_header`](Self::reads_any_header).
    pub fn headers(&self, field: &str) -> impl Iterator<Item = &str> {
        self.names.get(field).into_iter().flat_map(|headers| headers.names.iter().map(|name| &**name))
    }

    /// Whether this header can be read of a header map. The case of its name makes no difference.
    #[must_use]
    pub fn reads_header(&self, field: &str, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.names.get(field).is_some_and(|headers| headers.any || headers.names.contains(name.as_str()))
    }

    /// Whether headers can be read of a header map that are not known by name: their names are computed, or the map is
    /// used as a whole (`size(..)`, `.exists(..)`, as a result).
    #[must_use]
    pub fn reads_any_header(&self, field: &str) -> bool {
        self.names.get(field).is_some_and(|headers| headers.any)
    }
}

/// The reading of one header by a name that is known.
pub(crate) struct HeaderAccess<'c> {
    /// The node of the header map.
    pub(crate) map: u32,
    /// The variable that the header map is.
    pub(crate) field: u32,
    /// The name as written.
    pub(crate) name: &'c str,
}

/// The header that a node reads or asks for by a known name, if it does that.
pub(crate) fn header_access<'c>(
    checked: &'c Checked,
    fields: &[layout::Field],
    id: NodeId,
) -> Option<HeaderAccess<'c>> {
    let (map, name) = named_key(checked, id)?;
    access_of(checked, fields, map, name)
}

/// The map of which a node reads or asks for the value of a known key, and the key.
fn named_key(checked: &Checked, id: NodeId) -> Option<(NodeId, &str)> {
    let ast = checked.ast();
    let text = |id: NodeId| match ast.expr(id) {
        Expr::Literal(Literal::String(text)) => Some(&**text),
        _ => None,
    };
    match ast.expr(id) {
        Expr::Select { operand, field, .. } => Some((*operand, ast.name(*field))),
        Expr::Index { operand, index, .. } => Some((*operand, text(*index)?)),
        Expr::Binary { op: BinaryOp::In, left, right } => Some((*right, text(*left)?)),
        _ => None,
    }
}

/// The map behind views of it, such as `request.headers.split()`, which have its keys.
pub(crate) fn behind_views(checked: &Checked, mut id: NodeId) -> NodeId {
    let is_view = |overload: &Overload| {
        use Builtin::{JoinLists, JoinMap, RawLists, RawMap, RedactedLists, RedactedMap, SplitLists, SplitMap};
        matches!(
            overload,
            Overload::Builtin(
                JoinLists | JoinMap | RawLists | RawMap | RedactedLists | RedactedMap | SplitLists | SplitMap
            )
        )
    };
    while let Expr::Call { target: Some(target), .. } = checked.ast().expr(id)
        && let Reference::Call { overloads, receiver: true } = checked.reference(id)
        && !overloads.is_empty()
        && overloads.iter().all(is_view)
    {
        id = *target;
    }
    id
}

fn access_of<'c>(checked: &Checked, fields: &[layout::Field], map: NodeId, name: &'c str) -> Option<HeaderAccess<'c>> {
    let Reference::Variable(field) = *checked.reference(map) else { return None };
    if checked.ast().expr(map).is_test() {
        return None;
    }
    fields.get(field as usize)?.headers.as_ref()?;
    Some(HeaderAccess { map: map.0, field, name })
}
