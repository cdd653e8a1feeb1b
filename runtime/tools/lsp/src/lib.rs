//! A language server for rules and policies: diagnostics, hover, completion, formatting and more,
//! over the Language Server Protocol 3.17.
//!
//! [`run`] serves one client until it says `exit`. `server.rs` is the life cycle and the dispatch
//! of messages, `features/` has a file for each feature. What a file is and what is wrong with it
//! is decided by `celero-tooling` and `celero-policy`, which the command `celero` uses too, so both
//! report the same.
//!
//! Features work on *regions* (`documents/region.rs`): an expression and its place in the document.
//! A file has one, a file of rules one for each rule, a policy one for each expression.
//!
//! A message that is malformed or too long is answered with an error.

mod checks;
mod cursor;
mod documents;
mod features;
mod server;
mod transport;

pub use checks::environment::Environment;
pub use documents::document::{MAX_CHECKED, MAX_KEPT};
pub use server::run;
pub use transport::MAX_MESSAGE;
