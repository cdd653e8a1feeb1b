//! Random types, and how a signature's type parameters take types.

use super::rng::Rng;
use celero_frontend::Type;
use celero_frontend::stdlib::{Builtin, Row};
use std::sync::Arc;

/// What the type parameters of a signature stand for.
pub(super) type Bindings = Vec<(Arc<str>, Type)>;

/// A type of any kind, nested at most `depth` deep.
pub(super) fn any(rng: &mut Rng, depth: usize) -> Type {
    let shapes = if depth == 0 { 12 } else { 17 };
    match rng.below(shapes) {
        0 => Type::Bool,
        1 | 2 => Type::Int,
        3 => Type::Uint,
        4 => Type::Double,
        5 | 6 => Type::String,
        7 => Type::Bytes,
        8 => Type::Duration,
        9 => Type::Timestamp,
        10 => Type::Dyn,
        11 => match rng.below(6) {
            0 => Type::Opaque("net.IP".into(), Arc::new([])),
            1 => Type::Opaque("net.CIDR".into(), Arc::new([])),
            2 => Type::Type(Arc::new(Type::Int)),
            _ => Type::Null,
        },
        12 | 13 => Type::list(any(rng, depth - 1)),
        14 | 15 => Type::map(key(rng), any(rng, depth - 1)),
        _ => Type::optional(any(rng, depth - 1)),
    }
}

/// One of the types that few functions give.
pub(super) fn rare(rng: &mut Rng) -> Type {
    match rng.below(6) {
        0 => Type::Opaque("net.IP".into(), Arc::new([])),
        1 => Type::Opaque("net.CIDR".into(), Arc::new([])),
        2 => Type::Type(Arc::new(any(rng, 1))),
        3 => Type::Null,
        4 => Type::Duration,
        _ => Type::Timestamp,
    }
}

/// A type that map keys may have.
pub(super) fn key(rng: &mut Rng) -> Type {
    match rng.below(6) {
        0 => Type::Bool,
        1 => Type::Uint,
        2 => Type::Int,
        _ => Type::String,
    }
}

pub(super) fn is_key(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int | Type::Uint | Type::String)
}

/// Whether a declared type can be `actual`, and what its parameters are then.
pub(super) fn unify(declared: &Type, actual: &Type, bindings: &mut Bindings) -> bool {
    match (declared, actual) {
        (Type::Param(name), _) => match bindings.iter().find(|(n, _)| n == name) {
            Some((_, bound)) => bound == actual,
            None => {
                bindings.push((name.clone(), actual.clone()));
                true
            }
        },
        (Type::List(d), Type::List(a)) | (Type::Optional(d), Type::Optional(a)) | (Type::Type(d), Type::Type(a)) => {
            unify(d, a, bindings)
        }
        (Type::Map(d), Type::Map(a)) => unify(&d.0, &a.0, bindings) && unify(&d.1, &a.1, bindings),
        _ => declared == actual,
    }
}

/// A declared type with its parameters replaced.
pub(super) fn substitute(ty: &Type, bindings: &Bindings) -> Type {
    match ty {
        Type::Param(name) => bindings.iter().find(|(n, _)| n == name).map_or(Type::Dyn, |(_, t)| t.clone()),
        Type::List(t) => Type::list(substitute(t, bindings)),
        Type::Optional(t) => Type::optional(substitute(t, bindings)),
        Type::Type(t) => Type::Type(Arc::new(substitute(t, bindings))),
        Type::Map(kv) => Type::map(substitute(&kv.0, bindings), substitute(&kv.1, bindings)),
        other => other.clone(),
    }
}

/// Gives the parameters of a row that its result does not determine a type; keys of maps first, for
/// not all types can be.
pub(super) fn complete(rng: &mut Rng, row: &Row, bindings: &mut Bindings) {
    for keys in [true, false] {
        for param in row.params.iter().chain([&row.result]) {
            complete_in(rng, param, keys, false, bindings);
        }
    }
    if !is_readable(row, bindings) {
        bindings.iter_mut().for_each(|(_, bound)| *bound = Type::Int);
    }
}

/// Whether a row reads values of the types of its parameters from text, if it reads any.
pub(super) fn is_readable(row: &Row, bindings: &Bindings) -> bool {
    let reads = matches!(row.builtin, Builtin::JsonParseAs | Builtin::YamlParseAs);
    !reads || !bindings.iter().any(|(_, bound)| has_opaque(bound))
}

fn has_opaque(ty: &Type) -> bool {
    match ty {
        Type::Opaque(..) => true,
        Type::List(of) | Type::Optional(of) | Type::Wrapper(of) => has_opaque(of),
        Type::Map(of) => has_opaque(&of.0) || has_opaque(&of.1),
        _ => false,
    }
}

fn complete_in(rng: &mut Rng, ty: &Type, keys: bool, in_key: bool, bindings: &mut Bindings) {
    match ty {
        Type::Param(name) if keys == in_key && bindings.iter().all(|(n, _)| n != name) => {
            let bound = if in_key { key(rng) } else { any(rng, 1) };
            bindings.push((name.clone(), bound));
        }
        Type::List(t) | Type::Optional(t) | Type::Type(t) => complete_in(rng, t, keys, false, bindings),
        Type::Map(kv) => {
            complete_in(rng, &kv.0, keys, true, bindings);
            complete_in(rng, &kv.1, keys, false, bindings);
        }
        _ => {}
    }
}

/// Whether the types that parameters took can stand where they are: a map's key must be one.
pub(super) fn valid(ty: &Type) -> bool {
    match ty {
        Type::Map(kv) => is_key(&kv.0) && valid(&kv.1),
        Type::List(t) | Type::Optional(t) | Type::Type(t) => valid(t),
        _ => true,
    }
}
