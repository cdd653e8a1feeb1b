//! What a rule is given: the source, the declared variables, and the bindings or the request.

use crate::requests::{self, Recorded};
use crate::{request, types};
use celero::http::RequestContext;
use celero::{Arena, Bindings, Env, Type};
use serde_json::{Map, Value as Json};
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Memory for the values that rules are given, in bytes.
pub(crate) const GIVEN_MEMORY: usize = 256 << 20;

/// The arguments that say what a rule may mention.
#[derive(clap::Args)]
pub(crate) struct Given {
    /// Values of variables: a JSON object, `{"user.name": "ada", "n": {"uint": "1"}}`. Names may have dots; variables that
    /// `--vars` doesn't declare are `dyn`.
    #[arg(long, value_name = "FILE.json", conflicts_with = "request")]
    pub(crate) bindings: Option<PathBuf>,
    /// Types of variables: `user.age: int, tags: list(string)`. May be repeated.
    #[arg(long, value_name = "NAME: TYPE, ..", conflicts_with = "request")]
    pub(crate) vars: Vec<String>,
    /// An HTTP/1.1 request as text; rules see `request.method`, `request.headers["x"]`, `source.address` and so on. For files of
    /// rules it may hold several, each after a line that starts with `###`, or be JSON, one object a line:
    /// `{"method": "GET", "uri": "/", "headers": {"host": "a"}, "body": ""}`.
    #[arg(long, visible_alias = "requests", value_name = "FILE")]
    pub(crate) request: Option<PathBuf>,
    /// Where the request came from.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0", requires = "request")]
    pub(crate) source: SocketAddr,
    /// The namespace in which names are resolved first.
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) container: String,
    /// A function for the expression to call: `internal(address: string) -> bool = cidr('10.0.0.0/8').containsIP(address)`.
    /// One of the form `string.initial() -> string = this.substring(0, 1)` is called on a value. Parameters without a type
    /// are dyn, and a result without one has the type of the body. May be repeated; a body may use the functions before it.
    #[arg(long, value_name = "NAME(PARAMETER: TYPE, ..) -> TYPE = BODY", allow_hyphen_values = true)]
    pub(crate) define: Vec<String>,
    /// Leaves the type checker out: what does not fit is then an error of the evaluation.
    #[arg(long)]
    pub(crate) no_check: bool,
}

/// What a rule may mention, read.
pub(crate) enum World {
    /// Named values.
    Named(Named),
    /// A request.
    Request(Box<Request>),
}

/// A request and its source.
pub(crate) struct Request {
    pub(crate) message: http::Request<Vec<u8>>,
    pub(crate) peer: SocketAddr,
    pub(crate) definitions: Definitions,
}

/// What a set of rules may mention, read.
pub(crate) enum SetWorld {
    /// Named values.
    Named(Named),
    /// Requests, none if no file has any.
    Requests { recorded: Recorded, peer: SocketAddr, env: Box<Env<RequestContext<'static>>> },
}

/// Functions defined in CEL: declaration and body.
pub(crate) type Definitions = Vec<(String, String)>;

/// Named values and their types.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub(crate) types: Vec<(String, Type)>,
    pub(crate) values: Map<String, Json>,
    pub(crate) container: String,
    pub(crate) unchecked: bool,
    pub(crate) definitions: Definitions,
}

/// The environment of named values.
pub(crate) type NamedEnv = Env<Bindings<'static>>;

impl Given {
    /// Reads the files.
    ///
    /// # Errors
    /// The file that can't be read, and why.
    pub(crate) fn world(&self) -> Result<World, String> {
        let definitions = self.definitions()?;
        if let Some(path) = &self.request {
            let message = request::parse(&read(path)?).map_err(|why| format!("{}: {why}", path.display()))?;
            return Ok(World::Request(Box::new(Request { message, peer: self.source, definitions })));
        }
        self.named(definitions).map(World::Named)
    }

    /// Reads the files that a set of rules is given: its rules see a request, unless variables are declared or given.
    ///
    /// # Errors
    /// The file that can't be read, and why.
    pub(crate) fn set_world(&self) -> Result<SetWorld, String> {
        let definitions = self.definitions()?;
        if !self.vars.is_empty() || self.bindings.is_some() {
            return self.named(definitions).map(SetWorld::Named);
        }
        let recorded = match &self.request {
            Some(path) => requests::parse(&read(path)?).map_err(|why| format!("{}: {why}", path.display()))?,
            None => Recorded::default(),
        };
        let env = defined(Env::new().container(&self.container).unchecked(self.no_check), &definitions)?;
        Ok(SetWorld::Requests { recorded, peer: self.source, env: Box::new(env) })
    }

    fn definitions(&self) -> Result<Definitions, String> {
        let definitions = self.define.iter().map(|text| types::definition(text));
        definitions.collect::<Result<_, _>>().map_err(|why| format!("--define: {why}"))
    }

    fn named(&self, definitions: Definitions) -> Result<Named, String> {
        let (container, unchecked) = (self.container.clone(), self.no_check);
        let mut named = Named { container, unchecked, definitions, ..Named::default() };
        for text in &self.vars {
            named.types.extend(types::declarations(text).map_err(|why| format!("--vars: {why}"))?);
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

impl Named {
    /// The environment: declared variables with their types, others that have a value as `dyn`.
    ///
    /// # Errors
    /// A name or a function that can't be declared.
    pub(crate) fn env(&self) -> Result<NamedEnv, String> {
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
    /// A value that is none, or not of its variable's type.
    pub(crate) fn bindings<'a>(&self, env: &NamedEnv, arena: &'a Arena) -> Result<Bindings<'a>, String> {
        let mut bindings = Bindings::new(env);
        for (name, json) in &self.values {
            let ty = self.ty(name).unwrap_or(&Type::Dyn);
            let value = crate::json::to_value(json, ty, arena).map_err(|why| format!("variable `{name}`: {why}"))?;
            bindings.set(name, value).map_err(|why| why.to_string())?;
        }
        Ok(bindings)
    }

    fn ty(&self, name: &str) -> Option<&Type> {
        self.types.iter().find(|(n, _)| n == name).map(|(_, ty)| ty)
    }
}

impl Request {
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

/// The expression of a command line: itself, or standard input for `-`.
///
/// # Errors
/// Standard input that can't be read or is no UTF-8.
pub(crate) fn expression(argument: &str) -> Result<String, String> {
    if argument == "-" { read_text(Path::new("-")) } else { Ok(argument.to_owned()) }
}

/// The text of a file, or of standard input for `-`, without blanks around it.
///
/// # Errors
/// A file that can't be read or is no UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    read_raw(path).map(|text| text.trim().to_owned())
}

/// The text of a file, or of standard input for `-`, as it is.
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
