//! What makes a Rust type the type of a field: its CEL type, its layout for native code, and a safe
//! function that reads the value and defines the result. Numbers are implemented here; the files
//! beside this one hold the other types.

use super::Extension;
use super::describe::{Field, absent_if, at_offset, read_by_call};
use super::extension::ExtensionPlace;
use super::members::Member;
use crate::accessors::option_layout::InOption;
use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::{Access, Field as Layout, Path, Repr};
use celero_ir::{Domain, ErrorKind, Ty};
use std::any::Any;
use std::num::NonZero;

/// A type that a field of a context may have.
///
/// | Rust | CEL |
/// |---|---|
/// | `bool` | `bool` |
/// | `i8` to `i64`, `isize`; `NonZero` of `i8` to `i64` | `int` |
/// | `u8` to `u64`, `usize`; `NonZero` of `u8` to `u64` | `uint` |
/// | `f32`, `f64` | `double` |
/// | `&str`, `String`, `Cow<str>`, `Box<str>`, `Arc<str>`, `Rc<str>` | `string` |
/// | `char` | `string` of one character, written into the evaluation's memory |
/// | `&[u8]`, `Vec<u8>`, `[u8; N]`, `Cow<[u8]>`, `Box<[u8]>`, `Arc<[u8]>` | `bytes` |
/// | `IpAddr`, `Ipv4Addr`, `Ipv6Addr` | `string`: the address as text; `::ffff:192.0.2.1` reads as `192.0.2.1` |
/// | `SocketAddr` | two variables: `address` (`string`, as for `IpAddr`) and `port` (`int`) |
/// | `SystemTime`, [`Timestamp`](crate::values::Timestamp) | `google.protobuf.Timestamp`; the error `overflow` outside its range |
/// | `std::time::Duration`, [`Duration`](crate::values::Duration) | `google.protobuf.Duration`; the error `overflow` outside its range |
/// | `Vec<T>`, `&[T]`, `[T; N]`, `VecDeque<T>`, `Box<[T]>`, `Arc<[T]>`, `Rc<[T]>`, `Cow<[T]>` | `list(T)` |
/// | `HashSet<T>`, `BTreeSet<T>` of text, integers or `bool` | `list(T)`; `in` is one lookup. Loops of native code read its elements in place; as a value it allocates 8 bytes for each |
/// | `HashMap<K, T>`, `BTreeMap<K, T>` with keys of text, integers or `bool` | `map(K, T)` |
/// | a struct that derives [`Context`](derive@crate::Context) | one variable for each of its fields: `peer.address`. As the element of a list or a map: `map(string, dyn)` |
/// | an enum or a newtype that derives [`FieldType`](derive@crate::FieldType) | `string` or `int`; the type of the inner field |
/// | `http::HeaderMap` | `map(string, string)` |
/// | `http::Method`, `Version`, `HeaderName`, `uri::Scheme`, `uri::Authority`, `uri::PathAndQuery` | `string`, in place |
/// | `http::Uri`, `http::HeaderValue` | `string`. A URI, and a value that is not UTF-8, is written into the evaluation's memory |
/// | `http::StatusCode` | `int` |
/// | [`Value`] | `dyn` |
/// | `Option<T>` | as `T`, but may be absent |
/// | `&T`, `Box<T>`, `Arc<T>`, `Rc<T>`, `Cow<T>` | as `T` |
///
/// Behind features that are off by default:
///
/// | feature | Rust | CEL |
/// |---|---|---|
/// | `bytes` | `bytes::Bytes`, `BytesMut` | `bytes` |
/// | `chrono` | `chrono::DateTime`, `TimeDelta` | `google.protobuf.Timestamp`, `google.protobuf.Duration` |
/// | `jiff` | `jiff::Timestamp`, `Zoned`; `SignedDuration` | `google.protobuf.Timestamp`; `google.protobuf.Duration` |
/// | `serde_json` | `serde_json::Value`; `Map<String, serde_json::Value>` | `dyn`; `map(string, dyn)`. Numbers are `int`, else `uint`, else `double` |
/// | `url` | `url::Url` | `string` |
/// | `uuid` | `uuid::Uuid` | `string` with hyphens, in lower case: each read writes 36 bytes into the evaluation's memory |
///
/// Every other type is a field with `#[context(with = function)]`, see [`FieldValue`](crate::host::FieldValue).
///
/// # Safety
/// For every value of the type, whatever its lifetimes, reading its address through
/// [`layout`](FieldType::layout) gives what [`value`](FieldType::value) gives; so does reading the
/// address of an `Option` of it through [`optional_layout`](FieldType::optional_layout). Text that
/// a layout declares as [`Ty::Str`] is valid UTF-8. What the hidden items declare as variables is
/// read by `variable` in the same way.
#[diagnostic::on_unimplemented(
    message = "rules can't read a field of type `{Self}`",
    label = "not a `celero::FieldType`",
    note = "`#[context(with = function)]` makes any type a field: the function turns `&{Self}` into `&str`, `i64`, `bool`, ..; \
            `#[context(skip)]` hides the field from rules",
    note = "for a type of your own: a struct derives `celero::Context`, an enum or a newtype derives `celero::FieldType`",
    note = "types of the crates bytes, chrono, jiff, serde_json, url and uuid need the feature of celero with that name"
)]
pub unsafe trait FieldType {
    /// The CEL type.
    fn ty() -> Type;

