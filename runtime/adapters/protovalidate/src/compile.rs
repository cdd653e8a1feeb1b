//! Compiles the rules of types of messages.

use crate::error::CompileError;
use crate::options::{Options, Rule, cel_rules, flag, joined, lossy, nested, number};
use crate::plan::{Check, Compiled, FieldPlan, MessagePlan, ValuePlan};
use crate::standard::{ANY, ENUM, MAP, REPEATED, Subject, type_number};
use crate::violation::{PathElement, Subscript};
use celero::messages::{Descriptors, type_of_message};
use celero::{Bindings, Engine, Env, Type};
use celero_protobuf::{EnumType, Field, MessageType, Records, WireError};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Values of `buf.validate.Ignore`.
const IF_ZERO: u64 = 1;
const ALWAYS: u64 = 3;

pub(crate) struct Compiler<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) types: &'a Descriptors,
    pub(crate) options: &'a Options,
    /// With the messages and the functions.
    pub(crate) base: Env<Bindings<'static>>,
    /// Compiled expressions by all that they depend on.
    pub(crate) compiled: HashMap<(String, String), Compiled>,
}

/// What expressions of rules read besides `this`.
#[derive(Clone, Copy)]
struct StandardRule<'a> {
    ty: &'a MessageType,
    field: &'a Field,
    bytes: &'a Arc<[u8]>,
}

impl From<WireError> for CompileError {
    fn from(error: WireError) -> Self {
        Self::new(format!("the rules are malformed: {error}"))
    }
}

