//! What a policy is compiled for, which decides whether there is native code.

use crate::expressions::ENGINE;
use celero::{Engine, Tier};
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
}

impl Purpose {
    /// Returns the engine that compiles the expressions.
    pub(crate) fn engine(self) -> &'static Engine {
        static CHECKER: LazyLock<Engine> = LazyLock::new(|| Engine::builder().tier(Tier::Interpret).build());
        match self {
            Self::Run | Self::Explain => &ENGINE,
            Self::Check => &CHECKER,
        }
    }
}
