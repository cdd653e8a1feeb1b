//! The crate `uuid`: text with hyphens, in lower case (RFC 9562, section 4). Each read writes 36
//! bytes into the evaluation's memory.

use crate::accessors::text::{MostlyTextView, Shown};
use crate::arena::{Arena, EvalResult};
use crate::context::{Element, FieldType, mostly_viewed};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

impl MostlyTextView for Uuid {
    type Source<'a> = Self;
    type Memory = Arena;

    fn show<'s>(_: &'s Self::Source<'_>) -> Shown<'s> {
        Shown::ToBeMade
    }

    fn make<'s>(source: &'s Self::Source<'_>, arena: &'s Arena) -> EvalResult<&'s str> {
        let mut buffer = [0; Hyphenated::LENGTH];
        arena.alloc_str(source.hyphenated().encode_lower(&mut buffer))
    }
}

// SAFETY: the view makes the text that `value` gives.
unsafe impl FieldType for Uuid {
    fn ty() -> Type {
        Type::String
    }

    fn layout() -> Layout {
        mostly_viewed::<Self>(false)
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Self::make(self, arena).map(|text| Some(Value::String(text)))
    }
}

impl Element for Uuid {}
