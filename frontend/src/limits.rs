//! The bounds of the frontend, in one place, and the stack that they imply.
//!
//! Invariant: every recursive walk over a tree starts in `with_stack`, and `Limits` bound how deep it goes. Trees are
//! arenas, so dropping one does not recurse. Test:
//! `frontend/tests/it/hostile.rs::the_most_a_limit_allows_fits_the_stack`.

/// Bounds on source text. Exceeding one is a diagnostic that names the bound and the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields, rename_all = "camelCase")
)]
pub struct Limits {
    /// Longest source in bytes. Default 65,536; at most 16,777,215, so that a byte offset fits in 24 bits.
    pub max_source_bytes: u32,
    /// Deepest tree, and deepest nesting of brackets. Default 250, cel-go's.
    pub max_depth: u32,
    /// Most nodes of a tree, macro expansions included. Default 65,536.
    pub max_nodes: u32,
    /// Most diagnostics reported in one run. Default 16.
    pub max_diagnostics: u32,
}

/// Longest source whatever the limits say: offsets fit in 24 bits.
pub(crate) const SOURCE_BYTES: u32 = 0xff_ffff;

impl Default for Limits {
    fn default() -> Self {
        Self { max_source_bytes: 1 << 16, max_depth: 250, max_nodes: 1 << 16, max_diagnostics: 16 }
    }
}

/// Stack that one level of the deepest recursion over a tree may use, in bytes, in a build without optimisation.
const STACK_PER_LEVEL: usize = 8 * 1024;

/// Runs `f` with enough stack for a recursion `depth` levels deep, on a new stack segment if the
/// thread's does not suffice.
///
/// Start every recursive walk over a tree with this, with the tree's depth; the walk then needs no checks.
pub fn with_stack<R>(depth: u32, f: impl FnOnce() -> R) -> R {
    let need = (depth as usize).saturating_add(16).saturating_mul(STACK_PER_LEVEL);
    stacker::maybe_grow(need, need.saturating_add(STACK_PER_LEVEL), f)
}
