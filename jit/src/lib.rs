//! Expression graphs to native code through Cranelift.
//!
//! What is known here of the host: offsets of [`celero_ir::layout`], addresses, and the table of helpers. No value type, no
//! request type. `unsafe` is in three files: `code_memory`, which owns the pages, `entry`, which calls into them, and
//! `profile/marker`, which maps a page for profilers to see.
//!
//! A function takes the address of the host's data and that of an evaluation frame. Its result is, for a root of type `bool`, 0 or 1; for any other
//! root 0, the value's words being at [`frame::RESULT`](celero_ir::layout::frame::RESULT) (for a `value`, its 32 bytes).
//! Every other result is an [`ErrorWord`](celero_ir::ErrorWord).
//!
//! A function of a [group](Compiler::group) of rules has 0 as its result; what it answers is in the frame, as
//! [`layout::group`](celero_ir::layout::group) says.
#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "maps and unmaps the pages of code")]
mod code_memory;
mod compiler;
mod dominators;
mod emit;
#[expect(unsafe_code, reason = "calls native code")]
mod entry;
mod error;
mod liveness;
mod plan;
mod profile;
mod unit;

pub use compiler::{Code, Compiler, Function, Limits, Listing, Settings, Span};
pub use entry::{BareEntry, Entry};
pub use error::{Bound, Error};
pub use profile::{Profiler, Profiling};
pub use unit::{ConstantAddress, HeaderTable, Rule, Unit};
