//! Files of rules: what they contain, and what is done with all of their rules.

pub mod check;
pub mod file;
pub mod layout;
pub mod sets;
pub mod source;
