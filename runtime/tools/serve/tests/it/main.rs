//! The server through real sockets, and the page in a real browser.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "tests"
)]

mod answers;
mod browser;
mod edits;
mod hostile;
mod pages;
mod pictures;
mod support;
mod web_driver;
mod workbench;
