//! Checks and compiles the expressions of a phase. Errors are reported at their spans in the file.

use crate::actions::{Field, HeaderTemplate, TextTemplate};
use crate::outcome::Phase;
use crate::problems::Problems;
use crate::template::{TemplatePart, parse, string_literal};
use crate::yaml::SourceText;
use bytes::Bytes;
use celero::{Context, Diagnostic, Engine, Env, Program, Severity, Span, Stage, Tier, Type};
use http::HeaderValue;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Compiles to native code.
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);
/// Checks expressions.
static CHECKER: LazyLock<Engine> = LazyLock::new(|| Engine::builder().tier(Tier::Interpret).build());

/// Warnings that are errors in a policy, because such an expression never works.
const NEVER_RIGHT: [&str; 2] = ["literal-never-valid", "invalid-header-name"];

/// Which names are declared in which phases.
#[derive(Debug, Default)]
pub(crate) struct DeclaredNames {
    phases: BTreeMap<String, Vec<Phase>>,
    /// Names whose definitions have errors, which were reported.
    pub(crate) broken: Vec<String>,
}

impl DeclaredNames {
    /// Adds the names of a phase.
    pub(crate) fn add<C: Context>(&mut self, phase: Phase, env: &Env<C>) {
        let declared = env.declarations();
        let variables = declared.variables().iter().map(|variable| variable.name.to_string());
        for name in variables.chain(declared.definitions().iter().map(|definition| definition.name().to_owned())) {
            let phases = self.phases.entry(name).or_default();
            if !phases.contains(&phase) {
                phases.push(phase);
            }
        }
    }

    /// Returns the longest prefix of a qualified name that some phase declares, with these phases.
    fn find(&self, path: &str) -> Option<(String, &[Phase])> {
        let mut name = path;
        loop {
            if let Some(phases) = self.phases.get(name) {
                return Some((name.to_owned(), phases));
            }
            name = name.rsplit_once('.')?.0;
        }
    }

    /// Returns the phases that declare names below a name.
    fn below(&self, name: &str) -> Vec<Phase> {
        let start = format!("{name}.");
        let below = self.phases.iter().filter(|(known, _)| known.starts_with(&start));
        let phases: Vec<Phase> = below.flat_map(|(_, phases)| phases).copied().collect();
        Phase::ALL.into_iter().filter(|phase| phases.contains(phase)).collect()
    }
}

/// Which credentials the expressions of a phase read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CredentialReads {
    pub(crate) jwt: bool,
    pub(crate) api_key: bool,
    pub(crate) basic: bool,
}

impl CredentialReads {
    /// Returns the credentials of both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { jwt: self.jwt || other.jwt, api_key: self.api_key || other.api_key, basic: self.basic || other.basic }
    }
}

/// Compiles the expressions of a phase.
pub(crate) struct ExpressionCompiler<'a, C> {
    pub(crate) phase: Phase,
    pub(crate) env: &'a Env<C>,
    pub(crate) names: &'a DeclaredNames,
    /// The credentials that the policy can verify.
    pub(crate) configured: CredentialReads,
    pub(crate) reads: CredentialReads,
}

