//! [`ValueType`]: what the entries of a list carry. [`ListType`]: a kind, and a type of values if
//! its entries carry any.
//!
//! Invariant: a value is checked against the type of its list before it is stored. A list never changes its type. Test:
//! `runtime/lists/tests/lists.rs::a_value_of_another_type_changes_nothing`.

use crate::kind::Kind;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Most fields that the value of an entry has.
pub const MAX_FIELDS: usize = 32;
/// Longest name of a field, in bytes.
const MAX_FIELD_NAME_BYTES: usize = 64;
/// What else is written beside an entry in files.
const OTHER_COLUMNS: [&str; 2] = ["entry", "expires"];

/// The type of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScalarType {
    /// A text: `string`.
    Text,
    /// An integer of 64 bits: `int`.
    Int,
    /// `bool`.
    Bool,
}

impl ScalarType {
    /// All types.
    pub const ALL: [Self; 3] = [Self::Text, Self::Int, Self::Bool];

    /// Returns the name, as in CEL: `string`, `int`, `bool`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Int => "int",
            Self::Bool => "bool",
        }
    }

    /// Returns the type of a [name](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }
}

/// A field of the values of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    pub(crate) name: Arc<str>,
    pub(crate) ty: ScalarType,
}

impl Field {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns its type.
    #[must_use]
    pub fn ty(&self) -> ScalarType {
        self.ty
    }
}

/// The type of the values that the entries of a list carry: one scalar, or a flat struct of named ones.
///
/// Written `string`, `int` or `bool`; or `{country: string, asn: int}`. A scalar is in files, and
/// where fields are numbered, the only field, `value`. An entry has its scalar; of a struct it may
/// leave out fields.
///
/// ```
/// use celero_lists::{ScalarType, ValueType};
///
/// let ty: ValueType = "{country: string, asn: int}".parse()?;
/// assert_eq!(ty.field("asn"), Some((1, ScalarType::Int)));
/// assert_eq!(ty, ValueType::of_fields([("country", ScalarType::Text), ("asn", ScalarType::Int)])?);
/// assert_eq!(ty.to_string(), "{country: string, asn: int}");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueType {
    fields: Arc<[Field]>,
    is_struct: bool,
}

impl ValueType {
    /// Returns the type of values that are one scalar.
    #[must_use]
    pub fn of_scalar(ty: ScalarType) -> Self {
        Self { fields: [Field { name: "value".into(), ty }].into(), is_struct: false }
    }

    /// Returns the type of values with these fields.
    ///
    /// # Errors
    /// There is none, or more than [`MAX_FIELDS`]; two have one name; or a name is none: letters,
    /// digits and `_`, no digit first, at most 64 bytes, neither `entry` nor `expires`, which files
    /// have beside the fields.
    pub fn of_fields<N: AsRef<str>>(fields: impl IntoIterator<Item = (N, ScalarType)>) -> Result<Self, String> {
        let mut own: Vec<Field> = Vec::new();
        for (name, ty) in fields {
            let name = name.as_ref();
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !name.chars().all(is_name) {
                return Err(format!("{name:?} is no name of a field: letters, digits and `_`, no digit first"));
            }
            if name.len() > MAX_FIELD_NAME_BYTES {
                return Err(format!("the name {name:?} is longer than {MAX_FIELD_NAME_BYTES} bytes"));
            }
            if OTHER_COLUMNS.contains(&name) {
                return Err(format!("no field is named `{name}`: in files that is a column of its own"));
            }
            if own.iter().any(|other| &*other.name == name) {
                return Err(format!("two fields are named `{name}`"));
            }
            own.push(Field { name: name.into(), ty });
        }
        match own.len() {
            0 => Err("values have at least one field".to_owned()),
            many if many > MAX_FIELDS => Err(format!("{many} fields, more than the limit of {MAX_FIELDS}")),
            _ => Ok(Self { fields: own.into(), is_struct: true }),
        }
    }

    /// Returns the type of the scalar; `None` if values are structs.
    #[must_use]
    pub fn scalar(&self) -> Option<ScalarType> {
        if self.is_struct { None } else { self.fields.first().map(Field::ty) }
    }

    /// Returns the fields in their order: the numbers of fields count them from 0. Of a scalar, the one field `value`.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the number and the type of a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<(u32, ScalarType)> {
        let (number, field) = (0..).zip(&*self.fields).find(|(_, field)| &*field.name == name)?;
        Some((number, field.ty))
    }

    /// Returns the names of the fields with commas between them.
    #[must_use]
    pub fn field_names(&self) -> String {
        self.fields.iter().map(|field| &*field.name).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(ty) = self.scalar() {
            return f.write_str(ty.name());
        }
        for (index, field) in self.fields.iter().enumerate() {
            let before = if index == 0 { "{" } else { ", " };
            write!(f, "{before}{}: {}", field.name, field.ty.name())?;
        }
        f.write_str("}")
    }
}

