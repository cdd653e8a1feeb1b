//! What stands around a cursor, in text that need not be valid while somebody types.

pub(crate) mod context;
pub(crate) mod default_language;
pub(crate) mod locals;
pub(crate) mod tokens;
pub(crate) mod yaml_path;
