//! The lines that the session understands.

use crate::commands::bench;
use crate::evaluate::{Engines, TierChoice, answers};
use crate::input::arguments::{Declarations, Input, NamedInput, RequestInput, requests_of};
use crate::input::contexts::{Command, Contexts};
use crate::input::in_language::InLanguage;
use crate::language::Language;
use crate::output::failure::Failure;
use crate::output::{Output, listing};
use crate::requests::recorded::RecordedRequest;
use celero::Engine;
use celero_tooling::disassembly::disassemble;
use celero_tooling::names::macro_names;
use celero_tooling::requests;
use celero_tooling::values;
use serde_json::Value as Json;
use std::net::SocketAddr;
use std::path::Path;

/// The commands, with what they do.
const COMMANDS: &[(&str, &str)] = &[
    ("EXPRESSION", "evaluates it"),
    (":type EXPRESSION", "shows its type"),
    (":explain EXPRESSION", "shows its machine code, beside the source"),
    (":time EXPRESSION", "measures it"),
    (":request FILE", "reads requests from a file (HTTP/1.1 as text, or JSON lines)"),
    (":request", "shows the requests"),
    (":language [cel|filter]", "changes the language of expressions, or shows it"),
    ("curl ..", "makes a request as the command curl would send it"),
    (":vars NAME: TYPE, ..", "declares variables, instead of a request"),
    (":bindings FILE.json", "reads the values of variables, instead of a request"),
    (":let NAME = EXPRESSION", "gives a variable the value, instead of a request"),
    (":define NAME(PARAMETER: TYPE) = BODY", "defines a function"),
    (":help", "shows this list"),
    (":quit", "ends the session, as does the end of input"),
];

/// What a session does after a line.
pub(super) enum Next {
    Done,
    /// The line was an error.
    Failed,
    Quit,
}

/// What expressions are evaluated with.
pub(super) struct Session {
    input: Input,
    source: SocketAddr,
    language: Language,
    engines: Engines,
}

/// What is done with an expression.
#[derive(Clone, Copy)]
enum Action {
    Evaluate,
    Type,
    Explain,
    Time,
    /// Keeps the value.
    Bind,
}

impl Session {
    pub(super) fn new(input: Input, source: SocketAddr, language: Language) -> Self {
        Self { input, source, language, engines: Engines::new(TierChoice::Auto) }
    }

    /// Returns the input for expressions in the language of the session.
    fn input(&self) -> Input {
        let input = self.input.clone();
        if self.language.is_default() { input } else { input.for_both_languages() }
    }

    /// Returns the names of variables or fields, functions, macros and commands.
    pub(super) fn names(&self) -> Vec<String> {
        let commands =
            COMMANDS.iter().filter_map(|(command, _)| command.split(' ').next()).filter(|word| word.starts_with(':'));
        let words = if self.language.is_default() {
            macro_names()
        } else {
            self.language.lexicon().keywords.iter().map(|(word, _)| *word).collect()
        };
        let mut names: Vec<String> = commands.chain(words).map(ToOwned::to_owned).collect();
        let mut sink = Output::new(crate::output::Color::Never);
        // Declarations that are not valid have no names.
        let _ = self.input().run(Collect { names: &mut names, language: self.language }, &mut sink);
        names
    }

    /// Does what a line says.
    pub(super) fn line(&mut self, line: &str, output: &mut Output) -> Next {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
        let result = match word {
            "" => return Next::Done,
            ":quit" | ":q" | ":exit" => return Next::Quit,
            ":help" | ":h" | ":?" => {
                self.help(output);
                Ok(())
            }
            ":type" | ":t" | ":explain" | ":time" if rest.is_empty() => {
                let example =
                    if self.language.is_default() { format!(", as in `{word} 1 + 1`") } else { String::new() };
                Err(format!("`{word}` needs an expression{example}"))
            }
            ":language" if rest.is_empty() => {
                output.line(self.language.name());
                Ok(())
            }
            ":language" => Language::named(rest).map(|language| self.language = language),
            ":type" | ":t" => return self.expression(rest, Action::Type, output),
            ":explain" => return self.expression(rest, Action::Explain, output),
            ":time" => return self.expression(rest, Action::Time, output),
            ":request" | ":requests" if rest.is_empty() => {
                self.show_requests(output);
                Ok(())
            }
            ":request" | ":requests" => requests_of(Path::new(rest)).map(|read| {
                for why in &read.left_out {
                    output.complain(&format!("left out: {why}"));
                }
                self.set_requests(read.requests, output);
            }),
            "curl" => requests::curl::request(line).map(|message| self.set_requests(vec![message.into()], output)),
            ":vars" => values::notation::declarations(rest, None).and_then(|types| {
                let change = |named: &mut NamedInput| {
                    named.types.retain(|(name, _)| !types.iter().any(|(new, _)| new == name));
                    named.types.extend(types);
                };
                self.change_named(change, output)
            }),
            ":bindings" => bindings(rest).and_then(|values| {
                let change = |named: &mut NamedInput| (named.values, named.given) = (values, true);
                self.change_named(change, output)
            }),
            ":let" => match assignment(rest) {
                Some((name, text)) => return self.bind(name, text, output),
                None => Err("`:let` needs a name and a value, as in `:let x = 5`".to_owned()),
            },
            ":define" => values::notation::definition(rest).and_then(|definition| self.define(definition, output)),
            _ if word.starts_with(':') => Err(unknown(word)),
            _ => return self.expression(line, Action::Evaluate, output),
        };
        match result {
            Ok(()) => Next::Done,
            Err(why) => {
                output.complain(&format!("error: {why}"));
                Next::Failed
            }
        }
    }

