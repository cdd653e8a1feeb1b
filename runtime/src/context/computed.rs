//! Fields that a function of the host computes: `#[context(with = function)]`.

use super::describe::{Field, read_by_call};
use super::field_type::FieldType;
use super::time::{duration, in_range, timestamp};
use crate::arena::{Arena, EvalResult};
use crate::value::{Duration, List, Map, Timestamp, Value};
use celero_frontend::Type;
use celero_ir::ErrorKind;
use std::borrow::Cow;
use std::fmt::Display;
use std::net::IpAddr;
use std::time::SystemTime;

/// What the function of `#[context(with = function)]` may return.
///
/// The function takes a reference to the field and is called whenever a rule reads it. What it
/// borrows is not copied; owned text and bytes are copied into the memory of the evaluation.
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
/// | `&T` of a [`FieldType`] | as `T` |
/// | `Option<T>` | as `T`, but may be absent |
/// | `Result<T, E>` | as `T`; an `Err` is the evaluation error `host` |
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
    label = "not a `celero::FieldValue`",
    note = "the function of `#[context(with = function)]` returns `bool`, a number, `&str`, `String`, `&[u8]`, `Vec<u8>`, a time, \
            `celero::Value`, a reference to a `celero::FieldType`, or an `Option` or a `Result` of one of these"
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
}

/// A function that computes a field of type `T`, and what the type of its result says.
#[expect(missing_debug_implementations, reason = "for the code of the derive only")]
pub struct Computed<'s, T, R> {
    function: fn(&'s T) -> R,
    is_optional: fn() -> bool,
    ty: fn() -> Type,
    read: fn(R, &'s Arena) -> EvalResult<Option<Value<'s>>>,
}

/// Wraps the function of a field. The only place of generated code that asks for the traits, so
/// that a mistake is reported once.
#[must_use]
pub const fn computed<'s, T, R: FieldValue<'s>>(function: fn(&'s T) -> R) -> Computed<'s, T, R> {
    Computed { function, is_optional: R::is_optional, ty: R::ty, read: R::field_value }
}

impl<'s, T, R> Computed<'s, T, R> {
    /// The CEL type.
    #[must_use]
    pub fn ty(&self) -> Type {
        (self.ty)()
    }

    /// How native code reads it: by a call.
    #[must_use]
    pub fn layout(&self) -> celero_ir::layout::Field {
        read_by_call((self.is_optional)())
    }

    /// Adds its description.
    pub fn push(&self, variables: &mut Vec<Field>, name: &str) {
        variables.push(Field { name: name.to_owned(), ty: self.ty(), layout: self.layout() });
    }

    /// Calls the function.
    ///
    /// # Errors
    /// Those of [`FieldValue::field_value`].
    pub fn value(&self, field: &'s T, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        (self.read)((self.function)(field), arena)
    }
}

macro_rules! values {
    ($($rust:ty: $cel:expr, |$value:ident, $arena:ident| $read:expr;)*) => {$(
        impl<'s> FieldValue<'s> for $rust {
            fn ty() -> Type {
                $cel
            }

            fn field_value(self, $arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let $value = self;
                $read.map(Some)
            }
        }
    )*};
}

values! {
    bool: Type::Bool, |value, _arena| Ok(Value::Bool(value));
    f32: Type::Double, |value, _arena| Ok(Value::Double(value.into()));
    f64: Type::Double, |value, _arena| Ok(Value::Double(value));
    &'s str: Type::String, |value, _arena| Ok(Value::String(value));
    &'s [u8]: Type::Bytes, |value, _arena| Ok(Value::Bytes(value));
    String: Type::String, |value, arena| arena.alloc_str(&value).map(Value::String);
    Vec<u8>: Type::Bytes, |value, arena| arena.alloc_slice(&value).map(Value::Bytes);
    IpAddr: Type::String, |value, arena| arena.format_ip(value.to_canonical()).map(Value::String);
    Value<'s>: Type::Dyn, |value, _arena| Ok(value);
    List<'s>: Type::list(Type::Dyn), |value, _arena| Ok(Value::List(value));
    Map<'s>: Type::map(Type::Dyn, Type::Dyn), |value, _arena| Ok(Value::Map(value));
    SystemTime: Type::Timestamp, |value, _arena| timestamp(value).map(Value::Timestamp).ok_or(ErrorKind::Overflow);
    Timestamp: Type::Timestamp, |value, _arena| in_range(value).map(Value::Timestamp).ok_or(ErrorKind::Overflow);
    std::time::Duration: Type::Duration, |value, _arena| duration(value).map(Value::Duration).ok_or(ErrorKind::Overflow);
    Duration: Type::Duration, |value, _arena| Ok(Value::Duration(value));
    Cow<'s, str>: Type::String, |value, arena| match value {
        Cow::Borrowed(text) => Ok(Value::String(text)),
        Cow::Owned(text) => arena.alloc_str(&text).map(Value::String),
    };
    Cow<'s, [u8]>: Type::Bytes, |value, arena| match value {
        Cow::Borrowed(bytes) => Ok(Value::Bytes(bytes)),
        Cow::Owned(bytes) => arena.alloc_slice(&bytes).map(Value::Bytes),
    };
}

macro_rules! integers {
    ($($variant:ident: $($rust:ty)*;)*) => {$($(
        impl<'s> FieldValue<'s> for $rust {
            fn ty() -> Type {
                Type::$variant
            }

            fn field_value(self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                Ok(Some(Value::$variant(self as _)))
            }
        }
    )*)*};
}

integers! {
    Int: i8 i16 i32 i64 isize;
    Uint: u8 u16 u32 u64 usize;
}

impl<'s, T: FieldType> FieldValue<'s> for &'s T {
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
}

impl<'s, T: FieldValue<'s>, E: Display> FieldValue<'s> for Result<T, E> {
    fn is_optional() -> bool {
        T::is_optional()
    }

    fn ty() -> Type {
        T::ty()
    }

    fn field_value(self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.map_err(|_| ErrorKind::Host)?.field_value(arena)
    }
}
