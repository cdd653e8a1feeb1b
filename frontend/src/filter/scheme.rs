//! The scheme of a host: the fields, functions and lists that rules may name.

use super::function::FilterFunction;
use super::standard::standard_functions;
use super::types::{FilterType, MAX_TYPE_LAYERS};
use crate::similar::{listed, similar};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A field that rules may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterField {
    /// Its name: segments of letters, digits and `_`, with dots between them.
    pub name: Arc<str>,
    /// Its type.
    pub ty: FilterType,
    /// The value, for a field that stands for a constant (`true`). The host gives the values of all others.
    pub constant: Option<bool>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The field of this index.
    Field(u32),
    /// The function of this index.
    Function(u32),
}

/// The fields, functions and lists of a host, and how missing values compare.
///
/// ```
/// use celero_frontend::filter::{FilterOptions, FilterType, Scheme, check_filter};
///
/// let mut scheme = Scheme::new();
/// scheme.add_field("http.host", FilterType::Bytes).unwrap();
/// scheme.add_field("port", FilterType::Int).unwrap();
/// let checked = check_filter(r#"http.host eq "a" and port in {80 8000..8999}"#, &scheme.into(), &FilterOptions::default());
/// assert!(checked.is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scheme {
    fields: Vec<FilterField>,
    functions: Vec<FilterFunction>,
    names: HashMap<Arc<str>, Named>,
    lists: Vec<(FilterType, Arc<str>)>,
    open_lists: Vec<FilterType>,
    nil_not_equal: bool,
}

impl Scheme {
    /// A scheme with the [documented functions](standard_functions) and without fields and lists.
    #[must_use]
    pub fn new() -> Self {
        let mut scheme = Self::default();
        for function in standard_functions() {
            let index = index(scheme.functions.len());
            scheme.names.insert(Arc::clone(&function.name), Named::Function(index));
            scheme.functions.push(function);
        }
        scheme
    }

    /// Declares a field and returns its index.
    ///
    /// # Errors
    ///
    /// The name is taken or malformed, or the type has too many layers. The scheme is unchanged.
    pub fn add_field(&mut self, name: &str, ty: FilterType) -> Result<u32, SchemeError> {
        self.declare(name, ty, None)
    }

    /// Declares a field of type `Bool` that stands for a constant, such as Cloudflare's `true`.
    ///
    /// # Errors
    ///
    /// As [`add_field`](Self::add_field).
    pub fn add_constant(&mut self, name: &str, value: bool) -> Result<u32, SchemeError> {
        self.declare(name, FilterType::Bool, Some(value))
    }

