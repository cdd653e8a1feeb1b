//! Templates: expressions whose constants are parameters, compiled once for all rules that differ in constants only, and the rows of
//! constants that such rules have.

use celero_ir::{ConstId, Graph, Origin, ParameterKind};

/// An expression that several rules share but for its constants.
#[derive(Debug)]
pub(crate) struct Template {
    /// The expression, with one root: a truth value over parameters. The origin of a node is the number of its site, which a
    /// [`ParameterRow`] translates to a place in the source of a rule.
    pub(crate) graph: Graph,
    /// Number of words of a row that hold constants; the words of the sites follow them.
    pub(crate) words: u16,
}

/// The constants that one rule puts into a [`Template`].
#[derive(Debug)]
pub(crate) struct ParameterRow {
    /// Number of the template.
    pub(crate) template: u32,
    /// The constants of the merged graph that take the places of the parameters, in their order.
    pub(crate) constants: Vec<(ParameterKind, ConstId)>,
    /// Places in the rule's source, indexed by site.
    pub(crate) sites: Vec<Origin>,
}