impl FromStr for ValueType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let scalar = |name: &str| {
            let name = name.trim();
            ScalarType::from_name(name).ok_or_else(|| format!("{name:?} is no type of values: string, int or bool"))
        };
        let Some(inner) = text.strip_prefix('{') else { return scalar(text).map(Self::of_scalar) };
        let inner = inner.strip_suffix('}').ok_or("the fields are not closed with `}`")?.trim();
        let fields = inner.split(',').filter(|_| !inner.is_empty()).map(|field| {
            let (name, ty) = field
                .split_once(':')
                .ok_or_else(|| format!("{:?} is not a field with its type, as `country: string`", field.trim()))?;
            Ok((name.trim(), scalar(ty)?))
        });
        Self::of_fields(fields.collect::<Result<Vec<_>, String>>()?)
    }
}

/// What the entries of a list are, and what they carry. Written as the name of the kind; with
/// values `addresses:{country: string, asn: int}` or `texts:int`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListType {
    kind: Kind,
    values: Option<ValueType>,
}

impl ListType {
    /// Returns the type of lists of this kind whose entries carry values, if there is a type of values.
    #[must_use]
    pub fn new(kind: Kind, values: Option<ValueType>) -> Self {
        Self { kind, values }
    }

    /// Returns what the entries are.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns what the entries carry; `None` if nothing.
    #[must_use]
    pub fn values(&self) -> Option<&ValueType> {
        self.values.as_ref()
    }
}

impl From<Kind> for ListType {
    fn from(kind: Kind) -> Self {
        Self { kind, values: None }
    }
}

impl From<&ListType> for ListType {
    fn from(ty: &ListType) -> Self {
        ty.clone()
    }
}

impl fmt::Display for ListType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        self.values.as_ref().map_or(Ok(()), |values| write!(f, ":{values}"))
    }
}

impl FromStr for ListType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, values) = match text.split_once(':') {
            Some((kind, values)) => (kind, Some(values.parse()?)),
            None => (text, None),
        };
        let unknown = || format!("{kind:?} is no kind of lists: {}", Kind::ALL.map(Kind::name).join(", "));
        Ok(Self { kind: Kind::from_name(kind.trim()).ok_or_else(unknown)?, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_they_are_shown() {
        for text in ["string", "int", "bool", "{country: string}", "{country: string, asn: int, eu: bool, _x1: int}"] {
            assert_eq!(text.parse::<ValueType>().map(|ty| ty.to_string()).as_deref(), Ok(text));
            for kind in Kind::ALL {
                let text = format!("{kind}:{text}");
                assert_eq!(text.parse::<ListType>().map(|ty| ty.to_string()), Ok(text));
            }
        }
        assert_eq!("hosts".parse(), Ok(ListType::from(Kind::Hosts)));
        assert_eq!(
            " {a:int , b : bool} ".parse::<ValueType>().map(|ty| ty.to_string()).as_deref(),
            Ok("{a: int, b: bool}")
        );
    }

    #[test]
    fn what_is_no_type_says_why() {
        let many: Vec<String> = (0..=MAX_FIELDS).map(|n| format!("f{n}: int")).collect();
        for (text, reason) in [
            ("addresses:text", "\"text\" is no type of values: string, int or bool"),
            (
                "networks",
                "\"networks\" is no kind of lists: addresses, texts, textsIgnoringCase, hosts, integers, patterns, wildcards",
            ),
            ("texts:{}", "at least one field"),
            ("texts:{a: int", "not closed"),
            ("texts:{a}", "\"a\" is not a field with its type"),
            ("texts:{a: int,}", "\"\" is not a field with its type"),
            ("texts:{a: int, a: bool}", "two fields are named `a`"),
            ("texts:{1a: int}", "no digit first"),
            ("texts:{a-b: int}", "\"a-b\" is no name of a field"),
            ("texts:{expires: int}", "a column of its own"),
            ("texts:{a: {b: int}}", "is no type of values"),
            (&format!("texts:{{{}}}", many.join(",")), "33 fields, more than the limit of 32"),
            (&format!("texts:{{{}: int}}", "x".repeat(65)), "longer than 64 bytes"),
        ] {
            assert!(text.parse::<ListType>().is_err_and(|error| error.contains(reason)), "{text}");
        }
    }
}
