//! What rules may mention: the variables of a context, the host's functions, the container of names.

mod bindings;
#[cfg(feature = "serde_json")]
mod bindings_from_json;
mod define;
mod lists;
pub(crate) mod names;
mod overlap;
mod problem;
#[cfg(all(feature = "serde", feature = "serde_json"))]
pub(crate) mod serialized;
mod strictness;

pub use bindings::{BindError, Bindings};
pub use problem::EnvError;

use crate::cel;
use crate::context::{Context, ExtensionFields, Shape, read_by_call};
use crate::cx::PATTERN_DIALECT;
use crate::function::{self, DynFunction, Functions, HostFunction};
use crate::language::{AnyLanguage, Declared, RuleLanguage};
use crate::lint::Validator;
use crate::value::message::declared_types;
use crate::variables::Variables;
use celero_frontend::stdlib::{Library, Signature};
use celero_frontend::{Declarations, FunctionDeclaration, Language, Type, Variable};
use celero_ir::ErrorKind;
use celero_ir::layout::Field as Layout;
use celero_matching::pattern::Dialect;
use celero_protobuf::Descriptors;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The libraries that need a feature of the same name, and whether this crate has it.
const OF_FEATURES: [(Library, bool); 2] =
    [(Library::Hmac, cfg!(feature = "hmac")), (Library::Yaml, cfg!(feature = "yaml"))];

/// What a function [declared without code](Env::declare_function) says when it is called.
pub const ONLY_DECLARED: &str = "it is only declared here, and has no code";

/// An environment: what is declared for rules over a context `C`. Cheap to clone, `Send` and `Sync`.
///
/// The methods that declare something never fail; what they could not declare is in
/// [`problems`](Env::problems), and compiling with such an environment is an error that lists them.
pub struct Env<C> {
    language: Arc<dyn RuleLanguage>,
    declarations: Declarations,
    variables: Arc<Variables>,
    fields: Vec<Layout>,
    functions: Functions,
    dialect: Dialect,
    problems: Vec<EnvError>,
    validators: Vec<Validator>,
    /// What the extension of a context must consist of.
    extension: Option<Shape>,
    context: PhantomData<fn(&C)>,
}

impl<C: Context> Env<C> {
    /// The environment of a context: its fields are the variables.
    #[must_use]
    pub fn new() -> Self {
        let mut env = Self::empty();
        for field in C::fields() {
            env.declare(&field.name, field.ty, field.layout);
        }
        env
    }

    /// Returns whether the context has a place for an [`Extension`](crate::host::Extension).
    #[must_use]
    pub fn is_extensible() -> bool {
        C::place_extension(&mut read_by_call(false))
    }

    /// Declares the fields of the context's [`Extension`](crate::host::Extension) as further variables.
    /// Call it first, and once. The result of an evaluation with other data in the extension is the
    /// error `host`.
    #[must_use]
    pub fn extend(mut self, extension: &ExtensionFields) -> Self {
        let reason = if !Self::is_extensible() {
            Some("it has no field `Extension` with `#[context(flatten)]`")
        } else if self.extension.is_some() {
            Some("it was extended before")
        } else if self.fields.len() != C::fields().len() {
            Some("other variables were declared before")
        } else {
            None
        };
        if let Some(reason) = reason {
            self.problems.push(EnvError::new(format!("the context can't be extended: {reason}")));
            return self;
        }
        for field in &extension.fields {
            let mut layout = field.layout.clone();
            if C::place_extension(&mut layout) {
                self.declare_known(&field.name, field.ty.clone(), layout);
            }
        }
        self.extension = Some(extension.shape);
        self
    }
}

impl<C> Env<C> {
    /// An environment without variables and functions.
    pub(crate) fn empty() -> Self {
        let mut declarations = Declarations::new();
        for (library, is_there) in OF_FEATURES {
            declarations.set_library(library, is_there);
        }
        Self {
            language: cel::cel(),
            declarations,
            variables: Arc::default(),
            fields: Vec::new(),
            functions: Functions::default(),
            dialect: PATTERN_DIALECT,
            problems: Vec::new(),
            validators: Vec::new(),
            extension: None,
            context: PhantomData,
        }
    }

    /// Declares a variable of a known type.
    pub(crate) fn declare_known(&mut self, name: &str, ty: Type, layout: Layout) {
        if overlap::is_open(&ty) {
            let message = format!("variable `{name}` can't be of type `{ty}`: a variable has one known type");
            self.problems.push(EnvError::new(message));
            return;
        }
        self.declare(name, ty, layout);
    }

