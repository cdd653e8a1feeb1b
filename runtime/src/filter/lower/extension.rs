//! Functions of the filter language that native code calls by dispatch.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::error::ErrorKind;
use crate::filter::binding::{Derivation, FilterBinding, PartValue};
use crate::filter::compare::compare;
use crate::filter::convert::{engine_value, filter_value};
use crate::filter::data::{call_host, listed};
use crate::filter::derive::{derive, headers_type};
use crate::filter::functions::{self, Arguments};
use crate::filter::value::FilterValue;
use crate::function::Functions;
use crate::lower::Extension;
use crate::value::{List, Map, Value};
use celero_frontend::filter::{Comparison, Connective, FilterType, StandardFunction};
use celero_matching::pattern::ByteRegex;
use std::fmt;
use std::sync::Arc;

/// The value of a result; the error of a missing one.
fn present<T>(value: Option<T>) -> EvalResult<T> {
    value.ok_or(ErrorKind::NoSuchKey)
}

/// A value that follows from another.
#[derive(Debug)]
pub(super) struct Derive(pub(super) Derivation);

impl Extension for Derive {
    fn name(&self) -> &str {
        match self.0 {
            Derivation::HeaderNames => "filter.header_names",
            Derivation::HeaderValues => "filter.header_values",
            Derivation::Cookies => "filter.cookies",
            Derivation::Arguments => "filter.arguments",
            Derivation::ArgumentNames => "filter.argument_names",
            Derivation::ArgumentValues => "filter.argument_values",
            Derivation::Extension => "filter.extension",
            Derivation::Languages => "filter.languages",
            Derivation::MediaType => "filter.media_type",
            Derivation::Mime => "filter.mime",
            Derivation::Form => "filter.form",
            Derivation::FormNames => "filter.form_names",
            Derivation::FormValues => "filter.form_values",
            Derivation::Multipart => "filter.multipart",
            Derivation::Parts(PartValue::Content) => "filter.parts",
            Derivation::Parts(PartValue::Names) => "filter.part_names",
            Derivation::Parts(PartValue::FileNames) => "filter.part_file_names",
            Derivation::Parts(PartValue::Dispositions) => "filter.part_dispositions",
            Derivation::Parts(PartValue::Types) => "filter.part_types",
            Derivation::Parts(PartValue::Encodings) => "filter.part_encodings",
        }
    }

    fn is_pure(&self, _: &Functions) -> bool {
        true
    }

    fn call<'a>(&self, cx: &Cx<'a>, _: &Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        let derived = derive(self.0, present(args.first())?, cx)?;
        engine_value(&present(derived)?, cx.arena())
    }
}

/// `(headers)`: the lines of a header.
#[derive(Debug)]
pub(super) struct HeaderLines(pub(super) Arc<str>, pub(super) String);

impl HeaderLines {
    pub(super) fn new(name: &Arc<str>) -> Self {
        Self(name.clone(), format!("filter.header_lines {name:?}"))
    }
}

impl Extension for HeaderLines {
    fn name(&self) -> &str {
        &self.1
    }

    fn is_pure(&self, _: &Functions) -> bool {
        true
    }

    #[cfg(feature = "http")]
    fn call<'a>(&self, cx: &Cx<'a>, _: &Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        let Some(Value::Map(Map::Host(host))) = args.first() else { return Err(ErrorKind::NoSuchOverload) };
        let headers = present(host.headers())?;
        // Keys are compared as they are, and names are in lower case.
        if self.0.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(ErrorKind::NoSuchKey);
        }
        let mut lines = cx.arena().vec();
        for line in headers.get_all(&*self.0) {
            cx.charge(1)?;
            lines.push(Value::Bytes(line.as_bytes()))?;
        }
        let lines = lines.finish();
        if lines.is_empty() { Err(ErrorKind::NoSuchKey) } else { Ok(Value::List(List::Slice(lines))) }
    }

    #[cfg(not(feature = "http"))]
    fn call<'a>(&self, _: &Cx<'a>, _: &Functions, _: &[Value<'a>]) -> EvalResult<Value<'a>> {
        Err(ErrorKind::NoSuchKey)
    }
}

/// `(map)`: the values of a map in the order of the keys; of a header map, the lists of lines.
#[derive(Debug)]
pub(super) struct MapValues;

impl Extension for MapValues {
    fn name(&self) -> &str {
        "filter.map_values"
    }

