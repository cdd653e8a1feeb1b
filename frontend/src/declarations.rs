//! What an expression may mention: variables, functions with their overloads, the container of its names.
//!
//! A declaration says nothing about how a value is found or a function is run; the runtime keeps
//! that beside it, under the same index.

use crate::checked::{Checked, Reference};
use crate::expanded_size::ExpandedSize;
use crate::messages::MessageTypes;
use crate::stdlib::{Libraries, Library, Overload, Signature, TABLE};
use crate::types::Type;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A variable, possibly with a qualified name (`request.path`).
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Qualified name, without a leading dot.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Whether it may be absent. Reading an absent variable is the error "no such key"; `has(..)` tests for presence.
    pub optional: bool,
    /// Which values it has, if its type has more: what follows its name in a sentence, such as "begins with `/`".
    pub values: Option<Arc<str>>,
}

impl Variable {
    /// A variable that is always there and has all values of its type.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, ty: Type) -> Self {
        Self { name: name.into(), ty, optional: false, values: None }
    }
}

/// A host function's declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFunction {
    /// Its name, possibly qualified.
    pub name: Arc<str>,
    /// Its signature.
    pub signature: Signature,
}

/// A function defined in CEL. Made by [`define`](crate::define).
#[derive(Clone, Debug)]
pub struct Definition {
    pub(crate) name: Arc<str>,
    pub(crate) signature: Signature,
    /// The names of the parameters, the receiver's first. In the body they are the variables of the first levels.
    pub(crate) parameters: Box<[Arc<str>]>,
    /// The body. Calls of other definitions are calls in it.
    pub(crate) body: Checked,
    /// The size of the body with these in their places.
    pub(crate) size: ExpandedSize,
    /// Whether the body asks lists, or a definition that it uses does.
    pub(crate) asks_lists: bool,
}

impl Definition {
    /// Its name, possibly qualified.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its signature.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The names of its parameters, the receiver's first.
    #[must_use]
    pub fn parameters(&self) -> &[Arc<str>] {
        &self.parameters
    }

    /// Its body. Calls of other definitions are calls in it.
    #[must_use]
    pub fn body(&self) -> &Checked {
        &self.body
    }
}

/// The first part of the names of lists: `lists.blocked`.
pub const LISTS: &str = "lists";

/// A named list of the host, which rules ask as `value in lists.NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredList {
    /// Its name, without `lists.`.
    pub name: Arc<str>,
    /// What it can be asked for.
    pub key: ListKey,
    /// What its entries carry, which rules read as `lists.NAME[key]`; `None` if nothing.
    pub values: Option<ListValues>,
}

/// What the entries of a [list](DeclaredList) carry. The types are `string`, `int` or `bool`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListValues {
    /// One value: `lists.NAME[key]`.
    Scalar(Type),
    /// Fields by name, of which an entry may leave out some: `lists.NAME[key].field`.
    Fields(Box<[(Arc<str>, Type)]>),
}

impl ListValues {
    /// The type of the field of this number; of a scalar, which has number 0.
    #[must_use]
    pub fn field(&self, number: u32) -> Option<&Type> {
        match self {
            Self::Scalar(ty) => (number == 0).then_some(ty),
            Self::Fields(fields) => fields.get(number as usize).map(|(_, ty)| ty),
        }
    }
}

/// What a [list](DeclaredList) can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKey {
    /// An IP address: a `net.IP`, or a `string` that holds one.
    Address,
    /// A `string`.
    Text,
    /// An `int` or a `uint`.
    Integer,
}

impl ListKey {
    /// Whether a value of this type may be one that the list can be asked for.
    #[must_use]
    pub fn accepts(self, ty: &Type) -> bool {
        match (self, ty) {
            (_, Type::Dyn | Type::Error | Type::Var(_) | Type::Param(_)) => true,
            (_, Type::Wrapper(inner)) => self.accepts(inner),
            (Self::Address, Type::Opaque(name, _)) => &**name == "net.IP",
            (Self::Address | Self::Text, ty) => *ty == Type::String,
            (Self::Integer, ty) => matches!(ty, Type::Int | Type::Uint),
        }
    }

    /// What the values are, in words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Address => "an address: a `string` or a `net.IP`",
            Self::Text => "a `string`",
            Self::Integer => "an `int` or a `uint`",
        }
    }
}

/// Everything declared for an expression.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    container: Arc<str>,
    variables: Vec<Variable>,
    /// Variables by name: their index.
    by_name: HashMap<Arc<str>, u32>,
    /// Most dots in the name of a variable.
    pub(crate) most_dots: usize,
    functions: Vec<HostFunction>,
    definitions: Arc<Vec<Arc<Definition>>>,
    /// What can be called, by name: functions of the host, then definitions.
    callable: HashMap<Arc<str>, Vec<Overload>>,
    /// Definitions without parameters by name: their index.
    aliases: HashMap<Arc<str>, u32>,
    /// Full names by the short names that stand for them.
    abbreviations: HashMap<Arc<str>, Arc<str>>,
    /// Names of macros and functions of the libraries that expressions may not use.
    excluded: Arc<HashSet<Arc<str>>>,
    lists: Vec<DeclaredList>,
    messages: Arc<MessageTypes>,
    unchecked: bool,
    libraries: Libraries,
}

