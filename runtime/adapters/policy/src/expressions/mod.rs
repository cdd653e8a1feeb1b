//! Checks and compiles the expressions of a phase. Errors are reported at their spans in the file.

pub(crate) mod budget;
pub(crate) mod components;
pub(crate) mod costs;
pub(crate) mod declared_names;
pub(crate) mod definition_graph;
pub(crate) mod definitions;
pub(crate) mod mentions;
pub(crate) mod name_tree;
pub(crate) mod path_domain;
pub(crate) mod phase_env;
pub(crate) mod purpose;
mod scope;
pub(crate) mod template;

use crate::expressions::budget::ExpressionBudget;
use crate::expressions::costs::ExpressionCosts;
use crate::expressions::declared_names::{DeclaredNames, broken_prefix};
use crate::expressions::definitions::fully_named;
use crate::expressions::mentions::qualified_name;
use crate::expressions::template::{TemplatePart, parse};
use crate::host::outcome::Phase;
use crate::language::Language;
use crate::problems::{FileSpan, Problems};
use crate::rules::actions::{Field, HeaderTemplate, TextTemplate};
use crate::rules::limit::Number;
use crate::rules::reads::RuleReads;
use crate::yaml::SourceText;
use bytes::Bytes;
use celero::diagnostics::{Severity, Span};
use celero::settings::{CheckedRule, TextPiece};
use celero::{CompileError, Context, Diagnostic, Engine, Env, Program, Type};
use http::HeaderValue;
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

/// Checks the expressions of policies, and compiles them to native code.
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    Engine::builder().threads(compile_threads(processors)).build()
});

/// Returns why the rules of all policies of this process are interpreted, as [`Engine::native_failure`] says; `None` if
/// they are native code. To be asked after a policy was loaded.
#[must_use]
pub fn native_failure() -> Option<&'static str> {
    ENGINE.native_failure()
}

/// Number of threads on which a large phase is compiled: half of the processors, because a policy
/// is reloaded beside the threads that answer requests, and at most as many as engines use by
/// default.
fn compile_threads(processors: usize) -> NonZeroUsize {
    NonZeroUsize::new((processors / 2).min(8)).unwrap_or(NonZeroUsize::MIN)
}

/// Longest text that is looked at as the name of a variable, in bytes.
const LONGEST_NAME: usize = 128;

/// Warnings that are errors in a policy, because such an expression never works.
const NEVER_RIGHT: [&str; 2] = ["literal-never-valid", "invalid-header-name"];

/// What the environment of a rule depends on: its language, and the type of the messages that it reads, which is empty
/// if it is not known.
pub(crate) type RuleScope = (Language, Option<Arc<str>>);

/// Which credentials the expressions of a phase read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CredentialReads {
    pub(crate) jwt: bool,
    pub(crate) api_key: bool,
    pub(crate) basic: bool,
    pub(crate) client_cert: bool,
}

impl CredentialReads {
    /// Returns whether it is none of them.
    pub(crate) fn is_none(self) -> bool {
        !(self.jwt || self.api_key || self.basic || self.client_cert)
    }

    /// Returns the credentials of both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            jwt: self.jwt || other.jwt,
            api_key: self.api_key || other.api_key,
            basic: self.basic || other.basic,
            client_cert: self.client_cert || other.client_cert,
        }
    }
}

/// What the expressions of a phase read of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EndReads {
    /// The client's address or port.
    pub(crate) client: bool,
    /// The address or port at which the connection arrived.
    pub(crate) destination: bool,
    /// What a client says when it begins TLS.
    pub(crate) hello: bool,
}

impl EndReads {
    /// Returns the ends of both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            client: self.client || other.client,
            destination: self.destination || other.destination,
            hello: self.hello || other.hello,
        }
    }
}

/// Compiles the expressions of a phase.
pub(crate) struct ExpressionCompiler<'a, C> {
    pub(crate) engine: &'static Engine,
    pub(crate) costs: ExpressionCosts,
    pub(crate) phase: Phase,
    pub(crate) env: &'a Env<C>,
    pub(crate) names: &'a DeclaredNames,
    /// The credentials that the policy can verify.
    pub(crate) configured: CredentialReads,
    /// The variable that the phase declares but never has, and the one that it has instead.
    pub(crate) absent: Option<(&'static str, &'static str)>,
    /// The language of the rule whose expressions are compiled, and the type of the messages that it reads.
    pub(crate) scope: RuleScope,
    /// The environments for rules in other languages than CEL, or about messages, each made for the first of them.
    pub(crate) envs: HashMap<RuleScope, Env<C>>,
    pub(crate) reads: CredentialReads,
    pub(crate) reads_ends: EndReads,
    /// The headers of the request that expressions read, by the names that they write.
    pub(crate) request_headers: BTreeSet<Box<str>>,
    /// What the expressions of the current rule read of what rules can change.
    pub(crate) rule_reads: RuleReads,
    /// What the expressions of the policy have taken so far.
    pub(crate) budget: ExpressionBudget,
}

