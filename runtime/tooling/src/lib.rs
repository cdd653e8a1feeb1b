//! What tools for authors of rules share: the formats and languages of files, the check of rules, their layout.
//!
//! The command `celero` and the language server use it, so that both say the same about the same file. A policy is read by `celero-policy`.

pub mod check;
pub mod diagnostic_json;
pub mod envs;
pub mod language;
pub mod rule_sets;
pub mod rules_file;
pub mod rules_layout;
pub mod source;
pub mod value_text;
