//! Code of earlier rules, found by the CLIF of their functions.
//!
//! What depends on the constants of one rule is not in the CLIF: in shared code it is read from the
//! parameter row of the rule, in [templates](crate::code_template) it is written to the machine
//! code. So the CLIF of two rules that differ in constants only is equal. The whole CLIF is
//! compared, and not only its hash: equal CLIF is the same function, whichever rule it was emitted
//! for.
//!
//! Invariant: shared code is called only with the parameter row that was returned with it; a row belongs to one rule.
//! Test: `jit/tests/native/template/shared.rs::rules_that_differ_in_constants_share_code`.

use cranelift_codegen::ir::function::FunctionStencil;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// Maximum number of functions kept. Each holds its code, and its CLIF.
const MAX_FUNCTIONS: usize = 256;

/// Maximum number of CLIF instructions of a function that is kept. This bounds the CLIF that is
/// kept; large rules rarely have the shape of another.
const MAX_INSTRUCTIONS: usize = 300;

/// Number of hashes of functions that are remembered to find those that occur again.
const OCCURRED: usize = 1024;

/// The code of functions by their CLIF. At most [`MAX_FUNCTIONS`]; the one whose last use is the
/// oldest makes place for a new one.
#[derive(Debug)]
pub(crate) struct CodeCache<C> {
    /// By the hash of their CLIF. Functions of one hash replace each other.
    functions: HashMap<u64, CachedFunction<C>>,
    /// Number of uses so far.
    uses: u64,
    /// Hashes of functions that occurred, each at the place that its lowest bits say; empty or [`OCCURRED`] long.
    occurred: Vec<u64>,
}

struct CachedFunction<C> {
    stencil: FunctionStencil,
    code: C,
    last_use: u64,
}

impl<C: std::fmt::Debug> std::fmt::Debug for CachedFunction<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CachedFunction").field("code", &self.code).finish_non_exhaustive()
    }
}

/// The hash of a function's CLIF.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClifHash(u64);

impl ClifHash {
    /// The hash of a function, if it is small enough to be kept.
    pub(crate) fn of(stencil: &FunctionStencil) -> Option<Self> {
        let dfg = &stencil.dfg;
        // Functions that agree in this rarely differ in the rest.
        let hash = || FixedState::default().hash_one((&dfg.insts, dfg.num_values(), stencil.global_values.len()));
        (dfg.num_insts() <= MAX_INSTRUCTIONS).then(|| Self(hash()))
    }
}

impl<C> Default for CodeCache<C> {
    fn default() -> Self {
        Self { functions: HashMap::new(), uses: 0, occurred: Vec::new() }
    }
}

impl<C> CodeCache<C> {
    /// Returns the code of a function with this CLIF, whose hash is given.
    pub(crate) fn get(&mut self, hash: ClifHash, stencil: &FunctionStencil) -> Option<&C> {
        let found = self.functions.get_mut(&hash.0).filter(|found| found.stencil == *stencil)?;
        self.uses = self.uses.saturating_add(1);
        found.last_use = self.uses;
        Some(&found.code)
    }

    /// Whether a function of this hash occurred before, as far as that is remembered. To keep
    /// functions that occur once takes as much time as a tenth of compiling them.
    pub(crate) fn occurs_again(&mut self, hash: ClifHash) -> bool {
        self.occurred.resize(OCCURRED, 0);
        let place = (hash.0 as usize).checked_rem(OCCURRED).unwrap_or(0);
        self.occurred.get_mut(place).is_some_and(|last| std::mem::replace(last, hash.0) == hash.0)
    }

    /// Keeps the code of a function.
    pub(crate) fn insert(&mut self, hash: ClifHash, stencil: FunctionStencil, code: C) {
        if self.functions.len() >= MAX_FUNCTIONS
            && let Some(oldest) = self.functions.iter().min_by_key(|(_, of)| of.last_use).map(|(hash, _)| *hash)
        {
            self.functions.remove(&oldest);
        }
        self.uses = self.uses.saturating_add(1);
        let last_use = self.uses;
        self.functions.insert(hash.0, CachedFunction { stencil, code, last_use });
    }
}
