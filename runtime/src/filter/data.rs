//! What an evaluation of a filter reads besides the rule: the values of fields, lists, functions of the host.

use super::convert::{argument, engine_value, filter_value};
use super::derive::derive;
use super::value::{FilterHost, FilterValue};
use crate::arena::EvalResult;
use crate::context::Host;
use crate::cx::Cx;
use crate::filter::binding::{Derivation, FilterBinding, Source};
use crate::function::Functions;
use crate::interpret::interpret;
use crate::library::{list_has_address, list_has_bytes, list_has_integer};
use crate::value::Value;
use celero_frontend::Type;
use celero_frontend::filter::FilterType;
use std::borrow::Cow;

/// The data of one evaluation.
pub(super) trait Data {
    /// The value of a field of this type; `None` if it is missing.
    ///
    /// # Errors
    /// `out_of_budget`, and `unknown` for what is not known yet; every other failure is a missing value.
    fn field(&self, index: u32, ty: &FilterType) -> EvalResult<Option<Cow<'_, FilterValue>>>;

    /// Whether a list contains a value.
    ///
    /// # Errors
    /// `out_of_budget`.
    fn list_contains(&self, list: &str, value: &FilterValue) -> EvalResult<bool>;

    /// Calls a function of the host; `None` if it has no result.
    ///
    /// # Errors
    /// `out_of_budget`.
    fn call(&self, function: u32, args: &[Option<&FilterValue>]) -> EvalResult<Option<FilterValue>>;
}

/// A host that has values of this language.
pub(super) struct Own<'h>(pub(super) &'h dyn FilterHost);

impl Data for Own<'_> {
    fn field(&self, index: u32, ty: &FilterType) -> EvalResult<Option<Cow<'_, FilterValue>>> {
        Ok(self.0.field(index).filter(|value| value.is_of(ty)).map(Cow::Borrowed))
    }

    fn list_contains(&self, list: &str, value: &FilterValue) -> EvalResult<bool> {
        Ok(self.0.list_contains(list, value))
    }

    fn call(&self, function: u32, args: &[Option<&FilterValue>]) -> EvalResult<Option<FilterValue>> {
        Ok(self.0.call(function, args))
    }
}

/// A host of an environment.
pub(super) struct Bound<'b, 'a> {
    pub(super) binding: &'a FilterBinding,
    pub(super) functions: &'a Functions,
    pub(super) host: &'a dyn Host,
    pub(super) cx: &'b Cx<'a>,
}

impl<'a> Bound<'_, 'a> {
    fn value(&self, source: &'a Source, ty: &FilterType) -> EvalResult<Option<FilterValue>> {
        if let Source::Derived(how, base) = source {
            return self.derived(*how, base);
        }
        match self.engine_value(source)? {
            Some(value) => filter_value(&value, ty, self.cx),
            None => Ok(None),
        }
    }

    fn derived(&self, how: Derivation, base: &'a Source) -> EvalResult<Option<FilterValue>> {
        match self.engine_value(base)? {
            Some(base) => derive(how, &base, self.cx),
            None => Ok(None),
        }
    }

    /// The value as the engine has it, which does not copy it.
    fn engine_value(&self, source: &'a Source) -> EvalResult<Option<Value<'a>>> {
        match source {
            Source::Missing => Ok(None),
            Source::Variable(index, _) => self.host.field(*index, self.cx.arena()),
            Source::Header { map, name } => Ok(self.header(*map, name)?.map(Value::Bytes)),
            Source::Expression(expression) => {
                let mut value = Value::Null;
                interpret(expression.checked(), &expression.constants, self.functions, self.host, self.cx, &mut value)
                    .map_err(|error| error.kind)?;
                Ok(Some(value))
            }
            Source::Derived(how, base) => {
                let derived = self.derived(*how, base)?;
                derived.map(|value| engine_value(&value, self.cx.arena())).transpose()
            }
        }
    }

    #[cfg(feature = "http")]
    fn header(&self, map: u32, name: &str) -> EvalResult<Option<&'a [u8]>> {
        use crate::value::Map;
        let Some(Value::Map(Map::Host(host))) = self.host.field(map, self.cx.arena())? else { return Ok(None) };
        let Some(headers) = host.headers() else { return Ok(None) };
        crate::context::headers::joined_charged(headers, name, self.cx)
    }

    #[cfg(not(feature = "http"))]
    fn header(&self, _: u32, _: &str) -> EvalResult<Option<&'a [u8]>> {
        Ok(None)
    }
}

impl Data for Bound<'_, '_> {
    fn field(&self, index: u32, ty: &FilterType) -> EvalResult<Option<Cow<'_, FilterValue>>> {
        let binding = self.binding;
        match self.value(binding.source(index), ty) {
            Ok(value) => Ok(value.map(Cow::Owned)),
            Err(kind) if kind.has_substitute() => Ok(None),
            Err(kind) => Err(kind),
        }
    }

    fn list_contains(&self, list: &str, value: &FilterValue) -> EvalResult<bool> {
        listed(self.cx, self.binding, list, value)
    }

    fn call(&self, function: u32, args: &[Option<&FilterValue>]) -> EvalResult<Option<FilterValue>> {
        match call_host(self.binding, function, self.functions, args, self.cx) {
            Err(kind) if kind.has_substitute() => Ok(None),
            called => called,
        }
    }
}

/// Calls the function of the host behind a function of the scheme; `None` if an argument is missing, or the result.
///
/// # Errors
/// As the function.
pub(super) fn call_host(
    binding: &FilterBinding,
    function: u32,
    functions: &Functions,
    args: &[Option<&FilterValue>],
    cx: &Cx<'_>,
) -> EvalResult<Option<FilterValue>> {
    let Some((index, result)) = binding.host_function(function) else { return Ok(None) };
    let mut parameters = functions.params(index).unwrap_or_default().iter();
    let mut values = Vec::with_capacity(args.len());
    for arg in args {
        let ty = parameters.next().unwrap_or(&Type::Dyn);
        let Some(arg) = arg else { return Ok(None) };
        let Some(arg) = argument(arg, ty, cx.arena())? else { return Ok(None) };
        values.push(arg);
    }
    functions.call(index, cx, &values).and_then(|value| filter_value(&value, result, cx))
}

/// Whether a list of the host contains a value. A list that is not declared contains nothing.
///
/// # Errors
/// `out_of_budget`.
pub(super) fn listed(cx: &Cx<'_>, binding: &FilterBinding, list: &str, value: &FilterValue) -> EvalResult<bool> {
    let number = |ty| binding.list(list, &ty).map(i64::from);
    match value {
        FilterValue::Int(value) => number(FilterType::Int).map(|list| list_has_integer(cx, list, *value)),
        FilterValue::Ip(value) => number(FilterType::Ip).map(|list| list_has_address(cx, list, *value)),
        FilterValue::Bytes(bytes) => number(FilterType::Bytes).map(|list| list_has_bytes(cx, list, bytes)),
        _ => None,
    }
    .unwrap_or(Ok(false))
}
