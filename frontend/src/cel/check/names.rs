//! Name resolution: declarations by qualified name, prefixes of the container, variables of macros.

use crate::ast::Name;
use crate::declarations::Declarations;
use crate::stdlib::{Libraries, Library, Signature, TABLE};
use crate::types::Type;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::infer::rebuild;

/// What a qualified name refers to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// A declared variable, with its type.
    Variable(u32, Type),
    /// A definition without parameters, with its type.
    Alias(u32, Type),
    /// A type used as a value.
    Type(Type),
    /// The number of an enum's value.
    Constant(i64),
}

/// A macro's variable.
pub(super) struct Local {
    name: Name,
    pub(super) ty: Type,
    pub(super) used: bool,
}

pub(super) struct Names<'a> {
    /// Prefixes to try, longest first, each with its dot; the last is empty.
    scopes: Vec<String>,
    pub(super) declarations: &'a Declarations,
    pub(super) libraries: Libraries,
    /// Most components of a declared variable's or type's name, container included.
    longest: usize,
    /// Indexed by level: the innermost is last.
    pub(super) locals: Vec<Local>,
}

/// Returns the types that can be named, by name.
static TYPES: LazyLock<HashMap<String, (Library, Type)>> = LazyLock::new(|| {
    let mut types: HashMap<String, (Library, Type)> = [
        Type::Null,
        Type::Bool,
        Type::Int,
        Type::Uint,
        Type::Double,
        Type::String,
        Type::Bytes,
        Type::Duration,
        Type::Timestamp,
    ]
    .into_iter()
    .map(|t| (t.to_string(), (Library::Standard, t)))
    .collect();
    types.insert("list".to_owned(), (Library::Standard, Type::list(Type::Dyn)));
    types.insert("map".to_owned(), (Library::Standard, Type::map(Type::Dyn, Type::Dyn)));
    types.insert("optional_type".to_owned(), (Library::Optionals, Type::optional(Type::Dyn)));
    types.insert("type".to_owned(), (Library::Standard, Type::Type(Arc::new(Type::Dyn))));
    for row in TABLE.rows() {
        let result = match &row.result {
            Type::Optional(held) => held,
            result => result,
        };
        if let Type::Opaque(name, _) = result {
            types.insert(name.to_string(), (row.library, result.clone()));
        }
    }
    types
});

/// Most components of the name of a type.
static LONGEST_TYPE: LazyLock<usize> = LazyLock::new(|| TYPES.keys().map(|name| components(name)).max().unwrap_or(1));

impl<'a> Names<'a> {
    pub(super) fn new(declarations: &'a Declarations) -> Self {
        let mut scopes = Vec::new();
        let mut prefix = declarations.container();
        while !prefix.is_empty() {
            scopes.push(format!("{prefix}."));
            prefix = prefix.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        scopes.push(String::new());
        let longest = declarations.most_dots.saturating_add(1).max(*LONGEST_TYPE);
        Self { scopes, declarations, libraries: declarations.libraries(), longest, locals: Vec::new() }
    }

    fn scopes(&self, rooted: bool) -> &[String] {
        let skip = if rooted { self.scopes.len().saturating_sub(1) } else { 0 };
        self.scopes.get(skip..).unwrap_or(&[])
    }

    /// Returns the innermost macro variable of a name, with its level.
    pub(super) fn local(&self, name: Name) -> Option<usize> {
        self.locals.iter().rposition(|l| l.name == name)
    }

    /// Opens the scope of a macro variable.
    pub(super) fn push(&mut self, name: Name, ty: Type) {
        self.locals.push(Local { name, ty, used: false });
    }

    /// Resolves `parts[0].parts[1]...`: the longest prefix of it that some scope declares, in the innermost such
    /// scope. Also returns the number of parts in that prefix.
    pub(super) fn resolve(&self, parts: &[&str], rooted: bool) -> Option<(usize, Meaning)> {
        if let Some(full) = parts.first().and_then(|first| self.abbreviated(first, rooted)) {
            let written: SmallVec<[&str; 8]> = full.split('.').chain(parts.iter().skip(1).copied()).collect();
            let (count, meaning) = self.resolve(&written, true)?;
            // The parts of the full name are one part as written.
            let count = count.checked_sub(components(full).saturating_sub(1)).filter(|count| *count > 0)?;
            return Some((count, meaning));
        }
        let mut name = parts.get(..self.longest).unwrap_or(parts).join(".");
        let mut count = parts.len().min(self.longest);
        while count > 0 {
            let found = self.scopes(rooted).iter().find_map(|scope| self.meaning(&qualified(scope, &name)));
            if let Some(meaning) = found {
                return Some((count, meaning));
            }
            count = count.saturating_sub(1);
            name.truncate(name.rfind('.').unwrap_or(0));
        }
        None
    }

    /// The full name that the first part of a name stands for.
    fn abbreviated(&self, first: &str, rooted: bool) -> Option<&'a str> {
        if rooted { None } else { self.declarations.abbreviated(first) }
    }

