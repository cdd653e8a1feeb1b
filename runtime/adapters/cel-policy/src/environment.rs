//! Environment files: what the expressions of a policy may mention.

use crate::codes;
use crate::environment_file::{self, EnvironmentFile, Overload};
use crate::extensions::{self, ALWAYS};
use celero::language::{Declarations, KEYWORDS, RESERVED};
use celero::settings::{Library, SourceLimits};
use celero::{Bindings, Context, Env, Type};
use celero_policy::PolicyError;
use celero_policy::problems::{FileSpan, Problems};

/// An environment file, `config.yaml` or `env.yaml`: container, extensions, variables, functions.
///
/// The file says what expressions may mention; values and functions are the host's. An environment
/// that is made of the file has the standard library, optionals and `cel.bind`, the extensions that
/// the file names, and nothing else.
///
/// ```
/// use celero::{Bindings, Engine, Env};
/// use celero_cel_policy::Environment;
///
/// let file = "variables:\n- {name: user, type_name: string}\nextensions:\n- name: strings\n";
/// let env = Environment::parse("env.yaml", file)?.bindings(Env::dynamic())?;
/// let rule = Engine::new().compile(&env, "user.charAt(0) == 'a'")?;
/// let mut call = Bindings::new(&env);
/// call.set("user", "ada")?;
/// assert!(rule.test(&call)?);
/// assert!(Engine::new().compile(&env, "math.greatest(1, 2) == 2").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Environment {
    /// The file, for messages.
    problems: Problems,
    file: EnvironmentFile,
}

/// Which functions of the file have code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    /// All: the host's environment has them.
    OfHost,
    /// Those that the host's environment has. A call of another one is the evaluation error `host`.
    Optional,
}

impl Environment {
    /// The variable that holds the message whose fields are variables, where the file has a
    /// `context_variable`.
    pub const CONTEXT: &'static str = "context_message";

    /// Reads a file. `name` is for messages.
    ///
    /// # Errors
    /// Everything that is wrong with the file, and what celero does not support.
    pub fn parse(name: &str, text: &str) -> Result<Self, PolicyError> {
        let mut problems = Problems::default();
        let file = problems.file(name.to_owned(), text);
        let file = environment_file::read(file, &mut problems);
        if problems.has_errors() { Err(PolicyError::new(problems)) } else { Ok(Self { problems, file }) }
    }

