//! Why a graph is not compiled. None of these stops a rule from being interpreted.

use std::fmt;

/// What a function can have too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Instructions before code generation.
    Instructions,
    /// Values alive at one point.
    LiveValues,
    /// Nested expressions.
    Depth,
    /// Loops inside of one another.
    Loops,
    /// Bytes of stack.
    Frame,
    /// Bytes of machine code.
    Code,
}

/// A failed compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no native code for this machine.
    Unsupported(String),
    /// A function is larger than the [`Limits`](crate::Limits) or Cranelift allow.
    TooLarge {
        /// The number of the root.
        root: usize,
        /// Which limit is exceeded.
        bound: Bound,
        /// The limit; 0 where the limit is Cranelift's own.
        limit: u64,
    },
    /// The operating system gave no memory for code, or does not let it be executed.
    Memory(String),
    /// A graph that the verifier would refuse, or a defect in the compiler.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(why) => write!(f, "no native code on this machine: {why}"),
            Self::TooLarge { root, bound, limit } => {
                let what = match bound {
                    Bound::Instructions => "instructions",
                    Bound::LiveValues => "values alive at once",
                    Bound::Depth => "nested expressions",
                    Bound::Loops => "loops inside of one another",
                    Bound::Frame => "bytes of stack",
                    Bound::Code => "bytes of code",
                };
                write!(f, "expression {root} is too large for native code: too many {what}")?;
                if *limit == 0 { Ok(()) } else { write!(f, " (limit {limit})") }
            }
            Self::Memory(why) => write!(f, "no memory for native code: {why}"),
            Self::Internal(why) => write!(f, "native code: {why}"),
        }
    }
}

impl std::error::Error for Error {}
