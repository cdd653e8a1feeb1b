//! What a policy is compiled for, which decides whether there is native code.

use crate::expressions::ENGINE;
use celero::{Engine, Limits, Tier};
use std::sync::LazyLock;

/// What a policy is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To run: native code.
    Run,
    /// To run, with a description of its rules.
    Explain,
    /// To find its errors and warnings: no native code.
    Check,
    /// To find its errors, and to be tried on a few requests although its author is not trusted
    /// ([`Loader::within`](crate::Loader::within)): no native code, and few steps.
    Confined,
}

/// Most steps of an expression of a policy that is [confined](Purpose::Confined).
const CONFINED_STEPS: u32 = 20_000;

/// Most memory of its patterns, in bytes.
const CONFINED_PATTERNS: usize = 32 << 20;

/// Most steps of folding the case of its texts.
const CONFINED_CASE_STEPS: usize = 1_000_000;

impl Purpose {
    /// Returns the engine that compiles the expressions.
    pub(crate) fn engine(self) -> &'static Engine {
        static CHECKER: LazyLock<Engine> = LazyLock::new(|| Engine::builder().tier(Tier::Interpret).build());
        static CONFINED: LazyLock<Engine> = LazyLock::new(|| {
            let (steps, patterns, case_steps) = (CONFINED_STEPS, CONFINED_PATTERNS, CONFINED_CASE_STEPS);
            let limits = Limits { steps, patterns, case_steps, ..Limits::default() };
            Engine::builder().tier(Tier::Interpret).limits(limits).build()
        });
        match self {
            Self::Run | Self::Explain => &ENGINE,
            Self::Check => &CHECKER,
            Self::Confined => &CONFINED,
        }
    }
}
