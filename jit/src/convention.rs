//! What a compiled function reads and returns, beside its signature's parameters.
//!
//! A function that calls no helper needs no frame: it has a second entry, which gets the address of
//! the host's data only.

/// How a compiled function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Convention {
    /// Whether the function never reads its second argument.
    pub(crate) context_only: bool,
    /// Whether the function returns text in two registers.
    pub(crate) text: bool,
}
