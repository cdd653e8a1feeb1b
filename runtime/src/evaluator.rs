//! The library as the passes over graphs see it: calls of constants, evaluated while compiling.

use crate::arena::Arena;
use crate::function::Functions;
use crate::library::{Cx, Patterns};
use crate::lower::{Callee, Calls};
use crate::native::constant_value;
use crate::value::{List, Map, Value};
use celero_ir::{Constant, ErrorKind, Helper, passes::Evaluator, passes::Pattern};
use std::cell::Cell;

/// Steps and bytes that folding one call may take; a call that needs more is left to the evaluation.
const STEPS: i64 = 10_000;
const BYTES: usize = 1 << 16;

/// Most patterns, by weight, that are compiled for one rule, so that it compiles within some tenths of a second; further
/// ones are left to the evaluation.
const PATTERNS: u32 = 2048;

/// The library, the functions and the patterns of a graph.
pub(crate) struct Library<'a> {
    calls: &'a Calls,
    functions: &'a Functions,
    patterns: &'a Patterns,
    left: Cell<u32>,
}

impl<'a> Library<'a> {
    pub(crate) fn new(calls: &'a Calls, functions: &'a Functions, patterns: &'a Patterns) -> Self {
        Self { calls, functions, patterns, left: Cell::new(PATTERNS) }
    }
}

impl Evaluator for Library<'_> {
    fn dispatch(&self, function: &str, args: &[Constant]) -> Option<Result<Constant, ErrorKind>> {
        let callee = self.calls.by_name(function)?;
        with_values(args, |cx, args| callee.call(cx, self.functions, args))
    }

    fn call(&self, helper: Helper, args: &[Constant]) -> Option<Result<Constant, ErrorKind>> {
        with_values(args, |cx, args| crate::library::by_helper(cx, helper, args))
    }

    fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        self.pattern(pattern)?;
        self.patterns.regex(pattern).ok().map(|regex| regex.is_match(text))
    }

    fn is_selection(&self, function: &str) -> bool {
        self.calls.by_name(function).is_some_and(Callee::is_selection)
    }

    fn pattern(&self, pattern: &str) -> Option<Pattern> {
        let left = self.left.get();
        if left == 0 {
            return None;
        }
        let (weight, decided) = self.patterns.decide(pattern);
        self.left.set(left.saturating_sub(weight));
        decided
    }
}

fn with_values(
    args: &[Constant],
    f: impl for<'a> FnOnce(&Cx<'a>, &[Value<'a>]) -> Result<Value<'a>, ErrorKind>,
) -> Option<Result<Constant, ErrorKind>> {
    let arena = Arena::new(BYTES);
    let cx = Cx::new(STEPS, &arena);
    let values: Result<Vec<Value<'_>>, ErrorKind> = args.iter().map(|c| constant_value(c, &arena)).collect();
    match f(&cx, &values.ok()?) {
        Err(ErrorKind::OutOfBudget) => None,
        Err(kind) => Some(Err(kind)),
        Ok(value) => constant(&value).map(Ok),
    }
}

/// A value as a constant, if there is one like it.
fn constant(value: &Value<'_>) -> Option<Constant> {
    Some(match value {
        Value::Null => Constant::Null,
        Value::Bool(v) => Constant::Bool(*v),
        Value::Int(v) => Constant::Int(*v),
        Value::Uint(v) => Constant::Uint(*v),
        Value::Double(v) => Constant::Double(v.to_bits()),
        Value::String(text) => Constant::Str((*text).into()),
        Value::Bytes(bytes) => Constant::Bytes((*bytes).into()),
        Value::Duration(duration) => Constant::Duration(duration.0),
        Value::Timestamp(time) => Constant::Timestamp(time.seconds, u32::try_from(time.nanos).ok()?),
        Value::Type(name) => Constant::Type((*name).into()),
        Value::Ip(ip) => Constant::Ip(*ip),
        Value::Cidr(ip, prefix) => Constant::Cidr(*ip, *prefix),
        Value::List(List::Slice(items)) => {
            Constant::List(items.iter().map(|item| constant(item)).collect::<Option<_>>()?)
        }
        Value::Map(Map::Sorted(entries)) => Constant::Map(
            entries.iter().map(|(key, value)| Some((constant(key)?, constant(value)?))).collect::<Option<_>>()?,
        ),
        Value::List(List::Host(_)) | Value::Map(Map::Host(_)) | Value::Optional(_) => return None,
    })
}