    fn is_pure(&self, _: &Functions) -> bool {
        true
    }

    fn call<'a>(&self, cx: &Cx<'a>, _: &Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        let Some(value @ Value::Map(map)) = args.first() else { return Err(ErrorKind::NoSuchOverload) };
        let mut values = cx.arena().vec();
        if is_header_map(map) {
            let lines = present(filter_value(value, &headers_type(), cx)?)?;
            if let FilterValue::Map(lines) = lines {
                for lines in lines.values() {
                    values.push(engine_value(lines, cx.arena())?)?;
                }
            }
        } else {
            for (_, value) in map.sorted(cx)? {
                cx.charge(1)?;
                values.push(*value)?;
            }
        }
        Ok(Value::List(List::Slice(values.finish())))
    }
}

#[cfg(feature = "http")]
fn is_header_map(map: &Map<'_>) -> bool {
    matches!(map, Map::Host(host) if host.headers().is_some())
}

#[cfg(not(feature = "http"))]
fn is_header_map(_: &Map<'_>) -> bool {
    false
}

/// `(value)`: a comparison that has no operation of its own.
pub(super) struct Compare {
    name: String,
    binding: Arc<FilterBinding>,
    comparison: Comparison,
    ty: FilterType,
}

impl Compare {
    pub(super) fn new(binding: &Arc<FilterBinding>, comparison: &Comparison, ty: &FilterType) -> Self {
        let name = match comparison {
            Comparison::InList(list) => format!("filter.in_list {ty} ${list}"),
            other => format!("filter.compare {ty} {other:?}"),
        };
        Self { name, binding: binding.clone(), comparison: comparison.clone(), ty: ty.clone() }
    }
}

impl fmt::Debug for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Extension for Compare {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_pure(&self, _: &Functions) -> bool {
        !matches!(self.comparison, Comparison::InList(_))
    }

    fn call<'a>(&self, cx: &Cx<'a>, _: &Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        let value = present(filter_value(present(args.first())?, &self.ty, cx)?)?;
        cx.charge_each_byte(value.size())?;
        Ok(Value::Bool(match &self.comparison {
            Comparison::InList(list) => listed(cx, &self.binding, list, &value)?,
            comparison => {
                if let Comparison::OneOf(items) = comparison {
                    cx.charge(items.len())?;
                }
                compare(comparison, &value)
            }
        }))
    }
}

/// What a call runs.
pub(super) enum Compute {
    /// A documented function, with its pattern as written and compiled.
    Standard(StandardFunction, Option<(Box<str>, ByteRegex)>),
    /// A function of the host, by its index in the scheme.
    Host(Arc<FilterBinding>, u32),
}

/// The value that stands for a missing argument: a type, which no value of the language is.
pub(super) const MISSING: &str = "missing";

/// `(argument, ..)`: a function. Missing arguments are [`MISSING`].
pub(super) struct FunctionCall {
    name: String,
    run: Compute,
    parameters: Vec<FilterType>,
}

impl FunctionCall {
    pub(super) fn new(name: &str, run: Compute, parameters: Vec<FilterType>) -> Self {
        let pattern = match &run {
            Compute::Standard(_, Some((text, _))) => format!(" {text:?}"),
            _ => String::new(),
        };
        Self { name: format!("filter.{name}{pattern} {parameters:?}"), run, parameters }
    }
}

impl fmt::Debug for FunctionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Extension for FunctionCall {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_pure(&self, functions: &Functions) -> bool {
        match &self.run {
            Compute::Standard(..) => true,
            Compute::Host(..) => self.host_function().is_some_and(|index| functions.is_pure(index)),
        }
    }

    fn host_function(&self) -> Option<u32> {
        match &self.run {
            Compute::Standard(..) => None,
            Compute::Host(binding, function) => binding.host_function(*function).map(|(index, _)| index),
        }
    }

