//! The contexts of an input, for any of its types: bindings of named values, or requests.

use crate::envs::Envs;
use crate::input::arguments::{Declarations, Input, NamedInput, RequestInput};
use crate::input::filter_args::FilterDeclarations;
use crate::input::host::{HostInput, HostRequest, INPUT_MEMORY};
use crate::input::message_files::MessageFile;
use crate::language::Language;
use crate::output::Output;
use crate::requests::recorded::RecordedRequest;
use celero::filter::FilterLanguage;
use celero::host::{Extension, ExtensionFields};
use celero::http::RequestContext;
use celero::messages::Message;
use celero::values::Arena;
use celero::{Bindings, Context, Env, ErrorKind, Type};
use std::net::SocketAddr;

/// An environment and the contexts that rules are evaluated with. Contexts are made anew by each
/// thread that needs them.
pub(crate) trait Contexts: Sync {
    /// The type that rules are compiled for.
    type Static: Context<Static = Self::Static> + 'static;
    /// The type of a context.
    type Of<'a>: Context<Static = Self::Static>;

    /// Returns the environment of rules in CEL, or in the language that the contexts are for.
    fn env(&self) -> &Env<Self::Static> {
        self.envs().of(Language::default())
    }

    /// Returns the environments of all languages.
    fn envs(&self) -> &Envs<Self::Static>;

    /// Returns whether values or requests were given. If not, there is one context without values,
    /// or of an empty request.
    fn given(&self) -> bool;

    /// Makes the contexts and passes them on.
    ///
    /// # Errors
    /// Values that are not of the type of their variable.
    fn with<R>(&self, run: impl FnOnce(&[Self::Of<'_>]) -> R) -> Result<R, String>;

    /// Returns a line that tells which context it is, for people.
    fn label(&self, number: usize) -> String;
}

/// A command, for any type of context.
pub(crate) trait Command {
    /// Runs the command and returns the exit code.
    ///
    /// # Errors
    /// Returns a message about an error of the command line.
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String>;
}

impl Input {
    /// Runs a command with the contexts of the input.
    ///
    /// # Errors
    /// Declarations that are not valid, and the errors of the command.
    pub(crate) fn run(self, command: impl Command, output: &mut Output) -> Result<u8, String> {
        match self {
            Self::Named(named) => command.run(&NamedContexts::new(named)?, output),
            Self::Requests(requests) => {
                if let Some(first) = requests.left_out.first() {
                    let count = requests.left_out.len();
                    let why = "requests that are not valid HTTP are left out";
                    output.complain(&format!("warning: {why}: {count}, such as {first}"));
                }
                match &requests.declarations.host {
                    Some(HostInput { variables: Some(variables), values, .. }) => {
                        let (variables, values) = (variables.clone(), values.clone());
                        command.run(&HostContexts::new(requests, &variables, values)?, output)
                    }
                    _ => command.run(&RequestContexts::new(requests)?, output),
                }
            }
        }
    }
}

/// Named values.
pub(crate) struct NamedContexts {
    input: NamedInput,
    envs: Envs<Bindings<'static>>,
}

impl NamedContexts {
    /// Declares the variables: declared ones with their types, others that have a value as `dyn`.
    ///
    /// # Errors
    /// A name or a function that can't be declared.
    pub(crate) fn new(input: NamedInput) -> Result<Self, String> {
        let mut env = Env::dynamic();
        for (name, ty) in &input.types {
            env = env.variable(name, ty.clone());
        }
        for name in input.values.keys().filter(|name| declared(&input, name).is_none()) {
            env = env.variable(name, Type::Dyn);
        }
        for message in input.messages() {
            env = env.variable(&message.name, message.ty());
        }
        let env = with_declarations(env, &input.declarations)?;
        let envs = with_language(env, FilterLanguage::new(), &input.declarations.filter)?;
        Ok(Self { input, envs })
    }
}

fn declared<'i>(input: &'i NamedInput, name: &str) -> Option<&'i Type> {
    input.types.iter().find(|(known, _)| known == name).map(|(_, ty)| ty)
}

impl Contexts for NamedContexts {
    type Static = Bindings<'static>;
    type Of<'a> = Bindings<'a>;

    fn envs(&self) -> &Envs<Self::Static> {
        &self.envs
    }

    fn given(&self) -> bool {
        self.input.given || !self.input.messages().is_empty()
    }

