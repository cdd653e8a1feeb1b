//! What rules are evaluated with: declared variables and their values, or requests.

use crate::input::filter_args::{FilterArgs, FilterDeclarations};
use crate::input::host::HostInput;
use crate::input::message_files::{MessageArgs, MessageFile, MessageInput};
use crate::input::source::{Source, read_bytes};
use crate::requests::recorded::{self, RecordedRequest, RecordedRequests};
use celero::Type;
use celero_tooling::requests::address::address;
use celero_tooling::values;
use celero_tooling::values::inferred_type::inferred_type;
use serde_json::{Map, Value as Json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The arguments that declare the variables of rules and give their values.
#[derive(clap::Args)]
pub(crate) struct InputArgs {
    /// Values of variables: a JSON object, `{"user.name": "ada", "n": {"uint": "1"}}`. Names may
    /// contain dots. Variables that `--vars` does not declare have the type `dyn`; with `--env` they are
    /// those of the host.
    #[arg(long, value_name = "FILE.json")]
    pub(crate) bindings: Option<PathBuf>,
    /// Types of variables: `user.age: int, tags: list(string)`, and with `--descriptors` messages: `m: test.Request`.
    /// May be repeated.
    #[arg(long, value_name = "NAME: TYPE, ..", conflicts_with = "requests")]
    pub(crate) vars: Vec<String>,
    /// What the host of policies declares: functions, which have no code here, and variables beside those of requests.
    /// `--bindings` gives them values; one without a value is absent. With `--vars` other rules than
    /// policies read these.
    #[arg(long, value_name = "HOST.yaml")]
    pub(crate) env: Option<PathBuf>,
    /// HTTP requests: HTTP/1.1 as text, several separated by lines that start with `###`; or JSON, one object per line:
    /// `{"method": "GET", "uri": "/", "headers": {"host": "a"}, "body": "", "source": "192.0.2.7:4711"}`.
    #[arg(long, visible_alias = "request", value_name = "FILE")]
    pub(crate) requests: Option<PathBuf>,
    /// The address of the client, for requests without one.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0", requires = "requests", value_parser = address)]
    pub(crate) source: SocketAddr,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
    /// The namespace in which names are resolved first.
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) container: String,
    /// Defines a function for the rules:
    /// `internal(address: string) -> bool = cidr('10.0.0.0/8').containsIP(address)`. A function of
    /// the form `string.initial() -> string = this.substring(0, 1)` is called on a value.
    /// Parameters without a type have the type dyn, a result without one has the type of the body.
    /// May be repeated; a body may use earlier functions.
    #[arg(long, value_name = "NAME(PARAMETER: TYPE, ..) -> TYPE = BODY", allow_hyphen_values = true)]
    pub(crate) define: Vec<String>,
    /// Skip type checking. Type errors are then evaluation errors.
    #[arg(long)]
    pub(crate) no_check: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// What rules are evaluated with.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// Named values.
    Named(NamedInput),
    /// Requests.
    Requests(RequestInput),
}

/// What an environment has besides its variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    pub(crate) container: String,
    pub(crate) unchecked: bool,
    /// Functions defined in CEL: declaration and body.
    pub(crate) functions: Vec<(String, String)>,
    /// Of rules in the filter language.
    pub(crate) filter: FilterDeclarations,
    /// What the host of policies declares.
    pub(crate) host: Option<HostInput>,
    /// The types of messages, and messages.
    pub(crate) messages: Option<MessageInput>,
}

/// Named values and their types.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedInput {
    pub(crate) types: Vec<(String, Type)>,
    pub(crate) values: Map<String, Json>,
    /// Whether values were given, not only types.
    pub(crate) given: bool,
    pub(crate) declarations: Declarations,
}

/// Requests.
#[derive(Clone, Debug)]
pub(crate) struct RequestInput {
    /// Empty if none were given.
    pub(crate) requests: Vec<RecordedRequest>,
    /// The errors of requests that are left out.
    pub(crate) left_out: Vec<String>,
    pub(crate) source: SocketAddr,
    pub(crate) declarations: Declarations,
}

