//! The code that rules share, found by the CLIF of their functions.
//!
//! In shared code, what depends on the constants of one rule is read from the parameter row of the rule, so the CLIF of two rules that differ in
//! constants only is equal. The whole CLIF is compared, and not only its hash: equal CLIF is the same function, whichever rule it was
//! emitted for.

use crate::code::Code;
use cranelift_codegen::ir::function::FunctionStencil;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Maximum number of functions kept. Each holds at least one page of code, and its CLIF.
const MAX_FUNCTIONS: usize = 256;

/// Maximum number of CLIF instructions of a function that is kept. This bounds the CLIF that is kept; large rules rarely have the shape of
/// another.
const MAX_INSTRUCTIONS: usize = 300;

/// Installed functions by their CLIF. At most [`MAX_FUNCTIONS`]; the one whose last use is the oldest makes place for a new one.
#[derive(Debug, Default)]
pub(crate) struct CodeCache {
    /// By the hash of their CLIF. Functions of one hash replace each other.
    functions: HashMap<u64, CachedFunction>,
    /// Number of uses so far.
    uses: u64,
}

struct CachedFunction {
    stencil: FunctionStencil,
    code: Arc<Code>,
    last_use: u64,
}

impl std::fmt::Debug for CachedFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CachedFunction").field("code", &self.code).finish_non_exhaustive()
    }
}

impl CodeCache {
    /// Whether a function is small enough to be kept.
    pub(crate) fn wants(&self, stencil: &FunctionStencil) -> bool {
        stencil.dfg.num_insts() <= MAX_INSTRUCTIONS
    }

    /// Returns the code of a function with this CLIF.
    pub(crate) fn get(&mut self, stencil: &FunctionStencil) -> Option<Arc<Code>> {
        if !self.wants(stencil) {
            return None;
        }
        let found = self.functions.get_mut(&hash(stencil)).filter(|found| found.stencil == *stencil)?;
        self.uses = self.uses.saturating_add(1);
        found.last_use = self.uses;
        Some(Arc::clone(&found.code))
    }

    /// Keeps the code of a function.
    pub(crate) fn insert(&mut self, stencil: FunctionStencil, code: Arc<Code>) {
        if self.functions.len() >= MAX_FUNCTIONS
            && let Some(oldest) = self.functions.iter().min_by_key(|(_, of)| of.last_use).map(|(hash, _)| *hash)
        {
            self.functions.remove(&oldest);
        }
        self.uses = self.uses.saturating_add(1);
        let last_use = self.uses;
        self.functions.insert(hash(&stencil), CachedFunction { stencil, code, last_use });
    }
}

fn hash(stencil: &FunctionStencil) -> u64 {
    FixedState::default().hash_one(stencil)
}