    /// The names that a name may stand for, the first choice first.
    fn candidates<'n>(&self, name: &'n str, rooted: bool) -> SmallVec<[Cow<'n, str>; 4]> {
        let first = name.split('.').next().unwrap_or(name);
        if let Some(full) = self.abbreviated(first, rooted) {
            let rest = name.strip_prefix(first).unwrap_or("");
            return smallvec![Cow::Owned(format!("{full}{rest}"))];
        }
        self.scopes(rooted).iter().map(|scope| qualified(scope, name)).collect()
    }

    /// Returns whether a path starts with a declared name or with a prefix of one.
    pub(super) fn is_declared(&self, parts: &[&str], rooted: bool) -> bool {
        self.resolve(parts, rooted).is_some() || parts.first().is_some_and(|p| !self.below(p, rooted).is_empty())
    }

    fn meaning(&self, name: &str) -> Option<Meaning> {
        if let Some((index, variable)) = self.declarations.variable(name) {
            return Some(Meaning::Variable(index, ground(&variable.ty)));
        }
        if let Some((index, definition)) = self.declarations.alias(name) {
            return Some(Meaning::Alias(index, definition.signature.result.clone()));
        }
        if let Some((_, ty)) = TYPES.get(name).filter(|(library, _)| self.libraries.contains(*library)) {
            return Some(Meaning::Type(ty.clone()));
        }
        let messages = self.declarations.messages();
        let constant = messages.constant(name).map(Meaning::Constant);
        constant.or_else(|| messages.message(name).map(|_| Meaning::Type(Type::message(name))))
    }

    /// Returns the full name of a message type.
    pub(super) fn message(&self, name: &str, rooted: bool) -> Option<String> {
        let mut names = self.candidates(name, rooted).into_iter();
        names.find(|name| self.declarations.messages().message(name).is_some()).map(Cow::into_owned)
    }

    /// Returns the declared name that a function's name refers to.
    pub(super) fn function<'n>(&self, name: &'n str, rooted: bool) -> Option<Cow<'n, str>> {
        let mut names = self.candidates(name, rooted).into_iter();
        names.find(|name| self.declarations.is_callable(name) || self.of_libraries(name).next().is_some())
    }

    /// The signatures of a function by its declared name.
    pub(super) fn signatures(&self, name: &str) -> SmallVec<[&'a Signature; 8]> {
        self.of_libraries(name).chain(self.declarations.signatures(name)).collect()
    }

    /// The signatures of a function of the libraries that expressions may use.
    fn of_libraries(&self, name: &str) -> impl Iterator<Item = &'a Signature> {
        let excluded = self.declarations.is_excluded(name);
        TABLE.signatures(name, self.libraries).filter(move |_| !excluded)
    }

    /// Returns a library that is off and has a function of this name.
    pub(super) fn library_off(&self, name: &str) -> Option<Library> {
        TABLE.libraries_of(name).find(|library| !self.libraries.contains(*library))
    }

    /// Returns the names of variables in scope and of definitions without parameters.
    fn variables(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let declarations = self.declarations;
        let names = declarations.variables().iter().map(|variable| &*variable.name);
        names.filter(|name| declarations.has_name(name)).chain(declarations.aliases())
    }

    /// Returns the variables below a prefix in any scope, as they are written in a rule; sorted.
    pub(super) fn below(&self, prefix: &str, rooted: bool) -> Vec<&'a str> {
        let mut found: Vec<&str> = Vec::new();
        for scope in self.scopes(rooted) {
            let start = format!("{scope}{prefix}.");
            found.extend(self.variables().filter(|n| n.starts_with(&start)).map(|n| n.get(scope.len()..).unwrap_or(n)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The names of variables and types, sorted.
    pub(super) fn values(&self) -> Vec<&str> {
        let types = TYPES.iter().filter(|(_, (library, _))| self.libraries.contains(*library));
        let mut names: Vec<&str> = self.variables().chain(types.map(|(name, _)| name.as_str())).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The names of functions that can be written in a call, sorted.
    pub(super) fn function_names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = TABLE.names(self.libraries).filter(|n| !is_operator(n)).collect();
        names.extend(self.declarations.callable_names());
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// A name in a scope, which ends with a dot or is empty.
fn qualified<'n>(scope: &str, name: &'n str) -> Cow<'n, str> {
    if scope.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(format!("{scope}{name}")) }
}

/// Returns whether a function's name is that of an operator, such as `_+_`.
pub(super) fn is_operator(name: &str) -> bool {
    name.contains(|c: char| c.is_ascii_punctuation() && c != '.' && c != '_')
}

/// Returns the type of a declared variable with `dyn` for its type parameters.
fn ground(ty: &Type) -> Type {
    match ty {
        Type::Param(_) | Type::Var(_) => Type::Dyn,
        other => rebuild(other, &mut ground),
    }
}

fn components(name: &str) -> usize {
    name.split('.').count()
}
