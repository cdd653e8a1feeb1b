//! Validators: the rules of a type of message, and what they say of a message.

use crate::compile::Compiler;
use crate::error::{CompileError, ValidateError};
use crate::functions;
use crate::options::{Options, joined, lossy, nested};
use crate::plan::{Check, Compiled, FieldPlan, MessagePlan, ValuePlan};
use crate::violation::{PathElement, Subscript, Violation};
use celero::messages::{Descriptors, Message};
use celero::values::{Arena, Timestamp, Value};
use celero::{Bindings, Engine, Env, Scratch};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Deepest nesting of messages that are validated.
const MAX_DEPTH: u32 = 100;

/// Most violations that are reported of a message.
const MAX_VIOLATIONS: usize = 1_000;

/// Most bytes that the values of one message, and those of one rule, may take besides the bytes of the message.
const MEMORY: usize = 16 << 20;

/// The compiled rules of a type of message, and of the types in it. `Send` and `Sync`.
pub struct Validator {
    types: Descriptors,
    root: String,
    plans: HashMap<String, MessagePlan>,
    paths: NestedPaths,
}

/// The paths to what rules of elements, keys and values, and the other rules without expressions, are nested in.
struct NestedPaths {
    items: Vec<PathElement>,
    keys: Vec<PathElement>,
    values: Vec<PathElement>,
    required: Vec<PathElement>,
    defined: Vec<PathElement>,
    any_in: Vec<PathElement>,
    any_not_in: Vec<PathElement>,
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Validator {
    /// Compiles the rules of a type, by its full name, and of the types in it. `set` is a `FileDescriptorSet` with
    /// options and with all files that they need, `buf/validate/validate.proto` among them, as
    /// `buf build -o FILE` and `protoc --include_imports --descriptor_set_out=FILE` write it.
    ///
    /// # Errors
    /// The set is malformed or has no such type; rules that do not compile, or are not for the type of their field.
    pub fn new(set: &[u8], name: &str) -> Result<Self, CompileError> {
        Self::with_engine(&Engine::new(), set, name)
    }

    /// As [`new`](Self::new), with the limits of an engine.
    ///
    /// # Errors
    /// As of [`new`](Self::new).
    pub fn with_engine(engine: &Engine, set: &[u8], name: &str) -> Result<Self, CompileError> {
        let types = Descriptors::from_bytes(set).map_err(|error| CompileError::new(error.to_string()))?;
        let options = Options::read(set)?;
        let base = functions(Env::dynamic().messages(&types));
        let mut compiler = Compiler { engine, types: &types, options: &options, base, compiled: HashMap::new() };
        let (mut plans, mut missing) = (HashMap::new(), vec![name.to_owned()]);
        while let Some(name) = missing.pop() {
            if let Entry::Vacant(place) = plans.entry(name) {
                let plan = compiler.message(place.key(), &mut missing)?;
                place.insert(plan);
            }
        }
        let paths = NestedPaths {
            items: compiler.path(&[18, 4]),
            keys: compiler.path(&[19, 4]),
            values: compiler.path(&[19, 5]),
            required: compiler.path(&[25]),
            defined: compiler.path(&[16, 2]),
            any_in: compiler.path(&[20, 2]),
            any_not_in: compiler.path(&[20, 3]),
        };
        Ok(Self { types, root: name.to_owned(), plans, paths })
    }

    /// Returns what is wrong with a message, from its bytes in the wire format; nothing if it is valid. At most 1,000
    /// violations are returned. Parts that no rule reads are not looked at, also if they are malformed.
    ///
    /// # Errors
    /// What rules read is malformed, messages are nested too deep, or evaluating a rule failed.
    pub fn validate(&self, message: &[u8]) -> Result<Vec<Violation>, ValidateError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = Timestamp::new(i64::try_from(now.as_secs()).unwrap_or(i64::MAX), now.subsec_nanos().into());
        let now = now.map_err(|error| ValidateError::new(error.to_string()))?;
        let mut run = Run { validator: self, now, found: Vec::new(), scratch: Scratch::new() };
        run.message(&self.root, message, 0)?;
        Ok(run.found)
    }
}