    fn help(&self, output: &mut Output) {
        let paint = output.paint();
        for (command, what) in COMMANDS {
            output.line(&format!("  {}  {what}", paint.name(&format!("{command:<38}"))));
        }
    }

    fn declarations(&mut self) -> &mut Declarations {
        match &mut self.input {
            Input::Named(named) => &mut named.declarations,
            Input::Requests(requests) => &mut requests.declarations,
        }
    }

    /// Changes the named values, which take the place of requests. Nothing changes if the new
    /// declarations are not valid.
    fn change_named(&mut self, change: impl FnOnce(&mut NamedInput), output: &mut Output) -> Result<(), String> {
        let mut named = match &self.input {
            Input::Named(named) => named.clone(),
            Input::Requests(requests) => {
                NamedInput { declarations: requests.declarations.clone(), ..NamedInput::default() }
            }
        };
        change(&mut named);
        Input::Named(named.clone()).run(Collect { names: &mut Vec::new(), language: Language::default() }, output)?;
        self.input = Input::Named(named);
        Ok(())
    }

    fn set_requests(&mut self, requests: Vec<RecordedRequest>, output: &mut Output) {
        let declarations = self.declarations().clone();
        let (source, left_out) = (self.source, Vec::new());
        self.input = Input::Requests(RequestInput { requests, left_out, source, declarations });
        self.show_requests(output);
    }

    fn show_requests(&self, output: &mut Output) {
        let Input::Requests(input) = &self.input else {
            return output.line("there are variables, and no request");
        };
        if input.requests.is_empty() {
            output.line("no request: :request FILE reads one, and so does a curl line");
        }
        for RecordedRequest { message, .. } in &input.requests {
            output.line(&format!("{} {}", message.method(), message.uri()));
        }
    }

    fn define(&mut self, definition: (String, String), output: &mut Output) -> Result<(), String> {
        self.declarations().functions.push(definition);
        let checked = self.input.clone().run(Collect { names: &mut Vec::new(), language: Language::default() }, output);
        if checked.is_err() {
            self.declarations().functions.pop();
        }
        checked.map(drop)
    }

    /// Gives a variable the value of an expression.
    fn bind(&mut self, name: &str, text: &str, output: &mut Output) -> Next {
        let mut value = None;
        let next = self.on_expression(text, Action::Bind, &mut value, output);
        let Some(value) = value else { return next };
        let change = |named: &mut NamedInput| {
            named.types.retain(|(known, _)| known != name);
            named.values.insert(name.to_owned(), value);
            named.given = true;
        };
        match self.change_named(change, output) {
            Ok(()) => next,
            Err(why) => {
                output.complain(&format!("error: {why}"));
                Next::Failed
            }
        }
    }

    fn expression(&self, text: &str, action: Action, output: &mut Output) -> Next {
        self.on_expression(text, action, &mut None, output)
    }

    fn on_expression(&self, text: &str, action: Action, value: &mut Option<Json>, output: &mut Output) -> Next {
        let (language, engines) = (self.language, &self.engines);
        let run = self.input().run(OnExpression { text, language, action, engines, value }, output);
        match run {
            Ok(0) => Next::Done,
            Ok(_) => Next::Failed,
            Err(why) => {
                output.complain(&format!("error: {why}"));
                Next::Failed
            }
        }
    }
}

