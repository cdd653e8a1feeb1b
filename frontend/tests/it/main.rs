//! The front end's tests, in one binary.
#![expect(clippy::unwrap_used, clippy::panic, clippy::string_slice, clippy::arithmetic_side_effects, reason = "tests")]

mod check;
mod composed;
mod corpus;
mod define;
mod diagnostics;
mod filter;
mod hostile;
mod language;
mod limits;
mod macro_libraries;
mod parse;
mod plain;
mod unparse;
mod verify;