    /// Sets the language in which rules are written. Default: [`Cel`](crate::language::Cel).
    /// Functions that are defined with [`define`](Self::define) and [`alias`](Self::alias) are
    /// always written in CEL.
    #[must_use]
    pub fn language(self, language: impl Language + 'static) -> Self {
        self.in_language(&AnyLanguage::new(language))
    }

    /// Sets the language in which rules are written, as [`language`](Self::language) does. What the
    /// language can name is what is declared so far.
    #[must_use]
    pub fn in_language(mut self, language: &AnyLanguage) -> Self {
        let Self { declarations, fields, functions, .. } = &self;
        let mut problems = Vec::new();
        self.language = language.bind(Declared { declarations, layouts: fields, functions }, &mut problems);
        self.problems.extend(problems.into_iter().map(EnvError::new));
        self
    }

    /// Returns the name of a type in the language in which rules are written.
    #[must_use]
    pub fn type_name(&self, ty: &Type) -> String {
        self.language.type_name(ty)
    }

    /// Returns the type of the texts that [`Engine::text`](crate::Engine::text) makes in the
    /// language in which rules are written.
    #[must_use]
    pub fn text_type(&self) -> Type {
        self.language.text_type()
    }

    /// What the extension of a context must consist of, if fields of one are declared.
    pub(crate) fn extension(&self) -> Option<Shape> {
        self.extension
    }

    /// The language in which rules are written.
    pub(crate) fn rule_language(&self) -> &Arc<dyn RuleLanguage> {
        &self.language
    }

    /// Sets the types of messages that rules may name, build and read. The descriptors are those of
    /// the [messages](crate::messages::Message) that are bound.
    #[must_use]
    pub fn messages(mut self, types: &Descriptors) -> Self {
        self.declarations.set_messages(declared_types(types));
        self.functions.set_messages(types.clone());
        self
    }

    /// Names in rules are resolved inside this namespace first.
    #[must_use]
    pub fn container(mut self, name: &str) -> Self {
        match names::qualified(name) {
            Err(reason) if !name.is_empty() => {
                self.problems.push(EnvError::new(format!("container `{name}`: {reason}")))
            }
            _ => self.declarations.set_container(name),
        }
        self
    }

    /// Lets the last part of a qualified name stand for the whole name, for names of types and of
    /// constants: `acme.v1.Order` lets rules write `Order{id: 1}`. It comes before names of the
    /// [container](Self::container) and before variables.
    #[must_use]
    pub fn abbreviate(mut self, name: &str) -> Self {
        if let Err(reason) = names::qualified(name).and_then(|()| self.declarations.abbreviate(name)) {
            self.problems.push(EnvError::new(format!("abbreviation `{name}`: {reason}")));
        }
        self
    }

