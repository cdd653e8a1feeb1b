//! The types of the filter language: `Bool`, `Int`, `Ip`, `Bytes`, `Array<T>`, `Map<T>`.

use crate::types::Type;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Deepest nesting of arrays and maps in a type, Wirefilter's.
pub const MAX_TYPE_LAYERS: u32 = 32;

/// A type of the filter language. Text is [`Bytes`](Self::Bytes), which need not be UTF-8. Cheap to clone.
///
/// `Display` and `FromStr` use Wirefilter's notation: `Map<Array<Bytes>>`.
///
/// ```
/// use celero_frontend::filter::FilterType;
///
/// let headers: FilterType = "Map<Array<Bytes>>".parse().unwrap();
/// assert_eq!(headers.element().unwrap().to_string(), "Array<Bytes>");
/// assert_eq!(headers.to_json(), r#"{"Map":{"Array":"Bytes"}}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FilterType {
    /// True or false.
    Bool,
    /// 64 bit signed integer.
    Int,
    /// IPv4 or IPv6 address.
    Ip,
    /// A byte string.
    Bytes,
    /// A list of values of one type.
    Array(Arc<FilterType>),
    /// Values of one type under keys, which are byte strings. The entries are ordered by key.
    Map(Arc<FilterType>),
}

impl FilterType {
    /// `Array<element>`
    #[must_use]
    pub fn array(element: Self) -> Self {
        Self::Array(Arc::new(element))
    }

    /// `Map<value>`
    #[must_use]
    pub fn map(value: Self) -> Self {
        Self::Map(Arc::new(value))
    }

    /// The type of the elements of an array or the values of a map.
    #[must_use]
    pub fn element(&self) -> Option<&Self> {
        match self {
            Self::Array(inner) | Self::Map(inner) => Some(inner),
            _ => None,
        }
    }

    /// Returns whether this is `Array<Bool>`, the type of a comparison of many values.
    #[must_use]
    pub fn is_bool_array(&self) -> bool {
        matches!(self, Self::Array(inner) if **inner == Self::Bool)
    }

    /// The number of arrays and maps around the innermost type.
    #[must_use]
    pub fn layers(&self) -> u32 {
        let mut layers = 0u32;
        let mut ty = self;
        while let Some(inner) = ty.element() {
            layers = layers.saturating_add(1);
            ty = inner;
        }
        layers
    }

    /// The type as JSON, in Wirefilter's notation: `"Bytes"`, `{"Array":"Bytes"}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::Array(inner) => format!("{{\"Array\":{}}}", inner.to_json()),
            Self::Map(inner) => format!("{{\"Map\":{}}}", inner.to_json()),
            simple => format!("\"{simple}\""),
        }
    }
}

/// The type that values of the filter language have for hosts, as of results and of fields: byte
/// strings are `bytes`, addresses `net.IP`.
///
/// ```
/// use celero_frontend::Type;
/// use celero_frontend::filter::FilterType;
///
/// assert_eq!(Type::from(&FilterType::map(FilterType::Bytes)).to_string(), "map(string, bytes)");
/// ```
impl From<&FilterType> for Type {
    fn from(ty: &FilterType) -> Self {
        match ty {
            FilterType::Bool => Self::Bool,
            FilterType::Int => Self::Int,
            FilterType::Ip => Self::Opaque("net.IP".into(), [].into()),
            FilterType::Bytes => Self::Bytes,
            FilterType::Array(element) => Self::list(Self::from(&**element)),
            FilterType::Map(element) => Self::map(Self::String, Self::from(&**element)),
        }
    }
}

impl fmt::Display for FilterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("Bool"),
            Self::Int => f.write_str("Int"),
            Self::Ip => f.write_str("Ip"),
            Self::Bytes => f.write_str("Bytes"),
            Self::Array(inner) => write!(f, "Array<{inner}>"),
            Self::Map(inner) => write!(f, "Map<{inner}>"),
        }
    }
}

/// The text is not a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAType;

impl fmt::Display for NotAType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not a type: expected Bool, Int, Ip, Bytes, Array<T> or Map<T>, at most {MAX_TYPE_LAYERS} layers deep"
        )
    }
}

impl std::error::Error for NotAType {}

impl FromStr for FilterType {
    type Err = NotAType;

    fn from_str(text: &str) -> Result<Self, NotAType> {
        let mut layers = Vec::new();
        let mut rest = text;
        loop {
            let array = rest.strip_prefix("Array<");
            let Some(inner) = array.or_else(|| rest.strip_prefix("Map<")) else { break };
            layers.push(array.is_some());
            rest = inner.strip_suffix('>').ok_or(NotAType)?;
            if layers.len() > MAX_TYPE_LAYERS as usize {
                return Err(NotAType);
            }
        }
        let mut ty = match rest {
            "Bool" => Self::Bool,
            "Int" => Self::Int,
            "Ip" => Self::Ip,
            "Bytes" => Self::Bytes,
            _ => return Err(NotAType),
        };
        for array in layers.into_iter().rev() {
            ty = if array { Self::array(ty) } else { Self::map(ty) };
        }
        Ok(ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_is_read_as_written() {
        for text in ["Bool", "Int", "Ip", "Bytes", "Array<Bytes>", "Map<Array<Int>>", "Array<Array<Map<Ip>>>"] {
            assert_eq!(text.parse::<FilterType>().unwrap().to_string(), text);
        }
        for text in ["", "bool", "Array", "Array<", "Array<Bytes", "Array<Bytes>>", "Map<>", "Array<Bool> "] {
            assert_eq!(text.parse::<FilterType>(), Err(NotAType), "{text}");
        }
        let deep = |layers: usize| "Array<".repeat(layers) + "Int" + &">".repeat(layers);
        assert_eq!(deep(32).parse::<FilterType>().unwrap().layers(), 32);
        assert_eq!(deep(33).parse::<FilterType>(), Err(NotAType));
        assert_eq!(deep(100_000).parse::<FilterType>(), Err(NotAType));
    }
}