struct Run<'v> {
    validator: &'v Validator,
    now: Timestamp,
    found: Vec<Violation>,
    /// The memory of rules, one after the other.
    scratch: Scratch,
}

impl Run<'_> {
    fn is_full(&self) -> bool {
        self.found.len() >= MAX_VIOLATIONS
    }

    fn message(&mut self, name: &str, bytes: &[u8], depth: u32) -> Result<(), ValidateError> {
        let validator = self.validator;
        let Some(plan) = validator.plans.get(name).filter(|plan| !plan.is_empty()) else { return Ok(()) };
        if depth > MAX_DEPTH {
            return Err(ValidateError::new(format!("messages are nested deeper than {MAX_DEPTH}")));
        }
        let arena = Arena::new(MEMORY);
        let message = Message::new(&validator.types, name, bytes);
        let message = message.ok_or_else(|| ValidateError::new(format!("there is no message `{name}`")))?;
        let message = message.indexed(&arena).and_then(|message| message.value(&arena)).map_err(failed)?;
        for check in &plan.checks {
            self.check(check, message)?;
        }
        for (names, members, required) in &plan.oneofs {
            let set = self.count(members, message)?;
            let fields = names.join(", ");
            if set > 1 {
                self.report("message.oneof", format!("only one of {fields} can be set"), &[]);
            } else if set == 0 && *required {
                self.report("message.oneof", format!("one of {fields} must be set"), &[]);
            }
        }
        for (oneof, members) in &plan.required_oneofs {
            if self.count(members, message)? == 0 {
                self.report("required", "exactly one field is required in oneof".to_owned(), &[]);
                self.prefix_last(PathElement { name: oneof.clone(), ..PathElement::default() });
            }
        }
        for field in &plan.fields {
            if self.is_full() {
                break;
            }
            self.field(field, message, depth)?;
        }
        Ok(())
    }

    fn count(&self, members: &[Compiled], message: Value<'_>) -> Result<usize, ValidateError> {
        members.iter().try_fold(0_usize, |count, has| Ok(count.saturating_add(is_true(has, message)?.into())))
    }

    fn field(&mut self, field: &FieldPlan, message: Value<'_>, depth: u32) -> Result<(), ValidateError> {
        let before = self.found.len();
        let is_set = is_true(&field.has, message)?;
        if field.required && !is_set {
            self.report("required", "value is required".to_owned(), &self.validator.paths.required);
        } else if is_set || !field.skips_unset {
            self.urls(field, message)?;
            if field.value.reads_value() {
                let mut bindings = Bindings::new(&field.get.env);
                bindings.set("message", message).map_err(|error| ValidateError::new(error.to_string()))?;
                let mut scratch = Scratch::new();
                let value = field.get.program.eval(&bindings, &mut scratch);
                let value = value.map_err(|error| ValidateError::new(error.to_string()))?;
                self.value(&field.value, value, false, depth)?;
            }
        }
        self.prefix(before, &field.element);
        Ok(())
    }

    /// Tests a value, of a whole field or of an element of one.
    fn value(&mut self, plan: &ValuePlan, value: Value<'_>, is_element: bool, depth: u32) -> Result<(), ValidateError> {
        if plan.skips_zero && is_element && is_zero(value, plan.zero_of_enum) {
            return Ok(());
        }
        for check in &plan.checks {
            self.check(check, value)?;
        }
        if let (Some(defined), Value::Int(number)) = (&plan.defined, value)
            && !defined.iter().any(|known| i64::from(*known) == number)
        {
            let message = "value must be one of the defined enum values".to_owned();
            self.report("enum.defined_only", message, &self.validator.paths.defined);
        }
        if let (Some(elements), Value::List(list)) = (&plan.elements, value) {
            let arena = Arena::new(MEMORY);
            for index in 0..list.len() {
                if self.is_full() {
                    break;
                }
                let Some(element) = list_element(&list, index, &arena)? else { continue };
                let before = self.found.len();
                self.value(elements, element, true, depth)?;
                let subscript = Subscript::Index(u64::try_from(index).unwrap_or(u64::MAX));
                self.nest(before, &self.validator.paths.items, &subscript);
            }
        }
        if let Value::Map(map) = value
            && (plan.keys.is_some() || plan.values.is_some())
        {
            self.entries(plan, map, depth)?;
        }
        if let (Some(name), Value::Message(message)) = (&plan.embedded, value)
            && message.name() == name
        {
            self.message(name, &message.bytes(), depth.saturating_add(1))?;
        }
        Ok(())
    }

    fn entries(&mut self, plan: &ValuePlan, map: celero::values::Map<'_>, depth: u32) -> Result<(), ValidateError> {
        let arena = Arena::new(MEMORY);
        for index in 0..map.len() {
            if self.is_full() {
                break;
            }
            let Some((key, value)) = map_entry(&map, index, &arena)? else { continue };
            let subscript = match key {
                Value::Bool(key) => Subscript::Bool(key),
                Value::Int(key) => Subscript::Int(key),
                Value::Uint(key) => Subscript::Uint(key),
                Value::String(key) => Subscript::Text(key.into()),
                _ => continue,
            };
            let before = self.found.len();
            if let Some(keys) = &plan.keys {
                self.value(keys, key, true, depth)?;
                self.nest(before, &self.validator.paths.keys, &subscript);
                self.found.iter_mut().skip(before).for_each(|violation| violation.for_key = true);
            }
            let before = self.found.len();
            if let Some(values) = &plan.values {
                self.value(values, value, true, depth)?;
                self.nest(before, &self.validator.paths.values, &subscript);
            }
        }
        Ok(())
    }

    /// Tests the URLs of a field of `google.protobuf.Any`, which are read from the message that has it.
    fn urls(&mut self, field: &FieldPlan, message: Value<'_>) -> Result<(), ValidateError> {
        let malformed = |error: celero_protobuf::WireError| ValidateError::new(error.to_string());
        let Value::Message(message) = message else { return Ok(()) };
        let bytes = message.bytes();
        if field.value.any.is_some() {
            let whole = joined(&bytes, field.element.number).map_err(malformed)?;
            self.any(&field.value, &whole)?;
        }
        let Some(elements) = field.value.elements.as_ref().filter(|plan| plan.any.is_some()) else { return Ok(()) };
        for (index, element) in (0..).zip(nested(&bytes, field.element.number)) {
            let (before, element) = (self.found.len(), element.map_err(malformed)?);
            if self.is_full() {
                break;
            }
            if elements.skips_zero && element.is_empty() {
                continue;
            }
            self.any(elements, element)?;
            self.nest(before, &self.validator.paths.items, &Subscript::Index(index));
        }
        Ok(())
    }

    /// Tests the URL of a `google.protobuf.Any`.
    fn any(&mut self, plan: &ValuePlan, any: &[u8]) -> Result<(), ValidateError> {
        let Some((allowed, refused)) = &plan.any else { return Ok(()) };
        let url = nested(any, 1).last().transpose().map_err(|error| ValidateError::new(error.to_string()))?;
        let url = lossy(url.unwrap_or_default());
        if !allowed.is_empty() && !allowed.contains(&url) {
            self.report("any.in", "type URL must be in the allow list".to_owned(), &self.validator.paths.any_in);
        }
        if refused.contains(&url) {
            let path = &self.validator.paths.any_not_in;
            self.report("any.not_in", "type URL must not be in the block list".to_owned(), path);
        }
        Ok(())
    }

    fn check(&mut self, check: &Check, this: Value<'_>) -> Result<(), ValidateError> {
        let unbound = |error: celero::host::BindError| ValidateError::new(error.to_string());
        let arena = Arena::new(MEMORY);
        let Compiled { env, program } = &check.compiled;
        let mut bindings = Bindings::new(env);
        bindings.set("this", this).map_err(unbound)?;
        bindings.set("now", Value::Timestamp(self.now)).map_err(unbound)?;
        if let Some((name, bytes)) = &check.rules {
            let rules = Message::new(&self.validator.types, name, bytes);
            let rules = rules.ok_or_else(|| ValidateError::new(format!("there is no message `{name}`")))?;
            bindings.set("rules", rules.value(&arena).map_err(failed)?).map_err(unbound)?;
        }
        let result = program
            .eval(&bindings, &mut self.scratch)
            .map_err(|error| ValidateError::new(format!("rule `{}` failed: {error}", check.id)))?;
        let message = match result {
            Value::Bool(true) | Value::String("") => return Ok(()),
            Value::Bool(_) if check.message.is_empty() => format!("\"{}\" returned false", program.source()),
            Value::Bool(_) => check.message.clone(),
            Value::String(_) if !check.message.is_empty() => check.message.clone(),
            Value::String(message) => message.to_owned(),
            other => return Err(ValidateError::new(format!("rule `{}` gives a `{}`", check.id, other.type_name()))),
        };
        self.report(&check.id, message, &check.path);
        Ok(())
    }

    fn report(&mut self, id: &str, message: String, rule: &[PathElement]) {
        let (rule_id, rule) = (id.to_owned(), rule.to_vec());
        self.found.push(Violation { rule_id, message, rule, ..Violation::default() });
    }

    /// Puts a field before the paths of the violations from one on.
    fn prefix(&mut self, from: usize, element: &PathElement) {
        for violation in self.found.iter_mut().skip(from) {
            // An element of the field itself says which one it is by a subscript without a field.
            match violation.field.first_mut().filter(|first| first.number == 0 && first.name.is_empty()) {
                Some(first) => *first = PathElement { subscript: first.subscript.take(), ..element.clone() },
                None => {
                    let whole = PathElement { key_type: 0, value_type: 0, ..element.clone() };
                    violation.field.insert(0, whole);
                }
            }
        }
    }

    fn prefix_last(&mut self, element: PathElement) {
        if let Some(last) = self.found.last_mut() {
            last.field.insert(0, element);
        }
    }

    /// Says of violations in an element which one it is, and of its own rules what they are nested in.
    fn nest(&mut self, from: usize, rule: &[PathElement], subscript: &Subscript) {
        for violation in self.found.iter_mut().skip(from) {
            if violation.field.is_empty() && !violation.rule.is_empty() {
                violation.rule.splice(0..0, rule.iter().cloned());
            }
            let subscript = Some(subscript.clone());
            violation.field.insert(0, PathElement { subscript, ..PathElement::default() });
        }
    }
}

