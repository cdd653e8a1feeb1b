//! Open documents: their text, their positions, and the expressions in them.

pub(crate) mod document;
pub(crate) mod edited_text;
pub(crate) mod line_index;
pub(crate) mod region;
pub(crate) mod uri;
