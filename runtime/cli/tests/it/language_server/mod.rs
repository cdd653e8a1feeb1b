//! The language server, through its protocol.

mod client;
mod diagnostics;
mod features;
mod life_cycle;
