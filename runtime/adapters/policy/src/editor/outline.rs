//! The expressions, rules and definitions of a policy with their places, for editors.

use crate::compile::rule_name;
use crate::editor::places::{ExpressionPlace, expression_places};
use crate::expressions::definitions::{DefinitionKind, Definitions};
use crate::expressions::template::{TemplatePart, parse};
use crate::file::document::Document;
use crate::host::outcome::Phase;
use crate::language::Language;
use crate::phases::context::{BodyData, ConnectionData, LogData, RequestData, ResponseBodyData, ResponseData};
use crate::policy::loader::Loader;
use crate::problems::FileSpan;
use crate::yaml::{Node, SourceText};
use celero::filter::Scheme;
use celero::language::{Declarations, FunctionDeclaration, RECEIVER};
use celero::{Context, Env, Type};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is where in a policy. Made also of a policy with errors, as far as it is YAML.
#[derive(Debug)]
pub struct Outline {
    /// The expressions of the file, in its order; not those of files that it includes.
    pub expressions: Vec<PolicyExpression>,
    /// The rules of the file, phase by phase.
    pub rules: Vec<PolicyRule>,
    /// The definitions of the file, and of the files that it includes.
    pub definitions: Vec<PolicyDefinition>,
    /// The entries of `include`: the path of each file, and the range of bytes of the entry.
    pub includes: Vec<(PathBuf, Range<usize>)>,
    defined: Definitions,
}

/// An expression of a policy.
#[derive(Clone, Debug)]
pub struct PolicyExpression {
    /// Its source.
    pub source: String,
    /// The phase whose variables it reads; `None` for a definition.
    pub phase: Option<Phase>,
    /// Its language.
    pub language: Language,
    /// Of the body of a function its parameters, with `this` for what it is called on.
    pub parameters: Vec<(String, Type)>,
    /// The byte offset in the file of each byte of the source, and of its end.
    offsets: Vec<u32>,
}

/// A rule of a policy.
#[derive(Clone, Debug)]
pub struct PolicyRule {
    /// Its phase.
    pub phase: Phase,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What answers, logs and counters call it: its name, or the phase and its number.
    pub shown_name: String,
    /// The range of bytes of the rule.
    pub range: Range<usize>,
    /// The range of bytes of the name, or of the rule.
    pub name_range: Range<usize>,
}

/// A definition of a policy.
#[derive(Clone, Debug)]
pub struct PolicyDefinition {
    /// The name that expressions use: `variables.NAME` or the name of a function.
    pub name: String,
    /// Whether it is a function.
    pub is_function: bool,
    /// The key as written: of a function its declaration.
    pub declaration: String,
    /// The body.
    pub body: String,
    /// The file, if it is not the one that the outline is of.
    pub file: Option<PathBuf>,
    /// The text of that file.
    pub file_text: Option<String>,
    /// The range of bytes of the key.
    pub range: Range<usize>,
}

impl Outline {
    /// Reads a policy and the files that it includes. See [`Policy::parse`](crate::Policy::parse)
    /// for `name` and `base`. Returns `None` if the text is not YAML.
    #[must_use]
    pub fn of(name: &str, text: &str, base: &Path) -> Option<Self> {
        Self::with_loader(name, text, base, &Loader::default())
    }

    /// Reads a policy as [`of`](Self::of) does, which may use functions and variables of its host.
    #[must_use]
    pub fn with_loader(name: &str, text: &str, base: &Path, loader: &Loader) -> Option<Self> {
        let mut problems = loader.problems();
        let document = Document::read(name, text, base, &mut problems);
        let defined = Definitions::read(&document, loader.host(), &mut problems);
        // The main file is the first that was read, and the last of the document.
        let root = document.roots().find(|root| root.place.file == 0)?;
        let expressions =
            expression_places(root).iter().flat_map(|place| expressions_of(place, problems.text(0))).collect();
        let definition = |(declaration, body, kind): (&SourceText, &SourceText, DefinitionKind)| {
            let file = declaration.place.file;
            PolicyDefinition {
                name: kind.name(&declaration.text),
                is_function: kind == DefinitionKind::Function,
                declaration: declaration.text.clone(),
                body: body.text.clone(),
                file: (file > 0).then(|| PathBuf::from(problems.name(file))),
                file_text: (file > 0).then(|| problems.text(file).to_owned()),
                range: bytes(declaration.place),
            }
        };
        let definitions = defined.texts().map(definition).collect();
        let include = |path: &SourceText| (base.join(&path.text), bytes(path.place));
        let includes = root.texts_of("include").iter().map(include).collect();
        Some(Self { expressions, rules: rules_of(&document, root), definitions, includes, defined })
    }

