//! What is evaluated to validate a message of a type.

use crate::violation::PathElement;
use celero::{Bindings, Env, Program};
use std::sync::Arc;

/// A rule in CEL.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub(crate) env: Arc<Env<Bindings<'static>>>,
    pub(crate) program: Program<Bindings<'static>>,
}

/// A rule of a value or a message.
pub(crate) struct Check {
    pub(crate) compiled: Compiled,
    /// The path to the rule, without what it is nested in.
    pub(crate) path: Vec<PathElement>,
    pub(crate) id: String,
    /// Empty where the expression gives the message.
    pub(crate) message: String,
    /// The message of the standard rule that the expression reads: its type and its bytes.
    pub(crate) rules: Option<(String, Arc<[u8]>)>,
}

/// What is tested of a value.
#[derive(Default)]
pub(crate) struct ValuePlan {
    pub(crate) checks: Vec<Check>,
    /// Only the numbers of this enum.
    pub(crate) defined: Option<Vec<i32>>,
    /// Types of a `google.protobuf.Any`: the allowed ones, and the others.
    pub(crate) any: Option<(Vec<String>, Vec<String>)>,
    /// Zero values of elements are not tested.
    pub(crate) skips_zero: bool,
    /// The zero value of an enum: its first one, which in proto2 may be any number.
    pub(crate) zero_of_enum: Option<i32>,
    /// The type whose rules hold for the message, too.
    pub(crate) embedded: Option<String>,
    pub(crate) elements: Option<Box<ValuePlan>>,
    pub(crate) keys: Option<Box<ValuePlan>>,
    pub(crate) values: Option<Box<ValuePlan>>,
}

impl ValuePlan {
    /// Whether there is nothing to test.
    pub(crate) fn is_empty(&self) -> bool {
        self.any.is_none() && !self.reads_value() && self.elements.as_ref().is_none_or(|plan| plan.is_empty())
    }

    /// Whether a test reads the value, and not only the URL of a `google.protobuf.Any`: one of an unknown type has no
    /// value.
    pub(crate) fn reads_value(&self) -> bool {
        let Self { checks, defined, any: _, skips_zero: _, zero_of_enum: _, embedded, elements, keys, values } = self;
        let reads = |plan: &Option<Box<Self>>| plan.as_ref().is_some_and(|plan| plan.reads_value());
        let has = !checks.is_empty() || defined.is_some() || embedded.is_some();
        has || reads(elements) || reads(keys) || reads(values)
    }
}

/// What is tested of a field.
pub(crate) struct FieldPlan {
    pub(crate) element: PathElement,
    /// Whether the field is set, and its value: of the variable `message`.
    pub(crate) has: Compiled,
    pub(crate) get: Compiled,
    pub(crate) required: bool,
    /// A field that is not set is not tested.
    pub(crate) skips_unset: bool,
    pub(crate) value: ValuePlan,
}

impl MessagePlan {
    /// Whether there is nothing to test.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { checks, oneofs, required_oneofs, fields } = self;
        checks.is_empty() && oneofs.is_empty() && required_oneofs.is_empty() && fields.is_empty()
    }
}

/// What is tested of a message.
#[derive(Default)]
pub(crate) struct MessagePlan {
    pub(crate) checks: Vec<Check>,
    /// Names of fields, whether each is set, and whether one must be.
    pub(crate) oneofs: Vec<(Vec<String>, Vec<Compiled>, bool)>,
    pub(crate) required_oneofs: Vec<(String, Vec<Compiled>)>,
    pub(crate) fields: Vec<FieldPlan>,
}