    fn declare(&mut self, name: &str, ty: FilterType, constant: Option<bool>) -> Result<u32, SchemeError> {
        self.check_name(name)?;
        if ty.layers() > MAX_TYPE_LAYERS {
            return Err(SchemeError::TooManyLayers { name: name.into(), layers: ty.layers() });
        }
        let index = index(self.fields.len());
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name), Named::Field(index));
        self.fields.push(FilterField { name, ty, constant });
        Ok(index)
    }

    /// Declares a function of the host and returns its index.
    ///
    /// # Errors
    ///
    /// As [`add_field`](Self::add_field).
    pub fn add_function(&mut self, function: FilterFunction) -> Result<u32, SchemeError> {
        self.check_name(&function.name)?;
        let index = index(self.functions.len());
        self.names.insert(Arc::clone(&function.name), Named::Function(index));
        self.functions.push(function);
        Ok(index)
    }

    fn check_name(&self, name: &str) -> Result<(), SchemeError> {
        let word = |segment: &str| {
            !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if !name.split('.').all(word) {
            return Err(SchemeError::InvalidName(name.into()));
        }
        if self.names.contains_key(name) {
            return Err(SchemeError::NameTaken(name.into()));
        }
        Ok(())
    }

    /// Declares a list (`ip.src in $name`) of values of a type. Lists of different types may have one name.
    ///
    /// # Errors
    ///
    /// The name is malformed or taken for this type, or the type is not `Int`, `Ip` or `Bytes`.
    pub fn add_list(&mut self, name: &str, ty: FilterType) -> Result<(), SchemeError> {
        if !is_list_name(name) {
            return Err(SchemeError::InvalidName(name.into()));
        }
        if !is_listable(&ty) {
            return Err(SchemeError::NotListable(ty));
        }
        // A scheme that accepts every name can declare some of them.
        if self.lists.iter().any(|(known, list)| *known == ty && **list == *name) {
            return Err(SchemeError::NameTaken(name.into()));
        }
        self.lists.push((ty, name.into()));
        Ok(())
    }

    /// Accepts every name of a list of values of this type, for hosts that learn later which lists
    /// there are. A list that is not there when a rule is evaluated contains nothing.
    pub fn accept_any_list(&mut self, ty: FilterType) {
        if is_listable(&ty) && !self.open_lists.contains(&ty) {
            self.open_lists.push(ty);
        }
    }

    /// Accepts every name of a list, of values of every type that lists have.
    pub fn accept_all_lists(&mut self) {
        for ty in [FilterType::Bytes, FilterType::Int, FilterType::Ip] {
            self.accept_any_list(ty);
        }
    }

    /// Sets whether `!=` is true for a missing value. By default it is false, as Cloudflare
    /// documents; the library Wirefilter makes it true unless told otherwise.
    pub fn set_nil_not_equal(&mut self, value: bool) {
        self.nil_not_equal = value;
    }

    /// Whether `!=` is true for a missing value.
    #[must_use]
    pub fn nil_not_equal(&self) -> bool {
        self.nil_not_equal
    }

    /// The fields, by index.
    #[must_use]
    pub fn fields(&self) -> &[FilterField] {
        &self.fields
    }

    /// The functions, by index.
    #[must_use]
    pub fn functions(&self) -> &[FilterFunction] {
        &self.functions
    }

    /// The declared lists.
    pub fn lists(&self) -> impl Iterator<Item = (&str, &FilterType)> {
        self.lists.iter().map(|(ty, name)| (&**name, ty))
    }

    /// What a name stands for.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Named> {
        self.names.get(name).copied()
    }

    /// Whether `$name` is a list of values of a type.
    #[must_use]
    pub fn has_list(&self, name: &str, ty: &FilterType) -> bool {
        self.open_lists.contains(ty) || self.declares_list(name, ty)
    }

    /// Whether a list of this name and type is declared, by this name.
    pub(crate) fn declares_list(&self, name: &str, ty: &FilterType) -> bool {
        self.lists.iter().any(|(of, list)| of == ty && **list == *name)
    }

    /// The declared name that is most similar to an unknown one.
    pub(crate) fn similar_name(&self, name: &str) -> Option<&str> {
        let fields = self.fields.iter().map(|field| &*field.name);
        let names = || fields.clone().chain(self.functions.iter().map(|function| &*function.name));
        similar(name, names()).or_else(|| with_same_end(name, names()))
    }

    /// The lists of this type, in words.
    pub(crate) fn known_lists(&self, ty: &FilterType) -> String {
        let names: Vec<String> =
            self.lists.iter().filter(|(of, _)| of == ty).map(|(_, name)| format!("${name}")).collect();
        if names.is_empty() {
            return format!("there are no lists of type {ty}");
        }
        format!("the lists of type {ty} are {}", listed(names))
    }

    /// The list of this type whose name is most similar.
    pub(crate) fn similar_list(&self, name: &str, ty: &FilterType) -> Option<&str> {
        similar(name, self.lists.iter().filter(|(of, _)| of == ty).map(|(_, list)| &**list))
    }
}

/// The shortest name that ends with the segments of another one, or with the last of them; the first of several.
fn with_same_end<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let shared = |known: &str| {
        let pairs = known.rsplit('.').zip(name.rsplit('.'));
        pairs.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count()
    };
    let found = names.map(|known| (shared(known), known)).filter(|(shared, _)| *shared > 0);
    found.min_by_key(|(shared, known)| (std::cmp::Reverse(*shared), known.len())).map(|(_, known)| known)
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

pub(crate) fn is_listable(ty: &FilterType) -> bool {
    matches!(ty, FilterType::Int | FilterType::Ip | FilterType::Bytes)
}

/// Whether a text can stand after `$`: `a` to `z`, `0` to `9`, `_` and dots, which are neither first nor last.
pub(crate) fn is_list_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.'))
        && !name.starts_with('.')
        && !name.ends_with('.')
}

/// Why something cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemeError {
    /// A field, function or list of this name is declared already.
    NameTaken(Box<str>),
    /// The name is not of the form that rules can write.
    InvalidName(Box<str>),
    /// The type has too many arrays and maps in each other.
    TooManyLayers {
        /// The field.
        name: Box<str>,
        /// The number of layers.
        layers: u32,
    },
    /// There are no lists of values of this type.
    NotListable(FilterType),
}

impl fmt::Display for SchemeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken(name) => write!(f, "`{name}` is declared already"),
            Self::InvalidName(name) => {
                write!(f, "`{name}` is not a name: use letters, digits and `_`, with single dots inside")
            }
            Self::TooManyLayers { name, layers } => {
                write!(f, "the type of `{name}` has {layers} layers; the limit is {MAX_TYPE_LAYERS}")
            }
            Self::NotListable(ty) => write!(f, "there are no lists of type {ty}: use Int, Ip or Bytes"),
        }
    }
}

impl std::error::Error for SchemeError {}
