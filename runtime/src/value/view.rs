//! A map whose values are computed from another map when they are read.

use super::Map;

/// The form in which a [`View`] shows the values of its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewForm {
    /// Unchanged.
    Same,
    /// Lists: of a header, one element for each line.
    Raw,
    /// Text: lines, or the elements of lists, joined with `,`.
    Join,
    /// Lists of the comma-separated members of the text.
    Split,
}

/// A map in another form. The HTTP library makes views and computes their values; the map itself needs to know only that it
/// is a view, because computed values are charged to the budget.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The map that the values come from; never a view itself.
    pub(crate) base: Map<'a>,
    pub(crate) form: ViewForm,
    /// Whether the values of credentials are hidden.
    pub(crate) redacted: bool,
}
