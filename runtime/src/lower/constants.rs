//! Constants of the graph: their conversion to and from values, and the evaluation of calls whose
//! operands are constants.
//!
//! The passes of `celero_ir` know no values and no library. They fold calls through the trait
//! [`Evaluator`], which [`ConstantEvaluator`] implements with the functions that evaluation uses,
//! so that a folded call gives what the call would give.

use super::{Callee, Calls};
use crate::arena::{Arena, EvalResult};
use crate::cx::CxSettings;
use crate::function::Functions;
use crate::library::{self, Cx};
use crate::value::{Duration, List, Map, MapBuilder, Timestamp, Value};
use celero_ir::passes::{Evaluator, Pattern, TextTest, is_small};
use celero_ir::{Constant, ErrorKind, Helper, Wildcard};
use celero_matching::pattern::{self, PatternCache, Strategy};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Budget of one folded call, in steps. A call that needs more is not folded.
const STEPS: i64 = 10_000;

/// Memory of one folded call, in bytes. A call that needs more is not folded.
const BYTES: usize = 1 << 16;

/// Sum of the weights of the patterns that are compiled for one rule, so that compiling the rule
/// takes some tenths of a second at most. Further patterns are compiled when they are first needed.
const PATTERN_WEIGHT: u32 = 2048;

/// Evaluates calls of the library and of the host's pure functions while a graph is optimised.
pub(crate) struct ConstantEvaluator<'a> {
    calls: &'a Calls,
    functions: &'a Functions,
    patterns: &'a PatternCache,
    /// What is left of [`PATTERN_WEIGHT`].
    weight_left: Cell<u32>,
    /// Calls of the host's functions that were folded, as texts, if somebody reads them.
    folded: Option<&'a RefCell<BTreeSet<String>>>,
}

impl<'a> ConstantEvaluator<'a> {
    /// An evaluator for a graph with these callees.
    pub(crate) fn new(calls: &'a Calls, functions: &'a Functions, patterns: &'a PatternCache) -> Self {
        Self { calls, functions, patterns, weight_left: Cell::new(PATTERN_WEIGHT), folded: None }
    }

    /// Records the calls of the host's functions that are folded.
    pub(crate) fn recording(self, folded: Option<&'a RefCell<BTreeSet<String>>>) -> Self {
        Self { folded, ..self }
    }

    /// Records a folded call if it is one of the host's.
    fn record(&self, callee: &Callee, args: &[Constant], result: &Result<Constant, ErrorKind>) {
        let Some(folded) = self.folded else { return };
        let Some(name) = callee.host_function().and_then(|index| self.functions.name(index)) else { return };
        let args: Vec<String> = args.iter().map(Constant::to_string).collect();
        let result = match result {
            Ok(constant) if is_small(constant) => constant.to_string(),
            // Too large to stand in code.
            Ok(_) => return,
            Err(kind) => format!("error {kind}"),
        };
        folded.borrow_mut().insert(format!("{name}({}) = {result}", args.join(", ")));
    }

    /// Runs `f` on the values of constants. `None` if the call exceeds its budget, or gives a value
    /// that is no constant.
    fn with_values<'v>(
        &self,
        arena: &'v Arena,
        args: &[Constant],
        f: impl FnOnce(&Cx<'v>, &[Value<'v>]) -> Result<Value<'v>, ErrorKind>,
    ) -> Option<Result<Constant, ErrorKind>> {
        let cx = CxSettings { steps: STEPS, dialect: self.patterns.dialect() }.cx(arena, None).partial();
        let values: Result<Vec<Value<'v>>, ErrorKind> = args.iter().map(|c| value_of(c, arena)).collect();
        match f(&cx, &values.ok()?) {
            // A function of the host may have its answer later.
            Err(ErrorKind::OutOfBudget | ErrorKind::Unknown) => None,
            Err(kind) => Some(Err(kind)),
            Ok(value) => constant_of(&value).map(Ok),
        }
    }
}

