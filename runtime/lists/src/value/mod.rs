//! Values of entries. [`EntryValue`]: the value of one entry, before it is stored; `types.rs`: what a list allows;
//! `rows.rs`: how they are stored.

mod rows;
mod types;

pub use rows::Row;
pub(crate) use rows::{RowNumbers, Rows, RowsBuilder};
pub use types::{Field, ListType, MAX_FIELDS, ScalarType, ValueType};

use std::fmt;
use std::sync::Arc;

/// Longest text of a value, in bytes.
pub const MAX_VALUE_BYTES: usize = 4096;

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Scalar {
    /// A text.
    Text(Box<str>),
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
}

/// The value of a field, as a snapshot holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ScalarRef<'a> {
    /// A text.
    Text(&'a str),
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
}

impl Scalar {
    /// Reads a value of this type. An integer is written in decimal digits, a boolean as `true` or `false`.
    ///
    /// # Errors
    /// Why it is none, without the text itself.
    pub fn parse(ty: ScalarType, text: &str) -> Result<Self, String> {
        match ty {
            ScalarType::Text => {
                let long = || format!("{} bytes long, more than the limit of {MAX_VALUE_BYTES}", text.len());
                if text.len() > MAX_VALUE_BYTES { Err(long()) } else { Ok(Self::Text(text.into())) }
            }
            ScalarType::Int => text.trim().parse().map(Self::Int).map_err(|_| "not an integer of 64 bits".to_owned()),
            ScalarType::Bool => match text.trim() {
                "true" => Ok(Self::Bool(true)),
                "false" => Ok(Self::Bool(false)),
                _ => Err("neither true nor false".to_owned()),
            },
        }
    }

    /// Returns the value, borrowed.
    #[must_use]
    pub fn as_ref(&self) -> ScalarRef<'_> {
        match self {
            Self::Text(text) => ScalarRef::Text(text),
            Self::Int(number) => ScalarRef::Int(*number),
            Self::Bool(truth) => ScalarRef::Bool(*truth),
        }
    }

    /// Its type.
    pub(crate) fn ty(&self) -> ScalarType {
        match self {
            Self::Text(_) => ScalarType::Text,
            Self::Int(_) => ScalarType::Int,
            Self::Bool(_) => ScalarType::Bool,
        }
    }
}

impl ScalarRef<'_> {
    /// Returns the value, owned.
    #[must_use]
    pub fn to_owned(self) -> Scalar {
        match self {
            Self::Text(text) => Scalar::Text(text.into()),
            Self::Int(number) => Scalar::Int(number),
            Self::Bool(truth) => Scalar::Bool(truth),
        }
    }
}

impl fmt::Display for ScalarRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Int(number) => number.fmt(f),
            Self::Bool(truth) => truth.fmt(f),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Scalar {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for Scalar {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for Scalar {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

/// The value of an entry, for [`Change::insert_value`](crate::Change::insert_value) and
/// [`Entries::insert`](crate::Entries::insert): nothing, one scalar, or fields by name.
///
/// ```
/// use celero_lists::EntryValue;
///
/// let nothing = EntryValue::default();
/// let scalar = EntryValue::from("gold");
/// let fields = EntryValue::from([("country", "DE".into()), ("asn", 3320.into())]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryValue(Parts);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Parts {
    #[default]
    Nothing,
    Scalar(Scalar),
    Fields(Vec<(String, Scalar)>),
}

impl<S: Into<Scalar>> From<S> for EntryValue {
    fn from(scalar: S) -> Self {
        Self(Parts::Scalar(scalar.into()))
    }
}

impl<N: Into<String>> FromIterator<(N, Scalar)> for EntryValue {
    fn from_iter<I: IntoIterator<Item = (N, Scalar)>>(fields: I) -> Self {
        Self(Parts::Fields(fields.into_iter().map(|(name, scalar)| (name.into(), scalar)).collect()))
    }
}

impl<const FIELDS: usize> From<[(&str, Scalar); FIELDS]> for EntryValue {
    fn from(fields: [(&str, Scalar); FIELDS]) -> Self {
        fields.into_iter().collect()
    }
}

/// What a value is not, and the field that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongValue {
    pub(crate) field: Option<String>,
    pub(crate) reason: String,
}

impl WrongValue {
    #[cfg(feature = "files")]
    pub(crate) fn of(field: &Field, reason: String) -> Self {
        Self { field: Some(field.name.to_string()), reason }
    }
}

impl From<String> for WrongValue {
    fn from(reason: String) -> Self {
        Self { field: None, reason }
    }
}

/// The value of an entry of a known type: a scalar for each field that it has. Empty in lists without values.
pub(crate) type Cells = Arc<[Option<Scalar>]>;

impl EntryValue {
    /// The value as one of a list whose entries carry `ty`.
    pub(crate) fn typed(self, ty: Option<&ValueType>) -> Result<Cells, WrongValue> {
        let wrong = |field: Option<&str>, reason: String| WrongValue { field: field.map(str::to_owned), reason };
        let Some(ty) = ty else {
            return match self.0 {
                Parts::Nothing => Ok(Cells::default()),
                _ => Err(wrong(None, "the entries of this list carry no values".to_owned())),
            };
        };
        let mut cells = vec![None; ty.fields().len()];
        let fields = match (self.0, ty.scalar()) {
            (Parts::Nothing, _) => Vec::new(),
            (Parts::Scalar(_), None) => {
                return Err(wrong(None, format!("a value of this list has the fields {}", ty.field_names())));
            }
            (Parts::Scalar(scalar), Some(_)) => vec![("value".to_owned(), scalar)],
            (Parts::Fields(fields), _) => fields,
        };
        for (name, scalar) in fields {
            let Some((number, wanted)) = ty.field(&name) else {
                let known = match ty.scalar() {
                    Some(scalar) => format!("a value of this list is {}", article(scalar)),
                    None => format!("there is no field `{name}`; there are {}", ty.field_names()),
                };
                return Err(wrong(None, known));
            };
            if scalar.ty() != wanted {
                return Err(wrong(Some(&name), format!("not {}", article(wanted))));
            }
            if let Scalar::Text(text) = &scalar {
                Scalar::parse(wanted, text).map_err(|reason| wrong(Some(&name), reason))?;
            }
            if let Some(cell) = cells.get_mut(number as usize) {
                *cell = Some(scalar);
            }
        }
        complete(ty, cells.into())
    }
}

/// The cells, if they are the value of an entry: a scalar is not left out.
pub(crate) fn complete(ty: &ValueType, cells: Cells) -> Result<Cells, WrongValue> {
    match ty.scalar() {
        Some(scalar) if cells.iter().all(Option::is_none) => {
            Err(format!("no value: an entry of this list carries {}", article(scalar)).into())
        }
        _ => Ok(cells),
    }
}

/// Whether the entries of a list carry values of these cells: one for each field, of its type and length.
pub(crate) fn is_value(ty: &ListType, cells: &[Option<Scalar>]) -> bool {
    let Some(values) = ty.values() else { return cells.is_empty() };
    let is_cell = |(field, cell): (&Field, &Option<Scalar>)| match cell {
        Some(Scalar::Text(text)) => field.ty() == ScalarType::Text && text.len() <= MAX_VALUE_BYTES,
        Some(scalar) => scalar.ty() == field.ty(),
        None => values.scalar().is_none(),
    };
    cells.len() == values.fields().len() && values.fields().iter().zip(cells).all(is_cell)
}

/// A type in words.
pub(crate) fn article(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Text => "a string",
        ScalarType::Int => "an int",
        ScalarType::Bool => "a bool",
    }
}
