//! Writes the conditions of a policy in the other language of rules, and leaves the YAML around them as it is.

use crate::editor::layout::{block, is_plain};
use crate::editor::places::expression_places;
use crate::expressions::definitions::Definitions;
use crate::expressions::template::{TemplatePart, parse};
use crate::file::document::Document;
use crate::file::error::PolicyError;
use crate::host::outcome::Phase;
use crate::keys::error_policy::PhaseErrorPolicy;
use crate::language::Language;
use crate::phases::context::{BodyData, ConnectionData, LogData, RequestData, ResponseBodyData, ResponseData};
use crate::policy::Policy;
use crate::policy::loader::Loader;
use crate::problems::Problems;
use crate::yaml::{Node, NodeValue, SourceText};
use celero::diagnostics::{Span, Style};
use celero::filter::FilterLanguage;
use celero::{CompileError, Context, Diagnostic, Engine, ErrorPolicy, Tier};
use saphyr_parser::ScalarStyle;
use std::ops::Range;
use std::path::Path;

/// A policy whose conditions are in one language, as far as that has equals of them.
#[derive(Clone, Debug)]
pub struct TranslatedPolicy {
    text: String,
    translated: usize,
    kept: Vec<String>,
    problems: Problems,
}

impl TranslatedPolicy {
    /// Returns the text of the policy.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of rules that were translated.
    #[must_use]
    pub fn translated(&self) -> usize {
        self.translated
    }

    /// Returns the names of the rules that stay in their language, in the order of the file.
    #[must_use]
    pub fn kept(&self) -> &[String] {
        &self.kept
    }

    /// Returns what has no equal, and where a translation is false because the rule fails, as text
    /// with the lines of the file. `color` adds ANSI colours.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        self.problems.render(if color { Style::Ansi } else { Style::Plain })
    }
}

impl Policy {
    /// Returns a policy with its rules in a language: their conditions, and the key `language`
    /// where it is needed. A rule stays in its language if a part of its condition has no equal, or
    /// if it has expressions in `${..}`. The rest of the YAML stays, comments included, and so do
    /// definitions, which are CEL, and files that it includes. See [`parse`](Self::parse) for
    /// `name` and `base`.
    ///
    /// The translation of a condition is true for just the messages for which the condition is
    /// true. Where a condition in CEL fails, a guard under `onError: closed` matches, and so does
    /// its translation.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with every error of the policy, or if `to` is neither CEL nor the filter language.
    pub fn translate(name: &str, text: &str, base: &Path, to: Language) -> Result<TranslatedPolicy, PolicyError> {
        Self::loader().translate(name, text, base, to, false)
    }
}

impl Loader {
    /// Writes the conditions of a policy in another language, as [`Policy::translate`] does. With
    /// `near`, the nearest form in CEL stands for what has no equal there, as
    /// [`Engine::to_cel_near`] writes it; [`TranslatedPolicy::render`] has its warnings.
    ///
    /// # Errors
    /// See [`Policy::translate`].
    pub fn translate(
        &self,
        name: &str,
        text: &str,
        base: &Path,
        to: Language,
        near: bool,
    ) -> Result<TranslatedPolicy, PolicyError> {
        self.check(name, text, base)?;
        let mut problems = Problems::default();
        let document = Document::read(name, text, base, &mut problems);
        let defined = Definitions::read(&document, self.host(), &mut problems);
        let source = problems.text(0).to_owned();
        // The main file is the first that was read.
        let Some(root) = document.roots().find(|root| root.place.file == 0) else {
            return Err(PolicyError::new(problems));
        };
        if to != Language::cel() && to != Language::filter() {
            let message = format!("policies are translated to `cel` and `filter`, not to `{}`", to.name());
            problems.add("policy-value", root.place, message);
            return Err(PolicyError::new(problems));
        }
        let word = |node: Option<&Node>| node.and_then(Node::text).map(|text| text.text);
        let usual = word(document.setting("defaults", "language", &mut problems));
        let usual = usual.and_then(|word| Language::named(&word).ok()).unwrap_or_default();
        let engine = Engine::builder().tier(Tier::Interpret).build();
        let counterpart = if to == Language::cel() { Language::filter() } else { Language::cel() };
        let (mut edits, mut rules, mut kept) = (Edits(Vec::new()), Vec::new(), Vec::new());
        for phase in Phase::ALL {
            let on_error = word(document.setting(phase.name(), "onError", &mut problems))
                .or_else(|| word(document.setting("defaults", "onError", &mut problems)));
            let on_error = on_error.and_then(|word| PhaseErrorPolicy::named(&word)).unwrap_or_default();
            let Some(section) = root.get(phase.name()) else { continue };
            for (number, node) in (1..).zip(section.get("rules").unwrap_or(section).elements()) {
                let own = word(node.get("language")).and_then(|word| Language::named(&word).ok());
                let from = own.unwrap_or(usual);
                if from == to {
                    continue;
                }
                let name = || word(node.get("name")).unwrap_or_else(|| format!("{} #{number}", phase.name()));
                if from != counterpart {
                    let message = format!("rules in `{}` are not translated", from.name());
                    problems.add(NO_EQUAL, node.place, message);
                    kept.push(name());
                    continue;
                }
                let rule = Rule { node, phase, on_error, to, near, engine: &engine };
                match rule.translated(root, &source, &defined, &mut problems) {
                    Some(None) => {}
                    Some(Some(edit)) => {
                        edits.0.push(edit);
                        rules.push(node);
                    }
                    None => {
                        kept.push(name());
                    }
                }
            }
        }
        let translated = rules.len();
        let is_whole = kept.is_empty() && document.roots().count() == 1 && usual != to && translated > 0;
        let named_once = is_whole && edits.name_default(root, &source, to);
        for node in rules {
            edits.name_language(node, &source, to, named_once || usual == to);
        }
        let text = edits.applied(&source);
        // What was written must be accepted: the translations were, one by one.
        self.check(name, &text, base)?;
        Ok(TranslatedPolicy { text, translated, kept, problems })
    }
}

