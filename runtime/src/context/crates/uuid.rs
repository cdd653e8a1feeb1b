//! The crate `uuid`: text with hyphens, in lower case (RFC 9562, section 4). Each read writes 36
//! bytes into the evaluation's memory.

use crate::arena::{Arena, EvalResult};
use crate::context::{Element, FieldType, read_by_call};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

// SAFETY: only `value` reads it.
unsafe impl FieldType for Uuid {
    fn ty() -> Type {
        Type::String
    }

    fn layout() -> Layout {
        read_by_call(false)
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let mut buffer = [0; Hyphenated::LENGTH];
        arena.alloc_str(self.hyphenated().encode_lower(&mut buffer)).map(|text| Some(Value::String(text)))
    }
}

impl Element for Uuid {}
