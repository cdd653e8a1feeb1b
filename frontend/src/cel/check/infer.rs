//! Type inference: bindings of inference variables, assignability, and the common type of two types.
//!
//! The rules are those of cel-go's checker with one difference: a result never claims more than its
//! operands allow. Where a `dyn` flows into `list(A)`, `A` becomes `dyn`, so that a static type can
//! be relied on at evaluation.
//!
//! Work is bounded: each part of a type that is visited costs one step. Without steps left, every
//! test succeeds without a diagnostic; the checker then finds [`Inference::exhausted`] and reports
//! that once.

use crate::types::{MAX_TYPE_DEPTH, MAX_TYPE_PARTS, Type};
use smallvec::SmallVec;
use std::sync::Arc;

/// The inference variables for a signature's type parameters, in one call.
pub(super) type Instance = SmallVec<[(Arc<str>, Type); 4]>;

/// The bound that a type exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    Depth,
    Parts,
}

/// Returns the type of a value that may be of either type, as `?:` has it; `None` if the types do not agree.
#[must_use]
pub fn common_type(left: &Type, right: &Type) -> Option<Type> {
    let mut infer = Inference::new(u64::from(MAX_TYPE_PARTS).saturating_mul(8));
    let merged = infer.merge(left, right)?;
    let ty = infer.resolve(&merged, false);
    (!infer.exhausted() && ty.is_concrete()).then_some(ty)
}

pub(super) struct Inference {
    bindings: Vec<Option<Type>>,
    /// Earlier bindings, to restore when an attempt fails; newest last.
    trail: Vec<(u32, Option<Type>)>,
    steps_left: u64,
}

impl Inference {
    pub(super) fn new(steps: u64) -> Self {
        Self { bindings: Vec::new(), trail: Vec::new(), steps_left: steps }
    }

    pub(super) fn exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// Counts a step. Returns false if there are none left, or if the walk is deeper than any type may be.
    fn step(&mut self, depth: u32) -> bool {
        if depth > MAX_TYPE_DEPTH.saturating_mul(2) {
            self.steps_left = 0;
        }
        self.steps_left = self.steps_left.saturating_sub(1);
        self.steps_left > 0
    }

    pub(super) fn fresh(&mut self) -> Type {
        let index = u32::try_from(self.bindings.len()).unwrap_or(u32::MAX);
        self.bindings.push(None);
        Type::Var(index)
    }

    fn binding(&self, var: u32) -> Option<&Type> {
        self.bindings.get(var as usize).and_then(Option::as_ref)
    }

    fn set(&mut self, var: u32, ty: Type) {
        if let Some(slot) = self.bindings.get_mut(var as usize) {
            self.trail.push((var, slot.replace(ty)));
        }
    }

    /// Follows a chain of variables bound to variables to its last one.
    fn root(&self, mut var: u32) -> u32 {
        while let Some(Type::Var(next)) = self.binding(var) {
            var = *next;
        }
        var
    }

    /// Returns the type, or what it is bound to if it is a variable.
    pub(super) fn shallow(&self, ty: &Type) -> Type {
        match ty {
            Type::Var(var) => {
                let root = self.root(*var);
                self.binding(root).cloned().unwrap_or(Type::Var(root))
            }
            other => other.clone(),
        }
    }

    /// Returns whether each `from` is assignable to its `to`. If so, binds variables; otherwise changes nothing.
    pub(super) fn assign_all(&mut self, pairs: &[(&Type, &Type)]) -> bool {
        let fits = pairs.iter().all(|(from, to)| self.assign_at(from, to, 0));
        if !fits {
            while let Some((var, old)) = self.trail.pop() {
                if let Some(slot) = self.bindings.get_mut(var as usize) {
                    *slot = old;
                }
            }
        }
        self.trail.clear();
        fits
    }

