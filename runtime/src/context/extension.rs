//! [`Extension`]: data of a type that a context does not name, whose fields rules read beside those of the context.
//!
//! Invariant: native code that reads fields of one type in place never runs with data of another type. Test:
//! `runtime/tests/it/extensions.rs::rules_run_with_the_type_that_they_were_compiled_for`.

use super::describe::{Field, read_by_call};
use super::{Context, Host};
use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::Domain;
use std::any::TypeId;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Data of a type that is chosen when rules are compiled, as a field of a context. For libraries
/// that run rules about their own data, and let the program that uses them add its own.
///
/// The library puts an extension into its context, with `#[context(flatten)]`, and declares its
/// fields with [`Env::extend`](crate::Env::extend). Native code then reads them in place, as it
/// reads those of the context. Rules whose environment has no extension ignore it.
///
/// ```
/// use celero::host::{Extension, ExtensionFields};
/// use celero::{Context, Engine, Env};
/// use std::sync::Arc;
///
/// // The library's.
/// #[derive(Context)]
/// struct Call {
///     path: String,
///     #[context(flatten)]
///     extension: Extension,
/// }
///
/// // The program's.
/// #[derive(Context)]
/// struct Tenant {
///     plan: String,
/// }
///
/// let env = Env::<Call>::new().extend(&ExtensionFields::of::<Tenant>().with_prefix("tenant"));
/// let rule = Engine::new().compile(&env, "path.startsWith('/api') && tenant.plan == 'pro'")?;
/// let tenant = Arc::new(Tenant { plan: "pro".into() });
/// assert!(rule.test(&Call { path: "/api/v1".into(), extension: Extension::new(tenant) })?);
/// // Without data of the type that the rule was compiled for, its result is the error `host`.
/// assert!(rule.test(&Call { path: "/api/v1".into(), extension: Extension::default() }).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Extension {
    /// The address of the data, which native code reads; 0 if there is none.
    pub(super) address: usize,
    data: Option<Arc<dyn Host + Send + Sync>>,
    shape: Option<Shape>,
}

/// What an extension consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A value of a type.
    Of(TypeId),
    /// Values of variables that were declared at run time. The fingerprint of their names and types.
    Declared(u64),
}

/// Where a type has an extension. Generated code asks it, because an extension that is not found does nothing.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtensionPlace {
    /// Nowhere.
    None,
    /// Where it is found, if the field is nested or flattened.
    Found,
    /// In an option or a newtype, where it is not found.
    Hidden,
}

impl ExtensionPlace {
    /// The place in a type that has these parts.
    #[must_use]
    pub const fn first(parts: &[Self]) -> Self {
        match parts {
            [] => Self::None,
            [Self::None, others @ ..] => Self::first(others),
            [place, ..] => *place,
        }
    }

    /// The place in an option or a newtype of the type.
    #[must_use]
    pub const fn hidden(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Found | Self::Hidden => Self::Hidden,
        }
    }
}

impl Extension {
    /// Returns an extension with this data.
    #[must_use]
    pub fn new<E: Context + Send + Sync + 'static>(data: Arc<E>) -> Self {
        // The address stays the same for as long as the `Arc` is kept.
        Self {
            address: Arc::as_ptr(&data).expose_provenance(),
            shape: Some(Shape::Of(TypeId::of::<E>())),
            data: Some(data),
        }
    }

    /// Returns an extension with values for [declared](ExtensionFields::declared) fields: `data`
    /// gives each by its index. It is empty if the fields are those of a type.
    #[must_use]
    pub fn of_declared(fields: &ExtensionFields, data: Arc<dyn Host + Send + Sync>) -> Self {
        match fields.shape {
            // Native code would read `data` as a value of that type.
            Shape::Of(_) => Self::default(),
            shape @ Shape::Declared(_) => Self { address: 0, data: Some(data), shape: Some(shape) },
        }
    }

    /// Returns whether rules that were compiled with these fields can be evaluated with it. Declared
    /// fields without any data are absent.
    #[must_use]
    pub fn has(&self, fields: &ExtensionFields) -> bool {
        self.is_for(Some(fields.shape))
    }

    /// Whether rules can be evaluated that were compiled for an extension of this shape.
    #[inline]
    pub(crate) fn is_for(&self, wanted: Option<Shape>) -> bool {
        match wanted {
            None => true,
            Some(Shape::Declared(_)) if self.shape.is_none() => true,
            wanted => self.shape == wanted,
        }
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl Host for Extension {
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.data.as_ref().map_or(Ok(None), |data| data.field(index, arena))
    }
}

