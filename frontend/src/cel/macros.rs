//! The macros of CEL (language definition, "Macros", and the extensions of cel-go): one table. The
//! parser expands macros from it, the checker explains errors with it, and hosts may not use its
//! names for functions.

use crate::ast::{FallbackKind, FoldKind};
use crate::stdlib::Library;
use std::ops::RangeInclusive;

/// What a macro expands to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expansion {
    /// `has(value.field)`
    Has,
    /// The arguments are operands, of which one is the result.
    Fallback(FallbackKind),
    /// After the variables, the only argument is a predicate.
    Test(FoldKind),
    /// The arguments after the variables are an optional filter and a transform.
    Transform(FoldKind),
    /// `cel.bind(x, init, body)`
    Bind,
    /// `target.optMap(x, body)`, `target.optFlatMap(x, body)` when `flat`.
    OptMap { flat: bool },
    /// `range.sortBy(x, key)`: the call of `@sortBy` with the range and the list of the keys.
    SortBy,
    /// `init.with(x, body)`
    With,
    /// `map.mapValues(value, body)`
    MapValues,
    /// `map.filterKeys(key, predicate)`
    FilterKeys,
    /// `proto.getExt(message, package.extension)`, `proto.hasExt(..)` when `test`.
    Extension { test: bool },
}

/// One form of a macro.
pub(super) struct Macro {
    pub(super) name: &'static str,
    /// Whether it is called on a value, or on the name `cel`.
    pub(super) method: bool,
    /// Numbers of arguments that make a call this macro.
    pub(super) arguments: RangeInclusive<usize>,
    /// The number of arguments, the first ones, that name variables.
    pub(super) variables: usize,
    /// The library that must be on; otherwise the call is a function call. Macros of the language
    /// itself, and those that become calls of a library's functions, have none.
    pub(super) library: Option<Library>,
    pub(super) expansion: Expansion,
    /// How it is written.
    pub(super) usage: &'static str,
}

macro_rules! macros {
    (@method on) => { true };
    (@method of) => { false };
    (@library) => { None };
    (@library $library:ident) => { Some(Library::$library) };
    ($($form:ident $name:literal $arguments:expr, $variables:literal, $($library:ident)? => $expansion:expr, $usage:literal;)*) => {
        &[$(Macro {
            name: $name,
            method: macros!(@method $form),
            arguments: $arguments,
            variables: $variables,
            library: macros!(@library $($library)?),
            expansion: $expansion,
            usage: $usage,
        }),*]
    };
}

use Expansion::{Bind, Extension, Fallback, FilterKeys, Has, MapValues, OptMap, SortBy, Test, Transform, With};

/// `of`: a function of its arguments; `on`: called on a value. Then name, numbers of arguments, variables, library.
static MACROS: &[Macro] = macros! {
    of "has" 1..=1, 0, => Has, "has(value.field)";
    on "all" 2..=2, 1, => Test(FoldKind::All), "range.all(x, predicate)";
    on "all" 3..=3, 2, Comprehensions => Test(FoldKind::All), "range.all(key, value, predicate)";
    on "exists" 2..=2, 1, => Test(FoldKind::Exists), "range.exists(x, predicate)";
    on "exists" 3..=3, 2, Comprehensions => Test(FoldKind::Exists), "range.exists(key, value, predicate)";
    on "exists_one" 2..=2, 1, => Test(FoldKind::ExistsOne), "range.exists_one(x, predicate)";
    on "exists_one" 3..=3, 2, Comprehensions => Test(FoldKind::ExistsOne), "range.exists_one(key, value, predicate)";
    on "existsOne" 2..=2, 1, => Test(FoldKind::ExistsOne), "range.existsOne(x, predicate)";
    on "existsOne" 3..=3, 2, Comprehensions => Test(FoldKind::ExistsOne), "range.existsOne(key, value, predicate)";
    on "filter" 2..=2, 1, => Test(FoldKind::Filter), "range.filter(x, predicate)";
    on "map" 2..=3, 1, => Transform(FoldKind::Map), "range.map(x, transform)";
    on "transformList" 3..=4, 2, Comprehensions => Transform(FoldKind::TransformList),
        "range.transformList(index, x, transform)";
    on "transformMap" 3..=4, 2, Comprehensions => Transform(FoldKind::TransformMap),
        "range.transformMap(key, value, transform)";
    on "transformMapEntry" 3..=4, 2, Comprehensions => Transform(FoldKind::TransformMapEntry),
        "range.transformMapEntry(key, value, transform)";
    on "sortBy" 2..=2, 1, => SortBy, "range.sortBy(x, key)";
    on "optMap" 2..=2, 1, => OptMap { flat: false }, "optional.optMap(x, transform)";
    on "optFlatMap" 2..=2, 1, => OptMap { flat: true }, "optional.optFlatMap(x, transform)";
    on "bind" 3..=3, 1, Bindings => Bind, "cel.bind(x, value, expression)";
    on "with" 2..=2, 1, Gateway => With, "value.with(x, expression)";
    on "mapValues" 2..=2, 1, Gateway => MapValues, "map.mapValues(value, transform)";
    on "filterKeys" 2..=2, 1, Gateway => FilterKeys, "map.filterKeys(key, predicate)";
    on "getExt" 2..=2, 0, => Extension { test: false }, "proto.getExt(message, package.extension)";
    on "hasExt" 2..=2, 0, => Extension { test: true }, "proto.hasExt(message, package.extension)";
    of "default" 2..=2, 0, Gateway => Fallback(FallbackKind::Default), "default(value, otherwise)";
    of "coalesce" 1..=usize::MAX, 0, Gateway => Fallback(FallbackKind::Coalesce), "coalesce(value, ..)";
};