/// A rule that is to be translated.
struct Rule<'r> {
    node: &'r Node,
    phase: Phase,
    on_error: PhaseErrorPolicy,
    to: Language,
    near: bool,
    engine: &'r Engine,
}

impl Rule<'_> {
    /// Returns the edit of the condition: `Some(None)` if the rule has no expressions, and `None`
    /// if the rule stays, which was reported.
    fn translated(
        &self,
        root: &Node,
        source: &str,
        defined: &Definitions,
        problems: &mut Problems,
    ) -> Option<Option<(Range<usize>, String)>> {
        let range = bytes(self.node);
        let places = expression_places(root).into_iter().filter(|place| {
            place.is_template
                && range.contains(&(place.text.place.start as usize))
                && place.section == self.phase.name()
        });
        for place in places {
            let parts = parse(&place.text.text).unwrap_or_default();
            let found = parts.iter().find_map(|part| match part {
                TemplatePart::Expression(text, start) => Some((text, *start)),
                TemplatePart::Text(_) => None,
            });
            if let Some((text, start)) = found {
                let message = "an expression in `${..}` is a value, and only conditions are translated".to_owned();
                let span = Span::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX));
                problems.of_expression(&place.text, start, &no_equal(span, message));
                return None;
            }
        }
        let Some(condition) = self.node.text_of("when") else { return Some(None) };
        let layout = self.condition(&condition, defined, problems)?;
        let edit = self.edit(source, &condition, &layout);
        if edit.is_none() {
            let message = "the condition is in a block that cannot be rewritten: use `|-`".to_owned();
            let span = Span::new(0, u32::try_from(condition.text.trim_end().len()).unwrap_or(u32::MAX));
            problems.of_expression(&condition, 0, &no_equal(span, message));
        }
        edit.map(Some)
    }

    /// Returns a condition in the other language, in canonical layout; `None` if it has no equal, which was reported.
    fn condition(&self, condition: &SourceText, defined: &Definitions, problems: &mut Problems) -> Option<String> {
        let text = condition.text.trim_end();
        let of = |text: &str| match self.phase {
            Phase::Connection => self.in_phase::<ConnectionData<'_>>(defined, text),
            Phase::Request => self.in_phase::<RequestData<'_>>(defined, text),
            Phase::RequestBody => self.in_phase::<BodyData<'_>>(defined, text),
            Phase::Response => self.in_phase::<ResponseData<'_>>(defined, text),
            Phase::ResponseBody => self.in_phase::<ResponseBodyData<'_>>(defined, text),
            Phase::Log => self.in_phase::<LogData<'_>>(defined, text),
        };
        let (layout, warnings) = match of(text) {
            Ok(translated) => translated,
            Err(error) => {
                for found in error.diagnostics() {
                    problems.of_expression(condition, 0, found);
                }
                return None;
            }
        };
        let differs = if warnings.is_empty() || self.to == Language::cel() {
            // The nearest forms do not fail where the rule has a result.
            warnings.iter().for_each(|warning| problems.of_expression(condition, 0, warning));
            return Some(layout);
        } else if self.on_error.stops() {
            "under `onError: stop` the phase ends then"
        } else if self.matches_on_failure() {
            // Comments end at the line end.
            if let Ok((layout, _)) = of(&format!("coalesce({text}\n, true)")) {
                return Some(layout);
            }
            "this rule matches then"
        } else {
            warnings.iter().for_each(|warning| problems.of_expression(condition, 0, warning));
            return Some(layout);
        };
        for warning in &warnings {
            let message = format!("{}, while {differs}", warning.message);
            problems.of_expression(condition, 0, &no_equal(warning.span, message));
        }
        None
    }

    /// Returns a condition in the other language, and the warnings about it.
    fn in_phase<C: Context>(
        &self,
        defined: &Definitions,
        text: &str,
    ) -> Result<(String, Vec<Diagnostic>), CompileError> {
        let (env, _) = defined.env::<C>();
        let env = env.filter_language(FilterLanguage::http());
        let translated = match (self.to == Language::cel(), self.near) {
            (true, false) => return self.engine.to_cel(&env, text).map(|text| (text, Vec::new())),
            (true, true) => self.engine.to_cel_near(&env, text)?,
            (false, _) => self.engine.to_filter(&env, text)?,
        };
        Ok((translated.text().to_owned(), translated.warnings().to_vec()))
    }

    /// Whether the rule matches if its condition fails. Under `closed` guards do: see
    /// [`crate::rules::rule::Rule::is_guard`].
    fn matches_on_failure(&self) -> bool {
        match self.on_error {
            PhaseErrorPolicy::All(policy) => policy == ErrorPolicy::Match,
            PhaseErrorPolicy::Closed => {
                let has = |key| self.node.get(key).is_some();
                let status = self.node.get("respond").and_then(|respond| respond.text_of("status"));
                let status = status.and_then(|status| status.text.parse::<u16>().ok());
                has("deny") || has("redirect") || status.is_some_and(|status| status >= 300)
            }
        }
    }

    /// Returns the range of the file to replace, and by what; `None` for a folded block.
    fn edit(&self, source: &str, condition: &SourceText, layout: &str) -> Option<(Range<usize>, String)> {
        let (start, end) = (condition.place.start as usize, condition.place.end as usize);
        let layout = layout.trim_end();
        match condition.style {
            ScalarStyle::Folded => return None,
            ScalarStyle::Literal => return block(source, start..end, layout),
            _ => {}
        }
        let written = source.get(start..end)?;
        let range = start..start.saturating_add(written.trim_end().len());
        let is_block = !is_flow(self.node, source);
        // A comment behind the condition would become a part of the block.
        let is_last =
            source.get(range.end..).is_some_and(|after| after.lines().next().unwrap_or_default().trim().is_empty());
        if layout.contains('\n') && is_block && is_last {
            let indent =
                " ".repeat(column(source, self.node.entries().first()?.key.place.start as usize).saturating_add(2));
            let lines: Vec<String> = layout.lines().map(|line| format!("\n{indent}{line}")).collect();
            return Some((range, format!("|-{}", lines.concat())));
        }
        let line = layout.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        let allowed = if is_block { "{" } else { "" };
        Some((range, if is_plain(&line, allowed) { line } else { format!("'{}'", line.replace('\'', "''")) }))
    }
}

