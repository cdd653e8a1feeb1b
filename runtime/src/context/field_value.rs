//! [`FieldValue`]: the types that the function of a field may return.

use super::field_type::FieldType;
use super::time::{duration, in_range, timestamp};
use crate::arena::{Arena, EvalResult};
use crate::function::explain_field;
use crate::value::{Duration, List, Map, Timestamp, Value, collect_list, collect_map};
use celero_frontend::Type;
use celero_ir::{ErrorKind, Ty};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::net::IpAddr;
use std::time::SystemTime;

/// What the function of `#[context(with = function)]` may return.
///
/// The function takes a reference to the field and is called whenever a rule reads it. What it
/// borrows is not copied; owned text, bytes, lists and maps are copied into the memory of the
/// evaluation, so a list or map that exists already is better borrowed (`&Vec<T>`, `&HashMap<K, T>`).
///
/// | Rust | CEL |
/// |---|---|
/// | `bool`; `i8` to `i64`, `isize`; `u8` to `u64`, `usize`; `f32`, `f64` | `bool`; `int`; `uint`; `double` |
/// | `&str`, `String`, `Cow<str>` | `string` |
/// | `&[u8]`, `Vec<u8>`, `Cow<[u8]>` | `bytes` |
/// | `IpAddr` | `string` |
/// | `SystemTime`, [`Timestamp`] | `google.protobuf.Timestamp` |
/// | `std::time::Duration`, [`Duration`] | `google.protobuf.Duration` |
/// | [`List`], [`Map`], [`Value`] | `list(dyn)`, `map(dyn, dyn)`, `dyn` |
/// | `Vec<T>` | `list(T)` |
/// | `HashMap<K, T>`, `BTreeMap<K, T>` with keys of text, integers or `bool` | `map(K, T)` |
/// | `&T` of a [`FieldType`] | as `T` |
/// | `Option<T>` | as `T`, but may be absent; as an element `optional_type(T)` |
/// | `Result<T, E>` | as `T`; an `Err` is the evaluation error `host`, with the error's text in its [report](crate::diagnostics::Report) |
///
/// ```
/// use celero::{Context, Engine, Env};
///
/// struct Version(u16, u16);
///
/// struct Session {
///     user: String,
///     version: Version,
/// }
///
/// fn number(version: &Version) -> i64 {
///     i64::from(version.0) * 100 + i64::from(version.1)
/// }
///
/// fn user(session: &Session) -> Option<&str> {
///     Some(session.user.as_str()).filter(|user| !user.is_empty())
/// }
///
/// #[derive(Context)]
/// struct Call {
///     #[context(with = number)]
///     version: Version,
///     #[context(with = user, name = "session.user")]
///     session: Session,
/// }
///
/// let rule = Engine::new().compile(&Env::<Call>::new(), "version >= 203 && session.user == 'ann'")?;
/// let session = Session { user: "ann".into(), version: Version(1, 0) };
/// assert!(rule.test(&Call { version: Version(2, 4), session })?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "rules can't read the `{Self}` that this function returns",
    label = "not a `celero::host::FieldValue`",
    note = "the function of `#[context(with = function)]` returns `bool`, a number, `&str`, `String`, `&[u8]`, `Vec<u8>`, a time, \
            `celero::Value`, a reference to a `celero::FieldType`, or an `Option`, a `Result`, a `Vec`, a `HashMap` or a \
            `BTreeMap` of these"
)]
pub trait FieldValue<'s> {
    /// Whether the field may be absent.
    #[must_use]
    fn is_optional() -> bool {
        false
    }

    /// The CEL type.
    fn ty() -> Type;

    /// The value, `None` when it is absent.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full, `overflow` when CEL cannot hold it, `host` when the function failed.
    fn field_value(self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>>;

    /// The CEL type of a vector of it.
    #[doc(hidden)]
    #[must_use]
    fn list_type() -> Type {
        Type::list(Self::element_type())
    }

    /// The value of a vector.
    ///
    /// # Errors
    /// Those of [`field_value`](Self::field_value).
    #[doc(hidden)]
    fn list_value(list: Vec<Self>, arena: &'s Arena) -> EvalResult<Value<'s>>
    where
        Self: Sized,
    {
        collect_list(list.into_iter().map(|element| element.element(arena)), arena)
    }

    /// The CEL type of an element of a list or a map.
    #[doc(hidden)]
    #[must_use]
    fn element_type() -> Type {
        Self::ty()
    }

    /// The value of an element.
    ///
    /// # Errors
    /// Those of [`field_value`](Self::field_value).
    #[doc(hidden)]
    fn element(self, arena: &'s Arena) -> EvalResult<Value<'s>>
    where
        Self: Sized,
    {
        self.field_value(arena)?.ok_or(ErrorKind::NoSuchKey)
    }

    /// How native code may read it.
    #[doc(hidden)]
    #[must_use]
    fn form() -> Form {
        Form::Value
    }

    /// The value of a scalar or of a borrowed text, `None` when it is absent.
    ///
    /// # Errors
    /// Those of [`field_value`](Self::field_value).
    #[doc(hidden)]
    fn unboxed(self) -> EvalResult<Option<Value<'s>>>
    where
        Self: Sized,
    {
        Err(ErrorKind::Host)
    }
}

/// How native code may read the result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a value.
    Value,
    /// In the words of this type: [`FieldValue::unboxed`] gives it.
    Scalar(Ty),
    /// As a text that is in memory: [`FieldValue::unboxed`] gives it.
    Text,
    /// As a text that is copied into the memory of the evaluation, and never absent.
    TextCopied,
}

/// Types that need no memory of the evaluation.
macro_rules! unboxed {
    ($([$($life:lifetime)?] $rust:ty: $cel:ident, $form:expr, |$value:ident| $read:expr;)*) => {$(
        impl<'s $(, $life: 's)?> FieldValue<'s> for $rust {
            fn ty() -> Type {
                Type::$cel
            }

            fn field_value(self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                self.unboxed()
            }

            fn form() -> Form {
                $form
            }

            fn unboxed(self) -> EvalResult<Option<Value<'s>>> {
                let $value = self;
                $read.map(Some)
            }
        }
    )*};
}