/// The fields of an [`Extension`], for [`Env::extend`](crate::Env::extend).
#[derive(Clone, Debug)]
pub struct ExtensionFields {
    pub(crate) shape: Shape,
    pub(crate) fields: Vec<Field>,
}

impl ExtensionFields {
    /// Returns the fields of a type, which native code reads in place as far as their types allow.
    #[must_use]
    pub fn of<E: Context + Send + Sync + 'static>() -> Self {
        Self { shape: Shape::Of(TypeId::of::<E>()), fields: E::fields() }
    }

    /// Returns fields with these names and types, whose values are given by
    /// [`Extension::of_declared`]. A field without a value is absent, whether it is declared as
    /// optional or not; the compiler relies on that only for the optional ones, so declare fields
    /// as optional unless the rules are only checked.
    #[must_use]
    pub fn declared(variables: impl IntoIterator<Item = (String, Type, bool)>) -> Self {
        let (mut hasher, mut fields) = (DefaultHasher::new(), Vec::new());
        for (name, ty, optional) in variables {
            (&name, &ty).hash(&mut hasher);
            fields.push(Field { name, ty, layout: read_by_call(optional) });
        }
        Self { shape: Shape::Declared(hasher.finish()), fields }
    }

    /// Returns fields of the same names, types and bounds, whose values are given by
    /// [`Extension::of_declared`]. `optional` decides of each field whether it may be absent; it is
    /// asked with whether it may be now.
    #[must_use]
    pub fn by_name(&self, optional: impl Fn(bool) -> bool) -> Self {
        let of_field = |field: &Field| (field.name.clone(), field.ty.clone(), optional(field.layout.optional));
        let mut declared = Self::declared(self.fields.iter().map(of_field));
        for (field, own) in declared.fields.iter_mut().zip(&self.fields) {
            field.layout.domain = own.layout.domain;
        }
        declared
    }

    /// Returns why a field never has this value, as a sentence without its subject: "is one of `free`, `pro`" of an
    /// enum, "is a number from 0 to 255" of an `u8`. `None` if it may have it, or there is no such field.
    #[must_use]
    pub fn why_never(&self, name: &str, value: &Value<'_>) -> Option<String> {
        let domain = self.fields.iter().find(|field| field.name == name)?.layout.domain?;
        let is_never = match (domain, value) {
            (Domain::OneOf(texts), Value::String(text)) => !texts.contains(text),
            (Domain::Range(least, most), Value::Int(number)) => !(least..=most).contains(number),
            (Domain::Range(least, most), Value::Uint(number)) => match i64::try_from(*number) {
                Ok(number) => !(least..=most).contains(&number),
                Err(_) => most < i64::MAX,
            },
            _ => false,
        };
        is_never.then(|| domain.to_string())
    }

    /// Puts the names under a prefix: `plan` becomes `tenant.plan`. An empty one changes nothing.
    #[must_use]
    pub fn with_prefix(mut self, prefix: &str) -> Self {
        if !prefix.is_empty() {
            self.fields.iter_mut().for_each(|field| field.name = format!("{prefix}.{}", field.name));
        }
        self
    }

    /// Returns the name and the type of each field, and whether it may be absent, in their order.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &Type, bool)> {
        self.fields.iter().map(|field| (&*field.name, &field.ty, field.layout.optional))
    }
}