/// Returns the name and the value of `NAME = EXPRESSION`.
fn assignment(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    (is_name && !value.is_empty() && !value.starts_with('=')).then_some((name, value))
}

fn unknown(word: &str) -> String {
    let commands = COMMANDS.iter().filter_map(|(command, _)| command.split(' ').next());
    match celero::diagnostics::similar(word, commands) {
        Some(known) => format!("there is no command `{word}`; did you mean `{known}`?"),
        None => format!("there is no command `{word}`; :help lists them"),
    }
}

fn bindings(path: &str) -> Result<serde_json::Map<String, serde_json::Value>, String> {
    let bytes = crate::input::source::read_bytes(Path::new(path))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{path}: expected an object of names and values: {error}"))
}

/// Collects the declared names.
struct Collect<'a> {
    names: &'a mut Vec<String>,
    language: Language,
}

impl Command for Collect<'_> {
    fn run(self, contexts: &impl Contexts, _: &mut Output) -> Result<u8, String> {
        let env = contexts.envs().of(self.language);
        match env.filter_scheme() {
            Some(scheme) => {
                self.names.extend(scheme.fields().iter().map(|field| field.name.to_string()));
                self.names.extend(scheme.functions().iter().map(|function| function.name.to_string()));
            }
            None => {
                let declarations = env.declarations();
                self.names.extend(declarations.variables().iter().map(|variable| variable.name.to_string()));
                self.names.extend(declarations.function_names().map(ToOwned::to_owned));
            }
        }
        Ok(0)
    }
}

struct OnExpression<'a> {
    text: &'a str,
    language: Language,
    action: Action,
    engines: &'a Engines,
    /// The value for [`Action::Bind`].
    value: &'a mut Option<Json>,
}

/// The name of a line in messages.
const NAME: &str = "line";

impl Command for OnExpression<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let Self { text, language, action, engines, value } = self;
        let contexts = &InLanguage::new(contexts, language);
        let checked = match Engine::check(engines.first(), contexts.env(), text) {
            Ok(checked) => checked,
            Err(error) => {
                output.complain(&Failure::from(&error).render(NAME, text, output.color()));
                let declarations = contexts.env().declarations();
                let is_variable = |name: &str| declarations.variable(name).is_some();
                let is_other = language.is_default() && !crate::language::names_variable(text, is_variable);
                if let Some(meant) = if is_other { crate::language::meant(text) } else { None } {
                    let (title, name) = (meant.title(), meant.name());
                    output.complain(&format!("help: this is a rule in {title}: `:language {name}` switches to it"));
                }
                if let Some((name, value)) = assignment(text.strip_prefix("let ").unwrap_or(text)) {
                    output.complain(&format!("help: `:let {name} = {value}` gives the variable `{name}` this value"));
                }
                return Ok(crate::REJECTED);
            }
        };
        let read = checked.fields().names().next().map(ToOwned::to_owned);
        match (action, read) {
            (Action::Type, _) => {
                output.line(&checked.type_name());
                Ok(0)
            }
            (Action::Explain, _) => {
                let explanation = engines.first().explain(contexts.env(), text).map_err(|error| error.to_string())?;
                match explanation.machine_code() {
                    Some(code) => output.print(&listing::from_code(&disassemble(code), text, output.paint())),
                    None => output.line("interpreted: there is no native code for this expression"),
                }
                Ok(0)
            }
            (_, Some(name)) if !contexts.given() => Err(format!(
                "there is no `{name}`: :request FILE or a curl line gives a request, :bindings FILE.json gives values"
            )),
            (Action::Time, _) => {
                output.line(&bench::one_line(contexts, text)?);
                Ok(0)
            }
            (Action::Evaluate | Action::Bind, _) => {
                let mut code = 0;
                let answers = answers(engines, contexts, text);
                let several = answers.len() > 1;
                for (number, answer) in answers.iter().enumerate() {
                    let label = if several { format!("{}: ", contexts.label(number)) } else { String::new() };
                    match answer.result() {
                        Some(Ok(shown)) if matches!(action, Action::Bind) => *value = Some(shown.json.clone()),
                        Some(Ok(shown)) => output.line(&format!("{label}{}", shown.text)),
                        Some(Err(failure)) => {
                            code = crate::REJECTED;
                            output.complain(&format!("{label}{}", failure.render(NAME, text, output.color())));
                        }
                        None => output.line(&answer.json().to_string()),
                    }
                    answer.note().into_iter().for_each(|note| output.complain(note));
                }
                Ok(code)
            }
        }
    }
}
