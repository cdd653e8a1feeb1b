//! Compiles expression graphs to native code through Cranelift.
//!
//! ```text
//! Unit ──plan──▶ NodeFacts ──emit/──▶ CLIF ──Cranelift──▶ CompiledFunction ──install──▶ Code ──entry──▶ call
//! ```
//!
//! Of the host this crate knows offsets of [`celero_ir::layout`], addresses, and the table of
//! helpers: no value type and no request type. `unsafe` is in three files: `code_memory`, which
//! owns the pages, `entry`, which calls into them, and `profile/marker`, which maps a page that
//! profilers look for.
//!
//! A compiled function gets the address of the host's data and that of an evaluation frame, and
//! returns a word. A root of type `bool` returns 0 or 1. A root that is
//! [text](celero_ir::layout::returns_text) returns two words, its address and its length. Any other
//! root returns 0 and leaves its words at [`frame::RESULT`](celero_ir::layout::frame::RESULT) (for
//! a `value`, its 32 bytes). Every other word, and the length of text at a null address, is an
//! [`ErrorWord`](celero_ir::ErrorWord).
//!
//! A function of [shared code](Compiler::compile_shared) has a third parameter: the address of the
//! parameter row of the rule.
//!
//! A function of a [group](Compiler::group) of rules returns 0; which rules matched and failed is in the frame, as
//! [`layout::group`](celero_ir::layout::group) says.
//!
//! Invariant: this crate does not depend on the runtime. Test:
//! `tests/tests/it/tidy/mod.rs::dependencies_point_one_way`.
//!
//! Without the feature `cranelift` there is no compiler: [`Compiler::new`] fails, nothing depends on
//! Cranelift, and no executable page is mapped.
#![deny(unsafe_code)]
#![cfg_attr(not(feature = "cranelift"), expect(dead_code, reason = "only the compiler uses it"))]

mod code;
#[cfg(feature = "cranelift")]
mod code_cache;
#[cfg(feature = "cranelift")]
#[expect(unsafe_code, reason = "maps and unmaps the pages of code")]
mod code_memory;
#[cfg(feature = "cranelift")]
mod code_template;
#[cfg(feature = "cranelift")]
mod compiler;
mod convention;
#[cfg(feature = "cranelift")]
mod dominators;
#[cfg(feature = "cranelift")]
mod emit;
#[expect(unsafe_code, reason = "calls native code")]
mod entry;
mod error;
#[cfg(feature = "cranelift")]
mod liveness;
#[cfg(feature = "cranelift")]
mod plan;
#[cfg(feature = "cranelift")]
mod profile;
mod settings;
#[cfg(feature = "cranelift")]
mod target;
mod unit;
#[cfg(not(feature = "cranelift"))]
mod without_cranelift;
#[cfg(not(feature = "cranelift"))]
use without_cranelift as code_memory;

pub use code::{Code, CodeRange, Listing, SharedFunction, Symbol};
pub use code_memory::CompiledFunction;
#[cfg(feature = "cranelift")]
pub use compiler::Compiler;
pub use entry::{ContextEntry, Entry, TextEntry, TextWords};
pub use error::{Bound, Error};
#[cfg(feature = "cranelift")]
pub use profile::Profiler;
pub use settings::{Limits, MAX_LOOPS, Profiling, Settings};
pub use unit::{ConstantAddress, GroupedRule, HeaderBatch, LiteralBatch, Unit};
#[cfg(not(feature = "cranelift"))]
pub use without_cranelift::{Compiler, Profiler};
