//! The commands, each with its arguments and its `run`.

pub(crate) mod bench;
pub(crate) mod cel_policy;
pub(crate) mod check;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod lab;
pub(crate) mod lists;
pub(crate) mod lsp;
pub(crate) mod manual;
pub(crate) mod policy;
mod policy_report;
pub(crate) mod repl;
pub(crate) mod serve;
pub(crate) mod translate;
mod watch;