impl Compiler<'_> {
    /// Returns the plan of a type, and adds the types that it needs to `others`.
    pub(crate) fn message(&mut self, name: &str, others: &mut Vec<String>) -> Result<MessagePlan, CompileError> {
        let (types, options) = (self.types, self.options);
        let ty = types.message(name).ok_or_else(|| CompileError::new(format!("there is no message `{name}`")))?;
        let mut plan = MessagePlan::default();
        let none = Default::default();
        let rules = options.message_rules(name).unwrap_or(&none);
        let this = type_of_message(name);
        for rule in &rules.cel {
            plan.checks.push(self.check(rule, &this, None, Vec::new())?);
        }
        for (names, required) in &rules.oneofs {
            plan.oneofs.push((names.clone(), self.oneof(ty, names)?, *required));
        }
        for (oneof, members) in &rules.required_oneofs {
            let fields = members.iter().filter_map(|number| ty.by_number(*number));
            let set = fields.map(|field| self.has(ty, field)).collect::<Result<_, _>>()?;
            plan.required_oneofs.push((oneof.clone(), set));
        }
        // Extensions have no rules.
        for field in ty.fields().iter().filter(|field| !field.name().contains('.')) {
            let bytes = rules.fields.get(&field.number()).map_or(&[][..], Vec::as_slice);
            let is_in_oneof = rules.oneofs.iter().any(|(names, _)| names.iter().any(|name| name == field.name()));
            if let Some(field) = self.field(ty, field, bytes, is_in_oneof, others)? {
                plan.fields.push(field);
            }
        }
        Ok(plan)
    }

    fn oneof(&mut self, ty: &MessageType, names: &[String]) -> Result<Vec<Compiled>, CompileError> {
        let wrong = |what: &str| Err(CompileError::new(format!("a oneof rule of `{}` {what}", ty.name())));
        if names.is_empty() {
            return wrong("names no field");
        }
        let mut found = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let Some(field) = ty.field(name).filter(|_| !name.contains('.')) else {
                return wrong(&format!("names `{name}`, which is no field"));
            };
            if names.iter().skip(at.saturating_add(1)).any(|other| other == name) {
                return wrong(&format!("names `{name}` twice"));
            }
            found.push(self.has(ty, field)?);
        }
        Ok(found)
    }

    fn field(
        &mut self,
        ty: &MessageType,
        field: &Field,
        rules: &[u8],
        is_in_oneof: bool,
        others: &mut Vec<String>,
    ) -> Result<Option<FieldPlan>, CompileError> {
        let ignore = number(rules, 27)?.unwrap_or(if is_in_oneof && !rules.is_empty() { IF_ZERO } else { 0 });
        if ignore == ALWAYS {
            return Ok(None);
        }
        let required = flag(rules, 25)?;
        let value = self
            .value(Subject { field, is_element: false }, rules, others)
            .map_err(|error| CompileError::new(format!("field `{}` of `{}`: {error}", field.name(), ty.name())))?;
        if value.is_empty() && !required {
            return Ok(None);
        }
        Ok(Some(FieldPlan {
            element: self.element(field),
            has: self.has(ty, field)?,
            get: self.reading(ty, &format!("message.`{}`", field.name()))?,
            required,
            skips_unset: field.has_presence() || ignore == IF_ZERO,
            value,
        }))
    }

    fn element(&self, field: &Field) -> PathElement {
        let name = if field.name().contains('.') { format!("[{}]", field.name()) } else { field.name().to_owned() };
        let entry = self.types.entry_of(field).filter(|_| Subject { field, is_element: false }.is_map());
        PathElement {
            number: field.number(),
            name,
            ty: type_number(field),
            key_type: entry.map_or(0, |(key, _)| type_number(key)),
            value_type: entry.map_or(0, |(_, value)| type_number(value)),
            subscript: None,
        }
    }

    fn has(&mut self, ty: &MessageType, field: &Field) -> Result<Compiled, CompileError> {
        self.reading(ty, &format!("has(message.`{}`)", field.name()))
    }

    /// An expression over a message.
    fn reading(&mut self, ty: &MessageType, source: &str) -> Result<Compiled, CompileError> {
        let base = &self.base;
        Self::compile(self.engine, &mut self.compiled, source, &format!("message {}", ty.name()), || {
            base.clone().variable("message", Type::message(ty.name()))
        })
    }

    /// The plan of a value with rules, which are `buf.validate.FieldRules`.
    fn value(
        &mut self,
        subject: Subject<'_>,
        rules: &[u8],
        others: &mut Vec<String>,
    ) -> Result<ValuePlan, CompileError> {
        let mut plan = ValuePlan::default();
        match number(rules, 27)?.unwrap_or(0) {
            ALWAYS => return Ok(plan),
            ignore => plan.skips_zero = ignore == IF_ZERO,
        }
        let values = self.types.enum_of(subject.field).map(EnumType::values);
        plan.zero_of_enum = values.and_then(|values| values.first()).map(|(_, number)| *number);
        let this = subject.ty(self.types);
        for (field, found) in [(29, cel_rules(rules, 29, 0)?), (23, cel_rules(rules, 0, 23)?)] {
            for (index, rule) in (0..).zip(found) {
                let mut path = self.path(&[field]);
                if let Some(element) = path.last_mut() {
                    element.subscript = Some(Subscript::Index(index));
                }
                plan.checks.push(self.check(&rule, &this, None, path)?);
            }
        }
        if let Some(message) = subject.message(self.types)
            && !message.starts_with("google.protobuf.")
        {
            others.push(message.clone());
            plan.embedded = Some(message);
        }
        self.standard(subject, rules, &mut plan, others)?;
        // Elements have the rules of their types, whether the field has rules or not.
        if subject.is_list() && plan.elements.is_none() {
            let elements = self.value(Subject { is_element: true, ..subject }, &[], others)?;
            plan.elements = Some(Box::new(elements));
        }
        if subject.is_map()
            && plan.values.is_none()
            && let Some((_, value)) = self.types.entry_of(subject.field)
        {
            let values = self.value(Subject { field: value, is_element: true }, &[], others)?;
            plan.values = Some(Box::new(values));
        }
        Ok(plan)
    }

    /// Adds the rules for the type of a value.
    fn standard(
        &mut self,
        subject: Subject<'_>,
        rules: &[u8],
        plan: &mut ValuePlan,
        others: &mut Vec<String>,
    ) -> Result<(), CompileError> {
        let types = self.types;
        let all = types.message("buf.validate.FieldRules");
        let mut written = None;
        for record in Records::new(rules) {
            let number = record?.number;
            let is_type = !matches!(number, 23 | 25 | 27 | 29);
            written = if is_type { Some(number) } else { written };
        }
        let Some(written) = written else { return Ok(()) };
        let rule = all.and_then(|all| all.by_number(written));
        let Some((rule, of)) = rule.and_then(|rule| Some((rule, types.message_of(rule)?))) else {
            return Err(CompileError::new(format!(
                "unknown rules {written}: is `buf/validate/validate.proto` in the set?"
            )));
        };
        if subject.rules(types) != Some(written) {
            let ty = subject.ty(types);
            return Err(CompileError::new(format!("the rules `{}` are not for the type `{ty}`", rule.name())));
        }
        let bytes: Arc<[u8]> = joined(rules, written)?.into();
        let mut numbers: Vec<u32> = Vec::new();
        for record in Records::new(&bytes) {
            let number = record?.number;
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        // `this` of a wrapper is what it wraps.
        let this = match subject.ty(types) {
            Type::Wrapper(inner) => (*inner).clone(),
            ty => ty,
        };
        for number in numbers {
            let Some(field) = of.by_number(number) else {
                return Err(CompileError::new(format!("unknown rule {number} of `{}`", of.name())));
            };
            let standard = StandardRule { ty: of, field, bytes: &bytes };
            for rule in self.options.predefined(of.name(), number) {
                let path = self.path(&[written, number]);
                plan.checks.push(self.check(rule, &this, Some(standard), path)?);
            }
        }
        match written {
            ANY => {
                let list = |number| nested(&bytes, number).map(|url| url.map(lossy)).collect::<Result<Vec<_>, _>>();
                plan.any = Some((list(2)?, list(3)?));
            }
            ENUM if flag(&bytes, 2)? => {
                let values =
                    types.enum_of(subject.field).map(|ty| ty.values().iter().map(|(_, number)| *number).collect());
                plan.defined = values;
            }
            REPEATED => {
                let elements = self.value(Subject { is_element: true, ..subject }, &joined(&bytes, 4)?, others)?;
                plan.elements = Some(Box::new(elements));
            }
            MAP => {
                let Some((key, value)) = types.entry_of(subject.field) else { return Ok(()) };
                let of = |field| Subject { field, is_element: true };
                let keys = self.value(of(key), &joined(&bytes, 4)?, others)?;
                let values = self.value(of(value), &joined(&bytes, 5)?, others)?;
                if values.any.is_some() {
                    return Err(CompileError::new(
                        "rules of `google.protobuf.Any` in values of maps are not supported".to_owned(),
                    ));
                }
                plan.keys = Some(Box::new(keys));
                plan.values = Some(Box::new(values));
            }
            _ => {}
        }
        Ok(())
    }

    /// The path to a rule: fields by their numbers, from `buf.validate.FieldRules` on.
    pub(crate) fn path(&self, numbers: &[u32]) -> Vec<PathElement> {
        let mut ty = self.types.message("buf.validate.FieldRules");
        let mut path = Vec::new();
        for number in numbers {
            let Some(field) = ty.and_then(|ty| ty.by_number(*number)) else { break };
            path.push(self.element(field));
            ty = self.types.message_of(field);
        }
        path
    }

    fn check(
        &mut self,
        rule: &Rule,
        this: &Type,
        standard: Option<StandardRule<'_>>,
        path: Vec<PathElement>,
    ) -> Result<Check, CompileError> {
        let types = self.types;
        let key = match standard {
            Some(StandardRule { ty, field, .. }) => format!("this {this} {} {}", ty.name(), field.number()),
            None => format!("this {this}"),
        };
        let base = &self.base;
        let compiled = Self::compile(self.engine, &mut self.compiled, &rule.expression, &key, || {
            let mut env = base.clone();
            env = env.variable("this", this.clone()).variable("now", Type::Timestamp);
            let mut names = match this {
                Type::Opaque(name, _) => fields_of(types, name),
                _ => Vec::new(),
            };
            if let Some(StandardRule { ty, field, .. }) = standard {
                env = env.variable("rules", Type::message(ty.name()));
                env = env.alias("rule", &format!("rules.`{}`", field.name()));
                names.extend(fields_of(types, ty.name()));
            }
            // It is as deep as there are names.
            if !rule.expression.contains("getField") {
                return env;
            }
            names.sort_unstable();
            names.dedup();
            env.define("getField(message, name: string) -> dyn", &get_field(&names))
        })?;
        let result = compiled.program.result_type();
        if !matches!(result, Type::Bool | Type::String | Type::Dyn) {
            let message = format!("rule `{}` gives `{result}`, and must give `bool` or `string`", rule.id);
            return Err(CompileError::new(message));
        }
        let rules = standard.map(|standard| (standard.ty.name().to_owned(), Arc::clone(standard.bytes)));
        Ok(Check { compiled, path, id: rule.id.clone(), message: rule.message.clone(), rules })
    }

    fn compile(
        engine: &Engine,
        all: &mut HashMap<(String, String), Compiled>,
        source: &str,
        key: &str,
        env: impl FnOnce() -> Env<Bindings<'static>>,
    ) -> Result<Compiled, CompileError> {
        let key = (source.to_owned(), key.to_owned());
        if let Some(compiled) = all.get(&key) {
            return Ok(compiled.clone());
        }
        let env = env();
        let program = engine.compile(&env, source).map_err(|error| CompileError::new(error.to_string()))?;
        let compiled = Compiled { env: Arc::new(env), program };
        all.insert(key, compiled.clone());
        Ok(compiled)
    }
}

fn fields_of(types: &Descriptors, name: &str) -> Vec<String> {
    let fields = types.message(name).map_or(&[][..], MessageType::fields);
    fields.iter().map(|field| field.name().to_owned()).collect()
}

/// The body of `getField` for messages with these fields. Another name is no field.
fn get_field(names: &[String]) -> String {
    let mut body = String::new();
    for name in names {
        // Writing to a string does not fail.
        let _ = write!(body, "name == '{name}' ? dyn(message.`{name}`) : ");
    }
    body + "dyn(message)[name]"
}
