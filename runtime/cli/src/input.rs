//! The input of rules: source, declared variables, bindings or requests.

use crate::request_file::{self, RecordedRequests};
use crate::{http_request, notation};
use celero::http::RequestContext;
use celero::{Arena, Bindings, Env, Type};
use serde_json::{Map, Value as Json};
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The memory limit of input values, in bytes.
pub(crate) const INPUT_MEMORY: usize = 256 << 20;

/// The arguments that declare the variables of rules and give their values.
#[derive(clap::Args)]
pub(crate) struct InputArgs {
    /// Values of variables: a JSON object, `{"user.name": "ada", "n": {"uint": "1"}}`. Names may contain dots. Variables that
    /// `--vars` does not declare have the type `dyn`.
    #[arg(long, value_name = "FILE.json", conflicts_with = "request")]
    pub(crate) bindings: Option<PathBuf>,
    /// Types of variables: `user.age: int, tags: list(string)`. May be repeated.
    #[arg(long, value_name = "NAME: TYPE, ..", conflicts_with = "request")]
    pub(crate) vars: Vec<String>,
    /// An HTTP/1.1 request as text. Rules read `request.method`, `request.headers["x"]`, `source.address` and so on. For files of
    /// rules the file may contain several requests, separated by lines that start with `###`, or JSON, one object per line:
    /// `{"method": "GET", "uri": "/", "headers": {"host": "a"}, "body": ""}`.
    #[arg(long, visible_alias = "requests", value_name = "FILE")]
    pub(crate) request: Option<PathBuf>,
    /// The address of the client.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0", requires = "request")]
    pub(crate) source: SocketAddr,
    /// The namespace in which names are resolved first.
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) container: String,
    /// Defines a function for the expression: `internal(address: string) -> bool = cidr('10.0.0.0/8').containsIP(address)`.
    /// A function of the form `string.initial() -> string = this.substring(0, 1)` is called on a value. Parameters without a type
    /// have the type dyn, a result without one has the type of the body. May be repeated; a body may use earlier functions.
    #[arg(long, value_name = "NAME(PARAMETER: TYPE, ..) -> TYPE = BODY", allow_hyphen_values = true)]
    pub(crate) define: Vec<String>,
    /// Skip type checking. Type errors are then evaluation errors.
    #[arg(long)]
    pub(crate) no_check: bool,
}

/// The input of an expression.
pub(crate) enum Input {
    /// Named values.
    Named(NamedInput),
    /// A request.
    Request(Box<RequestInput>),
}

/// A request and its source.
pub(crate) struct RequestInput {
    pub(crate) message: http::Request<Vec<u8>>,
    pub(crate) peer: SocketAddr,
    pub(crate) definitions: Definitions,
}

/// The input of a set of rules.
pub(crate) enum SetInput {
    /// Named values.
    Named(NamedInput),
    /// Requests; empty without a file.
    Requests { recorded: RecordedRequests, peer: SocketAddr, env: Box<Env<RequestContext<'static>>> },
}

/// Functions defined in CEL: declaration and body.
pub(crate) type Definitions = Vec<(String, String)>;

/// Named values and their types.
#[derive(Debug, Default)]
pub(crate) struct NamedInput {
    pub(crate) types: Vec<(String, Type)>,
    pub(crate) values: Map<String, Json>,
    pub(crate) container: String,
    pub(crate) unchecked: bool,
    pub(crate) definitions: Definitions,
}

/// The environment of named values.
pub(crate) type BindingsEnv = Env<Bindings<'static>>;

impl InputArgs {
    /// Reads the input files of an expression.
    ///
    /// # Errors
    /// The file that can't be read, and why.
    pub(crate) fn input(&self) -> Result<Input, String> {
        let definitions = self.definitions()?;
        if let Some(path) = &self.request {
            let message = http_request::parse(&read(path)?).map_err(|why| format!("{}: {why}", path.display()))?;
            return Ok(Input::Request(Box::new(RequestInput { message, peer: self.source, definitions })));
        }
        self.named(definitions).map(Input::Named)
    }