impl Declarations {
    /// All libraries, no variables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names are resolved inside this namespace first (language definition, "Name Resolution").
    pub fn set_container(&mut self, container: &str) {
        self.container = container.into();
    }

    /// Turns static types off: every variable and literal is `dyn`, and what does not fit is an error of the evaluation
    /// instead of a diagnostic. Names must still be declared.
    pub fn set_unchecked(&mut self, unchecked: bool) {
        self.unchecked = unchecked;
    }

    /// Whether static types are off.
    #[must_use]
    pub fn is_unchecked(&self) -> bool {
        self.unchecked
    }

    /// Turns a library on or off; all are on at first. The standard one stays on.
    pub fn set_library(&mut self, library: Library, on: bool) {
        self.libraries.set(library, on);
    }

    /// Adds a variable and returns its index. A second one of the same name hides the first.
    pub fn add_variable(&mut self, variable: Variable) -> u32 {
        let index = u32::try_from(self.variables.len()).unwrap_or(u32::MAX);
        self.most_dots = self.most_dots.max(variable.name.matches('.').count());
        self.by_name.insert(Arc::clone(&variable.name), index);
        self.variables.push(variable);
        index
    }

    /// Gives a variable of type `dyn` a narrower static type. One of another type keeps it.
    pub fn narrow_variable(&mut self, name: &str, ty: Type) {
        let index = self.by_name.get(name).copied();
        let variable = index.and_then(|index| self.variables.get_mut(index as usize));
        if let Some(variable) = variable.filter(|variable| variable.ty == Type::Dyn) {
            variable.ty = ty;
        }
    }

    /// Makes a name stand for another variable, by its index, or for none. Returns the index of the variable that it
    /// stood for: a language with scopes names a variable on entering one, and restores the name on leaving it.
    pub fn rename_variable(&mut self, name: &str, variable: Option<u32>) -> Option<u32> {
        match variable {
            Some(index) => self.by_name.insert(name.into(), index),
            None => self.by_name.remove(name),
        }
    }

    /// Lets the last part of a qualified name stand for the whole name, before names of the container and before
    /// variables.
    ///
    /// # Errors
    /// The name has no dot, or its last part stands for another name; in words.
    pub fn abbreviate(&mut self, name: &str) -> Result<(), String> {
        let Some((_, short)) = name.rsplit_once('.') else {
            return Err(format!("`{name}` has no dot: there is nothing to abbreviate"));
        };
        match self.abbreviations.get(short) {
            Some(known) if **known != *name => {
                Err(format!("`{short}` stands for `{known}` already, and can't stand for `{name}`"))
            }
            Some(_) => Ok(()),
            None => {
                self.most_dots = self.most_dots.max(name.matches('.').count());
                self.abbreviations.insert(short.into(), name.into());
                Ok(())
            }
        }
    }

    /// The full name that a name stands for.
    pub(crate) fn abbreviated(&self, short: &str) -> Option<&str> {
        self.abbreviations.get(short).map(|full| &**full)
    }

    /// Takes a macro or a function of the libraries away from expressions, by its name: `exists`, `startsWith`, `_+_`.
    pub fn exclude(&mut self, name: &str) {
        Arc::make_mut(&mut self.excluded).insert(name.into());
    }

    /// Whether a macro or a function of the libraries was taken away.
    #[must_use]
    pub fn is_excluded(&self, name: &str) -> bool {
        !self.excluded.is_empty() && self.excluded.contains(name)
    }

    /// The variable of a qualified name, with its index for [`Reference::Variable`](crate::Reference::Variable).
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<(u32, &Variable)> {
        let index = *self.by_name.get(name)?;
        Some((index, self.variables.get(index as usize)?))
    }

    /// Adds a host function and returns its index, the one of [`Overload::Host`].
    pub fn add_function(&mut self, name: &str, receiver: bool, params: Vec<Type>, result: Type) -> u32 {
        let index = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
        let name: Arc<str> = name.into();
        let callable = self.callable.entry(Arc::clone(&name)).or_default();
        callable.insert(callable.partition_point(|known| matches!(known, Overload::Host(_))), Overload::Host(index));
        self.functions.push(HostFunction {
            name,
            signature: Signature { overload: Overload::Host(index), receiver, params: params.into(), result },
        });
        index
    }

    /// Adds a function defined in CEL. It must have been checked against these declarations, or an
    /// earlier state of them. No other function may have its name, form and number of parameters.
    pub fn add_definition(&mut self, definition: Definition) {
        let name = Arc::clone(&definition.name);
        let index = self.push_definition(definition);
        self.callable.entry(name).or_default().push(Overload::Defined(index));
    }

    /// Adds a definition without parameters that rules mention by its name alone, as they do a variable.
    pub fn add_alias(&mut self, definition: Definition) {
        let name = Arc::clone(&definition.name);
        self.most_dots = self.most_dots.max(name.matches('.').count());
        let index = self.push_definition(definition);
        self.aliases.insert(name, index);
    }