    fn call<'a>(&self, cx: &Cx<'a>, functions: &Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        let mut values = Vec::with_capacity(args.len());
        for (arg, ty) in args.iter().zip(&self.parameters) {
            values.push(match arg {
                Value::Type(MISSING) => None,
                arg => filter_value(arg, ty, cx)?,
            });
        }
        let values: Vec<Option<&FilterValue>> = values.iter().map(Option::as_ref).collect();
        let size = values.iter().flatten().map(|value| value.size()).fold(0, usize::saturating_add);
        cx.charge_each_byte(size)?;
        let result = match &self.run {
            Compute::Standard(function, pattern) => {
                let room = usize::try_from(cx.left()).unwrap_or(0).saturating_mul(super::super::BYTES_PER_STEP);
                let charge = |steps| cx.charge(steps).map_err(|_| functions::TooLarge);
                let arguments = Arguments {
                    values: &values,
                    pattern: pattern.as_ref().map(|(_, pattern)| pattern),
                    room,
                    charge: &charge,
                };
                functions::call(*function, &arguments).map_err(|functions::TooLarge| ErrorKind::OutOfBudget)?
            }
            Compute::Host(binding, function) => call_host(binding, *function, functions, &values, cx)?,
        };
        engine_value(&present(result)?, cx.arena())
    }
}

/// `(value)`: the value as hosts see it.
#[derive(Debug)]
pub(super) struct Converted {
    name: String,
    ty: FilterType,
}

impl Converted {
    pub(super) fn new(ty: &FilterType) -> Self {
        Self { name: format!("filter.converted {ty}"), ty: ty.clone() }
    }
}

impl Extension for Converted {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_pure(&self, _: &Functions) -> bool {
        true
    }

    fn call<'a>(&self, cx: &Cx<'a>, _: &Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        engine_value(&present(filter_value(present(args.first())?, &self.ty, cx)?)?, cx.arena())
    }
}

/// `(value)`: true.
#[derive(Debug)]
pub(super) struct IsPresent;

impl Extension for IsPresent {
    fn name(&self) -> &str {
        "filter.is_present"
    }

    fn is_pure(&self, _: &Functions) -> bool {
        true
    }

    fn call<'a>(&self, _: &Cx<'a>, _: &Functions, _: &[Value<'a>]) -> EvalResult<Value<'a>> {
        Ok(Value::Bool(true))
    }
}

/// `(lists)`: the elements of all lists in a list.
#[derive(Debug)]
pub(super) struct Flatten;

impl Extension for Flatten {
    fn name(&self) -> &str {
        "filter.flatten"
    }

    fn is_pure(&self, _: &Functions) -> bool {
        true
    }

    fn call<'a>(&self, cx: &Cx<'a>, _: &Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        let Some(Value::List(lists)) = args.first() else { return Err(ErrorKind::NoSuchOverload) };
        let mut elements = cx.arena().vec();
        for index in 0..lists.len() {
            let Some(Value::List(list)) = lists.get(index, cx.arena())? else { continue };
            cx.charge(list.len())?;
            for index in 0..list.len() {
                if let Some(element) = list.get(index, cx.arena())? {
                    elements.push(element)?;
                }
            }
        }
        Ok(Value::List(List::Slice(elements.finish())))
    }
}

/// `(list, list, ..)`: lists of results joined element by element, up to the length of the shortest.
#[derive(Debug)]
pub(super) struct Zip(pub(super) Connective);

impl Extension for Zip {
    fn name(&self) -> &str {
        match self.0 {
            Connective::And => "filter.zip_and",
            Connective::Or => "filter.zip_or",
            Connective::Xor => "filter.zip_xor",
        }
    }

    fn is_pure(&self, _: &Functions) -> bool {
        true
    }

    fn call<'a>(&self, cx: &Cx<'a>, _: &Functions, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
        let lists = args.iter().map(|arg| match arg {
            Value::List(list) => Ok(list),
            _ => Err(ErrorKind::NoSuchOverload),
        });
        let lists: Vec<&List<'a>> = lists.collect::<EvalResult<_>>()?;
        let length = lists.iter().map(|list| list.len()).min().unwrap_or(0);
        let mut results = cx.arena().vec();
        for index in 0..length {
            cx.charge(lists.len())?;
            let mut joined: Option<bool> = None;
            for list in &lists {
                let next = matches!(list.get(index, cx.arena())?, Some(Value::Bool(true)));
                joined = Some(match (joined, self.0) {
                    (None, _) => next,
                    (Some(value), Connective::And) => value && next,
                    (Some(value), Connective::Or) => value || next,
                    (Some(value), Connective::Xor) => value != next,
                });
            }
            results.push(Value::Bool(joined.unwrap_or(false)))?;
        }
        Ok(Value::List(List::Slice(results.finish())))
    }
}
