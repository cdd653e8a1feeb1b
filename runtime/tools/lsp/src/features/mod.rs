//! What the server answers: a file for each feature of the protocol.

pub(crate) mod actions;
pub(crate) mod completion;
pub(crate) mod definition;
pub(crate) mod hover;
pub(crate) mod layout;
pub(crate) mod semantic_tokens;
pub(crate) mod signature;
pub(crate) mod symbols;
pub(crate) mod tree;
pub(crate) mod yaml_keys;
