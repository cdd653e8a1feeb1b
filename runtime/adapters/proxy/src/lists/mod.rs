//! Changes of named lists while the proxy runs, and copies of their documents.

pub(crate) mod control;
pub(crate) mod copies;
