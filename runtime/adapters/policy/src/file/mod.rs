//! The files of a policy, and what is refused because nothing is in them.

pub(crate) mod document;
pub(crate) mod emptiness;
pub(crate) mod error;
pub(crate) mod regular_file;