impl<C: Context> ExpressionCompiler<'_, C> {
    /// Reports the warnings about the body of a definition.
    pub(crate) fn lint(&self, body: &SourceText, problems: &mut Problems) {
        if let Ok(program) = CHECKER.compile(self.env, &body.text) {
            warn(&program, body, 0, problems);
        }
    }

    /// Checks a condition, and returns whether it calls no impure function.
    pub(crate) fn condition(&mut self, text: &SourceText, problems: &mut Problems) -> bool {
        let Some(program) = self.checked(text, 0, &text.text, problems) else { return false };
        let ty = program.result_type();
        if !matches!(ty, Type::Bool | Type::Dyn) {
            let message = format!("a condition is `bool`, this is `{ty}`");
            problems.add("policy-type", text.place, message);
        }
        program.is_pure()
    }

    /// Compiles a text template.
    pub(crate) fn words(&mut self, text: &SourceText, problems: &mut Problems) -> Option<TextTemplate<C::Static>> {
        Some(match self.computed(text, problems)? {
            Err(fixed) => TextTemplate::Fixed(Bytes::from(fixed)),
            Ok(program) => TextTemplate::Computed(program),
        })
    }

    /// Compiles a template of a header value.
    pub(crate) fn header(&mut self, text: &SourceText, problems: &mut Problems) -> Option<HeaderTemplate<C::Static>> {
        match self.computed(text, problems)? {
            Ok(program) => Some(HeaderTemplate::Computed(program)),
            Err(fixed) => match HeaderValue::from_str(fixed.trim())
                .or_else(|_| HeaderValue::from_bytes(fixed.trim().as_bytes()))
            {
                Ok(value) => Some(HeaderTemplate::Fixed(value)),
                Err(_) => {
                    let message = "this can't be the value of a header: it has a line break or a control character";
                    problems.add("policy-header", text.place, message.to_owned());
                    None
                }
            },
        }
    }

    /// Compiles the value of a log field. A template that is a single expression keeps the type of its value; any other is text.
    pub(crate) fn field(&mut self, text: &SourceText, problems: &mut Problems) -> Option<Field<C::Static>> {
        if let Ok([TemplatePart::Expression(source, start)]) = parse(&text.text).as_deref() {
            let program = self.checked(text, *start, source, problems)?;
            let source = match program.result_type() {
                Type::Timestamp | Type::Duration => as_text(source),
                _ => source.clone(),
            };
            return ENGINE.compile(self.env, &source).ok().map(Field::Computed);
        }
        Some(match self.computed(text, problems)? {
            Err(fixed) => Field::Fixed(Json::String(fixed)),
            Ok(program) => Field::Computed(program),
        })
    }

    /// Compiles a template to one expression, or returns its text if it is constant.
    fn computed(&mut self, text: &SourceText, problems: &mut Problems) -> Option<Result<Program<C::Static>, String>> {
        let pieces = match parse(&text.text) {
            Ok(pieces) => pieces,
            Err(at) => {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                let place = problems.placed(text, 0, Span::new(at, at.saturating_add(2)));
                let place = crate::problems::FileSpan::new(text.place.file, place.start, place.end);
                problems
                    .add("policy-template", place, "this `${` is never closed".to_owned())
                    .help("`$${` stands for the characters `${`");
                return None;
            }
        };
        let mut sources = Vec::new();
        let mut fixed = Some(String::new());
        let mut fine = true;
        for piece in &pieces {
            match piece {
                TemplatePart::Text(plain) => {
                    sources.push(string_literal(plain));
                    fixed = fixed.map(|fixed| fixed + plain);
                }
                TemplatePart::Expression(source, start) => {
                    fixed = None;
                    match self.text_of(text, *start, source, problems) {
                        Some(source) => sources.push(source),
                        None => fine = false,
                    }
                }
            }
        }
        if let Some(fixed) = fixed {
            return Some(Err(fixed));
        }
        if !fine {
            return None;
        }
        match ENGINE.compile(self.env, &sources.join(" + ")) {
            Ok(program) => Some(Ok(program)),
            Err(error) => {
                let first = error.diagnostics().first().map_or("", |found| &found.message);
                problems.add("policy-template", text.place, first.to_owned());
                None
            }
        }
    }

    /// Returns the source of an expression that converts the value to text.
    fn text_of(&mut self, text: &SourceText, start: usize, source: &str, problems: &mut Problems) -> Option<String> {
        let program = self.checked(text, start, source, problems)?;
        match program.result_type() {
            Type::String => Some(format!("({source}\n)")),
            Type::Bool
            | Type::Int
            | Type::Uint
            | Type::Double
            | Type::Bytes
            | Type::Timestamp
            | Type::Duration
            | Type::Dyn
            | Type::Opaque(..) => Some(as_text(source)),
            ty => {
                let message = format!("this is `{ty}`, which can't be converted to text");
                let found = Diagnostic {
                    severity: Severity::Error,
                    stage: Stage::Check,
                    code: "policy-type",
                    message,
                    span: Span::new(0, u32::try_from(source.len()).unwrap_or(u32::MAX)),
                    labels: Vec::new(),
                    help: vec!["`toJson(..)` converts any value to text, `.join(\", \")` a list".to_owned()],
                };
                problems.of_expression(text, start, &found);
                None
            }
        }
    }

    /// Checks an expression that starts at byte `start` of a text.
    fn checked(
        &mut self,
        text: &SourceText,
        start: usize,
        source: &str,
        problems: &mut Problems,
    ) -> Option<Program<C::Static>> {
        match CHECKER.compile(self.env, source) {
            Ok(program) => {
                warn(&program, text, start, problems);
                self.note_reads(&program, text, start, problems);
                Some(program)
            }
            Err(error) => {
                for found in error.diagnostics() {
                    match self.undeclared(found, source) {
                        Undeclared::InNoPhase => problems.of_expression(text, start, found),
                        Undeclared::InOtherPhase(found) => problems.of_expression(text, start, &found),
                        Undeclared::DefinitionFailed => {}
                    }
                }
                None
            }
        }
    }

    /// Records which credentials an expression reads, and reports those that the policy can't verify.
    fn note_reads(&mut self, program: &Program<C::Static>, text: &SourceText, start: usize, problems: &mut Problems) {
        let Self { configured, reads, .. } = self;
        for (name, configured, noted) in [
            ("jwt", configured.jwt, &mut reads.jwt),
            ("apiKey", configured.api_key, &mut reads.api_key),
            ("basicAuth", configured.basic, &mut reads.basic),
        ] {
            if !program.fields().reads(name) {
                continue;
            }
            *noted = true;
            if !configured {
                let at = program.source().find(name).unwrap_or(0);
                let span = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                let place = problems.placed(text, start, Span::new(span(at), span(at.saturating_add(name.len()))));
                let place = crate::problems::FileSpan::new(text.place.file, place.start, place.end);
                let message = format!("`{name}` is always empty: the policy does not say how to verify it");
                problems.add("policy-auth", place, message).help(format!("add a section `{name}`"));
            }
        }
    }

    /// Finds out whether a name that is not declared in this phase is declared in another one.
    fn undeclared(&self, found: &Diagnostic, source: &str) -> Undeclared {
        if !matches!(found.code, "undeclared-name" | "undeclared-function") {
            return Undeclared::InNoPhase;
        }
        // The span of the diagnostic is the first unknown part of a qualified name. The whole name may extend to both sides.
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let (at, end) = (found.span.start as usize, found.span.end as usize);
        let before = source.get(..at).unwrap_or("");
        let start = before.trim_end_matches(is_part).len();
        let rest = source.get(start..).unwrap_or("");
        let path = rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len())).unwrap_or("");
        let is_broken =
            |name: &String| path.strip_prefix(name.as_str()).is_some_and(|rest| !rest.starts_with(|c| c != '.'));
        if self.names.broken.iter().any(is_broken) {
            return Undeclared::DefinitionFailed;
        }
        let upto = source.get(start..end).unwrap_or("");
        let (name, phases) = match self.names.find(path) {
            Some((name, phases)) => (name, phases.to_vec()),
            None => (upto.to_owned(), self.names.below(upto)),
        };
        if phases.is_empty() || phases.contains(&self.phase) {
            return Undeclared::InNoPhase;
        }
        let mut found = found.clone();
        let names: Vec<String> = phases.iter().map(|phase| format!("`{}`", phase.name())).collect();
        let (last, others) = names.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
        let list = if others.is_empty() {
            format!("phase {last}")
        } else {
            format!("phases {} and {last}", others.join(", "))
        };
        found.message = format!("`{name}` exists in the {list}, not in `{}`", self.phase.name());
        let start = u32::try_from(start).unwrap_or(found.span.start);
        found.span = Span::new(start, start.saturating_add(u32::try_from(name.len()).unwrap_or(0)).max(found.span.end));
        found.help.clear();
        if phases == [Phase::RequestBody] {
            found.help.push("move the rule to `requestBody`: bodies are buffered for it".to_owned());
        }
        Undeclared::InOtherPhase(found)
    }
}

fn warn<S>(program: &Program<S>, text: &SourceText, start: usize, problems: &mut Problems) {
    for warning in program.warnings() {
        let mut warning = warning.clone();
        if NEVER_RIGHT.contains(&warning.code) {
            warning.severity = Severity::Error;
        }
        problems.of_expression(text, start, &warning);
    }
}

/// What is known of a name that is not declared in a phase.
enum Undeclared {
    /// No phase declares it.
    InNoPhase,
    /// Another phase declares it: the diagnostic that says so.
    InOtherPhase(Diagnostic),
    /// Its definition has an error, which was reported.
    DefinitionFailed,
}

/// Returns the source of an expression's value as text. The line break ends a comment at the end of the source.
fn as_text(source: &str) -> String {
    format!("string({source}\n)")
}
