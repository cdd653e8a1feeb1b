//! The types of CEL (language definition, "Gradual Type Checking"), as rule authors write and read them.

use std::fmt;
use std::sync::Arc;

/// Deepest nesting of a type in a checked tree: recursive walks over a type (printing, comparing,
/// dropping) then need no stack of their own.
pub(crate) const MAX_TYPE_DEPTH: u32 = 64;

/// Most parts of a type in a checked tree.
pub(crate) const MAX_TYPE_PARTS: u32 = 1024;

/// A type. Cheap to clone; equality is structural. Those of a checked tree are nested at most 64
/// deep and have at most 1,024 parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// The type of what already has a diagnostic: compatible with everything, never reported again.
    Error,
    /// Known only at evaluation.
    Dyn,
    /// `null_type`
    Null,
    /// `bool`
    Bool,
    /// `int`, 64 bit signed
    Int,
    /// `uint`, 64 bit unsigned
    Uint,
    /// `double`, IEEE 754 binary64
    Double,
    /// `string`, Unicode code points
    String,
    /// `bytes`
    Bytes,
    /// `google.protobuf.Duration`, nanoseconds in 64 bit
    Duration,
    /// `google.protobuf.Timestamp`, year 1 to 9999, nanoseconds
    Timestamp,
    /// `type(T)`: the type of a type
    Type(Arc<Type>),
    /// `list(T)`
    List(Arc<Type>),
    /// `map(K, V)`
    Map(Arc<(Type, Type)>),
    /// `optional_type(T)`
    Optional(Arc<Type>),
    /// `wrapper(T)`: `T` or null. Of a primitive type, a `google.protobuf` wrapper. The checker
    /// infers others where null is mixed with durations, optionals and the like; the language has
    /// no name for these and writes plain `T`.
    Wrapper(Arc<Type>),
    /// A named type of a library or a host (`net.IP`), or a message.
    Opaque(Arc<str>, Arc<[Type]>),
    /// A type parameter of a declaration, `A`.
    Param(Arc<str>),
    /// An inference variable; only inside the checker.
    Var(u32),
}

impl Type {
    /// `list(element)`
    #[must_use]
    pub fn list(element: Type) -> Self {
        Self::List(Arc::new(element))
    }

    /// `map(key, value)`
    #[must_use]
    pub fn map(key: Type, value: Type) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    /// `optional_type(inner)`
    #[must_use]
    pub fn optional(inner: Type) -> Self {
        Self::Optional(Arc::new(inner))
    }

    /// The name of the type of all messages, which only functions of the library have as the type of a parameter.
    pub const ANY_MESSAGE: &str = "google.protobuf.Message";

    /// The messages of this full name.
    #[must_use]
    pub fn message(name: &str) -> Self {
        Self::Opaque(name.into(), Arc::new([]))
    }

    /// Whether this is a type that `google.protobuf` has a wrapper for.
    #[must_use]
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::Bool | Self::Int | Self::Uint | Self::Double | Self::String | Self::Bytes)
    }

    /// Whether `null` is assignable to the type (language definition, "Gradual Type Checking").
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        matches!(
            self,
            Self::Null | Self::Wrapper(_) | Self::Opaque(..) | Self::Duration | Self::Timestamp | Self::Optional(_)
        )
    }

    /// Whether the type has no parts, and stands for no other.
    pub(crate) fn is_leaf(&self) -> bool {
        match self {
            Self::Type(_) | Self::List(_) | Self::Map(_) | Self::Optional(_) | Self::Wrapper(_) | Self::Var(_) => false,
            Self::Opaque(_, params) => params.is_empty(),
            _ => true,
        }
    }

    /// Whether a node of a checked tree may have this type: bounded, without errors, parameters and
    /// inference variables.
    pub(crate) fn is_concrete(&self) -> bool {
        let mut parts = 0;
        self.is_concrete_at(1, &mut parts)
    }

    fn is_concrete_at(&self, depth: u32, parts: &mut u32) -> bool {
        *parts = parts.saturating_add(1);
        if depth > MAX_TYPE_DEPTH || *parts > MAX_TYPE_PARTS {
            return false;
        }
        let below = depth.saturating_add(1);
        match self {
            Self::Error | Self::Param(_) | Self::Var(_) => false,
            Self::Type(t) | Self::List(t) | Self::Optional(t) | Self::Wrapper(t) => t.is_concrete_at(below, parts),
            Self::Map(kv) => kv.0.is_concrete_at(below, parts) && kv.1.is_concrete_at(below, parts),
            Self::Opaque(_, params) => params.iter().all(|t| t.is_concrete_at(below, parts)),
            _ => true,
        }
    }

    /// Whether this is `dyn` or the error type.
    #[must_use]
    pub fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => f.write_str("!error!"),
            Self::Dyn => f.write_str("dyn"),
            Self::Null => f.write_str("null_type"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Uint => f.write_str("uint"),
            Self::Double => f.write_str("double"),
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Duration => f.write_str("google.protobuf.Duration"),
            Self::Timestamp => f.write_str("google.protobuf.Timestamp"),
            Self::Type(t) => write!(f, "type({t})"),
            Self::List(t) => write!(f, "list({t})"),
            Self::Map(kv) => write!(f, "map({}, {})", kv.0, kv.1),
            Self::Optional(t) => write!(f, "optional_type({t})"),
            Self::Wrapper(t) if t.is_primitive() => write!(f, "wrapper({t})"),
            Self::Wrapper(t) => write!(f, "{t}"),
            Self::Opaque(n, p) if p.is_empty() => f.write_str(n),
            Self::Opaque(n, p) => {
                write!(f, "{n}(")?;
                for (i, t) in p.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{t}")?;
                }
                f.write_str(")")
            }
            Self::Param(n) => f.write_str(n),
            Self::Var(_) => f.write_str("_"),
        }
    }
}
