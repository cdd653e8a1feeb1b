//! Values of the filter language, and the host that gives them.

use celero_frontend::filter::FilterType;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A value of the filter language. It owns its data: this is what the interpreter computes with,
/// not what a request is read into on a fast path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterValue {
    /// `Bool`
    Bool(bool),
    /// `Int`
    Int(i64),
    /// `Ip`. An IPv4-mapped IPv6 address stays one.
    Ip(IpAddr),
    /// `Bytes`
    Bytes(Vec<u8>),
    /// `Array<T>`
    Array(Vec<FilterValue>),
    /// `Map<T>`
    Map(BTreeMap<Vec<u8>, FilterValue>),
}

impl FilterValue {
    /// Returns whether the value, with all values in it, is of a type.
    #[must_use]
    pub fn is_of(&self, ty: &FilterType) -> bool {
        match (self, ty) {
            (Self::Bool(_), FilterType::Bool)
            | (Self::Int(_), FilterType::Int)
            | (Self::Ip(_), FilterType::Ip)
            | (Self::Bytes(_), FilterType::Bytes) => true,
            (Self::Array(values), FilterType::Array(element)) => values.iter().all(|value| value.is_of(element)),
            (Self::Map(values), FilterType::Map(element)) => values.values().all(|value| value.is_of(element)),
            _ => false,
        }
    }

    /// The bytes of a byte string.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The number of bytes of a value that are copied with it, about.
    pub(super) fn size(&self) -> usize {
        let own = size_of::<Self>();
        match self {
            Self::Bytes(bytes) => own.saturating_add(bytes.len()),
            Self::Array(values) => values.iter().map(Self::size).fold(own, usize::saturating_add),
            Self::Map(values) => values
                .iter()
                .map(|(key, value)| key.len().saturating_add(value.size()))
                .fold(own, usize::saturating_add),
            _ => own,
        }
    }
}

impl From<bool> for FilterValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for FilterValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<IpAddr> for FilterValue {
    fn from(value: IpAddr) -> Self {
        Self::Ip(value)
    }
}

impl From<&str> for FilterValue {
    fn from(value: &str) -> Self {
        Self::Bytes(value.into())
    }
}

impl From<Vec<u8>> for FilterValue {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl<T: Into<FilterValue>> FromIterator<T> for FilterValue {
    /// An array.
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::Array(values.into_iter().map(Into::into).collect())
    }
}

/// What a host gives for one evaluation.
///
/// A value of another type than declared counts as missing.
pub trait FilterHost {
    /// The value of a field, by its index in the scheme; `None` if it is missing.
    fn field(&self, index: u32) -> Option<&FilterValue>;

    /// Whether a list of the host contains a value. A list that does not exist contains nothing.
    fn list_contains(&self, list: &str, value: &FilterValue) -> bool {
        let _ = (list, value);
        false
    }

    /// The result of a function of the host, by its index in the scheme, or of a documented
    /// function that only a host can compute (`is_jwt_valid`, `bit_slice`). Missing arguments are
    /// `None`.
    fn call(&self, function: u32, args: &[Option<&FilterValue>]) -> Option<FilterValue> {
        let _ = (function, args);
        None
    }
}
