//! The native tier: prepares constants, has graphs compiled, and calls the code.
//!
//! `program.rs` is the code of one rule, `set_compiler.rs` and `set_code.rs` are that of a set.
//! Both call compiled functions with a frame (`frame.rs`), as the entry ABI says (`entry_abi.rs`).
//! Compiled code refers to prepared constants (`pool.rs`) and calls library functions through
//! wrappers: generated ones (`libcall_wrappers.rs`, `function_entries.rs`) and hand-written ones
//! (`libcalls.rs`, `entry_calls.rs`).
//!
//! Invariant: native code and the interpreter give the same value, or the same kind of error at the same place. A spent
//! budget has the place of the whole rule, because the tiers count different steps. Test:
//! `tests/tests/it/differential/mod.rs::the_tiers_agree`.
//!
//! # Safety
//!
//! Native code is sound because it is compiled only from graphs that [`lower`](crate::lower) builds
//! and `celero_ir::verify` accepts, reads fields as the contract of
//! [`Context`](crate::context::Context) allows, and calls helpers as the table
//! `celero_ir::for_each_helper` says. [`layout`] proves that this crate's types have the layout
//! that the code expects.

mod entry_abi;
mod entry_calls;
mod frame;
mod function_entries;
#[cfg(feature = "http")]
mod header_table;
mod helper_result;
mod in_place;
mod layout;
mod libcall_wrappers;
mod libcalls;
mod literal_batches;
mod pool;
mod program;
mod set_code;
mod set_compiler;
pub(crate) mod template;

pub(crate) use entry_abi::{BaseFrameCode, ContextOnlyCode, FrameNeeded};
pub(crate) use in_place::{HostData, InPlace, Seen};
pub(crate) use program::{Input, NativeProgram};
pub(crate) use set_code::{LinearBlock, RuleBits, SetCode, StopConditions};
pub(crate) use set_compiler::{CompiledRules, MIN_BATCHED_HEADERS, SetCompiler};

use crate::error::EvalError;
use celero_ir::{ErrorKind, ErrorWord, Origin};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

/// The addresses of the helpers, in the order of the table.
static HELPERS: LazyLock<[usize; celero_ir::Helper::COUNT]> = LazyLock::new(libcall_wrappers::addresses);

/// Why a graph has no native code.
#[derive(Debug)]
pub(crate) enum NativeError {
    /// A constant does not fit the limits.
    Constant(ErrorKind),
    /// The graph calls a function that was never lowered, or not with its signature: a defect.
    Function,
    /// The compiler rejected it.
    Compile(celero_jit::Error),
}

impl std::fmt::Display for NativeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(kind) => write!(f, "a constant cannot be prepared: {kind}"),
            Self::Function => f.write_str("internal error: the graph calls an unknown function"),
            Self::Compile(error) => error.fmt(f),
        }
    }
}

/// Returns the address that the two words of a [`Ty::Ip`](celero_ir::Ty::Ip) hold. An IPv4 address
/// is stored in its IPv4-mapped form.
#[inline(always)]
fn ip_of_words([high, low]: [u64; 2]) -> IpAddr {
    match (high, low >> 32) {
        (0, 0xffff) => Ipv4Addr::from_bits(low as u32).into(),
        _ => Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low)).into(),
    }
}

/// Returns the error of a word that is neither 0 nor 1.
#[inline]
pub(crate) fn failure(word: u64) -> EvalError {
    let (kind, origin) = ErrorWord(word).unpack();
    EvalError { kind, start: origin.start, end: origin.end }
}

/// Returns the word of an error. Positions fit: sources are shorter than the largest position of an [`ErrorWord`].
pub(crate) fn word_of(error: &EvalError) -> u64 {
    ErrorWord::new(error.kind, Origin { start: error.start, end: error.end }).0
}
