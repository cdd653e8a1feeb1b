//! Patterns as text: dialects, limits, parsing, and what parsing costs.

pub(in crate::pattern) mod constant;
pub(in crate::pattern) mod dialect;
pub(in crate::pattern) mod folding;
pub(in crate::pattern) mod groups;
pub(in crate::pattern) mod limits;
pub(in crate::pattern) mod on_text;
pub(in crate::pattern) mod parse;
pub(in crate::pattern) mod parsed;
pub(in crate::pattern) mod re2;
pub(in crate::pattern) mod syntax_error;