/// The macro that a call of this form and number of arguments is.
pub(super) fn expansion(name: &str, count: usize, method: bool) -> Option<&'static Macro> {
    MACROS.iter().find(|m| m.name == name && m.method == method && m.arguments.contains(&count))
}

/// Whether some macro is called on a value by this name; its first arguments may be variables.
pub(super) fn is_method(name: &str) -> bool {
    MACROS.iter().any(|m| m.name == name && m.method)
}

/// The name that stands where the value of a method would, for the macros that are not called on one.
pub(super) fn namespace(name: &str) -> Option<&'static str> {
    match name {
        "bind" => Some("cel"),
        "getExt" | "hasExt" => Some("proto"),
        _ => None,
    }
}

/// How the macro of this name is written.
pub(super) fn usage(name: &str) -> Option<&'static str> {
    MACROS.iter().find(|m| m.name == name).map(|m| m.usage)
}

/// One form of a macro, for tools that complete and explain expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacroForm {
    /// The name.
    pub name: &'static str,
    /// Whether it is called on a value, or on the name `cel`.
    pub method: bool,
    /// The number of arguments, the first ones, that name variables.
    pub variables: usize,
    /// The library that must be on, if it is not part of the language itself.
    pub library: Option<Library>,
    /// How it is written: `range.all(x, predicate)`.
    pub usage: &'static str,
}

/// Returns the forms of all macros; a macro with several forms follows itself.
pub fn macro_forms() -> impl Iterator<Item = MacroForm> {
    let form = |m: &Macro| {
        let Macro { name, method, variables, library, usage, .. } = *m;
        MacroForm { name, method, variables, library, usage }
    };
    MACROS.iter().map(form)
}

/// Returns the library whose macro a call with `count` arguments is: called on a value (`method`;
/// for `bind`, on the name `cel`), or as a function. Returns `None` for macros of the language
/// itself, for those that become calls of a library's functions, and for calls that are no macro.
#[must_use]
pub fn macro_library(name: &str, count: usize, method: bool) -> Option<Library> {
    expansion(name, count, method).and_then(|m| m.library)
}

/// Whether no host function can have this name in this form, because its calls may be a macro's. The macros of
/// [`Library::Gateway`] leave their names to hosts: they yield only where a call fits them
/// ([`macro_library`]).
#[must_use]
pub fn is_macro_name(name: &str, method: bool) -> bool {
    MACROS.iter().any(|m| m.name == name && m.method == method && m.library != Some(Library::Gateway))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_one_macro_at_most() {
        for (at, a) in MACROS.iter().enumerate() {
            for b in MACROS.iter().skip(at.saturating_add(1)) {
                let same = a.name == b.name && a.method == b.method;
                assert!(!same || a.arguments.end() < b.arguments.start(), "{}", a.name);
            }
            assert!(a.usage.contains(a.name) && a.variables <= *a.arguments.start(), "{}", a.name);
        }
    }

    #[test]
    fn hosts_may_use_the_names_of_gateway_macros() {
        assert!(is_macro_name("has", false) && !is_macro_name("has", true));
        assert!(is_macro_name("bind", true) && is_macro_name("all", true));
        assert!(!is_macro_name("with", true) && !is_macro_name("default", false));
    }
}
