//! Policies in the [CEL Policy](https://github.com/cel-expr/cel-policy) format.

mod codes;
mod compose;
mod environment;
mod environment_file;
mod expression;
mod extensions;
mod keys;
mod language;
mod policy;
mod tests_file;
mod types;

pub use environment::Environment;
pub use language::CelPolicy;
pub use tests_file::{TestReport, Tests};
