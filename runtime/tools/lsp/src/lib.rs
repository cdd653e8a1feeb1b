//! A language server for rules and policies: diagnostics, hover, completion, formatting and more, over the Language Server Protocol 3.17.
//!
//! [`run`] serves one client until it says `exit`. `server.rs` is the life cycle and the dispatch of messages; each feature is a file of its
//! own. What a file is and what is wrong with it is decided by `celero-tooling` and `celero-policy`, which the command `celero` uses too, so
//! both report the same.
//!
//! Features work on *regions* (`region.rs`): an expression and its place in the document. A file has one, a file of rules one for each rule,
//! a policy one for each expression.
//!
//! A message that is malformed or too long is answered with an error.

mod actions;
mod checker;
mod completion;
mod context;
mod default_language;
mod definition;
mod document;
mod edited_text;
mod environment;
mod hover;
mod layout;
mod line_index;
mod locals;
mod region;
mod scope;
mod semantic_tokens;
mod server;
mod signature;
mod symbols;
mod tokens;
mod transport;
mod tree;
mod uri;
mod yaml_keys;
mod yaml_path;

pub use document::{MOST_CHECKED, MOST_KEPT};
pub use environment::Environment;
pub use server::run;
pub use transport::MOST_MESSAGE;