    fn with<R>(&self, run: impl FnOnce(&[Bindings<'_>]) -> R) -> Result<R, String> {
        let arena = Arena::new(INPUT_MEMORY);
        let mut bindings = Bindings::new(self.env());
        for (name, json) in &self.input.values {
            let ty = declared(&self.input, name).unwrap_or(&Type::Dyn);
            let value = celero_tooling::values::json::to_value(json, ty, &arena)
                .map_err(|why| format!("variable `{name}`: {why}"))?;
            bindings.set(name, value).map_err(|why| why.to_string())?;
        }
        for MessageFile { name, type_name, bytes } in self.input.messages() {
            let types = self.input.declarations.messages.as_ref().map(|messages| &messages.types);
            let message = types.and_then(|types| Message::new(types, type_name, bytes));
            let value = message.ok_or(ErrorKind::InvalidArgument).and_then(|message| message.value(&arena));
            let value = value.map_err(|why| format!("message `{name}`: {why}"))?;
            bindings.set(name, value).map_err(|why| why.to_string())?;
        }
        Ok(run(&[bindings]))
    }

    fn label(&self, _: usize) -> String {
        "the bindings".to_owned()
    }
}

/// Requests.
pub(crate) struct RequestContexts {
    requests: Requests,
    envs: Envs<RequestContext<'static>>,
}

/// Requests, and values for variables of the host.
struct HostContexts {
    requests: Requests,
    values: Option<Extension>,
    envs: Envs<HostRequest<'static>>,
}

/// The requests of an input, or an empty one.
struct Requests {
    requests: Vec<RecordedRequest>,
    given: bool,
    source: SocketAddr,
}

impl Requests {
    fn new(input: RequestInput) -> Self {
        let given = !input.requests.is_empty();
        let requests = if given { input.requests } else { vec![RecordedRequest::default()] };
        Self { requests, given, source: input.source }
    }

    fn contexts(&self) -> impl Iterator<Item = RequestContext<'_>> {
        self.requests.iter().map(|request| {
            let message = &request.message;
            RequestContext::new(message).with_body(message.body()).with_source(request.source.unwrap_or(self.source))
        })
    }

    fn label(&self, number: usize) -> String {
        let Some(RecordedRequest { message, .. }) = self.requests.get(number) else { return String::new() };
        let host = message.headers().get(http::header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
        format!("{} {host}{}", message.method(), message.uri())
    }
}

impl HostContexts {
    /// Declares the fields of requests, and the variables of the host.
    ///
    /// # Errors
    /// A name or a function that can't be declared.
    fn new(input: RequestInput, variables: &ExtensionFields, values: Option<Extension>) -> Result<Self, String> {
        let env = with_declarations(Env::new().extend(variables), &input.declarations)?;
        let envs = with_language(env, FilterLanguage::http(), &input.declarations.filter)?;
        Ok(Self { requests: Requests::new(input), values, envs })
    }
}

impl Contexts for HostContexts {
    type Static = HostRequest<'static>;
    type Of<'a> = HostRequest<'a>;

    fn envs(&self) -> &Envs<Self::Static> {
        &self.envs
    }

    fn given(&self) -> bool {
        self.requests.given || self.values.is_some()
    }

    fn with<R>(&self, run: impl FnOnce(&[HostRequest<'_>]) -> R) -> Result<R, String> {
        let variables = self.values.clone().unwrap_or_default();
        let contexts = self.requests.contexts().map(|request| HostRequest { request, variables: variables.clone() });
        let contexts: Vec<HostRequest<'_>> = contexts.collect();
        Ok(run(&contexts))
    }

    fn label(&self, number: usize) -> String {
        match self.requests.given {
            true => self.requests.label(number),
            false => "the bindings".to_owned(),
        }
    }
}

impl RequestContexts {
    /// Declares the fields of requests.
    ///
    /// # Errors
    /// A function that can't be defined.
    pub(crate) fn new(input: RequestInput) -> Result<Self, String> {
        let env = with_declarations(Env::new(), &input.declarations)?;
        let envs = with_language(env, FilterLanguage::http(), &input.declarations.filter)?;
        Ok(Self { requests: Requests::new(input), envs })
    }
}

impl Contexts for RequestContexts {
    type Static = RequestContext<'static>;
    type Of<'a> = RequestContext<'a>;

    fn envs(&self) -> &Envs<Self::Static> {
        &self.envs
    }

    fn given(&self) -> bool {
        self.requests.given
    }

    fn with<R>(&self, run: impl FnOnce(&[RequestContext<'_>]) -> R) -> Result<R, String> {
        let contexts: Vec<RequestContext<'_>> = self.requests.contexts().collect();
        Ok(run(&contexts))
    }

    fn label(&self, number: usize) -> String {
        self.requests.label(number)
    }
}

/// Returns an environment with further declarations.
fn with_declarations<C>(env: Env<C>, declarations: &Declarations) -> Result<Env<C>, String> {
    let env = declarations.filter.add_lists(env, declarations.host.as_ref().and_then(|host| host.lists.as_ref()))?;
    let env = match &declarations.host {
        Some(host) => env.functions_of(&host.functions),
        None => env,
    };
    let env = match &declarations.messages {
        Some(messages) => env.messages(&messages.types),
        None => env,
    };
    let env = env.container(&declarations.container).unchecked(declarations.unchecked);
    let env = declarations.functions.iter().fold(env, |env, (declaration, body)| env.define(declaration, body));
    match env.problems().first() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(env),
    }
}

/// Returns the environments of all languages.
///
/// # Errors
/// A field or a list of the filter language that can't be declared.
fn with_language<C>(env: Env<C>, language: FilterLanguage, filter: &FilterDeclarations) -> Result<Envs<C>, String> {
    let envs = Envs::new(env, filter.declare(language));
    if filter.is_empty() {
        return Ok(envs);
    }
    match envs.of(Language::filter()).problems().first() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(envs),
    }
}