unboxed! {
    [] bool: Bool, Form::Scalar(Ty::Bool), |value| Ok(Value::Bool(value));
    [] f32: Double, Form::Scalar(Ty::Double), |value| Ok(Value::Double(value.into()));
    [] f64: Double, Form::Scalar(Ty::Double), |value| Ok(Value::Double(value));
    ['t] &'t str: String, Form::Text, |value| Ok(Value::String(value));
    [] SystemTime: Timestamp, Form::Scalar(Ty::Timestamp), |value| {
        timestamp(value).map(Value::Timestamp).ok_or(ErrorKind::Overflow)
    };
    [] Timestamp: Timestamp, Form::Scalar(Ty::Timestamp), |value| {
        in_range(value).map(Value::Timestamp).ok_or(ErrorKind::Overflow)
    };
    [] std::time::Duration: Duration, Form::Scalar(Ty::Duration), |value| {
        duration(value).map(Value::Duration).ok_or(ErrorKind::Overflow)
    };
    [] Duration: Duration, Form::Scalar(Ty::Duration), |value| Ok(Value::Duration(value));
}

macro_rules! values {
    ($([$($life:lifetime)?] $rust:ty: $cel:expr, $form:ident, |$value:ident, $arena:ident| $read:expr;)*) => {$(
        impl<'s $(, $life: 's)?> FieldValue<'s> for $rust {
            fn ty() -> Type {
                $cel
            }

            fn form() -> Form {
                Form::$form
            }

            fn field_value(self, $arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let $value = self;
                $read.map(Some)
            }
        }
    )*};
}