    fn push_definition(&mut self, mut definition: Definition) -> u32 {
        let index = u32::try_from(self.definitions.len()).unwrap_or(u32::MAX);
        definition.signature.overload = Overload::Defined(index);
        Arc::make_mut(&mut self.definitions).push(Arc::new(definition));
        index
    }

    /// Returns the definition without parameters of this name, with its index.
    pub(crate) fn alias(&self, name: &str) -> Option<(u32, &Definition)> {
        let index = *self.aliases.get(name)?;
        Some((index, self.definitions.get(index as usize)?))
    }

    /// Whether the host declares or a definition is a function of this name, which expressions call.
    pub(crate) fn is_callable(&self, name: &str) -> bool {
        self.callable.contains_key(name)
    }

    /// The names of the functions of the host and of those defined in CEL, in no order.
    pub(crate) fn callable_names(&self) -> impl Iterator<Item = &str> {
        self.callable.keys().map(|name| &**name)
    }

    /// The signatures of the functions of this name: those of the host, then those defined in CEL.
    pub fn signatures(&self, name: &str) -> impl Iterator<Item = &Signature> {
        self.callable.get(name).into_iter().flatten().filter_map(|overload| match *overload {
            Overload::Host(index) => self.functions.get(index as usize).map(|function| &function.signature),
            Overload::Defined(index) => self.definitions.get(index as usize).map(|definition| &definition.signature),
            Overload::Builtin(_) => None,
        })
    }

    /// The definitions of this name, also the one that is mentioned without a call.
    pub fn definitions_named(&self, name: &str) -> impl Iterator<Item = &Definition> {
        let called = self.callable.get(name).into_iter().flatten().filter_map(|overload| match *overload {
            Overload::Defined(index) => self.definitions.get(index as usize).map(|definition| &**definition),
            _ => None,
        });
        called.chain(self.alias(name).map(|(_, definition)| definition))
    }

    /// Adds a list and returns its index, the one of
    /// [`Reference::InList`](crate::Reference::InList). A variable or definition `lists.NAME` hides
    /// the list of that name.
    pub fn add_list(&mut self, name: &str, key: ListKey, values: Option<ListValues>) -> u32 {
        let index = u32::try_from(self.lists.len()).unwrap_or(u32::MAX);
        self.lists.push(DeclaredList { name: name.into(), key, values });
        index
    }

    /// Whether an expression asks a list, or a definition that it uses does.
    #[must_use]
    pub fn asks_lists(&self, checked: &Checked) -> bool {
        let mut used = checked.references().filter_map(|reference| self.definition_of(reference));
        checked.asks_lists() || used.any(|definition| definition.asks_lists)
    }

    /// Sets the message types that expressions may name; at first there are none.
    pub fn set_messages(&mut self, messages: MessageTypes) {
        self.most_dots = self.most_dots.max(messages.most_dots());
        self.messages = Arc::new(messages);
    }

    /// The message types that expressions may name.
    #[must_use]
    pub fn messages(&self) -> &MessageTypes {
        &self.messages
    }

    /// The lists, by index.
    #[must_use]
    pub fn lists(&self) -> &[DeclaredList] {
        &self.lists
    }

    /// Whether a variable or a definition has this name.
    #[must_use]
    pub fn has_name(&self, name: &str) -> bool {
        self.by_name.contains_key(name) || self.aliases.contains_key(name)
    }

    /// Returns the definition that a call refers to. Such a call has no other candidates: no other
    /// function may have the same name, form and number of parameters.
    #[must_use]
    pub fn definition_of(&self, reference: &Reference) -> Option<&Definition> {
        let Reference::Call { overloads, .. } = reference else { return None };
        let [Overload::Defined(index)] = **overloads else { return None };
        self.definitions.get(index as usize).map(|definition| &**definition)
    }

    /// The names of definitions without parameters, in no order.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.aliases.keys().map(|name| &**name)
    }

    /// The variables, by index.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The host functions, by index.
    #[must_use]
    pub fn functions(&self) -> &[HostFunction] {
        &self.functions
    }

    /// The functions defined in CEL, by index.
    #[must_use]
    pub fn definitions(&self) -> &[Arc<Definition>] {
        &self.definitions
    }

    /// The functions defined in CEL, to be kept: a copy shares them.
    #[must_use]
    pub fn shared_definitions(&self) -> Arc<Vec<Arc<Definition>>> {
        Arc::clone(&self.definitions)
    }

    /// The names of all functions that expressions may call: of the libraries that are on, of the
    /// host, and defined in CEL. Macros are not functions. A name may come more than once.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        let is_name = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic());
        let mut names: Vec<&str> = TABLE.names(self.libraries).filter(is_name).collect();
        names.extend(self.functions.iter().map(|function| &*function.name));
        names.extend(self.definitions.iter().map(|definition| definition.name()));
        names.into_iter()
    }

    /// The libraries that are on.
    #[must_use]
    pub fn libraries(&self) -> Libraries {
        self.libraries
    }

    /// The container, empty for the root.
    #[must_use]
    pub fn container(&self) -> &str {
        &self.container
    }
}
