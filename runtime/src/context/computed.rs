//! Fields that a function of the host computes: `#[context(with = function)]`.

use super::describe::{Field, at_offset, read_by_call};
use super::field_value::{FieldValue, Form};
use super::time::Moment;
use crate::accessors::computed::{Computation, scalar, text, text_copied};
use crate::accessors::text::Shown;
use crate::arena::{Arena, EvalResult};
use crate::function::contained;
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::{Access, Field as Layout, Path, ScalarAccessor};
use celero_ir::{ErrorKind, Ty};

/// A function that computes a field of type `T`, and what the type of its result says.
#[expect(missing_debug_implementations, reason = "for the code of the derive only")]
pub struct Computed<'s, T, F> {
    function: F,
    ty: fn() -> Type,
    layout: fn(F) -> Layout,
    read: fn(F, &'s T, &'s Arena) -> EvalResult<Option<Value<'s>>>,
}

/// Wraps the function of a field. The only place of generated code that asks for the traits, so
/// that a mistake is reported once.
#[must_use]
pub const fn computed<'s, T, F, R>(function: F) -> Computed<'s, T, F>
where
    F: Fn(&'s T) -> R + Copy,
    R: FieldValue<'s>,
{
    Computed {
        function,
        ty: R::ty,
        layout: layout::<T, F, R>,
        read: |function, field, arena| function(field).field_value(arena),
    }
}

/// How native code reads what a function of this type returns; the path starts at its field.
fn layout<'s, T: 's, F: Fn(&'s T) -> R + Copy, R: FieldValue<'s>>(function: F) -> Layout {
    let at = || Path(vec![0]);
    let access = match R::form() {
        Form::Value => None,
        Form::Scalar(ty) => scalar::<T, F, OfHost>(function).map(|accessor| (ty, Access::Scalar(at(), accessor))),
        Form::Text => {
            text::<T, F, OfHost>(function).map(|(show, make)| (Ty::Str, Access::MostlyText(at(), show, make)))
        }
        Form::TextCopied => {
            text_copied::<T, F, OfHost>(function).map(|(show, make)| (Ty::Str, Access::MostlyText(at(), show, make)))
        }
    };
    match access {
        Some((ty, access)) => Layout::new(ty, R::is_optional(), access),
        None => read_by_call(R::is_optional()),
    }
}

/// Calls the functions of fields for native code.
struct OfHost;

impl<'s, T: 's, F: Fn(&'s T) -> R, R: FieldValue<'s>> Computation<'s, T, F> for OfHost {
    type Memory = Arena;

    fn words(function: F, source: &'s T) -> Result<[u64; 2], u64> {
        let unboxed = contained(|| function(source).unboxed()).map_err(|()| ScalarAccessor::PANICKED)?;
        let value = unboxed.and_then(|value| value.ok_or(ErrorKind::NoSuchKey)).map_err(|kind| kind as u64)?;
        Ok(match value {
            Value::Bool(truth) => [truth.into(), 0],
            Value::Int(number) => [number.cast_unsigned(), 0],
            Value::Uint(number) => [number, 0],
            Value::Double(number) => [number.to_bits(), 0],
            Value::Duration(span) => span.words(),
            Value::Timestamp(time) => time.words(),
            _ => return Err(ErrorKind::Host as u64),
        })
    }

    fn show(function: F, source: &'s T) -> Shown<'s> {
        match contained(|| function(source).unboxed()) {
            Ok(Ok(Some(Value::String(text)))) => Shown::Text(text),
            Ok(Ok(None)) => Shown::Absent,
            // `make` fails in the same way.
            _ => Shown::ToBeMade,
        }
    }

    fn make(function: F, source: &'s T, arena: &'s Arena) -> Result<&'s str, ErrorKind> {
        match function(source).field_value(arena)? {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(ErrorKind::Host),
            None => Err(ErrorKind::NoSuchKey),
        }
    }
}

impl<'s, T, F: Copy> Computed<'s, T, F> {
    /// The CEL type.
    #[must_use]
    pub fn ty(&self) -> Type {
        (self.ty)()
    }

    /// How native code reads it; the path starts at its field.
    #[must_use]
    pub fn layout(&self) -> Layout {
        (self.layout)(self.function)
    }

    /// Adds its description, for a field that is `offset` bytes after the start of a struct.
    pub fn push(&self, variables: &mut Vec<Field>, name: &str, offset: usize) {
        let mut layout = self.layout();
        at_offset(&mut layout, offset);
        variables.push(Field { name: name.to_owned(), ty: self.ty(), layout });
    }

    /// Calls the function.
    ///
    /// # Errors
    /// Those of [`FieldValue::field_value`].
    pub fn value(&self, field: &'s T, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        (self.read)(self.function, field, arena)
    }
}