fn failed(error: celero::ErrorKind) -> ValidateError {
    ValidateError::new(error.to_string())
}

fn is_true(has: &Compiled, message: Value<'_>) -> Result<bool, ValidateError> {
    let mut bindings = Bindings::new(&has.env);
    bindings.set("message", message).map_err(|error| ValidateError::new(error.to_string()))?;
    has.program.test(&bindings).map_err(|error| ValidateError::new(error.to_string()))
}

fn list_element<'a>(
    list: &celero::values::List<'a>,
    index: usize,
    arena: &'a Arena,
) -> Result<Option<Value<'a>>, ValidateError> {
    list.get(index, arena).map_err(failed)
}

fn map_entry<'a>(
    map: &celero::values::Map<'a>,
    index: usize,
    arena: &'a Arena,
) -> Result<Option<(Value<'a>, Value<'a>)>, ValidateError> {
    map.entry(index, arena).map_err(failed)
}

fn is_zero(value: Value<'_>, zero_of_enum: Option<i32>) -> bool {
    match value {
        Value::Int(value) if let Some(zero) = zero_of_enum => value == i64::from(zero),
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(value) => value == 0,
        Value::Uint(value) => value == 0,
        Value::Double(value) => value == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::List(list) => list.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Message(message) => message.bytes().is_empty(),
        Value::Duration(span) => span == celero::values::Duration::default(),
        Value::Timestamp(time) => time == Timestamp::default(),
        _ => false,
    }
}
