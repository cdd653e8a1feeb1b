//! Templates: expressions whose constants are parameters, compiled once for all rules that differ
//! in constants only, and the rows of constants that such rules have.

use celero_ir::{ConstId, Graph, Origin, ParameterKind};

/// An expression that several rules share but for its constants.
#[derive(Debug)]
pub(crate) struct Template {
    /// The expression, with one root: a truth value over parameters. The origin of a node is the
    /// number of its site, which a [`ParameterRow`] translates to a place in the source of a rule.
    pub(crate) graph: Graph,
    /// Number of words of a row that hold constants; the words of the sites follow them.
    pub(crate) words: u16,
}

/// The constants that one rule puts into a [`Template`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParameterRow<'r> {
    /// Number of the template.
    pub(crate) template: u32,
    /// The constants of the merged graph that take the places of the parameters, in their order.
    pub(crate) constants: &'r [(ParameterKind, ConstId)],
    /// Places in the rule's source, indexed by site.
    pub(crate) sites: &'r [Origin],
}

/// Parameter rows, numbered. All are in the same few allocations, because there are about as many as rules.
#[derive(Debug, Default)]
pub(crate) struct ParameterRows {
    rows: Vec<RowEnds>,
    constants: Vec<(ParameterKind, ConstId)>,
    sites: Vec<Origin>,
}

/// A row: the number of its template, and where its constants and its sites end. They begin where
/// those of the row before end.
#[derive(Clone, Copy, Debug)]
struct RowEnds {
    template: u32,
    constants: u32,
    sites: u32,
}

impl ParameterRows {
    /// Adds a row. Returns its number; `None` if there are more than numbers allow.
    pub(crate) fn push(&mut self, row: ParameterRow<'_>) -> Option<u32> {
        let number = u32::try_from(self.rows.len()).ok()?;
        let end = |length: usize, more: usize| u32::try_from(length.checked_add(more)?).ok();
        let constants = end(self.constants.len(), row.constants.len())?;
        let sites = end(self.sites.len(), row.sites.len())?;
        self.constants.extend_from_slice(row.constants);
        self.sites.extend_from_slice(row.sites);
        self.rows.push(RowEnds { template: row.template, constants, sites });
        Some(number)
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// A row.
    pub(crate) fn get(&self, number: usize) -> Option<ParameterRow<'_>> {
        let row = self.rows.get(number)?;
        let before = number.checked_sub(1).and_then(|before| self.rows.get(before));
        let (constants, sites) = before.map_or((0, 0), |before| (before.constants, before.sites));
        Some(ParameterRow {
            template: row.template,
            constants: self.constants.get(constants as usize..row.constants as usize)?,
            sites: self.sites.get(sites as usize..row.sites as usize)?,
        })
    }
}