    /// Reads the input files of a set of rules. The rules read a request, unless variables are declared or bound.
    ///
    /// # Errors
    /// The file that can't be read, and why.
    pub(crate) fn set_input(&self) -> Result<SetInput, String> {
        let definitions = self.definitions()?;
        if !self.vars.is_empty() || self.bindings.is_some() {
            return self.named(definitions).map(SetInput::Named);
        }
        let recorded = match &self.request {
            Some(path) => request_file::parse(&read(path)?).map_err(|why| format!("{}: {why}", path.display()))?,
            None => RecordedRequests::default(),
        };
        let env = defined(Env::new().container(&self.container).unchecked(self.no_check), &definitions)?;
        Ok(SetInput::Requests { recorded, peer: self.source, env: Box::new(env) })
    }

    fn definitions(&self) -> Result<Definitions, String> {
        let definitions = self.define.iter().map(|text| notation::definition(text));
        definitions.collect::<Result<_, _>>().map_err(|why| format!("--define: {why}"))
    }

    fn named(&self, definitions: Definitions) -> Result<NamedInput, String> {
        let (container, unchecked) = (self.container.clone(), self.no_check);
        let mut named = NamedInput { container, unchecked, definitions, ..NamedInput::default() };
        for text in &self.vars {
            named.types.extend(notation::declarations(text).map_err(|why| format!("--vars: {why}"))?);
        }
        if let Some(path) = &self.bindings {
            named.values = match serde_json::from_slice(&read(path)?) {
                Ok(Json::Object(values)) => values,
                Ok(_) => return Err(format!("{}: expected an object of names and values", path.display())),
                Err(error) => return Err(format!("{}: {error}", path.display())),
            };
        }
        Ok(named)
    }
}

impl NamedInput {
    /// The environment: declared variables with their types, others that have a value as `dyn`.
    ///
    /// # Errors
    /// A name or a function that can't be declared.
    pub(crate) fn env(&self) -> Result<BindingsEnv, String> {
        let mut env = Env::dynamic().container(&self.container).unchecked(self.unchecked);
        for (name, ty) in &self.types {
            env = env.variable(name, ty.clone());
        }
        for name in self.values.keys().filter(|name| self.ty(name).is_none()) {
            env = env.variable(name, Type::Dyn);
        }
        defined(env, &self.definitions)
    }

    /// The values, built in an arena.
    ///
    /// # Errors
    /// Returns an error for JSON that is not a value of the variable's type.
    pub(crate) fn bindings<'a>(&self, env: &BindingsEnv, arena: &'a Arena) -> Result<Bindings<'a>, String> {
        let mut bindings = Bindings::new(env);
        for (name, json) in &self.values {
            let ty = self.ty(name).unwrap_or(&Type::Dyn);
            let value =
                crate::value_json::to_value(json, ty, arena).map_err(|why| format!("variable `{name}`: {why}"))?;
            bindings.set(name, value).map_err(|why| why.to_string())?;
        }
        Ok(bindings)
    }

    fn ty(&self, name: &str) -> Option<&Type> {
        self.types.iter().find(|(n, _)| n == name).map(|(_, ty)| ty)
    }
}

impl RequestInput {
    /// The environment of a request.
    ///
    /// # Errors
    /// A function that can't be defined.
    pub(crate) fn env(&self) -> Result<Env<RequestContext<'static>>, String> {
        defined(Env::new(), &self.definitions)
    }
}

/// An environment without problems, with these functions.
fn defined<C>(env: Env<C>, definitions: &Definitions) -> Result<Env<C>, String> {
    let env = definitions.iter().fold(env, |env, (declaration, body)| env.define(declaration, body));
    match env.problems().first() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(env),
    }
}

/// Returns the expression of a command line, or standard input for `-`.
///
/// # Errors
/// Standard input that can't be read or is no UTF-8.
pub(crate) fn expression(argument: &str) -> Result<String, String> {
    if argument == "-" { read_text(Path::new("-")) } else { Ok(argument.to_owned()) }
}

/// Returns the text of a file, or of standard input for `-`, without leading and trailing white space.
///
/// # Errors
/// A file that can't be read or is no UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    read_raw(path).map(|text| text.trim().to_owned())
}

/// Returns the text of a file, or of standard input for `-`, unchanged.
///
/// # Errors
/// A file that can't be read or is no UTF-8.
pub(crate) fn read_raw(path: &Path) -> Result<String, String> {
    String::from_utf8(read(path)?).map_err(|_| format!("{}: not UTF-8", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let result = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    result.map(|()| bytes).map_err(|error| format!("{}: {error}", path.display()))
}