    /// Returns what expressions of a phase may mention, definitions included. `None`: what those of any phase may.
    #[must_use]
    pub fn declarations(&self, phase: Option<Phase>) -> Declarations {
        let of = |phase| match phase {
            Phase::Connection => self.env::<ConnectionData<'_>>(),
            Phase::Request => self.env::<RequestData<'_>>(),
            Phase::RequestBody => self.env::<BodyData<'_>>(),
            Phase::Response => self.env::<ResponseData<'_>>(),
            Phase::ResponseBody => self.env::<ResponseBodyData<'_>>(),
            Phase::Log => self.env::<LogData<'_>>(),
        };
        if let Some(phase) = phase {
            return of(phase);
        }
        let mut all = of(Phase::ResponseBody);
        for phase in Phase::ALL {
            for variable in of(phase).variables() {
                if !all.has_name(&variable.name) {
                    all.add_variable(variable.clone());
                }
            }
        }
        all
    }

    /// Returns the fields and functions that expressions of a phase may name, if the language has a scheme of these.
    #[must_use]
    pub fn scheme(&self, phase: Phase, language: Language) -> Option<Arc<Scheme>> {
        fn of<C: Context>(outline: &Outline, language: Language) -> Option<Arc<Scheme>> {
            let (env, _) = outline.defined.env::<C>();
            language.env(&env).filter_scheme().cloned()
        }
        match phase {
            Phase::Connection => of::<ConnectionData<'_>>(self, language),
            Phase::Request => of::<RequestData<'_>>(self, language),
            Phase::RequestBody => of::<BodyData<'_>>(self, language),
            Phase::Response => of::<ResponseData<'_>>(self, language),
            Phase::ResponseBody => of::<ResponseBodyData<'_>>(self, language),
            Phase::Log => of::<LogData<'_>>(self, language),
        }
    }

    fn env<C: Context>(&self) -> Declarations {
        let (env, _): (Env<C>, _) = self.defined.env();
        env.declarations().clone()
    }
}

impl PolicyExpression {
    /// Returns the byte offset in the file of a byte offset in the source.
    #[must_use]
    pub fn in_file(&self, at: usize) -> usize {
        let last = self.offsets.last().copied().unwrap_or(0);
        self.offsets.get(at).copied().unwrap_or(last) as usize
    }

    /// Returns the byte offset in the source of a byte offset in the file, if that is in the expression or at its end.
    #[must_use]
    pub fn in_source(&self, at: usize) -> Option<usize> {
        let at = u32::try_from(at).ok()?;
        let (first, last) = (*self.offsets.first()?, *self.offsets.last()?);
        (first..=last).contains(&at).then(|| {
            let next = self.offsets.partition_point(|offset| *offset <= at).saturating_sub(1);
            self.source.floor_char_boundary(next)
        })
    }
}

fn bytes(place: FileSpan) -> Range<usize> {
    place.start as usize..place.end.max(place.start) as usize
}

/// The expressions of a scalar: itself, or those in its `${..}`.
fn expressions_of(place: &ExpressionPlace, file: &str) -> Vec<PolicyExpression> {
    let phase = Phase::ALL.into_iter().find(|phase| phase.name() == place.section);
    let parameters = match FunctionDeclaration::parse(&place.key) {
        Ok(declared) if place.section == "functions" => {
            let receiver = declared.receiver.map(|ty| (RECEIVER.to_owned(), ty));
            let parameters = declared.parameters.into_iter().map(|parameter| (parameter.name, parameter.ty));
            receiver.into_iter().chain(parameters).collect()
        }
        _ => Vec::new(),
    };
    let offset = |at: usize| u32::try_from(place.text.offset_in_file(file, at)).unwrap_or(u32::MAX);
    let expression = |source: &str, start: usize| PolicyExpression {
        source: source.to_owned(),
        phase,
        language: place.language,
        parameters: parameters.clone(),
        offsets: (0..=source.len()).map(|at| offset(start.saturating_add(at))).collect(),
    };
    if !place.is_template {
        return vec![expression(&place.text.text, 0)];
    }
    let parts = parse(&place.text.text).unwrap_or_default();
    let expressions = parts.iter().filter_map(|part| match part {
        TemplatePart::Text(_) => None,
        TemplatePart::Expression(source, start) => Some(expression(source, *start)),
    });
    expressions.collect()
}

fn rules_of(document: &Document, root: &Node) -> Vec<PolicyRule> {
    let mut found = Vec::new();
    for phase in Phase::ALL {
        // The numbers of rules count those of all files.
        let rules = document.rules(phase.name()).enumerate();
        let own = rules.filter(|(_, rule)| rule.place.file == root.place.file);
        found.extend(own.map(|(number, rule)| {
            let name = rule.text_of("name");
            let name_range = bytes(name.as_ref().map_or(rule.place, |name| name.place));
            let shown_name = rule_name(rule, phase, number.saturating_add(1));
            let name = name.map(|name| name.text);
            PolicyRule { phase, name, shown_name, range: bytes(rule.place), name_range }
        }));
    }
    found
}