values! {
    ['t] &'t [u8]: Type::Bytes, Value, |value, _arena| Ok(Value::Bytes(value));
    [] String: Type::String, TextCopied, |value, arena| arena.alloc_str(&value).map(Value::String);
    [] IpAddr: Type::String, TextCopied, |value, arena| arena.format_ip(value.to_canonical()).map(Value::String);
    ['t] Value<'t>: Type::Dyn, Value, |value, _arena| Ok(value);
    ['t] List<'t>: Type::list(Type::Dyn), Value, |value, _arena| Ok(Value::List(value));
    ['t] Map<'t>: Type::map(Type::Dyn, Type::Dyn), Value, |value, _arena| Ok(Value::Map(value));
    ['t] Cow<'t, str>: Type::String, TextCopied, |value, arena| match value {
        Cow::Borrowed(text) => Ok(Value::String(text)),
        Cow::Owned(text) => arena.alloc_str(&text).map(Value::String),
    };
    ['t] Cow<'t, [u8]>: Type::Bytes, Value, |value, arena| match value {
        Cow::Borrowed(bytes) => Ok(Value::Bytes(bytes)),
        Cow::Owned(bytes) => arena.alloc_slice(&bytes).map(Value::Bytes),
    };
}

macro_rules! integers {
    ($($variant:ident: $($rust:ident)*;)*) => {$($(
        impl<'s> FieldValue<'s> for $rust {
            fn ty() -> Type {
                Type::$variant
            }

            integers!(@list $rust);

            fn field_value(self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                self.unboxed()
            }

            fn form() -> Form {
                Form::Scalar(Ty::$variant)
            }

            fn unboxed(self) -> EvalResult<Option<Value<'s>>> {
                Ok(Some(Value::$variant(self as _)))
            }
        }
    )*)*};
    (@list u8) => {
        fn list_type() -> Type {
            Type::Bytes
        }

        fn list_value(list: Vec<Self>, arena: &'s Arena) -> EvalResult<Value<'s>> {
            arena.alloc_slice(&list).map(Value::Bytes)
        }
    };
    (@list $rust:ident) => {};
}

integers! {
    Int: i8 i16 i32 i64 isize;
    Uint: u8 u16 u32 u64 usize;
}

impl<'s, T: FieldValue<'s>> FieldValue<'s> for Vec<T> {
    fn ty() -> Type {
        T::list_type()
    }

    fn field_value(self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        T::list_value(self, arena).map(Some)
    }
}

macro_rules! maps {
    ($($map:ident[$($hasher:ident)?];)*) => {$(
        impl<'s, K: FieldValue<'s>, T: FieldValue<'s>, $($hasher)?> FieldValue<'s> for $map<K, T, $($hasher)?> {
            fn ty() -> Type {
                Type::map(K::element_type(), T::element_type())
            }

            fn field_value(self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let entry = |(key, value): (K, T)| Ok((key.element(arena)?, value.element(arena)?));
                collect_map(self.into_iter().map(entry), arena).map(Some)
            }
        }
    )*};
}

maps! {
    HashMap[S];
    BTreeMap[];
}

impl<'s, 't: 's, T: FieldType> FieldValue<'s> for &'t T {
    fn is_optional() -> bool {
        T::layout().optional
    }

    fn ty() -> Type {
        T::ty()
    }

    fn field_value(self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.value(arena)
    }
}

impl<'s, T: FieldValue<'s>> FieldValue<'s> for Option<T> {
    fn is_optional() -> bool {
        true
    }

    fn ty() -> Type {
        T::ty()
    }

    fn field_value(self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.map_or(Ok(None), |value| value.field_value(arena))
    }

    fn element_type() -> Type {
        Type::optional(T::element_type())
    }

    fn element(self, arena: &'s Arena) -> EvalResult<Value<'s>> {
        let inner = self.map(|value| arena.alloc(value.element(arena)?)).transpose()?;
        Ok(Value::Optional(inner))
    }

    fn form() -> Form {
        match T::form() {
            Form::TextCopied => Form::Value,
            form => form,
        }
    }

    fn unboxed(self) -> EvalResult<Option<Value<'s>>> {
        self.map_or(Ok(None), FieldValue::unboxed)
    }
}

impl<'s, T: FieldValue<'s>, E: Display> FieldValue<'s> for Result<T, E> {
    fn is_optional() -> bool {
        T::is_optional()
    }

    fn ty() -> Type {
        T::ty()
    }

    fn field_value(self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.map_err(|error| explain_field(&error))?.field_value(arena)
    }

    fn element_type() -> Type {
        T::element_type()
    }

    fn element(self, arena: &'s Arena) -> EvalResult<Value<'s>> {
        self.map_err(|error| explain_field(&error))?.element(arena)
    }

    fn form() -> Form {
        match T::form() {
            // Native code takes it that texts can be read.
            Form::Text | Form::TextCopied => Form::Value,
            form => form,
        }
    }

    fn unboxed(self) -> EvalResult<Option<Value<'s>>> {
        self.map_err(|error| explain_field(&error))?.unboxed()
    }
}
