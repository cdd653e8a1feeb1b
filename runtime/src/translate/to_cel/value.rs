//! Values in CEL, and tests of those that may be missing.

use celero_frontend::Type;

/// Why a value may have no result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Failure {
    Never,
    /// It may be missing.
    Missing,
    /// It may fail in any way, which here is a missing value.
    Any,
}

/// A value in CEL.
#[derive(Clone)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) ty: Type,
    pub(super) failure: Failure,
    /// A condition that must hold for there to be a value: an index within a list.
    pub(super) guard: Option<String>,
    /// Whether it is text of a header, whose bytes may not be UTF-8. The values of variables and expressions are text
    /// in both languages.
    pub(super) may_be_invalid: bool,
    /// Whether it is the canonical text of an address.
    pub(super) is_address: bool,
    /// Whether `text` is a query, and the value its arguments by name.
    pub(super) is_query: bool,
}

impl Value {
    pub(super) fn new(text: String, ty: Type, failure: Failure) -> Self {
        Self { text, ty, failure, guard: None, may_be_invalid: false, is_address: false, is_query: false }
    }
}

/// A test of a value that is `missing` where there is no value.
pub(super) fn absorbed(value: &Value, test: &str, missing: bool) -> String {
    let test = match (&value.guard, missing) {
        (Some(guard), false) => format!("({guard} && {test})"),
        (Some(guard), true) => format!("(!({guard}) || {test})"),
        (None, _) => test.to_owned(),
    };
    match value.failure {
        Failure::Never => test,
        Failure::Missing => format!("default({test}, {missing})"),
        Failure::Any => format!("coalesce({test}, {missing})"),
    }
}

/// The address that a value is, of type `net.IP`.
pub(super) fn address_of(value: &Value) -> String {
    if value.ty == Type::String { format!("ip({})", value.text) } else { value.text.clone() }
}