impl Evaluator for ConstantEvaluator<'_> {
    fn dispatch(&self, function: &str, args: &[Constant]) -> Option<Result<Constant, ErrorKind>> {
        let callee = self.calls.by_name(function)?;
        let arena = Arena::new(BYTES);
        let result = self.with_values(&arena, args, |cx, args| callee.call(cx, self.functions, args))?;
        self.record(callee, args, &result);
        Some(result)
    }

    fn call(&self, helper: Helper, args: &[Constant]) -> Option<Result<Constant, ErrorKind>> {
        self.with_values(&Arena::new(BYTES), args, |cx, args| library::dispatch_by_helper(cx, helper, args))
    }

    fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        self.pattern(pattern)?;
        let arena = Arena::new(0);
        self.patterns.regex(pattern).ok()?.is_match(text, &Cx::new(STEPS, &arena)).ok()
    }

    fn byte_matches(&self, pattern: &str, bytes: &[u8]) -> Option<bool> {
        let arena = Arena::new(0);
        self.patterns.byte_regex(pattern).ok()?.is_match(bytes, &Cx::new(STEPS, &arena)).ok()
    }

    fn wildcard_matches(&self, wildcard: &Wildcard, bytes: &[u8]) -> bool {
        library::prepared_wildcard(wildcard).is_match(bytes)
    }

    fn is_selection(&self, function: &str) -> bool {
        self.calls.by_name(function).is_some_and(Callee::is_selection)
    }

    fn pattern(&self, pattern: &str) -> Option<Pattern> {
        let left = self.weight_left.get();
        if left == 0 {
            return None;
        }
        let plan = self.patterns.plan(pattern);
        self.weight_left.set(left.saturating_sub(plan.weight));
        Some(match plan.strategy? {
            Strategy::AnyOf(tests) => Pattern::AnyOf(tests.into_iter().map(text_test).collect()),
            Strategy::Search => Pattern::Engine,
        })
    }
}

/// The test of a pattern as the passes know it.
fn text_test(test: pattern::TextTest) -> TextTest {
    match test {
        pattern::TextTest::Is(text) => TextTest::Is(text.into()),
        pattern::TextTest::StartsWith(text) => TextTest::StartsWith(text.into()),
        pattern::TextTest::EndsWith(text) => TextTest::EndsWith(text.into()),
        pattern::TextTest::Contains(text) => TextTest::Contains(text.into()),
    }
}

/// Returns the value of a constant. Text and containers are copied into the arena.
///
/// # Errors
/// `out_of_budget` if the arena is full; `host` for a constant that is prepared data and no value,
/// such as a regular expression.
pub(crate) fn value_of<'a>(constant: &Constant, arena: &'a Arena) -> EvalResult<Value<'a>> {
    Ok(match constant {
        Constant::Null => Value::Null,
        Constant::Bool(v) => Value::Bool(*v),
        Constant::Int(v) => Value::Int(*v),
        Constant::Uint(v) => Value::Uint(*v),
        Constant::Double(bits) => Value::Double(f64::from_bits(*bits)),
        Constant::Str(text) => Value::String(arena.alloc_str(text)?),
        Constant::Bytes(bytes) => Value::Bytes(arena.alloc_slice(bytes)?),
        Constant::Duration(nanos) => Value::Duration(Duration(*nanos)),
        Constant::Timestamp(seconds, nanos) => {
            Value::Timestamp(Timestamp { seconds: *seconds, nanos: i64::from(*nanos) })
        }
        Constant::Type(name) => Value::Type(arena.alloc_str(name)?),
        Constant::Ip(ip) => Value::Ip(*ip),
        Constant::Cidr(ip, prefix) => Value::Cidr(*ip, *prefix),
        Constant::List(items) => {
            let mut elements = arena.vec();
            for item in items.iter() {
                elements.push(value_of(item, arena)?)?;
            }
            Value::List(List::Slice(elements.finish()))
        }
        Constant::Map(entries) => {
            let mut builder = MapBuilder::new(arena, entries.len())?;
            for (key, element) in entries.iter() {
                builder.insert(value_of(key, arena)?, value_of(element, arena)?)?;
            }
            Value::Map(builder.finish(&Cx::new(i64::MAX, arena))?)
        }
        Constant::Searcher(_)
        | Constant::Regex(_)
        | Constant::ByteRegex(_)
        | Constant::Wildcard(_)
        | Constant::StrSet(_)
        | Constant::IntSet(_)
        | Constant::HeaderName(_)
        | Constant::Projection(_)
        | Constant::Parameter(_) => return Err(ErrorKind::Host),
    })
}

/// Returns the constant that equals a value; `None` for lists and maps of the host, and for optionals.
pub(crate) fn constant_of(value: &Value<'_>) -> Option<Constant> {
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
            Constant::List(items.iter().map(|item| constant_of(item)).collect::<Option<_>>()?)
        }
        Value::Map(Map::Sorted(entries)) => Constant::Map(
            entries.iter().map(|(key, value)| Some((constant_of(key)?, constant_of(value)?))).collect::<Option<_>>()?,
        ),
        Value::List(List::Host(_)) | Value::Map(Map::Host(_)) | Value::Optional(_) | Value::Message(_) => return None,
    })
}
