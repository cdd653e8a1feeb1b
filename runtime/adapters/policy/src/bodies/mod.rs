//! How much of a body is read, what its codings are, and how it is changed.

pub(crate) mod buffering;
pub(crate) mod content_coding;
pub(crate) mod json_patch;
pub(crate) mod settings;
pub(crate) mod unchangeable;
