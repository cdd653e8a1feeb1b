//! Forms of text that functions test. Each takes time linear in the text.

pub(crate) mod host;
pub(crate) mod ip;
pub(crate) mod uri;