impl NamedInput {
    /// The variables that are messages.
    pub(crate) fn messages(&self) -> &[MessageFile] {
        self.declarations.messages.as_ref().map_or(&[], |messages| &messages.messages)
    }
}

impl RequestInput {
    /// No requests.
    pub(crate) fn none() -> Self {
        let source = SocketAddr::from(([127, 0, 0, 1], 0));
        Self { requests: Vec::new(), left_out: Vec::new(), source, declarations: Declarations::default() }
    }
}

impl Input {
    /// Returns the input for these rules. If some are in the filter language, variables with a
    /// value and without a declared type have the type of the value, not `dyn`.
    pub(crate) fn for_rules(self, sources: &[Source]) -> Self {
        if sources.iter().any(Source::may_need_types) { self.for_both_languages() } else { self }
    }

    /// Returns the input for rules in both languages: variables with a value and without a declared
    /// type have the type of the value.
    pub(crate) fn for_both_languages(mut self) -> Self {
        if let Self::Named(named) = &mut self {
            for (name, value) in &named.values {
                if !named.types.iter().any(|(known, _)| known == name) {
                    named.types.push((name.clone(), inferred_type(value)));
                }
            }
        }
        self
    }
}

impl InputArgs {
    /// Returns whether the command line declares or binds variables, so that there is no request.
    pub(crate) fn declares(&self) -> bool {
        let of_messages = self.messages.given() && self.requests.is_none();
        !self.vars.is_empty() || of_messages || self.bindings.is_some() && self.env.is_none()
    }

    /// Reads the input files. Rules read a request, unless variables are declared or bound.
    ///
    /// # Errors
    /// The file that can't be read, and why.
    pub(crate) fn read(&self) -> Result<Input, String> {
        let functions = self.define.iter().map(|text| values::notation::definition(text)).collect::<Result<_, _>>();
        let functions = functions.map_err(|why| format!("--define: {why}"))?;
        let values = self.bindings.as_deref().map(bindings_of).transpose()?;
        let host = match &self.env {
            Some(file) => Some(HostInput::read(file, values.as_ref().filter(|_| !self.declares()))?),
            None if values.is_some() && self.requests.is_some() => {
                return Err("--bindings gives no values beside --requests: requests have their own, and a host the variables that --env \
                            declares"
                    .to_owned());
            }
            None => None,
        };
        let (container, unchecked, filter) = (self.container.clone(), self.no_check, self.filter.read()?);
        let declarations =
            Declarations { container, unchecked, functions, filter, host, messages: self.messages.read()? };
        if self.declares() {
            return self.named(declarations, values).map(Input::Named);
        }
        let RecordedRequests { requests, left_out } = match &self.requests {
            Some(path) => requests_of(path)?,
            None => RecordedRequests::default(),
        };
        Ok(Input::Requests(RequestInput { requests, left_out, source: self.source, declarations }))
    }

    fn named(&self, declarations: Declarations, values: Option<Map<String, Json>>) -> Result<NamedInput, String> {
        let given = values.is_some();
        let mut named = NamedInput { declarations, given, values: values.unwrap_or_default(), ..NamedInput::default() };
        for text in &self.vars {
            let messages = named.declarations.messages.as_ref().map(|messages| &messages.types);
            let types = values::notation::declarations(text, messages).map_err(|why| format!("--vars: {why}"))?;
            named.types.extend(types);
        }
        Ok(named)
    }
}

/// Reads a file of values by their names.
fn bindings_of(path: &Path) -> Result<Map<String, Json>, String> {
    match serde_json::from_slice(&read_bytes(path)?) {
        Ok(Json::Object(values)) => Ok(values),
        Ok(_) => Err(format!("{}: expected an object of names and values, as in {{\"user.age\": 18}}", path.display())),
        Err(error) => Err(format!("{}: not JSON: {error}", path.display())),
    }
}

/// Reads a file of requests.
///
/// # Errors
/// The file that can't be read, or the place that is not a request.
pub(crate) fn requests_of(path: &Path) -> Result<RecordedRequests, String> {
    let name = if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() };
    recorded::parse(&name, &read_bytes(path)?)
}