    /// [`Self::assign_all`] for one pair.
    pub(super) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.assign_all(&[(from, to)])
    }

    /// Returns the common type of two types, for a value that may be of either; `None` if they have none.
    pub(super) fn merge(&mut self, left: &Type, right: &Type) -> Option<Type> {
        if left.is_leaf() && left == right {
            return Some(left.clone());
        }
        if self.shallow(left).is_dyn() || self.shallow(right).is_dyn() || self.assign(left, right) {
            return Some(self.join(left, right, 0));
        }
        None
    }

    fn assign_at(&mut self, from: &Type, to: &Type, depth: u32) -> bool {
        if !self.step(depth) {
            return true;
        }
        let below = depth.saturating_add(1);
        match (from, to) {
            (_, Type::Var(var)) => self.assign_to_var(from, *var, below),
            (_, Type::Dyn | Type::Error) => true,
            (Type::Var(var), _) => {
                let root = self.root(*var);
                match self.binding(root).cloned() {
                    Some(bound) => self.assign_at(&bound, to, below),
                    None => self.bind(root, to),
                }
            }
            (Type::Dyn | Type::Error, _) => {
                self.generalize(to, from, below);
                true
            }
            (Type::Wrapper(a), Type::Wrapper(b)) => self.assign_at(a, b, below),
            (Type::Null, other) | (other, Type::Null) => other.is_nullable(),
            (Type::Wrapper(a), b) => self.assign_at(a, b, below),
            (a, Type::Wrapper(b)) => self.assign_at(a, b, below),
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.assign_at(a, b, below),
            (Type::Map(a), Type::Map(b)) => self.assign_at(&a.0, &b.0, below) && self.assign_at(&a.1, &b.1, below),
            // Type values of different types are comparable: `type(1) == string` is valid.
            (Type::Type(a), Type::Type(b)) => {
                if matches!(**b, Type::Var(_)) {
                    self.assign_at(a, b, below);
                }
                true
            }
            (Type::Opaque(a, xs), Type::Opaque(b, ys)) => {
                a == b && xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| self.assign_at(x, y, below))
            }
            (a, b) => a == b,
        }
    }

    fn assign_to_var(&mut self, from: &Type, var: u32, depth: u32) -> bool {
        let root = self.root(var);
        if let Type::Var(other) = from
            && self.root(*other) == root
        {
            return true;
        }
        match self.binding(root).cloned() {
            None => {
                let from = if let Type::Var(other) = from { Type::Var(self.root(*other)) } else { from.clone() };
                self.bind(root, &from)
            }
            Some(bound) => {
                if !self.assign_at(from, &bound, depth) {
                    return false;
                }
                let joined = self.join(from, &bound, depth);
                if joined != bound && !self.occurs(root, &joined, depth) {
                    self.set(root, joined);
                }
                true
            }
        }
    }

    fn bind(&mut self, var: u32, ty: &Type) -> bool {
        if self.occurs(var, ty, 0) {
            return false;
        }
        self.set(var, ty.clone());
        true
    }

    fn occurs(&mut self, var: u32, ty: &Type, depth: u32) -> bool {
        if !self.step(depth) {
            return true;
        }
        let below = depth.saturating_add(1);
        match ty {
            Type::Var(other) => {
                let root = self.root(*other);
                root == var || self.binding(root).cloned().is_some_and(|bound| self.occurs(var, &bound, below))
            }
            Type::Type(t) | Type::List(t) | Type::Optional(t) | Type::Wrapper(t) => self.occurs(var, t, below),
            Type::Map(kv) => self.occurs(var, &kv.0, below) || self.occurs(var, &kv.1, below),
            Type::Opaque(_, params) => params.iter().any(|t| self.occurs(var, t, below)),
            _ => false,
        }
    }

    /// Binds every variable of `ty` to `by`, a `dyn` that is assigned to it.
    fn generalize(&mut self, ty: &Type, by: &Type, depth: u32) {
        if !self.step(depth) {
            return;
        }
        let below = depth.saturating_add(1);
        match ty {
            Type::Var(var) => {
                let root = self.root(*var);
                self.set(root, by.clone());
            }
            Type::Type(t) | Type::List(t) | Type::Optional(t) | Type::Wrapper(t) => self.generalize(t, by, below),
            Type::Map(kv) => {
                self.generalize(&kv.0, by, below);
                self.generalize(&kv.1, by, below);
            }
            Type::Opaque(_, params) => params.iter().for_each(|t| self.generalize(t, by, below)),
            _ => {}
        }
    }

    /// Returns the least general type for values of both types, of which one is assignable to the other.
    fn join(&mut self, left: &Type, right: &Type, depth: u32) -> Type {
        if !self.step(depth) {
            return Type::Error;
        }
        let below = depth.saturating_add(1);
        let (left, right) = (self.shallow(left), self.shallow(right));
        match (&left, &right) {
            (Type::Error, _) | (_, Type::Error) => Type::Error,
            (Type::Dyn, _) | (_, Type::Dyn) => Type::Dyn,
            (Type::Var(_), _) => right,
            (_, Type::Var(_)) | (Type::Null, Type::Null) => left,
            (Type::Null, Type::Wrapper(_)) => right,
            (Type::Wrapper(_), Type::Null) => left,
            (Type::Null, t) | (t, Type::Null) => Type::Wrapper(Arc::new(t.clone())),
            (Type::Wrapper(a), Type::Wrapper(b)) => Type::Wrapper(Arc::new(self.join(a, b, below))),
            (Type::Wrapper(a), b) => Type::Wrapper(Arc::new(self.join(a, b, below))),
            (a, Type::Wrapper(b)) => Type::Wrapper(Arc::new(self.join(a, b, below))),
            (Type::List(a), Type::List(b)) if !Arc::ptr_eq(a, b) => Type::list(self.join(a, b, below)),
            (Type::Optional(a), Type::Optional(b)) if !Arc::ptr_eq(a, b) => Type::optional(self.join(a, b, below)),
            (Type::Map(a), Type::Map(b)) if !Arc::ptr_eq(a, b) => {
                Type::map(self.join(&a.0, &b.0, below), self.join(&a.1, &b.1, below))
            }
            (Type::Opaque(a, xs), Type::Opaque(b, ys)) if a == b && !Arc::ptr_eq(xs, ys) => {
                let params: Vec<Type> = xs.iter().zip(ys.iter()).map(|(x, y)| self.join(x, y, below)).collect();
                Type::Opaque(a.clone(), params.into())
            }
            (Type::Type(a), Type::Type(b)) if a != b => Type::Type(Arc::new(Type::Dyn)),
            _ => left,
        }
    }

    /// Replaces the type parameters of a declared type by the variables of `instance`, creating
    /// variables that are missing.
    pub(super) fn instantiate(&mut self, ty: &Type, instance: &mut Instance) -> Type {
        match ty {
            Type::Param(name) => {
                if let Some((_, var)) = instance.iter().find(|(n, _)| n == name) {
                    return var.clone();
                }
                let var = self.fresh();
                instance.push((name.clone(), var.clone()));
                var
            }
            other => rebuild(other, &mut |t| self.instantiate(t, instance)),
        }
    }

    /// Replaces all variables by what they are bound to. Free ones become `dyn`, or stay if `keep_free`.
    pub(super) fn resolve(&mut self, ty: &Type, keep_free: bool) -> Type {
        self.resolve_at(ty, keep_free, 0)
    }

    fn resolve_at(&mut self, ty: &Type, keep_free: bool, depth: u32) -> Type {
        if !self.step(depth) {
            return Type::Error;
        }
        let below = depth.saturating_add(1);
        match self.shallow(ty) {
            free @ Type::Var(_) if keep_free => free,
            Type::Var(_) => Type::Dyn,
            other => rebuild(&other, &mut |t| self.resolve_at(t, keep_free, below)),
        }
    }

    /// Returns the bound that a type exceeds, if any.
    pub(super) fn measure(&mut self, ty: &Type) -> Option<Excess> {
        let mut parts = 0;
        self.measure_at(ty, &mut parts, 1)
    }

    fn measure_at(&mut self, ty: &Type, parts: &mut u32, depth: u32) -> Option<Excess> {
        *parts = parts.saturating_add(1);
        if !self.step(0) {
            return None;
        }
        if depth > MAX_TYPE_DEPTH {
            return Some(Excess::Depth);
        }
        if *parts > MAX_TYPE_PARTS {
            return Some(Excess::Parts);
        }
        let below = depth.saturating_add(1);
        match ty {
            Type::Var(var) => {
                let bound = self.binding(self.root(*var)).cloned()?;
                self.measure_at(&bound, parts, depth)
            }
            Type::Type(t) | Type::List(t) | Type::Optional(t) | Type::Wrapper(t) => self.measure_at(t, parts, below),
            Type::Map(kv) => self.measure_at(&kv.0, parts, below).or_else(|| self.measure_at(&kv.1, parts, below)),
            Type::Opaque(_, params) => params.iter().find_map(|t| self.measure_at(t, parts, below)),
            _ => None,
        }
    }
}