    /// Returns the name that the file gives the environment.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.file.name.as_deref()
    }

    /// Returns limits with those that the file sets. They bound each expression, and are a matter of
    /// the [engine](celero::settings::EngineBuilder::limits). A limit on code points is one on bytes.
    #[must_use]
    pub fn limits(&self, mut limits: SourceLimits) -> SourceLimits {
        for (name, value) in &self.file.limits {
            extensions::set_limit(&mut limits, name, *value);
        }
        limits
    }

    /// Declares what the file says in an environment for [`Bindings`], its variables included.
    /// `host` has the functions with their code and, if the file names any, the
    /// [messages](Env::messages).
    ///
    /// With a `context_variable` the message is bound to [`CONTEXT`](Self::CONTEXT).
    ///
    /// # Errors
    /// A function that the host does not have, a name that can't be declared, an unknown type; each
    /// at its place in the file.
    pub fn bindings(&self, host: Env<Bindings<'static>>) -> Result<Env<Bindings<'static>>, PolicyError> {
        self.dynamic(host, Code::OfHost)
    }

    /// As [`bindings`](Self::bindings) for tools that check policies of other hosts: functions may
    /// have no code. A call of one is then the evaluation error `host`.
    ///
    /// # Errors
    /// As of [`bindings`](Self::bindings), but for functions that the host does not have.
    pub fn bindings_for_tools(&self, host: Env<Bindings<'static>>) -> Result<Env<Bindings<'static>>, PolicyError> {
        self.dynamic(host, Code::Optional)
    }

    /// Applies what the file says to the environment of a host's context. The variables and
    /// functions of the file must be those of the host.
    ///
    /// # Errors
    /// A variable or a function that the host does not have, or has with another type; each at its
    /// place in the file.
    pub fn context<C: Context>(&self, host: Env<C>) -> Result<Env<C>, PolicyError> {
        let mut problems = self.problems.clone();
        for (name, ty) in &self.file.variables {
            let declared = host.declarations().variable(&name.text).map(|(_, variable)| variable.ty.clone());
            let Some(ty) = resolved(ty.resolve(host.declarations()), &mut problems) else { continue };
            let message = match declared {
                Some(declared) if declared == ty => continue,
                Some(declared) => format!("variable `{}` is `{declared}` in the host, not `{ty}`", name.text),
                None => format!("the host has no variable `{}`", name.text),
            };
            problems.add(codes::ENVIRONMENT, name.place, message);
        }
        if let Some(context) = &self.file.context
            && host.declarations().variable(Self::CONTEXT).is_none()
        {
            let message = format!("the host has no variable `{}` for the message", Self::CONTEXT);
            problems.add(codes::ENVIRONMENT, context.place, message);
        }
        self.declare(host, Code::OfHost, problems)
    }

    fn dynamic(&self, host: Env<Bindings<'static>>, code: Code) -> Result<Env<Bindings<'static>>, PolicyError> {
        let mut problems = self.problems.clone();
        let mut env = host;
        for (name, ty) in &self.file.variables {
            let Some(ty) = resolved(ty.resolve(env.declarations()), &mut problems) else { continue };
            env = at(name.place, &mut problems, env, |env| env.variable(&name.text, ty));
        }
        if let Some(context) = &self.file.context {
            if env.declarations().messages().message(&context.text).is_none() {
                let message = format!("invalid context proto type: `{}` is no declared message", context.text);
                problems.add(codes::ENVIRONMENT, context.place, message);
            } else {
                let ty = Type::message(&context.text);
                env = at(context.place, &mut problems, env, |env| env.variable(Self::CONTEXT, ty));
            }
        }
        self.declare(env, code, problems)
    }

    /// Declares all but the variables.
    fn declare<C: Context>(&self, env: Env<C>, code: Code, mut problems: Problems) -> Result<Env<C>, PolicyError> {
        let file = &self.file;
        let mut env = env;
        for library in Library::ALL.into_iter().filter(|library| !ALWAYS.contains(library)) {
            env = env.library(library, file.libraries.contains(&library));
        }
        if let Some(container) = &file.container {
            env = at(container.place, &mut problems, env, |env| env.container(&container.text));
        }
        for import in &file.imports {
            env = at(import.place, &mut problems, env, |env| env.abbreviate(&import.text));
        }
        if let Some(context) = file.context.as_ref().filter(|_| !problems.has_errors()) {
            env = with_fields(env, &context.text, context.place, &mut problems);
        }
        for overload in &file.functions {
            env = function(env, overload, code, &mut problems);
        }
        env = file.validators.iter().fold(env, |env, validator| env.validator(*validator));
        env = env.without(file.excluded.iter().map(String::as_str));
        if problems.has_errors() { Err(PolicyError::new(problems)) } else { Ok(env) }
    }
}

/// Declares something, and reports what the environment says of it at this place.
fn at<C: Context>(
    place: FileSpan,
    problems: &mut Problems,
    env: Env<C>,
    declare: impl FnOnce(Env<C>) -> Env<C>,
) -> Env<C> {
    let before = env.problems().len();
    let env = declare(env);
    for problem in env.problems().iter().skip(before) {
        problems.add(codes::ENVIRONMENT, place, problem.to_string());
    }
    env
}

fn resolved(found: Result<Type, (FileSpan, String)>, problems: &mut Problems) -> Option<Type> {
    found.map_err(|(place, message)| problems.add(codes::ENVIRONMENT, place, message)).ok()
}

/// Makes the fields of the message of a context variables: names for selections from it.
fn with_fields<C: Context>(env: Env<C>, message: &str, place: FileSpan, problems: &mut Problems) -> Env<C> {
    let mut fields: Vec<String> = env.declarations().messages().fields(message).map(str::to_owned).collect();
    // Extensions have names with dots; rules can't mention a reserved word.
    fields.retain(|field| !field.contains('.') && !KEYWORDS.contains(&&**field) && !RESERVED.contains(&&**field));
    fields.sort_unstable();
    at(place, problems, env, |env| {
        fields.iter().fold(env, |env, field| env.alias(field, &format!("{}.{field}", Environment::CONTEXT)))
    })
}

/// Declares an overload, or finds it among the host's functions.
fn function<C: Context>(env: Env<C>, overload: &Overload, code: Code, problems: &mut Problems) -> Env<C> {
    let Overload { name, place, target, args, result } = overload;
    let declarations = env.declarations();
    let mut resolve = |ty: &crate::types::WrittenType| resolved(ty.resolve(declarations), problems);
    let params: Option<Vec<Type>> = target.iter().chain(args).map(&mut resolve).collect();
    let (Some(params), Some(result)) = (params, resolve(result)) else { return env };
    if has_function(declarations, &name.text, target.is_some(), &params, &result) {
        return env;
    }
    if code == Code::Optional {
        let (is_method, name) = (target.is_some(), &name.text);
        return at(*place, problems, env, |env| env.declare_signature(name, is_method, params, result));
    }
    let shown = shown(&name.text, target.is_some(), &params, &result);
    let others: Vec<String> = declarations
        .signatures(&name.text)
        .map(|known| self::shown(&name.text, known.receiver, &known.params, &known.result))
        .collect();
    let problem = problems.add(codes::ENVIRONMENT, *place, format!("the host has no function `{shown}`"));
    if !others.is_empty() {
        problem.help(format!("it has `{}`", others.join("`, `")));
    }
    env
}

fn has_function(declarations: &Declarations, name: &str, is_method: bool, params: &[Type], result: &Type) -> bool {
    declarations
        .signatures(name)
        .any(|known| known.receiver == is_method && *known.params == *params && known.result == *result)
}

/// The text of a declaration of a function.
fn shown(name: &str, is_method: bool, params: &[Type], result: &Type) -> String {
    let (target, args) = if is_method { params.split_at(1.min(params.len())) } else { (&[][..], params) };
    let target = target.first().map(|target| format!("{target}.")).unwrap_or_default();
    let args: Vec<String> = args.iter().map(Type::to_string).collect();
    format!("{target}{name}({}) -> {result}", args.join(", "))
}
