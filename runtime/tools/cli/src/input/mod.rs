//! What a command is given: files and texts of rules, and what they are evaluated with.

pub(crate) mod arguments;
pub(crate) mod contexts;
pub(crate) mod filter_args;
pub(crate) mod filter_values;
pub(crate) mod host;
pub(crate) mod in_language;
pub(crate) mod list_file;
pub(crate) mod message_files;
pub(crate) mod source;
