//! Rust types that a field of a context may have: their CEL type, their layout for native code, and a safe function that reads
//! the value and defines the result.

use super::describe::{behind_reference, read_by_call};
use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::{Access, Field as Layout, Path, Repr};
use celero_ir::{ErrorKind, Ty};
use std::fmt::Debug;

/// A type that a field of a context may have.
///
/// | Rust | CEL |
/// |---|---|
/// | `bool` | `bool` |
/// | `i8` to `i64`, `isize` | `int` |
/// | `u8` to `u64`, `usize` | `uint` |
/// | `f32`, `f64` | `double` |
/// | `&str`, `String`, `Cow<str>`, `Box<str>`, `Arc<str>` | `string` |
/// | `&[u8]`, `Vec<u8>` | `bytes` |
/// | `IpAddr`, `Ipv4Addr`, `Ipv6Addr` | `string`: the address as text; `::ffff:192.0.2.1` reads as `192.0.2.1` |
/// | `SystemTime`, [`Timestamp`](crate::Timestamp) | `google.protobuf.Timestamp`; the error `overflow` outside its range |
/// | `std::time::Duration`, [`Duration`](crate::Duration) | `google.protobuf.Duration`; the error `overflow` outside its range |
/// | `Vec<T>`, `&[T]`, `[T; N]` | `list(T)` |
/// | `HashMap`, `BTreeMap` with keys of text | `map(string, T)` |
/// | `http::HeaderMap` | `map(string, string)` |
/// | `http::Method`, `Uri`, `Version` | `string` |
/// | [`Value`] | `dyn` |
/// | `Option<T>` | as `T`, but may be absent |
/// | `&T` | as `T` |
///
/// # Safety
/// For every value of the type, whatever its lifetimes, reading its address through [`layout`](FieldType::layout) gives what
/// [`value`](FieldType::value) gives; so does reading the address of an `Option` of it through
/// [`optional_layout`](FieldType::optional_layout). Text that a layout declares as [`Ty::Str`] is valid UTF-8.
#[diagnostic::on_unimplemented(
    message = "rules can't read a field of type `{Self}`",
    label = "not a `celero::FieldType`",
    note = "a struct that derives `Context` is a field's type with `#[context(nested)]`; a field that rules need not see takes \
            `#[context(skip)]`"
)]
pub unsafe trait FieldType {
    /// The CEL type.
    fn ty() -> Type;

    /// How native code reads it; paths start at the address of the value.
    fn layout() -> Layout;

    /// How native code reads an `Option` of it; paths start at the address of the option.
    #[must_use]
    fn optional_layout() -> Layout {
        read_by_call(true)
    }

    /// The value, `None` when it is absent.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full, `overflow` when CEL cannot hold it.
    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>>;
}

/// A [`FieldType`] that is never absent, and that may be an element of a list or map. Not implemented for `u8`, because a slice of
/// them is `bytes`.
pub trait Element: FieldType + Debug {
    /// The value.
    ///
    /// # Errors
    /// Those of [`FieldType::value`].
    fn element<'s>(&'s self, arena: &'s Arena) -> EvalResult<Value<'s>> {
        self.value(arena)?.ok_or(ErrorKind::NoSuchKey)
    }
}

/// The layout of a number stored at the address itself.
fn number(ty: Ty, repr: Repr) -> Layout {
    Layout::new(ty, false, Access::Load(Path(vec![0]), repr))
}

macro_rules! numbers {
    ($($rust:ty: $cel:ident, $variant:ident($widen:expr), $repr:expr;)*) => {$(
        // SAFETY: the representation is that of the type, whose value is stored at its own address.
        unsafe impl FieldType for $rust {
            fn ty() -> Type {
                Type::$cel
            }

            fn layout() -> Layout {
                number(Ty::$cel, $repr)
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

// SAFETY: only `value` reads it.
unsafe impl FieldType for Value<'_> {
    fn ty() -> Type {
        Type::Dyn
    }

    fn layout() -> Layout {
        read_by_call(false)
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(*self))
    }
}

// SAFETY: the promise of `T::optional_layout`.
unsafe impl<T: FieldType> FieldType for Option<T> {
    fn ty() -> Type {
        T::ty()
    }

    fn layout() -> Layout {
        T::optional_layout()
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.as_ref().map_or(Ok(None), |inner| inner.value(arena))
    }
}

// SAFETY: the layout is the inner one behind one more load, which reads the reference itself.
unsafe impl<T: FieldType> FieldType for &T {
    fn ty() -> Type {
        T::ty()
    }

    fn layout() -> Layout {
        let mut layout = T::layout();
        behind_reference(&mut layout);
        layout
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        T::value(self, arena)
    }
}

macro_rules! elements {
    ($($ty:ty),*) => { $(impl Element for $ty {})* };
}

elements!(bool, i8, i16, i32, i64, isize, u16, u32, u64, usize, f32, f64, Value<'_>);

impl<T: Element> Element for &T {}