    /// Takes macros and functions of the libraries away from rules, by their names; operators have
    /// the names that CEL gives them, such as `_+_`.
    ///
    /// ```
    /// # use celero::{Engine, Env};
    /// let env = Env::dynamic().without(["exists", "matches"]);
    /// assert!(Engine::new().check(&env, "[1].all(n, n > 0)").is_ok());
    /// assert!(Engine::new().check(&env, "[1].exists(n, n > 0)").is_err());
    /// ```
    #[must_use]
    pub fn without<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        names.into_iter().for_each(|name| self.declarations.exclude(name));
        self
    }

    /// Turns static types off: what does not fit is then an error of the evaluation instead of a diagnostic.
    #[must_use]
    pub fn unchecked(mut self, unchecked: bool) -> Self {
        self.declarations.set_unchecked(unchecked);
        self
    }

    /// Sets how rules in CEL read patterns, in all functions that take one. Default:
    /// [`Dialect::Re2`], as CEL defines it. [`Dialect::Regex`] is for rules that were written for
    /// an engine that reads them as the `regex` crate does.
    ///
    /// Patterns in named lists are RE2's whatever the environment says, because environments share
    /// lists, and those of the filter language are Wirefilter's.
    ///
    /// ```
    /// use celero::settings::PatternDialect;
    /// use celero::{Bindings, Engine, Env, Type};
    ///
    /// let env = Env::dynamic().variable("text", Type::String).patterns(PatternDialect::Regex);
    /// let mut call = Bindings::new(&env);
    /// call.set("text", "a <word>")?;
    /// // The start and the end of a word; to RE2 the characters `<` and `>`.
    /// assert!(Engine::new().compile(&env, r"text.matches(r'\<a\>')")?.test(&call)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn patterns(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// The dialect of the patterns of rules in CEL.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Turns a library on or off; all are on at first (`hmac` and `yaml` with the features of their
    /// names). The standard one stays on. Turn a library off whose functions or macros have the names of
    /// yours, before these are declared.
    ///
    /// ```
    /// # use celero::settings::Library;
    /// # use celero::Env;
    /// let env = Env::dynamic().library(Library::Strings, false).method("trim", |text: &str| text.len() as i64);
    /// assert!(env.problems().is_empty());
    /// ```
    #[must_use]
    pub fn library(mut self, library: Library, on: bool) -> Self {
        if on && OF_FEATURES.contains(&(library, false)) {
            let name = library.name();
            self.problems.push(EnvError::new(format!("the library `{name}` needs the feature `{name}` of celero")));
            return self;
        }
        self.declarations.set_library(library, on);
        if on {
            self.problems.extend(overlap::all(&self.declarations).map(EnvError::new));
        }
        self
    }

    /// Declares a function that rules call as `name(a, b)`. Its CEL types follow from the closure's.
    ///
    /// The function is called whenever an evaluation reaches the call, and never when a rule is
    /// compiled: twice for `f(x) || f(x)` if the first call gives false, once for each element in a
    /// loop, and once for each rule of a set that is evaluated and reaches its call. No two calls
    /// become one, and no call is repeated. What decides before a call prevents it, as in
    /// `false && f(x)`; so does the index of a set for a rule that cannot match. A function whose
    /// equal calls give equal results is better declared with [`pure_function`](Env::pure_function).
    ///
    /// ```
    /// use celero::{Bindings, Engine, Env};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicI64, Ordering};
    ///
    /// let load = Arc::new(AtomicI64::new(0));
    /// let now = Arc::clone(&load);
    /// let env = Env::dynamic().function("load", move |_: &str| now.load(Ordering::Relaxed));
    /// let rule = Engine::new().compile(&env, "load('cpu') > 50")?;
    /// let context = Bindings::new(&env);
    /// assert!(!rule.test(&context)?);
    /// load.store(90, Ordering::Relaxed);
    /// assert!(rule.test(&context)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`FromValue`](crate::host::FromValue) lists the types of parameters,
    /// [`IntoValue`](crate::host::IntoValue) those of results; there may be up to six parameters. A
    /// closure that panics is the evaluation error `host`.
    #[must_use]
    pub fn function<M>(self, name: &str, function: impl HostFunction<M>) -> Self {
        self.add(name, false, false, function)
    }

    /// Declares a function that rules call on its first parameter: `a.name(b)`. Else as [`function`](Env::function).
    #[must_use]
    pub fn method<M>(self, name: &str, function: impl HostFunction<M>) -> Self {
        self.add(name, true, false, function)
    }

    /// Declares a function whose equal calls give equal results at all times. Else as
    /// [`function`](Env::function).
    ///
    /// A call whose arguments are constants is made when the rule is compiled, and its result stands
    /// in the code ([`Engine::explain`](crate::Engine::explain) lists these calls). Equal calls, of one rule
    /// or of several rules of a set, may be made once, and calls may be repeated.
    ///
    /// ```
    /// # use celero::{Bindings, Env};
    /// let env = Env::dynamic().pure_function("is_even", |n: i64| n % 2 == 0);
    /// assert!(env.problems().is_empty());
    /// ```
    #[must_use]
    pub fn pure_function<M>(self, name: &str, function: impl HostFunction<M>) -> Self {
        self.add(name, false, true, function)
    }

    /// Declares a [pure function](Env::pure_function) that rules call on its first parameter: `a.name(b)`.
    #[must_use]
    pub fn pure_method<M>(self, name: &str, function: impl HostFunction<M>) -> Self {
        self.add(name, true, true, function)
    }

    /// Declares the host's functions of another environment, with their code.
    #[must_use]
    pub fn functions_of<D>(mut self, other: &Env<D>) -> Self {
        for (index, function) in (0..).zip(other.declarations.functions()) {
            if let Some((pure, call)) = other.functions.code(index) {
                let Signature { receiver, params, result, .. } = &function.signature;
                self.add_erased(&function.name, *receiver, (params.to_vec(), result.clone()), pure, call);
            }
        }
        self
    }

    /// Declares a function without code, for tools that check the rules of a host:
    /// `plan(tenant: string) -> string`, or `string.plan() -> string` for one that is called on a
    /// value. A parameter or a result without a type is `dyn`. Each call is the evaluation error
    /// `host`.
    ///
    /// ```
    /// # use celero::{Engine, Env};
    /// let env = Env::dynamic().declare_function("plan(tenant: string) -> string");
    /// assert!(Engine::new().check(&env, "plan('acme') == 'pro'").is_ok());
    /// assert!(Engine::new().check(&env, "plan(1) == 'pro'").is_err());
    /// ```
    #[must_use]
    pub fn declare_function(mut self, declaration: &str) -> Self {
        let parsed = match FunctionDeclaration::parse(declaration) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.problems.push(EnvError::new(format!("function `{declaration}`: {}", error.message)));
                return self;
            }
        };
        let FunctionDeclaration { name, receiver, parameters, result, .. } = parsed;
        let is_method = receiver.is_some();
        let params = receiver.into_iter().chain(parameters.into_iter().map(|parameter| parameter.ty)).collect();
        self.declare_signature(&name, is_method, params, result.unwrap_or(Type::Dyn))
    }

    /// Declares a function without code by its signature; the first parameter of a method is what it
    /// is called on. Else as [`declare_function`](Self::declare_function).
    #[must_use]
    pub fn declare_signature(mut self, name: &str, is_method: bool, params: Vec<Type>, result: Type) -> Self {
        let call: Arc<DynFunction> = Arc::new(|_, _| {
            function::explain(&ONLY_DECLARED);
            Err(ErrorKind::Host)
        });
        self.add_erased(name, is_method, (params, result), false, call);
        self
    }

    /// What could not be declared.
    #[must_use]
    pub fn problems(&self) -> &[EnvError] {
        &self.problems
    }

    /// What the checker sees.
    #[must_use]
    pub fn declarations(&self) -> &Declarations {
        &self.declarations
    }

    /// The host's functions, by the index of their declaration.
    #[must_use]
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// How native code reads the variables, by the index of their declaration.
    #[must_use]
    pub fn fields(&self) -> &[Layout] {
        &self.fields
    }

    /// The variables by name.
    pub(crate) fn variables(&self) -> Arc<Variables> {
        Arc::clone(&self.variables)
    }

    /// Every variable gets an index, even if its declaration is refused, because the indices are
    /// those of the context's fields.
    fn declare(&mut self, name: &str, ty: Type, layout: Layout) {
        if let Err(reason) = names::variable(name) {
            self.problems.push(EnvError::new(format!("variable `{name}`: {reason}")));
        }
        let variables = Arc::make_mut(&mut self.variables);
        let name: Arc<str> = name.into();
        if !variables.add(&name, &ty, layout.headers.is_some()) {
            self.problems.push(EnvError::new(format!("variable `{name}` is declared twice")));
        }
        let values = layout.domain.map(|domain| domain.to_string().into());
        self.declarations.add_variable(Variable { name, ty, optional: layout.optional, values });
        self.fields.push(layout);
    }

    fn add<M, F: HostFunction<M>>(mut self, name: &str, receiver: bool, pure: bool, function: F) -> Self {
        self.add_erased(name, receiver, (F::params(), F::result()), pure, function.erase());
        self
    }

    fn add_erased(
        &mut self,
        name: &str,
        receiver: bool,
        (params, result): (Vec<Type>, Type),
        pure: bool,
        call: Arc<DynFunction>,
    ) {
        let fault = names::function(name, receiver, params.len())
            .and_then(|()| overlap::none(&self.declarations, name, receiver, &params));
        match fault {
            Err(reason) => self.problems.push(EnvError::new(format!("function `{name}`: {reason}"))),
            Ok(()) => {
                self.declarations.add_function(name, receiver, params.clone(), result);
                self.functions.add(name, params.into(), pure, call);
            }
        }
    }
}

impl<C: Context> Default for Env<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C> Clone for Env<C> {
    fn clone(&self) -> Self {
        Self {
            language: Arc::clone(&self.language),
            declarations: self.declarations.clone(),
            variables: Arc::clone(&self.variables),
            fields: self.fields.clone(),
            functions: self.functions.clone(),
            dialect: self.dialect,
            problems: self.problems.clone(),
            validators: self.validators.clone(),
            extension: self.extension,
            context: PhantomData,
        }
    }
}

impl<C> fmt::Debug for Env<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env")
            .field("declarations", &self.declarations)
            .field("functions", &self.functions)
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}