    /// How native code reads it; paths start at the address of the value.
    fn layout() -> Layout;

    /// How native code reads an `Option` of it; paths start at the address of the option.
    #[must_use]
    fn optional_layout() -> Layout {
        Layout { domain: Self::layout().domain, ..read_by_call(true) }
    }

    /// The value, `None` when it is absent.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full, `overflow` when CEL cannot hold it.
    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>>;

    /// The number of variables that a field of this type is: one, unless it is a struct that derives `Context`.
    #[doc(hidden)]
    const COUNT: u32 = 1;

    /// The members of such a struct; none for a single variable.
    #[doc(hidden)]
    const MEMBERS: &'static [Member] = &[];

    /// A check: that of the type inside, for pointers, lists, maps and newtypes. A newtype that
    /// contains itself has no type in CEL, and its check is a cycle, which the compiler reports
    /// under this name.
    #[doc(hidden)]
    const NEWTYPE_CONTAINS_ITSELF: () = ();

    /// Where an extension is in it.
    #[doc(hidden)]
    const EXTENSION: ExtensionPlace = ExtensionPlace::None;

    /// The struct itself, if it has members and borrows nothing.
    #[doc(hidden)]
    fn as_struct(&self) -> Option<&dyn Any> {
        None
    }

    /// The variables: one without a name, or those of the members.
    #[doc(hidden)]
    #[must_use]
    fn variables() -> Vec<Field> {
        vec![Field { name: String::new(), ty: Self::ty(), layout: Self::layout() }]
    }

    /// The variables of an `Option` of it.
    #[doc(hidden)]
    #[must_use]
    fn optional_variables() -> Vec<Field> {
        let mut variables = Self::variables();
        for variable in &mut variables {
            let domain = variable.layout.domain;
            let layout = if variable.name.is_empty() { Self::optional_layout() } else { read_by_call(true) };
            variable.layout = Layout { domain, ..layout };
        }
        variables
    }

    /// The extension in it, if it has a place for one.
    #[doc(hidden)]
    #[inline]
    fn extension(&self) -> Option<&Extension> {
        None
    }

    /// Changes a layout whose paths start at the data of the extension to one whose paths start at
    /// the value. Returns whether there is a place for one.
    #[doc(hidden)]
    #[must_use]
    fn place_extension(layout: &mut Layout) -> bool {
        let _ = layout;
        false
    }

    /// The value of a variable, `None` when it is absent.
    #[doc(hidden)]
    fn variable<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let _ = index;
        self.value(arena)
    }
}

/// A [`FieldType`] that is never absent, and that may be an element of a list or map. Not
/// implemented for `u8`, because a slice of them is `bytes`.
#[diagnostic::on_unimplemented(
    message = "rules can't read a list or a map of `{Self}`",
    label = "not a `celero::host::Element`",
    note = "`#[context(with = function)]` makes any type a field; `#[context(skip)]` hides the field from rules",
    note = "for a type of your own: a struct derives `celero::Context`, an enum or a newtype derives `celero::FieldType`",
    note = "types of the crates bytes, chrono, jiff, serde_json, url and uuid need the feature of celero with that name"
)]
pub trait Element: FieldType {
    /// The value.
    ///
    /// # Errors
    /// Those of [`FieldType::value`].
    fn element<'s>(&'s self, arena: &'s Arena) -> EvalResult<Value<'s>> {
        self.value(arena)?.ok_or(ErrorKind::NoSuchKey)
    }
}

/// A [`FieldType`] with fields of its own: a struct that derives
/// [`Context`](derive@crate::Context), or a pointer to one. What `#[context(nested)]` and
/// `#[context(flatten)]` accept.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a single variable: it has no fields to nest or to flatten",
    label = "not a struct that derives `celero::Context`",
    note = "remove `nested` or `flatten`, or derive `celero::Context` for the struct"
)]
pub trait Nested: FieldType {}