/// The changes of a file: ranges of bytes and what replaces them.
struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Names the language of all rules in `defaults`. Returns whether that is possible.
    fn name_default(&mut self, root: &Node, source: &str, to: Language) -> bool {
        if is_flow(root, source) {
            return false;
        }
        let Some(defaults) = root.get("defaults") else {
            let Some(first) = root.entries().first() else { return false };
            let start = first.key.place.start as usize;
            if column(source, start) > 0 {
                return false;
            }
            self.0.push((start..start, format!("defaults:\n  language: {}\n", to.name())));
            return true;
        };
        self.name_language(defaults, source, to, false);
        true
    }

    /// Names the language of a mapping, or changes the one that it names. `only_changes`: adds no key.
    fn name_language(&mut self, node: &Node, source: &str, to: Language, only_changes: bool) {
        if let Some(language) = node.text_of("language") {
            let start = language.place.start as usize;
            let written = source.get(start..language.place.end as usize).unwrap_or_default().trim_end();
            self.0.push((start..start.saturating_add(written.len()), to.name().to_owned()));
            return;
        }
        let Some(first) = node.entries().first().filter(|_| !only_changes) else { return };
        let start = first.key.place.start as usize;
        let gap = match is_flow(node, source) {
            true => ", ".to_owned(),
            false => format!("\n{}", " ".repeat(column(source, start))),
        };
        self.0.push((start..start, format!("language: {}{gap}", to.name())));
    }

    fn applied(mut self, source: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let (mut text, mut at) = (String::with_capacity(source.len()), 0);
        for (range, replacement) in self.0 {
            text.push_str(source.get(at..range.start).unwrap_or_default());
            text.push_str(&replacement);
            at = range.end;
        }
        text.push_str(source.get(at..).unwrap_or_default());
        text
    }
}

/// The code of what cannot be translated.
const NO_EQUAL: &str = "no-equal";

fn no_equal(span: Span, message: String) -> Diagnostic {
    Diagnostic::error(celero::diagnostics::Stage::Check, NO_EQUAL, span, message)
}

fn bytes(node: &Node) -> Range<usize> {
    node.place.start as usize..node.place.end.max(node.place.start) as usize
}

/// Whether a mapping is written in braces.
fn is_flow(node: &Node, source: &str) -> bool {
    matches!(node.value, NodeValue::Map(_)) && source.get(bytes(node)).is_some_and(|text| text.starts_with('{'))
}

/// The number of characters before a byte in its line.
fn column(source: &str, at: usize) -> usize {
    let line = source.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    line.chars().count()
}
