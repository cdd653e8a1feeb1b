//! Finds overloads that calls cannot distinguish.

use celero_frontend::stdlib::{Library, TABLE};
use celero_frontend::{Declarations, Definition, Overload, Signature, Type, macro_library};

/// Checks that no call fits both a new function and one that exists, or is that of a macro.
///
/// # Errors
/// The signature that is in the way.
pub(super) fn none(declared: &Declarations, name: &str, receiver: bool, params: &[Type]) -> Result<(), String> {
    let fits = |s: &Signature| overlap(&s.params, params);
    with_libraries(declared, name, (receiver, params.len()), fits)?;
    with_host(declared, name, receiver, fits)?;
    with_definitions(declared, name, receiver, params.len())
}

/// Checks that no function that exists has the name, form and number of parameters of one to be
/// defined in CEL: which of two is meant is then known where the rule is compiled.
///
/// # Errors
/// The signature that is in the way.
pub(super) fn of_definition(declared: &Declarations, name: &str, receiver: bool, params: usize) -> Result<(), String> {
    let fits = |s: &Signature| s.params.len() == params;
    with_libraries(declared, name, (receiver, params), fits)?;
    with_host(declared, name, receiver, fits)?;
    with_definitions(declared, name, receiver, params)
}

/// The functions that are declared and overlap with those of the libraries that are on, each with the reason.
pub(super) fn all(declared: &Declarations) -> impl Iterator<Item = String> {
    let host = declared.functions().iter().filter_map(|function| {
        let Signature { receiver, params, .. } = &function.signature;
        let found = with_libraries(declared, &function.name, (*receiver, params.len()), |s| overlap(&s.params, params));
        found.err().map(|reason| format!("function `{}`: {reason}", function.name))
    });
    let defined = declared.definitions().iter().filter_map(|definition| {
        let Signature { receiver, params, .. } = definition.signature();
        let found =
            with_libraries(declared, definition.name(), (*receiver, params.len()), |s| s.params.len() == params.len());
        found.err().map(|reason| format!("function `{}`: {reason}", definition.name()))
    });
    host.chain(defined)
}

/// As [`none`], of the functions and macros of the libraries that are on.
fn with_libraries(
    declared: &Declarations,
    name: &str,
    (receiver, params): (bool, usize),
    fits: impl Fn(&Signature) -> bool + Copy,
) -> Result<(), String> {
    for library in Library::ALL.into_iter().filter(|l| declared.libraries().contains(*l)) {
        against(TABLE.signatures_of(library, name), name, receiver, fits)
            .map_err(|signature| format!("the library `{}` already has `{signature}`", library.name()))?;
    }
    match hidden_by(name, receiver, params).filter(|library| declared.libraries().contains(*library)) {
        Some(library) => Err(format!("calls of it are calls of a macro of the library `{}`", library.name())),
        None => Ok(()),
    }
}

/// The library with a macro that is written as calls of a function are.
fn hidden_by(name: &str, receiver: bool, params: usize) -> Option<Library> {
    let (namespace, last) = name.rsplit_once('.').unwrap_or(("", name));
    let method = receiver || !namespace.is_empty();
    let count = params.saturating_sub(usize::from(receiver));
    macro_library(last, count, method).filter(|library| *library != Library::Bindings || name == "cel.bind")
}

fn with_host(
    declared: &Declarations,
    name: &str,
    receiver: bool,
    fits: impl Fn(&Signature) -> bool,
) -> Result<(), String> {
    let host = declared.signatures(name).filter(|signature| matches!(signature.overload, Overload::Host(_)));
    against(host, name, receiver, fits).map_err(|signature| format!("the environment already has `{signature}`"))
}

fn with_definitions(declared: &Declarations, name: &str, receiver: bool, params: usize) -> Result<(), String> {
    let defined = declared.definitions_named(name).map(Definition::signature);
    against(defined, name, receiver, |s| s.params.len() == params)
        .map_err(|signature| format!("`{signature}` is already defined"))
}

fn against<'s>(
    mut signatures: impl Iterator<Item = &'s Signature>,
    name: &str,
    receiver: bool,
    fits: impl Fn(&Signature) -> bool,
) -> Result<(), String> {
    let found = signatures.find(|s| s.receiver == receiver && fits(s));
    found.map_or(Ok(()), |signature| Err(show(name, signature)))
}

/// Whether a type can match several types: it contains a type parameter, or is not the type of a value.
pub(super) fn is_open(ty: &Type) -> bool {
    match ty {
        Type::Error | Type::Param(_) | Type::Var(_) => true,
        Type::Type(inner) | Type::List(inner) | Type::Optional(inner) | Type::Wrapper(inner) => is_open(inner),
        Type::Map(pair) => is_open(&pair.0) || is_open(&pair.1),
        Type::Opaque(_, inner) => inner.iter().any(is_open),
        _ => false,
    }
}

fn overlap(a: &[Type], b: &[Type]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| may_be_equal(a, b))
}

/// Evaluation chooses by the outermost type of each argument, so types that differ only in their parameters overlap.
fn may_be_equal(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dyn | Type::Error | Type::Param(_) | Type::Var(_), _)
        | (_, Type::Dyn | Type::Error | Type::Param(_) | Type::Var(_))
        | (Type::List(_), Type::List(_))
        | (Type::Map(_), Type::Map(_))
        | (Type::Optional(_), Type::Optional(_))
        | (Type::Type(_), Type::Type(_)) => true,
        (Type::Wrapper(a), b) | (b, Type::Wrapper(a)) => matches!(b, Type::Null) || may_be_equal(a, b),
        (Type::Opaque(a, _), Type::Opaque(b, _)) => a == b,
        _ => a == b,
    }
}

fn show(name: &str, signature: &Signature) -> String {
    let mut params = signature.params.iter().map(ToString::to_string);
    let receiver = if signature.receiver { params.next().map(|r| r + ".") } else { None };
    let rest: Vec<_> = params.collect();
    format!("{}{name}({}) -> {}", receiver.unwrap_or_default(), rest.join(", "), signature.result)
}