impl<C: Context> ExpressionCompiler<'_, C> {
    /// The environment of the rule.
    pub(crate) fn env(&self) -> &Env<C> {
        self.envs.get(&self.scope).unwrap_or(self.env)
    }

    /// Whether an expression is a variable, and nothing else.
    pub(crate) fn is_variable(&self, source: &str, name: &str) -> bool {
        source.len() <= LONGEST_NAME
            && self.engine.check(self.env(), source).is_ok_and(|checked| checked.variable() == Some(name))
    }

    /// Reports the warnings about the body of a definition.
    pub(crate) fn lint(&mut self, body: &SourceText, problems: &mut Problems) {
        let limits = self.engine.limits();
        if self.budget.is_within(body, limits)
            && let Ok((warnings, case_steps)) = self.engine.lint(self.env, &body.text)
            && self.budget.take(case_steps, 0, limits, body, problems)
        {
            warn(&warnings, body, 0, problems);
        }
    }

    /// Checks a condition.
    pub(crate) fn condition(&mut self, text: &SourceText, problems: &mut Problems) -> Option<CheckedRule> {
        let checked = self.checked(text, 0, &text.text, problems)?;
        let ty = checked.result_type();
        if !matches!(ty, Type::Bool | Type::Dyn) {
            let wanted = self.env().type_name(&Type::Bool);
            let message = format!("a condition is `{wanted}`, this is `{}`", checked.type_name());
            problems.add("policy-type", text.place, message);
        }
        Some(checked)
    }

    /// Compiles a condition that is evaluated alone.
    pub(crate) fn predicate(&mut self, text: &SourceText, problems: &mut Problems) -> Option<Program<C::Static>> {
        let checked = self.condition(text, problems)?;
        self.compiled(self.engine.compile_checked(self.env(), &checked), text, problems)
    }

    /// Compiles a number: a constant, or the value of one `${..}`.
    pub(crate) fn number(&mut self, text: &SourceText, problems: &mut Problems) -> Option<Number<C::Static>> {
        let parts = parse(&text.text).unwrap_or_default();
        let [TemplatePart::Expression(source, start)] = &*parts else {
            let number = text.text.trim().parse().ok().map(Number::Fixed);
            if number.is_none() {
                let message = format!("`{}` is not a cost", text.text);
                let problem = problems.add("policy-value", text.place, message);
                problem.help("a cost is a whole number from 0, or one `${..}` whose value is a number".to_owned());
            }
            return number;
        };
        let checked = self.checked(text, *start, source, problems)?;
        if !matches!(checked.result_type(), Type::Int | Type::Uint | Type::Double | Type::Dyn) {
            let message = format!("a cost is a number, this is `{}`", checked.type_name());
            problems.add("policy-type", text.place, message);
        }
        self.compiled(self.engine.compile_checked(self.env(), &checked), text, problems).map(Number::Computed)
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

    /// Compiles the value of a log field. A template that is a single expression keeps the type of
    /// its value; any other is text.
    pub(crate) fn field(&mut self, text: &SourceText, problems: &mut Problems) -> Option<Field<C::Static>> {
        if let Ok([TemplatePart::Expression(source, start)]) = parse(&text.text).as_deref() {
            let checked = self.checked(text, *start, source, problems)?;
            let is_text = match checked.result_type() {
                Type::Timestamp | Type::Duration => true,
                Type::Int | Type::Bool => false,
                // Where texts are bytes, there are no strings: what is no number and no `bool` is shown as text.
                _ => self.has_byte_texts(),
            };
            if !is_text {
                let compiled = self.engine.compile_checked(self.env(), &checked);
                return self.compiled(compiled, text, problems).map(Field::Computed);
            }
            let compiled = self.text(&[TextPiece::Result(&checked)]);
            return self.compiled(compiled, text, problems).map(|program| self.text_field(program));
        }
        Some(match self.computed(text, problems)? {
            Err(fixed) => Field::Fixed(Json::String(fixed)),
            Ok(program) => self.text_field(program),
        })
    }

    /// Whether texts are bytes in the language of the rule, and not strings.
    fn has_byte_texts(&self) -> bool {
        self.env().text_type() == Type::Bytes
    }

    fn text_field(&self, program: Program<C::Static>) -> Field<C::Static> {
        if self.has_byte_texts() { Field::Text(program) } else { Field::Computed(program) }
    }

    /// Compiles a template to one expression, or returns its text if it is constant.
    fn computed(&mut self, text: &SourceText, problems: &mut Problems) -> Option<Result<Program<C::Static>, String>> {
        let pieces = match parse(&text.text) {
            Ok(pieces) => pieces,
            Err(at) => {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                let place = problems.placed(text, 0, Span::new(at, at.saturating_add(2)));
                let place = FileSpan::new(text.place.file, place.start, place.end);
                problems
                    .add("policy-template", place, "this `${` is never closed".to_owned())
                    .help("`$${` stands for the characters `${`");
                return None;
            }
        };
        if pieces.iter().all(|piece| matches!(piece, TemplatePart::Text(_))) {
            self.warn_of_plain_expression(text, problems);
            let plain = |piece| if let TemplatePart::Text(plain) = piece { plain } else { String::new() };
            return Some(Err(pieces.into_iter().map(plain).collect()));
        }
        let checked = |piece: &TemplatePart| match piece {
            TemplatePart::Text(_) => Some(None),
            TemplatePart::Expression(source, start) => self.checked_text(text, *start, source, problems).map(Some),
        };
        // All pieces are checked, also after one that is wrong, so that every error is reported.
        let checked: Vec<Option<Option<CheckedRule>>> = pieces.iter().map(checked).collect();
        let checked: Vec<Option<CheckedRule>> = checked.into_iter().collect::<Option<_>>()?;
        let joined = pieces.iter().zip(&checked).filter_map(|(piece, checked)| match piece {
            TemplatePart::Text(plain) => Some(TextPiece::Literal(plain)),
            TemplatePart::Expression(..) => checked.as_ref().map(TextPiece::Result),
        });
        let joined: Vec<TextPiece<'_>> = joined.collect();
        let compiled = self.text(&joined);
        self.compiled(compiled, text, problems).map(Ok)
    }

    /// Warns of a text that is an expression about the message without `${..}`: the text itself would be the value,
    /// so that a limit whose key is `source.address` counts all clients as one.
    fn warn_of_plain_expression(&self, text: &SourceText, problems: &mut Problems) {
        let Some(source) = template::plain_expression(&text.text) else { return };
        let reads = |checked: &CheckedRule| checked.fields().names().next().is_some();
        if source.len() <= LONGEST_NAME && self.engine.check(self.env(), source).as_ref().is_ok_and(reads) {
            let message = format!("`{}` is text here and is not evaluated", text.text);
            let help = format!("write `${{{source}}}` for the value of the expression");
            problems.warn("policy-not-evaluated", text.place, message).help(help);
        }
    }

    /// Compiles pieces to one program whose result is their text.
    fn text(&self, pieces: &[TextPiece<'_>]) -> Result<Program<C::Static>, CompileError> {
        self.engine.compile_checked(self.env(), &self.engine.text(self.env(), pieces)?)
    }

    /// Reports why checked expressions can't be compiled: together they may exceed a limit.
    pub(crate) fn compiled(
        &self,
        compiled: Result<Program<C::Static>, CompileError>,
        text: &SourceText,
        problems: &mut Problems,
    ) -> Option<Program<C::Static>> {
        let error = match compiled {
            Ok(program) => return Some(program),
            Err(error) => error,
        };
        let first = error.diagnostics().first().map_or("", |found| &found.message);
        problems.add("policy-template", text.place, first.to_owned());
        None
    }

    /// Checks an expression of a template, and that its result has a text.
    fn checked_text(
        &mut self,
        text: &SourceText,
        start: usize,
        source: &str,
        problems: &mut Problems,
    ) -> Option<CheckedRule> {
        let checked = self.checked(text, start, source, problems)?;
        let Err(error) = self.engine.text(self.env(), &[TextPiece::Result(&checked)]) else { return Some(checked) };
        for found in error.diagnostics() {
            // The span of the diagnostic is a place in the text that was put together.
            let span = Span::new(0, u32::try_from(source.len()).unwrap_or(u32::MAX));
            problems.of_expression(text, start, &Diagnostic { span, ..found.clone() });
        }
        None
    }

    /// Checks an expression that starts at byte `start` of a text.
    pub(crate) fn checked(
        &mut self,
        text: &SourceText,
        start: usize,
        source: &str,
        problems: &mut Problems,
    ) -> Option<CheckedRule> {
        // More expressions would take longer still.
        if !self.budget.is_within(text, self.engine.limits()) {
            return None;
        }
        match self.engine.check(self.env(), source) {
            Ok(checked) if !self.costs.take(&checked, self.phase, text, start, self.engine.limits(), problems) => None,
            Ok(checked) if !self.take(&checked, text, problems) => None,
            Ok(checked) => {
                warn(checked.warnings(), text, start, problems);
                self.note_reads(&checked, text, start, problems);
                self.report_absent(&checked, text, start, problems);
                Some(checked)
            }
            Err(error) => {
                for found in error.diagnostics() {
                    match self.undeclared(found, source) {
                        Undeclared::InNoPhase => {
                            problems.of_expression(text, start, &fully_named(found, source));
                        }
                        Undeclared::InOtherPhase(found) => problems.of_expression(text, start, &found),
                        Undeclared::DefinitionFailed => {}
                    }
                }
                None
            }
        }
    }

    fn take(&mut self, checked: &CheckedRule, text: &SourceText, problems: &mut Problems) -> bool {
        self.budget.take(checked.case_steps(), checked.inlined_nodes(), self.engine.limits(), text, problems)
    }

    /// Records which ends of the connection, headers and credentials an expression reads, and
    /// reports credentials that the policy can't verify.
    fn note_reads(&mut self, checked: &CheckedRule, text: &SourceText, start: usize, problems: &mut Problems) {
        let Self { configured, reads, reads_ends, request_headers, rule_reads, .. } = self;
        rule_reads.note(checked.fields());
        request_headers.extend(checked.fields().headers("request.headers").map(Box::from));
        let any = |names: [&str; 2]| names.iter().any(|name| checked.fields().reads(name));
        *reads_ends = reads_ends.or(EndReads {
            client: any(["source.address", "source.port"]),
            destination: any(["destination.address", "destination.port"]),
            hello: any(["source.tls.sni", "source.tls.alpn"]),
        });
        for (name, configured, noted) in [
            ("jwt", configured.jwt, &mut reads.jwt),
            ("apiKey", configured.api_key, &mut reads.api_key),
            ("basicAuth", configured.basic, &mut reads.basic),
            ("clientCert", configured.client_cert, &mut reads.client_cert),
        ] {
            if !checked.fields().reads(name) {
                continue;
            }
            *noted = true;
            if !configured {
                let place = place_of(name, checked, text, start, problems);
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
        // The span of the diagnostic is the first unknown part of a qualified name. The whole name
        // may extend to both sides.
        let (path, start) = qualified_name(source, found.span);
        if broken_prefix(path, &self.names.broken).is_some() {
            return Undeclared::DefinitionFailed;
        }
        let upto = source.get(start..found.span.end as usize).unwrap_or("");
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
        if let [phase @ (Phase::RequestBody | Phase::ResponseBody)] = *phases {
            found.help.push(format!("move the rule to `{}`: bodies are buffered for it", phase.name()));
        }
        Undeclared::InOtherPhase(found)
    }
}

/// Returns where an expression that starts at byte `start` of a text reads a name.
fn place_of(name: &str, checked: &CheckedRule, text: &SourceText, start: usize, problems: &Problems) -> FileSpan {
    let at = checked.source().find(name).unwrap_or(0);
    let span = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let place = problems.placed(text, start, Span::new(span(at), span(at.saturating_add(name.len()))));
    FileSpan::new(text.place.file, place.start, place.end)
}

pub(crate) fn warn(warnings: &[Diagnostic], text: &SourceText, start: usize, problems: &mut Problems) {
    for warning in warnings {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reload_leaves_processors_to_requests() {
        let threads = [1, 2, 3, 4, 16, 64].map(|processors| compile_threads(processors).get());
        assert_eq!(threads, [1, 1, 1, 2, 8, 8]);
    }
}
