//! How rules are checked, what they may mention, and what is wrong with a document.

pub(crate) mod checker;
pub(crate) mod environment;
pub(crate) mod scope;
