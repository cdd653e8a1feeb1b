//! Why an evaluation fails: the kinds of errors, and the word in which native code returns one.

use std::fmt;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident = $code:literal, $name:literal, $text:literal;)*) => {
        /// Why an evaluation has no value. The set is closed: a proxy can match on it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum ErrorKind { $($(#[doc = $doc])* $kind = $code),* }

        impl ErrorKind {
            /// All kinds, in the order of their codes.
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$kind),*];

            /// The kind of a code, if there is one.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$kind),)* _ => None }
            }

            /// The stable name, as in JSON, in C and in reports: `no_such_key`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),* }
            }

            /// The message of the kind, one line.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$kind => $text),* }
            }
        }
    };
}

// Codes start at 2: native code returns 0 and 1 for false and true in the same register.
kinds! {
    /// A map, an index of an absent entry, a missing header or an absent field.
    NoSuchKey = 2, "no_such_key", "no such key";
    /// A selection from a value that has no fields.
    NoSuchField = 3, "no_such_field", "no such field";
    /// No overload takes operands of these types.
    NoSuchOverload = 4, "no_such_overload", "no such overload";
    /// Integer division by zero.
    DivideByZero = 5, "divide_by_zero", "division by zero";
    /// Integer remainder by zero.
    ModulusByZero = 6, "modulus_by_zero", "modulus by zero";
    /// A result outside its type's range.
    Overflow = 7, "overflow", "value out of range";
    /// An argument that the function does not accept: malformed text, an index out of bounds.
    InvalidArgument = 8, "invalid_argument", "invalid argument";
    /// A map literal or transform with the same key twice.
    DuplicateKey = 9, "duplicate_key", "duplicate map key";
    /// The evaluation's budget of steps or memory is spent.
    OutOfBudget = 10, "out_of_budget", "evaluation budget exceeded";
    /// A function of the host failed.
    Host = 11, "host", "host function failed";
    /// The rule called `fail`.
    Failed = 12, "failed", "the rule failed on purpose";
    /// A variable is not known yet, in an evaluation that was told so.
    Unknown = 13, "unknown", "the value is not known yet";
}

impl ErrorKind {
    /// Whether the error ends the evaluation at once, so that no operation absorbs or catches it: an exhausted budget.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::OutOfBudget)
    }

    /// Whether another value may take the place of the one that failed. What is not known yet need
    /// not fail.
    #[must_use]
    pub const fn has_substitute(self) -> bool {
        !matches!(self, Self::OutOfBudget | Self::Unknown)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for ErrorKind {}

/// The source range a node came from, as byte offsets: `start` in 24 bits, `end` in 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// An error as native code returns it: kind in bits 0 to 7, start of the origin in 8 to 31, its end in 32 to 63.
/// Never 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorWord(pub u64);

impl ErrorWord {
    /// Packs an error. A start that does not fit into 24 bits becomes the largest that does.
    #[must_use]
    pub fn new(kind: ErrorKind, origin: Origin) -> Self {
        Self((kind as u64) | Self::place(origin))
    }

    /// The bits of an origin, without a kind.
    #[must_use]
    pub fn place(origin: Origin) -> u64 {
        (u64::from(origin.start.min(0x00ff_ffff)) << 8) | (u64::from(origin.end) << 32)
    }

    /// The error's kind and origin. An unknown code is read as [`ErrorKind::Host`].
    #[must_use]
    pub fn unpack(self) -> (ErrorKind, Origin) {
        let kind = ErrorKind::from_code((self.0 & 0xff) as u8).unwrap_or(ErrorKind::Host);
        (kind, Origin { start: ((self.0 >> 8) & 0x00ff_ffff) as u32, end: (self.0 >> 32) as u32 })
    }
}