/// Applies `part` to each direct part of a type. Returns the same allocation if no part changes.
pub(super) fn rebuild(ty: &Type, part: &mut dyn FnMut(&Type) -> Type) -> Type {
    let mut one = |old: &Arc<Type>, make: fn(Arc<Type>) -> Type| {
        let new = part(old);
        if same(&new, old) { ty.clone() } else { make(Arc::new(new)) }
    };
    match ty {
        Type::Type(t) => one(t, Type::Type),
        Type::List(t) => one(t, Type::List),
        Type::Optional(t) => one(t, Type::Optional),
        Type::Wrapper(t) => one(t, Type::Wrapper),
        Type::Map(kv) => {
            let (key, value) = (part(&kv.0), part(&kv.1));
            if same(&key, &kv.0) && same(&value, &kv.1) { ty.clone() } else { Type::map(key, value) }
        }
        Type::Opaque(name, params) if !params.is_empty() => {
            let new: Vec<Type> = params.iter().map(&mut *part).collect();
            if new.iter().zip(params.iter()).all(|(a, b)| same(a, b)) {
                ty.clone()
            } else {
                Type::Opaque(name.clone(), new.into())
            }
        }
        leaf => leaf.clone(),
    }
}

/// Returns whether two types share an allocation or are equal leaves: a shallow test for "unchanged".
fn same(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Type(a), Type::Type(b))
        | (Type::List(a), Type::List(b))
        | (Type::Optional(a), Type::Optional(b))
        | (Type::Wrapper(a), Type::Wrapper(b)) => Arc::ptr_eq(a, b),
        (Type::Map(a), Type::Map(b)) => Arc::ptr_eq(a, b),
        (Type::Opaque(a, xs), Type::Opaque(b, ys)) => a == b && (Arc::ptr_eq(xs, ys) || xs.is_empty() && ys.is_empty()),
        (Type::Param(a), Type::Param(b)) => a == b,
        (Type::Var(a), Type::Var(b)) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b) && a.is_leaf(),
    }
}