/// The layout of a number stored at the address itself.
fn number(ty: Ty, repr: Repr) -> Layout {
    let domain = match repr {
        Repr::I8 => Some(Domain::Range(i8::MIN.into(), i8::MAX.into())),
        Repr::I16 => Some(Domain::Range(i16::MIN.into(), i16::MAX.into())),
        Repr::I32 => Some(Domain::Range(i32::MIN.into(), i32::MAX.into())),
        Repr::U8 => Some(Domain::Range(0, u8::MAX.into())),
        Repr::U16 => Some(Domain::Range(0, u16::MAX.into())),
        Repr::U32 => Some(Domain::Range(0, u32::MAX.into())),
        _ => None,
    };
    Layout { domain, ..Layout::new(ty, false, Access::Load(Path(vec![0]), repr)) }
}

/// The layout of an option of a number or truth value with this layout.
fn optional<T: InOption>(mut layout: Layout) -> Layout {
    match T::OPTION {
        Some(option) => {
            at_offset(&mut layout, option.value as usize);
            absent_if(&mut layout, option.mark, option.empty);
            layout
        }
        None => Layout { domain: layout.domain, ..read_by_call(true) },
    }
}

macro_rules! numbers {
    ($($rust:ty: $cel:ident, $variant:ident($widen:expr), $repr:expr;)*) => {$(
        // SAFETY: the representation is that of the type, whose value is stored at its own address;
        // in an option, where `OPTION` says.
        unsafe impl FieldType for $rust {
            fn ty() -> Type {
                Type::$cel
            }

            fn layout() -> Layout {
                number(Ty::$cel, $repr)
            }

            fn optional_layout() -> Layout {
                optional::<Self>(Self::layout())
            }

            fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let widen: fn($rust) -> _ = $widen;
                Ok(Some(Value::$variant(widen(*self))))
            }
        }
    )*};
}

numbers! {
    bool: Bool, Bool(|b| b), Repr::Bool;
    i8: Int, Int(i64::from), Repr::I8;
    i16: Int, Int(i64::from), Repr::I16;
    i32: Int, Int(i64::from), Repr::I32;
    i64: Int, Int(|n| n), Repr::I64;
    isize: Int, Int(|n| n as i64), if size_of::<isize>() == 8 { Repr::I64 } else { Repr::I32 };
    u8: Uint, Uint(u64::from), Repr::U8;
    u16: Uint, Uint(u64::from), Repr::U16;
    u32: Uint, Uint(u64::from), Repr::U32;
    u64: Uint, Uint(|n| n), Repr::U64;
    usize: Uint, Uint(|n| n as u64), if size_of::<usize>() == 8 { Repr::U64 } else { Repr::U32 };
    f32: Double, Double(f64::from), Repr::F32;
    f64: Double, Double(|x| x), Repr::F64;
}

macro_rules! non_zero {
    ($($rust:ident: $cel:ident, $mark:ident;)*) => {$(
        // SAFETY: a `NonZero` has the layout of its number, and so has an option of it, in which 0
        // is no number (std, `NonZero`).
        unsafe impl FieldType for NonZero<$rust> {
            fn ty() -> Type {
                Type::$cel
            }

            fn layout() -> Layout {
                let layout = $rust::layout();
                match layout.domain {
                    Some(Domain::Range(0, most)) => layout.of_domain(Domain::Range(1, most)),
                    _ => layout,
                }
            }

            fn optional_layout() -> Layout {
                let mut layout = Self::layout();
                absent_if(&mut layout, Repr::$mark, 0);
                layout
            }

            fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                Ok(Some(Value::$cel(self.get().into())))
            }
        }

        impl Element for NonZero<$rust> {}
    )*};
}

non_zero! {
    i8: Int, U8;
    i16: Int, U16;
    i32: Int, U32;
    i64: Int, U64;
    u8: Uint, U8;
    u16: Uint, U16;
    u32: Uint, U32;
    u64: Uint, U64;
}

// SAFETY: the layout of a value is that of `celero_ir::layout::value`, which `native/layout.rs` asserts.
unsafe impl FieldType for Value<'_> {
    fn ty() -> Type {
        Type::Dyn
    }

    fn layout() -> Layout {
        Layout::new(Ty::Value, false, Access::Load(Path(vec![0]), Repr::Value))
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(*self))
    }
}

macro_rules! elements {
    ($($ty:ty),*) => { $(impl Element for $ty {})* };
}

elements!(bool, i8, i16, i32, i64, isize, u16, u32, u64, usize, f32, f64, Value<'_>);
